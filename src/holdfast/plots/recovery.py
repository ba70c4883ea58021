"""Recovery of known relevant features: how often each of them, and each other feature, was selected."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from holdfast.plots.text import display_names, format_count, format_percent, shorten
from holdfast.plots.theme import altair, finish_chart, inline_data, text_chart

if TYPE_CHECKING:
    import altair as alt

    from holdfast.tradeoff.final import Recovery

WIDTH, HEIGHT = 460, 130
MOST = 2000
"""Number of features above which only relevant ones and the most frequent others are drawn."""
RELEVANT, OTHER = "relevant", "not relevant"


def recovery_data(recoveries: "Recovery | Sequence[Recovery] | Mapping[str, Recovery]") -> pd.DataFrame:
    """Return how often every feature was selected, and whether it is relevant, for one candidate or several.

    Parameters
    ----------
    recoveries : Recovery, or sequence or mapping from name to Recovery
        What ``result.recovery()`` returns; without names, candidates go by their own.

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
    """Draw how often relevant and other features were selected, each feature in its place, a panel per candidate.

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
    alt, drawn = altair(), _most_frequent(data)
    names = dict(zip(data["panel"].unique(), display_names(data["panel"].unique()), strict=True))
    panels = [_panel(drawn[drawn["panel"] == panel], name) for panel, name in names.items()]
    chart = alt.vconcat(*panels, spacing=14).resolve_scale(x="shared", color="shared", shape="shared")
    left_out = data["column"].nunique() - drawn["column"].nunique()
    notes = [f"{format_count(left_out, 'feature')} that were selected less often left out" if left_out else ""]
    return finish_chart(chart, _finding(data), notes, width=WIDTH + 160)


def _most_frequent(data: pd.DataFrame) -> pd.DataFrame:
    """Return all features if they are not too many, else the relevant ones and the most frequent others."""
    if data["column"].nunique() <= MOST:
        return data
    highest = data.groupby("column").agg(frequency=("frequency", "max"), relevance=("relevance", "first"))
    others = highest[highest["relevance"] == OTHER]["frequency"].nlargest(MOST).index
    return data[(data["relevance"] == RELEVANT) | data["column"].isin(others)]


def _panel(data: pd.DataFrame, name: str) -> "alt.Chart":
    alt = altair()
    drawn = data.assign(feature=display_names(data["feature"]))
    kinds = {"title": "features", "scale": alt.Scale(domain=[RELEVANT, OTHER])}
    scale = alt.Scale(zero=False, nice=False, padding=6)
    y = alt.Y("frequency:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=4))
    points = (
        alt.Chart(inline_data(drawn))
        .mark_point(filled=True, size=34, opacity=0.9)
        .encode(
            x=alt.X("column:Q", title="column", scale=scale, axis=alt.Axis(tickMinStep=1)),
            y=y,
            color=alt.Color("relevance:N", **kinds),
            shape=alt.Shape("relevance:N", **kinds),
            tooltip=[
                alt.Tooltip("feature:N", title="feature"),
                alt.Tooltip("relevance:N", title="it is"),
                alt.Tooltip("frequency:Q", title="selection frequency", format=".1%"),
            ],
        )
    )
    title = alt.TitleParams(f"Selection frequency: {shorten(name, 60)}", fontSize=12, fontWeight="normal", offset=6)
    return points.properties(width=WIDTH, height=HEIGHT, title=title)


def _finding(data: pd.DataFrame) -> str:
    means = data.groupby(["panel", "relevance"], sort=False)["frequency"].mean()
    counts = data[data["panel"] == data["panel"].iloc[0]]["relevance"].value_counts()
    panels = data["panel"].unique()
    if len(panels) == 1 or OTHER not in counts:
        parts = [
            f"of the {counts[kind]:,} {word} {_percent(means[panels[0], kind])}"
            for kind, word in ((RELEVANT, "relevant features"), (OTHER, "others"))
            if kind in counts
        ]
        return f"Mean selection frequency {', '.join(parts)}"
    parts = [f"{_percent(means[panel, OTHER])} ({shorten(panel)})" for panel in panels]
    return f"Mean selection frequency of the {counts[OTHER]:,} features that are not relevant: {', '.join(parts)}"


def _percent(share: float) -> str:
    return format_percent(round(share, 3))
