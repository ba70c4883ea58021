"""Cards: what a notebook shows of a result, as one piece of HTML that needs no script, no file and no network.

A result says what its card holds (``_card()`` returns a :class:`Card`), and :func:`write_card` makes HTML of it, in
which every rule of the style begins with the card, so that nothing else on the page changes.
"""

import html
from dataclasses import dataclass

import pandas as pd

from holdfast.cards.pictures import (
    Bar,
    Point,
    Svg,
    draw_barcode,
    draw_bars,
    draw_dots,
    draw_intervals,
    draw_line,
    draw_points,
    make_bar,
)
from holdfast.cards.tables import write_table
from holdfast.text import clean_text

__all__ = [
    "SHOWN_ROWS", "Bar", "Card", "Point", "Svg", "draw_barcode", "draw_bars", "draw_dots", "draw_intervals",
    "draw_line", "draw_points", "make_bar", "write_card",
]  # fmt: skip

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
        What to keep in mind.
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
