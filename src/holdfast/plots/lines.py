"""Lines with bands: stability against the number of features, a setting or resamples; the terms of mRMR."""

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from holdfast.checks import as_names
from holdfast.inference.designs import RunsByBlock, design_stability
from holdfast.inference.estimate import StabilityEstimate
from holdfast.inference.intervals import check_level
from holdfast.measures import Measure, UndefinedStabilityWarning
from holdfast.plots import sources
from holdfast.plots.text import plain_cell
from holdfast.plots.theme import alt, finish_chart, inline_data, text_chart, tooltips, unit_scale
from holdfast.study.stabilities import DEFAULT_MEASURES
from holdfast.study.tables import StudyTables
from holdfast.text import format_count, format_estimate, format_number, format_percent, shorten

WIDTH, HEIGHT, PANEL_HEIGHT = 460, 260, 150
NARROW = 268
"""Width on a narrow screen."""
MAX_TICKS = 12
MANY_POINTS = 100
"""Number of points of a chart from which they are drawn small."""
LOG_FROM = 30
"""Ratio of the largest to the smallest value from which an axis may be logarithmic."""
DIGITS = ".12~g"
"""How numbers of a setting are written: as they are; without a number of digits, ticks may be rounded to one."""


def setting_scale(values: Any) -> Any:
    """Return the scale of a setting: logarithmic if its values grow by factors, else linear."""
    numbers = np.unique(sources.finite_values(values))
    if numbers.size > 2 and numbers[0] > 0 and numbers[-1] / numbers[0] >= LOG_FROM:
        factors, steps = numbers[1:] / numbers[:-1], np.diff(numbers)
        if factors.max() / factors.min() < steps.max() / steps.min():
            return alt.Scale(type="log", nice=False)
    return alt.Scale(zero=False, nice=False, padding=8)


def setting_axis(values: Any) -> Any:
    """Return the axis of a setting, with a tick at each value if they are few."""
    numbers = np.unique(sources.finite_values(values)).tolist()
    few = {"values": numbers} if len(numbers) <= MAX_TICKS else {"tickMinStep": 1} if numbers[0] >= 1 else {}
    return alt.Axis(format=DIGITS if numbers[-1] < 1e4 else f",{DIGITS}", labelOverlap=True, **few)


def stability_scale(data: pd.DataFrame, *columns: str) -> Any:
    """Return the scale of a stability."""
    return unit_scale(data[list(columns)])


def close_scale(data: pd.DataFrame, *columns: str) -> Any:
    """Return a scale that fits the data closely, for numbers of which small differences matter."""
    ends = sources.finite_values(data[list(columns)].to_numpy())
    margin = max(0.06 * (max(ends) - min(ends)), 0.005 * max(abs(end) for end in ends), 1e-9)
    return alt.Scale(domain=[min(ends) - margin, max(ends) + margin], nice=False, zero=False)


def line_with_band(
    base: "alt.Chart", data: pd.DataFrame, y: Any, by: Any = None, tooltip: Any = ()
) -> "list[alt.Chart]":
    """Return a band from ``low`` to ``high``, the line inside it and its points, small if many, for each color."""
    if by is not None:
        base = base.encode(color=by)
    within = base.transform_filter("isValid(datum.low) && isValid(datum.high)")
    band = within.mark_area(opacity=0.18, line=False).encode(y="low:Q", y2="high:Q")
    return [
        *([band] if data[["low", "high"]].notna().all(axis=1).any() else []),
        base.mark_line(strokeWidth=2).encode(y=y),
        base.mark_point(filled=True, size=45 if len(data) < MANY_POINTS else 8, opacity=1).encode(
            y=y, tooltip=list(tooltip)
        ),
    ]


# Profiles by size


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
    data = sources.typed_table(_profile_columns(profile), {"size": float, "stability": float}, optional)
    if (data["size"] % 1 == 0).all():
        data["size"] = data["size"].astype(int)
    data = data[["selector", "size", "stability", "low", "high", "baseline", "knot"]]
    return data.sort_values(["selector", "size"], kind="stable", ignore_index=True)


