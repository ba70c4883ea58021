"""Size profile: stability against the number of selected features."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from holdfast.plots.lines import line_with_band, setting_axis, setting_scale, stability_scale
from holdfast.plots.sources import Columns, largest_row, typed_table
from holdfast.plots.text import display_names, format_count, format_estimate, format_percent, shorten
from holdfast.plots.theme import altair, finish_chart, inline_data, text_chart

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT = 460, 260
NARROW = 268
"""Width on a narrow screen."""


def profile_data(profile: Any) -> pd.DataFrame:
    """Return a stability profile, sorted by selector and size.

    Parameters
    ----------
    profile : SizeProfile, several of them, DataFrame, or mapping from name to column
        What ``result.profile(…)`` returns, a list of such profiles, or a mapping from the name of each line to its
        profile; or columns: ``size`` and ``stability``; and if known ``low`` and ``high`` (its interval), ``baseline``
        (stability of random selection), ``knot`` (True at sizes after which features enter almost at random) and
        ``selector``.

    Returns
    -------
    DataFrame
        ``selector``, ``size``, ``stability``, ``low``, ``high``, ``baseline`` and ``knot``.

    See Also
    --------
    plot_profile : Draws them.

    Examples
    --------
    >>> from holdfast import plots
    >>> plots.profile_data({"size": [2, 1], "stability": [0.7, 0.9], "knot": [True, False]})
      selector  size  stability  low  high  baseline   knot
    0              1        0.9  NaN   NaN       NaN  False
    1              2        0.7  NaN   NaN       NaN   True
    """
    optional = {"selector": "", "low": math.nan, "high": math.nan, "baseline": math.nan, "knot": False}
    data = typed_table(_columns(profile), {"size": float, "stability": float}, optional)
    if (data["size"] % 1 == 0).all():
        data["size"] = data["size"].astype(int)
    data = data[["selector", "size", "stability", "low", "high", "baseline", "knot"]]
    return data.sort_values(["selector", "size"], kind="stable", ignore_index=True)


def _columns(profile: Any) -> Columns:
    if hasattr(profile, "knots"):
        return _line(profile, profile.name)
    if isinstance(profile, Mapping) and profile and all(hasattr(line, "knots") for line in profile.values()):
        return _together([_line(line, str(name)) for name, line in profile.items()])
    if isinstance(profile, (list, tuple)) and profile and all(hasattr(line, "knots") for line in profile):
        return _together([_line(line, line.name) for line in profile])
    return profile


def _line(profile: Any, name: str) -> pd.DataFrame:
    frame = profile.frame
    return frame.assign(selector=name, baseline=frame["random"], knot=frame["size"].isin(profile.knots))


def _together(lines: list[pd.DataFrame]) -> pd.DataFrame:
    names = [str(line["selector"].iloc[0]) for line in lines]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise ValueError(
            f"Expected one profile of each name, got {names.count(repeated)} of {repeated!r}; name them with a "
            "mapping: plot_profile({'first': …, 'second': …})."
        )
    return pd.concat(lines, ignore_index=True)


def plot_profile(profile: Any, *, level: float = 0.95) -> "alt.LayerChart":
    """Draw stability against the number of selected features, with knots and the random baseline.

    Parameters
    ----------
    profile : SizeProfile, several of them, DataFrame, or mapping from name to column
        As for :func:`profile_data`.
    level : float
        Level of the intervals, for the text.

    Returns
    -------
    altair.LayerChart
        The chart: a notebook shows it, :func:`save` writes it to a file.

    See Also
    --------
    profile_data : The numbers behind it.

    Examples
    --------
    >>> from holdfast import plots
    >>> profile = {"size": [1, 2, 3], "stability": [0.9, 0.8, 0.4], "knot": [False, True, False]}
    >>> print(*plots.plot_profile(profile).title.text)
    Up to 2 features the selection is stable; further ones enter almost at random
    """
    return draw_profile(profile_data(profile), level=level)


def draw_profile(data: pd.DataFrame, *, level: float, narrow: bool = False) -> "alt.LayerChart":
    """Draw a size profile from the data of :func:`profile_data`, also for a narrow screen; ``level`` is said in it."""
    if data["stability"].isna().all():
        return text_chart("There is no stability at any size to show")
    alt = altair()
    selectors = data["selector"].unique()
    several = len(selectors) > 1
    names = dict(zip(selectors, display_names(selectors), strict=True))
    scale, axis = setting_scale(data["size"]), setting_axis(data["size"])
    base = alt.Chart(inline_data(data.assign(selector=data["selector"].map(names)))).encode(
        x=alt.X("size:Q", title="number of selected features", scale=scale, axis=axis)
    )
    below: dict[str, Any] = {"orient": "bottom", "columns": 1, "labelLimit": 240} if narrow else {}
    legend = alt.Legend(symbolType="circle", **below) if several else None
    by = alt.Color("selector:N", title="selector", legend=legend)
    y = alt.Y("stability:Q", title="stability", scale=stability_scale(data, "stability", "low", "high", "baseline"))
    layers = [*_baseline(base, data), *line_with_band(base, data, y, by, _tooltip(several))]
    layers += _knots(base, several) if data["knot"].any() else []
    width = NARROW if narrow else WIDTH
    chart = alt.layer(*layers).properties(width=width, height=HEIGHT)
    return finish_chart(chart, _finding(data), [_note(data, level)], width=width + 60)


def _tooltip(several: bool) -> "list[alt.Tooltip]":
    alt = altair()
    numbers = [("stability", "stability"), ("low", "interval from"), ("high", "to"), ("baseline", "random selection")]
    return [
        *([alt.Tooltip("selector:N", title="selector")] if several else []),
        alt.Tooltip("size:Q", title="features", format=","),
        *(alt.Tooltip(f"{name}:Q", title=title, format=".3f") for name, title in numbers),
    ]


def _baseline(base: "alt.Chart", data: pd.DataFrame) -> "list[alt.Chart]":
    if data["baseline"].isna().all():
        return []
    line = base.mark_line(style="quiet-line", strokeDash=[5, 4], strokeWidth=1.5)
    return [line.encode(y="baseline:Q", detail="selector:N")]


def _knots(base: "alt.Chart", several: bool) -> "list[alt.Chart]":
    knots = base.transform_filter("datum.knot")
    ring = knots.mark_point(style="ring", size=200, strokeWidth=2, filled=False).encode(y="stability:Q")
    if several:
        return [ring]
    text = knots.mark_text(align="left", baseline="top", dx=5, dy=2)
    return [
        knots.mark_rule(style="quiet-line", strokeDash=[2, 3]),
        ring,
        text.encode(text=altair().Text("size:Q", format=","), y=altair().value(0)),
    ]


def _finding(data: pd.DataFrame) -> str:
    single = len(set(data["selector"])) == 1
    knots = data[data["knot"]]
    if single and len(knots):
        size = knots["size"].iloc[0]
        return f"Up to {size:,} features the selection is stable; further ones enter almost at random"
    by_chance = data["baseline"].fillna(0.0).abs().max() > 0.01  # all features are stable by any measure of overlap
    compared = data.assign(above=data["stability"] - data["baseline"].fillna(0.0)) if by_chance else data
    best = largest_row(compared, "above" if by_chance else "stability")
    stability = format_estimate(best["stability"], best["low"], best["high"])
    size = format_count(best["size"], "feature")
    chance = f", {best['baseline']:.2f} by chance" if by_chance else ""
    if single:
        return f"Stability is highest{' above chance' if by_chance else ''} with {size}: {stability}{chance}"
    most = "farthest above chance" if by_chance else "the most stable"
    return f"{shorten(best['selector'])} with {size} is {most}: {stability}{chance}"


def _note(data: pd.DataFrame, level: float) -> str:
    notes = ["rings: sizes after which features enter almost at random"] if data["knot"].any() else []
    notes += [f"band: {format_percent(level)} interval"] if data["low"].notna().any() else []
    notes += ["dashed: random selection"] if data["baseline"].notna().any() else []
    return "; ".join(notes)
