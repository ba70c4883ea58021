"""Small pictures of cards, as SVG made by plain Python: intervals, bars, points, lines, dots and barcodes.

Lines and letters take the color of the text around them, and everything else has colors that show on light and on dark
backgrounds, so that a picture suits every notebook without asking for its theme.
"""

import html
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, NewType

from holdfast.text import clean_text, format_estimate, format_number

Svg = NewType("Svg", str)
"""An SVG element whose texts are escaped."""

ACCENT, QUIET = "#2b86c0", "#8b949e"
"""Blue and gray that stand out from white (4:1, 3:1) and from black alike."""
BANDS = (
    ("poor", -math.inf, 0.4, "#D55E00"), ("intermediate to good", 0.4, 0.75, "#d8b400"),
    ("excellent", 0.75, 1.0, "#009E73"),
)  # fmt: skip
LABEL, PLOT, TEXT = 150, 200, 220
"""Widths of the names, of what is drawn, and of the numbers to the right."""
STEP, MAX_ROWS = 18, 8
CHARACTER, TICK_ROOM = 6.4, 24
"""Pixels of a letter, on average, and of a number below an axis."""


class Bar(NamedTuple):
    """A row of a picture: a name, a value with its interval, and a text to the right."""

    label: str
    value: float
    low: float = math.nan
    high: float = math.nan
    text: str = ""
    strong: bool = True


def make_bar(label: Any, value: float, low: float, high: float, more: str = "", *, strong: bool = True) -> Bar:
    """Return a row of a picture with its numbers as the text to the right."""
    return Bar(str(label), value, low, high, format_estimate(value, low, high) + more, strong)


class Point(NamedTuple):
    """A point of a picture, its name for the mouse, and whether it stands out, and how."""

    x: float
    y: float
    label: str = ""
    strong: bool = False
    ring: bool = False


class Scale(NamedTuple):
    """Maps numbers to pixels."""

    least: float
    most: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        span = self.most - self.least
        share = 0.5 if span == 0 else (min(max(value, self.least), self.most) - self.least) / span
        return round(self.start + share * (self.end - self.start), 1)


def draw_intervals(rows: Sequence[Bar], *, bands: bool = False, mark: float | None = None) -> Svg | None:
    """Draw values with their intervals below each other, as a forest plot does; None if no value is defined.

    Parameters
    ----------
    rows : sequence of Bar
        At most eight are drawn.
    bands : bool
        Shade what counts as poor, intermediate to good and excellent, and name it below.
    mark : float, optional
        A value to draw a dashed line at.
    """
    shown = rows[:MAX_ROWS]
    known = _finite(number for row in shown for number in (row.value, row.low, row.high))
    if not known:
        return None
    x = Scale(min(0.0, *known, mark or 0), max(1.0, *known, mark or 0), LABEL, LABEL + PLOT)
    bottom = STEP * len(shown) + 4
    marks = _shade(x, bottom) if bands else []
    marks += _dashes(x(mark), bottom) if mark is not None else []
    for index, row in enumerate(shown):
        marks += _interval_marks(row, x, STEP * index + STEP / 2 + 2)
    return _svg([*marks, *_axis(x, bottom)], bottom + (26 if bands else 15))


def draw_bars(rows: Sequence[Bar], *, mark: float | None = None) -> Svg | None:
    """Draw shares from 0 to 1 as bars with their intervals below each other; None without any."""
    if not rows:
        return None
    shown = rows[:MAX_ROWS]
    x, bottom = Scale(0, 1, LABEL, LABEL + PLOT), STEP * len(shown) + 4
    marks = []
    for index, row in enumerate(shown):
        y = STEP * index + STEP / 2 + 2
        value = 0.0 if math.isnan(row.value) else row.value
        marks.append(_rect(x(0), y - 6, x(value) - x(0), 12, ACCENT, 0.85 if row.strong else 0.4))
        marks += _whisker(row, x, y) + _words(row, y)
    marks += _dashes(x(mark), bottom) if mark is not None else []
    return _svg([*marks, *_axis(x, bottom)], bottom + 15)


