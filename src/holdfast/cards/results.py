"""What a card is, how it becomes HTML, and the cards that several results share."""

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from holdfast.cards.pictures import Bar, Svg, draw_bars, draw_intervals, make_bar
from holdfast.serialization import to_plain
from holdfast.text import clean_text, format_count, format_number, format_percent, shorten

SHOWN_ROWS = 8
"""Rows of the table of a card; ``to_frame()`` has all."""

STYLE = (
    ".holdfast-card{max-width:60em;margin:4px 0;padding:10px 14px;border:1px solid #88888866;border-radius:8px;"
    "font-family:system-ui,'Helvetica Neue',Arial,sans-serif;font-size:13px;line-height:1.45;"
    "color:var(--jp-content-font-color1,var(--vscode-editor-foreground,var(--colab-primary-text-color,inherit)))}"
    ".holdfast-card .holdfast-title{opacity:.75;font-size:12px;overflow-wrap:anywhere}"
    ".holdfast-card .holdfast-verdict{font-size:15px;font-weight:600;margin:1px 0 6px;overflow-wrap:anywhere}"
    ".holdfast-card .holdfast-caution{border-left:3px solid #d9a400;padding-left:8px;margin:2px 0 6px;"
    "overflow-wrap:anywhere}"
    ".holdfast-card .holdfast-note{opacity:.75;font-size:12px;margin-top:2px}"
    ".holdfast-card .holdfast-picture,.holdfast-card .holdfast-table{overflow-x:auto;margin:6px 0}"
    ".holdfast-card svg{display:block}"
    ".holdfast-card.holdfast-card .holdfast-table table{border-collapse:collapse;border:0;margin:0;width:auto;"
    "font-size:12px;table-layout:auto;color:inherit;display:table}"
    ".holdfast-card.holdfast-card .holdfast-table table tr{background:none;border:0}"
    ".holdfast-card.holdfast-card .holdfast-table table :is(th,td){padding:2px 14px 2px 0;border:0;background:none;"
    "color:inherit;max-width:26em;overflow-wrap:break-word;white-space:normal;vertical-align:top;"
    "font-variant-numeric:tabular-nums}"
    ".holdfast-card.holdfast-card .holdfast-table table th{font-weight:600;border-bottom:1px solid #88888866}"
)
"""Text has the color of the notebook's theme (JupyterLab, VS Code, Colab) or of the page; lines are gray."""


@dataclass(frozen=True, kw_only=True)
class Card:
    """What a card holds.

    Attributes
    ----------
    title : str
        What kind of result it is, and of what.
    verdict : str
        The answer in one line.
    caution : str
        What changes how the answer is to be read.
    frame : DataFrame or None
        The table; its first rows are shown, and the others counted.
    picture : Svg or None
        A small picture.
    note : str
        A remark below the picture.
    rows : int
        How many rows of the table are shown.
    """

    title: str
    verdict: str
    caution: str = ""
    frame: pd.DataFrame | None = None
    picture: Svg | None = None
    note: str = ""
    rows: int = SHOWN_ROWS


def write_card(card: Card) -> str:
    """Return a card as HTML, with its style; every text is escaped.

    Examples
    --------
    >>> write_card(Card(title="A test", verdict="1 < 2")).split("</style>")[1]
    '<div class="holdfast-title">A test</div><div class="holdfast-verdict">1 &lt; 2</div></div>'
    """
    parts = [_line("title", card.title), _line("verdict", card.verdict), _line("caution", card.caution)]
    if card.picture:
        parts.append(f'<div class="holdfast-picture">{card.picture}</div>')
    if card.frame is not None and card.frame.size:
        parts.append(write_table(card.frame, card.rows))
    parts.append(_line("note", card.note))
    return f'<div class="holdfast-card"><style>{STYLE}</style>{"".join(parts)}</div>'


def _line(kind: str, text: str) -> str:
    return f'<div class="holdfast-{kind}">{html.escape(clean_text(text))}</div>' if text else ""


MAX_COLUMNS, MAX_LETTERS = 10, 80


