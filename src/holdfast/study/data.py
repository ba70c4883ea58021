"""The data of a study: features, covariates, target, groups; and the record of them that its store keeps."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor

from holdfast.checks import as_column, check_unique, type_name
from holdfast.declared import did_you_mean
from holdfast.io.doubts import Doubt, describe_equal_rows, find_doubts, settle_doubts, warn_of_doubts
from holdfast.io.questions import quote_names
from holdfast.io.record import DataRecord
from holdfast.io.table import Table, covariate_columns
from holdfast.resampling import Samples
from holdfast.selection import FeatureGroups, GroupWeight
from holdfast.targets import Target, TaskName, count_events, read_survival
from holdfast.text import format_count, join_first

if TYPE_CHECKING:
    from holdfast.study.study import Study

Adjust = bool | Literal["within"]
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
        The target as it was given.
    target : Target
        The target as numbers, with what its task asks for.
    groups : array or None
        Rows of one group stay together.
    names : list of str
        Names of the features.
    named : bool
        Whether the features came with names.
    feature_groups : FeatureGroups or None
        The features that the columns of X belong to; None if each column is a feature.
    sample_weight : array or None
        What each row weighs.
    sites : array or None
        Where each row comes from.
    adjusts : bool
        Whether the selection is adjusted for covariates and sites.
    within : bool
        Whether that means to select within sites, not next to columns of sites.
    """

    X: Any
    covariates: NDArray[np.float64] | None
    y: NDArray[Any]
    groups: NDArray[Any] | None
    names: list[str]
    named: bool
    target: Target
    feature_groups: FeatureGroups | None = None
    sample_weight: NDArray[np.float64] | None = None
    sites: NDArray[Any] | None = None
    adjusts: bool = False
    within: bool = False

    @property
    def task(self) -> TaskName:
        """What is predicted: classes or numbers."""
        return self.target.task

    @property
    def classes(self) -> NDArray[Any] | None:
        """The classes, sorted; None for another task."""
        return self.target.classes

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for another task."""
        return self.target.n_classes

    @property
    def columns(self) -> list[str]:
        """Names of the columns of X: those of the features, unless several columns form one."""
        if self.feature_groups is None:
            return self.names
        return self.X.columns.tolist() if self.named else [f"x{column}" for column in range(self.X.shape[1])]

    def columns_of(self, features: NDArray[Any]) -> NDArray[Any]:
        """The columns of features, one feature after the other."""
        if self.feature_groups is None:
            return features
        return np.concatenate([np.empty(0, np.int64), *(self._columns_of[feature] for feature in features)])

    @cached_property
    def _columns_of(self) -> list[NDArray[np.int64]]:
        assert self.feature_groups is not None
        by_feature = np.argsort(self.feature_groups.feature_of, kind="stable")
        sizes = np.bincount(self.feature_groups.feature_of, minlength=len(self.names))
        return np.split(by_feature, np.cumsum(sizes)[:-1])

    # What every process makes once, when it is asked for

    @cached_property
    def samples(self) -> Samples:
        """What a perturbation knows of the rows: their number, classes and groups, all numbered."""
        return Samples.of(len(self.y), self.target.strata, self.groups)

    @cached_property
    def adjusting(self) -> NDArray[np.int64]:
        """The covariates that no earlier 0/1 columns and an intercept determine."""
        assert self.covariates is not None
        binary = np.asarray(np.isin(self.covariates, (0, 1)).all(axis=0))
        left: list[int] = []
        for column, is_binary in enumerate(binary):
            known = np.column_stack([np.ones(len(self.y)), self.covariates[:, [*left, column]]])
            if not is_binary or np.linalg.matrix_rank(known) == known.shape[1]:
                left.append(column)
        return np.array(left, dtype=np.int64)

    @cached_property
    def confounders(self) -> NDArray[np.float64]:
        """What effects are adjusted for: the covariates, and a 0/1 column for each site but the first.

        Of the 0/1 columns that were made of a text, which add up to 1, the last is left out: the others determine it.
        """
        columns = [np.empty((len(self.y), 0))]
        if self.covariates is not None:
            columns.append(self.covariates[:, self.adjusting])
        if self.sites is not None:
            columns.append(1.0 * (self.sites[:, None] == np.unique(self.sites)[1:]))
        return np.hstack(columns)

    @property
    def adjustment(self) -> NDArray[np.float64]:
        """What the selection is adjusted for: the same, without columns of sites if it is made within these."""
        n_covariates = 0 if self.covariates is None else self.adjusting.size
        return self.confounders[:, :n_covariates] if self.within else self.confounders

    @cached_property
    def site_codes(self) -> NDArray[np.int64]:
        """The number of each row's site."""
        assert self.sites is not None
        return np.unique(self.sites, return_inverse=True)[1].astype(np.int64)

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

    @cached_property
    def effect_table(self) -> NDArray[Any] | None:
        """The features as numbers, for effects; None if there are none for such data.

        Features that are no numbers, or several columns, are nan.
        """
        table = self.own_numbers
        if table is None:
            numeric = [pd.api.types.is_numeric_dtype(dtype) for dtype in getattr(self.X, "dtypes", ())]
            if not any(numeric):
                return None
            table = np.full(self.X.shape, np.nan)
            table[:, numeric] = self.X.loc[:, numeric].to_numpy(dtype=np.float64, na_value=np.nan)
        if self.feature_groups is None:
            return table
        columns = [columns[0] if columns.size == 1 else -1 for columns in self._columns_of]
        return np.where(np.array(columns) < 0, np.nan, table[:, columns])


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
    sample_weight: Any = None
    sites: Any = None


