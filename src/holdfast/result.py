"""What a study found, and every question that can be asked about it: the one face of a study.

A question is answered by a function next to its logic, whose first parameter is the result: such a function is the
method itself, so that its signature and its documentation are written once. What draws and reports is imported when it
is asked for.
"""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import pandas as pd

from holdfast import tradeoff
from holdfast.cards import Card, draw_intervals, make_bar
from holdfast.measures import Measure
from holdfast.replication import annotate, study_features, study_replicability, tabulate_features
from holdfast.result_base import AnyChart, ResultMixin
from holdfast.serialization import to_plain
from holdfast.study.matching import pool
from holdfast.study.tables import StudyTables
from holdfast.text import format_estimate, format_number, pluralize
from holdfast.tradeoff.choice import check_rule
from holdfast.tradeoff.selected import question_doubted

if TYPE_CHECKING:
    from holdfast.replication import Replicability
    from holdfast.report import InlineReport
    from holdfast.report.rendering import Format


class StudyResult(ResultMixin, StudyTables):
    """What a study found: stabilities, scores, preferences, failures, and decisions based on them.

    Parameters
    ----------
    stored : Snapshot
        The tables of the study's store.
    study : Study, optional
        The plan, if this process ran it; a store does not hold it.

    See Also
    --------
    Study.run : Returns one.
    load_study : Reads one from a store; a snapshot if the study still runs.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> study = hf.Study(
    ...     selectors={"anova": hf.Candidates(hf.selectors.AnovaF(), sizes=[1, 2])},
    ...     perturbation=hf.Bootstrap(20),
    ...     estimator=KNeighborsClassifier(3),
    ... )
    >>> result = study.run(X, y)
    >>> result.candidates
    ['anova(size=1)', 'anova(size=2)']
    >>> result.choose("accuracy").candidate
    'anova(size=2)'
    >>> result.final_features("anova(size=2)", X, y).selected
    ['petal length (cm)', 'petal width (cm)']
    """

    pool = pool

    # Accuracy and stability together

    pareto = tradeoff.pareto
    choose = tradeoff.choose
    profile = tradeoff.profile
    fraction_profile = tradeoff.fraction_profile
    setting_ranks = tradeoff.ranked_settings

    # Features

    features = study_features
    final_features = tradeoff.final_features
    recovery = tradeoff.recovery
    prediction_agreement = tradeoff.prediction_agreement
    importance_stability = tradeoff.importance_stability
    replicability = study_replicability
    tabulate_features = tabulate_features
    annotate = annotate

    # Shown

    @overload
    def report(
        self,
        path: None = None,
        *,
        format: "Format | None" = None,
        candidate: str | None = None,
        rule: str = "one-se",
        metric: str | None = None,
        measure: str | Measure | None = None,
        level: float = 0.95,
        threshold: float = 0.5,
        X: Any = None,
        y: Any = None,
        replicability: "Replicability | None" = None,
        title: str | None = None,
        **parameters: Any,
    ) -> "InlineReport": ...

    @overload
    def report(
        self,
        path: str | Path,
        *,
        format: "Format | None" = None,
        candidate: str | None = None,
        rule: str = "one-se",
        metric: str | None = None,
        measure: str | Measure | None = None,
        level: float = 0.95,
        threshold: float = 0.5,
        X: Any = None,
        y: Any = None,
        replicability: "Replicability | None" = None,
        title: str | None = None,
        **parameters: Any,
    ) -> Path: ...

    def report(
        self,
        path: str | Path | None = None,
        *,
        format: "Format | None" = None,
        candidate: str | None = None,
        rule: str = "one-se",
        metric: str | None = None,
        measure: str | Measure | None = None,
        level: float = 0.95,
        threshold: float = 0.5,
        X: Any = None,
        y: Any = None,
        replicability: "Replicability | None" = None,
        title: str | None = None,
        **parameters: Any,
    ) -> "Path | InlineReport":
        """Show the report in a notebook, or write it into one file, which needs no other file and no network.

        Parameters
        ----------
        path : path, optional
            File to write; without one, the report is shown in the notebook.
        format : {"html", "md", "json"}, optional
            Format of the file; without it, the file's name ends in .html, .md or .json.
        candidate : str, optional
            Which candidate to report; the one that ``rule`` chooses by default, or without scores the most stable one.
        rule, metric, measure : str
            How to choose, as for :meth:`choose`.
        level, threshold : float
            Level of all intervals; what the lower end of a feature's frequency must exceed to be trusted.
        X : frame or array, optional
            The features that the study ran on; then features that stand in for each other must be correlated too.
        y : array, optional
            The target, with X: single rows are then drawn in the box plots, visible to all readers of the report.
        replicability : Replicability, optional
            What :func:`holdfast.replicability` found for the reported candidate; without it, what the store says.
        title : str, optional
            Heading of the report.
        **parameters
            Parameters of the rule, as for :meth:`choose`.

        Returns
        -------
        Path or InlineReport
            The file; without a path, what a notebook shows as the whole report, and ``.save(path)`` writes.

        Raises
        ------
        ValueError
            If an option is wrong whatever the study found; what a study cannot answer is said in its report.

        See Also
        --------
        holdfast.report.summarize : What the report says, as data.
        """
        from holdfast.report import InlineReport, summarize, write_report

        check_rule(rule, parameters, StudyResult.report)
        if path is None and format is not None:
            raise ValueError(f"Expected a path for a report with format={format!r}, got none.")
        heading = {} if title is None else {"title": title}
        summary = summarize(
            self, candidate=candidate, rule=rule, metric=metric, measure=measure, level=level, threshold=threshold, X=X,
            y=y, replicability=replicability, **heading, **parameters,
        )  # fmt: skip
        return InlineReport(summary) if path is None else write_report(summary, path, format=format)

    def plot(self, picture: Literal["pareto", "forest"] | None = None, *, level: float = 0.95) -> "AnyChart":
        """Draw accuracy against stability, or the stabilities with their intervals.

        Parameters
        ----------
        picture : {"pareto", "forest"}, optional
            By default ``"pareto"`` if several candidates have scores, else ``"forest"``.
        level : float
            Level of the intervals.

        Returns
        -------
        altair.Chart
            A notebook shows it; :func:`holdfast.plots.save` writes it to a file.

        Raises
        ------
        ValueError
            If there is no such picture.
        """
        from holdfast.plots import plot_forest, plot_pareto

        if picture not in ("pareto", "forest", None):
            raise ValueError(f"Expected picture 'pareto' or 'forest', got {picture!r}.")
        pareto = self.has_scores and len(self.candidates) > 1 if picture is None else picture == "pareto"
        return plot_pareto(self, level=level) if pareto else plot_forest(self, level=level)

    def to_frame(self) -> pd.DataFrame:
        """Return the summary of all candidates (see :meth:`summary`).

        Returns
        -------
        DataFrame
            One row per candidate.
        """
        with warnings.catch_warnings(action="ignore"):
            return self.summary()

    def to_dict(self) -> dict[str, Any]:
        """Return plan, summary and failures as plain values, ready for JSON: undefined numbers are None.

        Returns
        -------
        dict
            ``design``, ``n_splits``, ``complete``, ``data`` (the record of the data), ``candidates`` (rows of the
            summary), ``failures``, ``notes`` and ``provenance``.
        """
        return to_plain(
            {
                "design": self.design,
                "n_splits": self.n_splits,
                "complete": self.complete,
                "data": self.data,
                "candidates": self.to_frame(),
                "failures": self.failures.drop(columns="traceback"),
                "notes": self.notes,
                "provenance": self.provenance,
            }
        )

    @property
    def _title(self) -> str:
        state = "" if self.complete else f", {self.n_outcomes:,} fits so far"
        failed = f", {len(self.failures)} failed" if len(self.failures) else ""
        n = len(self.candidates)
        candidates = f"{n} {pluralize(n, 'candidate')}"
        splits = f"{self.n_splits} splits ({self.perturbation_name})"
        return f"Study of {candidates} on {splits}{state}{failed}"

    def _card(self) -> Card:
        """The most stable candidates first, each with its interval and its first score."""
        summary = self.to_frame().sort_values("stability", ascending=False, kind="stable", na_position="last")
        metric = next(iter(self.metrics), None)
        bars = []
        for name, row in summary.iterrows():
            score = "" if metric is None or pd.isna(row[metric]) else f" · {metric} {format_number(row[metric])}"
            bars.append(make_bar(name, row.stability, row.low, row.high, score))
        verdict = f"{question_doubted(self.data.doubted)} {_describe_best(summary, metric)}".strip()
        measures = ", ".join(map(str, summary["measure"].dropna().unique()))
        return Card(
            title=self._title, verdict=verdict, caution=self.data.caution,
            frame=summary[["stability", "low", "high", "size", *self.metrics, "runs", "failures"]],
            picture=draw_intervals(bars), note=f"Stability: {measures}" if measures else "",
        )  # fmt: skip

    def __repr__(self) -> str:
        table = self.to_frame().drop(columns=["family", "reason", "measure"])
        table = table.drop(columns="top") if table["top"].isna().all() else table
        cut = {"top": lambda k: "" if k != k else f"{k:.0f}"}
        rows = table.to_string(formatters=cut, float_format=lambda number: f"{number:.3f}")
        return "\n".join(filter(None, [self._title, rows, self.data.caution]))


def _describe_best(ordered: pd.DataFrame, metric: str | None) -> str:
    """The most stable candidate, and the one with the best score."""
    if ordered.empty or ordered["stability"].isna().all():
        return "No candidate has a stability yet"
    first = ordered.iloc[0]
    verdict = f"Most stable: {ordered.index[0]}, {format_estimate(first['stability'], first['low'], first['high'])}"
    if metric is None or ordered[metric].isna().all():
        return verdict
    best, score = ordered[metric].idxmax(), format_number(ordered[metric].max())
    if best == ordered.index[0]:
        return f"{verdict}; it also has the best {metric}, {score}"
    return f"{verdict}; best {metric}: {best}, {score}"
