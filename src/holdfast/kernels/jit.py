"""How kernels are compiled, and the one form in which arrays reach them."""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

IN_ANY_ORDER = {"reassoc", "nsz", "arcp", "contract"}
"""What lets a sum run in vectors. Never "nnan" or "ninf": kernels meet both."""


def kernel(function: Callable[..., Any]) -> Any:
    """Compile with a cache on disk; without one where nothing can be written, as in a read-only container."""
    return _cached(function, fastmath=False)  # said, as a kernel takes over what its first caller says of itself


def summing_kernel(function: Callable[..., Any]) -> Any:
    """Compile for long sums in vectors: terms in any order, and a division by zero gives infinity, as in NumPy."""
    return _cached(function, fastmath=IN_ANY_ORDER, error_model="numpy")


def summing_step(function: Callable[..., Any]) -> Any:
    """Compile a step of a summing kernel: no way in from Python and no cache of its own, half the time to compile."""
    bare: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return numba.njit(fastmath=IN_ANY_ORDER, error_model="numpy", **bare)(function)


def frozen(array: ArrayLike, dtype: DTypeLike) -> NDArray[Any]:
    """View an array as contiguous and read-only: every other type of array would be another compilation."""
    view = np.ascontiguousarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view


def _cached(function: Callable[..., Any], **options: Any) -> Any:
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no folder that it may write to
        return numba.njit(**options)(function)
