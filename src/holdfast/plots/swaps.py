"""Features that stand in for each other: resamples select one or the other, seldom both."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from holdfast.checks import Matrix
from holdfast.inference.features import SWAP_CANDIDATES, feature_swaps
from holdfast.plots.sources import Source, find_subsets, largest_row, show_names
from holdfast.plots.theme import alt, finish_chart, inline_data, text_chart, tooltips
from holdfast.preferences import Preferences
from holdfast.similarity import Correlation, aligned
from holdfast.text import format_count, shorten

COLUMNS = ["first", "second", "group", "one_of_them", "both", "neither", "turns", "p_value", "clear", "correlation"]


def swap_data(source: Source, candidate: str | None = None, *, most: int = 20, X: Matrix | None = None) -> pd.DataFrame:
    """Return the pairs of features that stand in for each other most, linked pairs in one group.

    Parameters
    ----------
    source : Preferences of subsets, 0/1 matrix, or StudyResult
        What each resample selected.
    candidate : str, optional
        Which candidate of a study; the only one by default.
    most : int
        Number of pairs.
    X : matrix, optional
        Samples × features, for the correlation of the features themselves.

    Returns
    -------
    DataFrame
        ``first`` and ``second``; ``group`` of features that are linked by pairs; in how many resamples exactly
        ``one_of_them``, ``both`` or ``neither`` was selected; ``turns``, from 0 to 1, how strictly they take turns (the
        negative correlation of their selection); ``p_value`` and whether it is ``clear`` (at most 5 % after
        Bonferroni's correction for all pairs examined); and ``correlation`` of the features, if X is given.

    See Also
    --------
    plot_swaps : Draws them.

    Examples
    --------
    >>> from holdfast import plots
    >>> from holdfast.datasets import load_example
    >>> plots.swap_data(load_example().top(10), most=2)[["first", "second", "group", "one_of_them", "both", "clear"]]
                first           second  group  one_of_them  both  clear
    0      area_error  worst_concavity      0           19     1   True
    1  mean_concavity  perimeter_error      1           19     0  False
    """
    runs = find_subsets(source, candidate).runs
    pairs = feature_swaps(runs, most=most)
    varying = min(_n_varying(runs), SWAP_CANDIDATES)
    table = pairs.assign(
        group=_groups(pairs),
        one_of_them=pairs["only_first"] + pairs["only_second"],
        turns=-pairs["correlation"],
        clear=pairs["p_value"] * (varying * (varying - 1) // 2) <= 0.05,
        correlation=_correlations(pairs, runs, X),
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
    column_of = {feature: column for column, feature in enumerate(runs.features)}
    similarity = aligned(Correlation(X), runs.features)
    sides = [np.array([column_of[feature] for feature in pairs[side]]) for side in ("first", "second")]
    used, inverse = np.unique(np.concatenate(sides), return_inverse=True)
    block = similarity.block(used, used)
    return block[inverse[: len(pairs)], inverse[len(pairs) :]]


def plot_swaps(
    source: Source, candidate: str | None = None, *, most: int = 20, X: Matrix | None = None
) -> "alt.LayerChart":
    """Draw the features that stand in for each other as a heat map.

    The number in a cell is in how many resamples exactly one of the two was selected; framed cells exceed chance.

    Parameters
    ----------
    source : Preferences of subsets, 0/1 matrix, or StudyResult
        What each resample selected.
    candidate : str, optional
        Which candidate of a study; the only one by default.
    most : int
        Number of pairs.
    X : matrix, optional
        Samples × features, for the correlation of the features themselves.

    Returns
    -------
    altair.LayerChart
        The chart: a notebook shows it, :func:`save` writes it to a file.

    See Also
    --------
    swap_data : The numbers behind it.

    Examples
    --------
    >>> from holdfast import plots
    >>> from holdfast.datasets import load_example
    >>> print(*plots.plot_swaps(load_example().top(10)).title.text)
    area_error and worst_concavity stand in for each other: 19 of 20 resamples selected exactly one of them
    """
    runs = find_subsets(source, candidate).runs
    data = swap_data(source, candidate, most=most, X=X)
    return draw_swaps(data, n_runs=runs.n_runs, n_varying=_n_varying(runs), n_features=runs.n_features)


def draw_swaps(data: pd.DataFrame, *, n_runs: int, n_varying: int, n_features: int) -> "alt.LayerChart":
    """Draw features that stand in for each other from the data of :func:`swap_data`.

    Parameters
    ----------
    data : DataFrame
        As :func:`swap_data` returns it.
    n_runs, n_varying, n_features : int
        Number of resamples, of features that some but not all of them selected, and of all features, for the text.
    """
    if data.empty:
        varied = f"{format_count(n_varying, 'feature')} of {n_features:,} varied from resample to resample"
        why = "a single resample cannot show it" if n_runs == 1 else varied
        return text_chart("No two features stand in for each other", why)
    pairs = zip(data["first"], data["second"], strict=True)
    names = show_names(name for pair in pairs for name in pair)
    known = tooltips({"correlation:Q": "correlation of the features"}, ".2f")
    base = alt.Chart(inline_data(_below(data, names))).encode(
        x=_axis(alt.X, "across", list(names.values())[:-1]),
        y=_axis(alt.Y, "down", list(names.values())[1:]),
        tooltip=[
            *tooltips({"across:N": "feature", "down:N": "and"}),
            *tooltips(
                {"one_of_them:Q": f"exactly one (of {n_runs} resamples)", "both:Q": "both", "neither:Q": "neither"}
            ),
            *tooltips({"p_value:Q": "p (one pair)"}, ".2g"),
            *(known if data["correlation"].notna().any() else []),
        ],
    )
    color = alt.Color(
        "turns:Q", title=["how strictly they", "take turns"], scale=alt.Scale(domain=[0, 1], interpolate="rgb"),
        legend=alt.Legend(gradientLength=100, values=[0, 0.5, 1]),
    )  # fmt: skip
    cells = base.mark_rect(opacity=0.8).encode(color=color)
    frames = base.transform_filter("datum.clear").mark_rect(style="ring", strokeWidth=1.5, filled=False)
    side = max(24, 40 - len(names)) * (len(names) - 1)
    layers = [cells, frames, base.mark_text(fontSize=11).encode(text="one_of_them:Q")]
    chart = alt.layer(*layers).properties(width=side, height=side)
    note = f"numbers: resamples (of {n_runs}) that selected exactly one of the two; framed: more often than by chance"
    return finish_chart(chart, _finding(data, n_runs), [note], width=max(side + 220, 520))


def _below(data: pd.DataFrame, names: dict[Any, str]) -> pd.DataFrame:
    """Put each pair below the diagonal: the feature that comes first across, the other down."""
    position = {feature: index for index, feature in enumerate(names)}
    swapped = data["first"].map(position) > data["second"].map(position)
    across = data["second"].where(swapped, data["first"])
    down = data["first"].where(swapped, data["second"])
    return data.drop(columns=["first", "second"]).assign(across=across.map(names), down=down.map(names))


def _axis(channel: Any, field: str, order: list[str]) -> Any:
    angle = {"labelAngle": -45, "labelLimit": 200} if field == "across" else {}
    axis = alt.Axis(domain=False, ticks=False, grid=True, bandPosition=0, **angle)
    return channel(f"{field}:N", title=None, sort=order, scale=alt.Scale(domain=order), axis=axis)


def _finding(data: pd.DataFrame, n_runs: int) -> str:
    best = largest_row(data, "turns")
    pair = f"{shorten(best['first'], 30)} and {shorten(best['second'], 30)}"
    if not data["clear"].any():
        return f"No two features clearly stand in for each other; {pair} come closest"
    return f"{pair} stand in for each other: {best['one_of_them']} of {n_runs} resamples selected exactly one of them"


def _n_varying(runs: Preferences) -> int:
    """Count the features that some but not all resamples selected."""
    return int(((runs.counts > 0) & (runs.counts < runs.n_runs)).sum())
