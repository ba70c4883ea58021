"""Mean ranks over data sets: the critical-difference diagram, and the trade-off of score and stability."""

import itertools
import math
from dataclasses import dataclass
from typing import Any

import pandas as pd

from holdfast.inference.ranks import POST_HOC_TESTS, RankComparisons
from holdfast.plots.theme import alt, color_and_shape, finish_chart, front_line, inline_data, text_chart, tooltips
from holdfast.text import display_names, format_count, format_number, format_percent, join_names, shorten

WIDTH = 300
ROW = 19
"""Pixels from one name to the next below it, so that names never overlap."""
BAR = 9
"""Pixels from one bar of candidates that do not differ to the next."""
MAX_LENGTH = 26


@dataclass(frozen=True, kw_only=True, eq=False)
class CriticalDifference:
    """The numbers of a critical-difference diagram.

    Attributes
    ----------
    candidates : DataFrame
        One row per candidate, the best first: ``name``, ``rank``, the ``side`` of its name (``left`` or ``right``) and
        its ``row``, counted from the axis.
    bars : DataFrame
        One row per group of neighbors of which no two were shown to differ: the ``first`` and ``last`` candidate, the
        ranks ``low`` and ``high`` that it spans, its ``row`` and its ``size``.
    critical_difference : float
        Nemenyi's critical difference; ``nan`` for other tests.
    n_datasets : int
        Number of data sets.
    test : str
        The test that joins candidates.
    level : float
        One minus its level of significance.
    reason : str or None
        Why there is nothing to draw.

    See Also
    --------
    critical_difference_data : Makes it.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast import plots
    >>> import pandas as pd
    >>> values = pd.DataFrame({"lasso": [0.9, 0.8, 0.7, 0.9], "anova": [0.8, 0.7, 0.6, 0.7], "forest": [0.7] * 4})
    >>> found = plots.critical_difference_data(hf.inference.compare_ranks(values, "nemenyi"))
    >>> found.bars[["first", "last", "size"]]
       first   last  size
    0  lasso  anova     3
    """

    candidates: pd.DataFrame
    bars: pd.DataFrame
    critical_difference: float
    n_datasets: int
    test: str
    level: float
    reason: str | None = None


def critical_difference_data(comparisons: RankComparisons) -> CriticalDifference:
    """Return mean ranks, the position of each name, and groups of neighbors that were not shown to differ.

    Parameters
    ----------
    comparisons : RankComparisons
        All pairs, tested by any test.

    Returns
    -------
    CriticalDifference
        What is drawn.

    Raises
    ------
    ValueError
        If candidates were compared with a control only.

    See Also
    --------
    plot_critical_difference : Draws it.
    """
    if comparisons.control is not None:
        raise ValueError(f"Expected comparisons of all pairs, got those with the control {comparisons.control!r}.")
    order = sorted(zip(comparisons.mean_ranks, comparisons.candidates, strict=True), key=lambda pair: pair[0])
    names, half = [name for _, name in order], math.ceil(len(order) / 2)
    candidates = pd.DataFrame({
        "name": names,
        "rank": [rank for rank, _ in order],
        "side": ["left" if rank < half else "right" for rank in range(len(names))],
        "row": [rank if rank < half else len(names) - 1 - rank for rank in range(len(names))],
    })  # fmt: skip
    return CriticalDifference(
        candidates=candidates, bars=_find_bars(candidates, comparisons.different),
        critical_difference=comparisons.critical_difference, n_datasets=comparisons.n_datasets, test=comparisons.test,
        level=comparisons.level, reason=comparisons.reason,
    )  # fmt: skip


def _find_bars(candidates: pd.DataFrame, different: set[tuple[str, str]]) -> pd.DataFrame:
    """Return the longest runs of neighbors in the order of ranks of which no two differ; single ones have no bar."""
    names, ranks = candidates["name"].tolist(), candidates["rank"].tolist()
    apart = {frozenset(pair) for pair in different}
    rows: list[tuple[str, str, float, float, int, int]] = []
    reached = 0
    for first in range(len(names)):
        last = first
        while last + 1 < len(names) and not any(
            frozenset((name, names[last + 1])) in apart for name in names[first : last + 1]
        ):
            last += 1
        if last > first and last > reached:
            taken = {
                bar[4] for bar in rows if bar[3] >= ranks[first]
            }  # rows in which a bar does not end before this one
            row = next(row for row in itertools.count() if row not in taken)
            rows.append((names[first], names[last], ranks[first], ranks[last], row, last - first + 1))
        reached = max(reached, last)
    return pd.DataFrame(rows, columns=["first", "last", "low", "high", "row", "size"])


