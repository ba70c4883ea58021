"""Pareto fronts of accuracy and stability: every candidate, and those that no other beats in both."""

import itertools
import math
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from holdfast.inference.intervals import check_level
from holdfast.plots.sources import Columns, finite_values, largest_row, show_names, typed_table
from holdfast.plots.theme import alt, finish_chart, front_line, inline_data, text_chart, tooltips
from holdfast.text import format_count, format_estimate, format_number, format_percent, format_score, shorten
from holdfast.tradeoff.fronts import hypervolume, lowest_point, pareto_front, round_axes

Reference = tuple[float, float]


def is_of_fronts(candidates: Any) -> bool:
    """Return whether these are several fronts: a mapping from name to study or front."""
    return (
        isinstance(candidates, Mapping)
        and len(candidates) > 0
        and all(hasattr(item, "pareto") or hasattr(item, "areas") for item in candidates.values())
    )


def find_fronts(candidates: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the fronts by name, those of studies found first; raise if their axes differ."""
    fronts = {
        str(name): item.pareto(n_draws=0) if hasattr(item, "pareto") else item for name, item in candidates.items()
    }
    for axis, what in (("metric", "score"), ("measure", "measure of stability")):
        values = dict.fromkeys(str(getattr(front, axis)) for front in fronts.values())
        if len(values) > 1:
            raise ValueError(f"Expected fronts of one {what}, to share an axis, got {' and '.join(values)}.")
    return fronts


def join_fronts(fronts: Mapping[str, Any]) -> pd.DataFrame:
    """Return the candidates of all fronts; each front, or each group of one that has several, is a family."""
    tables = []
    for name, front in fronts.items():
        groups = front.frame["group"]
        families = name if len(set(groups)) == 1 else [f"{name}: {group}" for group in groups]
        tables.append(front.frame.reset_index().assign(family=families).drop(columns="group"))
    joined = pd.concat(tables, ignore_index=True)
    return joined.assign(on_front=pareto_front(*round_axes(joined)))


def add_areas(data: pd.DataFrame, reference: Reference | None) -> pd.DataFrame:
    """Add which candidates are on the front of their family, and the ``area`` that it dominates above the reference."""
    reference = reference or lowest_point(data)
    on_own, area = np.zeros(len(data), dtype=bool), np.full(len(data), np.nan)
    for _, rows in data.reset_index(drop=True).groupby("family", sort=False).groups.items():
        members = data.iloc[rows]
        on_own[rows] = pareto_front(*round_axes(members))
        area[rows] = hypervolume(members["score"], members["stability"], reference)
    return data.assign(on_own_front=on_own, area=area)


def area_steps(data: pd.DataFrame, reference: Reference) -> pd.DataFrame:
    """Return the corners of each family's dominated area, the family of the largest one first.

    Between two corners the ``score`` is that of the right one: the best with at least such a stability.
    """
    empty = pd.DataFrame({"stability": [], "score": [], "family": [], "area": [], "floor": []})
    tables: list[pd.DataFrame] = []
    front = data[data["on_own_front"] & (data["score"] > reference[0]) & (data["stability"] > reference[1])]
    for family, members in front.groupby("family", sort=False):
        corners = members.sort_values("stability")[["stability", "score"]]
        first = pd.DataFrame({"stability": [reference[1]], "score": [corners["score"].iloc[0]]})
        table = pd.concat([first, corners], ignore_index=True)
        tables.append(table.assign(family=family, area=members["area"].iloc[0], floor=reference[0]))
    tables.sort(key=lambda table: -float(table["area"].iloc[0]))
    return pd.concat(tables, ignore_index=True) if tables else empty


def draw_areas(base: "alt.Chart", data: pd.DataFrame, reference: Reference, color: Any) -> "list[alt.Chart]":
    """Return each family's dominated area, shaded, with its edge."""
    steps = area_steps(data, reference)
    layers = []
    for family in steps["family"].unique():
        chart = base.properties(data=inline_data(steps[steps["family"] == family]))
        shade = chart.mark_area(interpolate="step-before", opacity=0.16, line=False, clip=True)
        edge = chart.mark_line(interpolate="step-before", strokeWidth=2, opacity=0.8, clip=True)
        layers += [shade.encode(y2=alt.Y2("floor:Q"), color=color), edge.encode(color=color)]
    return layers


def areas_finding(data: pd.DataFrame) -> str:
    """Return which front dominates most, in words."""
    areas = family_areas(data)
    (best, area), *others = sorted(areas.items(), key=lambda item: -item[1])
    if not others:
        return f"{shorten(best)} dominates an area of {format_number(area, 3)}"
    second, next_area = others[0]
    after = f"next is {shorten(second)}, {format_number(next_area, 3)}"
    return f"{shorten(best)} dominates the largest area, {format_number(area, 3)}; {after}"


def areas_note(data: pd.DataFrame, reference: Reference, score: str) -> str:
    """Return the dominated areas of all families, the largest first, in words."""
    areas = sorted(family_areas(data).items(), key=lambda item: -item[1])
    listed = ", ".join(f"{shorten(family)} {format_number(area, 3)}" for family, area in areas)
    above = f"{score} {format_number(reference[0])} and stability {format_number(reference[1])}"
    return f"shaded: what each front dominates above {above} (area: {listed})"


def family_areas(data: pd.DataFrame) -> dict[str, float]:
    """Return the dominated area of each family."""
    return {str(family): float(area) for family, area in data.groupby("family", sort=False)["area"].first().items()}


Fronts: TypeAlias = Literal["joint", "each"]
WIDTH, HEIGHT = 460, 340
NARROW = 268, 260
"""Width and height on a narrow screen."""
TICK = 60  # pixels between ticks, so that their labels do not touch
CHARACTER = 6.5  # pixels of a label's character, on average
MANY = 30
"""Number of candidates above which intervals are drawn only for those on the front."""
NEEDED = {"candidate": str, "score": float, "stability": float}
OPTIONAL = {
    "family": "", "score_se": math.nan, "score_low": math.nan, "score_high": math.nan, "low": math.nan,
    "high": math.nan, "on_front": False, "chosen": False, "settings": "", "group": "",
}  # fmt: skip
OF_A_PAGE = {"picked": False, "key": ""}
"""Columns that a page may add: the candidate that it shows, and by what it finds a point that was clicked."""


def pareto_data(
    candidates: Any, *, fronts: Fronts | None = None, reference: Reference | None = None, level: float = 0.95
) -> pd.DataFrame:
    """Return candidates with intervals on both axes, those on the front last, so that they are drawn on top.

    Parameters
    ----------
    candidates : StudyResult, Pareto, mapping from name to one of them, DataFrame, or mapping from name to column
        What ``result.pareto()`` returns, or a study, whose front is then found; several of them by name, each a family
        (each group of theirs, if they have several); or columns: ``candidate``, ``score`` and ``stability``; and if
        known ``family`` (which selector it belongs to), ``score_se`` (standard error of the score), ``score_low`` and
        ``score_high`` (its interval), ``low`` and ``high`` (interval of the stability), ``on_front``, ``chosen``,
        ``settings`` (text to show), ``group`` (points of one group are linked), ``picked`` (drawn in a dashed ring) and
        ``key`` (by which a page finds a point that was clicked).
    fronts : {"joint", "each"}, optional
        Whether there is one front of all candidates, or one of every family with the area that it dominates; by default
        the latter for several studies or fronts.
    reference : (float, float), optional
        Score and stability from which areas are measured; by default the lowest score of all candidates, and 0 or the
        lowest stability if that is below 0.
    level : float
        Level of the intervals of scores, which are made from ``score_se`` where they are not given.

    Returns
    -------
    DataFrame
        All columns above; ``picked`` and ``key`` only if they were given. With a front of every family also
        ``on_own_front``, and ``area``, which that front dominates.

    Raises
    ------
    ValueError
        If ``fronts`` is something else.

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

    >>> two = {**columns, "family": ["lasso", "anova"]}
    >>> plots.pareto_data(two, fronts="each", reference=(0.5, 0.0))[["family", "on_own_front", "area"]].round(2)
      family  on_own_front  area
    0  lasso          True  0.20
    1  anova          True  0.21
    """
    check_level(level)
    if fronts is not None and fronts not in get_args(Fronts):
        raise ValueError(f"Expected fronts='joint' or 'each', got {fronts!r}.")
    each = is_of_fronts(candidates) if fronts is None else fronts == "each"
    columns = _columns(candidates)
    more = {name: default for name, default in OF_A_PAGE.items() if name in columns}
    data = typed_table(columns, NEEDED, {**OPTIONAL, **more})
    reach = ndtri((1 + level) / 2) * data["score_se"]
    data = data.assign(
        score_low=data["score_low"].fillna(data["score"] - reach),
        score_high=data["score_high"].fillna(data["score"] + reach),
    )
    order = ["candidate", "family", "score", "score_se", "score_low", "score_high", "stability", "low", "high"]
    data = data[[*order, "on_front", "chosen", "settings", "group", *more]]
    if each:
        data = add_areas(data, reference)
    top = ["chosen", "on_own_front" if each else "on_front"]
    return data.sort_values(top, kind="stable", ignore_index=True)


def _front_of(candidates: Any) -> Any:
    """Return the front of a study, or the fronts of several; anything else as it is."""
    if is_of_fronts(candidates):
        return find_fronts(candidates)
    return candidates.pareto() if hasattr(candidates, "pareto") else candidates


def _columns(candidates: Any) -> Columns:
    front = _front_of(candidates)
    if is_of_fronts(front):
        return join_fronts(front)
    return front.frame.reset_index().drop(columns="group") if hasattr(front, "areas") else front


def plot_pareto(
    candidates: Any,
    *,
    score: str | None = None,
    fronts: Fronts | None = None,
    reference: Reference | None = None,
    level: float = 0.95,
) -> "alt.LayerChart":
    """Draw score against stability, families colored, with the front as a line, or with the area of every front.

    A ring marks the chosen point, if there is one. Intervals of single candidates are not drawn over areas; a pointer
    shows them.

    Parameters
    ----------
    candidates : StudyResult, Pareto, mapping from name to one of them, DataFrame, or mapping from name to column
        As for :func:`pareto_data`.
    score : str, optional
        Name of the score, with its unit if it has one; the metric of a study, else ``"score"``.
    fronts, reference : optional
        Whether every family has a front, with the area that it dominates shaded and given in numbers, and from where
        that is measured, as for :func:`pareto_data`.
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

    Several studies, or some candidates of one: ``plots.plot_pareto({"hybrid": result.pareto(candidates=…), …})``.
    """
    front = _front_of(candidates)
    first = next(iter(front.values())) if is_of_fronts(front) else front
    score = score or str(getattr(first, "metric", "score"))
    data = pareto_data(front, fronts=fronts, reference=reference, level=level)
    return draw_pareto(data, score=score, level=level, reference=reference)


def draw_pareto(
    data: pd.DataFrame, *, score: str, level: float, reference: Reference | None = None, narrow: bool = False
) -> "alt.LayerChart":
    """Draw score against stability from the data of :func:`pareto_data`.

    Parameters
    ----------
    data : DataFrame
        As :func:`pareto_data` returns it.
    score : str
        Name of the score.
    level : float
        Level of the intervals, for the text.
    reference : (float, float), optional
        Score and stability from which areas were measured, if there are any.
    narrow : bool
        Whether it is for a narrow screen: smaller, with the legend below.
    """
    known = _with_texts(data.dropna(subset=["score", "stability"]))
    if known.empty:
        count = format_count(len(data), "candidate")
        return text_chart(f"No candidate has both a {score} and a stability", f"{count} in all")
    (width, height) = NARROW if narrow else (WIDTH, HEIGHT)
    each, reference = "area" in known, reference or lowest_point(known)
    base = alt.Chart(inline_data(known)).encode(
        x=alt.X(
            "stability:Q", title="stability", scale=_scale(known, "stability", "low", "high"),
            axis=alt.Axis(tickCount=width // TICK),
        ),
        y=alt.Y("score:Q", title=score, scale=_scale(known, "score", "score_low", "score_high")),
    )  # fmt: skip
    color = _by_family(alt.Color, known, narrow)
    if each:  # intervals would hide the areas
        under = draw_areas(base, known, reference, color)
    else:
        under = [front_line(base, "on_front", "stability:Q"), *_intervals(base, color)]
    layers = [*_links(base, known, color), *under, *_points(base, known, score, color, narrow)]
    chart = alt.layer(*layers).properties(width=width, height=height)
    room = width + (50 if narrow else 120)
    areas = areas_note(known, reference, score) if each else ""
    notes = "; ".join(filter(None, [areas, _note(data, known, level)]))
    return finish_chart(chart, _finding(known, score), [notes], width=room)


def _with_texts(data: pd.DataFrame) -> pd.DataFrame:
    intervals = zip(data["stability"], data["low"], data["high"], strict=True)
    scores = zip(data["score"], data["score_se"], strict=True)
    names = show_names(data["family"])
    return data.assign(
        family=data["family"].map(names),
        stability_text=[format_estimate(*interval) for interval in intervals],
        score_text=[
            format_score(value, error) + ("" if math.isnan(error) else " (standard error)") for value, error in scores
        ],
        label=[shorten(name, 44) for name in data["candidate"]],
        vivid=np.where(_on_drawn_front(data) | data["chosen"] | (len(data) <= MANY), 1.0, 0.3),
    )


def _on_drawn_front(data: pd.DataFrame) -> "pd.Series[bool]":
    return data["on_own_front"] if "on_own_front" in data else data["on_front"]


def _domain(data: pd.DataFrame, *columns: str) -> tuple[float, float]:
    """Return the ends of an axis: the smallest and the largest number drawn, with a margin."""
    bold = data[_on_drawn_front(data) | data["chosen"]] if len(data) > MANY else data
    drawn = columns[:1] if "area" in data else columns
    ends = finite_values(bold[list(drawn)].to_numpy()) + finite_values(data[columns[0]])
    margin = max(0.04 * (max(ends) - min(ends)), 0.005)
    return min(ends) - margin, max(ends) + margin


def _scale(data: pd.DataFrame, *columns: str) -> Any:
    return alt.Scale(domain=list(_domain(data, *columns)), nice=False, zero=False)


def _links(base: "alt.Chart", data: pd.DataFrame, color: Any) -> "list[alt.Chart]":
    """Return thin lines between points of one group of a family."""
    if not (data["group"] != "").any():
        return []
    line = base.transform_filter("datum.group !== ''").mark_line(strokeWidth=1, opacity=0.5, strokeDash=[3, 3])
    groups = [alt.Detail("family:N"), alt.Detail("group:N")]
    return [line.encode(detail=groups, order=alt.Order("stability:Q"), color=color)]


def _intervals(base: "alt.Chart", color: Any) -> "list[alt.Chart]":
    rule = base.transform_filter("datum.vivid === 1").mark_rule(strokeWidth=1, opacity=0.55).encode(color=color)
    across = rule.encode(x=alt.X("low:Q"), x2=alt.X2("high:Q")).transform_filter("isValid(datum.low)")
    upright = rule.encode(y=alt.Y("score_low:Q"), y2=alt.Y2("score_high:Q"))
    return [across, upright.transform_filter("isValid(datum.score_low)")]


def _points(base: "alt.Chart", data: pd.DataFrame, score: str, color: Any, narrow: bool) -> "list[alt.Chart]":
    pick = alt.selection_point(fields=["family"], bind="legend")
    points = base.mark_point(filled=True, size=70).encode(
        color=color,
        shape=_by_family(alt.Shape, data, narrow),  # colors repeat after eight, and may be printed in gray
        opacity=alt.condition(pick, alt.Opacity("vivid:Q", scale=None, legend=None), alt.value(0.06)),
        tooltip=[
            *tooltips({"candidate:N": "candidate", "family:N": _family_title(data)}),
            *tooltips({"settings:N": "settings"} if data["settings"].any() else {}),
            *tooltips({"score_text:N": score, "stability_text:N": "stability", "on_front:N": "on the front"}),
        ],
    )
    marks = [points.add_params(pick)]
    if "picked" in data and data["picked"].any():  # the candidate that a page shows
        picked = base.transform_filter("datum.picked")
        marks.append(picked.mark_point(style="ring", size=520, strokeWidth=1.5, strokeDash=[3, 3], filled=False))
    if not data["chosen"].any():
        return marks
    chosen = base.transform_filter("datum.chosen")
    ring = chosen.mark_point(style="ring", size=340, strokeWidth=2, filled=False)
    return [*marks, ring, _label(chosen, data, *(NARROW if narrow else (WIDTH, HEIGHT)))]


def _label(chosen: "alt.Chart", data: pd.DataFrame, width: int, height: int) -> "alt.Chart":
    """Return the name of the chosen point, where it covers the fewest other points."""
    point = int(np.flatnonzero(data["chosen"])[0])
    x, y = _pixels(data, width, "stability", "low", "high"), _pixels(data, height, "score", "score_low", "score_high")
    away, above = x - x[point], y - y[point]
    reach = 24 + CHARACTER * len(data["label"].iloc[point])

    def cost(corner: tuple[int, int]) -> tuple[bool, int]:
        side, dy = corner
        leaves_the_plot = not 0 <= x[point] + side * reach <= width
        covered = (side * away > 0) & (side * away < reach) & (np.abs(above + dy) < 12)
        return leaves_the_plot, int(covered.sum())

    side, dy = min(itertools.product((-1, 1), (-14, 20, -28, 34)), key=cost)
    room = round((width - x[point] if side > 0 else x[point]) + 20)
    align: Any = "left" if side > 0 else "right"
    text = chosen.mark_text(align=align, dx=14 * side, dy=dy, fontWeight=600, limit=max(room, 60))
    return text.encode(text=alt.Text("label:N"))


def _pixels(data: pd.DataFrame, size: int, *columns: str) -> NDArray[np.float64]:
    """Return where points are drawn, from the low end of an axis."""
    low, high = _domain(data, *columns)
    return (data[columns[0]].to_numpy(dtype=np.float64) - low) / (high - low) * size


def _by_family(channel: Any, data: pd.DataFrame, narrow: bool) -> Any:
    families = list(dict.fromkeys(sorted(data["family"])))
    below: dict[str, Any] = {"orient": "bottom", "columns": 2, "labelLimit": 115} if narrow else {"labelLimit": 160}
    legend = None if len(families) < 2 else alt.Legend(symbolOpacity=1, symbolSize=90, symbolLimit=40, **below)
    return channel("family:N", title=_family_title(data), scale=alt.Scale(domain=families), legend=legend)


def _family_title(data: pd.DataFrame) -> str:
    return "front" if "area" in data else "selector"


def _finding(data: pd.DataFrame, score: str) -> str:
    chosen, n_front = data[data["chosen"]], int(data["on_front"].sum())
    if len(chosen):
        row = chosen.iloc[0]
        stability = format_estimate(row["stability"], row["low"], row["high"])
        return f"{shorten(row['candidate'])} is chosen: {score} {format_number(row['score'])} at stability {stability}"
    if "area" in data:
        return areas_finding(data)
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
    if known["on_front"].any() and "area" not in known:
        notes.append("gray line: the front")
    if known[["low", "score_low"]].notna().to_numpy().any() and "area" not in known:
        whose = " of candidates on the front" if len(known) > MANY else ""
        notes.append(f"crosses: {format_percent(level)} intervals{whose}")
    if (known["group"] != "").any():
        notes.append("dashed: candidates that belong together")
    if len(known) < len(data):
        notes.append(f"{format_count(len(data) - len(known), 'candidate')} without score or stability left out")
    return "; ".join(notes)
