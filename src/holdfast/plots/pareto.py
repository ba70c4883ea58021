"""Pareto front of accuracy and stability: every candidate, and those that no other beats in both."""

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from holdfast.inference.intervals import check_level
from holdfast.plots.sources import Columns, finite_values, largest_row, typed_table
from holdfast.plots.text import display_names, format_count, format_estimate, format_number, format_percent, shorten
from holdfast.plots.theme import altair, finish_chart, inline_data, text_chart

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT = 460, 340
NARROW = 268, 260
"""Width and height on a narrow screen."""
TICK = 60  # pixels between ticks, so that their labels stand apart
CHARACTER = 6.5  # pixels of a label's character, on average
MANY = 30
"""Number of candidates above which intervals are drawn only for those on the front."""
NEEDED = {"candidate": str, "score": float, "stability": float}
OPTIONAL = {
    "family": "", "score_se": math.nan, "score_low": math.nan, "score_high": math.nan, "low": math.nan,
    "high": math.nan, "on_front": False, "chosen": False, "settings": "", "group": "",
}  # fmt: skip


def pareto_data(candidates: Any, *, level: float = 0.95) -> pd.DataFrame:
    """Return candidates with intervals on both axes, those on the front last, so that they are drawn on top.

    Parameters
    ----------
    candidates : StudyResult, Pareto, DataFrame, or mapping from name to column
        What ``result.pareto()`` returns, or a study, whose front is then found; or columns: ``candidate``, ``score``
        and ``stability``; and if known ``family`` (which selector it belongs to), ``score_se`` (standard error of the
        score), ``score_low`` and ``score_high`` (its interval), ``low`` and ``high`` (interval of the stability),
        ``on_front``, ``chosen``, ``settings`` (text to show) and ``group`` (points of one group are linked).
    level : float
        Level of the intervals of scores, which are made from ``score_se`` where they are not given.

    Returns
    -------
    DataFrame
        All columns above.

    See Also
    --------
    plot_pareto : Draws them.

    Examples
    --------
    >>> from holdfast import plots
    >>> columns = {"candidate": ["a", "b"], "score": [0.9, 0.8], "score_se": [0.01, 0.02], "stability": [0.5, 0.7]}
    >>> plots.pareto_data(columns)[["candidate", "score_low", "score_high", "on_front"]].round(2)
      candidate  score_low  score_high  on_front
    0         a       0.88        0.92     False
    1         b       0.76        0.84     False
    """
    check_level(level)
    data = typed_table(_columns(candidates), NEEDED, OPTIONAL)
    reach = ndtri((1 + level) / 2) * data["score_se"]
    data = data.assign(
        score_low=data["score_low"].fillna(data["score"] - reach),
        score_high=data["score_high"].fillna(data["score"] + reach),
    )
    order = ["candidate", "family", "score", "score_se", "score_low", "score_high", "stability", "low", "high"]
    data = data[[*order, "on_front", "chosen", "settings", "group"]]
    return data.sort_values(["chosen", "on_front"], kind="stable", ignore_index=True)


def _front_of(candidates: Any) -> Any:
    """Return the front of a study; anything else as it is."""
    return candidates.pareto() if hasattr(candidates, "pareto") else candidates


def _columns(candidates: Any) -> Columns:
    front = _front_of(candidates)
    return front.frame.reset_index().drop(columns="group") if hasattr(front, "areas") else front


def plot_pareto(candidates: Any, *, score: str | None = None, level: float = 0.95) -> "alt.LayerChart":
    """Draw score against stability, families colored, the front as a line and the chosen point in a ring.

    Parameters
    ----------
    candidates : StudyResult, Pareto, DataFrame, or mapping from name to column
        As for :func:`pareto_data`.
    score : str, optional
        Name of the score, with its unit if it has one; the metric of a study, else ``"score"``.
    level : float
        Level of the intervals.

    Returns
    -------
    altair.LayerChart
        The chart: a notebook shows it, :func:`save` writes it to a file.

    See Also
    --------
    pareto_data : The numbers behind it.

    Examples
    --------
    >>> from holdfast import plots
    >>> columns = {
    ...     "candidate": ["lasso", "anova"], "score": [0.95, 0.93], "stability": [0.74, 0.91], "low": [0.65, 0.83],
    ...     "high": [0.81, 0.96], "on_front": [True, True], "chosen": [False, True],
    ... }
    >>> print(*plots.plot_pareto(columns, score="accuracy").title.text)
    anova is chosen: accuracy 0.93 at stability 0.91 [0.83, 0.96]
    """
    front = _front_of(candidates)
    score = score or str(getattr(front, "metric", "score"))
    return draw_pareto(pareto_data(front, level=level), score=score, level=level)


