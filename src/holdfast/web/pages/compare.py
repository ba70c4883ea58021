"""Compare: whether uploaded selections differ in stability, and in which features."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from holdfast.inference.intervals import check_level
from holdfast.io.questions import Question
from holdfast.measures import find_measure
from holdfast.plots.embed import figure
from holdfast.plots.forest import COLUMNS, draw_forest
from holdfast.plots.text import display_names
from holdfast.plots.theme import unchecked
from holdfast.report.pictures import COLUMNS_OF_FIGURES
from holdfast.serialization import from_plain
from holdfast.web.choices import NamedOption, list_levels
from holdfast.web.routing import Routes
from holdfast.web.selections.comparing import MOST_COMPARED, SelectionsComparison
from holdfast.web.selections.questions import Answer, list_answers, list_reading, read_question
from holdfast.web.selections.reading import list_measures, parse_undefined
from holdfast.web.selections.records import ReadingQuery
from holdfast.web.site import Site
from holdfast.web.uploads import Upload
from holdfast.web.worker import TaskError

routes = Routes()


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
        Which two selections to show side by side, by their place among those given, from 0.
    """

    of: tuple[str, ...] = ()
    paired: bool | None = None
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
    measures : tuple of NamedOption
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
    measures: tuple[NamedOption, ...]
    recent: tuple[Upload, ...]

    @property
    def levels(self) -> tuple[float, ...]:
        """Levels to choose from."""
        return list_levels(self.asked.level)

    @property
    def chosen(self) -> tuple[str, ...]:
        """Keys of the files."""
        return tuple(upload.upload for upload in self.uploads)


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
            question, problem = read_question(site, error, query)
    return ComparePage(
        uploads=uploads,
        asked=query,
        comparison=comparison,
        question=question,
        answers=list_answers("/compare", query, question),
        problem=problem,
        measures=() if comparison is None else list_measures(comparison.kind),
        recent=tuple(site.uploads.list("selections")),
    )


def _comparing(site: Site, uploads: tuple[Upload, ...], query: CompareQuery) -> dict[str, Any]:
    return {
        "paths": [str(site.uploads.path(upload)) for upload in uploads],
        "names": display_names([upload.name.partition(".")[0] for upload in uploads]),
        "reading": list_reading(query),
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
    measure = find_measure(comparison.measure).about.label
    rows = [
        (
            selection.name, measure, selection.estimate.value, selection.estimate.low,
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
