"""Comparing the candidates of several studies."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.checks import Matrix
from holdfast.inference.comparison import Comparisons
from holdfast.inference.designs import DesignedRuns, design_comparisons
from holdfast.measures import Measure
from holdfast.study.common_measure import choose_common_measure
from holdfast.study.result import StudyResult


def compare_studies(
    studies: Mapping[str, StudyResult],
    candidates: Iterable[str] | None = None,
    measure: str | Measure | None = None,
    *,
    level: float = 0.95,
    X: Matrix | None = None,
    **parameters: Any,
) -> Comparisons:
    """Compare the stabilities of candidates of several studies, each with each, with Holm's correction.

    Candidates on the same data and the same splits, also those of different studies, are compared as pairs, split by
    split; all others as independent.

    Parameters
    ----------
    studies : mapping from name to StudyResult
        One or more studies, of one design.
    candidates : iterable of str, optional
        Names of candidates, or ``"study: candidate"``; by default all that finished two fits.
    measure : str or Measure, optional
        What to measure; by default the usual measure of what the candidates give
        (see :meth:`StudyResult.common_measure`).
    level : float
        Confidence level.
    X : matrix, optional
        Samples × features, for measures that need a similarity of features.
    **parameters
        Parameters of the measure, as for :func:`holdfast.stability`.

    Returns
    -------
    Comparisons
        Differences with intervals and p-values; names are ``"study: candidate"`` if there are several studies.

    Raises
    ------
    ValueError
        If there are fewer than two candidates, a candidate is unknown, or the studies have different designs.

    See Also
    --------
    StudyResult.compare : The candidates of one study.
    holdfast.compare_many : Selections that were not made by a study.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> anova, relief = (
    ...     hf.Study(selectors=[selector], perturbation=hf.Bootstrap(20)).run(X, y)
    ...     for selector in (hf.selectors.AnovaF(1), hf.selectors.ReliefF(1))
    ... )
    >>> compared = hf.study.compare_studies({"first": anova, "second": relief})
    >>> compared.pairs["design"].tolist()
    ['paired']
    """
    designs = {name: study.design for name, study in studies.items()}
    if len(set(designs.values())) > 1:
        told = ", ".join(f"{name}: {design}" for name, design in designs.items())
        raise ValueError(f"Expected studies of one design, whose stabilities mean the same, got {told}.")
    places = _find_candidates(studies, None if candidates is None else list(candidates))
    if len(places) < 2:
        raise ValueError(f"Expected at least two candidates to compare, got {len(places)}.")
    kinds = {name: studies[study].kinds[candidate] for name, (study, candidate) in places.items()}
    common = choose_common_measure(
        kinds,
        lambda name: studies[places[name][0]].preferences(places[name][1]).sizes.mean(),
        min(len(studies[study].feature_names) for study, _ in places.values()),
        measure,
    )
    designed: dict[str, DesignedRuns] = {
        name: studies[study].measured(candidate, common) for name, (study, candidate) in places.items()
    }
    groups = group_by_splits(studies)
    return design_comparisons(
        designed, common.measure, groups={name: groups[study] for name, (study, _) in places.items()}, level=level,
        X=X, **parameters,
    )  # fmt: skip


def group_by_splits(studies: Mapping[str, StudyResult]) -> dict[str, int]:
    """Number the studies so that those on the same data and the same splits have the same number."""
    keys = {
        name: json.dumps([study.plan[part] for part in ("data", "perturbation", "random_state")], sort_keys=True)
        for name, study in studies.items()
    }
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys.values()))}
    return {name: numbers[key] for name, key in keys.items()}


def _find_candidates(studies: Mapping[str, StudyResult], asked: list[str] | None) -> dict[str, tuple[str, str]]:
    """Study and candidate by the name that stands in the comparison."""
    places = {}
    for study, result in studies.items():
        for candidate in result.find_comparable() if asked is None else result.candidates:
            places[f"{study}: {candidate}" if len(studies) > 1 else candidate] = (study, candidate)
    if asked is None:
        return places
    for name in asked:
        if not any(name in (full, candidate) for full, (_, candidate) in places.items()):
            raise ValueError(f"Expected one of the candidates {', '.join(list(places)[:20])}, got {name!r}.")
    chosen = {full: place for full, place in places.items() if full in asked or place[1] in asked}
    for full, (study, candidate) in chosen.items():
        if candidate not in studies[study].kinds:
            raise ValueError(f"Expected candidates with finished fits, got {full}, which has none.")
    return chosen
