"""What studies found: read from their stores, remembered until these change, and how it is to be shown.

A page about results asks for a candidate, a rule with its parameters, a measure, a score and a level.
"""

import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

from holdfast.declared import did_you_mean
from holdfast.inference.intervals import check_level
from holdfast.io.record import DataRecord
from holdfast.measures import MEASURES, Measure, find_measure
from holdfast.report import Summary, summarize
from holdfast.report.building import make_findings
from holdfast.report.labels import label_family, make_labels
from holdfast.report.pictures import draw_figures
from holdfast.report.records import Findings, Labels, ReportOptions
from holdfast.report.rendering import page_parts
from holdfast.study import StudyResult, load_study
from holdfast.study.memory import FEW_BYTES, Cache
from holdfast.study.store import StoreError, StoreProgress, find_writer, read_overview, read_progress
from holdfast.text import shorten
from holdfast.tradeoff import RULES
from holdfast.tradeoff.rules import Rule
from holdfast.web import forms
from holdfast.web.folder import Folder, Stamp, stamp_file
from holdfast.web.guard import RefusedError
from holdfast.web.rendering import cache_last
from holdfast.web.routing import Pairs, list_changes


@dataclass(frozen=True, kw_only=True)
class StudyOverview:
    """What a study is about.

    Attributes
    ----------
    data : DataRecord
        What the data are.
    selectors : tuple of str
        The selectors, by their names for readers.
    resumable : bool
        Whether it can go on from here: it was started on this page or on the command line.
    """

    data: DataRecord
    selectors: tuple[str, ...]
    resumable: bool


class Overviews:
    """What the studies of a folder are about, each read again when its store has changed.

    Parameters
    ----------
    folder : Folder
        Where the stores are.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._known: dict[str, tuple[Stamp, StudyOverview | None]] = {}

    def get(self, study: str) -> StudyOverview | None:
        """What a study is about; None if its store does not say so, or there is none."""
        path = self.folder.store_of(study)
        stamp, known = stamp_file(path), self._known.get(study)
        if known is not None and stamp == known[0]:
            return known[1]
        overview = None
        with suppress(StoreError):
            overview = read_overview(path)
        found = None if overview is None else StudyOverview(
            data=overview.data, resumable=overview.command is not None,
            selectors=tuple(shorten(label_family(name, about), 60) for name, about in overview.selectors.items()),
        )  # fmt: skip
        if stamp is not None:
            self._known[study] = stamp, found
        return found


# Results


MAX_REMEMBERED = 4
"""Studies whose snapshots are cached."""
MAX_ANSWERS = 64
"""Answers that a snapshot caches; beyond that, the one least recently used is dropped."""
PATIENCE = 4
"""While a study runs, its results are read again after this many times the time that reading them took."""
Answer = TypeVar("Answer")


@dataclass(eq=False)
class Snapshot:
    """A study as it was at one moment, and what was asked of it.

    Attributes
    ----------
    result : StudyResult
        What it found so far.
    progress : StoreProgress
        How far it had come.
    file : int
        Which file it was read from.
    begun : float
        When it was read.
    spent : float
        Seconds that reading it and answering questions took.
    """

    result: StudyResult
    progress: StoreProgress
    file: int
    begun: float = field(default_factory=time.monotonic)
    spent: float = 0.0
    _memory: Cache = field(default_factory=lambda: Cache(MAX_ANSWERS * FEW_BYTES))
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def is_due(self) -> bool:
        """Whether a newer one may be read, of a study that runs."""
        return time.monotonic() - self.begun > min(PATIENCE * self.spent, 60)

    @property
    def every(self) -> float:
        """Seconds after which it is worth looking for a newer one, of a study that runs."""
        return min(max(PATIENCE * self.spent, 3.0), 60.0)

    def remember(self, key: Hashable, work_out: Callable[[StudyResult], Answer]) -> Answer:
        """Return the answer to a question about the study, worked out once as long as it is among the last ones."""

        def find() -> Answer:
            start = time.monotonic()
            try:
                return work_out(self.result)
            finally:
                self.spent += time.monotonic() - start

        with self._lock:  # whoever asks together waits for one answer
            return self._memory.get_or_compute(key, find)


class Results:
    """The results of a folder's studies; the ones asked for last are remembered.

    Parameters
    ----------
    folder : Folder
        Where the stores are.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._snapshots: OrderedDict[str, Snapshot] = OrderedDict()
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, study: str) -> Snapshot:
        """The newest snapshot of a study; while it runs, one that may be some seconds old."""
        path = self.folder.find(study)
        if path is None:
            raise RefusedError(404, "There are no results of this study yet.")
        with self._lock:
            lock = self._locks.setdefault(study, threading.Lock())
        with lock:
            known, progress = self._snapshots.get(study), read_progress(path)
            file = path.stat().st_ino
            if known is not None and known.file != file:  # another study of the same name
                known = None
            if not progress.done:
                raise RefusedError(404, "There are no results of this study yet.")
            if known is None or (known.progress != progress and (find_writer(path) is None or known.is_due)):
                start = time.monotonic()
                known = Snapshot(load_study(path), progress, file)
                known.spent = time.monotonic() - start
            with self._lock:
                self._snapshots[study] = known
                self._snapshots.move_to_end(study)
                while len(self._snapshots) > MAX_REMEMBERED:
                    self._snapshots.popitem(last=False)
        return known


