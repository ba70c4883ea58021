"""Accuracy and stability together: every candidate with both, and the front that none beats in both."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from holdfast.inference.intervals import check_level
from holdfast.plots.sources import Columns, as_finite, largest, table_of
from holdfast.plots.text import counted, number, percent, short, shown, told
from holdfast.plots.theme import altair, finished, inline, sentence

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT = 460, 340
MANY = 30
"""Candidates from which on intervals are drawn only for those on the front."""
NEEDED = {"candidate": str, "score": float, "stability": float}
OPTIONAL = {
    "family": "", "score_se": math.nan, "low": math.nan, "high": math.nan, "on_front": False, "chosen": False,
    "settings": "", "group": "",
}  # fmt: skip


def pareto_data(candidates: Any, *, level: float = 0.95) -> pd.DataFrame:
    """Return candidates with intervals on both axes, those on the front last, so that they are drawn on top.

    Parameters
    ----------
    candidates : StudyResult, Pareto, DataFrame, or mapping from name to column
        What ``result.pareto()`` returns, or a study, of which it is asked; or columns: ``candidate``, ``score`` and
        ``stability``; and if known ``family`` (which selector it belongs to), ``score_se`` (standard error of the
        score), ``low`` and ``high`` (interval of the stability), ``on_front``, ``chosen``, ``settings`` (text to show)
        and ``group`` (points of one group are linked).
    level : float
        Level of the intervals of scores, which are made from ``score_se``.

    Returns
    -------
    DataFrame
        The columns above, all of them, with ``score_low`` and ``score_high``.

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
    data = table_of(_columns(candidates), NEEDED, OPTIONAL)
    reach = ndtri((1 + level) / 2) * data["score_se"]
    data = data.assign(score_low=data["score"] - reach, score_high=data["score"] + reach)
    order = ["candidate", "family", "score", "score_se", "score_low", "score_high", "stability", "low", "high"]
    data = data[[*order, "on_front", "chosen", "settings", "group"]]
    return data.sort_values(["chosen", "on_front"], kind="stable", ignore_index=True)


def _asked(candidates: Any) -> Any:
    """The front of a study; anything else as it is."""
    return candidates.pareto() if hasattr(candidates, "pareto") else candidates


def _columns(candidates: Any) -> Columns:
    found = _asked(candidates)
    return found.frame.reset_index().drop(columns="group") if hasattr(found, "areas") else found


