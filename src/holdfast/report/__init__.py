"""The report of a study: one summary, rendered as a self-contained page, as Markdown, or as JSON."""

from holdfast.report.building import summarize
from holdfast.report.inline import InlineReport
from holdfast.report.render import render, write_report
from holdfast.report.summary import Summary

__all__ = ["InlineReport", "Summary", "render", "summarize", "write_report"]
