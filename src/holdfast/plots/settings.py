"""Effect of one setting: stability, score and number of selected features against it."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from holdfast.inference.intervals import check_level
from holdfast.measures import Measure
from holdfast.plots.lines import close_scale, line_with_band, setting_axis, setting_scale, stability_scale
from holdfast.plots.sources import Columns, largest_row, typed_table
from holdfast.plots.text import display_names, format_estimate, format_number, format_percent, plain_cell, shorten
from holdfast.plots.theme import altair, finish_chart, inline_data, text_chart
from holdfast.study.tables import StudyTables

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT = 460, 150
MOST_CHARACTERS = 50
STABILITY, SIZE = "stability", "number selected"
COLUMNS = ["line", "candidate", "setting", "quantity", "value", "low", "high"]


def setting_data(
    source: StudyTables | Columns,
    setting: str,
    *,
    score: str | None = None,
    measure: str | Measure | None = None,
    fraction: float | Sequence[float] | None = None,
    candidates: Iterable[str] | None = None,
    level: float = 0.95,
    **parameters: Any,
) -> pd.DataFrame:
    """Return stability, score and number of selected features of every candidate that has a setting.

    Parameters
    ----------
    source : StudyResult, or columns
        A study; or a table with the columns returned here (``low`` and ``high`` may be missing).
    setting : str
        Name of the setting, such as ``"C"``, ``"alpha"`` or ``"size"``.
    score : str, optional
        Which score of the study; its first by default.
    measure : str or Measure, optional
        What to measure; the usual one by default.
    fraction : float or sequence of float, optional
        Of nested subsamples, the size that stability and score are of; several make a line of each. By default both
        are means over all smaller sizes.
    candidates : iterable of str, optional
        Names of candidates; all that have the setting by default.
    level : float
        Level of the intervals. For the number of selected features, the range of that share of the resamples.
    **parameters
        As for :meth:`StudyResult.stability`.

    Returns
    -------
    DataFrame
        ``line`` (the family, what else its candidates set, and the fraction if there are several), ``candidate``,
        ``setting`` (the value), ``quantity`` (stability, the score's name, number selected), ``value``, ``low`` and
        ``high``.

    Raises
    ------
    ValueError
        If no candidate has the setting, or the study has no such score.

    See Also
    --------
    plot_setting : Draws them.

    Examples
    --------
    >>> from holdfast import plots
    >>> table = {"setting": [0.1, 1], "quantity": ["stability"] * 2, "value": [0.8, 0.6]}
    >>> plots.setting_data(table, "C")
      line candidate  setting   quantity  value  low  high
    0                     0.1  stability    0.8  NaN   NaN
    1                     1.0  stability    0.6  NaN   NaN
    """
    if not isinstance(source, StudyTables):
        return _from_columns(source)
    check_level(level)
    settings = {name: source.settings(name) for name in source.candidates}
    asked = None if candidates is None else [str(name) for name in candidates]
    having = [name for name in (settings if asked is None else asked) if setting in source.settings(name)]
    if not having:
        known = sorted({key for values in settings.values() for key in values})
        raise ValueError(f"Expected a setting of the candidates ({', '.join(known) or 'none'}), got {setting!r}.")
    if score is not None and score not in source.metrics:
        raise ValueError(f"Expected one of the scores {', '.join(source.metrics) or '(none)'}, got {score!r}.")
    score = score or next(iter(source.metrics), None)
    rows = []
    for size in fraction if isinstance(fraction, Sequence) else [fraction]:
        summary = source.summary(measure, fraction=size, level=level, candidates=asked, **parameters)
        common = {"fraction": size} if isinstance(fraction, Sequence) else {}
        rows += [
            (_line(source.family(name), settings[name] | common, setting), name, settings[name][setting], *numbers)
            for name in having
            for numbers in _quantities(source, name, summary.loc[name], score, level)
        ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _from_columns(columns: Columns) -> pd.DataFrame:
    optional = {"line": "", "candidate": "", "low": math.nan, "high": math.nan}
    table = typed_table(columns, {"quantity": str, "value": float}, optional)
    frame = pd.DataFrame(columns).reset_index(drop=True)
    if "setting" not in frame.columns:
        raise ValueError("Expected a column named setting, with the values of the setting.")
    table["setting"] = frame["setting"]
    return table[COLUMNS]


def _line(family: str, settings: dict[str, Any], setting: str) -> str:
    """Return what the candidates of one line have in common."""
    rest = ", ".join(f"{name}={value}" for name, value in settings.items() if name != setting)
    return f"{family} ({rest})" if rest else family


def _quantities(
    result: StudyTables, name: str, row: Any, score: str | None, level: float
) -> Iterator[tuple[str, float, float, float]]:
    yield STABILITY, row["stability"], row["low"], row["high"]
    if score is not None:
        reach = ndtri((1 + level) / 2) * row[f"{score}_se"]
        yield score, row[score], row[score] - reach, row[score] + reach
    if name in result.kinds and not math.isnan(row["size"]):
        sizes = result.preferences(name).sizes
        low, high = np.quantile(sizes, [(1 - level) / 2, (1 + level) / 2])
        yield SIZE, float(sizes.mean()), float(low), float(high)


def plot_setting(
    source: StudyTables | Columns,
    setting: str,
    *,
    score: str | None = None,
    measure: str | Measure | None = None,
    fraction: float | Sequence[float] | None = None,
    candidates: Iterable[str] | None = None,
    level: float = 0.95,
    lines: str = "selector",
    title: str | None = None,
    **parameters: Any,
) -> "alt.VConcatChart | alt.LayerChart":
    """Draw stability, score and number of selected features against a setting.

    Numbers that grow by factors get a logarithmic axis; settings that are not numbers stand side by side.

    Parameters
    ----------
    source : StudyResult, or columns
        A study; or a table with the columns returned here (``low`` and ``high`` may be missing).
    setting : str
        Name of the setting, such as ``"C"``, ``"alpha"`` or ``"size"``.
    score : str, optional
        Which score of the study; its first by default.
    measure : str or Measure, optional
        What to measure; the usual one by default.
    fraction : float or sequence of float, optional
        Of nested subsamples, the size that stability and score are of; several make a line of each. By default both
        are means over all smaller sizes.
    candidates : iterable of str, optional
        Names of candidates; all that have the setting by default.
    level : float
        Level of the intervals. For the number of selected features, the range of that share of the resamples.
    lines : str
        What the lines are, if they are no selectors: the title of the legend.
    title : str, optional
        A finding of your own; by default where stability and score are highest.
    **parameters
        As for :meth:`StudyResult.stability`.

    Returns
    -------
    altair.VConcatChart or altair.LayerChart
        The chart: a notebook shows it, :func:`save` writes it to a file.

    See Also
    --------
    setting_data : The numbers behind it.

    Examples
    --------
    >>> from holdfast import plots
    >>> table = {"setting": [0.1, 1], "quantity": ["stability"] * 2, "value": [0.8, 0.6]}
    >>> print(*plots.plot_setting(table, "C").title.text)
    Stability is highest at C = 0.1: 0.80
    """
    data = setting_data(
        source, setting, score=score, measure=measure, fraction=fraction, candidates=candidates, level=level,
        **parameters,
    )  # fmt: skip
    return draw_setting(data, setting, level=level, lines=lines, title=title)


def draw_setting(
    data: pd.DataFrame, setting: str, *, level: float, lines: str = "selector", title: str | None = None
) -> "alt.VConcatChart | alt.LayerChart":
    """Draw the effect of a setting from the data of :func:`setting_data`; all else is for the text."""
    data = data.dropna(subset="value")
    if data.empty:
        return text_chart(f"Nothing is known for any value of {shorten(setting)}")
    alt = altair()
    data, x = _setting_axis(_without_sizes_set(data), setting)
    quantities = list(dict.fromkeys(data["quantity"]))
    panels = [
        _panel(data[data["quantity"] == quantity], quantity, x, lines, last=quantity == quantities[-1])
        for quantity in quantities
    ]
    chart = alt.vconcat(*panels, spacing=14).resolve_scale(x="shared", color="shared")
    finding = title or _finding(data, setting)
    return finish_chart(chart, finding, [_note(data, level)], width=WIDTH + 60)


def _without_sizes_set(data: pd.DataFrame) -> pd.DataFrame:
    """Leave out the number of selected features where it is the setting itself."""
    sizes = data[data["quantity"] == SIZE]
    is_setting = len(sizes) < len(data) and (sizes["setting"] == sizes["value"]).all()
    return data.drop(index=sizes.index) if is_setting else data


def _setting_axis(data: pd.DataFrame, setting: str) -> tuple[pd.DataFrame, Any]:
    """Return the data with the setting as numbers, or as texts if some values are not numbers, and its axis."""
    alt, title = altair(), shorten(setting)
    values = [plain_cell(value) for value in data["setting"]]
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        numbers = data["setting"].astype(float)
        x = alt.X("setting:Q", title=title, scale=setting_scale(numbers), axis=setting_axis(numbers))
        return data.assign(setting=numbers), x
    texts = dict.fromkeys(str(value) for value in data["setting"])
    names = dict(zip(texts, display_names(texts), strict=True))
    data = data.assign(setting=[names[str(value)] for value in data["setting"]])
    axis = alt.Axis(labelLimit=140, labelAngle=0 if sum(map(len, names)) <= MOST_CHARACTERS else -40)
    return data, alt.X("setting:N", title=title, sort=list(names.values()), axis=axis)


def _panel(data: pd.DataFrame, quantity: str, x: Any, lines: str, *, last: bool) -> "alt.LayerChart":
    alt = altair()
    scale = stability_scale if quantity == STABILITY else close_scale
    names = dict(zip(data["line"].unique(), display_names(data["line"].unique()), strict=True))
    y = alt.Y(
        "value:Q", title=shorten(quantity, 30), scale=scale(data, "value", "low", "high"), axis=alt.Axis(tickCount=4)
    )
    if not last:
        x = x.copy()
        x.title = None
    base = alt.Chart(inline_data(data.assign(line=data["line"].map(names)))).encode(x=x)
    legend = alt.Legend(symbolType="circle") if len(names) > 1 else None
    by = alt.Color("line:N", title=shorten(lines), sort=list(names.values()), legend=legend)
    tooltip = [
        alt.Tooltip("candidate:N", title="candidate"),
        alt.Tooltip("value:Q", title=shorten(quantity, 30), format=".3f"),
        alt.Tooltip("low:Q", title="from", format=".3f"),
        alt.Tooltip("high:Q", title="to", format=".3f"),
    ]
    return alt.layer(*line_with_band(base, data, y, by, tooltip)).properties(width=WIDTH, height=HEIGHT)


def _finding(data: pd.DataFrame, setting: str) -> str:
    best = {quantity: largest_row(rows, "value") for quantity, rows in data.groupby("quantity", sort=False)}
    score = next((quantity for quantity in best if quantity not in (STABILITY, SIZE)), None)
    if STABILITY not in best:
        return f"{', '.join(shorten(quantity) for quantity in best)} by {shorten(setting)}"
    stable = best[STABILITY]
    finding = f"Stability is highest at {_where(stable, data, setting)}: "
    finding += format_estimate(stable["value"], stable["low"], stable["high"])
    if score is None:
        return finding
    highest = format_number(best[score]["value"])
    return f"{finding}; {shorten(score)} at {_where(best[score], data, setting)}: {highest}"


def _where(row: "pd.Series[Any]", data: pd.DataFrame, setting: str) -> str:
    value = row["setting"]
    parameter = setting.rsplit("__", 1)[-1]  # in a pipeline, the name in the step itself
    text = f"{shorten(parameter, 20)} = {value if isinstance(value, str) else f'{value:.4g}'}"
    return text if len(set(data["line"])) == 1 else f"{text} ({shorten(row['line'], 30)})"


def _note(data: pd.DataFrame, level: float) -> str:
    if data["low"].isna().all():
        return ""
    share = format_percent(level)
    size = f"; for the number selected, the range of {share} of the resamples" if SIZE in set(data["quantity"]) else ""
    return f"bands: {share} intervals{size}"
