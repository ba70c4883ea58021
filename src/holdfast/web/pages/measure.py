"""Measure and compare: how stable uploaded selections are, and whether they differ."""

import io
import shlex
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from typing import Any, ClassVar
from urllib.parse import urlencode

import pandas as pd

from holdfast.datasets import load_example
from holdfast.inference.intervals import check_level
from holdfast.io.questions import Question
from holdfast.plots.embed import figure
from holdfast.plots.forest import COLUMNS, draw_forest
from holdfast.plots.selection_map import draw_selection_map
from holdfast.plots.text import display_names
from holdfast.plots.theme import unchecked
from holdfast.preferences import Kind
from holdfast.report.feature_records import Features, FeatureTable
from holdfast.report.pictures import COLUMNS_OF_FIGURES, map_frames
from holdfast.report.render import pack_table
from holdfast.serialization import from_plain
from holdfast.web.comparing import MOST_COMPARED, SelectionsComparison
from holdfast.web.guard import RefusedError
from holdfast.web.measuring import MeasureChoice, Measurement, Preview, list_measures, parse_undefined, plain_sentence
from holdfast.web.routing import Routes
from holdfast.web.site import Site
from holdfast.web.uploads import Upload
from holdfast.web.worker import TaskError

routes = Routes()
NO_TABLE = FeatureTable(feature=(), count=(), frequency=(), low=(), high=(), variance_share=())
LEVELS = (0.8, 0.9, 0.95, 0.99)
EXAMPLES = {"ten-best": 10, "five-best": 5}
"""Examples by name: how many of the best features of each bootstrap sample count as selected."""


@dataclass(frozen=True, kw_only=True)
class MeasurePage:
    """Selections that were uploaded, and examples.

    Attributes
    ----------
    uploads : tuple of Upload
        Files of selections, the newest first.
    """

    uploads: tuple[Upload, ...]


