"""What is found about uploaded selections, as plain typed data."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from holdfast.preferences import Kind
from holdfast.report.records import Cause, Features, Stability, Verdict
from holdfast.web.selections.layouts import AskedLayout

Layout: TypeAlias = Literal["table", "lists", "exported"]


@dataclass(frozen=True, kw_only=True)
class ReadingQuery:
    """How to read and measure selections.

    Attributes
    ----------
    measure : str
        Name of the measure; the usual one for this kind of selections by default.
    level : float
        Level of the intervals and tests.
    n_features : int or None
        For lists of names: how many features there were to choose from.
    kind : {"subset", "ranking", "weighting"} or None
        What the numbers of a table are, where that is open.
    top : int or None
        How many of the best features of a ranking or of weights count as selected.
    transpose : bool or None
        Whether rows of a table are features, where that is open.
    layout : {"table", "unnamed", "orders", "lists"} or None
        How a text holds selections, whatever its ending says, where that is open: a table with names of features in its
        first line, a table without, all features in each line with the best first, or those that a run selected.
    undefined : str
        What to do where the measure is undefined: ``nan``, ``skip``, or a number that takes the place.
    """

    measure: str = ""
    level: float = 0.95
    n_features: int | None = None
    kind: Kind | None = None
    top: int | None = None
    transpose: bool | None = None
    layout: AskedLayout | None = None
    undefined: str = "nan"


@dataclass(frozen=True, kw_only=True)
class Estimated:
    """An estimate of stability with everything that is known of it.

    Attributes
    ----------
    measure : str
        Name of the measure, with its parameters.
    value, standard_error : float
        The stability and its standard error; null if undefined.
    level, low, high : float
        Level and ends of the interval; null if there is none.
    method : str
        How the interval was found.
    validated : bool
        Whether simulations showed that this interval covers as it should for this measure.
    unseen_share : float
        Share of further resamples that may select entirely different features, as far as these resamples can tell.
    strength : str or None
        The value in words, for measures to which the words apply.
    n_runs, n_features : int
        Number of resamples and of features to choose from.
    mean_size, mean_overlap, tied_share : float
        Mean number of selected features, of features that two resamples share, and mean share of tied features; null
        where they mean nothing.
    chance_error : float
        Standard error that a simulated correction for chance adds.
    reason : str or None
        What is undefined, was left out, or has no interval, and why.
    scope : str
        What the interval describes.
    """

    measure: str
    value: float
    standard_error: float
    level: float
    low: float
    high: float
    method: str
    validated: bool
    unseen_share: float
    strength: str | None
    n_runs: int
    n_features: int
    mean_size: float
    mean_overlap: float
    tied_share: float
    chance_error: float
    reason: str | None
    scope: str


@dataclass(frozen=True, kw_only=True)
class Swap:
    """Two features that take turns, more than by chance.

    Attributes
    ----------
    first, second : str
        The features.
    one_of_them, both, neither : int
        Number of resamples that selected exactly one of them, both, or neither.
    """

    first: str
    second: str
    one_of_them: int
    both: int
    neither: int


@dataclass(frozen=True, kw_only=True)
class RunsPlan:
    """How many resamples an interval of a given width needs.

    Attributes
    ----------
    half_width : float
        Half of the width of the interval.
    needed : int or None
        Number of resamples in all; None if those so far cannot tell.
    sentence : str
        The same in words, or why it is not known.
    """

    half_width: float
    needed: int | None
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """How stable selections are, how sure that is, and what makes them vary.

    Attributes
    ----------
    kind : {"subset", "ranking", "weighting"}
        What was measured; rankings and weights that were cut to the best features are subsets.
    cut_from : str or None
        What the file holds, if it was cut to the best features.
    layout : {"table", "lists", "exported"}
        How the file holds it: a table with a row for each run, lists of names, or what a study exported.
    candidates : tuple of str
        Whose selections are in a file that a study exported.
    measure : str
        Name of the measure.
    design : str
        How resamples belong together: ``runs`` unless the file is from a study that says otherwise.
    estimate : Estimated
        The stability.
    stability : Stability
        The same as a report holds it.
    verdict : Verdict
        How stable and how sure, in words, and what it does not say.
    features : Features
        How often each feature was selected, and by which resample.
    sizes : tuple of int
        The smallest and the largest number of features that a resample selected; empty for rankings and weights.
    causes : tuple of Cause
        What makes the selections vary.
    no_cause : str
        What to say if there are none.
    swaps : tuple of Swap
        Pairs of features that take turns, the strongest first.
    plan : RunsPlan
        How many resamples a given precision needs.
    notes : tuple of str
        How the file was read, and what was odd about it.
    """

    kind: Kind
    cut_from: Kind | None
    layout: Layout
    candidates: tuple[str, ...]
    measure: str
    design: str
    estimate: Estimated
    stability: Stability
    verdict: Verdict
    features: Features
    sizes: tuple[int, ...]
    causes: tuple[Cause, ...]
    no_cause: str
    swaps: tuple[Swap, ...]
    plan: RunsPlan
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Preview:
    """The beginning of a file.

    Attributes
    ----------
    kind_reason : str
        What it seems to hold, as a sentence; empty if that is not known.
    n_runs, least_features : int
        Number of runs, and of different features that are named, as far as that is known.
    header : tuple of str
        Names of the first columns of a table.
    rows : tuple of tuple of str
        The first rows, or the first lists.
    """

    kind_reason: str
    n_runs: int
    least_features: int
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