def _profile_columns(profile: Any) -> sources.Columns:
    if hasattr(profile, "knots"):
        return _profile_line(profile, profile.name)
    if isinstance(profile, Mapping) and profile and all(hasattr(line, "knots") for line in profile.values()):
        return _together([_profile_line(line, str(name)) for name, line in profile.items()])
    if isinstance(profile, (list, tuple)) and profile and all(hasattr(line, "knots") for line in profile):
        return _together([_profile_line(line, line.name) for line in profile])
    return profile


def _profile_line(profile: Any, name: str) -> pd.DataFrame:
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
    names = sources.show_names(data["selector"])
    several = len(names) > 1
    scale, axis = setting_scale(data["size"]), setting_axis(data["size"])
    base = alt.Chart(inline_data(data.assign(selector=data["selector"].map(names)))).encode(
        x=alt.X("size:Q", title="number of selected features", scale=scale, axis=axis)
    )
    below: dict[str, Any] = {"orient": "bottom", "columns": 1, "labelLimit": 240} if narrow else {}
    legend = alt.Legend(symbolType="circle", **below) if several else None
    by = alt.Color("selector:N", title="selector", legend=legend)
    y = alt.Y("stability:Q", title="stability", scale=stability_scale(data, "stability", "low", "high", "baseline"))
    numbers = {"stability:Q": "stability", "low:Q": "interval from", "high:Q": "to", "baseline:Q": "random selection"}
    sizes = tooltips({"selector:N": "selector"} if several else {}) + tooltips({"size:Q": "features"}, ",")
    layers = [*_baseline(base, data), *line_with_band(base, data, y, by, [*sizes, *tooltips(numbers, ".3f")])]
    layers += _knots(base, several) if data["knot"].any() else []
    width = NARROW if narrow else WIDTH
    chart = alt.layer(*layers).properties(width=width, height=HEIGHT)
    return finish_chart(chart, _profile_finding(data), [_profile_note(data, level)], width=width + 60)


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
        text.encode(text=alt.Text("size:Q", format=","), y=alt.value(0)),
    ]


def _profile_finding(data: pd.DataFrame) -> str:
    single = len(set(data["selector"])) == 1
    knots = data[data["knot"]]
    if single and len(knots):
        size = knots["size"].iloc[0]
        return f"Up to {size:,} features the selection is stable; further ones enter almost at random"
    by_chance = data["baseline"].fillna(0.0).abs().max() > 0.01  # all features are stable by any measure of overlap
    compared = data.assign(above=data["stability"] - data["baseline"].fillna(0.0)) if by_chance else data
    best = sources.largest_row(compared, "above" if by_chance else "stability")
    stability = format_estimate(best["stability"], best["low"], best["high"])
    size = format_count(best["size"], "feature")
    chance = f", {format_number(best['baseline'])} by chance" if by_chance else ""
    if single:
        return f"Stability is highest{' above chance' if by_chance else ''} with {size}: {stability}{chance}"
    most = "farthest above chance" if by_chance else "the most stable"
    return f"{shorten(best['selector'])} with {size} is {most}: {stability}{chance}"


def _profile_note(data: pd.DataFrame, level: float) -> str:
    notes = ["rings: sizes after which features enter almost at random"] if data["knot"].any() else []
    notes += [f"band: {format_percent(level)} interval"] if data["low"].notna().any() else []
    notes += ["dashed: random selection"] if data["baseline"].notna().any() else []
    return "; ".join(notes)


# Effect of a setting

MAX_CHARACTERS = 50
STABILITY, SIZE = "stability", "number selected"
SETTING_COLUMNS = ["line", "candidate", "setting", "quantity", "value", "low", "high"]


