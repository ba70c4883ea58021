"""Nested choice: made anew on the training rows of outer folds, scored on rows that took no part in it."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from holdfast.cards import Bar, Card, draw_intervals, make_bar
from holdfast.checks import as_names
from holdfast.inference.designs import RunsByBlock, design_stability
from holdfast.inference.estimate import StabilityEstimate
from holdfast.measures import Measure
from holdfast.models.scores import Range
from holdfast.preferences import Preferences
from holdfast.resampling import Folds, Split, as_perturbation
from holdfast.resampling.split import take
from holdfast.result_base import DrawnResult
from holdfast.study import Study
from holdfast.study.data import prepare_for
from holdfast.study.running import Progress, Report, make_reporter
from holdfast.study.stabilities import choose_common_measure, mean_score_interval, score_range
from holdfast.tradeoff.choice import Choice, check_rule, choose
from holdfast.tradeoff.final import study_of_candidate

if TYPE_CHECKING:
    from holdfast.result import StudyResult


@dataclass(frozen=True, kw_only=True, eq=False)
class NestedChoice(DrawnResult):
    """A choice, and its score by nested cross-validation, on rows that took no part in it.

    Attributes
    ----------
    choice : Choice
        The choice on all rows. Its score is that of the outer folds.
    folds : DataFrame
        One row per outer fold: the ``candidate`` chosen on its training rows, the ``score`` of that candidate, trained
        on them, on the rows held out, the ``promised`` score that it was chosen by, and how many rows were
        ``held_out``.
    promised : float
        The score of the choice on the resamples that it was made on; more than ``choice.score`` on average.
    stability : StabilityEstimate
        How far the selections of the outer folds agree, the choice of the candidate included.
    result : StudyResult
        The study on all rows.

    See Also
    --------
    holdfast.nested_choice : Makes it.
    Choice : The choice alone.

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
    >>> nested = hf.nested_choice(study, X, y, rule="accuracy", outer=hf.Folds(3))
    >>> nested.folds.round(3)
           candidate  score  promised  held_out
    0  anova(size=2)   0.98     0.946        50
    1  anova(size=2)   0.96     0.956        50
    2  anova(size=2)   0.94     0.958        50
    """

    _columns: ClassVar[tuple[str, ...]] = ("choice", "folds", "promised", "stability")
    _table_field: ClassVar[str] = "folds"
    _drawn_by: ClassVar[str] = "plot_spread"

    choice: Choice
    folds: pd.DataFrame
    promised: float
    stability: StabilityEstimate
    result: "StudyResult"

    def _card(self) -> Card:
        choice = self.choice
        bars = [
            make_bar("outer folds", choice.score, *choice.score_interval),
            make_bar("promised", self.promised, math.nan, math.nan, strong=False),
        ]
        bars += [Bar(f"fold {fold}", score, strong=False) for fold, score in enumerate(self.folds["score"], start=1)]
        verdict = f"{choice.candidate}: {choice.metric} {bars[0].text} on outer folds"
        return Card(title="Nested choice", verdict=verdict, frame=self.folds, picture=draw_intervals(bars),
                    note=choice.reason)  # fmt: skip

    def __repr__(self) -> str:
        times = self.folds["candidate"].value_counts()
        chosen = ", ".join(f"{name} in {n} of {len(self.folds)}" for name, n in times.items())
        optimism = f"On the resamples that it was chosen on it scored {self.promised:.3f}."
        return f"{self.choice!r}\n{optimism}\nChosen on outer folds: {chosen}."


def nested_choice(
    study: Study,
    X: Any,
    y: Any,
    *,
    rule: str = "one-se",
    outer: Any = None,
    groups: Any = None,
    metric: str | None = None,
    measure: str | Measure | None = None,
    candidates: Iterable[str] | None = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    progress: bool | Report = False,
    **parameters: Any,
) -> NestedChoice:
    """Choose a candidate, and measure the choice itself on outer folds.

    A candidate that was chosen because it looked best on some resamples looks better there than it is. Here the whole
    study and the choice are made anew on the training rows of each outer fold; the chosen candidate is trained on these
    rows and scored on those held out, which took no part.

    Parameters
    ----------
    study : Study
        What to run.
    X, y : array
        The data, as for :meth:`Study.run`.
    rule : str
        Name of a rule, as for :meth:`StudyResult.choose`.
    outer : Perturbation or scikit-learn splitter, optional
        How rows are held out; five folds by default.
    groups : array, optional
        Rows of one group, such as several samples of one patient, stay together.
    metric : str, optional
        The score; the study's first one by default.
    measure : str or Measure, optional
        The measure of stability; by default the one for what the candidates give.
    candidates : iterable of str, optional
        Candidates to choose from; all by default.
    level : float
        Level of the intervals, and of the tests of ``"not-worse"``.
    n_jobs : int, optional
        Processes to use, -1 for all cores.
    progress : bool or callable
        Draw progress of all studies together on stderr, or hand it to a function.
    **parameters
        Parameters of the rule.

    Returns
    -------
    NestedChoice
        The choice on all rows with the score of the outer folds, and what each fold chose.

    Raises
    ------
    ValueError
        If there is no such rule or parameter of it, or ``outer`` holds out no rows.

    See Also
    --------
    StudyResult.choose : The choice alone, on a study that has run.

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
    >>> nested = hf.nested_choice(study, X, y, rule="accuracy")
    >>> nested.choice.candidate
    'anova(size=3)'
    >>> round(nested.choice.score, 3), round(nested.promised, 3)
    (0.947, 0.957)
    """
    check_rule(rule, parameters, nested_choice)
    names = None if candidates is None else as_names(candidates, "candidates=")
    how: dict[str, Any] = {
        "rule": rule, "metric": metric, "measure": measure, "candidates": names, "level": level, **parameters
    }  # fmt: skip
    splits = _make_outer_splits(study, X, y, groups, Folds(5) if outer is None else outer)
    stages = _Stages(make_reporter(progress), 1 + len(splits))
    result = study.run(X, y, groups=groups, n_jobs=n_jobs, progress=stages)
    choice = choose(result, **how)
    rows, selected = [], []
    for split in splits:
        stages.stage, stages.failures = stages.stage + 1, stages.failures + stages.last.failures
        inner_groups = None if groups is None else take(groups, split.rows)
        # each row once: copies would meet themselves in inner splits
        inner_result = study.run(
            take(X, split.rows),
            take(y, split.rows),
            groups=inner_groups,
            n_jobs=n_jobs,
            progress=stages,
            treat_as_feature=True,
        )
        inner = choose(inner_result, n_draws=0, **how)
        single = study_of_candidate(study, inner.candidate, [(split.rows, split.test)])
        scored = single.run(X, y, groups=groups, on_error="raise", treat_as_feature=True)
        rows.append((inner.candidate, float(scored.scores[choice.metric].iloc[0]), inner.score, split.test.size))
        selected.append(scored.preferences(inner.candidate))
    folds = pd.DataFrame(rows, columns=["candidate", "score", "promised", "held_out"])
    bounds = score_range(result.plan["scoring"][choice.metric])
    return NestedChoice(
        choice=_with_outer_score(choice, folds, splits, bounds, level), folds=folds, result=result,
        promised=choice.score, stability=_stability(selected, measure),
    )  # fmt: skip


def _make_outer_splits(study: Study, X: Any, y: Any, groups: Any, outer: Any) -> list[Split]:
    data, seed = prepare_for(study, X, y, groups), int(study.random_state)
    perturbation = as_perturbation(outer).bind(data.X, data.y, data.groups, seed)
    perturbation.check(data.samples)
    splits = [perturbation.make_split(index, data.samples, seed) for index in range(perturbation.get_n_splits())]
    splits = [split for split in splits if split.measured or split.test.size]
    if not splits or not all(split.test.size for split in splits):
        raise ValueError(f"Expected outer splits that hold out rows, such as hf.Folds(5), got {outer!r}.")
    return splits


class _Stages:
    """The progress of several studies of one size as that of one."""

    def __init__(self, report: Report, n_stages: int) -> None:
        self.report, self.n_stages = report, n_stages
        self.stage, self.failures, self.last = 0, 0, Progress(0, 0, 0, 0.0)

    def __call__(self, progress: Progress) -> None:
        self.last = progress
        total, failures = progress.total, self.failures + progress.failures
        self.report(Progress(self.stage * total + progress.done, self.n_stages * total, failures, progress.rate))


def _with_outer_score(choice: Choice, folds: pd.DataFrame, splits: list[Split], bounds: Range, level: float) -> Choice:
    """The choice with the score of the outer folds."""
    scores = folds["score"].to_numpy(dtype=np.float64)
    sizes = pd.DataFrame({"n_test": folds["held_out"], "n_rows": [split.rows.size for split in splits]})
    return replace(
        choice, score=float(scores.mean()), nested=True,
        score_interval=mean_score_interval(scores, sizes, bounds, level),
        measured_on=f"{scores.size} outer folds that took no part in the choice (stability: on the same resamples)",
    )  # fmt: skip


def _stability(selected: list[Preferences], measure: str | Measure | None) -> StabilityEstimate:
    """How far the selections of all outer folds agree."""
    kinds = {str(fold): runs.kind for fold, runs in enumerate(selected)}
    common = choose_common_measure(
        kinds, lambda fold: selected[int(fold)].sizes.mean(), selected[0].n_features, measure
    )
    cut = [common.cut(RunsByBlock(runs, "folds", [0], [1.0])).runs for runs in selected]
    if {runs.kind for runs in cut} == {"subset"}:
        together = Preferences.from_sets([runs.lists()[0] for runs in cut], n_features=cut[0].n_features)
    elif all(runs.kind == "weighting" for runs in cut):
        together = Preferences.from_weights(np.vstack([runs.matrix() for runs in cut]))
    else:
        together = Preferences.from_rankings(np.vstack([runs.to_ranking().matrix() for runs in cut]))
    runs = RunsByBlock(together, "folds", [0] * len(selected), [1.0] * len(selected), Folds.about)
    return design_stability(runs, common.measure)
