"""The stores ``finished.db`` and ``unfinished.db``: ``python tests/guards/record_store.py`` writes both anew.

They stand for stores that users have: a later holdfast must read the first, and complete the second to the same.
"""

import os
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

import holdfast as hf
from holdfast.selectors import AnovaF, ElasticNetPath, HybridRFE

HERE = Path(__file__).parent
FINISHED, UNFINISHED = HERE / "finished.db", HERE / "unfinished.db"


def make_data():
    """Patients of two kinds, whom six of 30 genes tell apart, one of them twice; the last column is a covariate."""
    rng = np.random.default_rng(7)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 30))
    X[:, :6] += np.array([1.5, 1.2, 1.0, 0.8, 0.6, 0.4]) * y[:, None]
    X[:, 6] = X[:, 0] + 0.1 * rng.normal(size=60)
    frame = pd.DataFrame(X, columns=[f"gene {column}" for column in range(30)]).assign(age=rng.integers(30, 80, 60))
    return frame, pd.Series(np.where(y == 1, "relapse", "none"), name="status")


def make_study(n_resamples=8):
    """A filter by sizes, a path by strengths of its penalty, an elimination with a grid; scored twice."""
    return hf.Study(
        selectors={
            "anova": hf.Candidates(AnovaF(), sizes=[2, 5, 10], keep="weights"),
            "lasso": hf.Candidates(ElasticNetPath(0.1), {"penalty_strength": [0.2, 0.05]}),
            "rfe": hf.Candidates(HybridRFE(), {"n_features": [4, 8], "n_forced": [0, 2]}),
        },
        perturbation=hf.Bootstrap(n_resamples),
        estimator=LogisticRegression(max_iter=5000),
        scoring=["accuracy", "roc_auc"],
        covariates=["age"],
        adjust=False,
        random_state=11,
    )


def main():
    for path in (FINISHED, UNFINISHED):
        path.unlink(missing_ok=True)
    X, y = make_data()
    make_study().run(X, y, store=FINISHED)
    make_study(3).run(X, y, store=UNFINISHED)
    make_study().run(X, y, store=UNFINISHED, only=["anova(size=2)", "anova(size=5)", "anova(size=10)"])
    for path in (FINISHED, UNFINISHED):
        print(f"{path}: {path.stat().st_size:,} bytes, complete: {hf.load_study(path).complete}")


if __name__ == "__main__":
    main()
