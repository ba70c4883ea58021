"""Profiles: stability against the number of features, and against the size of the sample."""

import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.cards import Card, draw_line, make_bar
from holdfast.checks import Matrix
from holdfast.inference.designs import DesignedRuns, agreement_by_fraction, bind_measure, design_stability
from holdfast.inference.estimate import bind_similarity
from holdfast.inference.intervals import Student, check_level
from holdfast.measures import Measure, UndefinedStabilityWarning, find_measure
from holdfast.measures.forms import OverlapPairs, overlap_expectation
from holdfast.result_base import ResultMixin
from holdfast.study.stabilities import USUAL, corrected_error
from holdfast.study.tables import StudyTables
from holdfast.tradeoff.knots import cut_to_sizes, entering, find_knots, mean_overlaps
from holdfast.tradeoff.points import check_metric, make_points

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class SizeProfile(ResultMixin):
    """Stability against the number of features, and the sizes after which features enter at random.

    Attributes
    ----------
    name : str
        The candidate, or the selector whose candidates have these sizes.
    measure : str
        What is measured.
    frame : DataFrame
        One row per ``size``: ``stability`` with ``low`` and ``high``, ``random``, what random subsets of this size
        would have, and ``entering`` with ``entering_se``: how far resamples agree on the features that enter between
        the size before and this one, 0 as by chance and 1 as far as possible; ``score`` and ``score_se`` where
        candidates have these sizes.
    knots : list of int
        Sizes after which features enter almost at random.
    tolerance : float
        Agreement of entering features up to which they enter almost at random.

    See Also
    --------
    holdfast.StudyResult.profile : Makes it.
    holdfast.plots.plot_profile : Draws it.

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
    >>> profile = result.profile("anova")
    >>> profile.frame[["size", "stability", "score"]].round(2)
       size  stability  score
    0     1       0.55   0.92
    1     2       1.00   0.95
    2     3       1.00   0.96
    """

    name: str
    measure: str
    frame: pd.DataFrame
    knots: list[int]
    tolerance: float

    def to_frame(self) -> pd.DataFrame:
        """Return one row per size (see :attr:`frame`).

        Returns
        -------
        DataFrame
            The smallest size first.
        """
        return self.frame

    def plot(self) -> "AnyChart":
        """Draw stability against the number of features (see :func:`holdfast.plots.plot_profile`).

        Returns
        -------
        altair.Chart
            A notebook shows it; :func:`holdfast.plots.save` writes it to a file.
        """
        from holdfast.plots import plot_profile

        return plot_profile(self)

    def _card(self) -> Card:
        rows = self.frame[["size", "stability", "low", "high"]].itertuples(index=False)
        points = [make_bar(row[0], *row[1:]) for row in rows]
        verdict, *_ = repr(self).split("\n", 1)
        picture = draw_line(points, self.frame["size"].tolist(), x_title="number of features", marks=self.knots)
        return Card(title="Profile by size", verdict=verdict, frame=self.frame, picture=picture)

    def __repr__(self) -> str:
        knots = ", ".join(map(str, self.knots)) or "none"
        table = self.frame.to_string(index=False, float_format=lambda number: f"{number:.3f}")
        return f"{self.measure} of {self.name} by number of features; knots: {knots}\n{table}"


def profile(
    result: StudyTables,
    name: str,
    measure: str | Measure = "nogueira",
    *,
    sizes: Iterable[int] | None = None,
    metric: str | None = None,
    tolerance: float = 0.2,
    level: float = 0.95,
    fill: bool = False,
    X: Matrix | None = None,
    **parameters: Any,
) -> SizeProfile:
    r"""Measure the stability of the best 1, 2, … features (Kalousis, Prados and Hilario, 2005), and find knots.

    A knot is a size after which features enter almost at random: resamples agree on the features that enter between two
    sizes up to it, and hardly do beyond. For sizes :math:`a < b`, two resamples that share :math:`r` of their best
    :math:`a`, and features that enter at random out of all :math:`d`, the best :math:`b` are expected to share

    .. math:: 2 (a - r)\,p + (d - 2a + r)\,p^2, \qquad p = \frac{b - a}{d - a}

    more. ``entering`` is how much more than that they do share, as a share of the most that is possible. Sizes where it
    falls to ``tolerance`` or below, for two sizes or to the end, are knots. Resamples that share rows agree on noise
    too (on bootstraps about 0.1, in ten folds 0.5 or more): for folds choose a higher tolerance. Between sizes that are
    close to each other neighbors in an order swap, which looks like chance: sizes should be some way apart.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    name : str
        A candidate that gives rankings or weights, or a selector whose candidates differ in size alone
        (``sizes=[5, 10, …]``, or a single one).
    measure : str or Measure
        What to measure: a measure of subsets.
    sizes : iterable of int, optional
        Sizes to look at: any that the stored orders hold for. By default those of the selector's candidates; if there
        is only one, about 30 of those that were stored.
    metric : str, optional
        Score to put beside, for selectors with several sizes.
    tolerance : float
        Agreement of entering features up to which they enter almost at random.
    level : float
        Level of the intervals.
    fill : bool
        Whether selections of more features than carry information are filled up with any others, as in the 2005 paper.
        By default these are never selected, and a selection stays below its size. Rankings and weights that a candidate
        gives itself are always filled up.
    X : matrix, optional
        Samples × features, for measures that need a similarity of features.
    **parameters
        Parameters of the measure, as for :func:`holdfast.stability`.

    Returns
    -------
    SizeProfile
        Stability at every size, and the knots.

    Raises
    ------
    ValueError
        If there are not several sizes to look at, or the measure is not one of subsets.

    Notes
    -----
    Equal weights are ordered at random, with a fixed seed: taking the lowest columns would make features of no value
    look stable.
    """
    check_level(level)
    if not 0 <= tolerance < 1:
        raise ValueError(f"Expected a tolerance from 0 to below 1, got {tolerance}.")
    by_size, candidates = cut_to_sizes(result, name, sizes, fill=fill)
    used = {size: candidate for size, candidate in candidates.items() if size in by_size}
    scores = _read_scores(result, used, metric) if used else None
    chosen = find_measure(measure).bind(**parameters)
    if chosen.kind != "subset":
        raise ValueError(f"Expected a measure of subsets for a profile, got {chosen.name}, one of {chosen.kind}s.")
    (chosen,) = bind_similarity([chosen], next(iter(by_size.values())).runs, X)
    rows = [_make_row(size, designed, chosen, level) for size, designed in by_size.items()]
    overlaps = {size: mean_overlaps(designed) for size, designed in by_size.items()}
    mean_sizes = [float(designed.runs.sizes.mean()) for designed in by_size.values()]
    agreed, errors = entering(overlaps, next(iter(by_size.values())).runs.n_features, mean_sizes)
    frame = pd.DataFrame(rows).assign(entering=agreed, entering_se=errors)
    if scores is not None:
        frame = frame.merge(scores, on="size", how="left")
    knots = find_knots(list(by_size), agreed, tolerance)
    return SizeProfile(name=name, measure=chosen.label, frame=frame, knots=knots, tolerance=tolerance)


