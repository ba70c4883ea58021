"""Selection map: which resample selected which feature (Figure 1 of Kalousis, Prados and Hilario, 2005)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from holdfast.checks import Matrix
from holdfast.plots.map_data import Order, SelectionMap, selection_map_data
from holdfast.plots.sources import Source
from holdfast.plots.text import display_names, format_count
from holdfast.plots.theme import altair, finish_chart, inline_data, text_chart, to_records

if TYPE_CHECKING:
    import altair as alt

MOST_BLOCK_NAMES = 30
WIDTH, NARROW = 640, 262
NAME_HEIGHT, TICK_HEIGHT = 12, 20
"""Pixels that the name of a column takes, and the number of a row; without room for them names are in tooltips only."""


def plot_selection_map(
    source: Source,
    candidate: str | None = None,
    *,
    order: Order = "file",
    show: Literal["selected", "all"] = "selected",
    X: Matrix | None = None,
    blocks: Sequence[Any] | None = None,
) -> "alt.VConcatChart | alt.LayerChart":
    """Draw which resample selected which feature, with the frequencies on top.

    A stable selection looks like a barcode: the same columns in every row.

    Parameters
    ----------
    source : Preferences of subsets, 0/1 matrix, or StudyResult
        What each resample selected.
    candidate : str, optional
        Which candidate of a study; the only one by default.
    order : {"file", "frequency", "correlation"}
        Features as they stand in the file, the most frequent first, or correlated ones side by side.
    show : {"selected", "all"}
        Only features that were ever selected, or all.
    X : matrix, optional
        Samples × features, for ``order="correlation"``.
    blocks : sequence, optional
        A name for each resample: those of one name stand together. A study knows them (outer fold, pair, repeat).

    Returns
    -------
    altair.VConcatChart or altair.LayerChart
        The chart: a notebook shows it, :func:`save` writes it to a file.

    See Also
    --------
    selection_map_data : The numbers behind it.

    Examples
    --------
    >>> from holdfast import plots
    >>> from holdfast.datasets import load_example
    >>> print(*plots.plot_selection_map(load_example().top(10)).title.text)
    7 features were selected in all 20 resamples; 6 others came and went
    """
    data = selection_map_data(source, candidate, order=order, show=show, X=X, blocks=blocks)
    return draw_selection_map(data)


def draw_selection_map(data: SelectionMap, *, narrow: bool = False) -> "alt.VConcatChart | alt.LayerChart":
    """Draw a selection map from the data of :func:`selection_map_data`, smaller for a narrow screen."""
    if data.cells.empty:
        count = format_count(data.n_runs, "resample")
        return text_chart(f"No feature was selected in any of {count}", f"{data.n_features:,} features to choose from")
    alt = altair()
    width = NARROW if narrow else min(WIDTH, max(380, 18 * len(data.columns)))
    across = alt.Scale(domain=[-0.5, len(data.columns) - 0.5], nice=False, zero=False)
    columns, percents = _column_marks(data), alt.Axis(format="%", values=[0, 0.5, 1])
    top = (
        alt.Chart(inline_data(columns))
        .mark_rect()
        .encode(
            x=alt.X("left:Q", scale=across, axis=None),
            x2=alt.X2("right:Q"),
            y=alt.Y("frequency:Q", title="frequency", scale=alt.Scale(domain=[0, 1]), axis=percents),
            y2=alt.Y2Datum(0),
            tooltip=[alt.Tooltip("feature:N"), alt.Tooltip("frequency:Q", format=".0%")],
        )
    )
    height = min(300, max(60, 9 * len(data.rows)))
    layers = [*_group_marks(data), *_cell_marks(data, columns, across, height), *_block_marks(data.rows)]
    if NAME_HEIGHT * len(columns) <= width:
        layers.append(_names(columns, across, height))
    body = alt.layer(*layers).properties(width=width, height=height)
    chart = alt.vconcat(top.properties(width=width, height=44), body, spacing=4)
    return finish_chart(chart, _finding(data), [_note(data)], width=width + 50 if narrow else max(width + 60, 560))


def _column_marks(data: SelectionMap) -> pd.DataFrame:
    columns = data.columns
    return columns.assign(
        feature=display_names(columns["feature"]), left=columns["column"] - 0.46, right=columns["column"] + 0.46
    )


def _cell_marks(data: SelectionMap, columns: pd.DataFrame, across: Any, height: int) -> "list[alt.Chart]":
    """Return cells as lists of numbers, which look up their features: names are written once, not once per cell."""
    alt = altair()
    rows = data.rows.assign(top=data.rows["first"] - 0.46, bottom=data.rows["last"] + 0.46)
    whole = bool((data.cells["share"] == 1).all())
    lists = ["column"] if whole else ["column", "share"]
    fields = ["feature", "frequency", "left", "right"]
    features = alt.LookupData(data=inline_data(columns[["column", *fields]]), key="column", fields=fields)
    chart = alt.Chart(_row_lists(rows, data.cells[["row", *lists]])).transform_flatten(lists)
    chart = chart.transform_lookup(lookup="column", from_=features)
    share = alt.Opacity("share:Q", legend=alt.Legend(title="share selected", format="%"), scale=_shares(data.cells))
    down = alt.Scale(domain=[0.5, rows["last"].max() + 0.5], reverse=True, nice=False, zero=False)
    named = data.rows["block"].ne("").any() and data.rows["block"].nunique() <= MOST_BLOCK_NAMES
    ticks = np.unique(np.linspace(1, rows["last"].max(), min(11, height // TICK_HEIGHT)).round()).tolist()
    axis = None if named else alt.Axis(values=ticks, format="d", grid=False, domain=False)
    return [
        chart.mark_rect().encode(
            x=alt.X("left:Q", scale=across, axis=None),
            x2=alt.X2("right:Q"),
            y=alt.Y("top:Q", scale=down, title="resample", axis=axis),
            y2=alt.Y2("bottom:Q"),
            **({} if whole else {"opacity": share}),
            tooltip=[
                alt.Tooltip("resample:N", title="resample"),
                alt.Tooltip("feature:N", title="feature"),
                alt.Tooltip("frequency:Q", title="selected in", format=".0%"),
            ],
        )
    ]


def _row_lists(rows: pd.DataFrame, cells: pd.DataFrame) -> Any:
    """Return each row with lists of its cells, a tenth of the bytes of a record for each cell."""
    cells = cells.sort_values("row", kind="stable")
    filled, starts = np.unique(cells["row"], return_index=True)
    lists = {
        str(name): np.split(cells[name].to_numpy().round(4), starts[1:]) for name in cells.columns if name != "row"
    }
    by_row = {
        row: {name: parts[place].tolist() for name, parts in lists.items()} for place, row in enumerate(filled.tolist())
    }
    values = [{**record, **by_row[record["row"]]} for record in to_records(rows) if record["row"] in by_row]
    return altair().InlineData(values=values)


def _shares(cells: pd.DataFrame) -> Any:
    return altair().Scale(type="sqrt", domain=[0, max(cells["share"].max(), 1e-6)], range=[0.04, 1])


def _block_marks(rows: pd.DataFrame) -> "list[alt.Chart]":
    """Return lines between blocks, and their names."""
    if not rows["block"].ne("").any():
        return []
    alt = altair()
    blocks = rows.groupby("block", sort=False).agg(first=("first", "min"), last=("last", "max")).reset_index()
    blocks = blocks.assign(block=display_names(blocks["block"]), middle=(blocks["first"] + blocks["last"]) / 2)
    base = alt.Chart(inline_data(blocks.assign(start=blocks["first"] - 0.5)))
    marks = [
        base.mark_rule(style="quiet-line", strokeWidth=0.7, opacity=0.8).encode(y=alt.Y("start:Q", title="resample"))
    ]
    if len(blocks) <= MOST_BLOCK_NAMES:
        name = base.mark_text(align="right", dx=-8, limit=120, fontSize=11)
        marks.append(name.encode(x=alt.XValue(0), y=alt.Y("middle:Q", title="resample"), text=alt.Text("block:N")))
    return marks


def _group_marks(data: SelectionMap) -> "list[alt.Chart]":
    """Return shades behind groups of correlated features."""
    groups = data.columns[data.columns["group"] >= 0]
    if groups.empty:
        return []
    alt = altair()
    spans = groups.groupby("group").agg(left=("column", "min"), right=("column", "max")).reset_index()
    spans = spans.assign(
        left=spans["left"] - 0.46, right=spans["right"] + 0.46, top=0.5, bottom=data.rows["last"].max() + 0.5
    )
    base = alt.Chart(inline_data(spans)).mark_rect(style="quiet", opacity=0.22, tooltip=None)
    down = {"y": alt.Y("top:Q", title="resample"), "y2": alt.Y2("bottom:Q")}
    return [base.encode(x=alt.X("left:Q", axis=None), x2=alt.X2("right:Q"), **down)]


def _names(columns: pd.DataFrame, across: Any, height: int) -> "alt.Chart":
    alt = altair()
    text = alt.Chart(inline_data(columns)).mark_text(angle=270, align="right", dx=-6, limit=170, fontSize=11)
    return text.encode(x=alt.X("column:Q", scale=across, axis=None), y=alt.YValue(height), text=alt.Text("feature:N"))


def _finding(data: SelectionMap) -> str:
    n, always, sometimes = data.n_runs, data.n_always, data.n_sometimes
    if n == 1:
        return f"One resample selected {format_count(always, 'feature')}: more are needed to see how stable that is"
    if not sometimes:
        return f"All {n} resamples selected the same {format_count(always, 'feature').removeprefix('1 ')} and no other"
    if not always:
        return f"No feature was selected in all of {n} resamples; {sometimes:,} came and went"
    others = "1 other" if sometimes == 1 else f"{sometimes:,} others"
    were = "feature was" if always == 1 else "features were"
    return f"{always:,} {were} selected in all {n} resamples; {others} came and went"


def _note(data: SelectionMap) -> str:
    orders = {
        "file": "in file order", "frequency": "most frequent first", "correlation": "correlated features together",
    }  # fmt: skip
    used, shown = data.n_always + data.n_sometimes, int(data.columns["features"].sum())
    per_column, per_row = shown / len(data.columns), data.n_runs / len(data.rows)
    column = f"about {per_column:.0f} features" if per_column > 1 else "a feature"
    row = f"about {per_row:.0f} resamples" if per_row > 1 else "a resample"
    notes = [f"each row is {row}, each column {column}, {orders[data.order]}"]
    left_out = data.n_features - shown
    if left_out:
        why = "never selected" if shown >= used else f"selected less often or never ({data.n_features:,} in all)"
        notes.append(f"{left_out:,} features left out: {why}")
    if (data.columns["group"] >= 0).any():
        notes.append("shaded: correlated at 0.7 or more")
    return "; ".join(notes)