def draw_points(points: Sequence[Point], *, x_title: str, y_title: str) -> Svg | None:
    """Draw points in a plane, those that stand out joined by a line; None if no point is defined."""
    known = [point for point in points if math.isfinite(point.x) and math.isfinite(point.y)]
    if not known:
        return None
    x = Scale(*_reach([point.x for point in known]), 66, 290)
    y = Scale(*_reach([point.y for point in known]), 108, 20)
    front = sorted({(x(point.x), y(point.y)) for point in known if point.strong})
    marks = [_path(front, QUIET, 1)] if len(front) > 1 else []
    for point in sorted(known, key=lambda point: (point.ring, point.strong)):
        color, title = ACCENT if point.strong else QUIET, f"<title>{_escape(point.label)}</title>"
        marks.append(f'<circle cx="{x(point.x)}" cy="{y(point.y)}" r="4" fill="{color}">{title}</circle>')
        if point.ring:
            marks.append(f'<circle cx="{x(point.x)}" cy="{y(point.y)}" r="8" {_stroke("currentColor", 1.5)}/>')
    return _svg([*marks, *_frame(x, y, x_title, y_title)], 150, 330)


def draw_line(points: Sequence[Bar], at: Sequence[float], *, x_title: str, marks: Iterable[float] = ()) -> Svg | None:
    """Draw values against numbers as a line with a band around it; None with fewer than two.

    Parameters
    ----------
    points : sequence of Bar
        Values with their intervals.
    at : sequence of float
        The position of each on the horizontal axis.
    x_title : str
        What the numbers are.
    marks : iterable of float
        Numbers to draw a dashed line at.
    """
    known = [(position, bar) for position, bar in zip(at, points, strict=True) if math.isfinite(bar.value)]
    if len(known) < 2:
        return None
    ends = _finite(number for _, bar in known for number in (bar.value, bar.low, bar.high))
    x = Scale(known[0][0], known[-1][0], 66, 290)
    y = Scale(min(0.0, *ends), max(1.0, *ends), 108, 20)
    banded = [(position, bar) for position, bar in known if math.isfinite(bar.low) and math.isfinite(bar.high)]
    around = [(x(position), y(bar.high)) for position, bar in banded] + [(x(p), y(bar.low)) for p, bar in banded[::-1]]
    drawn = [f'<polygon points="{_pairs(around)}" fill="{ACCENT}" fill-opacity="0.2"/>'] if around else []
    drawn += [part for mark in marks for part in _dashes(x(mark), 118, 10)]
    drawn.append(_path([(x(position), y(bar.value)) for position, bar in known], ACCENT, 2))
    return _svg([*drawn, *_frame(x, y, x_title, "stability")], 150, 330)


def draw_dots(values: Iterable[float], *, mean: float) -> Svg | None:
    """Draw many numbers as dots on one line, with a line at their mean; None if none is defined."""
    known = _finite(values)
    if not known:
        return None
    x = Scale(min(0.0, *known), max(1.0, *known), 8, 8 + PLOT + LABEL)
    dots = [f'<circle cx="{x(value)}" cy="14" r="4" fill="{ACCENT}" fill-opacity="0.35"/>' for value in known[:500]]
    line = [] if math.isnan(mean) else [_line(x(mean), 2, x(mean), 26, "currentColor", 2)]
    return _svg([*dots, *line, *_axis(x, 28)], 43, LABEL + PLOT + 24)


def draw_barcode(cells: Iterable[tuple[int, int, float]], n_rows: int, n_columns: int) -> Svg | None:
    """Draw which of several rows has which of several columns, as filled cells; None without any."""
    if not n_rows or not n_columns:
        return None
    width, height = min(440.0, 14.0 * n_columns), min(110.0, 8.0 * n_rows)
    wide, high = width / n_columns, height / n_rows
    by_share: dict[float, list[str]] = {}
    for row, column, share in cells:
        path = f"M{column * wide:.1f} {row * high:.1f}h{wide * 0.9:.1f}v{high * 0.9:.1f}h-{wide * 0.9:.1f}z"
        by_share.setdefault(round(share, 1), []).append(path)
    marks = [
        f'<path d="{"".join(paths)}" fill="{ACCENT}" fill-opacity="{share}"/>' for share, paths in by_share.items()
    ]
    return _svg(marks, math.ceil(height), math.ceil(width)) if marks else None


# Parts


def _interval_marks(row: Bar, x: Scale, y: float) -> list[str]:
    color = ACCENT if row.strong else QUIET
    dot = [] if math.isnan(row.value) else [f'<circle cx="{x(row.value)}" cy="{y}" r="4.5" fill="{color}"/>']
    return [*_whisker(row, x, y), *dot, *_words(row, y)]


def _whisker(row: Bar, x: Scale, y: float) -> list[str]:
    if math.isnan(row.low) or math.isnan(row.high):
        return []
    return [_line(x(row.low), y, x(row.high), y, "currentColor", 1.5)]


