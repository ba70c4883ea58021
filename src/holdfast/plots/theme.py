"""Themes for light and dark backgrounds, and the parts that all charts are built from.

Charts carry their theme as a Vega-Lite configuration; no mark names a color that suits only one background. The colors
are those of Okabe and Ito, which people with any kind of color vision can distinguish.
"""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import pandas as pd

from holdfast.plots.sources import finite_values
from holdfast.plots.text import plain_cell, wrap_lines

if TYPE_CHECKING:
    import altair
    from altair import Chart, ConcatChart, HConcatChart, LayerChart, VConcatChart

    AnyChart: TypeAlias = Chart | LayerChart | VConcatChart | HConcatChart | ConcatChart
    ChartType = TypeVar("ChartType", Chart, LayerChart, VConcatChart, HConcatChart, ConcatChart)

Theme: TypeAlias = Literal["light", "dark"]

OKABE_ITO = {
    "orange": "#E69F00", "sky": "#56B4E9", "green": "#009E73", "yellow": "#F0E442", "blue": "#0072B2",
    "vermillion": "#D55E00", "purple": "#CC79A7",
}  # fmt: skip
FONT = '"Helvetica Neue", Arial, "Liberation Sans", sans-serif'
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right"]
"""Seven, so that with eight colors 56 families look different."""


PACKAGES = {"altair": "Altair", "vl_convert": "vl-convert-python"}


def import_optional(package: str) -> ModuleType:
    """Import a package that plotting needs, or say how to install it."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise ImportError(f"Plotting needs {PACKAGES[package]}: pip install 'holdfast[app]'") from None


class _Altair(type):
    def __getattr__(cls, name: str) -> Any:
        return getattr(import_optional("altair"), name)


class alt(metaclass=_Altair):  # noqa: N801  it represents a module
    """The module altair, imported when the first chart is drawn; checkers of types know its charts."""

    if TYPE_CHECKING:
        Chart: TypeAlias = altair.Chart
        LayerChart: TypeAlias = altair.LayerChart
        VConcatChart: TypeAlias = altair.VConcatChart


def _config(*, ground: str, ink: str, quiet: str, line: str, colors: str, middle: str) -> dict[str, Any]:
    category = [OKABE_ITO[name] for name in colors.split()] + [quiet]
    labels = {"labelColor": ink, "titleColor": ink, "labelFontSize": 12, "titleFontSize": 12, "labelLimit": 240}
    return {
        "background": ground,
        "font": FONT,
        "padding": 12,
        "view": {"stroke": None},
        "title": {
            "anchor": "start", "frame": "bounds", "color": ink, "fontSize": 16, "fontWeight": 600, "lineHeight": 20,
            "subtitleColor": quiet, "subtitleFontSize": 12, "subtitleLineHeight": 16, "subtitlePadding": 5,
            "offset": 14,
        },
        "axis": {**labels, "titleFontWeight": "normal", "gridColor": line, "domainColor": quiet, "tickColor": quiet},
        "legend": {**labels, "titleFontWeight": "normal", "symbolStrokeWidth": 1.5, "symbolOpacity": 1},
        "header": {"labelColor": ink, "titleColor": ink},
        "mark": {"color": category[0]},
        "text": {"color": ink, "fontSize": 12},
        "rule": {"color": ink},
        "range": {
            "category": category,
            "symbol": SHAPES,
            "ramp": [middle, category[0]],
            "heatmap": [middle, category[0]],
            "diverging": [OKABE_ITO["orange"], middle, category[0]],
        },
        "style": {
            "quiet": {"color": quiet},
            "quiet-line": {"color": quiet},
            "note": {"color": quiet, "fontSize": 11},
            "ring": {"color": ink},
            "gap": {"stroke": ground},
        },
    }  # fmt: skip


THEMES: dict[str, dict[str, Any]] = {
    "light": _config(
        ground="#ffffff", ink="#1f2933", quiet="#66727e", line="#e6e9ec", middle="#f1f3f5",
        colors="blue vermillion green purple orange sky yellow",
    ),
    "dark": _config(
        ground="#15191e", ink="#e8ebee", quiet="#9aa5b1", line="#2e353c", middle="#262d35",
        colors="sky orange green purple yellow vermillion blue",
    ),
}  # fmt: skip


def themed(chart: "ChartType", theme: Theme | None = "light") -> "ChartType":
    """Return a chart with another theme, or without one, so that it can be layered or combined with others.

    Parameters
    ----------
    chart : altair chart
        Any chart of :mod:`holdfast.plots`.
    theme : {"light", "dark"} or None
        For a light or a dark background; None removes the theme.

    Returns
    -------
    altair chart
        A copy of the chart.

    Raises
    ------
    ValueError
        If there is no such theme.

    See Also
    --------
    save : Writes a chart to a file, in either theme.

    Examples
    --------
    >>> from holdfast import plots
    >>> from holdfast.datasets import load_example
    >>> chart = plots.plot_frequencies(load_example().top(10))
    >>> plots.themed(chart, "dark").to_dict()["config"]["background"]
    '#15191e'
    """
    if theme is not None and theme not in THEMES:
        raise ValueError(f"Expected theme 'light', 'dark' or None, got {theme!r}.")
    changed = chart.copy(deep=False)
    changed.config = alt.Undefined if theme is None else _config_of(theme).copy()  # a copy: a user may change it
    return changed


@cache
def _config_of(theme: Theme) -> Any:
    """The theme as altair has it; made once, as altair compares every part of it with its schema."""
    return alt.Config.from_dict(THEMES[theme])


@contextmanager
def unchecked() -> Iterator[None]:
    """Let charts of holdfast, which the tests check, be drawn without altair's check of every part: twice as fast."""
    with alt.utils.schemapi.debug_mode(False):
        yield


