"""Uploaded selections: how stable they are, how sure that is, what makes them vary, and whether they differ."""

import io
import re
import shlex
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from starlette.responses import RedirectResponse

from holdfast.datasets import load_example
from holdfast.inference.intervals import check_level
from holdfast.io.inspection import SelectionsInspection
from holdfast.io.questions import Question
from holdfast.measures import find_measure
from holdfast.plots.embed import draw_figure
from holdfast.plots.forest import draw_forest
from holdfast.plots.selection_map import draw_selection_map
from holdfast.report.pictures import COLUMNS_OF_FIGURES, list_stabilities, map_frames
from holdfast.report.records import NO_TABLE, Features
from holdfast.report.rendering import pack_table
from holdfast.serialization import from_plain
from holdfast.text import display_names
from holdfast.web.folder import Upload
from holdfast.web.forms import list_levels
from holdfast.web.guard import RefusedError
from holdfast.web.measuring import MAX_COMPARED, Measurement, ReadingQuery, SelectionsComparison
from holdfast.web.rendering import Page
from holdfast.web.routing import Routes, list_changes, make_address
from holdfast.web.selections import CHOICES, UNNAMED, list_measures, parse_undefined, plain_sentence
from holdfast.web.site import Site
from holdfast.web.worker import ExhaustedError, TaskError

routes = Routes()


def list_reading(query: Any) -> dict[str, Any]:
    """Return the options of a query that say how to read files."""
    names = ("kind", "n_features", "top", "transpose", "candidate", "layout")
    return {name: getattr(query, name) for name in names if hasattr(query, name)}


def read_question(site: Site, error: TaskError, query: Any) -> tuple[Question | None, str]:
    """Return what a task asked, if an option of the page answers it, or why the task could not answer."""
    question = None if error.question is None else from_plain(Question, dict(error.question))
    if question is not None and not hasattr(query, question.option):
        return None, question.sentence.rpartition(". ")[0] + "."
    return question, "" if question else site.folder.shown(plain_sentence(str(error)))


def list_answers(address: str, query: Any, question: Question | None) -> tuple[dict[str, str], ...]:
    """Return the answers to a question, each with the page that it leads to."""
    if question is None:
        return ()
    others = [(name, value) for name, value in list_changes(query) if name != question.option]
    return tuple(
        {"label": label, "address": make_address(address, [*others, (question.option, value)])}
        for value, label in question.choices
    )


# The page


SELECTIONS_SECONDS = 60
"""Seconds in which selections must be read and measured."""
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
EXAMPLES = {"ten-best": 10, "five-best": 5}
"""Examples by name: how many of the best features of each bootstrap sample count as selected."""


@dataclass(frozen=True, kw_only=True)
class SelectionsQuery(ReadingQuery):
    """How to read and measure selections, and how precise a plan for more of them is to be.

    Attributes
    ----------
    candidate : str or None
        Whose selections to take from a file that a study exported.
    half_width : float
        Half of the width of the interval for which the number of resamples is planned.
    """

    candidate: str | None = None
    half_width: float = 0.05


DEFAULT_QUERY = SelectionsQuery()


# Uploads and examples


@routes.page("/measure", "measure.html.j2")
def show_measure(site: Site) -> Page:
    """List the selections that were uploaded."""
    return Page(uploads=tuple(site.uploads.list("selections")))


@dataclass(frozen=True, kw_only=True)
class PastedText:
    """Selections that were pasted.

    Attributes
    ----------
    text : str
        The selections.
    form : {"txt", "csv", "tsv", "json"} or empty
        How they are written; empty for what they look like.
    called : str
        What they are to be called.
    """

    text: str = ""
    form: Literal["", "txt", "csv", "tsv", "json"] = ""
    called: str = ""


@routes.form("/measure")
async def paste_selections(site: Site, form: PastedText) -> RedirectResponse:
    """Store pasted selections as an upload, and lead to its page."""
    if not form.text.strip():
        raise RefusedError(400, "There are no selections in the field: paste them first, one run in each line.")
    name = re.sub(r"(?i)\.(txt|csv|tsv|json)$", "", form.called.strip()) or "pasted"
    free = site.uploads.free_name(f"{name}.{form.form or guess_ending(form.text)}")
    upload = await site.uploads.store(free, "selections", form.text.encode("utf-8", "replace"))
    return RedirectResponse(f"/selections/{upload.upload}", 303)


def guess_ending(text: str) -> str:
    """Return what a text looks like: JSON, a table (numbers below a header), or lists of names."""
    if text.lstrip()[:1] in ("[", "{"):
        return "json"
    lines = text.strip().splitlines()
    mark = next((mark for mark in "\t;," if mark in lines[0]), None)
    if mark is None or len(lines) < 2:
        return "txt"
    head, *rows = ([cell.strip().replace(",", ".") for cell in line.split(mark)] for line in lines)
    numbers = all(len(row) == len(head) and all(map(NUMBER.fullmatch, row[1:])) for row in rows)
    return ("tsv" if mark == "\t" else "csv") if numbers and not all(map(NUMBER.fullmatch, head[1:])) else "txt"


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
    return next(known, None) or await site.uploads.store(name, "selections", content)


# One file