def take_data(X: Any, y: Any, groups: Any, sample_weight: Any = None, sites: Any = None) -> GivenData:
    """Features, target and groups, of a table that brings all three, or as they were given one by one."""
    if not isinstance(X, Table):
        if y is None:
            raise ValueError(
                "Expected a target y with X, got none; give both, or a table of hf.read_table() alone, or to "
                "Study.run() a frame or AnnData with target= and the name of a column."
            )
        return GivenData(X, y, groups, None, sample_weight, sites)
    for name, value in (("y", y), ("groups", groups), ("sample_weight", sample_weight), ("sites", sites)):
        if value is not None:
            raise ValueError(f"Expected a table alone, which brings its own {name}, got {name}= as well.")
    return GivenData(X.X, X.y, X.groups, X, X.weights, X.sites)


def record_data(data: StudyData, given: GivenData, treat_as_feature: Iterable[str] | bool = ()) -> DataRecord:
    """Record what the data are and what was done to them, for the store and the report; never a value of them.

    Columns are not searched for what is no feature if all are to be treated as features.
    """
    classes: tuple[tuple[str, int], ...] = ()
    if data.classes is not None:
        counts = np.bincount(data.target.values, minlength=data.classes.size).tolist()
        classes = tuple((str(label), count) for label, count in zip(data.classes.tolist(), counts, strict=True))
    facts: dict[str, Any] = {
        "rows": len(data.y), "features": len(data.names), "task": data.task, "classes": classes, **count_events(data.y),
    }  # fmt: skip
    structure, cautions = describe_structure(data), warn_of_events(data)
    if given.table is not None:
        record = replace(given.table.record, **facts)
        doubts, notes = settle_doubts(record.doubts, treat_as_feature)
        known = warn_of_doubts(record.doubts)
        warnings = [
            *cautions,
            *warn_of_doubts(doubts),
            *(warning for warning in record.warnings if warning not in known),
        ]
        return replace(
            record, doubts=tuple(doubts), notes=(*record.notes, *notes, *structure), warnings=tuple(warnings)
        )
    aligned = [
        f"Put {name} into the order of the rows of X, by their labels."
        for name in ("y", "groups", "sample_weight", "sites")
        for values in (getattr(given, name),)
        if _align(values, given.X, name) is not values
    ]
    shape = getattr(given.X, "shape", (len(data.y), len(data.names)))
    target, groups, equal_rows = _name(given.y), _name(given.groups), 0
    doubts, notes, warnings = list[Doubt](), list[str](), list[str]()
    if treat_as_feature is not True and not sp.issparse(data.X):
        frame = data.X if isinstance(data.X, pd.DataFrame) else pd.DataFrame(data.X, columns=data.columns, copy=False)
        doubts, notes = settle_doubts(find_doubts(frame, data.y, data.groups, target, groups), treat_as_feature)
        equal_rows, repeats = describe_equal_rows(frame, data.y)
        warnings = [*warn_of_doubts(doubts), *repeats]
    return DataRecord(
        rows_read=int(shape[0]),
        columns_read=int(shape[1]),
        target=target,
        groups=groups,
        n_groups=None if data.groups is None else int(np.unique(data.groups).size),
        notes=(*aligned, *notes, *structure),
        warnings=(*cautions, *warnings),
        equal_rows=equal_rows,
        doubts=tuple(doubts),  # the columns stay in the study
        **facts,
    )


