"""What one setting does: stability, score and number of selected features against it."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from holdfast.inference.intervals import check_level
from holdfast.measures import Measure
from holdfast.plots.lines import along, banded, near, stops, whole
from holdfast.plots.sources import Columns, largest, table_of
from holdfast.plots.text import number, percent, plain, short, shown, told
from holdfast.plots.theme import altair, finished, inline, sentence
from holdfast.study import StudyResult

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT = 460, 150
MOST_LETTERS = 50
STABILITY, SIZE = "stability", "number selected"


def setting_data(
    source: StudyResult | Columns,
    setting: str,
    *,
    score: str | None = None,
    measure: str | Measure | None = None,
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
    measure, **parameters
        What to measure (see :meth:`StudyResult.stability`).
    level : float
        Level of the intervals. For the number of selected features they hold that share of the runs.

    Returns
    -------
    DataFrame
        ``line`` (the family, and what else its candidates set), ``candidate``, ``setting`` (the value), ``quantity``
        (stability, the score's name, number selected), ``value``, ``low`` and ``high``.

    Examples
    --------
    >>> from holdfast import plots
    >>> table = {"setting": [0.1, 1], "quantity": ["stability"] * 2, "value": [0.8, 0.6]}
    >>> plots.setting_data(table, "C")
      line candidate  setting   quantity  value  low  high
    0                     0.1  stability    0.8  NaN   NaN
    1                     1.0  stability    0.6  NaN   NaN
    """
    if not isinstance(source, StudyResult):
        optional = {"line": "", "candidate": "", "low": math.nan, "high": math.nan}
        table = table_of(source, {"quantity": str, "value": float}, optional)
        given = pd.DataFrame(source).reset_index(drop=True)
        if "setting" not in given.columns:
            raise ValueError("Expected a column named setting with its values, got none.")
        table["setting"] = given["setting"]
        return table[["line", "candidate", "setting", "quantity", "value", "low", "high"]]
    check_level(level)
    settings = {name: source.settings(name) for name in source.candidates}
    having = [name for name in source.candidates if setting in settings[name]]
    if not having:
        known = sorted({key for one in settings.values() for key in one})
        raise ValueError(f"Expected a setting of the candidates ({', '.join(known) or 'none'}), got {setting!r}.")
    name_of_score = score or (source.metrics[0] if source.metrics else "")
    if score is not None and score not in source.metrics:
        raise ValueError(f"Expected one of the scores {', '.join(source.metrics) or '(none)'}, got {score!r}.")
    summary = source.summary(measure, level=level, **parameters)
    rows = [
        (_line(summary["family"][name], settings[name], setting), name, settings[name][setting], *numbers)
        for name in having
        for numbers in _quantities(source, name, summary.loc[name], name_of_score, level)
    ]
    return pd.DataFrame(rows, columns=["line", "candidate", "setting", "quantity", "value", "low", "high"])


def _line(family: str, settings: dict[str, Any], setting: str) -> str:
    """What the candidates of one line have in common."""
    rest = ", ".join(f"{name}={value}" for name, value in settings.items() if name != setting)
    return f"{family} ({rest})" if rest else family


def _quantities(
    result: StudyResult, name: str, row: Any, score: str, level: float
) -> Iterator[tuple[str, float, float, float]]:
    yield STABILITY, row["stability"], row["low"], row["high"]
    if score:
        reach = ndtri((1 + level) / 2) * row[f"{score}_se"]
        yield score, row[score], row[score] - reach, row[score] + reach
    if name in result.kinds and not math.isnan(row["size"]):
        sizes = result.preferences(name).sizes
        low, high = np.quantile(sizes, [(1 - level) / 2, (1 + level) / 2])
        yield SIZE, float(sizes.mean()), float(low), float(high)


