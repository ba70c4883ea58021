"""What is said when kernels have to be compiled, in a process without a cache."""

import subprocess
import sys

import pytest

from study_parts import heavy

PROGRAM = """
import numpy as np
import holdfast as hf
from holdfast.selectors import {selector}
from sklearn.neighbors import KNeighborsClassifier

rng = np.random.default_rng(0)
y = np.arange(40) % 2
X = rng.normal(size=(40, 8)) + y[:, None]
hf.Study(selectors={selector}(3), perturbation=hf.Bootstrap(3), estimator={estimator}).run(X, y, progress=True)
"""
LINE = "Compiling kernels for this machine, once"


def said(folder, monkeypatch, selector="AnovaF", estimator=None):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder))
    program = PROGRAM.format(selector=selector, estimator=estimator)
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stderr


def compiled(folder):
    """Names of the kernels that were compiled, with their modules."""
    return {".".join(path.name.split("-")[0].split(".")[:2]) for path in folder.rglob("*.nbc")}


@pytest.mark.parametrize(
    "selector", [pytest.param("AnovaF", marks=pytest.mark.slow), pytest.param("MRMR", marks=heavy)]
)
def test_compiling_is_told_once_and_never_again(tmp_path, monkeypatch, selector):
    first = said(tmp_path, monkeypatch, selector, "KNeighborsClassifier(3)")
    assert len(compiled(tmp_path)) > 1
    assert first.count(LINE) == 1
    assert LINE not in said(tmp_path, monkeypatch, selector, "KNeighborsClassifier(3)")


@pytest.mark.slow
def test_a_filter_compiles_its_moments_its_best_columns_and_the_effects_of_features(tmp_path, monkeypatch):
    said(tmp_path, monkeypatch)
    assert compiled(tmp_path) == {"effects._class_effects", "filters._sum_classes", "filters.best_of_rows"}
