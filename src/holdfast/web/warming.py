"""A tiny study that is run and looked at when the page starts, so that the first reader does not wait for imports."""

import numpy as np
from sklearn.naive_bayes import GaussianNB

from holdfast.report import summarize
from holdfast.report.pictures import draw_figures
from holdfast.report.render import page_parts
from holdfast.resampling import Bootstrap
from holdfast.selectors import AnovaF
from holdfast.study import Candidates, Study, StudyResult
from holdfast.web.findings.candidates import quietly

ROWS, FEATURES, RESAMPLES = 24, 6, 6


def warm() -> None:
    """Ask of a tiny study what pages ask of every study: modules are imported and kernels are compiled on the way."""
    quietly(lambda: _look_at(_run_tiny_study()))


def _run_tiny_study() -> StudyResult:
    rng = np.random.default_rng(0)
    target = np.arange(ROWS) % 2
    table = rng.normal(size=(ROWS, FEATURES)) + target[:, None]
    study = Study(
        selectors={"anova": Candidates(AnovaF(), sizes=[1, 3])},
        perturbation=Bootstrap(RESAMPLES),
        estimator=GaussianNB(),
    )
    return study.run(table, target, progress=False)


def _look_at(result: StudyResult) -> None:
    summary = summarize(result)
    draw_figures(summary)
    page_parts(summary)
    result.pareto()
    result.profile("anova")
    result.features()
