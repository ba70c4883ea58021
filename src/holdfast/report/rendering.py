"""From a summary to a file: HTML, Markdown or JSON. Everything that comes from the study is escaped."""

import base64
import csv
import html
import io
import itertools
import json
import math
import re
import shlex
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from holdfast.io.files import as_path
from holdfast.io.selections import protect_formula
from holdfast.plots import embed
from holdfast.report.benchmark import BenchmarkSummary
from holdfast.report.pictures import draw_figures
from holdfast.report.records import Features, Stability
from holdfast.report.summary import Summary
from holdfast.serialization import to_json, to_plain
from holdfast.text import (
    clean_lines,
    clean_text,
    format_again,
    format_number,
    format_p_value,
    format_percent,
    format_score,
    shorten,
    upper_first,
)
from holdfast.tradeoff.selected import ADJUSTED_COLUMNS

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


_glossary = tomllib.loads(Path(__file__).with_name("glossary.toml").read_text(encoding="utf-8"))
GLOSSARY: dict[str, str] = _glossary["words"]
"""A plain sentence for each technical word of a report."""
OTHER_FORMS: dict[str, str] = _glossary["other_forms"]
"""Other forms of the words than their plurals."""


class Glossary:
    """Links words of a page to their explanations, and knows which words the page used.

    A word is linked once in each part of the page, where it is first used, and in every head of a table.
    """

    def __init__(self) -> None:
        self._linked: set[tuple[str, str]] = set()
        forms = {word: word for word in GLOSSARY} | OTHER_FORMS
        self._words = {form.lower(): word for form, word in forms.items()}
        longest_first = sorted(self._words, key=len, reverse=True)
        self._pattern = re.compile(
            rf"(?<![\w-])({'|'.join(map(re.escape, longest_first))})(s?)(?![\w-])", re.IGNORECASE
        )

    def explain(self, text: str, part: str) -> "Markup":
        """Return a text, escaped, with each technical word linked that this part of the page has not linked yet."""
        from markupsafe import Markup, escape

        def link(match: "re.Match[str]") -> str:
            word = self._words[match[1].lower()]
            if (part, word) in self._linked:
                return match[0]
            self._linked.add((part, word))
            return f'<a class="term" href="#{_key(word)}">{match[0]}</a>'

        return Markup(self._pattern.sub(link, str(escape(clean_lines(text)))))

    def head(self, text: str) -> "Markup":
        """Return the head of a column, with every technical word linked."""
        return self.explain(text, f"head {len(self._linked)}")

    @property
    def used(self) -> list[tuple[str, str, str]]:
        """Key, word and explanation of all words that were linked so far, in alphabetical order."""
        words = sorted({word for _, word in self._linked}, key=str.lower)
        return [(_key(word), word, GLOSSARY[word]) for word in words]


def _key(word: str) -> str:
    return "word-" + re.sub(r"\W+", "-", word.lower())


Format: TypeAlias = Literal["html", "md", "json"]
FORMATS: tuple[str, ...] = get_args(Format)
ENDINGS: dict[str, Format] = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md", ".json": "json"}

MAX_CANDIDATES = 50
MAX_CSV = 40_000
"""Bytes of the feature table for readers without scripts; with them, a page saves all features that it holds."""
MAX_TABLE = 640_000
"""Bytes of the names of features in a page; beyond that, the rarest are left out."""
CSV_COLUMNS = (
    "feature", "count", "frequency", "low", "high", "verdict", "direction", "effect", "effect_low", "effect_high",
    "splits", "agreement", "second_effect", "model_use", "model_agreement", "coefficient", "used", "stand_ins",
    "with_stand_ins", "new_study", "by_habit", "expected_false", "q",
)  # fmt: skip
"""What is saved of each feature, as ``holdfast features --csv`` writes it; with adjusted effects if there are any."""
N_COUNTED = 5
"""How many of these, the first, are known of every feature; the others of those that are shown."""
TEMPLATES = Path(__file__).parent / "templates"
LINK = re.compile(r"https://[\w./:();,%-]+")
FENCE = re.compile("`{3,}")


def write_report(summary: Summary | BenchmarkSummary, path: str | Path, *, format: Format | None = None) -> Path:
    """Write a report into one file, which needs no other file and no network.

    Parameters
    ----------
    summary : Summary
        What the report says: of a study from :func:`summarize`, or read with ``Summary.from_dict``.
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
    summarize : The summary of a study.
    render : The same as text.

    Examples
    --------
    >>> import json
    >>> from holdfast.report import Summary, write_report
    >>> summary = Summary.from_dict(json.load(open("report.json")))  # doctest: +SKIP
    >>> write_report(summary, "report.html")  # doctest: +SKIP
    """
    path = as_path(path)
    format = format or ENDINGS.get(path.suffix.lower())
    if format is None:
        raise ValueError(f"Expected a file that ends in .html, .md or .json, or format=, got {path.name!r}.")
    path.write_text(render(summary, format), encoding="utf-8")
    return path


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
    return write_report(summary, path, format=format)


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
    return render(summary, format)


