"""Forest plot of stabilities with their intervals, on bands that put the numbers into words."""

import math
import warnings
from collections.abc import Mapping
from typing import Any, TypeAlias

import pandas as pd

from holdfast.inference.comparison import Comparisons
from holdfast.inference.estimate import StabilityEstimate
from holdfast.inference.intervals import Interval
from holdfast.measures import Measure, UndefinedStabilityWarning
from holdfast.plots.sources import finite_values, higher_is_better
from holdfast.plots.theme import OKABE_ITO, alt, finish_chart, inline_data, name_axis, text_chart, tooltips, unit_scale
from holdfast.study.stabilities import CommonMeasure
from holdfast.study.tables import StudyTables
from holdfast.text import display_names, format_count, format_estimate, format_percent, join_names, shorten

Estimates: TypeAlias = StabilityEstimate | Mapping[str, StabilityEstimate] | Comparisons | StudyTables

WIDTH, NARROW = 420, 310
SINGLE = "the selection"
MANY = 16
"""Number of selections above which their rows are closer together."""
BANDS = [
    ("poor", -math.inf, 0.4, "vermillion"), ("intermediate to good", 0.4, 0.75, "yellow"),
    ("excellent", 0.75, 1.0, "green"),
]  # fmt: skip
COLUMNS = ["name", "measure", "stability", "low", "high", "n_runs", "strength", "reason", "letters"]


def forest_data(
    estimates: Estimates, *, level: float = 0.95, measure: str | Measure | None = None, **parameters: Any
) -> pd.DataFrame:
    """Return stabilities with their intervals, the most stable first and undefined ones last.

    Parameters
    ----------
    estimates : StabilityEstimate, mapping from name to StabilityEstimate, Comparisons, or StudyResult
        What to show; for a study, every candidate.
    level : float
        Level of the intervals.
    measure : str or Measure, optional
        What to measure, for a study; by default the one for this kind of preference.
    **parameters
        As for :meth:`StudyResult.stability`, for a study.

    Returns
    -------
    DataFrame
        ``name``, ``measure``, ``stability``, ``low``, ``high``, ``n_runs``, ``strength`` (in words, where they apply),
        ``reason`` (why something is undefined) and ``letters`` (of Comparisons: selections that share a letter do not
        differ significantly).

    See Also
    --------
    plot_forest : Draws them.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast import plots
    >>> from holdfast.datasets import load_example
    >>> sizes = {f"{k} best": hf.stability(load_example().top(k)) for k in (5, 10)}
    >>> plots.forest_data(sizes)[["name", "stability", "low", "high", "strength"]].round(2)
          name  stability   low  high                                    strength
    0  10 best       0.87  0.67  0.92  between intermediate to good and excellent
    1   5 best       0.69  0.52  0.81  between intermediate to good and excellent
    """
    data = pd.DataFrame(_rows(estimates, level, measure, parameters), columns=COLUMNS[:-1])
    data["letters"] = [estimates.letters[name] if isinstance(estimates, Comparisons) else "" for name in data["name"]]
    upwards = all(higher_is_better(name) for name in data["measure"].dropna())
    return data.sort_values("stability", ascending=not upwards, kind="stable", na_position="last", ignore_index=True)


