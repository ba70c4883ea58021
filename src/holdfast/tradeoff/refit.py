"""One candidate of a study, fitted again: to all rows, or to other splits."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.resampling import Perturbation
from holdfast.study import Candidates, Study, StudyResult
from holdfast.study.data import prepare_data
from holdfast.study.plan import fingerprint

Rows = NDArray[np.int64]


def study_of_candidate(study: Study, candidate: str, splits: "list[tuple[Rows, Rows]] | Perturbation") -> Study:
    """A study of this one candidate on these splits (training rows, held-out rows), or with this perturbation."""
    for family in study.families:
        if candidate in family.names:
            settings, sizes = family.candidates.settings, family.candidates.cuts
            setting, size = divmod(family.names.index(candidate), len(sizes))
            grid = {name: [value] for name, value in settings[setting].items()}
            single = Candidates(family.candidates.selector, grid, sizes[size])
            return replace(study, selectors={candidate: single}, perturbation=splits)
    names = [name for family in study.families for name in family.names]
    raise ValueError(f"Expected one of the study's candidates ({', '.join(names[:20])}), got {candidate!r}.")


def find_study(result: StudyResult, study: Study | None) -> Study:
    """The plan behind a result, which a store does not hold."""
    plan = study or result.study
    if plan is None:
        raise ValueError(
            "A final fit needs study=, the plan of the study: a store holds neither data nor selectors; make the same "
            "hf.Study again and pass it."
        )
    return plan


def fit_to_all_rows(
    result: StudyResult, study: Study, candidate: str, X: Any, y: Any, groups: Any = None
) -> tuple[StudyResult, str]:
    """Fit a candidate to all rows given; also in words which rows these are."""
    data = prepare_data(X, y, None, study.keep, study.task, study.estimator)
    names = [str(name) for name in result.feature_names]
    if (data.names if data.named else [str(place) for place in range(len(data.names))]) != names:
        raise ValueError(
            f"Expected the features of the study ({len(names)}, {names[0]} first), got {len(data.names)} others; give "
            "X with the same columns."
        )
    rows = np.arange(len(data.y))
    fitted = study_of_candidate(study, candidate, [(rows, rows[:0])]).run(
        X, y, groups=groups, on_error="raise", keep_predictions=False
    )
    studied, now = result.plan["data"], fingerprint(data.X, data.y, None, data.covariates, data.names)
    same = all(studied[part] == now[part] for part in ("features", "target", "covariates"))
    return fitted, f"all {rows.size} rows of the study" if same else f"{rows.size} rows that are not those of the study"
