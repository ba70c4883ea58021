"""The data of a study: features, covariates, target, groups; and the record of them that its store keeps."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor

from holdfast.checks import as_column, check_unique, type_name
from holdfast.io.doubts import Doubt, describe_equal_rows, find_doubts, settle_doubts, warn_of_doubts
from holdfast.io.questions import quote_names
from holdfast.io.record import DataRecord
from holdfast.io.table import Table, covariate_columns
from holdfast.resampling import Samples
from holdfast.text import format_count, join_first

PredictionTask = Literal["classification", "regression"]
FEW = 20  # a target of more different whole numbers than this is not taken for classes unless the user says so


@dataclass(frozen=True, eq=False)
class StudyData:
    """Features, covariates, target and groups of a study.

    Attributes
    ----------
    X : frame, array or sparse matrix
        The features to choose from: the universe.
    covariates : array or None
        Columns that are in every model and outside the universe.
    y : array
        The target.
    groups : array or None
        Rows of one group stay together.
    names : list of str
        Names of the features.
    named : bool
        Whether the features came with names.
    classes : array or None
        The classes, sorted; None if numbers are predicted.
    """

    X: Any
    covariates: NDArray[np.float64] | None
    y: NDArray[Any]
    groups: NDArray[Any] | None
    names: list[str]
    named: bool
    classes: NDArray[Any] | None

    @property
    def task(self) -> PredictionTask:
        """Whether classes or numbers are predicted."""
        return "regression" if self.classes is None else "classification"

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 if numbers are predicted."""
        return 0 if self.classes is None else self.classes.size

    # What every process makes once, when it is asked for

    @cached_property
    def target(self) -> NDArray[Any]:
        """The target as numbers: the number of the class, or the number itself."""
        return self.y.astype(np.float64) if self.classes is None else np.searchsorted(self.classes, self.y)

    @cached_property
    def samples(self) -> Samples:
        """What a perturbation knows of the rows: their number, classes and groups, all numbered."""
        return Samples.of(len(self.y), None if self.classes is None else self.target, self.groups)

    @cached_property
    def table(self) -> Any:
        """The features without their names: an array or a sparse matrix."""
        return self.X.to_numpy() if hasattr(self.X, "columns") else self.X

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """The features as numbers, dense."""
        try:
            dense = self.X.toarray() if hasattr(self.X, "toarray") else self.X
            return np.ascontiguousarray(dense, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(_describe_texts(self.X) or f"Expected numbers in X: {error}") from error

    @cached_property
    def model_table(self) -> NDArray[np.float64]:
        """All features, then the covariates, as numbers."""
        if self.covariates is None:
            return self.numbers
        return np.ascontiguousarray(np.hstack([self.numbers, self.covariates]), dtype=np.float64)

    @cached_property
    def own_numbers(self) -> NDArray[Any] | None:
        """The features as dense numbers of the type that they have in memory; None if X is sparse or holds others."""
        if sp.issparse(self.X):
            return None
        try:
            return self.table if self.table.dtype.kind in "biuf" else self.table.astype(np.float64)
        except (ValueError, TypeError):
            return None


def _describe_texts(X: Any) -> str:
    """Say which columns of a frame hold no numbers, and what to do; empty if none is found."""
    columns = [name for name in getattr(X, "columns", ()) if not pd.api.types.is_numeric_dtype(X[name])]
    if not columns:
        return ""
    first, others = columns[0], len(columns) - 1
    more = f" and text in {format_count(others, 'other column')}" if others else ""
    return (
        f"Expected numbers in X, got {X[first].iloc[0]!r} in row 0 of column {first!r}{more}; leave such columns out, "
        "or encode them, as pandas.get_dummies or hf.read_table(frame, target, categorical='one-hot') would."
    )


class GivenData(NamedTuple):
    """What a study was given to run on: features, target and groups as they came, and the table they stood in."""

    X: Any
    y: Any
    groups: Any
    table: Table | None


def take_data(X: Any, y: Any, groups: Any) -> GivenData:
    """Features, target and groups, of a table that brings all three, or as they were given one by one."""
    if not isinstance(X, Table):
        if y is None:
            raise ValueError(
                "Expected a target y with X, got none; give both, or a table of hf.read_table() alone, or to "
                "Study.run() a frame or AnnData with target= and the name of a column."
            )
        return GivenData(X, y, groups, None)
    for name, value in (("y", y), ("groups", groups)):
        if value is not None:
            raise ValueError(f"Expected a table alone, which brings its own {name}, got {name}= as well.")
    return GivenData(X.X, X.y, X.groups, X)


def record_data(data: StudyData, given: GivenData, treat_as_feature: Iterable[str] | bool = ()) -> DataRecord:
    """Record what the data are and what was done to them, for the store and the report; never a value of them.

    Columns are not searched for what is no feature if all are to be treated as features.
    """
    classes: tuple[tuple[str, int], ...] = ()
    if data.classes is not None:
        counts = np.bincount(data.target, minlength=data.classes.size).tolist()
        classes = tuple((str(label), count) for label, count in zip(data.classes.tolist(), counts, strict=True))
    facts: dict[str, Any] = {
        "rows": len(data.y), "features": len(data.names), "task": data.task, "classes": classes,
    }  # fmt: skip
    if given.table is not None:
        record = replace(given.table.record, **facts)
        doubts, notes = settle_doubts(record.doubts, treat_as_feature)
        known = warn_of_doubts(record.doubts)
        warnings = [*warn_of_doubts(doubts), *(warning for warning in record.warnings if warning not in known)]
        return replace(record, doubts=tuple(doubts), notes=(*record.notes, *notes), warnings=tuple(warnings))
    aligned = [
        f"Put {name} into the order of the rows of X, by their labels."
        for name, values in (("y", given.y), ("groups", given.groups))
        if _align(values, given.X, name) is not values
    ]
    shape = getattr(given.X, "shape", (len(data.y), len(data.names)))
    target, groups, equal_rows = _name(given.y), _name(given.groups), 0
    doubts, notes, warnings = list[Doubt](), list[str](), list[str]()
    if treat_as_feature is not True and not sp.issparse(data.X):
        frame = data.X if isinstance(data.X, pd.DataFrame) else pd.DataFrame(data.X, columns=data.names, copy=False)
        doubts, notes = settle_doubts(find_doubts(frame, data.y, data.groups, target, groups), treat_as_feature)
        equal_rows, repeats = describe_equal_rows(frame, data.y)
        warnings = [*warn_of_doubts(doubts), *repeats]
    return DataRecord(
        rows_read=int(shape[0]),
        columns_read=int(shape[1]),
        target=target,
        groups=groups,
        n_groups=None if data.groups is None else int(np.unique(data.groups).size),
        notes=(*aligned, *notes),
        warnings=tuple(warnings),
        equal_rows=equal_rows,
        doubts=tuple(doubts),  # the columns stay in the study
        **facts,
    )


def _name(column: Any) -> str | None:
    """The name of a target or of groups that came as a pandas or polars Series."""
    name = getattr(column, "name", None)
    return None if name is None or name == "" else str(name)


def _align(values: Any, X: Any, name: str) -> Any:
    """Return one value per row in the order of X, by the labels of both; raise if they label other rows."""
    rows, labels = getattr(X, "index", None), getattr(values, "index", None)
    if not isinstance(rows, pd.Index) or not isinstance(labels, pd.Index):
        return values
    if len(rows) != len(labels) or labels.equals(rows):
        return values
    if rows.is_unique and labels.is_unique and rows.isin(labels).all():
        return values.loc[rows]
    kinds = {pd.api.types.is_integer_dtype(index) for index in (rows, labels)}
    if len(kinds) == 2 and any(isinstance(index, pd.RangeIndex) for index in (rows, labels)):
        return values  # one of them has no labels
    other = next(iter(labels[~labels.isin(rows)]), labels[0])
    raise ValueError(
        f"Expected the same labels of rows in X and {name}, got {other!r} in {name} alone or in another order; give "
        f"{name}.to_numpy() if the rows correspond as they stand."
    )


def prepare_data(
    X: Any, y: Any, groups: Any, covariates: Sequence[Any], task: PredictionTask | None, estimator: Any
) -> StudyData:
    """Check features, target and groups, and separate the covariates."""
    if type(X).__module__.startswith("polars"):
        X = pd.DataFrame({name: X[name].to_numpy() for name in X.columns})
    y, groups = _align(y, X, "y"), _align(groups, X, "groups")
    X = X if isinstance(X, pd.DataFrame) else X.tocsr() if sp.issparse(X) else np.asarray(X)
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"Expected X with one row per sample and one column per feature, got shape {X.shape}.")
    names, named = [f"x{column}" for column in range(X.shape[1])], isinstance(X, pd.DataFrame)
    if named:
        names = [str(name) for name in X.columns]
        check_unique(tuple(names), X.shape[1], "feature", "column", "the frame")
        X = X.set_axis(names, axis=1).reset_index(drop=True)
    target = _column(y, X.shape[0], "y", "label or number")
    if target.dtype.kind not in "biufUM":
        raise ValueError(f"Expected texts or numbers in y, got {type_name(target[0])} in row 0; convert them to texts.")
    covariate_names = covariate_columns(names, map(str, covariates))
    features, values = _separate_covariates(X, names, covariate_names) if covariate_names else (X, None)
    return StudyData(
        X=features,
        covariates=values,
        y=target,
        groups=None if groups is None else _column(groups, X.shape[0], "groups", "group"),
        names=[name for name in names if name not in set(covariate_names)],
        named=named,
        classes=np.unique(target) if (task or _guess_task(target, estimator)) == "classification" else None,
    )


