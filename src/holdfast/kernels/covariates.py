"""What covariates leave: of features and numbers by least squares, of classes by logistic regression."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

Floats = NDArray[np.float64]

SEPARATED = 1e-8
"""Chance of the wrong class below which covariates predict a row without error."""
MAX_STEPS, SOLVED, SHARP = 100, 1e-9, 1e-12
"""Newton steps; the largest slope at which a regression is solved, and at which it is as sharp as rounding allows."""


def residuals(values: Floats, covariates: Floats, counts: ArrayLike, others: Floats | None = None) -> Floats:
    """What a weighted regression on an intercept and the covariates leaves of each column, on all rows.

    Next to ``others``, such as columns of classes, whose part is left too.
    """
    weights = np.asarray(counts, dtype=np.float64)
    root = np.sqrt(weights)[:, None]
    centered = covariates - weights @ covariates / weights.sum()
    scale = np.linalg.norm(root * centered, axis=0)
    design = np.column_stack([np.ones(len(covariates)), centered / np.where(scale > 0, scale, 1.0)])
    whole = design if others is None else np.column_stack([design, others])
    coefficients = ((np.linalg.pinv(whole * root, rcond=1e-10) * root.T) @ values)[: design.shape[1]]
    left = design @ coefficients
    np.subtract(values, left, out=left)
    by_mean = weights.sum() * coefficients[0] ** 2
    of_covariates = (design * root)[:, 1:]
    by_covariates = ((of_covariates.T @ of_covariates @ coefficients[1:]) * coefficients[1:]).sum(axis=0)
    not_explained = weights @ left**2
    left[:, not_explained <= 1e-20 * by_covariates + 1e-26 * by_mean] = 0.0  # rounding
    return left


def fit_covariates(covariates: Floats, y: Floats, c: Floats, resample: int) -> tuple[Floats, Floats, Floats]:
    """Logistic regression on an intercept and the covariates, by Newton's method.

    Returns columns that span the same as the covariates, with mean 0 and norm 1, the intercept and their weights, and
    the weights of rows: 0 for rows that covariates predict without error, as those of a site with a single class.
    Whatever the weights of features, such rows cost nothing at the optimum, where a covariate's weight is infinite.
    """
    while 0 < c @ (y > 0) < c.sum():
        free = orthonormal(covariates, c)
        design, at = np.column_stack([np.ones(c.size), free]), np.zeros(free.shape[1] + 1)
        loss: float = np.inf
        slope = np.ones(1)
        for _ in range(MAX_STEPS):
            wrong = expit(-y * (design @ at))
            slope, curvature = design.T @ (c * y * wrong), (design.T * (c * wrong * (1 - wrong))) @ design
            if np.abs(slope).max() <= SHARP:
                break
            try:
                step = np.linalg.solve(curvature, slope)
            except np.linalg.LinAlgError:  # all rows are nearly certain
                step = np.linalg.lstsq(curvature, slope, rcond=1e-15)[0]
            for length in 0.5 ** np.arange(20):
                new = float(c @ np.logaddexp(0, -y * (design @ (at + length * step))))
                if new <= loss + SHARP:
                    break
            at, loss = at + length * step, new
        if np.linalg.eigvalsh(curvature)[0] > SEPARATED and np.abs(slope).max() <= SOLVED:
            return free, at, c
        if not ((wrong < SEPARATED) & (c > 0)).any():
            break
        c = np.where(wrong < SEPARATED, 0.0, c)
    raise ValueError(
        f"Expected classes that covariates do not tell apart, got covariates that do in resample {resample}; leave out "
        f"the covariate that determines the class, or do not adjust."
    )


def orthonormal(covariates: Floats, c: Floats) -> Floats:
    """Columns that span the same as the covariates next to an intercept, with weighted mean 0 and norm 1, padded."""
    own = c[: len(covariates)] / c.sum()
    centered = covariates - own @ covariates
    scale = np.abs(centered[own > 0]).max(axis=0)
    varies = scale > 1e-10 * np.abs(covariates).max(axis=0)
    scaled = centered[:, varies] / scale[varies]
    _, sizes, turned = np.linalg.svd(np.sqrt(own)[:, None] * scaled, full_matrices=False)
    kept = sizes > 1e-10
    basis = np.zeros((c.size, np.count_nonzero(kept)))
    basis[: len(covariates)] = scaled @ (turned[kept].T / sizes[kept])
    return basis
