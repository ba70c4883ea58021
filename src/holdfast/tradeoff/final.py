"""Final features: those of a fit to all rows, and the consensus of resamples."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.cards import Card, draw_dots, make_features_card
from holdfast.inference.intervals import check_level
from holdfast.preferences import Preferences
from holdfast.resampling import Perturbation
from holdfast.result_base import AnyChart, DrawnResult, ResultMixin
from holdfast.serialization import to_plain
from holdfast.study import Candidates, Study
from holdfast.study.data import prepare_for
from holdfast.study.plan import fingerprint
from holdfast.study.tables import StudyTables
from holdfast.text import format_count, format_percent, shorten
from holdfast.tradeoff.selected import Frequencies, count_frequencies, question_doubted, read_subsets

Rows = NDArray[np.int64]


def study_of_candidate(study: Study, candidate: str, splits: "list[tuple[Rows, Rows]] | Perturbation") -> Study:
    """A study of this one candidate on these splits (training rows, held-out rows), or with this perturbation."""
    for family in study.families:
        if candidate in family.names:
            settings, sizes = family.candidates.settings, family.candidates.cuts
            setting, size = divmod(family.names.index(candidate), len(sizes))
            grid = {name: [value] for name, value in settings[setting].items()}
            single = Candidates(family.candidates.selector, grid, sizes[size])
            return replace(study, selectors={candidate: single}, perturbation=splits)
    names = [name for family in study.families for name in family.names]
    raise ValueError(f"Expected one of the study's candidates ({', '.join(names[:20])}), got {candidate!r}.")


def find_study(result: StudyTables, study: Study | None) -> Study:
    """The plan behind a result, which a store does not hold."""
    plan = study or result.study
    if plan is None:
        raise ValueError(
            "A final fit needs study=, the plan of the study: a store holds neither data nor selectors; make the same "
            "hf.Study again and pass it."
        )
    return replace(plan, adjust=result.plan.get("adjust", False))


def fit_to_all_rows(
    result: StudyTables, study: Study, candidate: str, X: Any, y: Any, groups: Any = None
) -> tuple[StudyTables, str]:
    """Fit a candidate to all rows of X; return its result, and a phrase that says which rows these are."""
    if "sites" in result.plan or "sample_weight" in result.plan:
        raise ValueError("Expected a study without sites and weights for a final fit, which is made without them.")
    data = prepare_for(study, X, y)
    names = [str(name) for name in result.feature_names]
    if (data.names if data.named else [str(column) for column in range(len(data.names))]) != names:
        raise ValueError(
            f"Expected the features of the study ({len(names)}, {names[0]} first), got {len(data.names)} others; give "
            "X with the same columns."
        )
    rows = np.arange(len(data.y))
    fitted = study_of_candidate(study, candidate, [(rows, rows[:0])]).run(
        X, y, groups=groups, on_error="raise", keep_predictions=False, treat_as_feature=True
    )
    studied, now = result.plan["data"], fingerprint(data.X, data.y, None, data.covariates, data.columns)
    same = all(studied[part] == now[part] for part in ("features", "target", "covariates"))
    return fitted, f"all {rows.size} rows of the study" if same else f"{rows.size} rows that are not those of the study"


class ErrorBound(NamedTuple):
    """Bound on the expected number of false features in a consensus, or why there is none.

    Attributes
    ----------
    value : float
        The largest expected number; ``nan`` if there is no bound.
    sentence : str
        The same in words.

    See Also
    --------
    FinalFeatures : Carries it as ``bound``.
    holdfast.ComplementaryPairs : Resamples for which it holds.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> study = hf.Study(selectors=[hf.selectors.AnovaF(3)], perturbation=hf.ComplementaryPairs(20))
    >>> study.run(X, y).final_features("anova", threshold=0.75).bound.sentence
    'at most 0.6 features that halves select no more often than by chance are expected in it'
    """

    value: float
    sentence: str


@dataclass(frozen=True, kw_only=True, eq=False)
class FinalFeatures(ResultMixin):
    """Final features of a candidate: selection frequencies, stand-ins, final fit and consensus.

    Attributes
    ----------
    candidate : str
        Its name.
    frame : DataFrame
        One row per feature, the most frequent first: whether it is ``selected`` by the final fit (None without one) and
        in the ``consensus``; ``count``, ``frequency``, ``low`` and ``high`` over the resamples; its ``stand_ins``,
        features that took turns with it.
    threshold : float
        Share of the resamples from which a feature is in the consensus.
    bound : ErrorBound
        How many features of the consensus may be there by chance.
    selected_on : str or None
        Which rows the final fit saw; None without one.
    n_runs : int
        Number of resamples.
    level : float
        Level of the intervals.
    doubted : tuple of str
        Those of them that may be no features, such as the label of a batch.

    See Also
    --------
    holdfast.StudyResult.final_features : Makes it.
    holdfast.check_features : A list of your own, checked name by name.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> study = hf.Study(
    ...     selectors={"anova": hf.Candidates(hf.selectors.AnovaF(), sizes=[1, 2, 3])},
    ...     perturbation=hf.Bootstrap(20),
    ...     estimator=KNeighborsClassifier(3),
    ... )
    >>> result = study.run(X, y)
    >>> final = result.final_features("anova(size=2)", X, y)
    >>> final.selected, final.consensus
    (['petal length (cm)', 'petal width (cm)'], ['petal length (cm)', 'petal width (cm)'])
    >>> final.to_frame()[["feature", "count", "frequency"]]
                 feature  count  frequency
    0  petal length (cm)     20        1.0
    1   petal width (cm)     20        1.0
    """

    _table_field: ClassVar[str] = "frame"

    candidate: str
    frame: pd.DataFrame
    threshold: float
    bound: ErrorBound
    selected_on: str | None
    n_runs: int
    level: float = 0.95
    doubted: tuple[str, ...] = ()

    @property
    def selected(self) -> list[Any]:
        """The features of the final fit, in column order; empty without one."""
        chosen = self.frame[self.frame["selected"] == True]  # noqa: E712  None is neither
        return chosen.sort_values("column")["feature"].tolist()

    @property
    def consensus(self) -> list[Any]:
        """The features that at least a share ``threshold`` of the resamples selected, the most frequent first."""
        return self.frame["feature"][self.frame["consensus"]].tolist()

    def to_dict(self) -> dict[str, Any]:
        """Return features, consensus and bound as plain values, ready for JSON: undefined numbers are None.

        Returns
        -------
        dict
            One entry per attribute; the bound with its ``value`` and ``sentence``.
        """
        return {**super().to_dict(), "bound": to_plain(self.bound._asdict())}

    def plot(self) -> "AnyChart":
        """Draw how often each of the features was selected (see :func:`holdfast.plots.plot_frequencies`).

        Returns
        -------
        altair.Chart
            A notebook shows it; :func:`holdfast.plots.save` writes it to a file.
        """
        from holdfast.plots.features import WIDTH, draw_frequencies
        from holdfast.plots.theme import finish_chart

        data, counts = self.frame.head(30), self.frame["count"].to_numpy(dtype=np.int64)
        chart = draw_frequencies(data, counts, n_runs=self.n_runs, level=self.level)
        notes = [f"{shorten(self.candidate)}; lines: {format_percent(self.level)} intervals of the frequency"]
        return finish_chart(chart, self._title, notes, width=WIDTH + 120)

    @property
    def _title(self) -> str:
        n, agreed = len(self.selected), len(self.consensus)
        fit = f"{format_count(n, 'feature')} selected on {self.selected_on}; " if self.selected_on else ""
        often = f"{agreed} selected in at least {format_percent(self.threshold, 0)} of {self.n_runs} resamples"
        return f"{question_doubted(self.doubted)} {fit}{often}".strip()

    def _card(self) -> Card:
        return make_features_card(self, self._title)

    def __repr__(self) -> str:
        fit = f"selected on {self.selected_on}" if self.selected_on else "no final fit (give X and y for one)"
        head = f"Features of {self.candidate}: {fit}; frequencies over {self.n_runs} resamples"
        shown = self.frame.drop(columns="column").assign(
            stand_ins=[", ".join(map(str, names)) for names in self.frame["stand_ins"]]
        )
        if self.selected_on is None:
            shown = shown.drop(columns="selected")
        table = shown.to_string(index=False, float_format=lambda number: f"{number:.3f}")
        return f"{head}\n{table}\nConsensus at {self.threshold:g}: {self.bound.sentence}"


def final_features(
    result: StudyTables,
    candidate: str,
    X: Any = None,
    y: Any = None,
    *,
    groups: Any = None,
    study: Study | None = None,
    threshold: float = 0.5,
    level: float = 0.95,
    top: int | None = None,
) -> FinalFeatures:
    r"""Report the features of a candidate: the final fit, frequencies, stand-ins, consensus.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    candidate : str
        Name of a candidate.
    X, y : optional
        Rows for the final fit: all rows of the study, or rows that were set aside. Without them there is no final fit,
        and stand-ins are recognized by taking turns alone, not by correlation.
    groups : array, optional
        Groups of these rows, for selectors that resample them.
    study : Study, optional
        The plan, for a result that was loaded from a store; a result of :meth:`Study.run` knows it.
    threshold : float
        Share of the resamples from which a feature is in the consensus.
    level : float
        Level of the intervals of the frequencies.
    top : int, optional
        How many of the best features count, for candidates that give rankings or weights.

    Returns
    -------
    FinalFeatures
        Features with frequencies and stand-ins, and a bound on false ones where there is one.

    Raises
    ------
    ValueError
        If only one of X and y is given, their columns are not those of the study, or the plan is not known.

    See Also
    --------
    holdfast.StudyResult.features : How often each feature was selected, in which direction it points, how strong it is.
    holdfast.check_features : A list of your own, checked name by name.

    Notes
    -----
    The expected number of false features in the consensus has a bound, :math:`q^2 / ((2\pi - 1) d)`, only if all
    resamples are halves of the rows and select :math:`q` of :math:`d` features, with a threshold :math:`\pi` above 0.5.
    For complementary pairs (Shah and Samworth, 2013) false means: selected with a probability of at most :math:`q/d`
    on half of the rows. For half-size subsamples (Meinshausen and Bühlmann, 2010) it means noise, and features of
    noise must be exchangeable.
    """
    check_level(level)
    if not 0 < threshold <= 1:
        raise ValueError(f"Expected a threshold above 0 and up to 1, got {threshold}.")
    if (X is None) != (y is None):
        raise ValueError(f"Expected both X and y for a final fit, got only {'y' if X is None else 'X'}.")
    selected, selected_on, features = None, None, None
    if X is not None:
        plan = find_study(result, study)
        data = prepare_for(plan, X, y)
        features = data.X if data.feature_groups is None else None  # of groups there is no one correlation
    frequencies = count_frequencies(result, candidate, top, features)
    if X is not None:
        fitted, selected_on = fit_to_all_rows(result, plan, candidate, X, y, groups)
        selected = set(count_frequencies(fitted, candidate, top, None).runs.lists()[0].tolist())
    frame = _make_table(frequencies, selected, threshold, level)
    bound = error_bound(result, frequencies, threshold)
    return FinalFeatures(
        candidate=candidate, frame=frame, threshold=threshold, bound=bound, selected_on=selected_on,
        n_runs=frequencies.runs.n_runs, level=level,
        doubted=tuple(name for name in map(str, frame["feature"]) if name in result.data.doubted),
    )  # fmt: skip


def _make_table(frequencies: Frequencies, selected: set[int] | None, threshold: float, level: float) -> pd.DataFrame:
    """The selected features and those of the consensus."""
    agreed = np.flatnonzero(frequencies.runs.frequency >= threshold - 1e-12)
    columns = np.union1d(agreed, np.array(sorted(selected or ()), dtype=np.int64)).astype(np.int64)
    columns = columns[np.argsort(-frequencies.runs.counts[columns], kind="stable")]
    low, high = frequencies.intervals(columns.tolist(), level)
    return pd.DataFrame(
        {
            "feature": [frequencies.runs.features[column] for column in columns],
            "column": columns,
            "selected": [None if selected is None else int(column) in selected for column in columns],
            "consensus": np.isin(columns, agreed),
            "count": frequencies.runs.counts[columns],
            "frequency": frequencies.runs.frequency[columns],
            "low": low,
            "high": high,
            "stand_ins": [frequencies.names(int(column)) for column in columns],
        }
    )


def error_bound(result: StudyTables, frequencies: Frequencies, threshold: float) -> ErrorBound:
    """The bound on false features in the consensus, where one holds."""
    plan, sizes = result.perturbation, frequencies.runs.sizes
    pairs, halves = result.design == "pairs", plan.get("perturbation") == "Subsample" and plan.get("fraction") == 0.5
    missing = None
    if not (pairs or halves):
        missing = "which needs resamples of half of the rows (complementary pairs, or subsamples of one half)"
    elif (sizes != sizes[0]).any():
        missing = "which needs resamples that all select equally many features"
    elif threshold <= 0.5:
        missing = "which needs a threshold above 0.5"
    if missing:
        return ErrorBound(math.nan, f"no bound on false features, {missing}")
    bound = float(sizes[0]) ** 2 / ((2 * threshold - 1) * frequencies.runs.n_features)
    kind = (
        "features that halves select no more often than by chance"
        if pairs
        else "features of noise, if these are exchangeable"
    )
    return ErrorBound(bound, f"at most {bound:.3g} {kind} are expected in it")


class FeatureErrors(NamedTuple):
    """The errors of a list of features where the relevant ones are known.

    Attributes
    ----------
    false_positives : list
        Features in the list that are not relevant.
    false_negatives : list
        Relevant features that are not in the list.

    See Also
    --------
    Recovery : Has those of the consensus, and of a final fit.

    Examples
    --------
    >>> from holdfast.tradeoff import FeatureErrors
    >>> FeatureErrors(["shoe size"], ["age", "dose"])
    1 false feature, 2 relevant ones missed
    """

    false_positives: list[Any]
    false_negatives: list[Any]

    def __repr__(self) -> str:
        n_false, n_missed = len(self.false_positives), len(self.false_negatives)
        return f"{format_count(n_false, 'false feature')}, {format_count(n_missed, 'relevant one')} missed"


@dataclass(frozen=True, kw_only=True, eq=False)
class Recovery(DrawnResult):
    """False positives and false negatives of a candidate: per resample, of its consensus, and of a final fit.

    Attributes
    ----------
    candidate : str
        Its name.
    features : DataFrame
        One row per feature, in the order of columns: ``feature``, whether it is ``relevant``, its selection
        ``frequency``, whether it is in the ``consensus``, and ``selected`` by the final fit (None without one).
    runs : DataFrame
        One row per resample: how many features it ``selected``, ``true_positives``, ``false_positives``,
        ``false_negatives``.
    threshold : float
        Share of the resamples from which a feature is in the consensus.
    selected_on : str or None
        Which rows the final fit saw; None without one.

    See Also
    --------
    holdfast.StudyResult.recovery : Makes it.
    holdfast.plots.plot_recovery : Draws how often relevant and other features were selected.
    holdfast.datasets : Data with known relevant features.

    Examples
    --------
    >>> import holdfast as hf
    >>> X, y, truth = hf.datasets.make_redundant(0.5, n_samples=20, n_features=20, n_relevant=5, random_state=0)
    >>> study = hf.Study(selectors=[hf.selectors.AnovaF(5)], perturbation=hf.Bootstrap(20))
    >>> recovery = study.run(X[:10], y[:10]).recovery(truth, "anova", X[10:], y[10:])
    >>> recovery.consensus
    0 false features, 1 relevant one missed
    >>> recovery.final.false_positives, recovery.selected_on
    ([10, 16], '10 rows that are not those of the study')
    """

    _table_field: ClassVar[str] = "runs"
    _drawn_by: ClassVar[str] = "plot_spread"

    candidate: str
    features: pd.DataFrame
    runs: pd.DataFrame
    threshold: float
    selected_on: str | None = None

    @property
    def relevant(self) -> list[Any]:
        """The relevant features."""
        return self.features["feature"][self.features["relevant"]].tolist()

    @property
    def consensus(self) -> FeatureErrors:
        """The errors of the consensus."""
        return self._errors("consensus")

    @property
    def final(self) -> FeatureErrors | None:
        """The errors of the final fit; None without one."""
        return None if self.selected_on is None else self._errors("selected")

    def _errors(self, column: str) -> FeatureErrors:
        names, relevant = self.features["feature"], self.features["relevant"]
        chosen = self.features[column].astype(bool)
        return FeatureErrors(names[chosen & ~relevant].tolist(), names[relevant & ~chosen].tolist())

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON.

        Returns
        -------
        dict
            One entry per attribute, and the errors of ``consensus`` and ``final`` fit.
        """
        errors = {"consensus": self.consensus._asdict(), "final": self.final and self.final._asdict()}
        return {**super().to_dict(), **to_plain(errors)}

    def _card(self) -> Card:
        shares = self.runs["true_positives"] / max(len(self.relevant), 1)
        mean = float(shares.mean())
        return Card(
            title=f"Recovery of {len(self.relevant)} relevant features by {self.candidate}", frame=self.runs, rows=4,
            verdict=f"A resample finds {format_percent(mean, 0)} of them; {self._verdict}",
            picture=draw_dots(shares.tolist(), mean=mean), note="Dots: share of the relevant features, per resample.",
        )  # fmt: skip

    @property
    def _verdict(self) -> str:
        lists = {f"the consensus at {self.threshold:g}": self.consensus, f"a fit to {self.selected_on}": self.final}
        return "; ".join(
            f"{name} has {len(errors.false_positives)} false ones and misses {len(errors.false_negatives)}"
            for name, errors in lists.items()
            if errors is not None
        )

    def __repr__(self) -> str:
        mean = self.runs.mean()
        return (
            f"{self.candidate}, {len(self.relevant)} relevant features: a resample selects {mean['selected']:.1f}, "
            f"of which {mean['false_positives']:.1f} are false, and misses {mean['false_negatives']:.1f}; "
            f"{self._verdict}."
        )


