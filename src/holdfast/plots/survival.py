"""Kaplan and Meier's curves by groups of rows: how many are without the event, for low and high values of a feature."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.plots.theme import alt, finish_chart, inline_data, name_axis, text_chart, tooltips
from holdfast.targets import THIRDS
from holdfast.text import format_percent, shorten

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart
    from holdfast.study.tables import StudyTables

WIDTH, NARROW, HEIGHT = 430, 230, 190
COLUMNS = ["feature", "group", "time", "survival", "low", "high", "at_risk"]
DASHES = [[1, 0], [6, 3], [2, 2]]


def survival_curves_data(result: "StudyTables", candidate: str, features: Sequence[Any]) -> pd.DataFrame:
    """Return the survival of rows by thirds of features, or by their values where these are two or three.

    Parameters
    ----------
    result : StudyResult
        What a study of survival times found.
    candidate : str
        Name of a candidate.
    features : sequence
        Features that are selected often: curves are stored for these.

    Returns
    -------
    DataFrame
        ``feature``, ``group`` of its values, ``time``, ``survival`` with the ends ``low`` and ``high`` of its 95 %
        interval, and ``at_risk``, how many rows of the group are under observation then. Times end where the smallest
        group has eight rows left; nothing is returned for features without curves.

    See Also
    --------
    plot_survival_curves : Draws them.

    Examples
    --------
    >>> import numpy as np
    >>> import holdfast as hf
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 5))
    >>> y = hf.survival(rng.exponential(np.exp(-X[:, 0])) * 100, np.ones(90))
    >>> result = hf.Study(selectors={"cox": hf.selectors.CoxScore(2)}).run(X, y)
    >>> data = hf.plots.survival_curves_data(result, "cox", [0])
    >>> data.groupby("group", sort=False).first()
                    feature  time  survival  low  high  at_risk
    group
    lowest third          0   0.0       1.0  1.0   1.0       30
    middle third          0   0.0       1.0  1.0   1.0       30
    highest third         0   0.0       1.0  1.0   1.0       30
    """
    curves, names = result.survival_curves(candidate), list(result.feature_names)
    frames = [
        frame_curves(feature, curves[column]) for feature in features if (column := names.index(feature)) in curves
    ]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=COLUMNS)


def frame_curves(feature: Any, curves: NDArray[np.float64]) -> pd.DataFrame:
    """Return what :func:`~holdfast.kernels.survival_curves.curves_by_group` makes of a feature as rows of a table."""
    frames = []
    for third, lines in zip(THIRDS, np.split(curves[1:], len(THIRDS)), strict=True):
        if curves.shape[1] > 1 and np.isfinite(lines[3, 1]):
            value = lines[0, 0]
            facts = dict(zip(COLUMNS[3:6], lines[:3, 1:], strict=True))
            group = third if np.isnan(value) else f"{value:.4g}"
            at_risk = lines[3, 1:].astype(np.int64)
            frames.append(pd.DataFrame({"group": group, "time": curves[0, 1:], **facts, "at_risk": at_risk}))
    frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=COLUMNS[1:])
    frame.insert(0, "feature", feature)
    return frame


def plot_survival_curves(result: "StudyTables", candidate: str, features: Sequence[Any]) -> "AnyChart":
    """Draw Kaplan and Meier's curves by thirds of features, with the numbers of rows at risk below.

    All rows are drawn, also those that selected the features: the picture shows what a hazard ratio means for
    patients, and is no evidence of one.

    Parameters
    ----------
    result : StudyResult
        What a study of survival times found.
    candidate : str
        Name of a candidate.
    features : sequence
        Features that are selected often.

    Returns
    -------
    altair chart
        A panel for each feature.

    See Also
    --------
    survival_curves_data : The numbers.
    holdfast.plots.plot_effects : Hazard ratios on held-out rows, with intervals.

    Examples
    --------
    >>> import numpy as np
    >>> import holdfast as hf
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 5))
    >>> y = hf.survival(rng.exponential(np.exp(-X[:, 0])) * 100, np.ones(90))
    >>> result = hf.Study(selectors={"cox": hf.selectors.CoxScore(2)}).run(X, y)
    >>> print(*hf.plots.plot_survival_curves(result, "cox", [0]).title.text)
    feature 0: at time 46, 93 % of the rows in the lowest third are without the event, 27 % of those in the ...
    """
    return draw_survival_curves(survival_curves_data(result, candidate, features), time=result.data.target or "time")


def draw_survival_curves(data: pd.DataFrame, *, time: str, narrow: bool = False) -> "AnyChart":
    """Draw curves from the data of :func:`survival_curves_data`.

    Parameters
    ----------
    data : DataFrame
        As :func:`survival_curves_data` returns it.
    time : str
        What the times are called: the name of their column.
    narrow : bool
        Whether the picture is for a narrow screen.
    """
    if data.empty:
        return text_chart("There are no curves: quantiles and curves are stored for features that are selected often")
    named = data.assign(feature=[f"feature {name}" if isinstance(name, int) else str(name) for name in data["feature"]])
    panels = [_draw_panel(rows, time, NARROW if narrow else WIDTH) for _, rows in named.groupby("feature", sort=False)]
    columns = 1 if narrow or len(panels) == 1 else 2
    chart: Any = alt.concat(*panels, columns=columns, spacing=28)
    chart = chart.resolve_scale(color="independent", strokeDash="independent")
    notes = [
        "bands: 95 % intervals at each time; below: rows under observation; drawn from all rows, also those that "
        "selected the features: a picture of an effect, no evidence of one"
    ]
    return finish_chart(chart, _finding(named, time), notes, width=columns * (NARROW if narrow else WIDTH) + 60)


def _draw_panel(data: pd.DataFrame, time: str, width: int) -> "AnyChart":
    """Draw the curves of one feature, and below them how many rows are at risk at the ticks of their axis."""
    groups, times, title = data["group"].drop_duplicates().tolist(), np.sort(data["time"].unique()), shorten(time, 40)
    ticks = times[:: -(-times.size // (5 if width < WIDTH else 8))]
    scale = alt.Scale(domain=[0, float(times[-1])], nice=False)
    axis = alt.Axis(values=ticks.tolist(), format=",.12~g")
    color = alt.Color("group:N", title=None, sort=groups, legend=alt.Legend(orient="top"))
    dash = alt.StrokeDash(
        "group:N", sort=groups, scale=alt.Scale(domain=groups, range=DASHES[: len(groups)]), legend=None
    )
    y = alt.Y(
        "survival:Q", title="without the event", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=5)
    )
    base = alt.Chart(inline_data(data)).encode(x=alt.X("time:Q", title=title, scale=scale, axis=axis), color=color)
    tooltip = [
        *tooltips({"group:N": "group"}), *tooltips({"time:Q": title}, ",.12~g"),
        *tooltips({"survival:Q": "without the event", "low:Q": "interval from", "high:Q": "to"}, ".0%"),
        *tooltips({"at_risk:Q": "at risk"}, ",d"),
    ]  # fmt: skip
    heading = alt.TitleParams(shorten(str(data["feature"].iloc[0]), 60), fontSize=12, fontWeight="normal", offset=4)
    curves = alt.layer(
        base.mark_area(opacity=0.13, interpolate="step-after").encode(y="low:Q", y2="high:Q"),
        base.mark_line(strokeWidth=2, interpolate="step-after").encode(y=y, strokeDash=dash),
        base.mark_point(opacity=0, size=60).encode(y=y, tooltip=tooltip),
    ).properties(width=width, height=HEIGHT, title=heading)
    counts = (
        alt.Chart(inline_data(data.loc[data["time"].isin(ticks), ["group", "time", "at_risk"]]))
        .mark_text(fontSize=11)
        .encode(
            x=alt.X("time:Q", scale=scale, axis=None),
            y=name_axis("group:N", padding=18, sort=groups),
            text=alt.Text("at_risk:Q", format=",d"),
            color=color,
        )
        .properties(
            width=width,
            height=16 * len(groups),
            title=alt.TitleParams("at risk", fontSize=11, offset=2, fontWeight="normal"),
        )
    )
    return alt.vconcat(curves, counts, spacing=6)


def _finding(data: pd.DataFrame, time: str) -> str:
    """State how many rows of the first feature's outer groups are without the event at the end."""
    first = data[data["feature"] == data["feature"].iloc[0]]
    last = first.groupby("group", sort=False).last()
    shares = [format_percent(share, 0) for share in last["survival"].iloc[[0, -1]]]
    feature, unit = shorten(str(first["feature"].iloc[0]), 60), f" ({shorten(time, 40)})" if time != "time" else ""
    lowest, highest = (
        f"in the {group}" if group in THIRDS else f"with the value {group}" for group in last.index[[0, -1]]
    )
    return (
        f"{feature}: at time {first['time'].iloc[-1]:,.6g}{unit}, {shares[0]} of the rows {lowest} are without the "
        f"event, {shares[1]} of those {highest}"
    )