@dataclass(frozen=True, kw_only=True)
class SelectionsQuery:
    """How to read and measure selections.

    Attributes
    ----------
    measure : str
        Name of the measure; the usual one for this kind of selections by default.
    level : float
        Level of the intervals.
    n_features : int or None
        For lists of names: how many features there were to choose from.
    kind : {"subset", "ranking", "weighting"} or None
        What the numbers of a table are.
    top : int or None
        How many of the best features of a ranking or of weights count as selected.
    transpose : bool or None
        Whether rows of a table are features.
    candidate : str or None
        Whose selections to take from a file that a study exported.
    lists : bool or None
        Whether each line of a text lists the features that a run selected, whatever the ending of the file says.
    undefined : str
        What to do where the measure is undefined: ``nan``, ``skip``, or a number that takes the place.
    half_width : float
        Half of the width of the interval for which the number of resamples is planned.
    """

    measure: str = ""
    level: float = 0.95
    n_features: int | None = None
    kind: Kind | None = None
    top: int | None = None
    transpose: bool | None = None
    candidate: str | None = None
    lists: bool | None = None
    undefined: str = "nan"
    half_width: float = 0.05


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A possible answer to a question.

    Attributes
    ----------
    label : str
        What it means.
    address : str
        The page with this answer.
    """

    label: str
    address: str


@dataclass(frozen=True, kw_only=True)
class SelectionsPage:
    """Uploaded selections: how stable they are, or what must be known to measure it.

    Attributes
    ----------
    upload : Upload
        The file.
    asked : SelectionsQuery
        How it was read and measured.
    measurement : Measurement or None
        What was found; None if the file could not be read or measured.
    question : Question or None
        What must be known first.
    answers : tuple of Answer
        Possible answers to it.
    problem : str
        Why it could not be measured, as a sentence; empty if it was.
    preview : Preview or None
        The beginning of a file that leaves something open.
    measures : tuple of MeasureChoice
        Measures that can be chosen.
    others : tuple of Upload
        Other files to compare it with.
    command : str
        The same on the command line.
    """

    usual: ClassVar[SelectionsQuery] = SelectionsQuery()

    upload: Upload
    asked: SelectionsQuery
    measurement: Measurement | None
    question: Question | None
    answers: tuple[Answer, ...]
    problem: str
    preview: Preview | None
    measures: tuple[MeasureChoice, ...]
    others: tuple[Upload, ...]
    command: str


@dataclass(frozen=True, kw_only=True)
class CompareQuery:
    """What to compare, and how.

    Attributes
    ----------
    of : tuple of str
        Keys of the uploads.
    paired : bool or None
        Whether run i of all files used the same resample; by default the labels of the runs decide.
    measure : str
        Name of the measure; the usual one by default.
    level : float
        Level of the intervals; its complement is the level of significance.
    n_features : int or None
        For lists of names: how many features there were to choose from.
    kind : {"subset", "ranking", "weighting"} or None
        What the numbers of tables are, where that is open.
    top : int or None
        How many of the best features of rankings and weights count as selected.
    transpose : bool or None
        Whether rows of tables are features, where that is open.
    lists : bool or None
        Whether each line of texts that are no tables lists the features that a run selected.
    undefined : str
        What to do where the measure is undefined: ``nan``, ``skip``, or a number that takes the place.
    first, second : int
        Which two selections to show side by side, by their place among those given, from 0.
    """

    of: tuple[str, ...] = ()
    paired: bool | None = None
    measure: str = ""
    level: float = 0.95
    n_features: int | None = None
    kind: Kind | None = None
    top: int | None = None
    transpose: bool | None = None
    lists: bool | None = None
    undefined: str = "nan"
    first: int = 0
    second: int = 1


@dataclass(frozen=True, kw_only=True)
class ComparePage:
    """Uploaded selections compared with each other, or what must be known to compare them.

    Attributes
    ----------
    uploads : tuple of Upload
        The files.
    asked : CompareQuery
        How they were compared.
    comparison : SelectionsComparison or None
        What was found; None if they could not be compared.
    question : Question or None
        What must be known first.
    answers : tuple of Answer
        Possible answers to it.
    problem : str
        Why they could not be compared, as a sentence; empty if they were.
    measures : tuple of MeasureChoice
        Measures that can be chosen.
    recent : tuple of Upload
        All files of selections.
    """

    uploads: tuple[Upload, ...]
    asked: CompareQuery
    comparison: SelectionsComparison | None
    question: Question | None
    answers: tuple[Answer, ...]
    problem: str
    measures: tuple[MeasureChoice, ...]
    recent: tuple[Upload, ...]

    @property
    def chosen(self) -> tuple[str, ...]:
        """Keys of the files."""
        return tuple(upload.upload for upload in self.uploads)


# Uploads and examples


@routes.page("/measure", "measure.html.j2")
def show_measure(site: Site) -> MeasurePage:
    """List the selections that were uploaded."""
    return MeasurePage(uploads=tuple(site.uploads.list("selections")))


@routes.action("POST", "/measure/examples/{example}", status=201)
async def add_example(site: Site, example: str) -> Upload:
    """Add an example to the uploads: the best features on 20 bootstrap samples of the breast-cancer data."""
    if example not in EXAMPLES:
        raise RefusedError(404, f"There is no such example; there are {', '.join(EXAMPLES)}.")
    frame = load_example().top(EXAMPLES[example], ties="lowest").to_frame()
    text = io.StringIO()
    frame.to_csv(text, index_label="run")
    content, name = text.getvalue().encode(), f"example-{example}.csv"
    known = (upload for upload in site.uploads.list("selections") if (upload.name, upload.size) == (name, len(content)))
    if (upload := next(known, None)) is not None:
        return upload

    async def pieces() -> AsyncIterator[bytes]:
        yield content

    return await site.uploads.receive(name, "selections", len(content), pieces())


# One file


@routes.page("/selections/{upload}", "measure_selections.html.j2", draw=lambda page: draw_selections(page))
async def show_selections(site: Site, upload: str, query: SelectionsQuery) -> SelectionsPage:
    """Measure how stable uploaded selections are."""
    found = site.uploads.get(upload, "selections")
    check_level(query.level)
    parse_undefined(query.undefined)
    if not 0.001 <= query.half_width <= 1:
        raise ValueError(f"Expected a half width from 0.001 to 1, got {query.half_width:g}.")
    path, reading = str(site.uploads.path(found)), _reading(query)
    measurement, question, problem, preview = None, None, "", None
    try:
        options = {"measure": query.measure, "level": query.level, "undefined": query.undefined}
        answer = await site.run_task(
            "measure_selections", {"path": path, "reading": reading, "half_width": query.half_width, **options}
        )
        measurement = from_plain(Measurement, answer)
    except TaskError as error:
        question, problem = _question(site, error, query)
        if question is not None or not query.measure:
            preview = await _preview(site, path)
    address = f"/selections/{found.upload}"
    return SelectionsPage(
        upload=found,
        asked=query,
        measurement=measurement,
        question=question,
        answers=_answers(address, query, question or _ask_for_lists(found, query, problem)),
        problem=problem,
        preview=preview,
        measures=() if measurement is None else list_measures(measurement.kind),
        others=tuple(other for other in site.uploads.list("selections") if other.upload != found.upload),
        command=_command(["measure", found.name], query),
    )


async def _preview(site: Site, path: str) -> Preview | None:
    """The beginning of a file; None if it cannot be read at all."""
    try:
        return from_plain(Preview, await site.run_task("preview_selections", {"path": path}))
    except TaskError:
        return None


def draw_selections(page: SelectionsPage) -> dict[str, str]:
    """Return the selection map, and the table of all features for the script."""
    measurement = page.measurement
    if measurement is None or measurement.features.map is None:
        return {}
    features = replace(measurement.features, shown=(), table=NO_TABLE)
    return {"map": _draw_map(features), "table": pack_table(measurement.features)["block"]}


@lru_cache(maxsize=8)
def _draw_map(features: Features) -> str:
    """Draw the selection map; it stays the same as long as the file is read in the same way."""
    assert features.map is not None
    frames = map_frames(features.map, features)
    with unchecked():
        wide, narrow = (draw_selection_map(frames, narrow=narrow) for narrow in (False, True))
    return figure(wide, "figure-map", narrow=narrow, columns=COLUMNS_OF_FIGURES["map"])


# Several files


@routes.page("/compare", "measure_compare.html.j2", draw=lambda page: draw_comparison(page))
async def show_comparison(site: Site, query: CompareQuery) -> ComparePage:
    """Compare the stabilities of uploaded selections."""
    check_level(query.level)
    parse_undefined(query.undefined)
    keys = list(dict.fromkeys(query.of))
    if len(keys) > MOST_COMPARED:
        raise ValueError(f"Expected at most {MOST_COMPARED} files to compare, got {len(keys)}.")
    uploads = tuple(site.uploads.get(key, "selections") for key in keys)
    comparison, question, problem = None, None, ""
    if uploads:
        try:
            comparison = from_plain(
                SelectionsComparison, await site.run_task("compare_selections", _comparing(site, uploads, query))
            )
        except TaskError as error:
            question, problem = _question(site, error, query)
    return ComparePage(
        uploads=uploads,
        asked=query,
        comparison=comparison,
        question=question,
        answers=_answers("/compare", query, question),
        problem=problem,
        measures=() if comparison is None else list_measures(comparison.kind),
        recent=tuple(site.uploads.list("selections")),
    )


def _comparing(site: Site, uploads: tuple[Upload, ...], query: CompareQuery) -> dict[str, Any]:
    return {
        "paths": [str(site.uploads.path(upload)) for upload in uploads],
        "names": display_names([upload.name.partition(".")[0] for upload in uploads]),
        "reading": _reading(query),
        "measure": query.measure,
        "level": query.level,
        "undefined": query.undefined,
        "paired": query.paired,
        "beside": [query.first, query.second],
    }


def draw_comparison(page: ComparePage) -> dict[str, str]:
    """Return the forest plot of the stabilities."""
    comparison = page.comparison
    if comparison is None:
        return {}
    rows = [
        (
            selection.name, selection.estimate.measure, selection.estimate.value, selection.estimate.low,
            selection.estimate.high, selection.estimate.n_runs, selection.estimate.strength,
            selection.estimate.reason, selection.letters,
        )
        for selection in comparison.selections
    ]  # fmt: skip
    data = pd.DataFrame(rows, columns=COLUMNS)
    with unchecked():
        wide, narrow = (
            draw_forest(data, level=comparison.level, top=comparison.top, axis="stability", narrow=narrow)
            for narrow in (False, True)
        )
    return {"forest": figure(wide, "figure-forest", narrow=narrow, columns=COLUMNS_OF_FIGURES["forest"])}


# What both share


def _reading(query: SelectionsQuery | CompareQuery) -> dict[str, Any]:
    names = ("kind", "n_features", "top", "transpose", "candidate", "lists")
    return {name: getattr(query, name) for name in names if hasattr(query, name)}


def _question(site: Site, error: TaskError, query: SelectionsQuery | CompareQuery) -> tuple[Question | None, str]:
    """Return what a task asked, if an option of the page answers it, or why the task could not answer."""
    question = None if error.question is None else from_plain(Question, dict(error.question))
    if question is not None and not hasattr(query, question.option):
        return None, question.sentence.rpartition(". ")[0] + "."
    return question, "" if question else site.folder.shown(plain_sentence(str(error)))


def _changed(query: SelectionsQuery | CompareQuery) -> list[tuple[str, str]]:
    """Return what differs from the defaults, as it stands in an address."""
    pairs: list[tuple[str, str]] = []
    for field in fields(query):
        value = getattr(query, field.name)
        if value != field.default:
            pairs += [(field.name, _text(item)) for item in (value if isinstance(value, tuple) else (value,))]
    return pairs


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _ask_for_lists(upload: Upload, query: SelectionsQuery, problem: str) -> Question | None:
    """Return what may help where a text is no table of numbers; None for other files."""
    if not problem or query.lists or query.measure or not upload.name.lower().endswith((".csv", ".tsv", ".tab")):
        return None
    return Question("lists", "", (("true", "Each line lists the features that a run selected: read it so"),))


def _answers(address: str, query: SelectionsQuery | CompareQuery, question: Question | None) -> tuple[Answer, ...]:
    """Return the answers to a question, each with the page that it leads to."""
    if question is None:
        return ()
    others = [(name, value) for name, value in _changed(query) if name != question.option]
    return tuple(
        Answer(label=label, address=f"{address}?{urlencode([*others, (question.option, value)])}")
        for value, label in question.choices
    )


def _command(words: list[str], query: SelectionsQuery) -> str:
    """Return the command that measures the same."""
    given: Mapping[str, Any] = asdict(query)
    for name, value in given.items():
        default = next(field.default for field in fields(query) if field.name == name)
        if name != "half_width" and value != default:
            words.append(f"--{name.replace('_', '-')}")
            words += [] if value is True else [str(value)]
    return shlex.join(["holdfast", *words])