def _column(values: Any, n: int, name: str, what: str) -> NDArray[Any]:
    """One value for each row, none missing."""
    column = as_column(values, name, what)
    if len(column) != n:
        raise ValueError(f"Expected one {what} in {name} for each of {n} rows of X, got {len(column)}.")
    return column


def _separate_covariates(table: Any, names: list[str], covariates: list[str]) -> tuple[Any, NDArray[np.float64]]:
    """Separate the covariates from the features to choose from."""
    for name in covariates:
        if name not in names:
            shown = join_first(names)
            raise ValueError(f"Expected columns of X in covariates=, got {name!r}; columns are {shown}.")
    columns = [names.index(name) for name in covariates]
    others = np.setdiff1d(np.arange(len(names)), columns)
    if not others.size:
        raise ValueError("Expected features to choose from besides covariates=, got none.")
    if isinstance(table, pd.DataFrame):
        texts = [name for name in covariates if not pd.api.types.is_numeric_dtype(table[name])]
        if texts:
            raise ValueError(
                f"Expected numbers in covariates=, got texts in {quote_names(texts)}; "
                f"hf.read_table(frame, target, covariates={texts!r}) makes 0/1 columns of them."
            )
        return table.iloc[:, others], table.iloc[:, columns].to_numpy(dtype=np.float64)
    values = table[:, columns]
    dense = values.toarray() if sp.issparse(values) else values
    return table[:, others], np.asarray(dense, dtype=np.float64)


def _guess_task(y: NDArray[Any], estimator: Any) -> PredictionTask:
    """Whether classes or numbers are predicted: as the estimator says, else by the values of the target."""
    if estimator is not None and is_classifier(estimator):
        return "classification"
    if estimator is not None and is_regressor(estimator):
        return "regression"
    if y.dtype.kind not in "iufb":
        return "classification"
    whole = y.dtype.kind in "ib" or np.array_equal(y, np.round(y))
    return "classification" if whole and np.unique(y).size <= FEW else "regression"
