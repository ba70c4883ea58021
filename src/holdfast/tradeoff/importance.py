"""How stable is what the models of a study use: by stored coefficients, or by what shuffling a column changes."""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from holdfast.inference.designs import RunsByBlock, design_stability
from holdfast.inference.estimate import StabilityEstimate
from holdfast.measures import Measure, find_measure
from holdfast.preferences import Preferences
from holdfast.resampling import as_perturbation
from holdfast.selection import Selection
from holdfast.study import Study
from holdfast.study.data import StudyData, prepare_data
from holdfast.study.orders import UnansweredError
from holdfast.study.plan import fingerprint
from holdfast.study.scoring import Scoring, fit_model
from holdfast.study.stabilities import describe_used
from holdfast.study.tables import StudyTables
from holdfast.tradeoff.final import find_study
from holdfast.tradeoff.points import Floats
from holdfast.tradeoff.selected import default_candidate

MOST_ROWS = 1000
"""Training rows of which at most so many are shuffled: a mean over more would change little."""


def importance_stability(
    result: StudyTables,
    candidate: str | None = None,
    measure: str | Measure = "used_again",
    *,
    X: Any = None,
    y: Any = None,
    groups: Any = None,
    study: Study | None = None,
    n_shuffles: int = 10,
    **parameters: Any,
) -> StabilityEstimate:
    """Measure how stable is what the models of a candidate use, not only what it selects.

    The importance of a feature in a linear model is its absolute coefficient in units of the feature's standard
    deviation; a study stores these, and nothing is fitted. For other models, given X and y, the study's estimator is
    fitted again to each resample, and the importance is the mean absolute change of its output when the feature's
    column is shuffled in the training rows, which for a linear model is in proportion to the coefficient.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    candidate : str, optional
        Name of a candidate; by default the one that a report is about.
    measure : str or Measure
        A measure of weights, ``"used_again"`` or ``"shared_importance"``.
    X, y : optional
        The data of the study, for models that are not linear, or of more than two classes.
    groups : array, optional
        Groups of the rows, as the study had them.
    study : Study, optional
        The plan, for a result that was loaded from a store; a result of :meth:`Study.run` knows it.
    n_shuffles : int
        How often each column is shuffled.
    **parameters
        Parameters of the measure, such as ``similarity=…`` of ``"shared_importance"``.

    Returns
    -------
    StabilityEstimate
        Value with standard error and interval. Resamples whose model uses no feature are left out and counted.

    Raises
    ------
    ValueError
        If it is no measure of weights, X and y are not those of the study, or no model can be fitted again.

    See Also
    --------
    holdfast.StudyResult.compare_with_use : The difference from the stability of the list.
    holdfast.StudyResult.stability : The stability of the list; takes these measures too.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = KNeighborsClassifier(5)
    >>> study = hf.Study(selectors={"f": hf.selectors.AnovaF(2)}, perturbation=hf.Bootstrap(10), estimator=model)
    >>> study.run(X, y).importance_stability("f", "shared_importance", X=X, y=y)
    shared_importance = 0.942 [0.530, 0.967] (95% CI, 10 runs)
    """
    chosen, name = find_measure(measure), default_candidate(result) if candidate is None else candidate
    if chosen.kind != "weighting":
        raise ValueError(
            f"Expected a measure of weights, such as used_again, got {chosen.name}, a measure of {chosen.kind}s."
        )
    if X is None or result.no_model_use(name) is None:
        importances = result.importances(name)
    else:
        importances = find_importances(result, name, X, y, groups, find_study(result, study), n_shuffles)
    return describe_used(design_stability(importances, chosen, **parameters), result.preferences(name))


def find_importances(
    result: StudyTables, candidate: str, X: Any, y: Any, groups: Any, study: Study, n_shuffles: int
) -> RunsByBlock:
    """Fit the model again to each measured split of a candidate, and find what it uses."""
    if study.estimator is None or result.kinds.get(candidate) != "subset":
        raise UnansweredError(
            f"Expected a study with an estimator, which is trained on what {candidate} selects, got one in which "
            "there is none to fit again; give the study estimator=.",
            "there is no model to fit again",
        )
    data = prepare_data(X, y, groups, study.covariates, study.task, study.estimator)
    given = fingerprint(data.X, data.y, data.groups, data.covariates, data.names if data.named else None)
    if any(result.plan["data"][part] != given[part] for part in ("features", "target", "covariates")):
        raise ValueError("Expected the X and y that the study ran on, got others; give the same rows and columns.")
    chosen, perturbation = result.runs_by_block(candidate), as_perturbation(study.perturbation)
    scoring = Scoring(estimator=study.estimator, scorers={})
    indices, indptr = chosen.runs.lists()
    weights = np.zeros((chosen.runs.n_runs, len(data.names)))
    numbers, sets = result.split_numbers(chosen.runs).tolist(), np.split(indices, indptr[1:-1])
    for row, number, columns in zip(weights, numbers, sets, strict=True):
        if columns.size:
            split = perturbation.make_split(number, data.samples, result.plan["random_state"])
            selection = Selection.subset(columns)
            model, trained = fit_model(data, scoring, replace(split, test=split.train), selection)
            rng = np.random.default_rng(split.seed)
            row[columns] = change_of_output(model, trained, columns.size, data, rng, n_shuffles)
    used = np.flatnonzero(weights.any(axis=1))
    if not used.size:
        raise UnansweredError(f"Expected models that use a feature, {candidate} has none.", "no model uses a feature")
    chosen = chosen.take(used.tolist())
    runs = Preferences.from_weights(weights[used], features=chosen.runs.names, labels=chosen.runs.labels)
    return replace(chosen, runs=runs)


def change_of_output(
    model: Any, X: Any, n_columns: int, data: StudyData, rng: np.random.Generator, n_shuffles: int
) -> Floats:
    """Return the mean absolute change of a model's output when each of the first columns is shuffled.

    The output is the decision value, or else the probability, of each class, or the predicted number. Decision values
    of several classes count less their mean, which does not matter to a prediction.
    """
    rows = np.asarray(X.toarray() if sp.issparse(X) else X)
    if len(rows) > MOST_ROWS:
        rows = rows[rng.choice(len(rows), MOST_ROWS, replace=False)]
    answers = ("predict",) if data.classes is None else ("decision_function", "predict_proba")
    method = next((answer for answer in answers if hasattr(model, answer)), None)
    if method is None:
        raise ValueError(f"Expected a model with decision values or probabilities, got {type(model).__name__}.")

    def output(table: Any) -> Floats:
        values = np.asarray(getattr(model, method)(table), dtype=np.float64)
        return values - values.mean(axis=1, keepdims=True) if values.ndim == 2 and values.shape[1] > 1 else values

    base, changes = output(rows), np.empty(n_columns)
    for column in range(n_columns):
        shuffled = np.tile(rows, (n_shuffles, 1))
        shuffled[:, column] = np.concatenate([rng.permutation(rows[:, column]) for _ in range(n_shuffles)])
        change = np.abs(output(shuffled) - np.concatenate([base] * n_shuffles))
        changes[column] = change.reshape(len(shuffled), -1).sum(axis=1).mean()
    return changes