# What can be chosen on every page about candidates


DEFAULT_LEVEL = 0.95
MAX_NAMED = 8
"""Candidates that a sentence lists at most."""


@dataclass(frozen=True, kw_only=True)
class CommonQuery:
    """By what stability and prediction are measured.

    Attributes
    ----------
    metric, measure : str
        The score and the measure of stability; the defaults if they are left out.
    level : float
        Level of all intervals and tests.
    """

    metric: str = ""
    measure: str = ""
    level: float = DEFAULT_LEVEL


@dataclass(frozen=True, kw_only=True)
class CommonOptions:
    """The measure, the score and the level of a page, and those that could be chosen instead.

    Attributes
    ----------
    measure : str
        The measure of stability.
    metric : str or None
        The score; None if the study has none.
    level : float
        Level of the intervals and tests.
    measures, metrics : tuple of NamedOption
        The measures and scores to choose from.
    levels : tuple of float
        Levels to choose from.
    """

    measure: str
    metric: str | None
    level: float
    measures: tuple[forms.NamedOption, ...]
    metrics: tuple[forms.NamedOption, ...]
    levels: tuple[float, ...]


def find_labels(snapshot: Snapshot) -> Labels:
    """Return the names for readers, made once."""
    return snapshot.remember("labels", make_labels)


def without_warnings(work_out: Callable[[], Answer]) -> Answer:
    """Work something out without warnings, which say on a terminal what the page says in words."""
    with warnings.catch_warnings(action="ignore"):
        return work_out()


# What can be chosen


def choose_options(
    snapshot: Snapshot, measure: str, metric: str, level: float, *, subsets: bool = False
) -> CommonOptions:
    """Check measure, score and level, fill in the defaults for empty texts, and list the others.

    ``subsets`` asks for a measure of subsets.
    """
    result, labels = snapshot.result, find_labels(snapshot)
    check_level(level)
    measures = {usable.name: usable for usable in usable_measures(result, subsets)}
    if measure and MEASURES.spelled(measure) not in measures:
        raise ValueError(
            f"Expected a measure that a study's selections are enough for ({', '.join(measures)}), got {measure[:60]!r}"
            f"{did_you_mean(measure, measures)}"
        )
    if metric and metric not in result.metrics:
        known = ", ".join(result.metrics) or "it has none"
        raise ValueError(f"Expected one of the study's scores ({known}), got {metric[:60]!r}.")
    return CommonOptions(
        measure=str(MEASURES.spelled(measure)) if measure else _default_measure(snapshot, subsets),
        metric=metric or next(iter(result.metrics), None),
        level=level,
        measures=tuple(
            forms.NamedOption(name=name, label=usable.about.label, summary=usable.summary)
            for name, usable in measures.items()
        ),
        metrics=tuple(forms.NamedOption(name=name, label=labels.score(name)) for name in result.metrics),
        levels=forms.list_levels(level),
    )


def library_options(snapshot: Snapshot, options: CommonOptions) -> dict[str, Any]:
    """Return the options as the library takes them: defaults are left to it, as the report leaves them.

    So what the report and these pages ask for is the same question, which a result answers once.
    """
    is_default = options.measure == _default_measure(snapshot, subsets=False)
    is_first = options.metric == next(iter(snapshot.result.metrics), None)
    return {
        "metric": None if is_first else options.metric, "measure": None if is_default else options.measure,
        "level": options.level,
    }  # fmt: skip


