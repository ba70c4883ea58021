"""Speed and memory, each compared with a peer in the same run: ``python -m benchmarks [name ...]``."""

import os

for library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # read when NumPy and numba are imported, so set before
