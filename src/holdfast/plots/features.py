"""Features one by one: how often each was selected, its effect, its relevance, and whether a new study finds it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.inference.features import feature_table
from holdfast.plots.sources import Source, find_subsets, show_names
from holdfast.plots.theme import alt, color_and_shape, finish_chart, inline_data, name_axis, text_chart, tooltips
from holdfast.targets import EFFECTS
from holdfast.text import display_names, format_count, format_percent, shorten

if TYPE_CHECKING:
    from holdfast.replication import Replicability
    from holdfast.tradeoff.final import Recovery


WIDTH = 420


def _check_most(most: int) -> None:
    if most < 1:
        raise ValueError(f"Expected most to be a number of features to show, got {most}.")


def _with_names(data: pd.DataFrame) -> pd.DataFrame:
    """Return a table of features with their exact names as texts, and as they are shown (``name``)."""
    return data.assign(feature=data["feature"].astype(str), name=display_names(data["feature"]))


# Selection frequencies


def frequency_data(
    source: Source, candidate: str | None = None, *, level: float = 0.95, most: int = 30
) -> pd.DataFrame:
    """Return the selection frequencies of the most frequent features.

    Parameters
    ----------
    source : Preferences of subsets, 0/1 matrix, or StudyResult
        What each resample selected.
    candidate : str, optional
        Which candidate of a study; the only one by default.
    level : float
        Level of the intervals.
    most : int
        Number of features to return.

    Returns
    -------
    DataFrame
        The most frequent first: ``feature``, ``count``, ``frequency``, ``low``, ``high``.

    Raises
    ------
    ValueError
        If ``most`` is below 1.

    See Also
    --------
    plot_frequencies : Draws them.

    Examples
    --------
    >>> from holdfast import plots
    >>> from holdfast.datasets import load_example
    >>> plots.frequency_data(load_example().top(10), most=12).tail(3).round(2)
                feature  count  frequency   low  high
    9        area_error     12       0.60  0.36  0.81
    10  worst_concavity      9       0.45  0.23  0.68
    11  perimeter_error      2       0.10  0.00  0.32
    """
    _check_most(most)
    table = feature_table(find_subsets(source, candidate).runs, level=level)
    return table.drop(columns="variance_share").head(most)


def plot_frequencies(
    source: Source, candidate: str | None = None, *, level: float = 0.95, most: int = 30
) -> "alt.LayerChart":
    """Draw how often each feature was selected, with its interval.

    Parameters
    ----------
    source : Preferences of subsets, 0/1 matrix, or StudyResult
        What each resample selected.
    candidate : str, optional
        Which candidate of a study; the only one by default.
    level : float
        Level of the intervals.
    most : int
        Number of features to return.

    Returns
    -------
    altair.LayerChart
        The chart: a notebook shows it, :func:`save` writes it to a file.

    See Also
    --------
    frequency_data : The numbers behind it.

    Examples
    --------
    >>> from holdfast import plots
    >>> from holdfast.datasets import load_example
    >>> print(*plots.plot_frequencies(load_example().top(10)).title.text)
    7 of 30 features were selected in every resample, 10 in at least half of 20 resamples
    """
    runs = find_subsets(source, candidate).runs
    data = frequency_data(source, candidate, level=level, most=most)
    return draw_frequencies(data, runs.counts, n_runs=runs.n_runs, level=level)


def draw_frequencies(data: pd.DataFrame, counts: NDArray[np.int64], *, n_runs: int, level: float) -> "alt.LayerChart":
    """Draw selection frequencies from the data of :func:`frequency_data`.

    Parameters
    ----------
    data : DataFrame
        As :func:`frequency_data` returns it.
    counts : array
        How many resamples selected each of all features.
    n_runs : int
        Number of resamples.
    level : float
        Level of the intervals, for the text.
    """
    if data.empty:
        return text_chart(f"No feature was selected in any of {format_count(n_runs, 'resample')}")
    base = alt.Chart(inline_data(_with_names(data))).encode(
        y=name_axis(),
        tooltip=[
            *tooltips({"feature:N": "feature", "count:Q": f"selected in (of {format_count(n_runs, 'resample')})"}),
            *tooltips({"frequency:Q": "selection frequency", "low:Q": "interval from", "high:Q": "to"}, ".1%"),
        ],
    )
    percents, scale = alt.Axis(format="%"), alt.Scale(domain=[0, 1])
    bars = base.mark_bar(height={"band": 0.72}).encode(
        x=alt.X("frequency:Q", title="selection frequency", axis=percents, scale=scale),
        opacity=alt.condition("datum.frequency >= 0.5", alt.value(0.85), alt.value(0.4)),
    )
    interval = base.mark_rule(strokeWidth=1.5).encode(x="low:Q", x2="high:Q")
    notes = [_left_out(len(data), counts), f"lines: {format_percent(level)} intervals"]
    chart = alt.layer(bars, interval).properties(width=WIDTH, height={"step": 20})
    return finish_chart(chart, _frequency_finding(counts, n_runs), ["; ".join(filter(None, notes))], width=WIDTH + 120)


def _frequency_finding(counts: NDArray[np.int64], n_runs: int) -> str:
    always, often = int((counts == n_runs).sum()), int((2 * counts >= n_runs).sum())
    if n_runs == 1:
        return f"One resample selected {format_count(always, 'feature')}: more are needed to see how often"
    of = f"of {len(counts):,} features"
    half = f"in at least half of {n_runs} resamples"
    if always:
        rest = f", {often} {half}" if often > always else f" of {n_runs}"
        return f"{always} {of} {'was' if always == 1 else 'were'} selected in every resample{rest}"
    if often:
        return f"{often} {of} {'was' if often == 1 else 'were'} selected {half}, none in all"
    most = format_percent(counts.max() / n_runs)
    return f"No feature was selected in half of {n_runs} resamples; the most frequent one in {most}"


def _left_out(n_drawn: int, counts: NDArray[np.int64]) -> str:
    """Return how many features are not drawn, in words."""
    used = int((counts > 0).sum())
    if n_drawn < used:
        return f"the {n_drawn} most frequent of {used:,} features that were ever selected"
    return f"{len(counts) - used:,} features were never selected" if used < len(counts) else ""


# Effects


def effect_data(features: Any, *, most: int = 30) -> pd.DataFrame:
    """Return the effects of the most frequent features.

    Parameters
    ----------
    features : SelectedFeatures
        As :meth:`holdfast.StudyResult.features` returns them.
    most : int
        Number of features to return.

    Returns
    -------
    DataFrame
        The most frequent first: ``feature``, ``frequency``, ``direction``, ``effect``, ``effect_low``,
        ``effect_high``, ``splits``; features without an effect are left out.

    Raises
    ------
    ValueError
        If ``most`` is below 1.

    See Also
    --------
    plot_effects : Draws them.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> result = hf.Study(selectors=[hf.selectors.AnovaF(2)], perturbation=hf.Bootstrap(20)).run(X, y)
    >>> hf.plots.effect_data(result.features())["feature"].tolist()
    ['petal length (cm)', 'petal width (cm)']
    """
    _check_most(most)
    columns = ["feature", "frequency", "direction", "effect", "effect_low", "effect_high", "splits"]
    return features.frame[features.frame["effect"].notna()][columns].head(most).reset_index(drop=True)


def plot_effects(features: Any, *, most: int = 30) -> "alt.LayerChart":
    """Draw the effects of the most frequent features on held-out rows, with their intervals.

    Parameters
    ----------
    features : SelectedFeatures
        As :meth:`holdfast.StudyResult.features` returns them.
    most : int
        Number of features to draw.

    Returns
    -------
    altair.LayerChart
        The chart: a notebook shows it, :func:`save` writes it to a file.

    See Also
    --------
    effect_data : The numbers behind it.
    """
    data = effect_data(features, most=most)
    return draw_effects(data, effect=features.effect, level=features.level, missing=features.missing)


def draw_effects(data: pd.DataFrame, *, effect: str, level: float, missing: str | None = None) -> "alt.LayerChart":
    """Draw effects from the data of :func:`effect_data`.

    Parameters
    ----------
    data : DataFrame
        As :func:`effect_data` returns it.
    effect : str
        What the effects are: ``"AUC"``, ``"rank correlation"`` or ``"hazard ratio per SD"``.
    level : float
        Level of the intervals, for the text.
    missing : str, optional
        Why there are no effects.
    """
    if data.empty:
        return text_chart(f"No effects: {missing or 'no feature was selected'}")
    known = EFFECTS[effect]
    neutral = known.neutral
    stated = data["effect_low"].gt(neutral) | data["effect_high"].lt(neutral)
    base = alt.Chart(inline_data(_with_names(data).assign(stated=stated))).encode(
        y=name_axis(),
        opacity=alt.condition("datum.stated", alt.value(1), alt.value(0.4)),
        tooltip=[
            *tooltips({"feature:N": "feature", "direction:N": "direction"}),
            *tooltips({"effect:Q": effect, "effect_low:Q": "interval from", "effect_high:Q": "to"}, ".3f"),
            *tooltips({"splits:Q": "resamples behind it"}),
        ],
    )
    title, scale = f"{effect} on held-out rows", alt.Scale(domain=[0, 1] if neutral else [-1, 1])
    if known.is_ratio:
        scale = alt.Scale(type="log")
    points = base.mark_point(filled=True, size=60).encode(x=alt.X("effect:Q", title=title, scale=scale))
    interval = base.mark_rule(strokeWidth=1.5).encode(x=alt.X("effect_low:Q", scale=scale), x2="effect_high:Q")
    none = alt.Chart(inline_data(pd.DataFrame({"x": [neutral]}))).mark_rule(strokeDash=[4, 4]).encode(x="x:Q")
    chart = alt.layer(none, interval, points).properties(width=WIDTH, height={"step": 20})
    finding = f"The direction of {format_count(int(stated.sum()), 'feature')} of {len(data)} is shown on held-out rows"
    notes = f"lines: {format_percent(level)} intervals that allow for the choice among all features; dashed: no effect"
    return finish_chart(chart, finding, [notes], width=WIDTH + 120)


# Relevant features

PANEL_WIDTH, PANEL_HEIGHT = 460, 130
MAX_RECOVERED = 2000
"""Number of features above which only relevant ones and the most frequent others are drawn."""
RELEVANT, OTHER = "relevant", "not relevant"


def recovery_data(recoveries: "Recovery | Sequence[Recovery] | Mapping[str, Recovery]") -> pd.DataFrame:
    """Return how often every feature was selected, and whether it is relevant, for one candidate or several.

    Parameters
    ----------
    recoveries : Recovery, or sequence or mapping from name to Recovery
        What ``result.recovery()`` returns; without names, those of the candidates are used.

    Returns
    -------
    DataFrame
        ``panel`` (the name), ``column`` (from 1), ``feature``, ``relevance`` and ``frequency``.

    Raises
    ------
    ValueError
        If there is no recovery.

    See Also
    --------
    plot_recovery : Draws them.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast import plots
    >>> X, y, truth = hf.datasets.make_redundant(0.5, n_samples=10, n_features=4, n_relevant=2, random_state=0)
    >>> study = hf.Study(selectors=[hf.selectors.AnovaF(2)], perturbation=hf.Bootstrap(20))
    >>> plots.recovery_data(study.run(X, y).recovery(truth, "anova"))
       panel  column  feature     relevance  frequency
    0  anova       1        0      relevant       1.00
    1  anova       2        1      relevant       0.95
    2  anova       3        2  not relevant       0.00
    3  anova       4        3  not relevant       0.05
    """
    if isinstance(recoveries, Mapping):
        named = dict(recoveries)
    else:
        given = recoveries if isinstance(recoveries, Sequence) else [recoveries]
        named = dict(zip(display_names(recovery.candidate for recovery in given), given, strict=True))
    if not named:
        raise ValueError("Expected at least one recovery, got none.")
    return pd.concat([_panel_data(str(name), recovery) for name, recovery in named.items()], ignore_index=True)


def _panel_data(name: str, recovery: "Recovery") -> pd.DataFrame:
    features = recovery.features
    return pd.DataFrame(
        {
            "panel": name, "column": range(1, len(features) + 1), "feature": features["feature"],
            "relevance": features["relevant"].map({True: RELEVANT, False: OTHER}), "frequency": features["frequency"],
        }
    )  # fmt: skip


def plot_recovery(
    recoveries: "Recovery | Sequence[Recovery] | Mapping[str, Recovery]",
) -> "alt.VConcatChart | alt.LayerChart":
    """Draw how often relevant and other features were selected, in file order, a panel per candidate.

    Parameters
    ----------
    recoveries : Recovery, or sequence or mapping from name to Recovery
        As for :func:`recovery_data`.

    Returns
    -------
    altair.VConcatChart or altair.LayerChart
        The chart: a notebook shows it, :func:`save` writes it to a file.

    See Also
    --------
    recovery_data : The numbers behind it.
    plot_spread : How many relevant and false features each resample selected.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast import plots
    >>> X, y, truth = hf.datasets.make_redundant(0.5, n_samples=10, n_features=4, n_relevant=2, random_state=0)
    >>> study = hf.Study(selectors=[hf.selectors.AnovaF(2)], perturbation=hf.Bootstrap(20))
    >>> print(*plots.plot_recovery(study.run(X, y).recovery(truth, "anova")).title.text)
    Mean selection frequency of the 2 relevant features 97.5 %, of the 2 others 2.5 %
    """
    return draw_recovery(recovery_data(recoveries))


def draw_recovery(data: pd.DataFrame) -> "alt.VConcatChart | alt.LayerChart":
    """Draw selection frequencies of relevant and other features from the data of :func:`recovery_data`."""
    if data.empty:
        return text_chart("There is no feature to show")
    drawn = _most_frequent(data)
    panels = [_panel(drawn[drawn["panel"] == panel], name) for panel, name in show_names(data["panel"]).items()]
    chart = alt.vconcat(*panels, spacing=14).resolve_scale(x="shared", color="shared", shape="shared")
    left_out = data["column"].nunique() - drawn["column"].nunique()
    notes = [f"{format_count(left_out, 'feature')} that were selected less often left out" if left_out else ""]
    return finish_chart(chart, _recovery_finding(data), notes, width=PANEL_WIDTH + 160)


def _most_frequent(data: pd.DataFrame) -> pd.DataFrame:
    """Return all features if they are not too many, else the relevant ones and the most frequent others."""
    if data["column"].nunique() <= MAX_RECOVERED:
        return data
    highest = data.groupby("column").agg(frequency=("frequency", "max"), relevance=("relevance", "first"))
    others = highest[highest["relevance"] == OTHER]["frequency"].nlargest(MAX_RECOVERED).index
    return data[(data["relevance"] == RELEVANT) | data["column"].isin(others)]


def _panel(data: pd.DataFrame, name: str) -> "alt.Chart":
    drawn = data.assign(feature=display_names(data["feature"]))
    scale = alt.Scale(zero=False, nice=False, padding=6)
    y = alt.Y("frequency:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=4))
    points = (
        alt.Chart(inline_data(drawn))
        .mark_point(filled=True, size=34, opacity=0.9)
        .encode(
            x=alt.X("column:Q", title="column", scale=scale, axis=alt.Axis(tickMinStep=1)),
            y=y,
            **color_and_shape("relevance:N", title="features", scale=alt.Scale(domain=[RELEVANT, OTHER])),
            tooltip=[
                *tooltips({"feature:N": "feature", "relevance:N": "it is"}),
                *tooltips({"frequency:Q": "selection frequency"}, ".1%"),
            ],
        )
    )
    title = alt.TitleParams(f"Selection frequency: {shorten(name, 60)}", fontSize=12, fontWeight="normal", offset=6)
    return points.properties(width=PANEL_WIDTH, height=PANEL_HEIGHT, title=title)


def _recovery_finding(data: pd.DataFrame) -> str:
    means = data.groupby(["panel", "relevance"], sort=False)["frequency"].mean()
    counts = data[data["panel"] == data["panel"].iloc[0]]["relevance"].value_counts()
    panels = data["panel"].unique()
    if len(panels) == 1 or OTHER not in counts:
        parts = [
            f"of the {counts[kind]:,} {word} {format_percent(means[panels[0], kind], 1)}"
            for kind, word in ((RELEVANT, "relevant features"), (OTHER, "others"))
            if kind in counts
        ]
        return f"Mean selection frequency {', '.join(parts)}"
    parts = [f"{format_percent(means[panel, OTHER], 1)} ({shorten(panel)})" for panel in panels]
    return f"Mean selection frequency of the {counts[OTHER]:,} features that are not relevant: {', '.join(parts)}"


# In a new study

NEW_STUDY, HALVES = "a new study selects it (probability)", "halves of these data selected it (share)"


def replicability_data(found: "Replicability", *, most: int = 30) -> pd.DataFrame:
    """Return what a picture of replicability shows: two numbers for each selected feature.

    Parameters
    ----------
    found : Replicability
        What :func:`holdfast.replicability` returns.
    most : int
        Number of features to return.

    Returns
    -------
    DataFrame
        The likeliest to come back first: ``feature``, ``probability``, ``frequency``.

    Raises
    ------
    ValueError
        If ``most`` is below 1.

    See Also
    --------
    plot_replicability : Draws them.

    Examples
    --------
    >>> import holdfast as hf
    >>> X, y = hf.datasets.load("breast_cancer")
    >>> found = hf.replicability(hf.selectors.AnovaF(4), X, y, n_pairs=25)
    >>> hf.plots.replicability_data(found, most=2).round(1)
                    feature  probability  frequency
    0       worst perimeter          1.0        1.0
    1  worst concave points          1.0        1.0
    """
    _check_most(most)
    return found.frame[["feature", "probability", "frequency"]].head(most)


def plot_replicability(found: "Replicability", *, most: int = 30) -> "alt.LayerChart":
    """Draw the probability that a new study selects each feature, with the share of halves that did.

    Parameters
    ----------
    found : Replicability
        What :func:`holdfast.replicability` returns.
    most : int
        Number of features to draw.

    Returns
    -------
    altair.LayerChart
        The chart: a notebook shows it, :func:`save` writes it to a file.

    See Also
    --------
    replicability_data : The numbers behind it.
    plot_frequencies : How often resamples of these data selected each feature.

    Examples
    --------
    >>> import holdfast as hf
    >>> X, y = hf.datasets.load("breast_cancer")
    >>> found = hf.replicability(hf.selectors.AnovaF(5), X, y, n_pairs=25)
    >>> print(*hf.plots.plot_replicability(found).title.text)
    A new study of this size would be expected to select 4 of your 5 features (4 to 5).
    """
    data = replicability_data(found, most=most)
    return draw_replicability(data, sentence=found.sentence, n_selected=found.n_selected, n_pairs=found.n_pairs)


def draw_replicability(data: pd.DataFrame, *, sentence: str, n_selected: int, n_pairs: int) -> "alt.LayerChart":
    """Draw probabilities and shares from the data of :func:`replicability_data`.

    Parameters
    ----------
    data : DataFrame
        As :func:`replicability_data` returns it.
    sentence : str
        The answer in words.
    n_selected, n_pairs : int
        Number of selected features, and how often the rows were split in half.
    """
    if data.empty or data["probability"].isna().all():
        return text_chart(sentence.removesuffix("."))
    named = _with_names(data)
    long = named.melt(["feature", "name"], ["frequency", "probability"], "kind", "value").replace(
        {"kind": {"frequency": HALVES, "probability": NEW_STUDY}}
    )
    y = name_axis(sort=named["name"].tolist())
    below = alt.Legend(orient="bottom", direction="vertical", labelLimit=WIDTH)
    lines = (
        alt.Chart(inline_data(named))
        .mark_rule(strokeWidth=1.5, opacity=0.5)
        .encode(y=y, x="probability:Q", x2="frequency:Q")
    )
    points = (
        alt.Chart(inline_data(long))
        .mark_point(filled=True, size=60, opacity=1)
        .encode(
            y=y,
            x=alt.X("value:Q", title=None, axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
            **color_and_shape("kind:N", title=None, scale=alt.Scale(domain=[NEW_STUDY, HALVES]), legend=below),
            tooltip=[*tooltips({"feature:N": "feature", "kind:N": "how often"}), *tooltips({"value:Q": "is"}, ".0%")],
        )
    )
    left_out = n_selected - len(data)
    notes = [f"{format_count(left_out, 'feature')} less likely to come back left out"] if left_out else []
    chart = alt.layer(lines, points).properties(width=WIDTH, height={"step": 20})
    about = [*notes, f"repeated split-half ({n_pairs:,} ×)"]
    return finish_chart(chart, sentence, ["; ".join(about)], width=WIDTH + 120)