MIN_EVENTS, MAX_EVENT_SHARE = 30, 0.95
"""Events, and their share of the rows, below and above which there is a warning."""


def warn_of_events(data: StudyData) -> list[str]:
    """State that survival times have few events, or nearly only events."""
    if data.task != "survival":
        return []
    events, rows = int(data.y["event"].sum()), len(data.y)
    warnings = []
    if events < MIN_EVENTS:
        warnings.append(
            f"Only {format_count(events, 'row')} of {rows:,} have the event: whatever the number of rows, selections "
            "and scores of so few events vary much."
        )
    if events > MAX_EVENT_SHARE * rows:
        warnings.append(
            f"{events:,} of {rows:,} rows have the event; make sure that the event is not coded the other way round."
        )
    return warnings


def describe_structure(data: StudyData) -> list[str]:
    """Say in notes how the columns and rows of the data belong together."""
    notes = []
    if data.feature_groups is not None:
        sizes = np.bincount(data.feature_groups.feature_of)
        groups = [name for name, size in zip(data.names, sizes.tolist(), strict=True) if size > 1]
        alone = int((sizes == 1).sum())
        notes.append(
            f"{format_count(int(sizes[sizes > 1].sum()), 'column')} form {format_count(len(groups), 'group')}, each "
            f"selected and counted as one feature ({join_first(groups)})"
            + (f"; {format_count(alone, 'column')} are features by themselves." if alone else ".")
        )
    if data.sample_weight is not None:
        low, high = data.sample_weight.min(), data.sample_weight.max()
        notes.append(f"Rows have weights, from {low:.3g} to {high:.3g}, in selectors, models and scores.")
    if data.sites is not None:
        rows = np.unique(data.sites, return_counts=True)[1]
        of = " to ".join(dict.fromkeys([f"{rows.min():,}", f"{rows.max():,}"]))
        notes.append(f"Rows come from {format_count(rows.size, 'site')} of {of} rows.")
    if data.adjusts:
        what = [
            *(["the covariates"] if data.covariates is not None else []),
            *(["the sites"] if data.sites is not None and not data.within else []),
        ]
        if data.within:
            notes.append("Features are weighed within sites, in each resample.")
        if what:
            notes.append(f"The selection is adjusted for {' and '.join(what)}, within each resample.")
    return notes


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
    X: Any,
    y: Any,
    groups: Any,
    covariates: Sequence[Any],
    task: TaskName | None,
    estimator: Any,
    feature_groups: Any = None,
    group_weight: GroupWeight = "largest",
    sample_weight: Any = None,
    sites: Any = None,
    adjust: Adjust | None = False,
) -> StudyData:
    """Check features, target and groups, separate the covariates, and find the features that columns belong to."""
    if type(X).__module__.startswith("polars"):
        X = pd.DataFrame({name: X[name].to_numpy() for name in X.columns})
    y, groups = _align(y, X, "y"), _align(groups, X, "groups")
    sample_weight, sites = _align(sample_weight, X, "sample_weight"), _align(sites, X, "sites")
    X = X if isinstance(X, pd.DataFrame) else X.tocsr() if sp.issparse(X) else np.asarray(X)
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"Expected X with one row per sample and one column per feature, got shape {X.shape}.")
    names, named = [f"x{column}" for column in range(X.shape[1])], isinstance(X, pd.DataFrame)
    if named:
        names = [str(name) for name in X.columns.tolist()]  # one by one out of Arrow takes ten times as long
        check_unique(tuple(names), X.shape[1], "feature", "column", "the frame")
        X = X.set_axis(names, axis=1).reset_index(drop=True)
    target = read_survival(y, task == "survival") if task in (None, "survival") else None
    if target is None:
        target = _column(y, X.shape[0], "y", "label or number")
        if target.dtype.kind not in "biufUM":
            kind = type_name(target[0])
            raise ValueError(f"Expected texts or numbers in y, got {kind} in row 0; convert them to texts.")
        classes = (task or _guess_task(target, estimator)) == "classification"
    elif len(target) != X.shape[0]:
        raise ValueError(f"Expected one time and event in y for each of {X.shape[0]} rows of X, got {len(target)}.")
    covariate_names = covariate_columns(names, map(str, covariates))
    features, values = _separate_covariates(X, names, covariate_names) if covariate_names else (X, None)
    columns = [name for name in names if name not in covariate_names] if covariate_names else names
    grouped = None if feature_groups is None else group_columns(feature_groups, columns, group_weight)
    data = StudyData(
        X=features,
        covariates=values,
        y=target,
        groups=None if groups is None else _column(groups, X.shape[0], "groups", "group"),
        names=columns if grouped is None else grouped.names,
        named=named,
        target=Target.of(target, target.dtype.names is None and classes),
        feature_groups=grouped,
        sample_weight=None if sample_weight is None else _check_weights(sample_weight, X.shape[0]),
        sites=None if sites is None else _column(sites, X.shape[0], "sites", "site"),
        adjusts=adjust is not False and (values is not None or sites is not None),
        within=adjust == "within",
    )
    if adjust not in (None, True, False, "within"):
        raise ValueError(f"Expected adjust=True, False or 'within', got {adjust!r}.")
    if data.within and data.sites is None:
        raise ValueError("Expected sites= to select within, with adjust='within', got none.")
    if data.sites is not None:
        _check_sites(data)
    if data.adjusts:
        _check_adjustment(data, covariate_names)
    return data


