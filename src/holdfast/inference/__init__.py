"""Statistical inference: how certain a stability is, and whether two differ.

Begin with ``estimate`` (:func:`stability` and what it returns), whose intervals come from the sampling distributions
of ``intervals``. ``comparison`` tests differences, ``designs`` combines resamples that belong together (pairs, nested
folds), ``planning`` computes the number of runs, ``features`` has frequencies of single features, ``agreements``
compares two sets of runs one by one, and ``ranks`` compares candidates over several data sets.
"""

from holdfast.inference.agreements import Agreement, Kalousis, agreement, kalousis
from holdfast.inference.comparison import Comparison, Comparisons, compare, compare_many
from holdfast.inference.estimate import StabilityEstimate, StabilityTest, stability
from holdfast.inference.features import feature_swaps, feature_table
from holdfast.inference.intervals import Interval
from holdfast.inference.planning import Pilot, PlannedRuns, runs_needed
from holdfast.inference.ranks import (
    POST_HOC_TESTS,
    FriedmanTest,
    RankComparisons,
    SignedRankPosterior,
    bayesian_signed_rank,
    compare_ranks,
    friedman,
)

__all__ = [
    "POST_HOC_TESTS",
    "Agreement",
    "Comparison",
    "Comparisons",
    "FriedmanTest",
    "Interval",
    "Kalousis",
    "Pilot",
    "PlannedRuns",
    "RankComparisons",
    "SignedRankPosterior",
    "StabilityEstimate",
    "StabilityTest",
    "agreement",
    "bayesian_signed_rank",
    "compare",
    "compare_many",
    "compare_ranks",
    "feature_swaps",
    "feature_table",
    "friedman",
    "kalousis",
    "runs_needed",
    "stability",
]
