"""Whether an estimator of scikit-learn is exactly what its class and a table of parameters say."""

import math
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

from sklearn.base import clone

Check = Callable[[Any], bool]


def read_parameters(estimator: Any, checks: Mapping[str, Check]) -> dict[str, Any] | None:
    """Return an estimator's parameters; None if one is unknown or does not pass its check, or a clone carries more.

    Clones carry what ``set_output``, ``set_fit_request`` and callbacks leave on an estimator.
    """
    parameters = estimator.get_params(deep=False)
    if any(name not in checks or not checks[name](value) for name, value in parameters.items()):
        return None
    plain = type(estimator)(**parameters)
    return parameters if set(vars(clone(estimator))) == set(vars(plain)) else None


def anything(value: Any) -> bool:
    """Accept a parameter that changes nothing."""
    return True


def one_of(*allowed: Any) -> Check:
    """Accept these values, of these types."""
    return lambda value: any(type(value) is type(known) and value == known for known in allowed)


def is_none(value: Any) -> bool:
    """Accept None."""
    return value is None


def is_flag(value: Any) -> bool:
    """Accept true or false."""
    return isinstance(value, bool)


def is_count(value: Any) -> bool:
    """Accept a whole number from 1."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def is_number_or_none(value: Any) -> bool:
    """Accept a whole number, or None."""
    return value is None or (isinstance(value, Integral) and not isinstance(value, bool))


def is_positive(value: Any) -> bool:
    """Accept a finite number above 0."""
    return isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < math.inf


def at_most(limit: float) -> Check:
    """Accept a positive number up to a limit, the default: a larger tolerance may be meant to stop early."""
    return lambda value: is_positive(value) and value <= limit


def at_least(limit: int) -> Check:
    """Accept a whole number from a limit, the default: fewer steps may be meant to stop early."""
    return lambda value: is_count(value) and value >= limit