@routes.page("/selections/{upload}", "measure_selections.html.j2", draw=lambda page: draw_selections(page))
async def show_selections(site: Site, upload: str, query: SelectionsQuery) -> Page:
    """Measure how stable uploaded selections are."""
    file = site.uploads.get(upload, "selections")
    check_level(query.level)
    parse_undefined(query.undefined)
    if not 0.001 <= query.half_width <= 1:
        raise ValueError(f"Expected a half width from 0.001 to 1, got {query.half_width:g}.")
    path, reading = str(site.uploads.path(file)), list_reading(query)
    measurement, question, problem, preview = None, None, "", None
    try:
        options = {"measure": query.measure, "level": query.level, "undefined": query.undefined}
        answer = await site.run_task(
            "measure_selections",
            {"path": path, "reading": reading, "half_width": query.half_width, **options},
            seconds=SELECTIONS_SECONDS,
        )
        measurement = from_plain(Measurement, answer)
    except TaskError as error:
        question, problem = read_question(site, error, query)
        if not isinstance(error, ExhaustedError) and (question is not None or not query.measure):
            preview = await _preview(site, path)
        if preview is not None and question is not None and question.option == "layout":
            preview = replace(preview, kind_reason="")  # which is what is asked
    address = f"/selections/{file.upload}"
    return Page(
        upload=file,
        asked=query,
        default=DEFAULT_QUERY,
        levels=list_levels(query.level),
        measurement=measurement,
        question=question,
        answers=list_answers(address, query, question or _ask_for_layout(file, query, problem)),
        problem=problem,
        preview=preview,
        measures=() if measurement is None else list_measures(measurement.kind),
        others=tuple(other for other in site.uploads.list("selections") if other.upload != file.upload),
        command=_command(
            file.name,
            query,
            query.measure if measurement is None else measurement.measure,
            unnamed=measurement is not None and (UNNAMED in measurement.notes or query.layout == "orders"),
        ),
    )


async def _preview(site: Site, path: str) -> SelectionsInspection | None:
    """The beginning of a file; None if it cannot be read at all."""
    try:
        return from_plain(
            SelectionsInspection, await site.run_task("inspect_selections", {"path": path}, seconds=SELECTIONS_SECONDS)
        )
    except TaskError:
        return None


def draw_selections(page: Page) -> dict[str, str]:
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
    frames = map_frames(features.map, features.n_runs, features.n_features)
    return draw_figure("figure-map", draw_selection_map, frames, columns=COLUMNS_OF_FIGURES["map"])


def _ask_for_layout(upload: Upload, query: SelectionsQuery, problem: str) -> Question | None:
    """Return what may help where a text is no table of numbers; None for other files."""
    if not problem or query.layout or query.measure or not upload.name.lower().endswith((".csv", ".tsv", ".tab")):
        return None
    return Question("layout", "", (("lists", f"{CHOICES['lists']}: read it so"),))


def _command(name: str, query: SelectionsQuery, measure: str, *, unnamed: bool) -> str:
    """Return the command that measures the same; lists are recognized by the ending of their file.

    It is empty for a file without names of features, which the command line takes with a header only.
    """
    if unnamed:
        return ""
    words = ["holdfast", "measure", f"{name.rpartition('.')[0]}.txt" if query.layout == "lists" else name]
    words += ["--measure", measure] if measure else []
    for option in ("kind", "n_features", "top", "candidate", "level", "undefined"):
        value = getattr(query, option)
        if value != getattr(DEFAULT_QUERY, option):
            words += [f"--{option.replace('_', '-')}", str(value)]
    return shlex.join([*words, "--transpose"] if query.transpose else words)


# Several files


@dataclass(frozen=True, kw_only=True)
class CompareQuery(ReadingQuery):
    """What to compare, and how.

    Attributes
    ----------
    of : tuple of str
        Keys of the uploads.
    paired : bool or None
        Whether run i of all files used the same resample; by default the labels of the runs decide.
    first, second : int
        Which two selections to show side by side, by their number, from 0.
    """

    of: tuple[str, ...] = ()
    paired: bool | None = None
    first: int = 0
    second: int = 1


@routes.page("/compare", "measure_compare.html.j2", draw=lambda page: draw_comparison(page))
async def show_comparison(site: Site, query: CompareQuery) -> Page:
    """Compare the stabilities of uploaded selections."""
    check_level(query.level)
    parse_undefined(query.undefined)
    keys = list(dict.fromkeys(query.of))
    if len(keys) > MAX_COMPARED:
        raise ValueError(f"Expected at most {MAX_COMPARED} files to compare, got {len(keys)}.")
    uploads = tuple(site.uploads.get(key, "selections") for key in keys)
    comparison, question, problem = None, None, ""
    if uploads:
        try:
            arguments = {
                "paths": [str(site.uploads.path(upload)) for upload in uploads],
                "names": display_names([upload.name.partition(".")[0] for upload in uploads]),
                "reading": list_reading(query), "measure": query.measure, "level": query.level,
                "undefined": query.undefined, "paired": query.paired, "pair": [query.first, query.second],
            }  # fmt: skip
            comparison = from_plain(
                SelectionsComparison, await site.run_task("compare_selections", arguments, seconds=SELECTIONS_SECONDS)
            )
        except TaskError as error:
            question, problem = read_question(site, error, query)
    return Page(
        uploads=uploads,
        chosen=tuple(upload.upload for upload in uploads),
        asked=query,
        levels=list_levels(query.level),
        comparison=comparison,
        question=question,
        answers=list_answers("/compare", query, question),
        problem=problem,
        measures=() if comparison is None else list_measures(comparison.kind),
        recent=tuple(site.uploads.list("selections")),
    )


def draw_comparison(page: Page) -> dict[str, str]:
    """Return the forest plot of the stabilities."""
    comparison = page.comparison
    if comparison is None:
        return {}
    measure = find_measure(comparison.measure).about.label
    rows = ((selection.name, measure, selection.stability, selection.letters) for selection in comparison.selections)
    data, options = list_stabilities(rows), {"level": comparison.level, "top": comparison.top}
    columns = COLUMNS_OF_FIGURES["forest"]
    return {"forest": draw_figure("figure-forest", draw_forest, data, axis="stability", columns=columns, **options)}