def setting_data(
    source: StudyTables | sources.Columns,
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
        What to measure; by default the one for this kind of preference.
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
    asked = None if candidates is None else as_names(candidates, "candidates=")
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
        for name in having:
            alike = (settings[name] | common).items()
            rest = ", ".join(f"{key}={value}" for key, value in alike if key != setting)
            line = f"{source.family(name)} ({rest})" if rest else source.family(name)
            numbers = _quantities(source, name, summary.loc[name], score, level)
            rows += [(line, name, settings[name][setting], *quantity) for quantity in numbers]
    return pd.DataFrame(rows, columns=SETTING_COLUMNS)


def _from_columns(columns: sources.Columns) -> pd.DataFrame:
    optional = {"line": "", "candidate": "", "low": math.nan, "high": math.nan}
    table = sources.typed_table(columns, {"quantity": str, "value": float}, optional)
    frame = pd.DataFrame(columns).reset_index(drop=True)
    if "setting" not in frame.columns:
        raise ValueError("Expected a column named setting, with the values of the setting.")
    table["setting"] = frame["setting"]
    return table[SETTING_COLUMNS]


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
    source: StudyTables | sources.Columns,
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

    Numbers that grow by factors get a logarithmic axis; settings that are not numbers are drawn side by side.

    Parameters
    ----------
    source : StudyResult, or columns
        A study; or a table with the columns returned here (``low`` and ``high`` may be missing).
    setting : str
        Name of the setting, such as ``"C"``, ``"alpha"`` or ``"size"``.
    score : str, optional
        Which score of the study; its first by default.
    measure : str or Measure, optional
        What to measure; by default the one for this kind of preference.
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
        The title; by default where stability and score are highest.
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
    sizes = data[data["quantity"] == SIZE]
    if len(sizes) < len(data) and (sizes["setting"] == sizes["value"]).all():  # they are the setting itself
        data = data.drop(index=sizes.index)
    data, x = _setting_axis(data, setting)
    quantities = list(dict.fromkeys(data["quantity"]))
    panels = [
        _setting_panel(data[data["quantity"] == quantity], quantity, x, lines, last=quantity == quantities[-1])
        for quantity in quantities
    ]
    chart = alt.vconcat(*panels, spacing=14).resolve_scale(x="shared", color="shared")
    finding = title or _setting_finding(data, setting)
    return finish_chart(chart, finding, [_setting_note(data, level)], width=WIDTH + 60)


def _setting_axis(data: pd.DataFrame, setting: str) -> tuple[pd.DataFrame, Any]:
    """Return the data with the setting as numbers, or as texts if some values are not numbers, and its axis."""
    title = shorten(setting)
    values = [plain_cell(value) for value in data["setting"]]
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        numbers = data["setting"].astype(float)
        x = alt.X("setting:Q", title=title, scale=setting_scale(numbers), axis=setting_axis(numbers))
        return data.assign(setting=numbers), x
    names = sources.show_names(map(str, data["setting"]))
    data = data.assign(setting=[names[str(value)] for value in data["setting"]])
    axis = alt.Axis(labelLimit=140, labelAngle=0 if sum(map(len, names)) <= MAX_CHARACTERS else -40)
    return data, alt.X("setting:N", title=title, sort=list(names.values()), axis=axis)


def _setting_panel(data: pd.DataFrame, quantity: str, x: Any, lines: str, *, last: bool) -> "alt.LayerChart":
    scale = stability_scale if quantity == STABILITY else close_scale
    names = sources.show_names(data["line"])
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
        *tooltips({"candidate:N": "candidate"}),
        *tooltips({"value:Q": shorten(quantity, 30), "low:Q": "from", "high:Q": "to"}, ".3f"),
    ]
    return alt.layer(*line_with_band(base, data, y, by, tooltip)).properties(width=WIDTH, height=PANEL_HEIGHT)


def _setting_finding(data: pd.DataFrame, setting: str) -> str:
    best = {quantity: sources.largest_row(rows, "value") for quantity, rows in data.groupby("quantity", sort=False)}
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


def _setting_note(data: pd.DataFrame, level: float) -> str:
    if data["low"].isna().all():
        return ""
    share = format_percent(level)
    size = f"; for the number selected, the range of {share} of the resamples" if SIZE in set(data["quantity"]) else ""
    return f"bands: {share} intervals{size}"


# Convergence

MAX_POINTS = 40


