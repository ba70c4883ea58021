"""The data of a selection map: which resample selected which feature, binned to what can be drawn."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.cards import Card, draw_barcode
from holdfast.checks import Matrix
from holdfast.inference.designs import DesignedRuns
from holdfast.plots.sources import BLOCKS, Source, designed_subsets
from holdfast.preferences import Preferences
from holdfast.result_base import ResultMixin
from holdfast.similarity import Correlation, aligned

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart

Order: TypeAlias = Literal["file", "frequency", "correlation"]
Places: TypeAlias = NDArray[np.int64]

MOST_COLUMNS, MOST_ROWS = 300, 100
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

    cells: pd.DataFrame
    columns: pd.DataFrame
    rows: pd.DataFrame
    order: Order
    n_runs: int
    n_features: int
    n_always: int
    n_sometimes: int

    def to_frame(self) -> pd.DataFrame:
        """Return one row per cell (see :attr:`cells`).

        Returns
        -------
        DataFrame
            ``row``, ``column`` and ``share``.
        """
        return self.cells

    def plot(self) -> "AnyChart":
        """Draw the map (see :func:`plot_selection_map`).

        Returns
        -------
        altair.Chart
            A notebook shows it; :func:`save` writes it to a file.
        """
        from holdfast.plots.selection_map import draw_selection_map

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
        Features as they stand in the file, the most frequent first, or correlated ones side by side.
    show : {"selected", "all"}
        Only features that were ever selected, or all.
    X : matrix, optional
        Samples × features, for ``order="correlation"``.
    blocks : sequence, optional
        A name for each resample: those of one name stand together. A study knows them (outer fold, pair, repeat).

    Returns
    -------
    SelectionMap
        Cells, columns and rows of the map.

    Raises
    ------
    ValueError
        If ``show`` or ``order`` is something else.

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
    designed = designed_subsets(source, candidate)
    if show not in ("selected", "all"):
        raise ValueError(f"Expected show='selected' or 'all', got {show!r}.")
    if blocks is not None:
        designed = _with_blocks(designed, blocks)
    runs = designed.runs
    features, groups = _ordered_features(runs, order, show, X)
    column_of = _bins(len(features), MOST_COLUMNS)
    rows, row_of = _rows(designed)
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


def _with_blocks(designed: DesignedRuns, blocks: Sequence[Any]) -> DesignedRuns:
    if len(blocks) != designed.runs.n_runs:
        raise ValueError(f"Expected a block for each of {designed.runs.n_runs} resamples, got {len(blocks)}.")
    return replace(designed, design="given", blocks=list(blocks))


def _bins(count: int, most: int) -> Places:
    """Return the bin of each of several neighbors, at most so many bins."""
    return np.arange(count) if count <= most else np.arange(count) * most // count


# Columns


def _ordered_features(runs: Preferences, order: str, show: str, X: Matrix | None) -> tuple[Places, Places]:
    """Return the features to draw, in their order, and the group of each."""
    features = np.flatnonzero(runs.counts) if show == "selected" else np.arange(runs.n_features)
    if order == "file":
        return features, np.full(features.size, -1)
    if order not in ("frequency", "correlation"):
        raise ValueError(f"Expected order 'file', 'frequency' or 'correlation', got {order!r}.")
    features = features[np.argsort(-runs.counts[features], kind="stable")][:MOST_COLUMNS]
    if order == "frequency":
        return features, np.full(features.size, -1)
    if X is None:
        raise ValueError("Expected X= (samples × features): order='correlation' needs the data.")
    return _grouped(features, aligned(Correlation(X), runs.features).block(features, features))


def _grouped(features: Places, similarity: NDArray[np.float64]) -> tuple[Places, Places]:
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


def _columns(runs: Preferences, features: Places, column_of: Places, groups: Places) -> pd.DataFrame:
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


def _rows(designed: DesignedRuns) -> tuple[pd.DataFrame, Places]:
    """Return the rows to draw, resamples of one block together, and the row of each resample."""
    runs = designed.runs
    codes = pd.factorize(pd.Series(list(designed.blocks), dtype=object))[0]
    order = np.argsort(codes, kind="stable")
    row_of = np.empty(runs.n_runs, np.int64)
    row_of[order] = _bins(runs.n_runs, MOST_ROWS)
    labels = runs.labels or tuple(f"resample {run + 1}" for run in range(runs.n_runs))
    table = pd.DataFrame(
        {
            "row": row_of[order],
            "resample": [labels[run] for run in order],
            "number": np.arange(1, runs.n_runs + 1),
            "block": [_block_name(designed, run) for run in order],
        }
    )
    rows = table.groupby("row", sort=True).agg(
        start=("resample", "first"), end=("resample", "last"), first=("number", "min"), last=("number", "max"),
        block=("block", "first"),
    ).reset_index()  # fmt: skip
    rows["resample"] = rows["start"].where(rows["first"] == rows["last"], rows["start"] + " … " + rows["end"])
    return rows[["row", "resample", "first", "last", "block"]], row_of


def _block_name(designed: DesignedRuns, run: int) -> str:
    """Return the name of the block of a resample; empty where the design has no blocks."""
    block, name = designed.blocks[run], BLOCKS.get(designed.design)
    if designed.design == "runs" or (designed.design == "folds" and len(set(designed.blocks)) == 1):
        return ""
    return str(block) if name is None else f"{name} {block + 1}"


def _cells(runs: Preferences, features: Places, column_of: Places, row_of: Places) -> pd.DataFrame:
    place = np.full(runs.n_features, -1)
    place[features] = column_of
    indices, indptr = runs.lists()
    rows, columns = np.repeat(row_of, np.diff(indptr)), place[indices]
    visible = columns >= 0
    width = int(column_of.max(initial=0)) + 1
    cells, counts = np.unique(rows[visible] * width + columns[visible], return_counts=True)
    row, column = cells // width, cells % width
    return pd.DataFrame(
        {"row": row, "column": column, "share": counts / (np.bincount(row_of)[row] * np.bincount(column_of)[column])}
    )