def _read_scores(result: StudyTables, used: Mapping[int, str], metric: str | None) -> pd.DataFrame | None:
    try:
        points = make_points(result, metric, candidates=used.values())
    except ValueError:
        if metric is not None:
            raise
        return None  # a study without scores has a profile all the same
    table = points.frame[["score", "score_se"]].reset_index(drop=True)
    return table.assign(size=list(used))


def _make_row(size: int, designed: DesignedRuns, measure: Measure, level: float) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedStabilityWarning)  # all features are no selection
        estimate = design_stability(designed, measure)
    low, high = estimate.ci(level)
    expected = random_stability(measure, size, designed.runs.n_features)
    return {"size": size, "stability": estimate.value, "low": low, "high": high, "random": expected}


def random_stability(measure: Measure, size: int, n_features: int) -> float:
    """What subsets of this size that are drawn at random have on average; ``nan`` if it is not known exactly."""
    if measure.properties.chance in ("yes", "one size"):
        return math.nan if size == n_features else 0.0
    if not isinstance(measure.form, OverlapPairs):
        return math.nan
    similarity = partial(measure.form.similarity, **measure.parameters)
    with np.errstate(divide="ignore", invalid="ignore"):
        return overlap_expectation(similarity, size, size, n_features).value


# Against the size of the sample


def fraction_profile(
    result: StudyTables,
    candidates: Iterable[str] | None = None,
    measure: str | Measure | None = None,
    *,
    metric: str | None = None,
    level: float = 0.95,
    X: Matrix | None = None,
    **parameters: Any,
) -> pd.DataFrame:
    """Agreement and score against the size of the sample, for a study with :class:`holdfast.NestedSubsamples`.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    candidates : iterable of str, optional
        Names of candidates; all by default.
    measure : str or Measure, optional
        What to measure, as for :meth:`StudyResult.stability`.
    metric : str, optional
        The score; the study's first one by default.
    level : float
        Level of the intervals.
    X : matrix, optional
        Samples × features, for measures that need a similarity of features.
    **parameters
        Parameters of the measure.

    Returns
    -------
    DataFrame
        One row per candidate and ``fraction``: the ``agreement`` of selections on smaller samples with that of their
        whole one (``nan`` for the whole itself), ``low``, ``high``, the ``score``, its corrected error ``score_se``,
        and the number of ``samples``.

    Raises
    ------
    ValueError
        If the study has another design.
    """
    check_level(level)
    if result.design != "nested_subsamples":
        raise ValueError(f"Expected a study with hf.NestedSubsamples, got one of {result.design}.")
    names = result.candidates if candidates is None else [str(name) for name in candidates]
    metric = check_metric(result, metric)
    tables = [_profile_candidate(result, name, measure, metric, level, X, parameters) for name in names]
    return pd.concat(tables, ignore_index=True)


def _profile_candidate(
    result: StudyTables, name: str, measure: Any, metric: str, level: float, X: Any, parameters: dict[str, Any]
) -> pd.DataFrame:
    designed = result.designed(name)
    chosen = bind_measure(designed, measure or USUAL[designed.runs.kind], X, parameters)
    agreements = agreement_by_fraction(designed, chosen)
    rows = []
    for fraction in sorted(set(designed.fractions)):
        values = agreements.get(fraction, np.empty(0))
        by_split, splits = result.split_scores(name, metric, fraction=fraction)
        scores = np.asarray(by_split, dtype=np.float64)
        low, high = _interval(values, chosen, level)
        rows.append(
            {
                "candidate": name, "fraction": fraction, "agreement": values.mean() if values.size else math.nan,
                "low": low, "high": high, "score": scores.mean() if scores.size else math.nan,
                "score_se": corrected_error(scores, splits), "samples": max(values.size, scores.size),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def _interval(values: Floats, measure: Measure, level: float) -> tuple[float, float]:
    return Student(values, *measure.range).ci(level) if values.size > 1 else (math.nan, math.nan)