def _words(row: Bar, y: float) -> list[str]:
    """The name before a row, and the text behind it."""
    name = _text(LABEL - 10, y + 4, _cut(row.label, LABEL - 10), anchor="end", hover=row.label)
    return [name, _text(LABEL + PLOT + 12, y + 4, row.text)]


def _axis(x: Scale, bottom: float) -> list[str]:
    ticks = [tick for tick in (0.0, 0.5, 1.0) if x.least <= tick <= x.most]
    ticks += [end for end in (x.least, x.most) if all(abs(x(end) - x(tick)) > TICK_ROOM for tick in ticks)]
    numbers = [_text(x(tick), bottom + 11, f"{tick:g}" if tick in (0, 0.5, 1) else format_number(tick), size=9,
                     anchor="middle", quiet=True) for tick in ticks]  # fmt: skip
    return [_line(x.start, bottom, x.end, bottom, QUIET, 1), *numbers]


def _frame(x: Scale, y: Scale, x_title: str, y_title: str) -> list[str]:
    """The two axes of a plane with their ends and titles; a little room lies between them and what is drawn."""
    left, bottom = x.start - 10, y.start + 10
    whole = x.least == round(x.least) and x.most == round(x.most) and x.most > 1
    across = [(f"{end:g}" if whole else format_number(end), x(end)) for end in dict.fromkeys((x.least, x.most))]
    down = [(format_number(end), y(end) + 3) for end in dict.fromkeys((y.least, y.most))]
    return [
        _line(left, bottom, x.end + 10, bottom, QUIET, 1),
        _line(left, bottom, left, y.end - 10, QUIET, 1),
        *(_text(at, bottom + 12, end, size=9, anchor="middle", quiet=True) for end, at in across),
        *(_text(left - 5, at, end, size=9, anchor="end", quiet=True) for end, at in down),
        _text((x.start + x.end) / 2, bottom + 26, _cut(x_title, 240), anchor="middle", quiet=True),
        f'<g transform="rotate(-90 12 64)">{_text(12, 64, _cut(y_title, 110), anchor="middle", quiet=True)}</g>',
    ]


def _shade(x: Scale, bottom: float) -> list[str]:
    marks = []
    for name, start, end, color in BANDS:
        left, right = x(max(start, x.least)), x(end)
        marks.append(_rect(left, 0, right - left, bottom, color, 0.2))
        short = name.split(" ", 1)[0]
        marks.append(_text((left + right) / 2, bottom + 22, short, size=9, anchor="middle", quiet=True))
    return marks


def _dashes(at: float, bottom: float, top: float = 0) -> list[str]:
    return [f'<path d="M{at} {top}V{bottom}" {_stroke("currentColor", 1)} stroke-dasharray="3 3" opacity="0.7"/>']


def _svg(parts: Iterable[str], height: float, width: float = LABEL + PLOT + TEXT) -> Svg:
    return Svg(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="inherit" font-size="11" aria-hidden="true">{"".join(parts)}</svg>'
    )


def _text(
    x: float, y: float, text: str, *, size: int = 11, anchor: str = "start", quiet: bool = False, hover: str = ""
) -> str:
    faint = ' fill-opacity="0.75"' if quiet else ""
    title = f"<title>{_escape(hover)}</title>" if hover else ""
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" fill="currentColor"{faint}>'
        f"{title}{_escape(text)}</text>"
    )


def _line(x: float, y: float, x2: float, y2: float, color: str, width: float) -> str:
    return f'<line x1="{x}" y1="{y}" x2="{x2}" y2="{y2}" stroke="{color}" stroke-width="{width}"/>'


def _path(points: Sequence[tuple[float, float]], color: str, width: float) -> str:
    return f'<polyline points="{_pairs(points)}" {_stroke(color, width)}/>'


def _rect(x: float, y: float, width: float, height: float, color: str, opacity: float) -> str:
    size = f'width="{max(width, 0):.1f}" height="{height}"'
    return f'<rect x="{x}" y="{y}" {size} fill="{color}" fill-opacity="{opacity}"/>'


def _stroke(color: str, width: float) -> str:
    return f'fill="none" stroke="{color}" stroke-width="{width}"'


def _pairs(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)


def _escape(text: str) -> str:
    return html.escape(clean_text(text))


def _cut(text: str, width: float) -> str:
    """Leave out the middle of a long text: names of candidates often differ at their end only."""
    most = int(width / CHARACTER)
    start = (most - 1) // 2
    return text if len(text) <= most else f"{text[:start]}…{text[start + 1 - most :]}"


def _finite(values: Iterable[float]) -> list[float]:
    return [float(value) for value in values if math.isfinite(value)]


def _reach(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)
