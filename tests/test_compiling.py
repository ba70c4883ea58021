"""What is said when kernels have to be compiled, in a process without a cache."""

import subprocess
import sys

PROGRAM = """
import numpy as np
import holdfast as hf
from holdfast.selectors import {selector}

rng = np.random.default_rng(0)
y = np.arange(40) % 2
X = rng.normal(size=(40, 8)) + y[:, None]
hf.Study(selectors={selector}(3), perturbation=hf.Bootstrap(3)).run(X, y, progress=True)
"""


def said(selector, folder, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder))
    program = PROGRAM.format(selector=selector)
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stderr


def test_compiling_is_told_once_and_never_again(tmp_path, monkeypatch):
    line = "Compiling kernels for this machine, once"
    first = said("MRMR", tmp_path, monkeypatch)
    assert first.count(line) == 1
    assert line not in said("MRMR", tmp_path, monkeypatch)


def test_a_filter_compiles_nothing_but_the_effects_of_features(tmp_path, monkeypatch):
    said("AnovaF", tmp_path, monkeypatch)
    assert {path.name.split("-")[0] for path in tmp_path.rglob("*.nbc")} == {"effects._class_effects"}
