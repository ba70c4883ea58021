"""How kernels are compiled."""

from collections.abc import Callable
from typing import Any

import numba


def kernel(function: Callable[..., Any]) -> Any:
    """Compile with a cache on disk; without one where nothing can be written, as in a read-only container."""
    try:
        return numba.njit(cache=True)(function)
    except RuntimeError:  # numba found no folder that it may write to
        return numba.njit(function)
