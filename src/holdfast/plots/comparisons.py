"""Comparison matrix: which selections differ significantly in stability."""

import math

import pandas as pd

from holdfast.inference.comparison import Comparisons
from holdfast.plots.sources import higher_is_better, show_names
from holdfast.plots.theme import alt, finish_chart, inline_data, tooltips
from holdfast.text import format_count, format_number, format_percent, join_names, shorten

MAX_TEXTS = 14


def comparison_data(comparisons: Comparisons) -> pd.DataFrame:
    """Return every ordered pair of selections, the most stable first.

    Parameters
    ----------
    comparisons : Comparisons
        From :func:`holdfast.compare_many` or :meth:`StudyResult.compare`.

    Returns
    -------
    DataFrame
        ``first``, ``second``, ``difference`` (stability of the first minus that of the second), its interval ``low``
        and ``high``, the corrected p-value ``p_holm``, and ``significant`` at the level of the comparisons.

    See Also
    --------
    plot_comparisons : Draws them.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast import plots
    >>> from holdfast.datasets import load_example
    >>> sizes = {f"{k} best": load_example().top(k) for k in (5, 10)}
    >>> plots.comparison_data(hf.compare_many(sizes)).round(3)
         first   second  difference    low   high  p_holm  significant
    0  10 best   5 best       0.186  0.082  0.289   0.001         True
    1   5 best  10 best      -0.186 -0.289 -0.082   0.001         True
    """
    numbers = ["difference", "low", "high", "p_holm"]
    pairs = comparisons.pairs[["first_name", "second_name", *numbers]].astype(dict.fromkeys(numbers, float))
    pairs = pairs.rename(columns={"first_name": "first", "second_name": "second"})
    reversed_pairs = pairs.assign(
        first=pairs["second"], second=pairs["first"], difference=-pairs["difference"], low=-pairs["high"],
        high=-pairs["low"],
    )  # fmt: skip
    both = pd.concat([pairs, reversed_pairs])
    both["significant"] = both["p_holm"] <= 1 - comparisons.level
    rank = {name: index for index, name in enumerate(sort_by_stability(comparisons))}
    keys = [both["first"].map(rank), both["second"].map(rank)]
    return both.iloc[pd.MultiIndex.from_arrays(keys).argsort()].reset_index(drop=True)


def sort_by_stability(comparisons: Comparisons) -> list[str]:
    """Return the names, the most stable first."""
    estimates = comparisons.estimates
    sign = -1 if all(higher_is_better(estimate.measure) for estimate in estimates.values()) else 1
    return sorted(estimates, key=lambda name: sign * estimates[name].value)


def plot_comparisons(comparisons: Comparisons) -> "alt.LayerChart":
    """Draw the matrix of differences in stability, row minus column; significant ones carry a star.

    Parameters
    ----------
    comparisons : Comparisons
        From :func:`holdfast.compare_many` or :meth:`StudyResult.compare`.

    Returns
    -------
    altair.LayerChart
        The chart: a notebook shows it, :func:`save` writes it to a file.

    See Also
    --------
    comparison_data : The numbers behind it.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast import plots
    >>> from holdfast.datasets import load_example
    >>> sizes = {f"{k} best": load_example().top(k) for k in (5, 10, 15)}
    >>> print(*plots.plot_comparisons(hf.compare_many(sizes)).title.text)
    15 best is significantly more stable than 5 best; 10 best does not differ significantly from it
    """
    return draw_comparisons(comparison_data(comparisons), sort_by_stability(comparisons), level=comparisons.level)


def draw_comparisons(data: pd.DataFrame, names: list[str], *, level: float) -> "alt.LayerChart":
    """Draw a comparison matrix from the data of :func:`comparison_data`.

    Parameters
    ----------
    data : DataFrame
        As :func:`comparison_data` returns it.
    names : list of str
        All selections, the most stable first.
    level : float
        Level of the intervals and tests, for the text.
    """
    labels = show_names(names)
    order = list(labels.values())
    side = len(names) * (52 if len(names) <= MAX_TEXTS else 22)
    labeled = data.assign(
        first=data["first"].map(labels),
        second=data["second"].map(labels),
        text=_texts(data, full=len(names) <= MAX_TEXTS),
    )
    reach, percent = max(data["difference"].abs().max(), 0.01), format_percent(level)
    base = alt.Chart(inline_data(labeled)).encode(
        y=alt.Y("first:N", sort=order, title=None, scale=alt.Scale(domain=order), axis=alt.Axis(domain=False)),
        x=alt.X(
            "second:N", sort=order, title=None, scale=alt.Scale(domain=order),
            axis=alt.Axis(orient="top", labelAngle=-45, domain=False),
        ),
        tooltip=[
            *tooltips({"first:N": "row", "second:N": "column"}),
            *tooltips({"difference:Q": "difference in stability"}, "+.3f"),
            *tooltips({"low:Q": f"{percent} interval from", "high:Q": "to"}, "+.3f"),
            *tooltips({"p_holm:Q": "p (Holm)"}, ".2g"),
        ],
    )  # fmt: skip
    color = alt.Color(
        "difference:Q", title=["difference in", "stability"], legend=alt.Legend(format="+.2f", gradientLength=140),
        scale=alt.Scale(domain=[-reach, reach], domainMid=0, interpolate="rgb"),
    )  # fmt: skip
    cells = base.mark_rect(style="gap", strokeWidth=2, opacity=0.75).encode(color=color)
    chart = alt.layer(cells, base.mark_text().encode(text="text:N")).properties(width=side, height=side)
    note = (
        f"row minus column; * significant at {format_percent(1 - level)} after Holm's correction; "
        "blue: the row is larger, orange: smaller"
    )
    return finish_chart(chart, say_who_differs(data, names), [note], width=max(side + 140, 420))


def _texts(data: pd.DataFrame, *, full: bool) -> list[str]:
    """Return the differences as text; only stars where there is no room."""
    stars = ["*" if significant else "" for significant in data["significant"]]
    if not full:
        return stars
    numbers = [
        "" if math.isnan(difference) else ("+" if difference > 0 else "") + format_number(difference)
        for difference in data["difference"]
    ]
    return [number and number + star for number, star in zip(numbers, stars, strict=True)]


def say_who_differs(data: pd.DataFrame, names: list[str]) -> str:
    """Return what the data of :func:`comparison_data` show, as a sentence; names are in the order of stability."""
    best = data[data["first"] == names[0]]
    worse, similar = best[best["significant"]]["second"].tolist(), best[~best["significant"]]["second"].tolist()
    if not worse and data["significant"].any():
        return f"{shorten(names[0])} is the most stable, but not significantly"
    if not worse:
        return f"No two of {format_count(len(names), 'selection')} differ significantly in stability"
    finding = f"{shorten(names[0])} is significantly more stable than {join_names(worse)}"
    if not similar:
        return finding
    return f"{finding}; {join_names(similar)} {'does' if len(similar) == 1 else 'do'} not differ significantly from it"