def convergence_data(
    source: sources.Source,
    candidate: str | None = None,
    measure: str | Measure | None = None,
    *,
    level: float = 0.95,
    step: int | None = None,
    **parameters: Any,
) -> pd.DataFrame:
    """Return the stability and its interval after the first 5, 10, 15, … resamples.

    Parameters
    ----------
    source : Preferences, 0/1 matrix, or StudyResult
        Preferences of each resample.
    candidate : str, optional
        Which candidate of a study; the only one by default.
    measure : str or Measure, optional
        What to measure; by default the one for this kind of preference.
    level : float
        Level of the intervals.
    step : int, optional
        Number of resamples from one point to the next; 5 by default, more if there were over 40 points.
    **parameters
        As for :func:`holdfast.stability`.

    Returns
    -------
    DataFrame
        ``n_runs``, ``stability``, ``low``, ``high``, and ``reason`` why one of them is undefined.

    See Also
    --------
    plot_convergence : Draws them.

    Examples
    --------
    >>> from holdfast import plots
    >>> from holdfast.datasets import load_example
    >>> plots.convergence_data(load_example().top(10)).drop(columns="reason").round(2)
       n_runs  stability   low  high
    0       5       0.84  0.23  1.00
    1      10       0.87  0.49  0.96
    2      15       0.87  0.60  0.93
    3      20       0.87  0.67  0.92
    """
    check_level(level)
    runs_by_block = sources.find_runs_by_block(source, candidate)
    measure = measure or DEFAULT_MEASURES[runs_by_block.runs.kind]
    rows = []
    for n_runs in _counts(runs_by_block.runs.n_runs, step):
        estimate = _first_estimate(runs_by_block, n_runs, measure, parameters)
        rows.append((n_runs, estimate.value, *estimate.ci(level), estimate.note))
    return pd.DataFrame(rows, columns=["n_runs", "stability", "low", "high", "reason"])


def _counts(n_runs: int, step: int | None) -> list[int]:
    """Return the numbers of resamples to measure after; the last is that of all."""
    if step is None:
        step = 5 * max(1, math.ceil(n_runs / (5 * MAX_POINTS)))
    if step < 1:
        raise ValueError(f"Expected step to be a number of resamples, got {step}.")
    counts = list(range(step, n_runs + 1, step))
    return counts if counts and counts[-1] == n_runs else [*counts, n_runs]


def _first_estimate(
    runs_by_block: RunsByBlock, n_runs: int, measure: str | Measure, parameters: dict[str, Any]
) -> StabilityEstimate:
    """Return the estimate from the first resamples alone."""
    first = replace(
        runs_by_block,
        runs=runs_by_block.runs.take(range(n_runs)),
        blocks=list(runs_by_block.blocks)[:n_runs],
        fractions=list(runs_by_block.fractions)[:n_runs],
    )
    with warnings.catch_warnings(action="ignore", category=UndefinedStabilityWarning):
        return design_stability(first, measure, **parameters)


def plot_convergence(
    source: sources.Source,
    candidate: str | None = None,
    measure: str | Measure | None = None,
    *,
    level: float = 0.95,
    step: int | None = None,
    **parameters: Any,
) -> "alt.LayerChart":
    """Draw how the stability and its interval settle as resamples are added.

    It shows what more resamples would bring. Stopping as soon as the interval looks narrow enough would lose its
    coverage; :func:`holdfast.runs_needed` plans the number.

    Parameters
    ----------
    source : Preferences, 0/1 matrix, or StudyResult
        Preferences of each resample.
    candidate : str, optional
        Which candidate of a study; the only one by default.
    measure : str or Measure, optional
        What to measure; by default the one for this kind of preference.
    level : float
        Level of the intervals.
    step : int, optional
        Number of resamples from one point to the next; 5 by default, more if there were over 40 points.
    **parameters
        As for :func:`holdfast.stability`.

    Returns
    -------
    altair.LayerChart
        The chart: a notebook shows it, :func:`save` writes it to a file.

    See Also
    --------
    convergence_data : The numbers behind it.

    Examples
    --------
    >>> from holdfast import plots
    >>> from holdfast.datasets import load_example
    >>> print(*plots.plot_convergence(load_example().top(10)).title.text)
    After 20 resamples the stability is 0.87 [0.67, 0.92]; after 5 the interval was 3.0 times as wide
    """
    data = convergence_data(source, candidate, measure, level=level, step=step, **parameters)
    return draw_convergence(data, level=level)


