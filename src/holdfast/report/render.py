"""From a summary to a file: HTML, Markdown or JSON. Everything that comes from the study is escaped."""

import base64
import csv
import io
import json
import math
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from holdfast import __version__
from holdfast.io.files import as_path
from holdfast.plots import embed
from holdfast.plots.text import clean, number, percent, short
from holdfast.report.building import summarize
from holdfast.report.pictures import figures
from holdfast.report.summary import Features, Summary
from holdfast.study import StudyResult

if TYPE_CHECKING:
    from jinja2 import Environment

Format: TypeAlias = Literal["html", "md", "json"]
FORMATS: tuple[str, ...] = get_args(Format)
ENDINGS: dict[str, Format] = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md", ".json": "json"}

MOST_CANDIDATES = 50
MOST_CSV = 1_500_000
"""Bytes of the feature table in a page; the rarest features are left out beyond that."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet would take for a formula and run."""


def write_report(result: StudyResult, path: str | Path, *, format: Format | None = None, **options: Any) -> Path:
    """Write the report of a study into one file, which needs no other file and no network.

    Parameters
    ----------
    result : StudyResult
        What a study found; it may be unfinished.
    path : path
        File to write.
    format : {"html", "md", "json"}, optional
        By default what the file's name ends in.
    **options
        As for :func:`summarize`: candidate, rule, metric, measure, level, threshold, X, title; or ``summary``, one
        that was made before.

    Returns
    -------
    Path
        The file.
    """
    path = as_path(path)
    wanted = format or ENDINGS.get(path.suffix.lower())
    if wanted is None:
        raise ValueError(f"Expected a file that ends in .html, .md or .json, or format=, got {path.name!r}.")
    path.write_text(render(result, wanted, **options), encoding="utf-8")
    return path


def render(result: StudyResult, format: Format = "html", *, summary: Summary | None = None, **options: Any) -> str:
    """Return the report of a study as text; parameters as for :func:`write_report`."""
    if format not in FORMATS:
        raise ValueError(f"Expected format 'html', 'md' or 'json', got {format!r}.")
    summary = summary or summarize(result, **options)
    if format == "json":
        return json.dumps(summary.to_dict(), indent=1, ensure_ascii=True, allow_nan=False) + "\n"
    if format == "md":
        return _environment("md").get_template("report.md.j2").render(summary=summary, version=__version__)
    drawn = figures(result, summary, options.get("measure"), options.get("X"))
    return _page(summary, drawn)


def _page(summary: Summary, drawn: Mapping[str, str]) -> str:
    from markupsafe import Markup

    style = embed.STYLE + (Path(__file__).parent / "templates" / "report.css").read_text(encoding="utf-8")
    return (
        _environment("html")
        .get_template("report.html.j2")
        .render(
            summary=summary,
            version=__version__,
            head=Markup(embed.head(style)),
            scripts=Markup(embed.scripts()),
            figures={key: Markup(text) for key, text in drawn.items()},
            scale=_scale(summary),
            csv=None if summary.features is None else csv_link(summary.features),
            most=MOST_CANDIDATES,
            metrics=list(dict.fromkeys(score.metric for one in summary.selectors for score in one.scores)),
        )
    )


@cache
def _environment(format: str) -> "Environment":
    """Templates in which every expression is escaped for its format, unless it is marked as safe."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise ImportError(
            "Expected jinja2 for reports, got none; install it with: pip install 'holdfast[app]'"
        ) from None
    made = Environment(
        loader=PackageLoader("holdfast.report"),
        autoescape=format == "html",
        finalize=_for_page if format == "html" else _for_markdown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "number": _number, "three": lambda value: _number(value, 3), "percent": percent, "short": short,
        "pretty": lambda value: json.dumps(value, indent=1, ensure_ascii=False),
    }  # fmt: skip
    return made


def _number(value: float, digits: int = 2) -> str:
    if value is None or math.isnan(value):
        return "–"
    return number(value) if digits == 2 else f"{value:.{digits}f}".replace("-", "−")


def _for_page(value: Any) -> Any:
    """Text without characters that turn the direction of writing or cannot be shown; escaping comes after."""
    return clean_lines(value) if type(value) is str else value


def clean_lines(text: str) -> str:
    """The text without unsafe characters, its line breaks kept."""
    return "\n".join(clean(line) for line in text.split("\n"))


def _for_markdown(value: Any) -> Any:
    """Text in which nothing is a mark of Markdown or of HTML."""
    return _escaped(value) if type(value) is str else value


def _escaped(text: str) -> str:
    plain = clean(re.sub(r"\s+", " ", text))
    marked = re.sub(r"([\\`*_\[\]|~$#])", r"\\\1", plain)
    return marked.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


# Parts of the page


def _scale(summary: Summary) -> dict[str, Any] | None:
    """Where the stability lies on the bar of the verdict, in hundredths."""
    one = summary.stability
    if math.isnan(one.value) or not one.strength:
        return None
    low, high = (one.value, one.value) if math.isnan(one.low) else (one.low, one.high)
    return {name: 100 * min(max(value, 0), 1) for name, value in (("value", one.value), ("low", low), ("high", high))}


def csv_link(features: Features) -> dict[str, Any]:
    """The feature table as an address that holds it whole, and how many features it holds."""
    text, kept = csv_text(features)
    coded = base64.b64encode(text.encode(errors="replace")).decode()
    return {"href": f"data:text/csv;charset=utf-8;base64,{coded}", "kept": kept, "all": len(features.table)}


def csv_text(features: Features, most: int = MOST_CSV) -> tuple[str, int]:
    """The feature table as CSV, the most frequent features first, and how many features it holds."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["feature", "count", "frequency", "low", "high"])
    for kept, row in enumerate(features.table):
        if out.tell() > most:
            return out.getvalue(), kept
        ends = (f"{row[column]:.6g}" for column in ("frequency", "low", "high"))
        rows.writerow([_cell(row["feature"]), row["count"], *ends])
    return out.getvalue(), len(features.table)


def _cell(name: str) -> str:
    return f"'{name}" if name.startswith(FORMULA) else name