def plot_critical_difference(comparisons: RankComparisons, *, what: str = "stability") -> "alt.LayerChart":
    """Draw mean ranks on a line, the best on the left; a bar joins candidates that were not shown to differ.

    Parameters
    ----------
    comparisons : RankComparisons
        All pairs, tested by any test; Nemenyi's has a critical difference.
    what : str
        What was ranked, for the text.

    Returns
    -------
    altair.LayerChart
        The chart: a notebook shows it, :func:`save` writes it to a file.

    See Also
    --------
    critical_difference_data : The numbers behind it.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast import plots
    >>> import pandas as pd
    >>> values = pd.DataFrame({"lasso": [0.9, 0.8, 0.7, 0.9], "anova": [0.8, 0.7, 0.6, 0.7], "forest": [0.7] * 4})
    >>> chart = plots.plot_critical_difference(hf.inference.compare_ranks(values, "nemenyi"), what="accuracy")
    >>> print(*chart.title.text)
    No two of 3 candidates were shown to differ in accuracy
    """
    return draw_critical_difference(critical_difference_data(comparisons), what=what)


def draw_critical_difference(data: CriticalDifference, *, what: str) -> "alt.LayerChart":
    """Draw a critical-difference diagram from the data of :func:`critical_difference_data`.

    Parameters
    ----------
    data : CriticalDifference
        As :func:`critical_difference_data` returns it.
    what : str
        What was ranked, for the text.
    """
    if data.reason is not None or len(data.candidates) < 2:
        return text_chart(f"There are no mean ranks of {what} to show", data.reason or "there is one candidate")
    k = len(data.candidates)
    top = BAR * (int(data.bars["row"].max()) + 1 if len(data.bars) else 0) + 14
    height = top + ROW * (int(data.candidates["row"].max()) + 1)
    step = math.ceil((k - 1) / 9)
    ticks = [*range(1, k - step + 1, step), k]
    x = alt.X(
        "rank:Q", title="mean rank, 1 is best", scale=alt.Scale(domain=[1, k], nice=False, zero=False),
        axis=alt.Axis(orient="top", values=ticks, format="d", grid=False, labelFlush=False),
    )  # fmt: skip
    layers = [*_names(data.candidates, x, top, height), *_bars(data, height)]
    layers += _critical_difference(data, k, height)
    chart = alt.layer(*layers).properties(width=WIDTH, height=height)
    return finish_chart(chart, _difference_finding(data, what), _difference_notes(data), width=WIDTH + 260)


def _y(field: str, height: int) -> Any:
    return alt.Y(field, scale=alt.Scale(domain=[0, height], range=[0, height], nice=False, zero=False), axis=None)


def _names(candidates: pd.DataFrame, x: Any, top: int, height: int) -> "list[alt.Chart]":
    """Return the name of each candidate at the side of the axis, and the line that leads from its rank to it."""
    k = len(candidates)
    shown = display_names(shorten(name, MAX_LENGTH) for name in candidates["name"])
    rows = candidates.assign(
        label=["\u2002".join([name, format_number(rank)][:: 1 if side == "left" else -1]) for name, rank, side in zip(
            shown, candidates["rank"], candidates["side"], strict=True)],
        y=top + ROW * candidates["row"] + ROW / 2,
        axis=0,
        edge=[1 if side == "left" else k for side in candidates["side"]],
    )  # fmt: skip
    tooltip = tooltips({"name:N": "candidate"}) + tooltips({"rank:Q": "mean rank"}, ".2f")
    layers = []
    aligned: Any = {"left": (-8, "right"), "right": (WIDTH + 8, "left")}
    for side, (edge, align) in aligned.items():
        base = alt.Chart(inline_data(rows[rows["side"] == side])).encode(tooltip=tooltip)
        layers += [
            base.mark_rule(style="quiet-line", strokeWidth=1.2).encode(x=x, y=_y("axis:Q", height), y2="y:Q"),
            base.mark_rule(style="quiet-line", strokeWidth=1.2).encode(x=x, x2="edge:Q", y=_y("y:Q", height)),
            base.mark_text(align=align, baseline="middle", limit=230).encode(
                x=alt.value(edge), y=_y("y:Q", height), text="label:N"
            ),
        ]
    points = alt.Chart(inline_data(rows)).mark_point(filled=True, size=45, opacity=1)
    return [*layers, points.encode(x=x, y=_y("axis:Q", height), tooltip=tooltip)]


def _bars(data: CriticalDifference, height: int) -> "list[alt.Chart]":
    if data.bars.empty:
        return []
    rows = data.bars.assign(y=9 + BAR * data.bars["row"])
    bars = alt.Chart(inline_data(rows)).mark_rule(strokeWidth=5, strokeCap="round")
    tooltip = tooltips({"first:N": "first", "last:N": "last"})
    return [bars.encode(x="low:Q", x2="high:Q", y=_y("y:Q", height), tooltip=tooltip)]


def _critical_difference(data: CriticalDifference, k: int, height: int) -> "list[alt.Chart]":
    """Return the length of the critical difference, drawn above the axis where it fits."""
    if math.isnan(data.critical_difference) or data.critical_difference > k - 1:
        return []
    end = 1 + data.critical_difference
    row = pd.DataFrame({"low": [1.0], "high": [end], "y": [-44], "text": [_cd_text(data)]})
    base = alt.Chart(inline_data(row))
    text = base.mark_text(align="left", baseline="bottom", dy=-4).encode(
        x=alt.X("low:Q"), y=alt.value(-44), text="text:N"
    )
    ticks = alt.Chart(inline_data(pd.DataFrame({"low": [1.0, end]}))).mark_tick(
        style="ring", thickness=2, size=9, orient="vertical"
    )
    return [
        base.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q", y=alt.value(-44)),
        ticks.encode(x="low:Q", y=alt.value(-44)),
        text,
    ]


