"""Python's search for reference cycles, paused while a block makes many small objects at once."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collecting() -> Iterator[None]:
    """Make objects without a search for cycles among them: with tens of thousands it takes longer than all else.

    For pieces of code of our own that end soon, never around fits of others.
    """
    paused = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if paused:
            gc.enable()
