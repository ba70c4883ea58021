"""Summaries of studies, worked out once for each way to look at a study, with their figures drawn."""

from holdfast.report import Summary, summarize
from holdfast.report.pictures import draw_figures
from holdfast.report.render import page_parts
from holdfast.study import StudyResult
from holdfast.web.findings.options import ResultQuery
from holdfast.web.rendering import remember_last
from holdfast.web.results import Snapshot

drawn_figures = remember_last(draw_figures)
"""The figures of a summary, by their names."""
named_parts = remember_last(page_parts)
"""What templates of the report say of a summary, by the names that they use."""


def summary_of(snapshot: Snapshot, query: ResultQuery) -> Summary:
    """Return the summary that was asked for; its figures are drawn too, as every page shows them."""

    def work_out(result: StudyResult) -> Summary:
        summary = summarize(result, **query.arguments)
        drawn_figures(summary)
        named_parts(summary)
        return summary

    return snapshot.remember(("summary", *query.arguments.items()), work_out)
