"""Selection map: which resample selected which feature (Figure 1 of Kalousis, Prados and Hilario, 2005)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.cards import Card, draw_barcode
from holdfast.checks import Matrix
from holdfast.inference.designs import RunsByBlock
from holdfast.plots.sources import BLOCKS, Source, find_subsets
from holdfast.plots.theme import alt, finish_chart, inline_data, text_chart, to_records, tooltips
from holdfast.preferences import Preferences
from holdfast.result_base import ResultMixin
from holdfast.similarity import Correlation, aligned
from holdfast.text import display_names, format_count

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart


Order: TypeAlias = Literal["file", "frequency", "correlation"]
Indices: TypeAlias = NDArray[np.int64]

MAX_COLUMNS, MAX_ROWS = 300, 100
GROUPED_FROM = 0.7


@dataclass(frozen=True, eq=False, kw_only=True)
class SelectionMap(ResultMixin):
    """A selection map as three tidy frames, and the counts behind its title.

    Attributes
    ----------
    cells : DataFrame
        ``row``, ``column`` and ``share``: the share of the resamples × features of a cell that was selected (1 unless
        several are drawn as one); cells without any selected feature are left out.
    columns : DataFrame
        ``column``, ``feature`` (the first and the last if several are drawn as one), ``features`` (how many),
        ``frequency`` (their mean selection frequency) and ``group`` (of correlated features; -1 for none).
    rows : DataFrame
        ``row``, ``resample`` (its label), ``first`` and ``last`` (numbers of the resamples, from 1) and ``block``.
    order : {"file", "frequency", "correlation"}
        Order of the columns.
    n_runs, n_features : int
        Number of resamples and of all features.
    n_always, n_sometimes : int
        Number of features that every resample selected, and that some but not all did.

    See Also
    --------
    selection_map_data : Makes it.

    Examples
    --------
    >>> from holdfast import plots
    >>> from holdfast.datasets import load_example
    >>> plots.selection_map_data(load_example().top(10))
    Selection map of 20 rows and 13 columns, 200 cells
    """

    _table_field: ClassVar[str] = "cells"

    cells: pd.DataFrame
    columns: pd.DataFrame
    rows: pd.DataFrame
    order: Order
    n_runs: int
    n_features: int
    n_always: int
    n_sometimes: int

    def plot(self) -> "AnyChart":
        """Draw the map (see :func:`plot_selection_map`).

        Returns
        -------
        altair.Chart
            A notebook shows it; :func:`save` writes it to a file.
        """
        return draw_selection_map(self)

    def _card(self) -> Card:
        cells = self.cells[["row", "column", "share"]].itertuples(index=False, name=None)
        verdict = f"{self.n_always} features in all {self.n_runs} resamples; {self.n_sometimes} others came and went"
        frame = self.columns[["feature", "features", "frequency"]].sort_values(
            "frequency", ascending=False, kind="stable", ignore_index=True
        )
        picture = draw_barcode(cells, len(self.rows), len(self.columns))
        return Card(title=repr(self), verdict=verdict, frame=frame, picture=picture, rows=4)

    def __repr__(self) -> str:
        return f"Selection map of {len(self.rows)} rows and {len(self.columns)} columns, {len(self.cells)} cells"


def selection_map_data(
    source: Source,
    candidate: str | None = None,
    *,
    order: Order = "file",
    show: Literal["selected", "all"] = "selected",
    X: Matrix | None = None,
    blocks: Sequence[Any] | None = None,
) -> SelectionMap:
    """Return which resample selected which feature.

    At most 100 rows and 300 columns are returned. If there are more, neighbors in file order are drawn as one; in the
    other orders only the most frequent features are returned.

    Parameters
    ----------
    source : Preferences of subsets, 0/1 matrix, or StudyResult
        What each resample selected.
    candidate : str, optional
        Which candidate of a study; the only one by default.
    order : {"file", "frequency", "correlation"}
        Features in the order of the file, the most frequent first, or correlated ones side by side.
    show : {"selected", "all"}
        Only features that were ever selected, or all.
    X : matrix, optional
        Samples × features, for ``order="correlation"``.
    blocks : sequence, optional
        A name for each resample: those of one name are drawn together. A study knows them (outer fold, pair, repeat).

    Returns
    -------
    SelectionMap
        Cells, columns and rows of the map.

    Raises
    ------
    ValueError
        If ``show`` or ``order`` is something else, or there is not a block for each resample.

    See Also
    --------
    plot_selection_map : Draws them.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast import plots
    >>> data = plots.selection_map_data(hf.Preferences.from_sets([{"a", "b"}, {"a"}], features=["b", "c", "a"]))
    >>> data.cells
       row  column  share
    0    0       0    1.0
    1    0       1    1.0
    2    1       1    1.0
    >>> data.columns
       column feature  features  frequency  group
    0       0       b         1        0.5     -1
    1       1       a         1        1.0     -1
    """
    runs_by_block = find_subsets(source, candidate)
    if show not in ("selected", "all"):
        raise ValueError(f"Expected show='selected' or 'all', got {show!r}.")
    runs = runs_by_block.runs
    if blocks is not None:
        if len(blocks) != runs.n_runs:
            raise ValueError(f"Expected a block for each of {runs.n_runs} resamples, got {len(blocks)}.")
        runs_by_block = replace(runs_by_block, design="given", blocks=list(blocks))
    features, groups = _ordered_features(runs, order, show, X)
    column_of = _bins(len(features), MAX_COLUMNS)
    rows, row_of = _rows(runs_by_block)
    return SelectionMap(
        cells=_cells(runs, features, column_of, row_of),
        columns=_columns(runs, features, column_of, groups),
        rows=rows,
        order=order,
        n_runs=runs.n_runs,
        n_features=runs.n_features,
        n_always=int((runs.counts == runs.n_runs).sum()),
        n_sometimes=int(((runs.counts > 0) & (runs.counts < runs.n_runs)).sum()),
    )


def _bins(count: int, most: int) -> Indices:
    """Return the bin of each of several neighbors, at most so many bins."""
    return np.arange(count) if count <= most else np.arange(count) * most // count


# Columns


def _ordered_features(runs: Preferences, order: str, show: str, X: Matrix | None) -> tuple[Indices, Indices]:
    """Return the features to draw, in their order, and the group of each."""
    features = np.flatnonzero(runs.counts) if show == "selected" else np.arange(runs.n_features)
    if order == "file":
        return features, np.full(features.size, -1)
    if order not in ("frequency", "correlation"):
        raise ValueError(f"Expected order 'file', 'frequency' or 'correlation', got {order!r}.")
    features = features[np.argsort(-runs.counts[features], kind="stable")][:MAX_COLUMNS]
    if order == "frequency":
        return features, np.full(features.size, -1)
    if X is None:
        raise ValueError("Expected X= (samples × features): order='correlation' needs the data.")
    return _grouped(features, aligned(Correlation(X), runs.features).block(features, features))


def _grouped(features: Indices, similarity: NDArray[np.float64]) -> tuple[Indices, Indices]:
    """Put correlated features side by side; those of at least 0.7 on average are a group."""
    if features.size < 2:
        return features, np.full(features.size, -1)
    from scipy.cluster.hierarchy import fcluster, leaves_list, linkage

    distances = 1 - similarity[np.triu_indices(features.size, 1)]
    tree = linkage(distances, "average")
    leaves = leaves_list(tree)
    labels = pd.Series(fcluster(tree, 1 - GROUPED_FROM + 1e-9, "distance")[leaves])
    several = labels.map(labels.value_counts()) > 1
    groups = np.full(features.size, -1)
    groups[several] = pd.factorize(labels[several])[0]
    return features[leaves], groups


def _columns(runs: Preferences, features: Indices, column_of: Indices, groups: Indices) -> pd.DataFrame:
    names = [str(runs.features[feature]) for feature in features]
    table = pd.DataFrame(
        {"column": column_of, "feature": names, "frequency": runs.frequency[features], "group": groups}
    )
    table["feature"] = table["feature"].astype(str)  # an empty column is one of numbers to pandas
    by = table.groupby("column", sort=True)
    binned = by.agg(
        first=("feature", "first"), last=("feature", "last"), features=("feature", "size"),
        frequency=("frequency", "mean"), group=("group", "first"),
    ).reset_index()  # fmt: skip
    binned["feature"] = binned["first"].where(binned["features"] == 1, binned["first"] + " … " + binned["last"])
    return binned[["column", "feature", "features", "frequency", "group"]]


# Rows and cells


def _rows(runs_by_block: RunsByBlock) -> tuple[pd.DataFrame, Indices]:
    """Return the rows to draw, resamples of one block together, and the row of each resample."""
    runs = runs_by_block.runs
    codes = pd.factorize(pd.Series(list(runs_by_block.blocks), dtype=object))[0]
    order = np.argsort(codes, kind="stable")
    row_of = np.empty(runs.n_runs, np.int64)
    row_of[order] = _bins(runs.n_runs, MAX_ROWS)
    labels = runs.labels or tuple(f"resample {run + 1}" for run in range(runs.n_runs))
    table = pd.DataFrame(
        {
            "row": row_of[order],
            "resample": [labels[run] for run in order],
            "number": np.arange(1, runs.n_runs + 1),
            "block": [_block_name(runs_by_block, run) for run in order],
        }
    )
    rows = table.groupby("row", sort=True).agg(
        start=("resample", "first"), end=("resample", "last"), first=("number", "min"), last=("number", "max"),
        block=("block", "first"),
    ).reset_index()  # fmt: skip
    rows["resample"] = rows["start"].where(rows["first"] == rows["last"], rows["start"] + " … " + rows["end"])
    return rows[["row", "resample", "first", "last", "block"]], row_of


def _block_name(runs_by_block: RunsByBlock, run: int) -> str:
    """Return the name of the block of a resample; empty where the design has no blocks."""
    block, name = runs_by_block.blocks[run], BLOCKS.get(runs_by_block.design)
    if runs_by_block.design == "runs" or (runs_by_block.design == "folds" and len(set(runs_by_block.blocks)) == 1):
        return ""
    return str(block) if name is None else f"{name} {block + 1}"


def _cells(runs: Preferences, features: Indices, column_of: Indices, row_of: Indices) -> pd.DataFrame:
    drawn_in = np.full(runs.n_features, -1)
    drawn_in[features] = column_of
    indices, indptr = runs.lists()
    rows, columns = np.repeat(row_of, np.diff(indptr)), drawn_in[indices]
    visible = columns >= 0
    width = int(column_of.max(initial=0)) + 1
    cells, counts = np.unique(rows[visible] * width + columns[visible], return_counts=True)
    row, column = cells // width, cells % width
    return pd.DataFrame(
        {"row": row, "column": column, "share": counts / (np.bincount(row_of)[row] * np.bincount(column_of)[column])}
    )


MAX_BLOCK_NAMES = 30
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
        Features in the order of the file, the most frequent first, or correlated ones side by side.
    show : {"selected", "all"}
        Only features that were ever selected, or all.
    X : matrix, optional
        Samples × features, for ``order="correlation"``.
    blocks : sequence, optional
        A name for each resample: those of one name are drawn together. A study knows them (outer fold, pair, repeat).

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
    width = NARROW if narrow else min(WIDTH, max(380, 18 * len(data.columns)))
    across = alt.Scale(domain=[-0.5, len(data.columns) - 0.5], nice=False, zero=False)
    columns = data.columns.assign(
        feature=display_names(data.columns["feature"]),
        left=data.columns["column"] - 0.46,
        right=data.columns["column"] + 0.46,
    )
    percents = alt.Axis(format="%", values=[0, 0.5, 1])
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
    layers = [*_group_marks(data), _cell_marks(data, columns, across, height), *_block_marks(data.rows)]
    if NAME_HEIGHT * len(columns) <= width:
        text = alt.Chart(inline_data(columns)).mark_text(angle=270, align="right", dx=-6, limit=170, fontSize=11)
        x = alt.X("column:Q", scale=across, axis=None)
        layers.append(text.encode(x=x, y=alt.YValue(height), text=alt.Text("feature:N")))
    body = alt.layer(*layers).properties(width=width, height=height)
    chart = alt.vconcat(top.properties(width=width, height=44), body, spacing=4)
    return finish_chart(chart, _finding(data), [_note(data)], width=width + 50 if narrow else max(width + 60, 560))


def _cell_marks(data: SelectionMap, columns: pd.DataFrame, across: Any, height: int) -> "alt.Chart":
    """Return cells as lists of numbers, which look up their features: names are written once, not once per cell."""
    rows = data.rows.assign(top=data.rows["first"] - 0.46, bottom=data.rows["last"] + 0.46)
    whole = bool((data.cells["share"] == 1).all())
    lists: list[Any] = ["column"] if whole else ["column", "share"]
    fields = ["feature", "frequency", "left", "right"]
    features = alt.LookupData(data=inline_data(columns[["column", *fields]]), key="column", fields=fields)
    chart = alt.Chart(_row_lists(rows, data.cells[["row", *lists]])).transform_flatten(lists)
    chart = chart.transform_lookup(lookup="column", from_=features)
    shares = alt.Scale(type="sqrt", domain=[0, max(data.cells["share"].max(), 1e-6)], range=[0.04, 1])
    share = alt.Opacity("share:Q", legend=alt.Legend(title="share selected", format="%"), scale=shares)
    down = alt.Scale(domain=[0.5, rows["last"].max() + 0.5], reverse=True, nice=False, zero=False)
    named = data.rows["block"].ne("").any() and data.rows["block"].nunique() <= MAX_BLOCK_NAMES
    ticks = {"tickCount": min(10, height // TICK_HEIGHT), "tickMinStep": 1}
    axis = None if named else alt.Axis(**ticks, format="d", grid=False, domain=False)
    return chart.mark_rect().encode(
        x=alt.X("left:Q", scale=across, axis=None),
        x2=alt.X2("right:Q"),
        y=alt.Y("top:Q", scale=down, title="resample", axis=axis),
        y2=alt.Y2("bottom:Q"),
        **({} if whole else {"opacity": share}),
        tooltip=[
            *tooltips({"resample:N": "resample", "feature:N": "feature"}),
            *tooltips({"frequency:Q": "selected in"}, ".0%"),
        ],
    )


def _row_lists(rows: pd.DataFrame, cells: pd.DataFrame) -> Any:
    """Return each row with lists of its cells, a tenth of the bytes of a record for each cell."""
    cells = cells.sort_values("row", kind="stable")
    filled, starts = np.unique(cells["row"], return_index=True)
    lists = {str(name): np.split(cells[name].to_numpy().round(4), starts[1:]) for name in cells.columns.drop("row")}
    values = [
        record | {name: parts[filled.searchsorted(record["row"])].tolist() for name, parts in lists.items()}
        for record in to_records(rows[rows["row"].isin(filled)])
    ]
    return alt.InlineData(values=values)


def _block_marks(rows: pd.DataFrame) -> "list[alt.Chart]":
    """Return lines between blocks, and their names."""
    if not rows["block"].ne("").any():
        return []
    blocks = rows.groupby("block", sort=False).agg(first=("first", "min"), last=("last", "max")).reset_index()
    blocks = blocks.assign(block=display_names(blocks["block"]), middle=(blocks["first"] + blocks["last"]) / 2)
    base = alt.Chart(inline_data(blocks.assign(start=blocks["first"] - 0.5)))
    marks = [
        base.mark_rule(style="quiet-line", strokeWidth=0.7, opacity=0.8).encode(y=alt.Y("start:Q", title="resample"))
    ]
    if len(blocks) <= MAX_BLOCK_NAMES:
        name = base.mark_text(align="right", dx=-8, limit=120, fontSize=11)
        marks.append(name.encode(x=alt.XValue(0), y=alt.Y("middle:Q", title="resample"), text=alt.Text("block:N")))
    return marks


def _group_marks(data: SelectionMap) -> "list[alt.Chart]":
    """Return shades behind groups of correlated features."""
    groups = data.columns[data.columns["group"] >= 0]
    if groups.empty:
        return []
    spans = groups.groupby("group").agg(left=("column", "min"), right=("column", "max")).reset_index()
    spans = spans.assign(
        left=spans["left"] - 0.46, right=spans["right"] + 0.46, top=0.5, bottom=data.rows["last"].max() + 0.5
    )
    base = alt.Chart(inline_data(spans)).mark_rect(style="quiet", opacity=0.22, tooltip=None)
    down = {"y": alt.Y("top:Q", title="resample"), "y2": alt.Y2("bottom:Q")}
    return [base.encode(x=alt.X("left:Q", axis=None), x2=alt.X2("right:Q"), **down)]


def _finding(data: SelectionMap) -> str:
    n, always, sometimes = data.n_runs, data.n_always, data.n_sometimes
    if n == 1:
        return f"One resample selected {format_count(always, 'feature')}: more are needed to see how stable that is"
    if not sometimes:
        return f"All {n} resamples selected the same {format_count(always, 'feature').removeprefix('1 ')} and no other"
    if not always:
        return f"No feature was selected in all of {n} resamples; {sometimes:,} came and went"
    were = "was" if always == 1 else "were"
    core = f"{format_count(always, 'feature')} {were} selected in all {n} resamples"
    return f"{core}; {format_count(sometimes, 'other')} came and went"


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
