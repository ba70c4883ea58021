"""Measures and their forms: how a measure is computed from its formula.

A :class:`Measure` has a :class:`Form`, and a form makes a :class:`Tally` in one pass over the runs, from which the
value, the values without each run and the roughness follow. The forms are :class:`SetPairs` and :class:`OverlapPairs`
(means over pairs of sets), :class:`RowPairs` (of rankings and weights), :class:`FeatureSum` and :class:`Whole`; each
knows how to correct a measure for chance.
"""

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from holdfast.checks import is_number
from holdfast.declared import About
from holdfast.kernels import intersections
from holdfast.kernels.intersections import random_sets
from holdfast.preferences import Kind, Preferences
from holdfast.references import REFERENCES

Floats = NDArray[np.float64]


class Tally(ABC):
    """Result of one pass over the runs, before undefined parts are left out or replaced."""

    chance_error: float = 0.0
    """Standard error that a simulated expectation under chance adds to the value; 0 if it is exact."""

    @abstractmethod
    def value(self, fill: float | None = None) -> float:
        """Return the value of the measure.

        Parameters
        ----------
        fill : float, optional
            Value of undefined parts; they are left out by default.

        Returns
        -------
        float
            The stability; ``nan`` if it is undefined.
        """

    @abstractmethod
    def leave_one_out(self, fill: float | None = None) -> Floats:
        """Return the values with each run left out in turn.

        Parameters
        ----------
        fill : float, optional
            Value of undefined parts; they are left out by default.

        Returns
        -------
        ndarray
            One value per run.
        """

    @property
    @abstractmethod
    def roughness(self) -> float:
        """Variance of what a pair of runs adds beyond what its two runs add each; ``nan`` if it is not known.

        It is the uncertainty that remains where leaving out single runs changes nothing.
        """

    @property
    @abstractmethod
    def undefined(self) -> str | None:
        """Which part is undefined, or None."""


@dataclass(frozen=True)
class WholeTally(Tally):
    """A single number, and how to find it without a run."""

    number: float
    find_leave_one_out: Callable[[], Floats]
    chance_error: float = 0.0
    find_roughness: Callable[[], float] = lambda: np.nan

    def value(self, fill: float | None = None) -> float:
        return fill if fill is not None and np.isnan(self.number) else self.number

    def leave_one_out(self, fill: float | None = None) -> Floats:
        values = self.find_leave_one_out()
        return values if fill is None else np.where(np.isnan(values), fill, values)

    @property
    def roughness(self) -> float:
        return self.find_roughness()

    @property
    def undefined(self) -> str | None:
        return "as here" if np.isnan(self.number) else None


@dataclass(frozen=True)
class PairTally(Tally):
    """Similarities of all ordered pairs of runs, summed per run.

    Every pair is in the sums of both its runs.

    Attributes
    ----------
    sums : ndarray
        For each run, the sum over all defined ordered pairs that it is in, as first or second.
    defined : ndarray of int
        For each run, the number of these pairs.
    squares : float
        Sum over all ordered pairs of the squared similarity, taken as the mean of both orders.
    chance_error : float
        Standard error that a simulated expectation under chance adds to the value; 0 if it is exact.
    matrix : ndarray or None
        The similarities themselves, where there are few runs.

    See Also
    --------
    RowPairs : The form whose functions return a tally.

    Examples
    --------
    >>> import numpy as np
    >>> from holdfast.measures import PairTally
    >>> PairTally(sums=np.array([2.0, 1.5, 1.5]), defined=np.array([4, 4, 4])).value()
    0.4166666666666667
    """

    sums: Floats
    defined: NDArray[np.int64]
    squares: float = np.nan
    chance_error: float = 0.0
    matrix: Floats | None = None  # the similarities themselves, where there are few runs

    @property
    def n_pairs(self) -> int:
        """Number of ordered pairs, defined or not."""
        return self.sums.size * (self.sums.size - 1)

    @property
    def n_undefined(self) -> int:
        """Number of ordered pairs without a value."""
        return self.n_pairs - int(self.defined.sum()) // 2

    def value(self, fill: float | None = None) -> float:
        total, pairs = self.sums.sum() / 2, self.n_pairs - self.n_undefined
        if fill is not None:
            total, pairs = total + fill * self.n_undefined, self.n_pairs
        return float(total / pairs) if pairs else np.nan

    def leave_one_out(self, fill: float | None = None) -> Floats:
        total, pairs = self.sums.sum() / 2 - self.sums, self.defined.sum() // 2 - self.defined
        if fill is not None:
            everything = (self.sums.size - 1) * (self.sums.size - 2)
            total, pairs = total + fill * (everything - pairs), np.full_like(pairs, everything)
        return np.where(pairs > 0, total / np.maximum(pairs, 1), np.nan)

    @property
    def roughness(self) -> float:
        return np.nan if self.n_undefined else _unexplained_variance(self.sums / 2, self.squares)

    @property
    def undefined(self) -> str | None:
        if not self.n_undefined:
            return None
        return f"{self.n_undefined} of {self.n_pairs} ordered pairs of runs"


@dataclass(frozen=True)
class RatioTally(Tally):
    """What pairs of runs share above chance, over the most that they could share above chance, summed per run.

    Every pair is in the sums of both its runs. The value is the ratio of the sums over all pairs.

    Attributes
    ----------
    shared, most : ndarray
        For each run, the sums over its pairs with other runs that count.
    counts : ndarray of bool
        Which runs count. Pairs with others are undefined and add nothing.
    pairs : (ndarray, ndarray) or None
        Both by pair (runs × runs), where there are few runs.
    chance_error : float
        Standard error that a simulated expectation under chance adds to the value; 0 if it is exact.

    See Also
    --------
    RowPairs : The form whose functions return a tally.
    PairTally : Sums of similarities per run.

    Examples
    --------
    >>> import numpy as np
    >>> from holdfast.measures import RatioTally
    >>> counts = np.array([True, True, True])
    >>> RatioTally(shared=np.array([1.0, 0.5, 0.5]), most=np.array([2.0, 2.0, 2.0]), counts=counts).value()
    0.3333333333333333
    """

    shared: Floats
    most: Floats
    counts: NDArray[np.bool_]
    pairs: tuple[Floats, Floats] | None = None
    chance_error: float = 0.0

    def value(self, fill: float | None = None) -> float:
        shared, most = self.shared.sum() / 2, self.most.sum() / 2
        return float(self._divide(shared, most, self.counts.sum(), self.counts.size, fill))

    def leave_one_out(self, fill: float | None = None) -> Floats:
        shared, most = self.shared.sum() / 2 - self.shared, self.most.sum() / 2 - self.most
        return self._divide(shared, most, self.counts.sum() - self.counts, self.counts.size - 1, fill)

    @staticmethod
    def _divide(shared: Any, most: Any, n_counted: Any, n_runs: int, fill: float | None) -> Any:
        n_defined = n_counted * (n_counted - 1) / 2
        some = n_defined > 0  # else the sums are what subtraction left
        shared, most = np.where(some, shared, 0.0), np.where(some, most, 0.0)
        mean = np.where(some, most / np.maximum(n_defined, 1), 1.0)
        if fill is not None:  # an undefined pair could share as much as the others
            missing = (n_runs * (n_runs - 1) / 2 - n_defined) * mean
            shared, most = shared + fill * missing, most + missing
        possible = (mean > 1e-12) & (most > 0)  # else no pair can be above chance
        return np.where(possible, shared / np.where(possible, most, 1.0), np.nan)

    @property
    def matrix(self) -> Floats | None:
        """What each pair adds, to first order: the mean over pairs is the value; None if there are many runs."""
        if self.pairs is None:
            return None
        (shared, most), value, n_counted = self.pairs, self.value(), self.counts.sum()
        mean = self.most.sum() / max(1, n_counted * (n_counted - 1))
        return np.where(np.outer(self.counts, self.counts), value + (shared - value * most) / mean, np.nan)

    @property
    def roughness(self) -> float:
        matrix = self.matrix if self.undefined is None else None
        return np.nan if matrix is None else pair_roughness(matrix)

    @property
    def undefined(self) -> str | None:
        n_runs, n_counted = self.counts.size, int(self.counts.sum())
        missing = n_runs * (n_runs - 1) - n_counted * (n_counted - 1)
        if missing:
            return f"{missing} of {n_runs * (n_runs - 1)} ordered pairs of runs"
        return "as here" if np.isnan(self.value()) else None


