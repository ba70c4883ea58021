"""What a study will cost, before it runs."""

import subprocess
import sys

import pytest

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


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_memory_of_a_study_is_known_within_a_fifth(dtype):
    told, held = (
        float(subprocess.run([sys.executable, "-c", MEASURE, what, dtype], capture_output=True, check=True).stdout)
        for what in ("cost", "run")
    )
    assert told == pytest.approx(held, rel=0.2)