def draw_convergence(data: pd.DataFrame, *, level: float) -> "alt.LayerChart":
    """Draw how the stability settles from the data of :func:`convergence_data`; ``level`` is for the text."""
    last = data.iloc[-1]
    if data["stability"].isna().all():
        count = format_count(last["n_runs"], "resample")
        return text_chart(f"The stability is undefined after {count}", str(last["reason"]))
    axis = alt.Axis(tickMinStep=1, format=",d")
    base = alt.Chart(inline_data(data)).encode(
        x=alt.X("n_runs:Q", title="number of resamples", scale=alt.Scale(zero=True), axis=axis)
    )
    y = alt.Y("stability:Q", title="stability", scale=close_scale(data, "stability", "low", "high"))
    tooltip = [
        *tooltips({"n_runs:Q": "resamples"}, ",d"),
        *tooltips({"stability:Q": "stability", "low:Q": "interval from", "high:Q": "to"}, ".3f"),
        *tooltips({"reason:N": "note"}),
    ]
    final = alt.Chart(inline_data(data.tail(1))).mark_rule(strokeDash=[5, 4], opacity=0.6).encode(y="stability:Q")
    layers = [final, *line_with_band(base, data, y, tooltip=tooltip)]
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    return finish_chart(chart, _convergence_finding(data), _convergence_notes(data, level), width=WIDTH + 60)


def _convergence_finding(data: pd.DataFrame) -> str:
    last = data.iloc[-1]
    stability = format_estimate(last["stability"], last["low"], last["high"])
    finding = f"After {format_count(last['n_runs'], 'resample')} the stability is {stability}"
    first = data[data["low"].notna() & (data["n_runs"] < last["n_runs"])].head(1)
    if first.empty or math.isnan(last["low"]) or last["high"] == last["low"]:
        return finding
    ratio = float((first["high"] - first["low"]).iloc[0] / (last["high"] - last["low"]))
    return f"{finding}; after {first['n_runs'].iloc[0]} the interval was {ratio:.1f} times as wide"


def _convergence_notes(data: pd.DataFrame, level: float) -> list[str]:
    band = f"band: {format_percent(level)} interval; " if data["low"].notna().any() else ""
    undefined = data["stability"].isna()
    gaps = [f"gaps: {data['reason'][undefined].iloc[0]}"] if undefined.any() else []
    return [f"{band}dashed: the value after all resamples", *gaps]


# Terms of mRMR

TERMS = {"relevance": "V", "redundancy": "W", "difference": "V − W", "quotient": "V / W"}
PANELS = {"V and W": ("V", "W"), "V − W": ("V − W",), "V / W": ("V / W",)}


def mrmr_terms_data(terms: sources.Columns) -> pd.DataFrame:
    """Return mean and standard deviation of relevance, redundancy and the criteria of mRMR at each step.

    Parameters
    ----------
    terms : DataFrame, or mapping from name to column
        What :func:`holdfast.selectors.mrmr_terms` returns: ``step``, ``relevance``, ``redundancy``, ``difference`` and
        ``quotient``, for each resample.

    Returns
    -------
    DataFrame
        ``quantity`` (V, W, V − W, V / W), ``step``, ``mean``, ``sd`` (over resamples), ``low`` and ``high`` (one
        standard deviation around the mean) and ``resamples``. A quotient that is infinite in a resample (no
        redundancy) is left out there and not counted, and V / W at the first step has no row.

    See Also
    --------
    plot_mrmr_terms : Draws them.

    Examples
    --------
    >>> from holdfast import plots
    >>> terms = {"step": [2, 2], "relevance": [0.3, 0.5], "redundancy": [0.1, 0.2], "difference": [0.2, 0.3]}
    >>> plots.mrmr_terms_data({**terms, "quotient": [3, 2.5]}).round(2)
      quantity  step  mean    sd   low  high  resamples
    0        V     2  0.40  0.14  0.26  0.54          2
    1        W     2  0.15  0.07  0.08  0.22          2
    2    V − W     2  0.25  0.07  0.18  0.32          2
    3    V / W     2  2.75  0.35  2.40  3.10          2
    """
    table = sources.typed_table(terms, {"step": float, **dict.fromkeys(TERMS, float)}, {}).astype({"step": int})
    long = table.melt("step", list(TERMS), var_name="quantity").assign(
        quantity=lambda rows: rows["quantity"].map(TERMS)
    )
    known = long[np.isfinite(long["value"])]
    groups = known.groupby(["quantity", "step"], sort=False)["value"].agg(["mean", "std", "size"]).reset_index()
    data = groups.rename(columns={"std": "sd", "size": "resamples"})
    data = data.assign(low=data["mean"] - data["sd"], high=data["mean"] + data["sd"])
    return data[["quantity", "step", "mean", "sd", "low", "high", "resamples"]]


