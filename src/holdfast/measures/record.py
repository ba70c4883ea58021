"""What a measure is: a name, a form that computes it, and the facts about it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast.preferences import Kind, Preferences, stacked

Floats = NDArray[np.float64]
Holds = Literal["yes", "one size", "asymptotic", "no"]
"""``"one size"``: if all runs select equally many features. ``"asymptotic"``: as the number of runs grows."""

FEW_RUNS = 200
"""Number of runs up to which every pair of them is looked at for the uncertainty."""


class UndefinedStabilityWarning(UserWarning):
    """A stability has no value, and this is why."""


class UndefinedStabilityError(ValueError):
    """A stability has no value, and the caller asked for an error."""


class _Required:
    def __repr__(self) -> str:
        return "required"


REQUIRED = _Required()
"""Stands for a parameter without default."""


@dataclass(frozen=True)
class Properties:
    """Which of the five properties of Nogueira, Sechidis and Brown (2018) hold; None where a property has no meaning.

    Attributes
    ----------
    fully_defined
        Defined for all collections of non-empty proper subsets, of one size or not.
    monotone
        For given sizes, strictly rises as the selection variances of the features fall.
    bounded
        Between two constants that depend neither on sizes nor on the number of features.
    maximum
        Best exactly when all runs agree.
    chance
        Zero in expectation if every run draws its features at random.
    """

    fully_defined: Holds | None
    monotone: Holds | None
    bounded: Holds | None
    maximum: Holds | None
    chance: Holds | None


class Tally(ABC):
    """What a pass over the runs found, before it is decided what to do with undefined parts."""

    chance_error: float = 0.0
    """Standard error that a simulated expectation under chance adds to the value; 0 if it is exact."""

    @abstractmethod
    def value(self, fill: float | None = None) -> float:
        """Return the value: undefined parts taken as ``fill``, or left out if that is None."""

    @abstractmethod
    def leave_one_out(self, fill: float | None = None) -> Floats:
        """Return the values with each run left out in turn."""

    @property
    @abstractmethod
    def roughness(self) -> float:
        """Variance of what a pair of runs adds beyond what its two runs add each; ``nan`` if it is not known.

        It is what is left of the uncertainty where leaving out single runs changes nothing.
        """

    @property
    @abstractmethod
    def undefined(self) -> str | None:
        """Which part is undefined, or None."""


@dataclass(frozen=True)
class WholeTally(Tally):
    """A single number, and how to find it without a run."""

    number: float
    without_each: Callable[[], Floats]
    chance_error: float = 0.0
    find_roughness: Callable[[], float] = lambda: np.nan

    def value(self, fill: float | None = None) -> float:
        return fill if fill is not None and np.isnan(self.number) else self.number

    def leave_one_out(self, fill: float | None = None) -> Floats:
        values = self.without_each()
        return values if fill is None else np.where(np.isnan(values), fill, values)

    @property
    def roughness(self) -> float:
        return self.find_roughness()

    @property
    def undefined(self) -> str | None:
        return "as here" if np.isnan(self.number) else None


@dataclass(frozen=True)
class PairTally(Tally):
    """Similarities of all ordered pairs, summed per run.

    ``sums[i]`` is the sum over all defined ordered pairs that run ``i`` is in, at either place; ``defined[i]`` is how
    many they are. Every pair is in the sums of both its runs. ``squares`` is the sum over all ordered pairs of the
    squared similarity, taken as the mean of both orders.
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
        n_runs = self.sums.size
        if n_runs < 4 or self.n_undefined:
            return np.nan
        rows = self.sums / 2
        explained = self.n_pairs / 2 * self.value() ** 2 + ((rows - rows.mean()) ** 2).sum() / (n_runs - 2)
        left = self.squares / 2 - explained
        return 0.0 if left < 1e-12 * self.squares else left / (n_runs * (n_runs - 3) / 2)  # less is rounding

    @property
    def undefined(self) -> str | None:
        if not self.n_undefined:
            return None
        return f"{self.n_undefined} of {self.n_pairs} ordered pairs of runs"


def mean_over_pairs(similarity: Floats, weights: Floats) -> Floats:
    """Return the mean similarity of resampled runs for each row of weights, pairs of copies left out."""
    similarity = similarity - np.diag(np.diag(similarity))
    together = np.einsum("bi,bi->b", weights @ similarity, weights)
    return together / (weights.sum(axis=1) ** 2 - (weights**2).sum(axis=1))


