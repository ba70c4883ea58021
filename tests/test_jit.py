import subprocess
import sys
from pathlib import Path

from holdfast.kernels import jit

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
    assert {Path(file).name for file in jit.CONSTANTS} >= {"tolerances.py", "elastic_net_model.py"}
    assert all(Path(file).exists() for file in jit.CONSTANTS)