def render(summary: Summary | BenchmarkSummary, format: Format = "html") -> str:
    """Return a report as text.

    Parameters
    ----------
    summary : Summary
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
    write_report : Writes it into a file.
    """
    if format not in FORMATS:
        raise ValueError(f"Expected format 'html', 'md' or 'json', got {format!r}.")
    if format == "json":
        return to_json(summary.to_dict()) + "\n"
    values = {**page_parts(summary), "glossary": Glossary()}
    if format == "html":
        from markupsafe import Markup

        values |= {
            "head": Markup(embed.head(page_style(), [page_script()])),
            "scripts": Markup(embed.scripts([page_script()])),
            "figures": {name: Markup(text) for name, text in draw_figures(summary).items()},
        }
    return make_environment(format).get_template(f"{summary.template}.{format}.j2").render(values)


@cache
def page_style() -> str:
    """The style of a report."""
    return embed.STYLE + (TEMPLATES / "report.css").read_text(encoding="utf-8")


@cache
def page_script() -> str:
    """The script of a report, without those that draw."""
    return (TEMPLATES / "report.js").read_text(encoding="utf-8")


def page_policy() -> str:
    """The Content-Security-Policy of a report, as its head declares it."""
    return embed.policy(page_style(), [page_script()])


def page_parts(summary: Summary | BenchmarkSummary) -> dict[str, Any]:
    """Return what the templates of a report's parts say, by the names that they use, without figures and glossary."""
    values = {"summary": summary, "level": format_percent(summary.level)}
    if isinstance(summary, BenchmarkSummary):
        return values
    labels = summary.labels
    return values | {
        "stability": summary.stability,
        "features": summary.features,
        "tradeoff": summary.tradeoff,
        "labels": labels,
        "reported": shorten(labels.candidate(summary.candidate), 60) if summary.candidate else "",
        "table": None if summary.features is None else pack_table(summary.features),
        "most": MAX_CANDIDATES,
    }


@cache
def make_environment(format: str, *packages: str) -> "Environment":
    """Return the templates, in which every expression is escaped for its format, unless it is marked as safe.

    Templates of ``packages`` come first; those of the report are also available as ``report/NAME``.
    """
    try:
        from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined
    except ImportError:
        raise ImportError("Reports need Jinja2: pip install 'holdfast[app]'") from None
    of_report = PackageLoader("holdfast.report")
    environment = Environment(
        loader=ChoiceLoader([*map(PackageLoader, packages), of_report, PrefixLoader({"report": of_report})]),
        autoescape=format == "html",
        finalize=_clean_for_page if format == "html" else _escape_for_markdown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": format_number, "three": partial(format_number, decimals=3), "percent": format_percent,
        "again": format_again,
        "p_value": format_p_value, "score": format_score,
        "short": shorten, "pretty": lambda value: json.dumps(value, indent=1, ensure_ascii=False), "web": _web_address,
        "plain": lambda value: "" if math.isnan(value) else f"{value:.6g}",
        "upper_first": upper_first,
        "on_scale": locate_on_scale,
        "called": lambda name, labels: labels.candidate(name),
        "for_shell": lambda text: shlex.quote(clean_text(str(text))),
        "quoted": lambda text: json.dumps(str(text), ensure_ascii=False),
        "unfenced": lambda text: FENCE.sub("''", clean_lines(text)),
    }  # fmt: skip
    return environment


def _web_address(link: str) -> str:
    """Return an address that is safe in a page; empty for anything else that a summary from a file may hold."""
    return link if LINK.fullmatch(link) else ""


def _clean_for_page(value: Any) -> Any:
    """Remove characters that change the direction of writing or cannot be shown; escaping comes after."""
    return clean_lines(value) if type(value) is str else value


def _escape_for_markdown(value: Any) -> Any:
    """Escape all characters that mean something in Markdown or HTML."""
    if type(value) is not str:
        return value
    text = clean_text(re.sub(r"\s+", " ", value))
    marked = re.sub(r"([\\`*_\[\]|~$#])", r"\\\1", text)
    return marked.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


# Parts of the page


def locate_on_scale(stability: Stability) -> dict[str, Any] | None:
    """Return where a stability lies on the bar of the verdict, in percent; None if its words do not apply."""
    if math.isnan(stability.value) or not stability.strength:
        return None
    low, high = (stability.value, stability.value) if math.isnan(stability.low) else (stability.low, stability.high)
    return {name: 100 * min(max(x, 0), 1) for name, x in (("value", stability.value), ("low", low), ("high", high))}


