"""The loss of an elastic net with its first and second derivative, by arithmetic that runs in vectors.

:mod:`~holdfast.kernels.elastic_net_solver` compiles :func:`evaluate_loss` into its kernel. The exponential and the
logarithm are written out, to the last digit or two, because those of the library are called number by number.
"""

from typing import Any

from numba import types
from numba.extending import intrinsic

from holdfast.kernels.jit import inlined_step, kernel

ROUND = 6755399441055744.0  # 1.5 · 2^52: adding it rounds to an integer, to be found in the lowest bits


@intrinsic
def _two_to(typing_context: Any, shifted: Any) -> Any:
    """2^k from the number k + ROUND, whose lowest bits are k."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        integer = context.get_value_type(types.int64)
        exponent = builder.add(builder.bitcast(arguments[0], integer), integer(1023))
        return builder.bitcast(builder.shl(exponent, integer(52)), context.get_value_type(types.float64))

    return types.float64(types.float64), generate


@kernel  # in another order of its sums ROUND would cancel
def _exp_minus(a):  # type: ignore[no-untyped-def]
    """exp(-a) for a ≥ 0 to the last digit; unlike the library's, it runs in vectors."""
    a = -min(a, 708.0)
    shifted = a * 1.4426950408889634 + ROUND
    k = shifted - ROUND
    x = (a - k * 0.69314718036912382) - k * 1.9082149292705877e-10  # log 2 in two parts
    p = ((x / 6227020800 + 1 / 479001600) * x + 1 / 39916800) * x + 1 / 3628800
    p = (((p * x + 1 / 362880) * x + 1 / 40320) * x + 1 / 5040) * x + 1 / 720
    p = (((((p * x + 1 / 120) * x + 1 / 24) * x + 1 / 6) * x + 0.5) * x + 1) * x + 1
    return p * _two_to(shifted)


@inlined_step
def _log_one_plus(e):  # type: ignore[no-untyped-def]
    """log(1 + e) for e in [0, 1], by the series of artanh."""
    z = e / (2 + e)
    s = z * z
    p = (((s / 31 + 1 / 29) * s + 1 / 27) * s + 1 / 25) * s + 1 / 23
    p = ((((p * s + 1 / 21) * s + 1 / 19) * s + 1 / 17) * s + 1 / 15) * s + 1 / 13
    p = (((((p * s + 1 / 11) * s + 1 / 9) * s + 1 / 7) * s + 1 / 5) * s + 1 / 3) * s + 1
    return 2 * z * p


@inlined_step
def evaluate_loss(data, f, r, W):  # type: ignore[no-untyped-def]
    """Fill in minus the slope and the curvature of the loss at f; return the loss and the sum of r."""
    y, c = data.y, data.c
    loss, surplus = 0.0, 0.0
    if data.linear:
        for i in range(f.size):
            error = y[i] - f[i]
            r[i], W[i] = c[i] * error, c[i]
            loss += 0.5 * r[i] * error
            surplus += r[i]
        return loss, surplus
    for i in range(f.size):
        margin = y[i] * f[i]
        e = _exp_minus(abs(margin))
        q = 1 / (1 + e)
        r[i] = c[i] * y[i] * (e * q if margin > 0 else q)
        W[i] = c[i] * e * q * q
        loss += c[i] * (_log_one_plus(e) + max(-margin, 0.0))
        surplus += r[i]
    return loss, surplus
