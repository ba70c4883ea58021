"""Trade-off over data sets: mean rank of the score against mean rank of the stability."""

from typing import TYPE_CHECKING, Any

import pandas as pd

from holdfast.plots.text import display_names, format_count, join_names, shorten
from holdfast.plots.theme import altair, finish_chart, inline_data, text_chart

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT = 380, 340
COLUMNS = ["candidate", "score_rank", "stability_rank", "on_front", "chosen", "datasets", "best"]


def rank_tradeoff_data(candidates: pd.DataFrame) -> pd.DataFrame:
    """Return mean ranks of score and stability of each candidate.

    Parameters
    ----------
    candidates : DataFrame
        One row per candidate, indexed by it: ``score_rank`` and ``stability_rank``, on how many data sets it is
        ``on_front`` and ``chosen``, on how many it has both values (``datasets``), and whether no other is better in
        both mean ranks (``best``); as :meth:`BenchmarkResult.tradeoff` has them.

    Returns
    -------
    DataFrame
        The same, with the ``candidate`` as a column; those without mean ranks last.

    See Also
    --------
    plot_rank_tradeoff : Draws them.

    Examples
    --------
    >>> import pandas as pd
    >>> from holdfast import plots
    >>> columns = ["score_rank", "stability_rank", "on_front", "chosen", "datasets", "best"]
    >>> rows = {"lasso": [1.2, 2.0, 3, 1, 4, True], "anova": [1.8, 1.0, 4, 3, 4, True]}
    >>> plots.rank_tradeoff_data(pd.DataFrame.from_dict(rows, orient="index", columns=columns))["candidate"].tolist()
    ['lasso', 'anova']
    """
    data = candidates.rename_axis("candidate").reset_index()[COLUMNS]
    return data.sort_values("score_rank", kind="stable", na_position="last", ignore_index=True)


def plot_rank_tradeoff(candidates: pd.DataFrame, *, score: str = "score", n_datasets: int) -> "alt.LayerChart":
    """Draw the mean rank of the score against that of the stability; the best are on the upper right.

    Parameters
    ----------
    candidates : DataFrame
        As for :func:`rank_tradeoff_data`.
    score : str
        Name of the score.
    n_datasets : int
        Number of data sets behind the mean ranks.

    Returns
    -------
    altair.LayerChart
        The chart: a notebook shows it, :func:`save` writes it to a file.

    See Also
    --------
    rank_tradeoff_data : The numbers behind it.

    Examples
    --------
    >>> import pandas as pd
    >>> from holdfast import plots
    >>> columns = ["score_rank", "stability_rank", "on_front", "chosen", "datasets", "best"]
    >>> rows = {"lasso": [1.2, 2.0, 3, 1, 4, True], "anova": [1.8, 1.0, 4, 3, 4, True]}
    >>> ranks = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    >>> print(*plots.plot_rank_tradeoff(ranks, score="accuracy", n_datasets=4).title.text)
    lasso and anova: no other candidate has better mean ranks in both accuracy and stability
    """
    return draw_rank_tradeoff(rank_tradeoff_data(candidates), score=score, n_datasets=n_datasets)


def draw_rank_tradeoff(data: pd.DataFrame, *, score: str, n_datasets: int) -> "alt.LayerChart":
    """Draw the trade-off over data sets from the data of :func:`rank_tradeoff_data`.

    Parameters
    ----------
    data : DataFrame
        As :func:`rank_tradeoff_data` returns it.
    score : str
        Name of the score.
    n_datasets : int
        Number of data sets, for the text.
    """
    known = data.dropna(subset=["score_rank", "stability_rank"])
    if known.empty:
        return text_chart(f"No data set has both a {score} and a stability of all candidates")
    alt = altair()
    rows = known.assign(label=display_names(shorten(name, 34) for name in known["candidate"]))
    base = alt.Chart(inline_data(rows)).encode(
        x=alt.X(
            "stability_rank:Q", title="mean rank of stability (right is better)", scale=_scale(rows, "stability_rank")
        ),
        y=alt.Y("score_rank:Q", title=f"mean rank of {score} (up is better)", scale=_scale(rows, "score_rank")),
    )
    line = base.transform_filter("datum.best").mark_line(style="quiet-line", strokeWidth=5, opacity=0.35)
    layers = [line.encode(order="stability_rank:Q"), _points(base, rows)]
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    return finish_chart(chart, _finding(rows, score), [_note(data, known, n_datasets)], width=WIDTH + 160)


def _scale(rows: pd.DataFrame, column: str) -> Any:
    low, high = rows[column].min(), rows[column].max()
    margin = max(0.06 * (high - low), 0.1)
    return altair().Scale(domain=[float(low - margin), float(high + margin)], reverse=True, nice=False, zero=False)


def _points(base: "alt.Chart", rows: pd.DataFrame) -> "alt.Chart":
    """Return the points, told apart by color and shape: names beside them could overlap."""
    alt, order = altair(), rows["label"].tolist()
    legend = alt.Legend(symbolOpacity=1, symbolSize=90, symbolLimit=40, labelLimit=200)
    channel = {"title": "candidate", "sort": order, "scale": alt.Scale(domain=order), "legend": legend}
    return base.mark_point(filled=True, size=110, opacity=1).encode(
        color=alt.Color("label:N", **channel),
        shape=alt.Shape("label:N", **channel),
        tooltip=[
            alt.Tooltip("candidate:N", title="candidate"),
            alt.Tooltip("score_rank:Q", title="mean rank of the score", format=".2f"),
            alt.Tooltip("stability_rank:Q", title="mean rank of stability", format=".2f"),
            alt.Tooltip("on_front:Q", title="data sets with it on the front"),
            alt.Tooltip("chosen:Q", title="data sets that choose it"),
        ],
    )


def _finding(rows: pd.DataFrame, score: str) -> str:
    best = rows.loc[rows["best"], "candidate"].tolist()
    if len(best) == 1:
        return f"{shorten(best[0])} has the best mean ranks in both {score} and stability"
    return f"{join_names(best)}: no other candidate has better mean ranks in both {score} and stability"


def _note(data: pd.DataFrame, known: pd.DataFrame, n_datasets: int) -> str:
    left = f"; {format_count(len(data) - len(known), 'candidate')} left out" if len(known) < len(data) else ""
    over = format_count(n_datasets, "data set")
    return f"mean ranks over {over}, 1 is best; gray line: the front of mean ranks{left}"
