"""The fast numerics: plain functions on arrays, no classes, nothing above NumPy and numba.

A kernel and the compiled helpers it calls live in one file, because numba does not notice a change in a helper of
another file and would answer from a stale cache. ``python -m holdfast.kernels`` compiles them all once.
"""
