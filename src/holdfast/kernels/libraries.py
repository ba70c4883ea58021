"""The functions by which NumPy and torch differ, under one name, for code that runs on both, on a CPU or on CUDA.

Needs NumPy, and torch only where it is used.
"""

import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .tolerances import PRECISIONS

Array = Any  # of NumPy or torch

DEVICE_BYTES = {"cuda": 40e9, "torch": 2e9}
"""About how much memory of a device is used at a time."""


class NumpyLibrary:
    """NumPy, with the few functions that torch has by another name."""

    def __init__(self, dtype: str, memory: float) -> None:
        self.xp: Any = np
        self.dtype: Any = np.dtype(dtype)
        self.float_name, self.memory = dtype, memory

    def array(self, values: NDArray[Any]) -> Array:
        """Numbers of the library's precision; masks and indices as they are."""
        return values.astype(self.dtype) if values.dtype.kind == "f" else values

    def host(self, values: Array) -> NDArray[Any]:
        """Return a NumPy array."""
        return np.asarray(values)

    def full(self, shape: tuple[int, ...], value: float, dtype: str | None = None) -> Array:
        """Return an array of one value."""
        return np.full(shape, value, dtype=dtype or self.dtype)

    def amax(self, values: Array) -> Array:
        """Largest of each row, as a column."""
        return np.max(values, axis=1, keepdims=True)

    def sigmoid_of_minus(self, margin: Array) -> Array:
        """1 / (1 + exp(margin)), without overflow."""
        e = np.exp(-np.abs(margin))
        return np.where(margin > 0, e, 1.0) / (1 + e)

    def take(self, values: Array, indices: Array) -> Array:
        """Entries of each row at its indices."""
        return np.take_along_axis(values, indices, axis=1)

    def put(self, values: Array, indices: Array, entries: Any) -> None:
        """Set entries of each row at its indices."""
        np.put_along_axis(values, indices, entries, axis=1)

    def kth_largest(self, values: Array, k: int) -> Array:
        """k-th largest of each row, as a column."""
        rank = values.shape[1] - k
        return np.partition(values, rank, axis=1)[:, rank : rank + 1]

    def largest(self, values: Array, k: int) -> tuple[Array, Array]:
        """The k largest of each row, falling, and where they are."""
        indices = np.argsort(-values, axis=1)[:, :k]
        return np.take_along_axis(values, indices, axis=1), indices

    def inverse(self, B: Array) -> Array:
        """Inverses of positive definite matrices."""
        return np.linalg.inv(B)

    def add_gram(self, K: Array, R: Array, sign: float) -> None:
        """K ± RᵀR."""
        K += sign * (R.swapaxes(1, 2) @ R)


class TorchLibrary(NumpyLibrary):
    """torch on a device."""

    def __init__(self, dtype: str, memory: float, device: str) -> None:
        super().__init__(dtype, memory)
        self.xp = importlib.import_module("torch")
        self.dtype, self.device = getattr(self.xp, dtype), self.xp.device(device)

    def array(self, values: NDArray[Any]) -> Array:
        tensor = self.xp.from_numpy(np.require(values, requirements=["C", "W"]))
        return tensor.to(device=self.device, dtype=self.dtype if tensor.is_floating_point() else None)

    def host(self, values: Array) -> NDArray[Any]:
        return values.cpu().numpy()

    def full(self, shape: tuple[int, ...], value: float, dtype: str | None = None) -> Array:
        kind = getattr(self.xp, dtype) if dtype else self.dtype
        return self.xp.full(shape, value, dtype=kind, device=self.device)

    def amax(self, values: Array) -> Array:
        return values.amax(1, keepdim=True)

    def sigmoid_of_minus(self, margin: Array) -> Array:
        return self.xp.sigmoid(-margin)

    def take(self, values: Array, indices: Array) -> Array:
        return self.xp.gather(values, 1, indices)

    def put(self, values: Array, indices: Array, entries: Any) -> None:
        values.scatter_(1, indices, entries)

    def kth_largest(self, values: Array, k: int) -> Array:
        return values.kthvalue(values.shape[1] - k + 1, 1, keepdim=True).values

    def largest(self, values: Array, k: int) -> tuple[Array, Array]:
        return tuple(self.xp.topk(values, k, dim=1))

    def inverse(self, B: Array) -> Array:
        """By triangular solves and a product, which are batched on every device; a general inverse is not."""
        L = self.xp.linalg.cholesky_ex(B)[0]
        eye = self.xp.eye(B.shape[1], dtype=B.dtype, device=B.device)
        root = self.xp.linalg.solve_triangular(L, eye.expand_as(B), upper=False)
        return root.mT @ root

    def add_gram(self, K: Array, R: Array, sign: float) -> None:
        K.baddbmm_(R.mT, R, alpha=sign)


def library(xp: str, device: str, dtype: str, memory: float) -> NumpyLibrary:
    """Return the library of this name."""
    if xp not in ("numpy", "torch") or dtype not in PRECISIONS or (xp == "numpy" and device != "cpu"):
        known = " or ".join(PRECISIONS)
        raise ValueError(f"Expected numpy on the cpu, or torch, in {known}, got {xp} on {device} in {dtype}.")
    return NumpyLibrary(dtype, memory) if xp == "numpy" else TorchLibrary(dtype, memory, device)


def check_device(device: str) -> None:
    """Raise, in one sentence, if torch or the device is not there."""
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        raise ValueError(
            "Computing on a device needs torch, which is not installed: pip install 'holdfast[gpu]', or take "
            "device='cpu'."
        ) from None
    if device == "cuda" and not torch.cuda.is_available():
        raise ValueError("device='cuda' needs a GPU that torch can use, and there is none; take device='cpu'.")


def times(A: Array, x: Array) -> Array:
    """Ax for each problem."""
    return (A @ x[:, :, None])[:, :, 0]


def total(x: Array) -> Array:
    """Sum of each row, as a column."""
    return x.sum(1)[:, None]


MIN_WIDTH = 16
"""Columns of a block at least: fewer share a line of memory, which would be fetched once for each."""


def column_blocks(n_rows: int, n_columns: int, at_once: int) -> Iterator[slice]:
    """Slices of as many columns of a table as have about so many numbers."""
    width = max(MIN_WIDTH, at_once // max(1, n_rows))
    return (slice(begin, begin + width) for begin in range(0, n_columns, width))


def parts(n_items: int, bytes_each: float, lib: NumpyLibrary) -> Iterator[slice]:
    """Slices whose temporary arrays take at most an eighth of the memory."""
    length = max(1, int(lib.memory / 8 // max(bytes_each, 1)))
    for start in range(0, n_items, length):
        yield slice(start, min(start + length, n_items))
