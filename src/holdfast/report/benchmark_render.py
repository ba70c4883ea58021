"""From the summary of a benchmark to a page, Markdown or JSON. Everything that comes from the study is escaped."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from holdfast.inference.ranks import RankComparisons
from holdfast.io.files import as_path
from holdfast.plots import embed
from holdfast.plots.critical_difference import critical_difference_data, draw_critical_difference
from holdfast.plots.embed import figure
from holdfast.plots.rank_tradeoff import draw_rank_tradeoff, rank_tradeoff_data
from holdfast.plots.theme import unchecked
from holdfast.report.benchmark_records import BenchmarkSummary, Question
from holdfast.report.render import FORMATS, Format, make_environment, write_rendered
from holdfast.serialization import to_json

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart

TEMPLATES = Path(__file__).parent / "templates"
MOST_DRAWN = 30
"""Candidates up to which mean ranks are drawn; tables have all."""


def write_benchmark(summary: BenchmarkSummary, path: str | Path, *, format: Format | None = None) -> Path:
    """Write the report of a benchmark into one file, which needs no other file and no network.

    Parameters
    ----------
    summary : BenchmarkSummary
        What the report says.
    path : path
        File to write.
    format : {"html", "md", "json"}, optional
        By default the ending of the file decides.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ValueError
        If the format follows neither from ``format`` nor from the ending of the file.

    See Also
    --------
    summarize_benchmark : The summary of a benchmark.
    """
    return write_rendered(path, format, lambda format: render_benchmark(summary, format))


def render_benchmark(summary: BenchmarkSummary, format: Format = "html") -> str:
    """Return the report of a benchmark as text.

    Parameters
    ----------
    summary : BenchmarkSummary
        What the report says.
    format : {"html", "md", "json"}
        A page that needs nothing else, Markdown, or JSON.

    Returns
    -------
    str
        The text.

    Raises
    ------
    ValueError
        If there is no such format.

    See Also
    --------
    write_benchmark : Writes it into a file.
    """
    if format not in FORMATS:
        raise ValueError(f"Expected format 'html', 'md' or 'json', got {format!r}.")
    if format == "json":
        return to_json(summary.to_dict()) + "\n"
    questions = [question for question in (summary.stability, summary.score) if _asked(summary, question)]
    values: dict[str, Any] = {"summary": summary, "questions": questions}
    if format == "html":
        values |= _page_parts(summary)
    return make_environment(format).get_template(f"benchmark.{format}.j2").render(values)


def _asked(summary: BenchmarkSummary, question: Question) -> bool:
    return question is summary.stability or summary.metric is not None


def _page_parts(summary: BenchmarkSummary) -> dict[str, Any]:
    from markupsafe import Markup

    css = [(TEMPLATES / name).read_text(encoding="utf-8") for name in ("report.css", "benchmark.css")]
    with unchecked():
        charts = draw_benchmark(summary)
    figures = {name: Markup(figure(chart, f"figure-{name}")) for name, chart in charts.items()}
    return {
        "head": Markup(embed.head("".join([embed.STYLE, *css]))),
        "scripts": Markup(embed.scripts()),
        "figures": figures,
    }


def draw_benchmark(summary: BenchmarkSummary) -> "dict[str, AnyChart]":
    """Return the charts that a summary has data for: mean ranks of each question, and the trade-off."""
    charts: dict[str, AnyChart] = {}
    for name, question in (("stability", summary.stability), ("score", summary.score)):
        if question.reason is None and len(question.candidates) <= MOST_DRAWN:
            found = critical_difference_data(as_comparisons(question, summary.level))
            charts[name] = draw_critical_difference(found, what=question.what)
    if summary.n_ranked and 1 < len(summary.candidates) <= MOST_DRAWN:
        rows = pd.DataFrame([vars(row) for row in summary.candidates]).set_index("candidate")
        data = rank_tradeoff_data(rows)
        charts["tradeoff"] = draw_rank_tradeoff(data, score=str(summary.metric), n_datasets=summary.n_ranked)
    return charts


def as_comparisons(question: Question, level: float) -> RankComparisons:
    """Return the comparisons by Nemenyi's test that a summary holds, as they are drawn."""
    ranks = dict(zip(question.candidates, question.mean_ranks, strict=True))
    rows = [
        {
            "first": pair.first, "second": pair.second, "statistic": ranks[pair.second] - ranks[pair.first],
            "different": pair.p_nemenyi <= 1 - level,
        }
        for pair in question.pairs
    ]  # fmt: skip
    return RankComparisons(
        test="nemenyi", candidates=question.candidates, mean_ranks=question.mean_ranks,
        n_datasets=len(question.datasets), pairs=pd.DataFrame(rows), level=level,
        critical_difference=question.critical_difference, reason=question.reason,
    )  # fmt: skip


def write_text(text: str, path: str | Path | None) -> str:
    """Write a text to a file, if there is one, and return it."""
    if path is not None:
        as_path(path).write_text(text, encoding="utf-8")
    return text