def _rows(estimates: Estimates, level: float, measure: Any, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return the row of each selection, without letters."""
    if isinstance(estimates, StudyTables):
        common = estimates.common_measure(measure=measure)
        return [_candidate_row(estimates, name, level, common, parameters) for name in estimates.candidates]
    if measure is not None or parameters:
        raise ValueError("Only a study can be measured here: these estimates have their measure already.")
    if isinstance(estimates, StabilityEstimate):
        estimates = {SINGLE: estimates}
    named = estimates.estimates if isinstance(estimates, Comparisons) else estimates
    return [_row(str(name), estimate, estimate.ci(level)) for name, estimate in named.items()]


def _candidate_row(
    result: StudyTables, name: str, level: float, common: CommonMeasure, parameters: dict[str, Any]
) -> tuple[Any, ...]:
    try:
        with warnings.catch_warnings(action="ignore", category=UndefinedStabilityWarning):
            estimate = common.estimate(result, name, **parameters)
    except ValueError as error:
        return (name, None, math.nan, math.nan, math.nan, 0, None, str(error))
    return _row(name, estimate, result.interval(name, estimate, level))


def _row(name: str, estimate: StabilityEstimate, interval: Interval) -> tuple[Any, ...]:
    return (name, estimate.measure, estimate.value, *interval, estimate.n_runs, estimate.strength, estimate.note)


def plot_forest(
    estimates: Estimates, *, level: float = 0.95, measure: str | Measure | None = None, **parameters: Any
) -> "alt.LayerChart":
    """Draw stabilities with their intervals as a forest plot, the most stable on top.

    The bands poor, intermediate to good and excellent (cut at 0.40 and 0.75) are drawn where they apply: for measures
    of subsets that are corrected for chance.

    Parameters
    ----------
    estimates : StabilityEstimate, mapping from name to StabilityEstimate, Comparisons, or StudyResult
        What to show; for a study, every candidate.
    level : float
        Level of the intervals.
    measure : str or Measure, optional
        What to measure, for a study; by default the one for this kind of preference.
    **parameters
        As for :meth:`StudyResult.stability`, for a study.

    Returns
    -------
    altair.LayerChart
        The chart: a notebook shows it, :func:`save` writes it to a file.

    See Also
    --------
    forest_data : The numbers behind it.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast import plots
    >>> from holdfast.datasets import load_example
    >>> sizes = {f"{k} best": hf.stability(load_example().top(k)) for k in (5, 10)}
    >>> print(*plots.plot_forest(sizes).title.text)
    10 best is the most stable: 0.87 [0.67, 0.92]
    """
    data = forest_data(estimates, level=level, measure=measure, **parameters)
    top = estimates.common_measure(measure=measure).top if isinstance(estimates, StudyTables) else None
    return draw_forest(data, level=level, top=top)


def draw_forest(
    data: pd.DataFrame, *, level: float, top: int | None = None, axis: str | None = None, narrow: bool = False
) -> "alt.LayerChart":
    """Draw a forest plot from the data of :func:`forest_data`.

    Parameters
    ----------
    data : DataFrame
        As :func:`forest_data` returns it.
    level : float
        Level of the intervals, for the text.
    top : int, optional
        How many of the best features of rankings and weights count, for the text.
    axis : str, optional
        Name of the axis; "stability" and the measure by default.
    narrow : bool
        Whether it is for a narrow screen: names are above their intervals.
    """
    if data.empty:
        return text_chart("There is no stability to show")
    if data["stability"].isna().all():
        names = join_names(list(data["name"]))
        return text_chart(f"The stability of {names} is undefined", str(data["reason"].iloc[0]))
    measures = data["measure"].dropna().unique()
    title = axis or "stability" + (f" ({measures[0]})" if len(measures) == 1 else "")
    width = NARROW if narrow else WIDTH
    ends = finite_values(data[["stability", "low", "high"]])
    least = min(0.0, *ends)
    x = alt.X("stability:Q", title=title, scale=unit_scale(ends, zero=False))
    layers = [*_bands(data, least, width), *_marks(_with_texts(data), x, narrow)]
    chart = alt.layer(*layers).properties(
        width=width, height={"step": 44 if narrow else 30 if len(data) <= MANY else 20}
    )
    return finish_chart(chart, _finding(data), [_note(data, level, top)], width=width if narrow else WIDTH + 260)


def _with_texts(data: pd.DataFrame) -> pd.DataFrame:
    texts = [
        format_estimate(value, low, high) + ("" if not math.isnan(low) or math.isnan(value) else " (no interval)")
        for value, low, high in zip(data["stability"], data["low"], data["high"], strict=True)
    ]
    letters = [f"  {letters}" if letters else "" for letters in data["letters"]]
    short = [format_estimate(value, math.nan, math.nan) for value in data["stability"]]
    return data.assign(
        name=display_names(data["name"]),
        text=[a + b for a, b in zip(texts, letters, strict=True)],
        short=[a + b for a, b in zip(short, letters, strict=True)],
    )


def _marks(data: pd.DataFrame, x: Any, narrow: bool) -> "list[alt.Chart]":
    order = data["name"].tolist()  # explicit, because layers leave out what has no interval
    hidden: dict[str, Any] = {"axis": None} if narrow else {}
    base = alt.Chart(inline_data(data)).encode(
        y=name_axis(padding=10, sort=order, scale=alt.Scale(domain=order), **hidden),
        tooltip=[
            *tooltips({"name:N": "selection", "text:N": "stability"}),
            *tooltips({"measure:N": "measure"} if data["measure"].notna().any() else {}),
            *tooltips({"strength:N": "in words", "n_runs:Q": "resamples", "reason:N": "note"}),
        ],
    )
    down: dict[str, Any] = {"yOffset": 9} if narrow else {}
    intervals = [
        base.mark_rule(strokeWidth=2, **down).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q")),
        base.mark_point(size=90, filled=True, opacity=1, **down).encode(x=x),
    ]
    if not narrow:
        texts = base.mark_text(align="left").encode(x=alt.XValue(WIDTH + 12), text=alt.Text("text:N"))
        return [*intervals, texts]
    name = base.mark_text(align="left", yOffset=-9, limit=NARROW - 80).encode(x=alt.XValue(2), text=alt.Text("name:N"))
    number = base.mark_text(align="right", yOffset=-9, limit=76)
    return [*intervals, name, number.encode(x=alt.XValue(NARROW - 2), text=alt.Text("short:N"))]


def _bands(data: pd.DataFrame, least: float, width: int) -> "list[alt.Chart]":
    """Return the bands with their names; none if the words do not apply to all."""
    if data["strength"][data["stability"].notna()].isna().any():
        return []
    rows = [(name, max(start, least), end, OKABE_ITO[color]) for name, start, end, color in BANDS]
    frame = pd.DataFrame(rows, columns=["band", "start", "end", "color"])
    base = alt.Chart(inline_data(frame.assign(middle=(frame["start"] + frame["end"]) / 2)))
    fill = base.mark_rect(opacity=0.13, tooltip=None).encode(
        x=alt.X("start:Q"), x2=alt.X2("end:Q"), fill=alt.Fill("color:N", scale=None)
    )
    small: dict[str, Any] = {"fontSize": 10} if width < WIDTH else {}
    names = base.mark_text(style="note", baseline="bottom", limit=round(0.35 * width), **small).encode(
        x=alt.X("middle:Q"), y=alt.YValue(-4), text=alt.Text("band:N")
    )
    return [fill, names]


def _finding(data: pd.DataFrame) -> str:
    best = data.iloc[0]
    stability = format_estimate(best["stability"], best["low"], best["high"])
    if len(data) == 1:
        words = f": {best['strength']}" if best["strength"] else ""
        name = "the selection" if best["name"] == SINGLE else shorten(best["name"])
        return f"The stability of {name} is {stability}{words}"
    equal = data[data["letters"].map(lambda letters: bool(set(letters) & set(best["letters"])))]["name"].tolist()[1:]
    also = f", not significantly more than {join_names(equal)}" if equal else ""
    return f"{shorten(best['name'])} is the most stable: {stability}{also}"


def _note(data: pd.DataFrame, level: float, top: int | None) -> str:
    counts = sorted(set(data["n_runs"][data["stability"].notna()]))
    over = format_count(counts[0], "resample") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} resamples"
    letters = "; selections that share a letter do not differ significantly" if data["letters"].any() else ""
    cut = f"; for rankings and weights, the top {top} features of each resample" if top else ""
    lines = f"lines: {format_percent(level)} intervals" if data["low"].notna().any() else "no intervals,"
    return f"{lines} over {over}{letters}{cut}"
