"""Profiles as pages show them: who has one, its points, and what is selected at one size."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ProfileSource:
    """A selector, or a candidate that orders all features.

    Attributes
    ----------
    name, label : str
        How it is asked for, and what readers call it.
    missing : str
        Why it has no profile; empty if it has one.
    least, most : int
        The smallest and the largest number of features that can be asked for; 0 if it has no profile.
    sizes : tuple of int
        The numbers of features that can be asked for, if not all from ``least`` to ``most``.
    """

    name: str
    label: str
    missing: str = ""
    least: int = 0
    most: int = 0
    sizes: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ProfilePoint:
    """The stability at one number of features.

    Attributes
    ----------
    size : int
        Number of features.
    stability, low, high : float
        Stability and its interval.
    random : float
        Stability of random subsets of this size.
    entering : float
        How far resamples agree on the features that enter since the size before: 0 as by chance, 1 as far as possible.
    knot : bool
        Whether features after this size enter almost at random.
    score, score_error : float
        Score of the candidate with this size and its standard error; undefined where there is none.
    """

    size: int
    stability: float
    low: float
    high: float
    random: float
    entering: float
    knot: bool
    score: float
    score_error: float


@dataclass(frozen=True, kw_only=True)
class ProfileLine:
    """The profile of one selector.

    Attributes
    ----------
    name : str
        The selector, or the candidate.
    knots : tuple of int
        Sizes after which features enter almost at random.
    points : tuple of ProfilePoint
        The sizes, the smallest first.
    """

    name: str
    knots: tuple[int, ...]
    points: tuple[ProfilePoint, ...]


@dataclass(frozen=True, kw_only=True)
class SizedFeature:
    """A feature that was selected at a size.

    Attributes
    ----------
    feature : str
        Its name.
    place : int
        Its column in the data, from 0.
    count : int
        Number of resamples that selected it.
    frequency, low, high : float
        Their share, and its interval.
    """

    feature: str
    place: int
    count: int
    frequency: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class SizedSelection:
    """What is selected if so many features are.

    Attributes
    ----------
    family : str
        The selector, or the candidate.
    size : int
        Number of features.
    stability, low, high : float
        Stability and its interval.
    random : float
        Stability of random subsets of this size.
    score, score_error : float
        Score of the candidate with this size and its standard error; undefined where there is none.
    n_runs : int
        Number of resamples.
    n_selected : int
        Number of features that were selected in any of them.
    features : tuple of SizedFeature
        These features, the most frequent first, at most 100.
    sentence : str
        The stability in a sentence.
    """

    family: str
    size: int
    stability: float
    low: float
    high: float
    random: float
    score: float
    score_error: float
    n_runs: int
    n_selected: int
    features: tuple[SizedFeature, ...]
    sentence: str
