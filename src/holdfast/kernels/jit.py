"""How kernels are compiled, and the one form in which arrays reach them."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import numba
import numpy as np
from numba.core import event
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.dispatcher import Dispatcher
from numpy.typing import ArrayLike, DTypeLike, NDArray

REORDERED = {"reassoc", "nsz", "arcp", "contract"}
"""LLVM flags that let sums be added in another order, in vectors; infinities and ``nan`` keep their meaning."""

BARE: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options of a step: no CPython wrapper, which is half the time to compile."""

CONSTANTS = (str(Path(__file__).with_name("tolerances.py")),)
"""Files whose numbers are compiled into kernels of others: a change in one of them makes every cache stale."""


def kernel(function: Callable[..., Any]) -> Any:
    """Compile with a cache on disk; without one where nothing can be written, as in a read-only container."""
    return _compiled(function, fastmath=False)  # explicit: else a kernel inherits the flags of its first caller


def summing_kernel(function: Callable[..., Any]) -> Any:
    """Compile for long sums in vectors: terms in any order, and a division by zero gives infinity, as in NumPy."""
    return _compiled(function, fastmath=REORDERED, error_model="numpy")


def summing_step(function: Callable[..., Any]) -> Any:
    """Compile a step of a summing kernel; it is not cached."""
    return numba.njit(fastmath=REORDERED, error_model="numpy", **BARE)(function)


def exact_step(function: Callable[..., Any]) -> Any:
    """Compile a step of any kernel with its sums in the order in which they are written, whatever the kernel allows."""
    return numba.njit(fastmath=False, error_model="numpy", **BARE)(function)


def inlined_step(function: Callable[..., Any]) -> Any:
    """Compile a step of a summing kernel into every caller: a loop so short that a call is felt."""
    return numba.njit(fastmath=REORDERED, error_model="numpy", forceinline=True, **BARE)(function)


class _SealedLibrary(JITCodeLibrary):
    """Machine code of a kernel that calls private copies of its steps.

    numba leaves these copies open: whichever of a name the process met first answers all calls of that name, be it the
    step compiled alone, or the copy in another kernel's cache. Each copy was optimized in its kernel, so that
    its sums have another order: a fit differed in its last bits from the same fit in the next process.
    """

    def _optimize_final_module(self) -> None:
        super()._optimize_final_module()
        for function in self._final_module.functions:
            if function.linkage.name == "linkonce_odr" and not function.is_declaration:
                function.linkage = "internal"


class _SealedCompiler(Compiler):
    def __init__(self, typing_context: Any, target_context: Any, library: Any, *args: Any) -> None:
        if library is None:
            library = _SealedLibrary(target_context.codegen(), "kernel")
            library.enable_object_caching()
        super().__init__(typing_context, target_context, library, *args)


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    options["pipeline_class"] = _SealedCompiler
    try:
        compiled = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no folder that it may write to
        return numba.njit(**options)(function)
    if isinstance(compiled, Dispatcher):  # not so with NUMBA_DISABLE_JIT
        _watch_imported_kernels(compiled)
    return compiled


def _watch_imported_kernels(compiled: Any) -> None:
    """Make the cache stale when a file changes whose kernels or constants are compiled in; numba watches one file.

    A compiled function is recognized where it is imported by name; a number is not, so :data:`CONSTANTS`
    lists the files that hold numbers. This file says how all are compiled.
    """
    kernel_file = compiled.py_func.__code__.co_filename
    files = sorted(_find_kernel_files(compiled.py_func, {kernel_file}) - {kernel_file})
    stats = [os.stat(file) for file in [*files, *CONSTANTS, __file__]]
    stored = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if stored is not None:
        stored._source_stamp = (stored._source_stamp, [(stat.st_mtime, stat.st_size) for stat in stats])


def _find_kernel_files(function: Callable[..., Any], known: set[str]) -> set[str]:
    """Files of the kernels in reach of a function, added to those known."""
    for value in function.__globals__.values():
        if isinstance(value, Dispatcher) and value.py_func.__code__.co_filename not in known:
            known.add(value.py_func.__code__.co_filename)
            _find_kernel_files(value.py_func, known)
    return known


def frozen(array: ArrayLike, dtype: DTypeLike) -> NDArray[Any]:
    """View an array as contiguous and read-only: every other type of array would be another compilation."""
    view = np.ascontiguousarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view


LINE = "Compiling kernels for this machine, once: some seconds each, and later studies start at once."


class _Watch(event.Listener):
    """Reports the first compilation, and adds up the seconds of all; what is in the cache is not compiled."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self.report, self.depth, self.reported = report, 0, False
        self.started, self.seconds = 0.0, 0.0

    def on_start(self, event: Any) -> None:
        """Note when a kernel begins to be compiled; those that it calls are a part of it."""
        if not self.reported:
            self.report(LINE)
            self.reported = True
        if not self.depth:
            self.started = monotonic()
        self.depth += 1

    def on_end(self, event: Any) -> None:
        """Note how long it took."""
        self.depth -= 1
        if not self.depth:
            self.seconds += monotonic() - self.started


@contextmanager
def report_compilation(report: Callable[[str], None]) -> Iterator[Any]:
    """Report once if kernels have to be compiled; what is yielded has the ``seconds`` that it took."""
    watch = _Watch(report)
    with event.install_listener("numba:compile", watch):
        yield watch
