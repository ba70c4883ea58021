"""How kernels are compiled, and the one form in which arrays reach them."""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray


def kernel(function: Callable[..., Any]) -> Any:
    """Compile with a cache on disk; without one where nothing can be written, as in a read-only container."""
    try:
        return numba.njit(cache=True)(function)
    except RuntimeError:  # numba found no folder that it may write to
        return numba.njit(function)


def frozen(array: ArrayLike, dtype: DTypeLike) -> NDArray[Any]:
    """View an array as contiguous and read-only: every other type of array would be another compilation."""
    view = np.ascontiguousarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view
