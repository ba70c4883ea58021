"""What a new study would find: the probability of each selected feature, beside the share of halves that had it."""

from typing import TYPE_CHECKING

import pandas as pd

from holdfast.plots.text import display_names, format_count
from holdfast.plots.theme import altair, finish_chart, inline_data, text_chart

if TYPE_CHECKING:
    import altair as alt

    from holdfast.replication import Replicability

WIDTH = 420
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
    >>> found = hf.replicability(hf.selectors.AnovaF(4), X, y, n_halvings=25)
    >>> hf.plots.replicability_data(found, most=2).round(1)
                    feature  probability  frequency
    0       worst perimeter          1.0        1.0
    1  worst concave points          1.0        1.0
    """
    if most < 1:
        raise ValueError(f"Expected most to be a number of features to show, got {most}.")
    return found.frame[["feature", "probability", "frequency"]].head(most)


def plot_replicability(found: "Replicability", *, most: int = 30) -> "alt.LayerChart":
    """Draw the probability that a new study selects each feature, beside the share of halves that did.

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
    >>> found = hf.replicability(hf.selectors.AnovaF(5), X, y, n_halvings=25)
    >>> print(*hf.plots.plot_replicability(found).title.text)
    A new study of this size would be expected to select 5 of your 5 features (4 to 5).
    """
    return draw_replicability(
        replicability_data(found, most=most),
        sentence=found.sentence,
        n_selected=found.n_selected,
        n_pairs=found.n_pairs,
    )


def draw_replicability(data: pd.DataFrame, *, sentence: str, n_selected: int, n_pairs: int) -> "alt.LayerChart":
    """Draw probabilities and shares from the data of :func:`replicability_data`.

    Parameters
    ----------
    data : DataFrame
        As :func:`replicability_data` returns it.
    sentence : str
        The answer in words.
    n_selected, n_pairs : int
        Number of selected features, and of halvings.
    """
    if data.empty or data["probability"].isna().all():
        return text_chart(sentence.removesuffix("."))
    alt = altair()
    named = data.assign(feature=data["feature"].astype(str), name=display_names(data["feature"]))
    long = named.melt(["feature", "name"], ["frequency", "probability"], "kind", "value").replace(
        {"kind": {"frequency": HALVES, "probability": NEW_STUDY}}
    )
    y = alt.Y(
        "name:N", sort=named["name"].tolist(), title=None, axis=alt.Axis(ticks=False, domain=False, labelPadding=8)
    )
    kinds = {"title": None, "scale": alt.Scale(domain=[NEW_STUDY, HALVES])}
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
            color=alt.Color("kind:N", legend=below, **kinds),
            shape=alt.Shape("kind:N", legend=below, **kinds),
            tooltip=[
                alt.Tooltip("feature:N", title="feature"),
                alt.Tooltip("kind:N", title="how often"),
                alt.Tooltip("value:Q", title="is", format=".0%"),
            ],
        )
    )
    left_out = n_selected - len(data)
    notes = [f"{format_count(left_out, 'feature')} less likely to come back left out" if left_out else ""]
    chart = alt.layer(lines, points).properties(width=WIDTH, height={"step": 20})
    about = f"{'; '.join(filter(None, [*notes, format_count(n_pairs, 'halving')]))}"
    return finish_chart(chart, sentence, [about], width=WIDTH + 120)
