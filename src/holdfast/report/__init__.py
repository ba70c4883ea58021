"""Reports of studies and benchmarks: one summary, rendered as a self-contained page, as Markdown, or as JSON."""

from holdfast.report.benchmark_building import summarize_benchmark
from holdfast.report.benchmark_records import BenchmarkSummary
from holdfast.report.benchmark_render import render_benchmark, write_benchmark
from holdfast.report.benchmark_tables import benchmark_csv, benchmark_latex
from holdfast.report.building import summarize
from holdfast.report.inline import InlineReport
from holdfast.report.render import render, write_report
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
