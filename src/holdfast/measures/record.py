"""What a measure of stability is: its name, the form that computes it, and the facts about it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from holdfast.declared import About
from holdfast.measures.tally import Floats, Tally
from holdfast.preferences import Kind, Preferences
from holdfast.references import REFERENCES

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
    @abstractmethod
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