def plot_pareto(candidates: Any, *, score: str | None = None, level: float = 0.95) -> "alt.LayerChart":
    """Draw score against stability, families colored, the front as a line and the chosen point in a ring.

    Parameters
    ----------
    candidates : StudyResult, Pareto, DataFrame, or mapping from name to column
        As for :func:`pareto_data`.
    score : str, optional
        Name of the score, with its unit if it has one; the metric of a study, else ``"score"``.
    level : float
        Level of the intervals; those of the stability must be of the same.

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
    candidates = _asked(candidates)
    score = score or str(getattr(candidates, "metric", "score"))
    data = pareto_data(candidates, level=level)
    drawn = _drawn(data.dropna(subset=["score", "stability"]))
    if drawn.empty:
        return sentence(f"No candidate has both a {score} and a stability", f"{counted(len(data), 'candidate')} given")
    alt = altair()
    base = alt.Chart(inline(drawn)).encode(
        x=alt.X("stability:Q", title="stability", scale=_scale(drawn, "stability", "low", "high")),
        y=alt.Y("score:Q", title=score, scale=_scale(drawn, "score", "score_low", "score_high")),
    )
    pick = alt.selection_point(fields=["family"], bind="legend")
    layers = [*_links(base, drawn), *_front(base), *_intervals(base, drawn), *_points(base, drawn, score, pick)]
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    return finished(chart, _finding(drawn, score), [_note(data, drawn, level)], width=WIDTH + 120)


def _drawn(data: pd.DataFrame) -> pd.DataFrame:
    intervals = zip(data["stability"], data["low"], data["high"], strict=True)
    scores = zip(data["score"], data["score_se"], strict=True)
    names = dict(zip(data["family"].unique(), shown(data["family"].unique()), strict=True))
    return data.assign(
        family=data["family"].map(names),
        stability_text=[told(*one) for one in intervals],
        score_text=[
            f"{value:.3f}" + ("" if math.isnan(se) else f" ± {se:.3f} (standard error)") for value, se in scores
        ],
        label=[short(name, 44) for name in data["candidate"]],
        vivid=np.where(data["on_front"] | data["chosen"] | (len(data) <= MANY), 1.0, 0.3),
    )


def _scale(data: pd.DataFrame, *columns: str) -> Any:
    """From the least to the most of what is drawn, and a little more."""
    bold = data[data["on_front"] | data["chosen"]] if len(data) > MANY else data
    ends = as_finite(bold[list(columns)].to_numpy()) + as_finite(data[columns[0]])
    margin = max(0.04 * (max(ends) - min(ends)), 0.005)
    return altair().Scale(domain=[min(ends) - margin, max(ends) + margin], nice=False, zero=False)


def _links(base: "alt.Chart", data: pd.DataFrame) -> "list[alt.Chart]":
    """Thin lines between points of one group of a family."""
    if not (data["group"] != "").any():
        return []
    line = base.transform_filter("datum.group !== ''").mark_line(strokeWidth=1, opacity=0.5, strokeDash=[3, 3])
    return [line.encode(detail=["family:N", "group:N"], order="stability:Q", color=_color(data))]


def _front(base: "alt.Chart") -> "list[alt.Chart]":
    line = base.transform_filter("datum.on_front").mark_line(style="quiet-line", strokeWidth=5, opacity=0.35)
    return [line.encode(order="stability:Q")]


def _intervals(base: "alt.Chart", data: pd.DataFrame) -> "list[alt.Chart]":
    rule = base.transform_filter("datum.vivid === 1").mark_rule(strokeWidth=1, opacity=0.55).encode(color=_color(data))
    across = rule.encode(x="low:Q", x2="high:Q").transform_filter("isValid(datum.low)")
    upright = rule.encode(y="score_low:Q", y2="score_high:Q").transform_filter("isValid(datum.score_low)")
    return [across, upright]


def _points(base: "alt.Chart", data: pd.DataFrame, score: str, pick: Any) -> "list[alt.Chart]":
    alt = altair()
    points = base.mark_point(filled=True, size=70).encode(
        color=_color(data),
        shape=_shape(data),
        opacity=alt.condition(pick, alt.Opacity("vivid:Q", scale=None, legend=None), alt.value(0.06)),
        tooltip=[
            alt.Tooltip("candidate:N", title="candidate"),
            alt.Tooltip("family:N", title="selector"),
            alt.Tooltip("settings:N", title="settings"),
            alt.Tooltip("score_text:N", title=score),
            alt.Tooltip("stability_text:N", title="stability"),
            alt.Tooltip("on_front:N", title="on the front"),
        ],
    )
    if not data["chosen"].any():
        return [points.add_params(pick)]
    chosen = base.transform_filter("datum.chosen")
    ring = chosen.mark_point(style="ring", size=340, strokeWidth=2, filled=False)
    return [points.add_params(pick), ring, _label(chosen, data)]


def _label(chosen: "alt.Chart", data: pd.DataFrame) -> "alt.Chart":
    """The name of the chosen point, on the side where there is room."""
    low, high = data["stability"].min(), data["stability"].max()
    if data["stability"][data["chosen"]].iloc[0] < (low + high) / 2:
        text = chosen.mark_text(align="left", dx=14, dy=-14, fontWeight=600)
    else:
        text = chosen.mark_text(align="right", dx=-14, dy=-14, fontWeight=600)
    return text.encode(text="label:N")


def _families(data: pd.DataFrame) -> list[str]:
    return list(dict.fromkeys(sorted(data["family"])))


def _color(data: pd.DataFrame) -> Any:
    alt, families = altair(), _families(data)
    legend = None if len(families) < 2 else alt.Legend(symbolOpacity=1, symbolSize=90, symbolLimit=40)
    return alt.Color("family:N", title="selector", scale=alt.Scale(domain=families), legend=legend)


def _shape(data: pd.DataFrame) -> Any:
    """Another shape for each family: colors repeat after eight, and may be printed in gray."""
    alt, families = altair(), _families(data)
    legend = None if len(families) < 2 else alt.Legend(symbolOpacity=1, symbolSize=90, symbolLimit=40)
    return alt.Shape("family:N", title="selector", scale=alt.Scale(domain=families), legend=legend)


def _finding(data: pd.DataFrame, score: str) -> str:
    chosen, front = data[data["chosen"]], int(data["on_front"].sum())
    if len(chosen):
        one = chosen.iloc[0]
        stability = told(one["stability"], one["low"], one["high"])
        return f"{short(one['candidate'])} is chosen: {score} {number(one['score'])} at stability {stability}"
    if front:
        verb = "is" if front == 1 else "are"
        return f"{front} of {counted(len(data), 'candidate')} {verb} on the front: no other is better in both"
    best, steady = (largest(data, column) for column in ("score", "stability"))
    if best["candidate"] == steady["candidate"]:
        return f"{short(best['candidate'])} is best in both: {score} {number(best['score'])}, stability " + number(
            best["stability"]
        )
    return f"{short(best['candidate'])} has the best {score}, {short(steady['candidate'])} is the most stable"


def _note(data: pd.DataFrame, drawn: pd.DataFrame, level: float) -> str:
    notes = []
    if drawn["on_front"].any():
        notes.append("gray line: the front")
    if drawn[["low", "score_low"]].notna().to_numpy().any():
        whose = " of candidates on the front" if len(drawn) > MANY else ""
        notes.append(f"crosses: {percent(level)} intervals{whose}")
    if (drawn["group"] != "").any():
        notes.append("dashed: candidates that belong together")
    if len(drawn) < len(data):
        notes.append(f"{counted(len(data) - len(drawn), 'candidate')} without score or stability left out")
    return "; ".join(notes)