def draw_pareto(data: pd.DataFrame, *, score: str, level: float, narrow: bool = False) -> "alt.LayerChart":
    """Draw score against stability from the data of :func:`pareto_data`.

    Parameters
    ----------
    data : DataFrame
        As :func:`pareto_data` returns it.
    score : str
        Name of the score.
    level : float
        Level of the intervals, for the text.
    narrow : bool
        Whether it is for a narrow screen: smaller, with the legend below.
    """
    known = _with_texts(data.dropna(subset=["score", "stability"]))
    if known.empty:
        count = format_count(len(data), "candidate")
        return text_chart(f"No candidate has both a {score} and a stability", f"{count} in all")
    alt, (width, height) = altair(), NARROW if narrow else (WIDTH, HEIGHT)
    base = alt.Chart(inline_data(known)).encode(
        x=alt.X(
            "stability:Q", title="stability", scale=_scale(known, "stability", "low", "high"),
            axis=alt.Axis(tickCount=width // TICK),
        ),
        y=alt.Y("score:Q", title=score, scale=_scale(known, "score", "score_low", "score_high")),
    )  # fmt: skip
    pick = alt.selection_point(fields=["family"], bind="legend")
    under = [*_links(base, known, narrow), *_front(base), *_intervals(base, known, narrow)]
    layers = [*under, *_points(base, known, score, pick, narrow)]
    chart = alt.layer(*layers).properties(width=width, height=height)
    room = width + (50 if narrow else 120)
    return finish_chart(chart, _finding(known, score), [_note(data, known, level)], width=room)


def _with_texts(data: pd.DataFrame) -> pd.DataFrame:
    intervals = zip(data["stability"], data["low"], data["high"], strict=True)
    scores = zip(data["score"], data["score_se"], strict=True)
    names = dict(zip(data["family"].unique(), display_names(data["family"].unique()), strict=True))
    return data.assign(
        family=data["family"].map(names),
        stability_text=[format_estimate(*interval) for interval in intervals],
        score_text=[
            f"{value:.3f}" + ("" if math.isnan(error) else f" ± {error:.3f} (standard error)")
            for value, error in scores
        ],
        label=[shorten(name, 44) for name in data["candidate"]],
        vivid=np.where(data["on_front"] | data["chosen"] | (len(data) <= MANY), 1.0, 0.3),
    )


def _domain(data: pd.DataFrame, *columns: str) -> tuple[float, float]:
    """Return the ends of an axis: the smallest and the largest number drawn, with a margin."""
    bold = data[data["on_front"] | data["chosen"]] if len(data) > MANY else data
    ends = finite_values(bold[list(columns)].to_numpy()) + finite_values(data[columns[0]])
    margin = max(0.04 * (max(ends) - min(ends)), 0.005)
    return min(ends) - margin, max(ends) + margin


def _scale(data: pd.DataFrame, *columns: str) -> Any:
    return altair().Scale(domain=list(_domain(data, *columns)), nice=False, zero=False)


def _links(base: "alt.Chart", data: pd.DataFrame, narrow: bool) -> "list[alt.Chart]":
    """Return thin lines between points of one group of a family."""
    if not (data["group"] != "").any():
        return []
    line = base.transform_filter("datum.group !== ''").mark_line(strokeWidth=1, opacity=0.5, strokeDash=[3, 3])
    alt = altair()
    groups = [alt.Detail("family:N"), alt.Detail("group:N")]
    return [line.encode(detail=groups, order=alt.Order("stability:Q"), color=_color(data, narrow))]


def _front(base: "alt.Chart") -> "list[alt.Chart]":
    line = base.transform_filter("datum.on_front").mark_line(style="quiet-line", strokeWidth=5, opacity=0.35)
    alt = altair()
    return [line.encode(order=alt.Order("stability:Q"))]


def _intervals(base: "alt.Chart", data: pd.DataFrame, narrow: bool) -> "list[alt.Chart]":
    rule = base.transform_filter("datum.vivid === 1").mark_rule(strokeWidth=1, opacity=0.55)
    rule = rule.encode(color=_color(data, narrow))
    alt = altair()
    across = rule.encode(x=alt.X("low:Q"), x2=alt.X2("high:Q")).transform_filter("isValid(datum.low)")
    upright = rule.encode(y=alt.Y("score_low:Q"), y2=alt.Y2("score_high:Q"))
    return [across, upright.transform_filter("isValid(datum.score_low)")]


def _points(base: "alt.Chart", data: pd.DataFrame, score: str, pick: Any, narrow: bool) -> "list[alt.Chart]":
    alt = altair()
    points = base.mark_point(filled=True, size=70).encode(
        color=_color(data, narrow),
        shape=_by_family(alt.Shape, data, narrow),  # colors repeat after eight, and may be printed in gray
        opacity=alt.condition(pick, alt.Opacity("vivid:Q", scale=None, legend=None), alt.value(0.06)),
        tooltip=[
            alt.Tooltip("candidate:N", title="candidate"),
            alt.Tooltip("family:N", title="selector"),
            *([alt.Tooltip("settings:N", title="settings")] if data["settings"].any() else []),
            alt.Tooltip("score_text:N", title=score),
            alt.Tooltip("stability_text:N", title="stability"),
            alt.Tooltip("on_front:N", title="on the front"),
        ],
    )
    if not data["chosen"].any():
        return [points.add_params(pick)]
    chosen = base.transform_filter("datum.chosen")
    ring = chosen.mark_point(style="ring", size=340, strokeWidth=2, filled=False)
    return [points.add_params(pick), ring, _label(chosen, data, *(NARROW if narrow else (WIDTH, HEIGHT)))]


def _label(chosen: "alt.Chart", data: pd.DataFrame, width: int, height: int) -> "alt.Chart":
    """Return the name of the chosen point, where it covers the fewest other points."""
    place = int(np.flatnonzero(data["chosen"])[0])
    x, y = _pixels(data, width, "stability", "low", "high"), _pixels(data, height, "score", "score_low", "score_high")
    away, above = x - x[place], y - y[place]
    reach = 24 + CHARACTER * len(data["label"].iloc[place])

    def cost(corner: tuple[int, int]) -> tuple[bool, int]:
        side, dy = corner
        leaves_the_plot = not 0 <= x[place] + side * reach <= width
        covered = (side * away > 0) & (side * away < reach) & (np.abs(above + dy) < 12)
        return leaves_the_plot, int(covered.sum())

    side, dy = min(itertools.product((-1, 1), (-14, 20, -28, 34)), key=cost)
    room = round((width - x[place] if side > 0 else x[place]) + 20)
    text = chosen.mark_text(
        align="left" if side > 0 else "right", dx=14 * side, dy=dy, fontWeight=600, limit=max(room, 60)
    )
    alt = altair()
    return text.encode(text=alt.Text("label:N"))


def _pixels(data: pd.DataFrame, size: int, *columns: str) -> NDArray[np.float64]:
    """Return where points are drawn, from the low end of an axis."""
    low, high = _domain(data, *columns)
    return (data[columns[0]].to_numpy(dtype=np.float64) - low) / (high - low) * size


def _color(data: pd.DataFrame, narrow: bool) -> Any:
    return _by_family(altair().Color, data, narrow)


def _by_family(channel: Any, data: pd.DataFrame, narrow: bool) -> Any:
    alt, families = altair(), list(dict.fromkeys(sorted(data["family"])))
    below: dict[str, Any] = {"orient": "bottom", "columns": 2, "labelLimit": 115} if narrow else {"labelLimit": 160}
    legend = None if len(families) < 2 else alt.Legend(symbolOpacity=1, symbolSize=90, symbolLimit=40, **below)
    return channel("family:N", title="selector", scale=alt.Scale(domain=families), legend=legend)


def _finding(data: pd.DataFrame, score: str) -> str:
    chosen, n_front = data[data["chosen"]], int(data["on_front"].sum())
    if len(chosen):
        row = chosen.iloc[0]
        stability = format_estimate(row["stability"], row["low"], row["high"])
        return f"{shorten(row['candidate'])} is chosen: {score} {format_number(row['score'])} at stability {stability}"
    if n_front:
        verb = "is" if n_front == 1 else "are"
        return f"{n_front} of {format_count(len(data), 'candidate')} {verb} on the front: no other is better in both"
    best, stable = (largest_row(data, column) for column in ("score", "stability"))
    if best["candidate"] == stable["candidate"]:
        both = f"{score} {format_number(best['score'])}, stability {format_number(best['stability'])}"
        return f"{shorten(best['candidate'])} is best in both: {both}"
    return f"{shorten(best['candidate'])} has the best {score}, {shorten(stable['candidate'])} is the most stable"


def _note(data: pd.DataFrame, known: pd.DataFrame, level: float) -> str:
    notes = []
    if known["on_front"].any():
        notes.append("gray line: the front")
    if known[["low", "score_low"]].notna().to_numpy().any():
        whose = " of candidates on the front" if len(known) > MANY else ""
        notes.append(f"crosses: {format_percent(level)} intervals{whose}")
    if (known["group"] != "").any():
        notes.append("dashed: candidates that belong together")
    if len(known) < len(data):
        notes.append(f"{format_count(len(data) - len(known), 'candidate')} without score or stability left out")
    return "; ".join(notes)
