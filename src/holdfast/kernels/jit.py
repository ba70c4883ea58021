"""How kernels are compiled, and the one form in which arrays reach them."""

import os
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.core.dispatcher import Dispatcher
from numpy.typing import ArrayLike, DTypeLike, NDArray

REORDERED = {"reassoc", "nsz", "arcp", "contract"}
"""License to add in another order, which vectorizes sums; infinities and ``nan`` keep their meaning."""


def kernel(function: Callable[..., Any]) -> Any:
    """Compile with a cache on disk; without one where nothing can be written, as in a read-only container."""
    return _compiled(function, fastmath=False)  # said, as a kernel takes over what its first caller says of itself


def summing_kernel(function: Callable[..., Any]) -> Any:
    """Compile for long sums in vectors: terms in any order, and a division by zero gives infinity, as in NumPy."""
    return _compiled(function, fastmath=REORDERED, error_model="numpy")


def summing_step(function: Callable[..., Any]) -> Any:
    """Compile a step of a summing kernel: no way in from Python and no cache of its own, half the time to compile."""
    bare: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return numba.njit(fastmath=REORDERED, error_model="numpy", **bare)(function)


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    try:
        compiled = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no folder that it may write to
        return numba.njit(**options)(function)
    if isinstance(compiled, Dispatcher):  # not so with NUMBA_DISABLE_JIT
        _watch_imported_kernels(compiled)
    return compiled


def _watch_imported_kernels(compiled: Any) -> None:
    """Make the cache stale when a file changes whose kernels this one's file imports; numba looks at its own alone."""
    own = compiled.py_func.__code__.co_filename
    stats = [os.stat(file) for file in sorted(_files(compiled.py_func, {own}) - {own})]
    stored = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if stats and stored is not None:
        stored._source_stamp = (stored._source_stamp, [(stat.st_mtime, stat.st_size) for stat in stats])


def _files(function: Callable[..., Any], found: set[str]) -> set[str]:
    """Files of the kernels in reach of a function, added to those found before."""
    for value in function.__globals__.values():
        if isinstance(value, Dispatcher) and value.py_func.__code__.co_filename not in found:
            found.add(value.py_func.__code__.co_filename)
            _files(value.py_func, found)
    return found


def frozen(array: ArrayLike, dtype: DTypeLike) -> NDArray[Any]:
    """View an array as contiguous and read-only: every other type of array would be another compilation."""
    view = np.ascontiguousarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view