def _check_sites(data: StudyData) -> None:
    """Raise if there is one site, a site of one row, or a group that lies in several."""
    assert data.sites is not None
    sites, codes, rows = np.unique(data.sites, return_inverse=True, return_counts=True)
    if sites.size < 2:
        raise ValueError(f"Expected rows of two sites or more, got {sites[0]} alone; give no sites.")
    if rows.min() < 2:
        raise ValueError(
            f"Expected at least two rows of each site, got one of {sites[rows.argmin()]}; join it with "
            "another site, or leave its row out."
        )
    if data.groups is not None:
        groups, of_group = np.unique(data.groups, return_inverse=True)
        pairs = np.unique(np.column_stack([of_group, codes]), axis=0)
        several = np.flatnonzero(np.bincount(pairs[:, 0]) > 1)
        if several.size:
            raise ValueError(
                f"Expected each group of rows within one site, got rows of group {groups[several[0]]} in several "
                f"({several.size} such groups)."
            )


def _check_adjustment(data: StudyData, names: Sequence[str]) -> None:
    """Raise if covariates are linear combinations of each other or of sites, or if sites determine a class."""
    if data.covariates is not None and not np.isfinite(data.covariates).all():
        raise ValueError(
            "Expected covariates without missing values to adjust the selection for, got some; impute them before, or "
            "give adjust=False."
        )
    table = np.column_stack([np.ones(len(data.y)), data.adjustment])
    scaled = table / np.maximum(np.linalg.norm(table, axis=0), 1e-300)
    for last in range(2, table.shape[1] + 1):
        if np.linalg.matrix_rank(scaled[:, :last], tol=1e-8) < last:
            of_sites = [] if data.sites is None else [f"site {site}" for site in np.unique(data.sites)[1:]]
            known = [*([] if data.covariates is None else [names[column] for column in data.adjusting]), *of_sites]
            raise ValueError(
                f"Expected covariates that are no linear combinations of each other, got {known[last - 2]!r}, which "
                "the others, the sites and an intercept determine; leave it out."
            )
    if data.sites is None or data.classes is None:
        return
    sites, of_row = np.unique(data.sites, return_inverse=True)
    counts = np.zeros((sites.size, data.n_classes), dtype=np.int64)
    np.add.at(counts, (of_row, data.target.values), 1)
    if ((counts > 0).sum(axis=1) == 1).all():
        shown = pd.DataFrame(counts, index=pd.Index(sites, name="site"), columns=list(data.classes))
        raise ValueError(
            "Expected rows of several classes at some site, got sites that determine the class, so that nothing is "
            f"left of it after adjustment; give adjust=False.\n{shown.to_string()}"
        )


