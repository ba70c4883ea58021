import os
import subprocess
import sys
from pathlib import Path

from holdfast.kernels import jit
from study_parts import heavy

HELPER = """
from holdfast.kernels.jit import kernel

@kernel
def helper(x):
    return x + {added}
"""
BETWEEN = """
from helper_file import helper
from holdfast.kernels.jit import kernel

@kernel
def between(x):
    return helper(x)
"""
CALLER = """
from between_file import between
from holdfast.kernels.jit import kernel

@kernel
def outer(x):
    return between(x)

print(outer(1), sum(outer.stats.cache_hits.values()))
"""


CONSTANTS = """
from holdfast.kernels import jit
from constants_file import ADDED

jit.CONSTANTS = ("constants_file.py",)

@jit.kernel
def outer(x):
    return x + ADDED

print(outer(1), sum(outer.stats.cache_hits.values()))
"""


def answer(folder):
    command = [sys.executable, "caller_file.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.split()


def test_a_change_in_an_imported_kernel_is_noticed(tmp_path):
    (tmp_path / "between_file.py").write_text(BETWEEN)
    (tmp_path / "caller_file.py").write_text(CALLER)
    (tmp_path / "helper_file.py").write_text(HELPER.format(added=1))
    assert answer(tmp_path) == ["2", "0"]
    assert answer(tmp_path) == ["2", "1"]
    (tmp_path / "helper_file.py").write_text(HELPER.format(added=10))
    assert answer(tmp_path) == ["11", "0"]


def test_a_change_of_a_compiled_constant_is_noticed(tmp_path):
    (tmp_path / "caller_file.py").write_text(CONSTANTS)
    (tmp_path / "constants_file.py").write_text("ADDED = 1")
    assert answer(tmp_path) == ["2", "0"]
    assert answer(tmp_path) == ["2", "1"]
    (tmp_path / "constants_file.py").write_text("ADDED = 10")
    assert answer(tmp_path) == ["11", "0"]


def test_tolerances_are_compiled_constants():
    assert {Path(file).name for file in jit.CONSTANTS} >= {"tolerances.py"}
    assert all(Path(file).exists() for file in jit.CONSTANTS)


STEPS = """
from holdfast.kernels.jit import summing_kernel, summing_step

@summing_step
def step(n):
    return 1.0 if n < 2 else step(n - 1) + step(n - 2)

@summing_kernel
def outer(n):
    return step(n)

assert outer(5) == 8
(compiled,) = outer.overloads.values()
print(*(function.linkage.name for function in compiled.library.get_defined_functions() if "step" in function.name))
"""


def test_a_kernel_calls_its_own_copies_of_its_steps(tmp_path):
    """Else the copy of another kernel, of another order of sums, might answer its calls."""
    (tmp_path / "caller_file.py").write_text(STEPS)
    assert answer(tmp_path) == ["internal"]


DIGESTS = """
import hashlib, sys
import numpy as np
from holdfast.kernels import neighbors, regression, svm
from holdfast.kernels.elastic_net import elastic_net_paths
from holdfast.kernels.jit import frozen
from holdfast.kernels.linear import STANDARD, Cells
from eliminations import ridge_elimination

rng = np.random.default_rng(0)
y = np.arange(60) % 2
signs, counts = 2.0 * y - 1, rng.multinomial(60, np.full(60, 1 / 60), size=3)
data = {width: rng.normal(size=(60, width)) + 0.3 * signs[:, None] for width in (20, 40, 90)}
fallback = np.zeros(3, bool)

def eliminate(kernel):
    return [array for X in (data[40], data[90]) for array in kernel(X, signs, counts, sizes=[X.shape[1], 30, 5])]

def follow(family):
    return elastic_net_paths(data[90], signs, counts, family=family)[1:6]

def lay_out(width):
    columns = np.tile(np.arange(width), 3), np.arange(4) * width
    tests = np.tile(np.arange(60), 3), np.arange(4) * 60
    integers = counts, *tests, range(3), *columns, tests[1]
    cells = Cells(frozen(data[width], np.float64), *(frozen(values, np.int64) for values in integers))
    return cells, frozen(y, np.int64)

def score(kernel, width, *options, shape=(180,), more=()):
    out, weights = np.zeros(shape), np.zeros(3 * width)
    kernel(*lay_out(width), *options, STANDARD, out, weights, fallback.copy(), *more)
    return out, weights

def score_numbers(width, wide):
    out, weights = np.zeros(180), np.zeros(3 * width)
    numbers = frozen(data[width][:, 0] + signs, np.float64)
    options = 1.0, 0.0, True, STANDARD
    regression.ridge_values(lay_out(width)[0], numbers, *options, out, weights, fallback.copy(), wide)
    return out, weights

def softmax():
    cells, out = lay_out(20)[0], np.zeros((180, 3))
    regression.softmax_margins(cells, frozen(np.arange(60) % 3, np.int64), 1.0, True, STANDARD, out, fallback.copy())
    return [out]

def means():
    cells, out = lay_out(20)[0], np.zeros(180)
    numbers, tree = frozen(data[20][:, 0], np.float64), np.ones(3, bool)
    neighbors.neighbor_means(cells, numbers, 3, STANDARD, True, tree, out, fallback.copy())
    return [out]

MAKE = {
    "svm": lambda: eliminate(svm.svm_elimination),
    "ridge": lambda: eliminate(ridge_elimination),
    "logistic path": lambda: follow("logistic"),
    "linear path": lambda: follow("linear"),
    "svm cells": lambda: score(svm.svm_margins, 20, 1.0),
    "wide svm cells": lambda: score(svm.svm_margins, 90, 1.0),
    "squared hinge": lambda: score(svm.squared_hinge_margins, 20, 1.0, 1.0, shape=(180, 1)),
    "logistic": lambda: score(regression.logistic_margins, 20, 1.0, True, more=[None]),
    "wide logistic": lambda: score(regression.logistic_margins, 90, 1.0, True, more=[True]),
    "least squares": lambda: score_numbers(20, None),
    "wide least squares": lambda: score_numbers(90, True),
    "softmax": softmax,
    "neighbors": means,
}
found = {}
for name in list(MAKE)[:: int(sys.argv[1])]:
    arrays = [np.ascontiguousarray(array) for array in MAKE[name]()]
    assert any(array.any() for array in arrays), name
    found[name] = hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()
for name in sorted(found):
    print(name, found[name])
"""


def digests(folder, order):
    """What kernels compute, to the last bit, in a process of their own that keeps compiled kernels in this folder."""
    told = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", DIGESTS, str(order)]
    return subprocess.run(command, env=told, capture_output=True, text=True, check=True).stdout.splitlines()


@heavy
def test_results_are_the_same_to_the_last_bit_whatever_was_compiled_or_loaded_before(tmp_path):
    fresh = digests(tmp_path / "forward", 1)
    assert digests(tmp_path / "forward", 1) == fresh
    assert digests(tmp_path / "forward", -1) == fresh
    assert digests(tmp_path / "backward", -1) == fresh
