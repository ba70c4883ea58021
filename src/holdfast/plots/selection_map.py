"""The selection map: which run selected which feature (Figure 1 of Kalousis, Prados and Hilario, 2005)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.checks import Matrix
from holdfast.inference.designs import DesignedRuns
from holdfast.plots.sources import BLOCKS, Source, subsets_of
from holdfast.plots.text import counted, shown
from holdfast.plots.theme import altair, finished, inline, records, sentence
from holdfast.preferences import Preferences
from holdfast.results import ResultMixin
from holdfast.similarity import Correlation, aligned

if TYPE_CHECKING:
    import altair as alt

Order: TypeAlias = Literal["file", "frequency", "correlation"]
Places: TypeAlias = NDArray[np.int64]

MOST_COLUMNS, MOST_ROWS, MOST_NAMES, MOST_BLOCK_NAMES = 300, 100, 60, 30
GROUPED_FROM = 0.7
WIDTH = 640


@dataclass(frozen=True, eq=False)
class SelectionMap(ResultMixin):
    """A selection map as three tidy frames.

    Attributes
    ----------
    cells : DataFrame
        ``row``, ``column`` and ``share``: which share of the runs × features of a cell was selected (1 unless several
        are drawn as one); cells of which nothing was selected are left out.
    columns : DataFrame
        ``column``, ``feature`` (the first and the last if several are drawn as one), ``features`` (how many),
        ``frequency`` (mean share of runs that selected them) and ``group`` (of correlated features; -1 for none).
    rows : DataFrame
        ``row``, ``run`` (its label), ``first`` and ``last`` (numbers of the runs, from 1) and ``block``.
    """

    cells: pd.DataFrame
    columns: pd.DataFrame
    rows: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """Return one row per cell (see :attr:`cells`)."""
        return self.cells

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
    """Return which run selected which feature.

    However many there are, at most 100 rows and 300 columns are returned. In file order neighbors are then drawn as
    one; in the other orders the features selected most often are kept.

    Parameters
    ----------
    source : Preferences of subsets, 0/1 matrix, or StudyResult
        What each run selected.
    candidate : str, optional
        Which candidate of a study; the only one by default.
    order : {"file", "frequency", "correlation"}
        Features as they stand in the file, the most frequent first, or correlated ones side by side.
    show : {"selected", "all"}
        Only features that were ever selected, or all.
    X : matrix, optional
        Samples × features, for ``order="correlation"``.
    blocks : sequence, optional
        A name for each run: runs of one name stand together. A study knows them (outer fold, pair, repeat).

    Returns
    -------
    SelectionMap

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast import plots
    >>> drawn = plots.selection_map_data(hf.Preferences.from_sets([{"a", "b"}, {"a"}], features=["b", "c", "a"]))
    >>> drawn.cells
       row  column  share
    0    0       0    1.0
    1    0       1    1.0
    2    1       1    1.0
    >>> drawn.columns
       column feature  features  frequency  group
    0       0       b         1        0.5     -1
    1       1       a         1        1.0     -1
    """
    designed = subsets_of(source, candidate)
    if show not in ("selected", "all"):
        raise ValueError(f"Expected show='selected' or 'all', got {show!r}.")
    if blocks is not None:
        designed = _blocked(designed, blocks)
    features, groups = _ordered(designed.runs, order, show, X)
    as_column = _bins(len(features), MOST_COLUMNS)
    rows, row_of = _rows(designed)
    return SelectionMap(
        _cells(designed.runs, features, as_column, row_of), _columns(designed.runs, features, as_column, groups), rows
    )


def _blocked(designed: DesignedRuns, blocks: Sequence[Any]) -> DesignedRuns:
    if len(blocks) != designed.runs.n_runs:
        raise ValueError(f"Expected a block for each of {designed.runs.n_runs} runs, got {len(blocks)}.")
    return replace(designed, design="given", blocks=list(blocks))


def _bins(count: int, most: int) -> Places:
    """Which of at most so many bins each of several neighbors falls into."""
    return np.arange(count) if count <= most else np.arange(count) * most // count


# Columns


def _ordered(runs: Preferences, order: str, show: str, X: Matrix | None) -> tuple[Places, Places]:
    """The features to draw, in their order, and the group of each."""
    features = np.flatnonzero(runs.counts) if show == "selected" else np.arange(runs.n_features)
    if order == "file":
        return features, np.full(features.size, -1)
    if order not in ("frequency", "correlation"):
        raise ValueError(f"Expected order 'file', 'frequency' or 'correlation', got {order!r}.")
    features = features[np.argsort(-runs.counts[features], kind="stable")][:MOST_COLUMNS]
    if order == "frequency":
        return features, np.full(features.size, -1)
    if X is None:
        raise ValueError("Expected X= (samples × features) to group features by correlation, got none.")
    return _grouped(features, aligned(Correlation(X), runs.features).block(features, features))


def _grouped(features: Places, similarity: NDArray[np.float64]) -> tuple[Places, Places]:
    """Correlated features side by side; those of at least 0.7 on average are a group."""
    if features.size < 2:
        return features, np.full(features.size, -1)
    from scipy.cluster.hierarchy import fcluster, leaves_list, linkage

    apart = 1 - similarity[np.triu_indices(features.size, 1)]
    tree = linkage(apart, "average")
    leaves = leaves_list(tree)
    labels = pd.Series(fcluster(tree, 1 - GROUPED_FROM + 1e-9, "distance")[leaves])
    several = labels.map(labels.value_counts()) > 1
    groups = np.full(features.size, -1)
    groups[several] = pd.factorize(labels[several])[0]
    return features[leaves], groups


def _columns(runs: Preferences, features: Places, as_column: Places, groups: Places) -> pd.DataFrame:
    names = [str(runs.features[feature]) for feature in features]
    table = pd.DataFrame(
        {"column": as_column, "feature": names, "frequency": runs.frequency[features], "group": groups}
    )
    table["feature"] = table["feature"].astype(str)  # where there are none, pandas takes them for numbers
    by = table.groupby("column", sort=True)
    binned = by.agg(
        first=("feature", "first"), last=("feature", "last"), features=("feature", "size"),
        frequency=("frequency", "mean"), group=("group", "first"),
    ).reset_index()  # fmt: skip
    binned["feature"] = binned["first"].where(binned["features"] == 1, binned["first"] + " … " + binned["last"])
    return binned[["column", "feature", "features", "frequency", "group"]]


# Rows and cells


def _rows(designed: DesignedRuns) -> tuple[pd.DataFrame, Places]:
    """The rows to draw, runs of one block together, and the row of each run."""
    runs = designed.runs
    codes = pd.factorize(pd.Series(list(designed.blocks), dtype=object))[0]
    order = np.argsort(codes, kind="stable")
    row_of = np.empty(runs.n_runs, np.int64)
    row_of[order] = _bins(runs.n_runs, MOST_ROWS)
    labels = runs.labels or tuple(f"run {run + 1}" for run in range(runs.n_runs))
    table = pd.DataFrame(
        {
            "row": row_of[order],
            "run": [labels[run] for run in order],
            "number": np.arange(1, runs.n_runs + 1),
            "block": [_block_name(designed, run) for run in order],
        }
    )
    rows = table.groupby("row", sort=True).agg(
        start=("run", "first"), end=("run", "last"), first=("number", "min"), last=("number", "max"),
        block=("block", "first"),
    ).reset_index()  # fmt: skip
    rows["run"] = rows["start"].where(rows["first"] == rows["last"], rows["start"] + " … " + rows["end"])
    return rows[["row", "run", "first", "last", "block"]], row_of


def _block_name(designed: DesignedRuns, run: int) -> str:
    """The block of a run; empty where runs stand beside each other."""
    block, name = designed.blocks[run], BLOCKS.get(designed.design)
    if designed.design == "runs" or (designed.design == "folds" and len(set(designed.blocks)) == 1):
        return ""
    return str(block) if name is None else f"{name} {block + 1}"


def _cells(runs: Preferences, features: Places, as_column: Places, row_of: Places) -> pd.DataFrame:
    place = np.full(runs.n_features, -1)
    place[features] = as_column
    indices, indptr = runs.lists()
    rows, columns = np.repeat(row_of, np.diff(indptr)), place[indices]
    kept = columns >= 0
    width = int(as_column.max(initial=0)) + 1
    cells, counts = np.unique(rows[kept] * width + columns[kept], return_counts=True)
    row, column = cells // width, cells % width
    return pd.DataFrame(
        {"row": row, "column": column, "share": counts / (np.bincount(row_of)[row] * np.bincount(as_column)[column])}
    )


# Drawing


def plot_selection_map(
    source: Source,
    candidate: str | None = None,
    *,
    order: Order = "file",
    show: Literal["selected", "all"] = "selected",
    X: Matrix | None = None,
    blocks: Sequence[Any] | None = None,
) -> "alt.VConcatChart | alt.LayerChart":
    """Draw which run selected which feature, with the frequencies on top; parameters as for :func:`selection_map_data`.

    A selection that holds is a barcode: the same columns in every row.

    Examples
    --------
    >>> from holdfast import plots
    >>> from holdfast.datasets import load_example
    >>> print(*plots.plot_selection_map(load_example().top(10)).title.text)
    7 features were selected in all 20 runs; 6 others came and went
    """
    runs = subsets_of(source, candidate).runs
    drawn = selection_map_data(source, candidate, order=order, show=show, X=X, blocks=blocks)
    if drawn.cells.empty:
        return sentence(
            f"No feature was selected in any of {counted(runs.n_runs, 'run')}",
            f"{runs.n_features:,} features to choose",
        )
    alt = altair()
    width = min(WIDTH, max(260, 18 * len(drawn.columns)))
    across = alt.Scale(domain=[-0.5, len(drawn.columns) - 0.5], nice=False, zero=False)
    columns, percents = _column_marks(drawn), alt.Axis(format="%", values=[0, 0.5, 1])
    top = (
        alt.Chart(inline(columns))
        .mark_rect()
        .encode(
            x=alt.X("left:Q", scale=across, axis=None),
            x2="right:Q",
            y=alt.Y("frequency:Q", title="frequency", scale=alt.Scale(domain=[0, 1]), axis=percents),
            y2=alt.datum(0),
            tooltip=[alt.Tooltip("feature:N"), alt.Tooltip("frequency:Q", format=".0%")],
        )
    )
    height = min(420, max(60, 14 * len(drawn.rows)))
    layers = [*_group_marks(drawn), *_cell_marks(drawn, columns, across), *_block_marks(drawn.rows)]
    if len(columns) <= MOST_NAMES:
        layers.append(_names(columns, across, height))
    body = alt.layer(*layers).properties(width=width, height=height)
    chart = alt.vconcat(top.properties(width=width, height=44), body, spacing=4)
    return finished(chart, _finding(runs), _notes(runs, drawn, order), width=max(width + 60, 560))


def _column_marks(drawn: SelectionMap) -> pd.DataFrame:
    columns = drawn.columns
    return columns.assign(
        feature=shown(columns["feature"]), left=columns["column"] - 0.46, right=columns["column"] + 0.46
    )


def _cell_marks(drawn: SelectionMap, columns: pd.DataFrame, across: Any) -> "list[alt.Chart]":
    """Cells as lists of numbers, which look up their features: names are written once, not once per cell."""
    alt = altair()
    rows = drawn.rows.assign(top=drawn.rows["first"] - 0.46, bottom=drawn.rows["last"] + 0.46)
    alone = bool((drawn.cells["share"] == 1).all())
    listed = ["column"] if alone else ["column", "share"]
    wanted = ["feature", "frequency", "left", "right"]
    found = alt.LookupData(data=inline(columns[["column", *wanted]]), key="column", fields=wanted)
    chart = alt.Chart(_lists(rows, drawn.cells[["row", *listed]])).transform_flatten(listed)
    chart = chart.transform_lookup(lookup="column", from_=found)
    share = alt.Opacity("share:Q", legend=alt.Legend(title="share selected", format="%"), scale=_shares(drawn.cells))
    down = alt.Scale(domain=[0.5, rows["last"].max() + 0.5], reverse=True, nice=False, zero=False)
    named = drawn.rows["block"].ne("").any() and drawn.rows["block"].nunique() <= MOST_BLOCK_NAMES
    ticks = np.unique(np.linspace(1, rows["last"].max(), 11).round()).tolist()
    axis = None if named else alt.Axis(values=ticks, format="d", grid=False, domain=False)
    return [
        chart.mark_rect().encode(
            x=alt.X("left:Q", scale=across, axis=None),
            x2="right:Q",
            y=alt.Y("top:Q", scale=down, title="run", axis=axis),
            y2="bottom:Q",
            **({} if alone else {"opacity": share}),
            tooltip=[
                alt.Tooltip("run:N", title="run"),
                alt.Tooltip("feature:N", title="feature"),
                alt.Tooltip("frequency:Q", title="selected in", format=".0%"),
            ],
        )
    ]


def _lists(rows: pd.DataFrame, cells: pd.DataFrame) -> Any:
    """Each row with the lists of its cells, which are a tenth of the bytes of a record for each."""
    by_row = {row: found.drop(columns="row").round(4).to_dict("list") for row, found in cells.groupby("row")}
    drawn = [{**record, **by_row[record["row"]]} for record in records(rows) if record["row"] in by_row]
    return altair().InlineData(values=drawn)


def _shares(cells: pd.DataFrame) -> Any:
    return altair().Scale(type="sqrt", domain=[0, max(cells["share"].max(), 1e-6)], range=[0.04, 1])


def _block_marks(rows: pd.DataFrame) -> "list[alt.Chart]":
    """A line between blocks, and their names."""
    if not rows["block"].ne("").any():
        return []
    alt = altair()
    blocks = rows.groupby("block", sort=False).agg(first=("first", "min"), last=("last", "max")).reset_index()
    blocks = blocks.assign(block=shown(blocks["block"]), middle=(blocks["first"] + blocks["last"]) / 2)
    base = alt.Chart(inline(blocks.assign(start=blocks["first"] - 0.5)))
    marks = [base.mark_rule(style="quiet-line", strokeWidth=0.7, opacity=0.8).encode(y=alt.Y("start:Q", title="run"))]
    if len(blocks) <= MOST_BLOCK_NAMES:
        name = base.mark_text(align="right", dx=-8, limit=120, fontSize=11)
        marks.append(name.encode(x=alt.value(0), y=alt.Y("middle:Q", title="run"), text="block:N"))
    return marks


def _group_marks(drawn: SelectionMap) -> "list[alt.Chart]":
    """Shades behind groups of correlated features."""
    groups = drawn.columns[drawn.columns["group"] >= 0]
    if groups.empty:
        return []
    alt = altair()
    spans = groups.groupby("group").agg(left=("column", "min"), right=("column", "max")).reset_index()
    spans = spans.assign(
        left=spans["left"] - 0.46, right=spans["right"] + 0.46, top=0.5, bottom=drawn.rows["last"].max() + 0.5
    )
    base = alt.Chart(inline(spans)).mark_rect(style="quiet", opacity=0.22, tooltip=None)
    return [base.encode(x=alt.X("left:Q", axis=None), x2="right:Q", y=alt.Y("top:Q", title="run"), y2="bottom:Q")]


def _names(columns: pd.DataFrame, across: Any, height: int) -> "alt.Chart":
    alt = altair()
    text = alt.Chart(inline(columns)).mark_text(angle=270, align="right", dx=-6, limit=170, fontSize=11)
    return text.encode(x=alt.X("column:Q", scale=across, axis=None), y=alt.value(height), text="feature:N")


def _finding(runs: Preferences) -> str:
    counts, n = runs.counts, runs.n_runs
    always, some = int((counts == n).sum()), int(((counts > 0) & (counts < n)).sum())
    if n == 1:
        return f"One run selected {counted(always, 'feature')}: it takes more runs to see what holds"
    if not some:
        return f"All {n} runs selected the same {counted(always, 'feature').removeprefix('1 ')} and no other"
    if not always:
        return f"No feature was selected in all of {n} runs; {some:,} came and went"
    others = "1 other" if some == 1 else f"{some:,} others"
    were = "feature was" if always == 1 else "features were"
    return f"{always:,} {were} selected in all {n} runs; {others} came and went"


def _notes(runs: Preferences, drawn: SelectionMap, order: str) -> list[str]:
    sorts = {"file": "in file order", "frequency": "the most frequent first", "correlation": "correlated ones together"}
    used, columns = int((runs.counts > 0).sum()), int(drawn.columns["features"].sum())
    several = len(drawn.columns) < columns
    each = f"a column about {columns / len(drawn.columns):.0f} features" if several else "a column a feature"
    line = "a run" if drawn.rows["row"].size == runs.n_runs else f"about {runs.n_runs / len(drawn.rows):.0f} runs"
    left_out = runs.n_features - columns
    what = "never selected" if columns >= used else f"selected less often or never ({runs.n_features:,} in all)"
    notes = [f"each line is {line}, {each}, {sorts[order]}"]
    notes += [f"{left_out:,} features left out: {what}"] if left_out else []
    notes += ["shaded: correlated at 0.7 or more"] if (drawn.columns["group"] >= 0).any() else []
    return ["; ".join(notes)]