def _check_weights(given: Any, n_rows: int) -> NDArray[np.float64]:
    """Weights of rows as numbers above 0."""
    try:
        weights = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("Expected numbers above 0 as weights of rows, got something else.") from None
    if weights.shape != (n_rows,):
        raise ValueError(f"Expected one weight for each of {n_rows} rows, got shape {weights.shape}.")
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if wrong.size:
        raise ValueError(
            f"Expected weights of rows above 0, got {weights[wrong[0]]:g} in row {wrong[0]} ({wrong.size} "
            "such); leave such rows out."
        )
    return weights


def prepare_for(
    study: "Study", X: Any, y: Any, groups: Any = None, task: TaskName | None = None, **of_rows: Any
) -> StudyData:
    """Prepare data as a study takes them; ``task`` is what is known of it otherwise, ``of_rows`` weights and sites."""
    return prepare_data(
        X, y, groups, study.covariates, study.task or task, study.estimator, study.feature_groups, study.group_weight,
        adjust=study.adjust, **of_rows,
    )  # fmt: skip


def group_columns(given: Any, columns: list[str], weight: GroupWeight = "largest") -> FeatureGroups:
    """Find the feature of each column: its group, or the column itself if it is in none.

    Parameters
    ----------
    given : mapping, Series or sequence
        The columns of each group; or the group of each column, in their order or, in a Series, by their names. A
        column whose group is missing is a feature by itself.
    columns : list of str
        The columns that can be selected.
    weight : {"largest", "mean"}
        What a group weighs.
    """
    number = {name: position for position, name in enumerate(columns)}
    group_of: dict[str, str] = {}
    if isinstance(given, Mapping):
        for group, members in given.items():
            members = [members] if isinstance(members, str) else list(members)
            if not members:
                raise ValueError(f"Expected columns in each of feature_groups=, got none in {group!r}; leave it out.")
            for member in map(str, members):
                if member not in number:
                    hint = did_you_mean(member, columns)
                    raise ValueError(
                        f"Expected columns to select from in feature_groups=, got {member!r} in {group!r}, which is "
                        f"none of the {len(columns)} columns{hint or '.'}"
                    )
                if group_of.setdefault(member, str(group)) != str(group):
                    raise ValueError(
                        f"Expected groups without columns in common in feature_groups=, got {member!r} in "
                        f"{group_of[member]!r} and {str(group)!r}; repeat the column in X under another name, or keep "
                        "it in one."
                    )
    else:
        if isinstance(given, pd.Series) and not isinstance(given.index, pd.RangeIndex):
            labels = given.set_axis(given.index.map(str))
            if labels.index.has_duplicates:
                twice = labels.index[labels.index.duplicated()][0]
                raise ValueError(f"Expected one group for each column in feature_groups=, got {twice!r} twice.")
            given = [labels.get(name) for name in columns]
        listed = list(given)
        if len(listed) != len(columns):
            raise ValueError(
                f"Expected a group for each of {len(columns)} columns in feature_groups=, got {len(listed)}; give None "
                "for a column that belongs to none."
            )
        group_of = {name: str(group) for name, group in zip(columns, listed, strict=True) if not pd.isna(group)}
    if not group_of:
        raise ValueError("Expected a group of some column in feature_groups=, got none; leave it out.")
    for name in columns:
        if (name in group_of.values() and group_of.get(name, name) != name) or (
            name not in group_of and name in group_of.values()
        ):
            raise ValueError(
                f"Expected names of groups that no other column has, got {name!r} for both; rename the group."
            )
    features = list(dict.fromkeys(group_of.get(name, name) for name in columns))
    position = {name: feature for feature, name in enumerate(features)}
    feature_of = np.array([position[group_of.get(name, name)] for name in columns], dtype=np.int64)
    return FeatureGroups(feature_of, features, weight)


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


def _guess_task(y: NDArray[Any], estimator: Any) -> TaskName:
    """Whether classes or numbers are predicted: as the estimator says, else by the values of the target."""
    if estimator is not None and is_classifier(estimator):
        return "classification"
    if estimator is not None and is_regressor(estimator):
        return "regression"
    if y.dtype.kind not in "iufb":
        return "classification"
    whole = y.dtype.kind in "ib" or np.array_equal(y, np.round(y))
    return "classification" if whole and np.unique(y).size <= FEW else "regression"