def write_table(frame: pd.DataFrame, most: int) -> str:
    """Return the first rows and columns of a frame as an HTML table, and how many more there are as a line below."""
    shown = frame.iloc[:most, :MAX_COLUMNS]
    named = not isinstance(frame.index, pd.RangeIndex)
    columns = [_format_column(shown.iloc[:, column]) for column in range(shown.shape[1])]
    right = [np.issubdtype(np.asarray(shown.iloc[:, column]).dtype, np.number) for column in range(shown.shape[1])]
    if named:
        columns, right = [[format_cell(label) for label in shown.index], *columns], [False, *right]
    index = ", ".join("" if name is None else str(name) for name in frame.index.names)
    names = [*([index] if named else []), *map(str, shown.columns)]
    head = "".join(_cell("th", name, number) for name, number in zip(names, right, strict=True))
    rows = "".join(
        f"<tr>{''.join(_cell('td', text, number) for text, number in zip(row, right, strict=True))}</tr>"
        for row in zip(*columns, strict=True)
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    hidden = [(len(frame) - len(shown), "row"), (frame.shape[1] - shown.shape[1], "column")]
    more = " and ".join(format_count(count, f"more {noun}") for count, noun in hidden if count)
    return f'<div class="holdfast-table">{table}</div>{_line("note", f"{more}: see to_frame()" if more else "")}'


def _cell(tag: str, text: str, right: bool) -> str:
    wrap = ";white-space:nowrap" if right or tag == "th" else ""
    return f'<{tag} style="text-align:{"right" if right else "left"}{wrap}">{html.escape(clean_text(text))}</{tag}>'


def _format_column(column: "pd.Series[Any]") -> list[str]:
    """The cells of a column; whole numbers that pandas holds as floats, because some are missing, have no decimals."""
    values = list(column)
    numbers = [float(value) for value in values if isinstance(value, float) and math.isfinite(value)]
    if numbers and all(number.is_integer() for number in numbers) and max(map(abs, numbers)) > 1:
        values = [int(value) if isinstance(value, float) and math.isfinite(value) else value for value in values]
    return [format_cell(value) for value in values]


def format_cell(value: Any) -> str:
    """Format an entry of a table for reading: three decimals, a dash for what is undefined.

    Examples
    --------
    >>> [format_cell(value) for value in (0.12345, 1e-5, 20_000, None, ("a", "b"), True)]
    ['0.123', '1e-05', '20,000', '–', 'a, b', 'yes']
    """
    if isinstance(value, tuple) or (isinstance(value, Iterable) and not isinstance(value, str)):
        text = ", ".join(format_cell(item) for item in value)
        return text and shorten(text, MAX_LETTERS)
    plain = to_plain(value)
    if plain is None or plain == "":
        return "–" if plain is None else ""
    if isinstance(plain, bool):
        return "yes" if plain else "no"
    if isinstance(plain, int):
        return format_number(plain, 0)
    if isinstance(plain, float):
        if 0 < abs(plain) < 0.0005:
            return f"{plain:.1g}"
        return f"{plain:.4g}".replace("-", "−") if abs(plain) >= 1e6 else format_number(plain, 3)
    return shorten(str(plain), MAX_LETTERS)


# Cards of several results


def make_features_card(final: Any, verdict: str) -> Card:
    """Return the card of a :class:`~holdfast.tradeoff.FinalFeatures`: bars of the frequencies with their intervals."""
    shown = final.frame[["feature", "selected", "consensus", "count", "frequency", "low", "high", "stand_ins"]]
    trusted = shown["consensus"] & ~shown["feature"].astype(str).isin(final.doubted)
    bars = [
        make_bar(row["feature"], row["frequency"], row["low"], row["high"], strong=bool(trusted[index]))
        for index, row in shown.head(SHOWN_ROWS).iterrows()
    ]
    return Card(
        title=f"Features of {final.candidate}",
        verdict=verdict,
        frame=shown if final.selected_on else shown.drop(columns="selected"),
        picture=draw_bars(bars, mark=final.threshold),
        note=f"Consensus: {final.bound.sentence}",
    )


def make_preferences_card(runs: Any) -> Card:
    """Return the card of a :class:`~holdfast.Preferences`: its most frequent or best features."""
    if runs.kind == "subset":
        best = np.argsort(-runs.counts, kind="stable")[: (runs.counts > 0).sum()]
        columns = {"count": runs.counts[best], "frequency": runs.frequency[best]}
    else:
        mean = runs.matrix().mean(axis=0)
        best = np.argsort(mean if runs.kind == "ranking" else -mean, kind="stable")
        columns = {"mean rank" if runs.kind == "ranking" else "mean weight": mean[best]}
    shown = [str(runs.features[column]) for column in best[:SHOWN_ROWS]]
    frame = pd.DataFrame({name: values[:SHOWN_ROWS] for name, values in columns.items()})
    frame.insert(0, "feature", shown)
    bars = [
        Bar(name, value, text=f"{count} of {runs.n_runs}", strong=value >= 0.5)
        for name, count, value in frame.itertuples(index=False)
    ] if runs.kind == "subset" else []  # fmt: skip
    hidden = best.size - len(shown)
    note = f"{hidden:,} more features" if hidden else ""
    kind = {"subset": "Selections", "ranking": "Rankings", "weighting": "Weights"}[runs.kind]
    return Card(title=kind, verdict=repr(runs).split(": ", 1)[1], frame=frame, picture=draw_bars(bars), note=note)


def draw_mean_ranks(candidates: Sequence[str], mean_ranks: Sequence[float]) -> Svg | None:
    """Draw mean ranks below each other, the best first; None without any."""
    ranked = sorted(zip(mean_ranks, candidates, strict=True), key=lambda pair: pair[0])
    return draw_intervals([Bar(name, rank, text=f"mean rank {format_number(rank)}") for rank, name in ranked])


def draw_probabilities(pairs: Iterable[Mapping[Any, Any]]) -> Svg | None:
    """Draw, of each pair, how probable it is that the better one is better; None without any."""
    bars = []
    for pair in pairs:
        names, better = (pair["first"], pair["second"]), (pair["first_better"], pair["second_better"])
        first, second = names if better[0] >= better[1] else names[::-1]
        bars.append(Bar(f"{first} > {second}", max(better), text=format_percent(max(better), 0)))
    return draw_bars(bars, mark=0.5)