def usable_measures(result: StudyResult, subsets: bool) -> list[Measure]:
    """Return the measures of which more is better and that need nothing but selections."""
    kinds = {"subset"} if subsets else {"subset", *result.kinds.values()}
    return [
        measure
        for measure in MEASURES.values()
        if measure.kind in kinds and measure.higher_is_better and forms.needs_only_runs(measure)
    ]


def _default_measure(snapshot: Snapshot, subsets: bool) -> str:
    if subsets:
        return "nogueira"
    return snapshot.remember("default measure", lambda result: find_measure(result.common_measure().measure).name)


def check_candidate(result: StudyResult, name: str) -> str:
    """Return the name of a candidate; raise if the study has none such."""
    if name not in result.candidates:
        known = ", ".join(result.candidates[:MAX_NAMED]) + (", …" if len(result.candidates) > MAX_NAMED else "")
        raise ValueError(f"Expected one of the candidates {known}, got {name[:80]!r}.")
    return name


# How a report is to be shown


DEFAULT_RULE = "one-se"


@dataclass(frozen=True, kw_only=True)
class ResultQuery(CommonQuery):
    """How the results of a study are to be shown.

    Attributes
    ----------
    candidate : str
        The candidate to report; the chosen one by default.
    rule : str
        How a candidate is chosen.
    parameters : object
        Parameters of the rule, each under its own name; those of other rules are passed over.
    """

    candidate: str = ""
    rule: str = DEFAULT_RULE
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def found_rule(self) -> Rule:
        """The rule that was asked for."""
        return RULES.find(self.rule)

    @property
    def rule_texts(self) -> dict[str, str]:
        """Parameters of the rule, as they were typed."""
        texts = forms.rule_parameters(self.found_rule, self.parameters)
        forms.check_names(self.found_rule, texts)
        return texts

    @property
    def lacking(self) -> str:
        """What the rule cannot do without and was not given, in a sentence; empty if it has all."""
        return forms.missing_parameters(self.found_rule, self.rule_texts)

    @property
    def pairs(self) -> Pairs:
        """What differs from the defaults, as an address holds it."""
        return list_changes(replace(self, parameters=self.rule_texts), ResultQuery)

    @property
    def arguments(self) -> dict[str, Any]:
        """All of it, as :func:`holdfast.report.summarize` takes it; the default rule while this one lacks a value."""
        rule = {} if self.lacking else {
            "rule": self.found_rule.about.name, **forms.read_parameters(self.found_rule, self.rule_texts)
        }  # fmt: skip
        return {
            "candidate": self.candidate or None, "measure": self.measure or None, "metric": self.metric or None,
            "level": self.level, **rule,
        }  # fmt: skip


def list_options(snapshot: Snapshot, query: ResultQuery) -> dict[str, Any]:
    """Return how a study is shown, and how it could be shown instead; what is not possible is an error."""
    if query.candidate:
        check_candidate(snapshot.result, query.candidate)
    candidates = {name: shorten(find_labels(snapshot).candidate(name), 110) for name in snapshot.result.candidates}
    return {
        "candidate": query.candidate,
        "candidates": [forms.NamedOption(name=name, label=label) for name, label in candidates.items()],
        "rule": forms.describe_rule(query.found_rule), "rules": list(map(forms.describe_rule, RULES.values())),
        "parameters": forms.describe_inputs(query.found_rule, query.rule_texts), "lacking": query.lacking,
        "common": choose_options(snapshot, query.measure, query.metric, query.level),
    }  # fmt: skip


# Summaries


drawn_figures = cache_last(draw_figures)
"""The figures of a summary, by their names."""
named_parts = cache_last(page_parts)
"""What templates of the report say of a summary, by the names that they use."""


def summary_of(snapshot: Snapshot, query: ResultQuery) -> Summary:
    """Return the summary that was asked for; its figures are drawn too, as every page shows them."""

    def work_out(result: StudyResult) -> Summary:
        summary = summarize(result, **query.arguments)
        drawn_figures(summary)
        named_parts(summary)
        return summary

    return snapshot.remember(("summary", *query.arguments.items()), work_out)


def findings_of(snapshot: Snapshot, query: ResultQuery) -> Findings:
    """Return what the verdict is written from, without redraws, which take most of the time of a summary."""

    def work_out(result: StudyResult) -> Findings:
        arguments = query.arguments
        options = {known.name: arguments.pop(known.name) for known in fields(ReportOptions) if known.name in arguments}
        return make_findings(result, ReportOptions(**options, rule_options=arguments, redrawn=False))

    return snapshot.remember(("findings", *query.arguments.items()), work_out)
