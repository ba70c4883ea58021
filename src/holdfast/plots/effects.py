"""Effects of selected features on held-out rows, with their intervals."""

from typing import TYPE_CHECKING, Any

import pandas as pd

from holdfast.plots.text import display_names, format_count, format_percent
from holdfast.plots.theme import altair, finish_chart, inline_data, text_chart

if TYPE_CHECKING:
    import altair as alt

WIDTH = 420


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
    if most < 1:
        raise ValueError(f"Expected most to be a number of features to show, got {most}.")
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
    if data.empty:
        return text_chart(f"No effects: {features.missing or 'no feature was selected'}")
    alt, neutral = altair(), 0.5 if features.effect == "AUC" else 0.0
    stated = data["effect_low"].gt(neutral) | data["effect_high"].lt(neutral)
    named = data.assign(name=display_names(data["feature"]), feature=data["feature"].astype(str), stated=stated)
    base = alt.Chart(inline_data(named)).encode(
        y=alt.Y("name:N", sort=None, title=None, axis=alt.Axis(ticks=False, domain=False, labelPadding=8)),
        opacity=alt.condition("datum.stated", alt.value(1), alt.value(0.4)),
        tooltip=[
            alt.Tooltip("feature:N", title="feature"),
            alt.Tooltip("direction:N", title="direction"),
            alt.Tooltip("effect:Q", title=features.effect, format=".3f"),
            alt.Tooltip("effect_low:Q", title="interval from", format=".3f"),
            alt.Tooltip("effect_high:Q", title="to", format=".3f"),
            alt.Tooltip("splits:Q", title="resamples behind it"),
        ],
    )
    title, scale = f"{features.effect} on held-out rows", alt.Scale(domain=[0, 1] if neutral else [-1, 1])
    points = base.mark_point(filled=True, size=60).encode(x=alt.X("effect:Q", title=title, scale=scale))
    interval = base.mark_rule(strokeWidth=1.5).encode(x=alt.X("effect_low:Q", scale=scale), x2="effect_high:Q")
    none = alt.Chart(inline_data(pd.DataFrame({"x": [neutral]}))).mark_rule(strokeDash=[4, 4]).encode(x="x:Q")
    chart = alt.layer(none, interval, points).properties(width=WIDTH, height={"step": 20})
    count = int(stated.sum())
    finding = f"The direction of {format_count(count, 'feature')} of {len(data)} is shown on held-out rows"
    level = format_percent(features.level)
    notes = f"lines: {level} intervals that allow for the choice among all features; dashed: no effect"
    return finish_chart(chart, finding, [notes], width=WIDTH + 120)