def mean_over_pairs(similarity: Floats, weights: Floats) -> Floats:
    """Return the mean similarity of resampled runs for each row of weights, pairs of copies left out."""
    similarity = similarity - np.diag(np.diag(similarity))
    together = np.einsum("bi,bi->b", weights @ similarity, weights)
    return together / (weights.sum(axis=1) ** 2 - (weights**2).sum(axis=1))


def pair_roughness(kernel: Floats) -> float:
    """Return the variance of pairs beyond what their two runs explain, from a runs × runs matrix."""
    between = kernel - np.diag(np.diag(kernel))
    return _unexplained_variance(between.sum(axis=1), float((between**2).sum()))


def _unexplained_variance(rows: Floats, squares: float) -> float:
    """The same from what each run adds with all others, and the sum of squares over ordered pairs."""
    n_runs = rows.size
    if n_runs < 4:
        return np.nan
    n_pairs = n_runs * (n_runs - 1)
    explained = n_pairs / 2 * float(rows.sum() / n_pairs) ** 2 + ((rows - rows.mean()) ** 2).sum() / (n_runs - 2)
    left = squares / 2 - explained
    return 0.0 if left < 1e-12 * squares else left / (n_runs * (n_runs - 3) / 2)  # less is rounding


Holds = Literal["yes", "one size", "asymptotic", "no"]
"""``"one size"``: if all runs select equally many features. ``"asymptotic"``: as the number of runs grows."""

FEW_RUNS = 200
"""Number of runs up to which standard errors use every pair of them."""


class UndefinedStabilityWarning(UserWarning):
    """A stability is undefined; the message gives the reason.

    See Also
    --------
    UndefinedStabilityError : Raised instead with ``undefined="raise"``.

    Examples
    --------
    >>> import warnings
    >>> import holdfast as hf
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", hf.UndefinedStabilityWarning)
    ...     hf.stability([[0, 0, 0], [0, 0, 0]]).value
    nan
    """


class UndefinedStabilityError(ValueError):
    """A stability is undefined, and ``undefined="raise"`` asked for an error.

    See Also
    --------
    UndefinedStabilityWarning : Issued with ``undefined="nan"``.

    Examples
    --------
    >>> import holdfast as hf
    >>> try:
    ...     hf.stability([[0, 0, 0], [0, 0, 0]], undefined="raise")
    ... except hf.UndefinedStabilityError:
    ...     print("undefined")
    undefined
    """


class _Required:
    def __repr__(self) -> str:
        return "required"


REQUIRED = _Required()
"""Value of a parameter that has no default."""


@dataclass(frozen=True)
class Properties:
    """Which of the five properties of Nogueira, Sechidis and Brown (2018) hold; None where a property has no meaning.

    Attributes
    ----------
    fully_defined : {"yes", "one size", "asymptotic", "no"} or None
        Defined for all collections of non-empty proper subsets, of one size or not.
    monotone : {"yes", "one size", "asymptotic", "no"} or None
        For given sizes, strictly rises as the selection variances of the features fall.
    bounded : {"yes", "one size", "asymptotic", "no"} or None
        Between two constants that depend neither on sizes nor on the number of features.
    maximum : {"yes", "one size", "asymptotic", "no"} or None
        Best exactly when all runs agree.
    chance : {"yes", "one size", "asymptotic", "no"} or None
        Zero in expectation if every run draws its features at random.

    See Also
    --------
    properties : The properties of all measures as a table.
    holdfast.testing.check_measure : Tests the properties that a measure declares.

    Examples
    --------
    >>> import holdfast as hf
    >>> hf.MEASURES["jaccard"].properties.chance
    'no'
    """

    fully_defined: Holds | None
    monotone: Holds | None
    bounded: Holds | None
    maximum: Holds | None
    chance: Holds | None


def stacked(first: Preferences, second: Preferences) -> Preferences:
    """Concatenate the runs of two preferences, without labels."""
    if first.values is not None:
        return replace(first, values=np.vstack([first.values, second.matrix()]), labels=None)
    (indices, indptr), (more, pointers) = first.lists(), second.lists()
    indptr = np.concatenate([indptr, indptr[-1] + pointers[1:]])
    return replace(first, indices=np.concatenate([indices, more]), indptr=indptr, labels=None)


