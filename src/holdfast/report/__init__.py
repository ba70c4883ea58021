"""Reports of studies and benchmarks: one summary, rendered as a self-contained page, as Markdown, or as JSON."""

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
