"""What a study will cost, before it runs."""

import subprocess
import sys

import numpy as np
import pytest

import holdfast as hf
from holdfast.study.work import run_block

MEASURE = """
import sys
import numpy as np
import holdfast as hf
from holdfast.study.memory import peak_bytes

X = np.random.default_rng(0).normal(size=(200, 60_000)).astype(sys.argv[2])
y = np.arange(200) % 2
study = hf.Study({"f": hf.selectors.AnovaF(5), "g": hf.selectors.GolubVariance(5)}, hf.Bootstrap(40))
print(study.cost(X, y)["memory"] if sys.argv[1] == "cost" else (study.run(X, y), peak_bytes())[1])
"""


def test_what_splits_of_a_block_share_counts_once(monkeypatch):
    def run_slowly(plan, task):
        return run_block(plan, task)._replace(seconds=1 + 0.01 * len(task.splits))

    monkeypatch.setattr("holdfast.study.study.run_block", run_slowly)
    X = np.random.default_rng(0).normal(size=(30, 40))
    study = hf.Study({"f": hf.selectors.AnovaF(5)}, hf.Bootstrap(40))
    at_once = study.families[0].block_size(1, 1.01)
    assert at_once > 1
    assert study.cost(X, np.arange(30) % 2)["seconds"] == pytest.approx(40 * (1 / at_once + 0.01))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_memory_of_a_study_is_known_within_a_fifth(dtype):
    told, held = (
        float(subprocess.run([sys.executable, "-c", MEASURE, what, dtype], capture_output=True, check=True).stdout)
        for what in ("cost", "run")
    )
    assert told == pytest.approx(held, rel=0.2)
