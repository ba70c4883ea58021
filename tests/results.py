"""Results of studies that never ran: a test states what each run selected and scored, so that it knows the answers."""

import json

import numpy as np
import pandas as pd

from holdfast.resampling import PERTURBATIONS
from holdfast.result import StudyResult
from holdfast.study.store import pack_rows
from holdfast.study.tables import Snapshot

ABOUT = {kind.__name__: kind.about for kind in PERTURBATIONS.values()}
ABOUT |= {kind.design: kind.about for kind in PERTURBATIONS.values()}
ABOUT["runs"] = PERTURBATIONS["bootstrap"].about
ABOUT["folds"] = PERTURBATIONS["folds"].about
ABOUT["pairs"] = PERTURBATIONS["pairs"].about
DATA = {"rows_read": 200, "columns_read": 20, "rows": 200, "features": 20, "task": "classification"}


def make_result(
    candidates,
    *,
    n_features=20,
    design="runs",
    blocks=None,
    fractions=None,
    tests=None,
    truth=None,
    perturbation=None,
    n_rows=80,
    n_test=20,
    metric="accuracy",
    stopped=None,
    baselines=(),
):
    """A result from ``{name: {"sets": …, "scores": …, "weights": …, "predicted": …, "family": …, "settings": …}}``.

    Scores that are None, and sets that are None, are missing. ``tests`` are the held-out rows of each run, ``truth``
    the class of every row, ``baselines`` (split, strategy, metric, value) of guessing.
    """
    n_runs = max(len(given.get("sets", given.get("weights", ()))) for given in candidates.values())
    tests = tests or [np.arange(n_test) for _ in range(n_runs)]
    splits = pd.DataFrame(
        {
            "label": [f"run {run}" for run in range(n_runs)],
            "seed": 0,
            "block": list(range(n_runs)) if blocks is None else blocks,
            "fraction": [1.0] * n_runs if fractions is None else fractions,
            "measured": 1,
            "n_train": n_rows,
            "n_test": [len(test) for test in tests],
            "n_rows": n_rows,
        },
        index=pd.RangeIndex(n_runs, name="split"),
    )
    outcomes, scores, rows = [], [], []
    for number, (name, given) in enumerate(candidates.items(), 1):
        rows.append((number, name, given.get("family", name), json.dumps(given.get("settings", {}))))
        kind = "weighting" if "weights" in given else "subset"
        for run, values in enumerate(given.get("weights", given.get("sets"))):
            if values is None:
                continue
            values = np.asarray(values, dtype="<f8") if kind == "weighting" else np.array(sorted(values), dtype="<i4")
            predicted = given.get("predicted")
            blob = None if predicted is None else np.asarray(predicted[run], dtype="<u1").tobytes()
            outcomes.append((number, run, kind, values.tobytes(), blob, 0.1, 0.1, ""))
        for run, score in enumerate(given.get("scores", ())):
            if score is not None:
                scores.append((number, run, metric, float(score)))
    columns = ["candidate", "split", "kind", "preference", "predictions", "seconds", "score_seconds", "note"]
    data = {"features": "a", "target": "b", "covariates": None}
    plan = {
        "task": "classification",
        "scoring": {metric: metric},
        "perturbation": perturbation or {"perturbation": "Bootstrap"},
        "data": data,
    }
    meta = {
        "plan": plan, "design": design, "names": None, "n_features": n_features, "prefilter": None, "selectors": {},
        "declared": {
            "perturbation": ABOUT[perturbation["perturbation"] if perturbation else design].to_dict(), "selectors": {},
            "scores": {},
        },
        "data_record": DATA, "no_effects": None, "classes": [0, 1],
        "target": [0] * 200 if truth is None else list(truth), "stopped": stopped or {},
    }  # fmt: skip
    frames = {
        "splits": splits,
        "candidates": pd.DataFrame(rows, columns=["candidate", "name", "family", "settings"]).assign(
            ordering=None, size=None
        ),
        "orderings": pd.DataFrame(columns=["ordering", "family", "settings", "sizes", "keep"]),
        "orders": pd.DataFrame(columns=["ordering", "split", "smallest", "complete", "columns", "kind", "whole"]),
        "outcomes": pd.DataFrame(outcomes, columns=columns),
        "scores": pd.DataFrame(scores, columns=["candidate", "split", "metric", "value"]),
        "baselines": pd.DataFrame(baselines, columns=["split", "strategy", "metric", "value"]),
        "failures": pd.DataFrame(columns=["candidate", "split", "stage", "error", "traceback"]),
        "effects": pd.DataFrame(columns=["family", "split", "features", "effects"]),
        "quantiles": pd.DataFrame(columns=["family", "feature", "quantiles"]),
        "members": pd.DataFrame(columns=["candidate", "split", "columns"]),
        "sessions": pd.DataFrame(columns=["session", "started", "ended", "n_jobs", "versions"]),
        "rows": pd.DataFrame({"rows": None, "counts": None, "test": [pack_rows(np.asarray(test)) for test in tests]}),
    }
    return StudyResult(Snapshot(path=None, meta=meta, checks={}, frames=frames))


def sets_with_core(stability, n_runs=20, size=5, n_features=20, seed=0):
    """Sets of ``size`` features, each from a common core with probability ``stability``, else any other feature."""
    rng = np.random.default_rng(seed)
    sets = []
    for _ in range(n_runs):
        core = [feature for feature in range(size) if rng.random() < stability]
        others = rng.permutation(np.arange(size, n_features))[: size - len(core)]
        sets.append([*core, *others.tolist()])
    return sets


def scores_around(mean, n_runs=20, spread=0.02, seed=0):
    """Scores with exactly this mean."""
    values = np.random.default_rng(seed).normal(size=n_runs) * spread
    return mean + values - values.mean()