def _cd_text(data: CriticalDifference) -> str:
    return f"critical difference {format_number(data.critical_difference)}"


def _difference_finding(data: CriticalDifference, what: str) -> str:
    k = len(data.candidates)
    if len(data.bars) and int(data.bars["size"].iloc[0]) == k:
        return f"No two of {format_count(k, 'candidate')} were shown to differ in {what}"
    best = data.candidates.iloc[0]
    tied = [str(row["name"]) for _, row in data.candidates.iterrows() if abs(row["rank"] - best["rank"]) < 1e-9]
    joined = data.bars[data.bars["first"] == best["name"]]
    others = int(joined["size"].iloc[0]) - 1 if len(joined) else 0
    was = "was" if others == 1 else "were"
    not_shown = f"; {others} of {k - 1} others {was} not shown to differ from it" if others else ""
    if len(tied) > 1:
        return f"{join_names(tied, 3)} share the best mean rank in {what}: {format_number(best['rank'])}"
    return f"{shorten(best['name'])} has the best mean rank in {what}: {format_number(best['rank'])}{not_shown}"


def _difference_notes(data: CriticalDifference) -> list[str]:
    test = POST_HOC_TESTS[data.test].about
    bars = "bars join neighbors of which no two were shown to differ" if len(data.bars) else "all neighbors differ"
    cd = ""
    if not math.isnan(data.critical_difference) and data.critical_difference > len(data.candidates) - 1:
        cd = f"; {_cd_text(data)}, more than the ranks span"
    over = f"mean ranks over {format_count(data.n_datasets, 'data set')}"
    return [f"{over}; {bars} ({test.methods}, {format_percent(1 - data.level)}){cd}", test.caution]


# Trade-off over data sets

TRADEOFF_WIDTH, TRADEOFF_HEIGHT = 380, 340
TRADEOFF_COLUMNS = ["candidate", "score_rank", "stability_rank", "on_front", "chosen", "datasets", "best"]


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
    data = candidates.rename_axis("candidate").reset_index()[TRADEOFF_COLUMNS]
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
    rows = known.assign(label=display_names(shorten(name, 34) for name in known["candidate"]))
    base = alt.Chart(inline_data(rows)).encode(
        x=alt.X(
            "stability_rank:Q", title="mean rank of stability (right is better)", scale=_scale(rows, "stability_rank")
        ),
        y=alt.Y("score_rank:Q", title=f"mean rank of {score} (up is better)", scale=_scale(rows, "score_rank")),
    )
    chart = alt.layer(front_line(base, "best", "stability_rank:Q"), _points(base, rows)).properties(
        width=TRADEOFF_WIDTH, height=TRADEOFF_HEIGHT
    )
    return finish_chart(
        chart, _tradeoff_finding(rows, score), [_tradeoff_note(data, known, n_datasets)], width=TRADEOFF_WIDTH + 160
    )


def _scale(rows: pd.DataFrame, column: str) -> Any:
    low, high = rows[column].min(), rows[column].max()
    margin = max(0.06 * (high - low), 0.1)
    return alt.Scale(domain=[float(low - margin), float(high + margin)], reverse=True, nice=False, zero=False)


def _points(base: "alt.Chart", rows: pd.DataFrame) -> "alt.Chart":
    """Return the points, distinguished by color and shape: names next to them could overlap."""
    order = rows["label"].tolist()
    legend = alt.Legend(symbolOpacity=1, symbolSize=90, symbolLimit=40, labelLimit=200)
    return base.mark_point(filled=True, size=110, opacity=1).encode(
        **color_and_shape("label:N", title="candidate", sort=order, scale=alt.Scale(domain=order), legend=legend),
        tooltip=[
            *tooltips({"candidate:N": "candidate"}),
            *tooltips({"score_rank:Q": "mean rank of the score", "stability_rank:Q": "mean rank of stability"}, ".2f"),
            *tooltips({"on_front:Q": "data sets with it on the front", "chosen:Q": "data sets that choose it"}),
        ],
    )


def _tradeoff_finding(rows: pd.DataFrame, score: str) -> str:
    best = rows.loc[rows["best"], "candidate"].tolist()
    if len(best) == 1:
        return f"{shorten(best[0])} has the best mean ranks in both {score} and stability"
    return f"{join_names(best)}: no other candidate has better mean ranks in both {score} and stability"


def _tradeoff_note(data: pd.DataFrame, known: pd.DataFrame, n_datasets: int) -> str:
    left = f"; {format_count(len(data) - len(known), 'candidate')} left out" if len(known) < len(data) else ""
    over = format_count(n_datasets, "data set")
    return f"mean ranks over {over}, 1 is best; gray line: the front of mean ranks{left}"
