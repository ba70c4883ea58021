"""Which selections differ in stability: all pairs as a matrix."""

import math
from typing import TYPE_CHECKING

import pandas as pd

from holdfast.inference.comparison import Comparisons
from holdfast.plots.sources import higher_is_better
from holdfast.plots.text import counted, listed, number, percent, short, shown
from holdfast.plots.theme import altair, finished, inline

if TYPE_CHECKING:
    import altair as alt

MOST_TEXTS = 14


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
    pairs = comparisons.pairs[["first_name", "second_name", "difference", "low", "high", "p_holm"]]
    pairs.columns = pd.Index(["first", "second", "difference", "low", "high", "p_holm"])
    pairs = pairs.astype(dict.fromkeys(("difference", "low", "high", "p_holm"), float))
    turned = pairs.assign(
        first=pairs["second"], second=pairs["first"], difference=-pairs["difference"], low=-pairs["high"],
        high=-pairs["low"],
    )  # fmt: skip
    both = pd.concat([pairs, turned])
    both["significant"] = both["p_holm"] <= 1 - comparisons.level
    place = {name: place for place, name in enumerate(_ordered(comparisons))}
    keys = [both["first"].map(place), both["second"].map(place)]
    return both.iloc[pd.MultiIndex.from_arrays(keys).argsort()].reset_index(drop=True)


def _ordered(comparisons: Comparisons) -> list[str]:
    """Names, the most stable first."""
    estimates = comparisons.estimates
    sign = -1 if all(higher_is_better(one.measure) for one in estimates.values()) else 1
    return sorted(estimates, key=lambda name: sign * estimates[name].value)


def plot_comparisons(comparisons: Comparisons) -> "alt.LayerChart":
    """Draw the matrix of differences in stability, row minus column; significant ones bear a star.

    Parameters
    ----------
    comparisons : Comparisons
        From :func:`holdfast.compare_many` or :meth:`StudyResult.compare`.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast import plots
    >>> from holdfast.datasets import load_example
    >>> sizes = {f"{k} best": load_example().top(k) for k in (5, 10, 15)}
    >>> print(*plots.plot_comparisons(hf.compare_many(sizes)).title.text)
    15 best is significantly more stable than 5 best; 10 best does not differ significantly from it
    """
    alt = altair()
    data, names = comparison_data(comparisons), _ordered(comparisons)
    drawn = dict(zip(names, shown(names), strict=True))
    order = list(drawn.values())
    side = len(names) * (52 if len(names) <= MOST_TEXTS else 22)
    data = data.assign(
        first=data["first"].map(drawn),
        second=data["second"].map(drawn),
        text=_texts(data, full=len(names) <= MOST_TEXTS),
    )
    reach = max(data["difference"].abs().max(), 0.01)
    base = alt.Chart(inline(data)).encode(
        y=alt.Y("first:N", sort=order, title=None, scale=alt.Scale(domain=order), axis=alt.Axis(domain=False)),
        x=alt.X(
            "second:N", sort=order, title=None, scale=alt.Scale(domain=order),
            axis=alt.Axis(orient="top", labelAngle=-45, domain=False),
        ),
        tooltip=[
            alt.Tooltip("first:N", title="row"),
            alt.Tooltip("second:N", title="column"),
            alt.Tooltip("difference:Q", title="difference in stability", format="+.3f"),
            alt.Tooltip("low:Q", title=f"{percent(comparisons.level)} interval from", format="+.3f"),
            alt.Tooltip("high:Q", title="to", format="+.3f"),
            alt.Tooltip("p_holm:Q", title="p (Holm)", format=".2g"),
        ],
    )  # fmt: skip
    scale = alt.Scale(domain=[-reach, reach], domainMid=0, interpolate="rgb")
    cells = base.mark_rect(style="gap", strokeWidth=2, opacity=0.75).encode(
        color=alt.Color("difference:Q", scale=scale, title=["difference in", "stability"], legend=_legend())
    )
    layers = [cells, base.mark_text().encode(text="text:N")]
    notes = [
        f"row minus column; * significant at {percent(1 - comparisons.level)} after Holm's correction; blue: row is"
    ]
    notes[0] += " larger, orange: smaller"
    chart = alt.layer(*layers).properties(width=side, height=side)
    return finished(chart, _finding(comparison_data(comparisons), names), notes, width=max(side + 140, 420))


def _legend() -> "alt.Legend":
    return altair().Legend(format="+.2f", gradientLength=140)


def _texts(data: pd.DataFrame, *, full: bool) -> list[str]:
    """The differences; only stars where there is no room."""
    if not full:
        return ["*" if star else "" for star in data["significant"]]
    return [
        "" if math.isnan(difference) else ("+" if difference > 0 else "") + number(difference) + ("*" if star else "")
        for difference, star in zip(data["difference"], data["significant"], strict=True)
    ]


def _finding(data: pd.DataFrame, names: list[str]) -> str:
    best = data[data["first"] == names[0]]
    clear, open_ = best[best["significant"]]["second"].tolist(), best[~best["significant"]]["second"].tolist()
    if not clear:
        some = data["significant"].any()
        return (
            f"{short(names[0])} is the most stable, but not significantly"
            if some
            else (f"No two of {counted(len(names), 'selection')} differ significantly in stability")
        )
    finding = f"{short(names[0])} is significantly more stable than {listed(clear)}"
    if not open_:
        return finding
    return f"{finding}; {listed(open_)} {'does' if len(open_) == 1 else 'do'} not differ significantly from it"
