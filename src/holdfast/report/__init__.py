"""Reports of studies and benchmarks: one typed summary, rendered as a self-contained page, as Markdown, or as JSON.

:func:`summarize` (``building``) fills the records of ``summary`` and ``records`` from a study; ``verdict``,
``causes``, ``method``, ``features`` and ``labels`` find the words. ``render`` and ``pictures`` show a summary and
compute nothing; ``templates/`` has a file for each section. Begin with ``verdict`` for a sentence, with ``render`` for
the layout.
"""

from holdfast.report.benchmark import (
    BenchmarkSummary,
    benchmark_csv,
    benchmark_latex,
    summarize_benchmark,
)
from holdfast.report.building import summarize
from holdfast.report.render import InlineReport, render, render_benchmark, write_benchmark, write_report
from holdfast.report.summary import Summary

__all__ = [
    "BenchmarkSummary",
    "InlineReport",
    "Summary",
    "benchmark_csv",
    "benchmark_latex",
    "render",
    "render_benchmark",
    "summarize",
    "summarize_benchmark",
    "write_benchmark",
    "write_report",
]
