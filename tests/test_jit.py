import subprocess
import sys

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


def test_a_change_in_an_imported_kernel_is_noticed(tmp_path):
    def answer():
        command = [sys.executable, "caller_file.py"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()

    (tmp_path / "between_file.py").write_text(BETWEEN)
    (tmp_path / "caller_file.py").write_text(CALLER)
    (tmp_path / "helper_file.py").write_text(HELPER.format(added=1))
    assert answer() == ["2", "0"]
    assert answer() == ["2", "1"]
    (tmp_path / "helper_file.py").write_text(HELPER.format(added=10))
    assert answer() == ["11", "0"]