def recovery(
    result: StudyTables,
    truth: Any,
    candidate: str,
    X: Any = None,
    y: Any = None,
    *,
    groups: Any = None,
    study: Study | None = None,
    threshold: float = 0.5,
    top: int | None = None,
) -> Recovery:
    """Count false positives and negatives of a candidate where the relevant features are known.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    truth : iterable of str or int, or Truth
        The relevant features by name or by column; or what :mod:`holdfast.datasets` knows of simulated data.
    candidate : str
        Name of a candidate.
    X, y : optional
        Rows for a final fit, as for :func:`final_features`: rows that took no part in the study, or all of them.
    groups : array, optional
        Groups of these rows, for selectors that resample them.
    study : Study, optional
        The plan, for a final fit of a result that was loaded from a store.
    threshold : float
        Share of the resamples from which a feature is in the consensus.
    top : int, optional
        How many of the best features count, for candidates that give rankings or weights.

    Returns
    -------
    Recovery
        Counts per resample, and the errors of the consensus and of the final fit.

    Raises
    ------
    ValueError
        If a relevant feature is none of the study's, or only one of X and y is given.
    """
    if (X is None) != (y is None):
        raise ValueError(f"Expected both X and y for a final fit, got only {'y' if X is None else 'X'}.")
    runs = read_subsets(result, candidate, top)
    relevant = np.zeros(runs.n_features, dtype=bool)
    relevant[_find_columns(getattr(truth, "relevant", truth), runs.features)] = True
    features = pd.DataFrame(
        {
            "feature": list(runs.features), "relevant": relevant, "frequency": runs.frequency,
            "consensus": runs.frequency >= threshold - 1e-12, "selected": None,
        }
    )  # fmt: skip
    selected_on = None
    if X is not None:
        fitted, selected_on = fit_to_all_rows(result, find_study(result, study), candidate, X, y, groups)
        features["selected"] = read_subsets(fitted, candidate, top).counts > 0
    return Recovery(
        candidate=candidate, features=features, runs=_count_errors(runs, relevant), threshold=threshold,
        selected_on=selected_on,
    )  # fmt: skip


def _count_errors(runs: Preferences, relevant: NDArray[np.bool_]) -> pd.DataFrame:
    hits = (runs.to_sparse() @ relevant.astype(np.float64)).astype(np.int64)
    return pd.DataFrame(
        {
            "selected": runs.sizes,
            "true_positives": hits,
            "false_positives": runs.sizes - hits,
            "false_negatives": int(relevant.sum()) - hits,
        },
        index=pd.Index(runs.labels or range(runs.n_runs), name="run"),
    )


def _find_columns(truth: Iterable[Any], features: Any) -> list[int]:
    by_name = {str(name): column for column, name in enumerate(features)}
    columns = []
    for feature in truth:
        number = isinstance(feature, (int, np.integer)) and not isinstance(feature, bool)
        column = int(feature) if number and int(feature) in range(len(features)) else by_name.get(str(feature))
        if column is None:
            raise ValueError(f"Expected relevant features by name or by column from 0, got {feature!r}.")
        columns.append(column)
    return columns