def inline_data(frame: pd.DataFrame) -> Any:
    """Return the rows of a frame as data inside a chart; names are values, and nothing in them is read as code."""
    return alt.InlineData(values=to_records(frame))


def to_records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as JSON has them."""
    columns = [str(column) for column in frame.columns]
    cells = zip(*([plain_cell(value) for value in frame[column]] for column in frame.columns), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in cells]


def tooltips(titles: Mapping[str, str], format: str = "") -> list[Any]:
    """Return what a pointer shows of a mark: fields with their titles, numbers in a format of Vega."""
    how = {"format": format} if format else {}
    return [alt.Tooltip(field, title=title, **how) for field, title in titles.items()]


def name_axis(field: str = "name:N", *, padding: int = 8, **more: Any) -> Any:
    """Return the vertical axis of a picture with a row for each name, in the order of the data if none is given."""
    axis = alt.Axis(ticks=False, domain=False, labelPadding=padding)
    return alt.Y(field, title=None, **{"sort": None, "axis": axis, **more})


def color_and_shape(field: str, **channel: Any) -> dict[str, Any]:
    """Return what distinguishes points by color and by shape, which is seen in gray too; both share a legend."""
    return {"color": alt.Color(field, **channel), "shape": alt.Shape(field, **channel)}


def unit_scale(values: Any, **more: Any) -> Any:
    """Return a scale from 0 to 1, and further if a number is."""
    ends = finite_values(values)
    return alt.Scale(domain=[min(0.0, *ends), max(1.0, *ends)], nice=False, **more)


def front_line(base: "Chart", is_on_front: str, along: str) -> "Chart":
    """Return the broad quiet line that joins the points of a front, in their order along a field."""
    line = base.transform_filter(f"datum.{is_on_front}").mark_line(style="quiet-line", strokeWidth=5, opacity=0.35)
    return line.encode(order=alt.Order(along))


def finish_chart(chart: "ChartType", finding: str, notes: Sequence[str], *, width: int) -> "ChartType":
    """Give a chart its title, the same words for screen readers, the light theme, and a view in notebooks.

    The finding is the title and how to read the chart the subtitle, both broken into lines that fit the width.
    """
    from holdfast.plots.notebook import show_offline

    notes = [note for note in notes if note]
    subtitle = [line for note in notes for line in wrap_lines(note, round(width / 5.9))]
    title = alt.TitleParams(text=wrap_lines(finding, round(width / 8.2)), subtitle=subtitle)
    return themed(show_offline(chart.properties(title=title, description=" ".join([finding, *notes]))))


def text_chart(finding: str, *notes: str) -> "alt.LayerChart":
    """Return a chart of words alone, where there is nothing to draw."""
    empty = alt.Chart(inline_data(pd.DataFrame({"text": [""]}))).mark_text().encode(text="text:N")
    return finish_chart(alt.layer(empty).properties(width=480, height=10), finding, notes, width=480)
