"""Selectors that are adjusted for covariates and sites, compared with the same selectors without."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks import inputs
from benchmarks.timing import Row, agreed, best_time
from holdfast.resampling import Bootstrap, Samples, Split
from holdfast.selectors import AnovaF, ElasticNetPath, HybridRFE

N_SPLITS = 16
SELECTORS = {"AnovaF": AnovaF(10), "ridge RFE": HybridRFE(10), "lasso": ElasticNetPath(0.05)}


def select(selector: Any, X: Any, y: Any, splits: Sequence[Split], covariates: Any) -> list[Any]:
    """The columns that a selector selects on each split."""
    shared = selector.prepare(X, y, [{}], covariates=covariates)
    return [selections[0].values for selections in selector.refit_many(shared, X, y, splits, [{}])]


def adjusted() -> Iterator[Row]:
    """Sixteen bootstrap samples next to two covariates and four sites; constant covariates change no selection."""
    for n, d in ((100, 2_000), (500, 5_000)):
        X, y = inputs.classes(n, d)
        rng = np.random.default_rng(inputs.SEED)
        sites = rng.integers(0, 4, n)[:, None] == [1, 2, 3]
        covariates = np.column_stack([rng.normal(size=(n, 2)), sites])
        samples, perturbation = Samples.of(n, y), Bootstrap(N_SPLITS)
        splits = [perturbation.make_split(index, samples, inputs.SEED) for index in range(N_SPLITS)]
        for name, selector in SELECTORS.items():
            run = partial(select, selector, X, y, splits)
            plain, constant = run(None), run(np.ones((n, 1)))
            yield Row(
                what=f"{name} next to covariates and sites, {n:,} × {d:,}, {N_SPLITS} bootstrap samples",
                ours=best_time(partial(run, covariates)),
                peer=best_time(partial(run, None)),
                peer_name="without",
                equal=agreed(1 + np.concatenate(constant), 1 + np.concatenate(plain)),
                ratio_to_reach=1 / 1.5,
            )


BENCHMARKS = {"adjusted": adjusted}
