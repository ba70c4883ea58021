"""Measures of weights."""

import numpy as np

from holdfast.measures.rows import correlation_sums
from holdfast.measures.tally import Floats, PairTally


def weight_correlation(weights: Floats) -> PairTally:
    """Pearson correlation of the weights of two runs."""
    largest = np.abs(weights).max(axis=1, keepdims=True)
    scaled = weights / np.where(largest > 0, largest, 1)  # so that neither squares nor sums leave the range of floats
    centered = scaled - scaled.mean(axis=1, keepdims=True)
    constant = np.ptp(weights, axis=1) == 0
    return correlation_sums([centered], np.where(constant, 0, np.linalg.norm(centered, axis=1)))
