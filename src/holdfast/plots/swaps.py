"""Features that stand in for each other: runs select one of them or the other, seldom both."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from holdfast.checks import Matrix
from holdfast.inference.features import SWAP_CANDIDATES, feature_swaps
from holdfast.plots.sources import Source, largest, subsets_of
from holdfast.plots.text import counted, short, shown
from holdfast.plots.theme import altair, finished, inline, sentence
from holdfast.preferences import Preferences
from holdfast.similarity import Correlation, aligned

if TYPE_CHECKING:
    import altair as alt

COLUMNS = ["first", "second", "group", "one_of_them", "both", "neither", "turns", "p_value", "clear", "correlation"]


def swap_data(source: Source, candidate: str | None = None, *, most: int = 20, X: Matrix | None = None) -> pd.DataFrame:
    """Return the pairs of features that take turns most, those that hang together in one group.

    Parameters
    ----------
    source : Preferences of subsets, 0/1 matrix, or StudyResult
        What each run selected.
    candidate : str, optional
        Which candidate of a study; the only one by default.
    most : int
        Number of pairs.
    X : matrix, optional
        Samples × features: tells how far the features themselves are correlated.

    Returns
    -------
    DataFrame
        ``first`` and ``second``; ``group`` of features that are linked by pairs; in how many runs exactly
        ``one_of_them``, ``both`` or ``neither`` was selected; ``turns``, from 0 to 1, how strictly they take turns (the
        negative correlation of their selection); ``p_value`` and whether it is ``clear`` (at most 5 % after
        Bonferroni's correction for all pairs looked at); and ``correlation`` of the features, if data is given.

    Examples
    --------
    >>> from holdfast import plots
    >>> from holdfast.datasets import load_example
    >>> plots.swap_data(load_example().top(10), most=2)[["first", "second", "group", "one_of_them", "both", "clear"]]
                first           second  group  one_of_them  both  clear
    0      area_error  worst_concavity      0           19     1   True
    1  mean_concavity  perimeter_error      1           19     0  False
    """
    runs = subsets_of(source, candidate).runs
    pairs = feature_swaps(runs, most=most)
    varying = min(int(((runs.counts > 0) & (runs.counts < runs.n_runs)).sum()), SWAP_CANDIDATES)
    table = pd.DataFrame(
        {
            "first": pairs["first"],
            "second": pairs["second"],
            "group": _groups(pairs),
            "one_of_them": pairs["only_first"] + pairs["only_second"],
            "both": pairs["both"],
            "neither": pairs["neither"],
            "turns": -pairs["correlation"],
            "p_value": pairs["p_value"],
            "clear": pairs["p_value"] * (varying * (varying - 1) // 2) <= 0.05,
            "correlation": _correlations(pairs, runs, X),
        }
    )
    return table.sort_values("group", kind="stable", ignore_index=True)[COLUMNS]


def _groups(pairs: pd.DataFrame) -> Any:
    """Number the groups of features that are linked by pairs, that of the strongest pair first."""
    codes, names = pd.factorize(pd.concat([pairs["first"], pairs["second"]]))
    first, second = codes[: len(pairs)], codes[len(pairs) :]
    links = coo_array((np.ones(len(pairs)), (first, second)), shape=(len(names), len(names)))
    labels = connected_components(links, directed=False)[1] if len(names) else np.empty(0, int)
    return pd.factorize(labels[first])[0]


def _correlations(pairs: pd.DataFrame, runs: Preferences, X: Matrix | None) -> Any:
    if X is None or pairs.empty:
        return np.full(len(pairs), np.nan)
    place = {feature: column for column, feature in enumerate(runs.features)}
    similarity = aligned(Correlation(X), runs.features)
    sides = [np.array([place[feature] for feature in pairs[side]]) for side in ("first", "second")]
    used, inverse = np.unique(np.concatenate(sides), return_inverse=True)
    block = similarity.block(used, used)
    return block[inverse[: len(pairs)], inverse[len(pairs) :]]


def plot_swaps(
    source: Source, candidate: str | None = None, *, most: int = 20, X: Matrix | None = None
) -> "alt.LayerChart":
    """Draw the features that stand in for each other as a heat map; parameters as for :func:`swap_data`.

    The number in a cell is in how many runs exactly one of the two was selected; framed cells are more than chance.

    Examples
    --------
    >>> from holdfast import plots
    >>> from holdfast.datasets import load_example
    >>> print(*plots.plot_swaps(load_example().top(10)).title.text)
    area_error and worst_concavity stand in for each other: 19 of 20 runs selected exactly one of them
    """
    runs = subsets_of(source, candidate).runs
    table = swap_data(source, candidate, most=most, X=X)
    if table.empty:
        return sentence("No two features stand in for each other", _why_none(runs))
    alt = altair()
    order = list(
        dict.fromkeys(feature for pair in zip(table["first"], table["second"], strict=True) for feature in pair)
    )
    names = dict(zip(order, shown(order), strict=True))
    base = alt.Chart(inline(_below(table, names))).encode(
        x=_axis(alt.X, "across", list(names.values())[:-1]),
        y=_axis(alt.Y, "down", list(names.values())[1:]),
        tooltip=_tooltip(table, runs.n_runs),
    )
    color = alt.Color(
        "turns:Q", title=["how strictly they", "take turns"], scale=alt.Scale(domain=[0, 1], interpolate="rgb"),
        legend=alt.Legend(gradientLength=100, values=[0, 0.5, 1]),
    )  # fmt: skip
    cells = base.mark_rect(opacity=0.8).encode(color=color)
    frames = base.transform_filter("datum.clear").mark_rect(style="ring", strokeWidth=1.5, filled=False)
    side = max(24, 40 - len(order)) * (len(order) - 1)
    layers = [cells, frames, base.mark_text(fontSize=11).encode(text="one_of_them:Q")]
    chart = alt.layer(*layers).properties(width=side, height=side)
    notes = [f"numbers: runs (of {runs.n_runs}) that selected exactly one of the two; framed: more than chance"]
    return finished(chart, _finding(table, runs.n_runs), notes, width=max(side + 220, 520))


def _below(table: pd.DataFrame, names: dict[Any, str]) -> pd.DataFrame:
    """Put each pair below the diagonal: the feature that comes first across, the other down."""
    place = {feature: place for place, feature in enumerate(names)}
    turned = table["first"].map(place) > table["second"].map(place)
    across = table["second"].where(turned, table["first"])
    down = table["first"].where(turned, table["second"])
    return table.drop(columns=["first", "second"]).assign(across=across.map(names), down=down.map(names))


def _axis(channel: Any, field: str, order: list[str]) -> Any:
    alt = altair()
    angle = {"labelAngle": -45, "labelLimit": 200} if field == "across" else {}
    axis = alt.Axis(domain=False, ticks=False, grid=True, bandPosition=0, **angle)
    return channel(f"{field}:N", title=None, sort=order, scale=alt.Scale(domain=order), axis=axis)


def _tooltip(table: pd.DataFrame, n_runs: int) -> "list[alt.Tooltip]":
    alt = altair()
    known = [alt.Tooltip("correlation:Q", title="correlation of the features", format=".2f")]
    return [
        alt.Tooltip("across:N", title="feature"),
        alt.Tooltip("down:N", title="and"),
        alt.Tooltip("one_of_them:Q", title=f"exactly one (of {n_runs} runs)"),
        alt.Tooltip("both:Q", title="both"),
        alt.Tooltip("neither:Q", title="neither"),
        alt.Tooltip("p_value:Q", title="p (one pair)", format=".2g"),
        *(known if table["correlation"].notna().any() else []),
    ]


def _finding(table: pd.DataFrame, n_runs: int) -> str:
    best = largest(table, "turns")
    pair = f"{short(best['first'], 30)} and {short(best['second'], 30)}"
    if not table["clear"].any():
        return f"No two features clearly stand in for each other; {pair} come nearest to it"
    return f"{pair} stand in for each other: {best['one_of_them']} of {n_runs} runs selected exactly one of them"


def _why_none(runs: Preferences) -> str:
    if runs.n_runs == 1:
        return "one run alone cannot show it"
    varying = int(((runs.counts > 0) & (runs.counts < runs.n_runs)).sum())
    return f"{counted(varying, 'feature')} of {runs.n_features:,} varied from run to run"
