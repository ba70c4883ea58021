"""The fast numerics: plain functions on arrays, no classes, nothing above NumPy and numba.

A kernel may import compiled helpers of another file with ``from … import name``: :mod:`holdfast.kernels.jit` sees to it
that its cache notices a change there, which numba by itself does not. ``python -m holdfast.kernels`` compiles them all.
"""