def plot_setting(
    source: StudyResult | Columns,
    setting: str,
    *,
    score: str | None = None,
    measure: str | Measure | None = None,
    level: float = 0.95,
    **parameters: Any,
) -> "alt.VConcatChart | alt.LayerChart":
    """Draw stability, score and number of selected features against a setting; parameters as for :func:`setting_data`.

    Numbers that grow by factors stand on a logarithmic axis; settings that are no numbers stand side by side.

    Examples
    --------
    >>> from holdfast import plots
    >>> table = {"setting": [0.1, 1], "quantity": ["stability"] * 2, "value": [0.8, 0.6]}
    >>> print(*plots.plot_setting(table, "C").title.text)
    Stability is highest at C = 0.1: 0.80
    """
    data = setting_data(source, setting, score=score, measure=measure, level=level, **parameters)
    drawn = data.dropna(subset="value")
    if drawn.empty:
        return sentence(f"Nothing is known for any value of {short(setting)}")
    alt = altair()
    drawn, x = _placed(drawn, setting)
    quantities = list(dict.fromkeys(drawn["quantity"]))
    panels = [
        _panel(drawn[drawn["quantity"] == quantity], quantity, x, last=quantity == quantities[-1])
        for quantity in quantities
    ]
    chart = alt.vconcat(*panels, spacing=14).resolve_scale(x="shared", color="shared")
    return finished(chart, _finding(drawn, setting), [_note(quantities, level)], width=WIDTH + 60)


def _placed(data: pd.DataFrame, setting: str) -> tuple[pd.DataFrame, Any]:
    """The data with values of the setting as numbers, or as texts if some are none; and the axis for them."""
    alt, title = altair(), short(setting)
    if all(isinstance(plain(value), (int, float)) and not isinstance(plain(value), bool) for value in data["setting"]):
        data = data.assign(setting=data["setting"].astype(float))
        return data, alt.X("setting:Q", title=title, scale=along(data["setting"]), axis=stops(data["setting"]))
    texts = dict.fromkeys(str(value) for value in data["setting"])
    names = dict(zip(texts, shown(texts), strict=True))
    data = data.assign(setting=[names[str(value)] for value in data["setting"]])
    axis = alt.Axis(labelLimit=140, labelAngle=0 if sum(map(len, names)) <= MOST_LETTERS else -40)
    return data, alt.X("setting:N", title=title, sort=list(names.values()), axis=axis)


def _panel(data: pd.DataFrame, quantity: str, x: Any, *, last: bool) -> "alt.LayerChart":
    alt = altair()
    scale = whole if quantity == STABILITY else near
    names = dict(zip(data["line"].unique(), shown(data["line"].unique()), strict=True))
    y = alt.Y(
        "value:Q", title=short(quantity, 30), scale=scale(data, "value", "low", "high"), axis=alt.Axis(tickCount=4)
    )
    if not last:
        x = x.copy()
        x.title = None
    base = alt.Chart(inline(data.assign(line=data["line"].map(names)))).encode(x=x)
    by = alt.Color("line:N", title="selector", legend=alt.Legend(symbolType="circle") if len(names) > 1 else None)
    tooltip = [
        alt.Tooltip("candidate:N", title="candidate"),
        alt.Tooltip("value:Q", title=short(quantity, 30), format=".3f"),
        alt.Tooltip("low:Q", title="from", format=".3f"),
        alt.Tooltip("high:Q", title="to", format=".3f"),
    ]
    return alt.layer(*banded(base, data, y, by, tooltip)).properties(width=WIDTH, height=HEIGHT)


def _finding(data: pd.DataFrame, setting: str) -> str:
    best = {quantity: largest(rows, "value") for quantity, rows in data.groupby("quantity", sort=False)}
    score = next((quantity for quantity in best if quantity not in (STABILITY, SIZE)), None)
    if STABILITY not in best:
        return f"{', '.join(short(quantity) for quantity in best)} by {short(setting)}"
    steady = best[STABILITY]
    finding = f"Stability is highest at {_where(steady, data, setting)}: "
    finding += told(steady["value"], steady["low"], steady["high"])
    if score is None:
        return finding
    return f"{finding}; {short(score)} at {_where(best[score], data, setting)}: {number(best[score]['value'])}"


def _where(row: "pd.Series[Any]", data: pd.DataFrame, setting: str) -> str:
    value = row["setting"]
    spoken = setting.rsplit("__", 1)[-1]  # in a pipeline, what the step itself calls it
    text = f"{short(spoken, 20)} = {value if isinstance(value, str) else f'{value:.4g}'}"
    return text if len(set(data["line"])) == 1 else f"{text} ({short(row['line'], 30)})"


def _note(quantities: list[str], level: float) -> str:
    size = f"; of the number selected: {percent(level)} of the runs" if SIZE in quantities else ""
    return f"bands: {percent(level)} intervals{size}"