def plot_mrmr_terms(terms: sources.Columns) -> "alt.VConcatChart | alt.LayerChart":
    """Draw relevance V, redundancy W, V − W and V / W at each step, with one standard deviation over resamples.

    Parameters
    ----------
    terms : DataFrame, or mapping from name to column
        As for :func:`mrmr_terms_data`.

    Returns
    -------
    altair.VConcatChart or altair.LayerChart
        The chart: a notebook shows it, :func:`save` writes it to a file.

    See Also
    --------
    mrmr_terms_data : The numbers behind it.

    Examples
    --------
    >>> from holdfast import plots
    >>> terms = {"step": [2, 2], "relevance": [0.3, 0.5], "redundancy": [0.1, 0.2], "difference": [0.2, 0.3]}
    >>> print(*plots.plot_mrmr_terms({**terms, "quotient": [3, 2.5]}).title.text)
    Over 2 resamples V / W varies more than V − W: standard deviation 0.35 against 0.071 (median over steps)
    """
    return draw_mrmr_terms(mrmr_terms_data(terms))


def draw_mrmr_terms(data: pd.DataFrame) -> "alt.VConcatChart | alt.LayerChart":
    """Draw the terms of mRMR from the data of :func:`mrmr_terms_data`."""
    if data.empty:
        return text_chart("There is no step to show")
    parts = {title: data[data["quantity"].isin(quantities)] for title, quantities in PANELS.items()}
    shown = {title: rows for title, rows in parts.items() if len(rows)}
    panels = [_terms_panel(rows, title, last=title == list(shown)[-1]) for title, rows in shown.items()]
    chart = alt.vconcat(*panels, spacing=14).resolve_scale(x="shared", color="shared")
    return finish_chart(chart, _terms_finding(data), ["bands: one standard deviation over resamples"], width=WIDTH + 60)


def _terms_panel(data: pd.DataFrame, title: str, *, last: bool) -> "alt.LayerChart":
    x = alt.X(
        "step:Q", title="number of selected features" if last else None, axis=setting_axis(data["step"]),
        scale=alt.Scale(zero=False, nice=False, padding=8),
    )  # fmt: skip
    y = alt.Y("mean:Q", title=title, scale=close_scale(data, "low", "high"), axis=alt.Axis(tickCount=4))
    by = alt.Color("quantity:N", title=None, sort=list(TERMS.values()), legend=alt.Legend(symbolType="circle"))
    tooltip = [
        *tooltips({"quantity:N": "of", "step:Q": "features"}),
        alt.Tooltip("mean:Q", format=".3f"),
        *tooltips({"sd:Q": "standard deviation"}, ".3f"),
        alt.Tooltip("resamples:Q"),
    ]
    base = alt.Chart(inline_data(data)).encode(x=x)
    return alt.layer(*line_with_band(base, data, y, by, tooltip)).properties(width=WIDTH, height=PANEL_HEIGHT)


def _terms_finding(data: pd.DataFrame) -> str:
    """Compare the spread of the two criteria at the steps that both have."""
    by_step = data.pivot_table(index="step", columns="quantity", values="sd")
    resamples = format_count(int(data["resamples"].max()), "resample")
    if not {"V − W", "V / W"} <= set(by_step) or by_step[["V − W", "V / W"]].dropna().empty:
        return f"Relevance and redundancy over {resamples}"
    difference, quotient = by_step[["V − W", "V / W"]].dropna().median()
    more, less = ("V / W", "V − W") if quotient > difference else ("V − W", "V / W")
    high, low = max(difference, quotient), min(difference, quotient)
    numbers = f"standard deviation {high:.2g} against {low:.2g} (median over steps)"
    return f"Over {resamples} {more} varies more than {less}: {numbers}"
