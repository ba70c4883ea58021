"""Data, resamples and a slow, obvious elimination that the compiled ones are compared with."""

import numpy as np

TIE = 1e-9


def correlated(n, d, rho, seed=0):
    """Rows of two classes, every two features correlated by rho, a tenth of them informative."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    X = np.sqrt(1 - rho) * rng.normal(size=(n, d)) + np.sqrt(rho) * rng.normal(size=(n, 1))
    informative = rng.permutation(d)[: max(1, d // 10)]
    X[:, informative] += 0.5 * y[:, None] * rng.choice([-1, 1], informative.size)
    return X * rng.uniform(0.5, 2, d) + rng.normal(size=d), y


def bootstraps(y, n_resamples, seed=0):
    """Counts of rows drawn with replacement, both classes at least twice."""
    rng = np.random.default_rng(seed)
    counts = []
    while len(counts) < n_resamples:
        count = np.bincount(rng.integers(0, len(y), len(y)), minlength=len(y))
        if min(count[y > 0].sum(), count[y < 0].sum()) > 1:
            counts.append(count)
    return np.array(counts)


def standardized(X, count):
    """Columns with the mean and standard deviation of the resample taken out, 0 where they are constant in it."""
    mean = np.average(X, axis=0, weights=count)
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=count))
    constant = np.ptp(X[count > 0], axis=0) == 0
    return np.where(constant, 0, (X - mean) / np.where(constant, 1, deviation)), constant


def slow_elimination(fit, X, y, count, sizes, forced=()):
    """Fit with ``fit(X, y, count, columns)``, drop, fit again; returns the columns and weights of every size."""
    columns = np.arange(X.shape[1])
    path = []
    for place, size in enumerate(sizes):
        weights = fit(X, y, count, columns)
        path.append((columns, weights))
        if place + 1 < len(sizes):
            columns = remaining(columns, np.abs(weights), sizes[place + 1], forced)
        assert len(path[-1][0]) == size
    return path


def remaining(columns, sizes, n_remaining, forced):
    """The forced and the largest; those that tie with the last to get in are taken from the lowest column on."""
    free = [place for place in range(len(columns)) if columns[place] not in forced]
    room = n_remaining - (len(columns) - len(free))
    if room == 0:
        return np.array([column for column in columns if column in forced])
    edge = sorted(sizes[free], reverse=True)[room - 1]
    sure = [place for place in free if sizes[place] > edge * (1 + TIE)]
    tied = [place for place in free if edge * (1 - TIE) <= sizes[place] <= edge * (1 + TIE)]
    lasting = {*sure, *tied[: room - len(sure)]}
    return np.array([c for place, c in enumerate(columns) if place in lasting or c in forced])


def selected_columns(paths, sizes, resample):
    """The columns of every size that a path passed."""
    return [np.flatnonzero(paths.smallest_size[resample] <= size) for size in sizes]