class Form(ABC):
    """Base class of the ways to compute a measure; measures of one form share a pass over the runs.

    See Also
    --------
    OverlapPairs : Means over pairs of a function of overlap and sizes.
    FeatureSum : Sums over features.
    RowPairs : Means over pairs of rankings or weights.
    Whole : Any function of all runs.

    Examples
    --------
    >>> import holdfast as hf
    >>> type(hf.MEASURES["jaccard"].form).__name__
    'OverlapPairs'
    """

    pairwise: bool = False
    """Whether the measure is a mean over pairs of runs."""

    @classmethod
    def tally(cls, preferences: Preferences, measures: Sequence["Measure"]) -> list[Tally]:
        """Evaluate measures of this form, together where that saves work.

        Parameters
        ----------
        preferences : Preferences
            The runs.
        measures : sequence of Measure
            Measures of this form.

        Returns
        -------
        list of Tally
            One for each measure.
        """
        return [measure.form._tally(preferences, measure) for measure in measures]

    def _tally(self, preferences: Preferences, measure: "Measure") -> Tally:
        """Evaluate one measure, of forms that save nothing by evaluating several together."""
        raise NotImplementedError

    def between(self, a: Preferences, b: Preferences, measure: "Measure") -> Floats:
        """Return the measure of run ``i`` of ``a`` with run ``i`` of ``b``, for every ``i``.

        Parameters
        ----------
        a, b : Preferences
            Equally many runs.
        measure : Measure
            The measure of this form.

        Returns
        -------
        ndarray
            One value per run; ``nan`` where it is undefined.
        """
        values = [self.tally(stacked(a.take([run]), b.take([run])), [measure])[0] for run in range(a.n_runs)]
        return np.array([np.nan if tally.undefined else tally.value() for tally in values])

    def resampled(self, preferences: Preferences, measure: "Measure", weights: Floats) -> Floats:
        """Return the measure of resampled runs, for the bootstrap.

        Pairs of copies of one run are left out: a run compared with itself would agree perfectly.

        Parameters
        ----------
        preferences : Preferences
            The runs.
        measure : Measure
            The measure of this form.
        weights : ndarray of shape (n_draws, n_runs)
            How often each run was drawn.

        Returns
        -------
        ndarray
            One value per row of ``weights``.

        Raises
        ------
        ValueError
            If measures of this form are not means over pairs of runs.
        """
        raise ValueError(
            f"Expected a measure that is a mean over pairs of runs for the bootstrap, got {measure.name}; "
            "use the jackknife."
        )

    def kernel(self, preferences: Preferences, measure: "Measure") -> Floats | None:
        """Return the runs × runs matrix whose mean over pairs moves the value one to one; None if there is none.

        Parameters
        ----------
        preferences : Preferences
            The runs.
        measure : Measure
            The measure of this form.

        Returns
        -------
        ndarray of shape (n_runs, n_runs) or None
            What each pair of runs adds.
        """
        return None

    @abstractmethod
    def corrected(self, measure: "Measure") -> "Form":
        """Return the form of the measure corrected for chance: (value − expected) / (best − expected).

        Parameters
        ----------
        measure : Measure
            The measure of this form.

        Returns
        -------
        Form
            The form of the corrected measure.
        """


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A measure of stability, with everything that is known about it.

    A measure of your own needs a name and a form (:class:`~holdfast.measures.OverlapPairs` for a similarity of two
    sets, :class:`~holdfast.measures.Whole` for a function of all runs, …); the other facts have cautious defaults. Pass
    it wherever a name is accepted, or register it with ``MEASURES.add(measure)`` to use it by name.
    :func:`holdfast.testing.check_measure` tests whether what it declares is true.

    Attributes
    ----------
    name : str
        Its name in :func:`~holdfast.stability` and on the command line.
    form : Form
        How it is computed.
    summary : str
        One line that says what it measures.
    kind : {"subset", "ranking", "weighting"}
        What it measures the stability of.
    range : tuple of float
        Smallest and largest value.
    best : float
        The value of a perfectly stable selection.
    higher_is_better : bool
        Whether larger means more stable.
    properties, published : Properties
        Which properties hold, and which the literature ticks (None if it does not say).
    undefined : str
        When it has no value.
    no_interval : str
        Why there is no interval; empty if there is one.
    validated : bool
        Whether simulations showed that its interval covers as it should.
    one_size : bool
        Whether all runs must select equally many features.
    parameters : mapping
        Parameters and their values; :data:`REQUIRED` where there is no default.
    chosen : tuple of str
        Parameters that were set by :meth:`bind`.
    similarity : {None, "correlation", "symmetrical_uncertainty"}
        Similarity of features that it needs, made from data if none is given.
    of_models : bool
        Whether its weights are how much models use features, which a study stores, not those that rank features.
    methods : str
        Phrase for the methods section of a paper, with the citation appended if it is not in it; made from name and
        reference if it is left out.
    reference : str
        Where it comes from; if it is left out, authors and year of what ``cite`` names.
    cite : str or None
        BibTeX key of its publication in :data:`holdfast.references.REFERENCES`.
    title : str
        Its name for readers ("Kendall's tau"); made from its name if it is left out.

    See Also
    --------
    holdfast.MEASURES : All measures by name.
    holdfast.corrected : A measure corrected for chance.
    holdfast.testing.check_measure : Test a measure of your own.

    Examples
    --------
    >>> import numpy as np
    >>> import holdfast as hf
    >>> from holdfast.measures import OverlapPairs
    >>> def overlap(r, k1, k2, d):
    ...     return r / np.minimum(k1, k2)
    >>> simpson = hf.Measure(name="simpson", form=OverlapPairs(overlap), range=(0, 1), undefined="an empty set")
    >>> hf.stability([[1, 1, 0, 0], [1, 0, 0, 0]], simpson).value
    1.0
    """

    name: str
    form: Form
    summary: str = ""
    kind: Kind = "subset"
    range: tuple[float, float] = (-np.inf, np.inf)
    best: float = 1.0
    higher_is_better: bool = True
    properties: Properties = field(default=Properties("no", "no", "no", "no", "no"))
    published: Properties | None = None
    undefined: str = "a single run"
    no_interval: str = ""
    validated: bool = False
    one_size: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)
    chosen: tuple[str, ...] = ()
    similarity: Literal["correlation", "symmetrical_uncertainty"] | None = None
    of_models: bool = False
    methods: str = ""
    reference: str = ""
    cite: str | None = None
    title: str = ""

    def __post_init__(self) -> None:
        reference = self.reference or (REFERENCES[self.cite].short if self.cite else "")
        object.__setattr__(self, "reference", reference)
        object.__setattr__(self, "methods", _phrase(self.methods, self.name, reference))
        words = self.name.replace("_", " ")
        object.__setattr__(self, "title", self.title or words[:1].upper() + words[1:])

    @property
    def about(self) -> About:
        """The facts that are declared of everything with a name."""
        needs = {"a similarity of features": self.similarity, "selections of one size": self.one_size}
        needed = tuple(what for what, true in needs.items() if true)
        return About(
            name=self.name, label=self.title, summary=self.summary, methods=self.methods, reference=self.cite,
            needs=needed,
        )  # fmt: skip

    @property
    def label(self) -> str:
        """The name with the parameters that were set, as in ``davis(alpha=0.5)``."""
        chosen = [(name, self.parameters[name]) for name in self.chosen]
        shown = ", ".join(f"{name}={value}" for name, value in chosen if isinstance(value, (int, float, str)))
        return f"{self.name}({shown})" if shown else self.name

    @property
    def has_strength(self) -> bool:
        """Whether words like "excellent" apply: corrected for chance, for subsets, with maximum 1 for equal runs."""
        return (
            self.kind == "subset" and self.properties.chance in ("yes", "one size") and self.range[1] == self.best == 1
        )

    def bind(self, **parameters: Any) -> "Measure":
        """Return the measure with some parameters set.

        Parameters
        ----------
        **parameters
            Parameters of the measure and their values.

        Returns
        -------
        Measure
            A copy with these parameters; without any, the measure itself.

        Raises
        ------
        ValueError
            If the measure has no such parameter.

        Examples
        --------
        >>> from holdfast import MEASURES
        >>> MEASURES["davis"].bind(alpha=0.5).label
        'davis(alpha=0.5)'
        """
        for name in parameters:
            if name not in self.parameters:
                known = ", ".join(self.parameters) or "none"
                raise ValueError(f"Expected parameters of {self.name} ({known}), got {name!r}.")
        if not parameters:
            return self
        chosen = tuple(dict.fromkeys((*self.chosen, *parameters)))
        return replace(self, parameters={**self.parameters, **parameters}, chosen=chosen)

    def check_complete(self) -> None:
        """Raise unless all parameters have values.

        Raises
        ------
        ValueError
            If a parameter without default has no value.
        """
        missing = [name for name, value in self.parameters.items() if value is REQUIRED]
        if missing:
            raise ValueError(
                f"{self.name} needs a value for {missing[0]}, which has no default in the literature; "
                f"pass {missing[0]}=…"
            )

    def check_sizes(self, preferences: Preferences) -> None:
        """Raise if the measure needs one size and the runs have several.

        Parameters
        ----------
        preferences : Preferences
            The runs.

        Raises
        ------
        ValueError
            If the measure is defined for one size only and the runs have several.
        """
        if self.one_size and self.kind == "subset":
            odd = np.flatnonzero(preferences.sizes != preferences.sizes[0])
            if odd.size:
                raise ValueError(
                    f"Expected runs that select equally many features, as {self.name} is defined for one size only, "
                    f"got {preferences.sizes[0]} in run 0 and {preferences.sizes[odd[0]]} in run {odd[0]}; "
                    "use nogueira, which allows all sizes. A selection may be smaller because fewer features carried "
                    "information."
                )


def _phrase(methods: str, name: str, reference: str) -> str:
    """Return a phrase for a methods section that names its source: ``… (Kuncheva, 2007)``."""
    if not methods:
        return f"the measure {name} of {reference}" if reference else f"the measure {name}"
    authors, _, year = reference.partition(")")[0].partition(" (")
    return methods if not year or year in methods else f"{methods} ({authors}, {year})"


Ints = NDArray[np.int64]

ENUMERATE = 20_000
"""Number of collections up to which all of them are enumerated."""

DRAWS = 2_000
"""Number of random draws where an expectation has to be simulated."""


class Expectation(NamedTuple):
    """An expected value and its standard error (0 if exact)."""

    value: float
    standard_error: float = 0.0


def overlap_expectation(similarity: Callable[..., Floats], k1: int, k2: int, n_features: int) -> Expectation:
    """Expected similarity of random sets of sizes ``k1`` and ``k2``, exactly."""
    shared = np.arange(max(0, k1 + k2 - n_features), min(k1, k2) + 1)
    log_p = log_choose(k1, shared) + log_choose(n_features - k1, k2 - shared) - log_choose(n_features, np.array([k2]))
    size = np.ones_like(shared)
    return Expectation(float(np.exp(log_p) @ similarity(shared, size * k1, size * k2, n_features)))


@lru_cache(maxsize=256)
def count_distribution(sizes: tuple[int, ...], n_features: int) -> Floats:
    """Probability that a feature is in 0, 1, … of the runs, exactly (a sum of different coin tosses)."""
    probability = np.ones(1)
    for share in np.array(sizes) / n_features:
        probability = np.append(probability * (1 - share), 0) + np.append(0, probability * share)
    return probability


def collection_expectation(
    value: Callable[[Preferences], float], sizes: Ints, n_features: int, *, draws: int = DRAWS
) -> Expectation:
    """Expected value of any function of random sets of the given sizes."""
    n_collections = math.prod(math.comb(n_features, int(size)) for size in sizes)
    if n_collections <= ENUMERATE:
        values = [value(collection) for collection in all_collections(sizes, n_features)]
        return Expectation(float(np.mean(values)))
    rng = np.random.default_rng([n_features, *sorted(map(int, sizes))])
    return _simulated(np.array([value(random_collection(sizes, n_features, rng)) for _ in range(draws)]))


def pair_expectation(
    values: Callable[[Preferences], Floats], k1: int, k2: int, n_features: int, *, draws: int = DRAWS
) -> Expectation:
    """Expected value of a function of two random sets; ``values`` takes runs 0–1, 2–3, … as pairs."""
    sizes = np.array([k1, k2])
    if math.comb(n_features, k1) * math.comb(n_features, k2) <= ENUMERATE:
        rows = [row for collection in _all_sets(sizes, n_features) for row in collection]
        pairs = Preferences.from_sets(rows, n_features=n_features)
        return Expectation(float(np.mean(values(pairs))))
    if not (is_number(draws) and draws == int(draws) and 2 <= draws <= 10_000_000):
        raise ValueError(f"Expected a number of draws from 2 to 10 million to simulate an expectation, got {draws}.")
    rng = np.random.default_rng([n_features, k1, k2])
    sets = [random_sets(rng.random((draws, size)), n_features) for size in (k1, k2)]
    indices = np.concatenate(sets, axis=1).ravel()
    indptr = np.concatenate([[0], np.cumsum(np.tile(sizes, draws))])
    pairs = Preferences(kind="subset", n_features=n_features, indices=indices, indptr=indptr)
    return _simulated(values(pairs))


def random_collection(sizes: Ints, n_features: int, rng: np.random.Generator) -> Preferences:
    """Draw runs of the given sizes at random."""
    if (sizes == sizes[0]).all():
        indices = random_sets(rng.random((sizes.size, int(sizes[0]))), n_features).ravel()
    else:
        indices = np.concatenate([random_sets(rng.random((1, int(size))), n_features)[0] for size in sizes])
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Preferences(kind="subset", n_features=n_features, indices=indices, indptr=indptr)


def _simulated(values: Floats) -> Expectation:
    return Expectation(float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size)))


def _all_sets(sizes: Iterable[int], n_features: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    return itertools.product(*(itertools.combinations(range(n_features), int(size)) for size in sizes))


def all_collections(sizes: Iterable[int], n_features: int) -> Iterator[Preferences]:
    """Yield all collections of sets of these sizes."""
    for sets in _all_sets(sizes, n_features):
        yield Preferences.from_sets(sets, n_features=n_features)


def log_choose(n: Any, k: Any) -> Any:
    """Logarithm of the binomial coefficient, ``n`` choose ``k``."""
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


DENSE_CELLS = 1 << 15
"""Runs × features up to which shared features are counted by one dense product, quicker than laying them out."""
MAX_GROUPS = 1 << 20
"""Groups of pairs (size of the other run, features shared) up to which pairs are grouped; the count takes 8 MB."""


class PairValues(NamedTuple):
    """Similarities of pairs, and the standard error that a simulated expectation gives each (0 if exact)."""

    value: Floats
    error: Floats | float = 0.0


@dataclass(frozen=True)
class SetPairs(Form):
    """Form of measures that are the mean over all ordered pairs of a similarity of two sets.

    See Also
    --------
    OverlapPairs : A similarity that depends only on the overlap.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast.measures import SetPairs
    >>> isinstance(hf.MEASURES["gulgezen"].form, SetPairs)
    True
    """

    symmetric = True
    pairwise = True

    @abstractmethod
    def values(self, sets: Preferences, first: Ints, second: Ints, measure: Measure) -> PairValues:
        """Return the similarities of the runs ``first`` with the runs ``second``; ``nan`` if undefined.

        Parameters
        ----------
        sets : Preferences
            The runs.
        first, second : ndarray of int
            Positions of the runs of each pair.
        measure : Measure
            The measure of this form.

        Returns
        -------
        PairValues
            Similarities of the pairs; ``nan`` where undefined.
        """

    @classmethod
    def values_together(
        cls, sets: Preferences, first: Ints, second: Ints, measures: Sequence[Measure]
    ) -> list[PairValues]:
        """Return the similarities for several measures of this form.

        Parameters
        ----------
        sets : Preferences
            The runs.
        first, second : ndarray of int
            Positions of the runs of each pair.
        measures : sequence of Measure
            Measures of this form.

        Returns
        -------
        list of PairValues
            One for each measure.
        """
        return [measure.form.values(sets, first, second, measure) for measure in measures]  # type: ignore[attr-defined]

    @classmethod
    def tally(cls, preferences: Preferences, measures: Sequence[Measure]) -> list[Tally]:
        n_runs, n_measures = preferences.n_runs, len(measures)
        sums, defined = np.zeros((n_measures, n_runs)), np.zeros((n_measures, n_runs), dtype=np.int64)
        squares, error = np.zeros(n_measures), np.zeros(n_measures)
        one_way = [row for row, measure in enumerate(measures) if not measure.form.symmetric]  # type: ignore[attr-defined]
        for first, second in pair_blocks(n_runs):
            forth = cls.values_together(preferences, first, second, measures)
            back = cls.values_together(preferences, second, first, [measures[row] for row in one_way])
            other_way = dict(zip(one_way, back, strict=True))
            for row, there in enumerate(forth):
                back_again = other_way.get(row, there)
                squares[row] += 2 * float((((there.value + back_again.value) / 2) ** 2).sum())
                for values in (there, back_again):
                    known = ~np.isnan(values.value)
                    for runs in (first, second):
                        sums[row] += np.bincount(runs[known], values.value[known], n_runs)
                        defined[row] += np.bincount(runs[known], minlength=n_runs)
                    error[row] += float(np.nansum(np.abs(values.error)))
        errors = (error / np.maximum(1, defined.sum(axis=1) // 2)).tolist()
        return [PairTally(*totals) for totals in zip(sums, defined, squares.tolist(), errors, strict=True)]

    def kernel(self, preferences: Preferences, measure: Measure) -> Floats:
        """Return the runs × runs similarities, the mean of both orders.

        Parameters
        ----------
        preferences : Preferences
            The runs.
        measure : Measure
            The measure of this form.

        Returns
        -------
        ndarray of shape (n_runs, n_runs)
            Similarities of all pairs.
        """
        similarity = np.eye(preferences.n_runs)
        for first, second in pair_blocks(preferences.n_runs):
            forth = self.values(preferences, first, second, measure).value
            back = forth if self.symmetric else self.values(preferences, second, first, measure).value
            similarity[first, second] = similarity[second, first] = (forth + back) / 2
        return similarity

    def resampled(self, preferences: Preferences, measure: Measure, weights: Floats) -> Floats:
        return mean_over_pairs(self.kernel(preferences, measure), weights)

    def between(self, a: Preferences, b: Preferences, measure: Measure) -> Floats:
        runs = np.arange(a.n_runs)
        return self.values(stacked(a, b), runs, runs + a.n_runs, measure).value

    def corrected(self, measure: Measure) -> "SetPairs":
        return CorrectedPairs(self, measure.best)


def pair_blocks(n_runs: int, size: int = 1 << 16) -> Iterator[tuple[Ints, Ints]]:
    """Yield all unordered pairs of different runs, about ``size`` at a time."""
    height = max(1, size // n_runs)
    for start in range(0, n_runs - 1, height):
        rows = np.arange(start, min(start + height, n_runs - 1))
        first = np.repeat(rows, n_runs - 1 - rows)
        yield first, np.concatenate([np.arange(run + 1, n_runs) for run in rows])


# Overlaps


class Cells(NamedTuple):
    """Ordered pairs of runs, grouped by the number of shared features and the sizes."""

    runs: slice  # first runs of the pairs in this block
    border: Ints  # where each first run's cells begin
    shared: Ints
    k1: Ints
    k2: Ints
    pairs: Ints  # how many pairs are in the cell


def pair_cells(preferences: Preferences) -> Iterator[Cells]:
    """Yield all ordered pairs of different runs, a block of first runs at a time."""
    sizes, n_runs = preferences.sizes, preferences.n_runs
    distinct, size_class = np.unique(sizes, return_inverse=True)
    n_values = int(sizes.max()) + 1
    layout = intersections.plan(*preferences.lists(), preferences.n_features)
    worth_grouping = 2 * distinct.size <= n_runs and distinct.size * n_values <= MAX_GROUPS
    for start, shared in intersections.intersection_blocks(layout):
        runs = slice(start, start + len(shared))
        if worth_grouping:
            border, code, pairs = intersections.group_pairs(start, shared, size_class, distinct.size, n_values)
            k1 = np.repeat(sizes[runs], np.diff(border))
            yield Cells(runs, border[:-1], code % n_values, k1, distinct[code // n_values], pairs)
        else:
            others = np.arange(n_runs) != np.arange(n_runs)[runs, None]
            k1, k2 = np.broadcast_arrays(sizes[runs, None], sizes[None, :])
            between = shared[others].astype(np.int64)
            border = np.arange(len(shared)) * (n_runs - 1)
            yield Cells(runs, border, between, k1[others], k2[others], np.ones_like(between))


def overlap_matrix(preferences: Preferences) -> Floats:
    """Return how many features every two runs share, as a runs × runs matrix."""
    if preferences.n_runs * preferences.n_features <= DENSE_CELLS:
        selected = preferences.to_sparse().toarray()
        return selected @ selected.T
    layout = intersections.plan(*preferences.lists(), preferences.n_features)
    return np.concatenate([shared for _, shared in intersections.intersection_blocks(layout)]).astype(float)


@dataclass(frozen=True)
class OverlapPairs(SetPairs):
    """Form of measures that are the mean over all pairs of a function of overlap and sizes.

    All such measures are evaluated in one pass.

    Attributes
    ----------
    similarity : callable
        ``similarity(r, k1, k2, d)`` takes arrays (features shared, sizes of the first and second set) and the number of
        all features. It returns ``nan`` where it is undefined.
    symmetric : bool
        Whether the order of the two sets does not matter.

    See Also
    --------
    SetPairs : Any similarity of two sets.
    holdfast.Measure : What a form is part of.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast.measures import OverlapPairs
    >>> shared = OverlapPairs(lambda r, k1, k2, d: r / d)
    >>> hf.stability([[1, 1, 0, 0], [1, 0, 1, 0]], hf.Measure(name="shared", form=shared)).value
    0.25
    """

    similarity: Callable[..., Floats]
    symmetric: bool = True

    @classmethod
    def tally(cls, preferences: Preferences, measures: Sequence[Measure]) -> list[Tally]:
        sums = np.zeros((len(measures), preferences.n_runs))
        defined = np.zeros((len(measures), preferences.n_runs), dtype=np.int64)
        squares = np.zeros(len(measures))
        if preferences.n_runs > 1:
            for cells in pair_cells(preferences):
                for row, measure in enumerate(measures):
                    form: Any = measure.form
                    forth = back = form._similarity(cells.shared, cells.k1, cells.k2, preferences.n_features, measure)
                    if not form.symmetric:
                        back = form._similarity(cells.shared, cells.k2, cells.k1, preferences.n_features, measure)
                    squares[row] += cells.pairs @ ((forth + back) / 2) ** 2
                    for values, weight in [(forth, 2)] if forth is back else [(forth, 1), (back, 1)]:
                        pairs, missing = weight * cells.pairs, np.isnan(values)
                        if missing.any():
                            values, pairs = np.where(missing, 0, values), np.where(missing, 0, pairs)
                        sums[row, cells.runs] += np.add.reduceat(values * pairs, cells.border)
                        defined[row, cells.runs] += np.add.reduceat(pairs, cells.border)
        return [PairTally(*totals) for totals in zip(sums, defined, squares.tolist(), strict=True)]

    def kernel(self, preferences: Preferences, measure: Measure) -> Floats:
        shared, k = overlap_matrix(preferences).astype(np.int64), preferences.sizes
        k1, k2 = np.broadcast_arrays(k[:, None], k[None, :])
        similarity = self._similarity(shared, k1, k2, preferences.n_features, measure)
        return (similarity + similarity.T) / 2

    def _similarity(self, shared: Ints, k1: Ints, k2: Ints, n_features: int, measure: Measure) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.similarity(shared, k1, k2, n_features, **measure.parameters)

    def values(self, sets: Preferences, first: Ints, second: Ints, measure: Measure) -> PairValues:
        rows = sets.to_sparse()
        shared = np.asarray(rows[first].multiply(rows[second]).sum(axis=1)).astype(np.int64)
        return PairValues(self._similarity(shared, sets.sizes[first], sets.sizes[second], sets.n_features, measure))

    def corrected(self, measure: Measure) -> "OverlapPairs":
        return OverlapPairs(partial(_corrected_overlap, self.similarity, measure.best), self.symmetric)


def _corrected_overlap(
    similarity: Callable[..., Floats], best: float, shared: Ints, k1: Ints, k2: Ints, d: int, **parameters: Any
) -> Floats:
    def expectation(size1: int, size2: int) -> Expectation:
        return overlap_expectation(partial(similarity, **parameters), size1, size2, d)

    return above_chance(similarity(shared, k1, k2, d, **parameters), best, k1, k2, expectation).value


# Correction for chance, pair by pair


def above_chance(
    value: Floats, best: Floats | float, k1: Ints, k2: Ints, expectation: Callable[[int, int], Expectation]
) -> PairValues:
    """Return (value − expected) / (best − expected), the expectation found once for each pair of sizes."""
    width = int(k2.max(initial=0)) + 1
    codes, pair = np.unique(k1 * width + k2, return_inverse=True)  # many times faster than np.unique(axis=1)
    expected, error = np.array([expectation(*divmod(int(code), width)) for code in codes])[pair].T
    room = best - expected
    room = np.where(np.abs(room) < 1e-9 * (1 + np.abs(best)), 0, room)  # nothing can be better than chance
    with np.errstate(divide="ignore", invalid="ignore"):
        return PairValues((value - expected) / np.where(room == 0, np.nan, room), error * (value - best) / room**2)


@dataclass(frozen=True)
class CorrectedPairs(SetPairs):
    """A similarity of two sets, corrected with its simulated or enumerated expectation for random sets."""

    inner: SetPairs
    best: float
    expected: dict[Any, Expectation] = field(default_factory=dict, compare=False, repr=False)

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        return self.inner.symmetric

    def values(self, sets: Preferences, first: Ints, second: Ints, measure: Measure) -> PairValues:
        plain = replace(measure, form=self.inner)

        def of_pairs(random: Preferences) -> Floats:
            even = np.arange(0, random.n_runs, 2)
            return self.inner.values(random, even, even + 1, plain).value

        def expectation(k1: int, k2: int) -> Expectation:
            key = k1, k2, sets.n_features, *measure.parameters.values()
            if key not in self.expected:
                self.expected[key] = pair_expectation(of_pairs, k1, k2, sets.n_features)
            return self.expected[key]

        value = self.inner.values(sets, first, second, plain).value
        return above_chance(value, self.best, sets.sizes[first], sets.sizes[second], expectation)


ALL_PAIRS = 100
"""Number of runs up to which the similarity of every pair is computed; beyond, only sums are."""


@dataclass(frozen=True)
class RowPairs(Form):
    """Form of measures that are the mean over all pairs of a similarity of two rankings or weightings.

    Attributes
    ----------
    sums : callable
        ``sums(matrix, **parameters)`` returns a :class:`PairTally` or a :class:`RatioTally`; it need not look at every
        pair.

    See Also
    --------
    PairTally : Sums of similarities per run.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast.measures import RowPairs
    >>> isinstance(hf.MEASURES["spearman"].form, RowPairs)
    True
    """

    sums: Callable[..., PairTally | RatioTally]
    pairwise = True

    def _tally(self, preferences: Preferences, measure: Measure) -> Tally:
        return self.sums(preferences.matrix(), **measure.parameters)

    def kernel(self, preferences: Preferences, measure: Measure) -> Floats | None:
        return self.sums(preferences.matrix(), **measure.parameters).matrix

    def resampled(self, preferences: Preferences, measure: Measure, weights: Floats) -> Floats:
        similarity = self.kernel(preferences, measure)
        if similarity is None:
            raise ValueError(
                f"Expected at most {ALL_PAIRS} runs to resample pairs of {measure.kind}s, got {preferences.n_runs}; "
                "use the jackknife."
            )
        return mean_over_pairs(similarity, weights)

    def corrected(self, measure: Measure) -> "RowPairs":
        raise ValueError(
            f"Expected a measure of subsets to correct for chance, got {measure.name}, a measure of {measure.kind}s; "
            "cut the runs with .top(k) first."
        )


def correlation_sums(blocks: Iterable[Floats], lengths: Floats) -> PairTally:
    """Sum the correlations of every row with all others in linear time.

    Rows come as blocks of columns, already centered, with the Euclidean ``lengths`` of the whole rows: the sum of a
    unit vector's products with all others is its product with their sum. A row of length 0 has no correlation.
    """
    defined = lengths > 0
    scale = np.where(defined, 1 / np.where(defined, lengths, 1), 0)
    n_runs = lengths.size
    with_all, similarities = np.zeros(n_runs), np.zeros((n_runs, n_runs)) if n_runs <= ALL_PAIRS else None
    for block in blocks:
        units = block * scale[:, None]
        with_all += units @ units.sum(axis=0)
        if similarities is not None:
            similarities += units @ units.T
    if similarities is not None:
        similarities[~np.outer(defined, defined)] = np.nan
    partners = np.where(defined, defined.sum() - 1, 0).astype(np.int64)
    return tally_matrix(2 * (with_all - defined), 2 * partners, similarities)


def tally_matrix(sums: Floats, defined: NDArray[np.int64], similarities: Floats | None) -> PairTally:
    """Return the tally of these sums, with the similarities of all pairs where these are known."""
    if similarities is None:
        return PairTally(sums, defined)
    squares = float((similarities**2).sum() - (np.diag(similarities) ** 2).sum())
    return PairTally(sums, defined, squares, matrix=similarities)


def distance_sums(matrix: Floats) -> tuple[Floats, Floats | None]:
    """Sum the squared Euclidean distances of every row to all others, in linear time.

    Returns these sums, and the distances of all pairs (None beyond ``ALL_PAIRS`` rows).
    """
    centered = matrix - matrix.mean(axis=0)  # distances do not change, rounding does
    lengths = np.einsum("ij,ij->i", centered, centered)
    to_others = len(matrix) * lengths - 2 * centered @ centered.sum(axis=0) + lengths.sum()
    if len(matrix) > ALL_PAIRS:
        return to_others, None
    return to_others, lengths[:, None] + lengths[None, :] - 2 * centered @ centered.T


def pair_sums(n_runs: int, with_following: Callable[[int], Floats]) -> PairTally:
    """Sum symmetric similarities, given those of run ``i`` with the runs after it; ``nan`` is undefined."""
    sums, defined, squares = np.zeros(n_runs), np.zeros(n_runs, dtype=np.int64), 0.0
    similarities = np.eye(n_runs) if n_runs <= ALL_PAIRS else None
    for run in range(n_runs - 1):
        values = with_following(run)
        squares += 2 * float(values @ values)
        if similarities is not None:
            similarities[run, run + 1 :] = similarities[run + 1 :, run] = values
        known = ~np.isnan(values)
        values = np.where(known, values, 0)
        sums[run] += 2 * values.sum()
        defined[run] += 2 * known.sum()
        sums[run + 1 :] += 2 * values
        defined[run + 1 :] += 2 * known
    return PairTally(sums, defined, squares, matrix=similarities)


@dataclass(frozen=True)
class FeatureSum(Form):
    """Form of measures that are a function of a sum over features.

    The sum is over a term in how often each feature was selected.

    Attributes
    ----------
    term : callable
        ``term(h, M)`` of a feature that is selected in ``h`` of ``M`` runs.
    finish : callable
        ``finish(total, q, M, d)`` makes the value from the total, the number ``q`` of all selections, and the number
        ``d`` of features. It must be linear in the total, which makes the expectation under chance exact.
    from_overlap : callable or None
        ``from_overlap(overlap, size, d)``, the same value from the mean overlap of two runs and the mean size.

    See Also
    --------
    OverlapPairs : Means over pairs of a function of overlap and sizes.
    Whole : Any function of all runs.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast.measures import FeatureSum
    >>> always = FeatureSum(lambda h, M: (h == M) * 1.0, lambda total, q, M, d: total / (q / M))
    >>> hf.stability([[1, 1, 0], [1, 0, 1]], hf.Measure(name="always selected", form=always)).value
    0.5
    """

    term: Callable[[Floats, Any], Floats]
    finish: Callable[..., Any]
    from_overlap: Callable[..., Any] | None = None

    @classmethod
    def tally(cls, preferences: Preferences, measures: Sequence[Measure]) -> list[Tally]:
        of_runs = np.bincount(preferences.counts, minlength=preferences.n_runs + 1), preferences
        forms: list[Any] = [measure.form for measure in measures]
        return [
            WholeTally(
                form.value(*of_runs),
                partial(form.leave_one_out, *of_runs),
                find_roughness=partial(form.roughness, *of_runs),
            )
            for form in forms
        ]

    def value(self, times: NDArray[Any], preferences: Preferences) -> float:
        """Return the value for given, or expected, numbers of features per selection count.

        Parameters
        ----------
        times : ndarray
            Number of features that are selected 0, 1, … times.
        preferences : Preferences
            The runs.

        Returns
        -------
        float
            The value; ``nan`` if it is undefined.
        """
        n_runs = preferences.n_runs
        if n_runs < 2:
            return np.nan
        with np.errstate(divide="ignore", invalid="ignore"):
            total = times @ self.term(np.arange(times.size, dtype=float), n_runs)
            return float(self.finish(np.float64(total), int(preferences.sizes.sum()), n_runs, preferences.n_features))

    def leave_one_out(self, times: NDArray[Any], preferences: Preferences) -> Floats:
        """Return the values without each run, in time linear in the selections.

        A run that is left out lowers the count of every feature it selected by one.

        Parameters
        ----------
        times : ndarray
            Number of features that are selected 0, 1, … times.
        preferences : Preferences
            The runs.

        Returns
        -------
        ndarray
            One value per run that is left out.
        """
        n_left = preferences.n_runs - 1
        if n_left < 2:
            return np.full(preferences.n_runs, np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            term = self.term(np.arange(n_left + 1, dtype=float), n_left)
            unchanged = np.append(term, 0.0)  # a feature of all runs is lowered by each of them
            lowered = np.insert(term, 0, 0.0)
            total = times @ unchanged + sum_over_selected(preferences, (lowered - unchanged)[preferences.counts])
            selected = (preferences.sizes.sum() - preferences.sizes).astype(float)
            values = np.asarray(self.finish(total, selected, n_left, preferences.n_features), dtype=float)
        return np.where(np.isfinite(values), values, np.nan)  # 0/0, of which rounding of the total may make ±∞

    def roughness(self, times: NDArray[Any], preferences: Preferences) -> float:
        """Estimate the roughness from pairs of runs, if these are few, and from features; the larger counts.

        The first sees features that move together. The second takes the curvature of the term, as if features were
        selected on their own, twice; it rests on more numbers.

        Parameters
        ----------
        times : ndarray
            Number of features that are selected 0, 1, … times.
        preferences : Preferences
            The runs.

        Returns
        -------
        float
            Variance of what a pair of runs adds beyond what its two runs add each.
        """
        n_runs, d, selected = preferences.n_runs, preferences.n_features, int(preferences.sizes.sum())
        h = np.arange(n_runs + 1, dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            term = self.term(h, n_runs)
            with_one, with_none = (self.finish(np.float64(total), selected, n_runs, d) for total in (1, 0))
        curvature = np.zeros(n_runs + 1)
        curvature[1:-1] = n_runs * (n_runs - 1) / 2 * (with_one - with_none) * np.diff(term, 2)
        variance = h * (n_runs - h) / (n_runs * (n_runs - 1))
        from_features = float(2 * times @ (curvature * variance) ** 2)
        kernel = self.kernel(preferences) if 4 <= n_runs <= FEW_RUNS else None
        return from_features if kernel is None else max(from_features, pair_roughness(kernel))

    def kernel(self, preferences: Preferences, measure: Measure | None = None) -> Floats | None:
        if self.from_overlap is None:
            return None
        size, d = preferences.sizes.mean(), preferences.n_features
        with np.errstate(divide="ignore", invalid="ignore"):
            return overlap_matrix(preferences) * (self.from_overlap(1.0, size, d) - self.from_overlap(0.0, size, d))

    def resampled(self, preferences: Preferences, measure: Measure, weights: Floats) -> Floats:
        if self.from_overlap is None:
            return super().resampled(preferences, measure, weights)
        overlap = mean_overlap(preferences, weights)
        size = weights @ preferences.sizes / weights.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.from_overlap(overlap, size, preferences.n_features)

    def corrected(self, measure: Measure) -> "Whole":
        return Whole(partial(_corrected_sum, self, measure.best))


def mean_overlap(preferences: Preferences, weights: Floats) -> Floats:
    """Return the mean number of features that two resampled runs share, for each row of weights, copies left out.

    Counted by features or by pairs of runs, whichever takes less: a feature that is drawn c times is in c² pairs.
    """
    shared = np.flatnonzero(preferences.counts > 1)
    squares = weights**2
    if 2 * shared.size < preferences.n_runs:
        selected = preferences.to_sparse()[:, shared].toarray()
        kind = _kind_for_sums(weights, 1.0)
        times = (weights.astype(kind) @ selected.astype(kind)).astype(np.float64)
        together = np.einsum("bf,bf->b", times, times) - squares @ selected.sum(axis=1)
    else:
        together = 2 * _sum_over_pairs(overlap_matrix(preferences), weights)
    return together / (weights.sum(axis=1) ** 2 - squares.sum(axis=1))


def _sum_over_pairs(overlap: Floats, weights: Floats) -> Floats:
    """Return the sum over all unordered pairs of different runs of their overlap times their weights."""
    from scipy.linalg.blas import dtrmm, strmm  # not needed to measure

    np.fill_diagonal(overlap, 0.0)
    kind = _kind_for_sums(weights, float(overlap.max(initial=0.0)))
    multiply = strmm if kind is np.float32 else dtrmm
    with_later = multiply(1.0, overlap.astype(kind).T, weights.astype(kind).T, lower=1).T
    return np.einsum("bi,bi->b", weights, with_later.astype(np.float64))


def _kind_for_sums(weights: Floats, largest: float) -> type[np.float32 | np.float64]:
    """The fastest kind of number that is exact: 32 bits for sums of whole numbers up to 2²⁴."""
    small = weights.sum(axis=1).max(initial=0.0) * largest < 2**24
    return np.float32 if small and (weights == np.rint(weights)).all() else np.float64


def sum_over_selected(preferences: Preferences, values: Floats) -> Floats:
    """For each run, the sum of ``values`` over the features that it selected."""
    indices, indptr = preferences.lists()
    sums = np.zeros(preferences.n_runs)
    filled = preferences.sizes > 0  # reduceat would give an empty run the next run's first value
    if filled.any():
        sums[filled] = np.add.reduceat(values[indices], indptr[:-1][filled])
    return sums


def _corrected_sum(form: FeatureSum, best: float, preferences: Preferences) -> float:
    value = form.value(np.bincount(preferences.counts, minlength=preferences.n_runs + 1), preferences)
    sizes, d = tuple(np.sort(preferences.sizes).tolist()), preferences.n_features
    by_chance = d * count_distribution(sizes, d)
    return _above_chance(value, form.value(by_chance, preferences), best)


def _above_chance(value: float, expected: float, best: float) -> float:
    return (value - expected) / (best - expected) if best != expected else np.nan


def leave_one_out(function: Callable[[Preferences], float], preferences: Preferences) -> Floats:
    """Evaluate a function without each run in turn."""
    runs = np.arange(preferences.n_runs)
    if preferences.n_runs < 3:
        return np.full(preferences.n_runs, np.nan)
    return np.array([function(preferences.take(runs[runs != run])) for run in runs])


@dataclass(frozen=True)
class Whole(Form):
    """Form of measures that are any function of all runs.

    Attributes
    ----------
    function : callable
        ``function(preferences, **parameters)``; returns ``nan`` where it is undefined.

    See Also
    --------
    FeatureSum : Sums over features, which are faster.

    Examples
    --------
    >>> import numpy as np
    >>> import holdfast as hf
    >>> from holdfast.measures import Whole
    >>> def core(runs):
    ...     return float(np.mean(runs.frequency[runs.counts > 0] == 1))
    >>> hf.stability([[1, 1, 0], [1, 0, 1]], hf.Measure(name="core", form=Whole(core))).value
    0.3333333333333333
    """

    function: Callable[..., float]

    def _tally(self, preferences: Preferences, measure: Measure) -> Tally:
        function = partial(self.function, **measure.parameters)
        return WholeTally(function(preferences), partial(leave_one_out, function, preferences))

    def corrected(self, measure: Measure) -> "CorrectedWhole":
        return CorrectedWhole(self.function, measure.best)


@dataclass(frozen=True)
class CorrectedWhole(Whole):
    """A function of all runs, corrected with its expectation for as many random sets of the same sizes."""

    best: float
    expected: dict[Any, Expectation] = field(default_factory=dict, compare=False, repr=False)

    def _tally(self, preferences: Preferences, measure: Measure) -> Tally:
        function = partial(self.function, **measure.parameters)

        def expectation(runs: Preferences) -> Expectation:
            key = runs.n_features, *np.sort(runs.sizes).tolist(), *measure.parameters.values()
            if key not in self.expected:
                self.expected[key] = collection_expectation(function, runs.sizes, runs.n_features)
            return self.expected[key]

        def corrected(runs: Preferences) -> float:
            return _above_chance(function(runs), expectation(runs).value, self.best)

        value, without = corrected(preferences), partial(leave_one_out, corrected, preferences)
        if np.isnan(value):
            return WholeTally(value, without)
        expected = expectation(preferences)
        slope = (1 - value) / (self.best - expected.value)
        return WholeTally(value, without, abs(slope) * expected.standard_error)