def pack_table(features: Features) -> dict[str, Any]:
    """Return the feature table as a data block for the script, as CSV for readers without, and how much they hold.

    Frequency and interval of a feature follow from its count, so they are written once for each count. What else is
    known of the features that are shown is there for the CSV alone.
    """
    from markupsafe import Markup

    table, shown = features.table, len(features.shown)
    names = [clean_text(name) for name in table.feature]
    written = max(shown, _how_many_fit(names, MAX_TABLE))
    counts = table.count[:written]
    rows = zip(counts, table.frequency, table.low, table.high, strict=False)
    of_count = {count: [float(f"{number:.4g}") for number in numbers] for count, *numbers in rows}
    details = [to_plain(row[N_COUNTED:]) for row in itertools.islice(_list_rows(features), shown)]
    block = {
        "columns": _csv_columns(features), "names": names[:written], "counts": counts, "of_count": of_count,
        "shown": shown, "details": details,
    }  # fmt: skip
    coded = base64.b64encode(csv_text(features)[0].encode(errors="replace")).decode()
    return {
        "block": Markup(embed.json_block(block, "feature-table")), "csv": f"data:text/csv;charset=utf-8;base64,{coded}",
        "rarer": written - shown, "left_out": len(names) - written,
    }  # fmt: skip


def _how_many_fit(names: Sequence[str], most: int) -> int:
    """Return how many of the first names, as JSON, stay within a number of bytes."""
    sizes = itertools.accumulate(len(json.dumps(name)) + 5 for name in names)
    return sum(size <= most for size in sizes)


def csv_text(features: Features, most: int = MAX_CSV) -> tuple[str, int]:
    """Return the feature table as CSV, the most frequent features first, and how many features that are."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_csv_columns(features))
    for written, row in enumerate(_list_rows(features)):
        if out.tell() > most:
            return out.getvalue(), written
        writer.writerow(map(_csv_cell, row))
    return out.getvalue(), len(features.table)


def _csv_cell(value: object) -> object:
    """Return a cell of a CSV file: empty if it is undefined, and no text that a spreadsheet would run as a formula."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str):
        return protect_formula(value)
    return int(value) if isinstance(value, bool) else value


def _csv_columns(features: Features) -> tuple[str, ...]:
    return CSV_COLUMNS if features.adjusted_for is None else (*CSV_COLUMNS, *ADJUSTED_COLUMNS)


def _list_rows(features: Features) -> Iterator[list[Any]]:
    """Yield a row of the CSV for every feature; of those that are not shown, only how often each was selected."""
    csv_columns = _csv_columns(features)
    for feature in features.shown:
        row = [getattr(feature, "effect_splits" if column == "splits" else column) for column in csv_columns]
        yield ["; ".join(cell) if isinstance(cell, tuple) else _round(cell) for cell in row]
    table = features.table
    columns = (table.feature, table.count, table.frequency, table.low, table.high)
    for name, count, *numbers in itertools.islice(zip(*columns, strict=True), len(features.shown), None):
        unknown = [None] * (len(csv_columns) - N_COUNTED)
        yield [name, count, *map(_round, numbers), *unknown]


def _round(cell: Any) -> Any:
    return float(f"{cell:.6g}") if isinstance(cell, float) else cell


HEIGHT = 640
"""Pixels of the page; a reader can pull its lower edge."""


@dataclass(frozen=True)
class InlineReport:
    """A report that a notebook shows: its card, and the page in a frame that is shut off from the notebook.

    The frame may run the scripts of the page and save files, and nothing else: it cannot read the notebook, its cookies
    or other pages. Where frames are blocked, as in notebooks that are not trusted, the card remains.

    Attributes
    ----------
    summary : Summary
        What the report says.

    See Also
    --------
    holdfast.StudyResult.report : Makes it.
    write_report : Writes a report into a file.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> result = hf.Study(selectors=[hf.selectors.AnovaF(2)], perturbation=hf.Bootstrap(20)).run(X, y)
    >>> report = result.report()
    >>> print(repr(report).splitlines()[0])
    anova: Stable; whether it carries information was not tested.
    """

    summary: Summary

    def save(self, path: str | Path, *, format: Format | None = None) -> Path:
        """Write the report into a file.

        Parameters
        ----------
        path : path
            File to write.
        format : {"html", "md", "json"}, optional
            By default the ending of the file decides.

        Returns
        -------
        Path
            The file.
        """
        return write_report(self.summary, path, format=format)

    def _repr_html_(self) -> str:
        card = self.summary._repr_html_()
        try:
            page = render(self.summary)
        except ImportError as error:
            return f"{card}<p>{html.escape(str(error))}</p>"
        name = html.escape(self.summary.title)
        return (
            f'{card}<iframe title="{name}" sandbox="allow-scripts allow-downloads allow-popups" '
            f'style="width:100%;height:{HEIGHT}px;border:1px solid #88888866;border-radius:8px;resize:vertical" '
            f'srcdoc="{html.escape(page)}"></iframe>'
        )

    def __repr__(self) -> str:
        return f'{self.summary!r}\nA notebook shows the whole report; .save("report.html") writes it into a file.'