def pair_roughness(kernel: Floats) -> float:
    """Return the variance of pairs beyond what their two runs explain, from a runs × runs matrix."""
    between = kernel - np.diag(np.diag(kernel))
    rows, n_runs = between.sum(axis=1), len(between)
    return PairTally(2 * rows, np.full(n_runs, 2 * (n_runs - 1)), float((between**2).sum())).roughness


class Form(ABC):
    """How a measure is computed. Measures of one form can share a pass over the runs."""

    pairwise: bool = False
    """Whether the measure is a mean over pairs of runs."""

    @classmethod
    @abstractmethod
    def tally(cls, preferences: Preferences, measures: Sequence["Measure"]) -> list[Tally]:
        """Evaluate measures of this form, together where that saves work."""

    def between(self, a: Preferences, b: Preferences, measure: "Measure") -> Floats:
        """Return the measure of run ``i`` of ``a`` with run ``i`` of ``b``, for every ``i``."""
        values = [self.tally(stacked(a.take([run]), b.take([run])), [measure])[0] for run in range(a.n_runs)]
        return np.array([np.nan if tally.undefined else tally.value() for tally in values])

    def resampled(self, preferences: Preferences, measure: "Measure", weights: Floats) -> Floats:
        """Return the measure of resampled runs; each row of ``weights`` says how often each run was drawn.

        Copies of one run never meet: a run compared with itself would agree perfectly.
        """
        raise ValueError(
            f"Expected a measure that is a mean over pairs of runs for the bootstrap, got {measure.name}; "
            "use the jackknife."
        )

    def kernel(self, preferences: Preferences, measure: "Measure") -> Floats | None:
        """Return the runs × runs matrix whose mean over pairs moves the value one to one; None if there is none."""
        return None

    @abstractmethod
    def corrected(self, measure: "Measure") -> "Form":
        """Return the form of the measure corrected for chance: (value − expected) / (best − expected)."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A measure of stability and what is known of it.

    Measures of your own work wherever a name does: give a name and a form (:class:`~holdfast.measures.OverlapPairs`
    for a similarity of two sets, :class:`~holdfast.measures.Whole` for a function of all runs, …); the other facts have
    cautious defaults. :func:`holdfast.testing.check_measure` tells whether what you declare is true.

    Attributes
    ----------
    name : str
        How it is asked for.
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
    reference : str
        Where it comes from.
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
    reference: str = ""

    @property
    def label(self) -> str:
        """The name, with the parameters that were chosen and can be written down."""
        chosen = [(name, self.parameters[name]) for name in self.chosen]
        shown = ", ".join(f"{name}={value}" for name, value in chosen if isinstance(value, (int, float, str)))
        return f"{self.name}({shown})" if shown else self.name

    @property
    def has_strength(self) -> bool:
        """Whether words like "excellent" apply: corrected for chance, of subsets, 1 at the most and for equal runs."""
        return (
            self.kind == "subset" and self.properties.chance in ("yes", "one size") and self.range[1] == self.best == 1
        )

    def bind(self, **parameters: Any) -> "Measure":
        """Return the measure with some parameters set.

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
        chosen = tuple(dict.fromkeys((*self.chosen, *parameters)))
        return replace(self, parameters={**self.parameters, **parameters}, chosen=chosen)

    def check_complete(self) -> None:
        """Raise unless all parameters have values."""
        missing = [name for name, value in self.parameters.items() if value is REQUIRED]
        if missing:
            raise ValueError(
                f"Expected a value for {missing[0]} of {self.name}, which has no default in the literature; "
                f"give {missing[0]}=…"
            )

    def check_sizes(self, preferences: Preferences) -> None:
        """Raise if the measure needs one size and the runs have several."""
        if self.one_size and self.kind == "subset":
            odd = np.flatnonzero(preferences.sizes != preferences.sizes[0])
            if odd.size:
                raise ValueError(
                    f"Expected runs that select equally many features, as {self.name} is defined for one size only, "
                    f"got {preferences.sizes[0]} in run 0 and {preferences.sizes[odd[0]]} in run {odd[0]}; "
                    "use nogueira, which allows all sizes. A selection may be smaller because fewer features carried "
                    "information."
                )
