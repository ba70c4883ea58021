"""Wide, long and large data: no matrix larger than min(rows, features) squared, whatever the selector."""

import os
import subprocess
import sys

import pytest

HEAVY = os.environ.get("HOLDFAST_HEAVY") == "1"
PROGRAM = """
import resource, sys
import numpy as np
import holdfast as hf
from holdfast import selectors as of

n, d, runs, name = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
made = {
    "AnovaF": of.AnovaF(10), "InformationGain": of.InformationGain(10), "MRMR": of.MRMR(10),
    "ReliefF": of.ReliefF(10, ranges="full"), "SVMRFE": of.SVMRFE(10), "HybridRFE": of.HybridRFE(10, n_forced=3),
    "ElasticNetPath": of.ElasticNetPath(n_features=10),
}
rng = np.random.default_rng(0)
y = np.arange(n) % 2
X = rng.normal(size=(n, d))
X[:, :20] += 0.7 * y[:, None]
hf.Study(selectors={name: made[name]}, perturbation=hf.Bootstrap(1)).run(X[:60, :40], y[:60])  # what compiling takes
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
result = hf.Study(selectors={name: made[name]}, perturbation=hf.Bootstrap(runs)).run(X, y)
assert result.failures.empty, result.failures["error"].tolist()
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""
WIDE = [(150, 20_000, 1000 if HEAVY else 10, name) for name in ("AnovaF", "HybridRFE", "ElasticNetPath")]
OTHERS = [
    *((150, 20_000, 20, name) for name in ("InformationGain", "MRMR", "ReliefF", "SVMRFE")),
    *((4_601, 57, 5, name) for name in ("AnovaF", "MRMR", "ReliefF", "SVMRFE", "HybridRFE", "ElasticNetPath")),
    *((100_000, 200, 1, name) for name in ("AnovaF", "MRMR", "HybridRFE", "ElasticNetPath")),
]


long = pytest.mark.skipif(not HEAVY, reason="long: set HOLDFAST_HEAVY=1")


@pytest.mark.parametrize(
    ("n", "d", "runs", "name"),
    [
        WIDE[0],
        *(pytest.param(*one, marks=pytest.mark.slow) for one in WIDE[1:]),
        *(pytest.param(*one, marks=long) for one in OTHERS),
    ],
)
def test_memory_stays_within_a_few_copies_of_the_data(n, d, runs, name):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(n), str(d), str(runs), name], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    data = 8 * n * d / 2**20
    assert float(done.stdout) < 200 + 6 * data  # megabytes beyond the data
