"""The plan of a study: what results depend on, as JSON, so that two plans can be compared; and as Python code."""

import hashlib
import inspect
import math
import platform
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import lru_cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from types import CodeType, MappingProxyType
from typing import Any

import joblib
import numpy as np
import pandas as pd

from holdfast.text import shorten

PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "numba", "joblib")


def describe(thing: Any) -> Any:
    """Write anything that a plan may hold as JSON, so that equal things are written equally, in any process."""
    if thing is None or isinstance(thing, (bool, int, str)):
        return thing
    if isinstance(thing, (float, np.floating)):
        return float(thing) if np.isfinite(thing) else repr(float(thing))
    if isinstance(thing, np.integer):
        return int(thing)
    if isinstance(thing, Mapping):
        return {str(key): describe(value) for key, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [describe(item) for item in thing]
    if isinstance(thing, (np.ndarray, pd.DataFrame, pd.Series)):
        return {"array": list(thing.shape), "sha256": digest(thing)}
    if hasattr(thing, "get_params") and not isinstance(thing, type):
        parameters, added = thing.get_params(deep=False), ADDED_PARAMETERS.get(type(thing).__name__, {})
        known = {name: value for name, value in parameters.items() if name not in added or value != added[name]}
        return {_path(type(thing)): {name: describe(known[name]) for name in sorted(known)}}
    if inspect.isroutine(thing) or isinstance(thing, type):
        return _path(thing) + _code(thing)
    former = FORMER_PARAMETERS.get(type(thing).__name__, {})
    state = {former.get(name, name): describe(value) for name, value in sorted(getattr(thing, "__dict__", {}).items())}
    return {_path(type(thing)): state or joblib.hash(thing)}


def write_code(study: Any, given: Iterable[str] = ()) -> str:
    """Return Python code that makes and runs a study, with ``...`` for what code cannot say, such as arrays.

    Parameters
    ----------
    study : Study
        The study.
    given : iterable of str
        Arguments of :meth:`Study.run` that it got besides the data.

    Returns
    -------
    str
        The code, with its imports.
    """
    imported: dict[str, set[str]] = {}
    arguments = ",\n".join(_changed_arguments(study, imported) or ())
    imports = [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(imported.items())]
    run = ", ".join(["X", "y", *(f"{name}={name}" for name in given)])
    made = f"study = hf.Study(\n{textwrap.indent(arguments, '    ')},\n)\nresult = study.run({run})"
    return "\n".join(["import holdfast as hf", *imports, "", made])


def _write(thing: Any, imported: dict[str, set[str]]) -> str:
    if isinstance(thing, np.generic):
        thing = thing.item()
    if isinstance(thing, float) and not math.isfinite(thing):
        return f'float("{thing}")'
    if thing is None or isinstance(thing, (bool, int, float, str)):
        return repr(thing)
    if isinstance(thing, Mapping):
        items = [f"{_write(key, imported)}: {_write(value, imported)}" for key, value in thing.items()]
        return _enclose("{", items, "}")
    if isinstance(thing, (list, tuple)):
        items = [_write(item, imported) for item in thing]
        return (
            _enclose("[", items, "]") if isinstance(thing, list) else f"({', '.join(items)}{',' * (len(items) == 1)})"
        )
    if inspect.isroutine(thing) or isinstance(thing, type):
        return _name(thing, imported)
    if type(thing).__module__.startswith("sklearn.model_selection."):  # does not keep its arguments as attributes
        return repr(thing) if _name(type(thing), imported) != "..." else "..."
    arguments = _changed_arguments(thing, imported)
    return "..." if arguments is None else _enclose(f"{_name(type(thing), imported)}(", arguments, ")")


def _enclose(before: str, items: Sequence[str], after: str) -> str:
    """Return items between brackets, each in a line of its own if they are long."""
    line = f"{before}{', '.join(items)}{after}"
    if len(line) <= MAX_LINE and "\n" not in line:
        return line
    lines = ",\n".join(items)
    return f"{before}\n{textwrap.indent(lines, '    ')},\n{after}"


def _name(thing: Any, imported: dict[str, set[str]]) -> str:
    """Return how code calls a class or function, and note from which module: the first one that shows it."""
    name = thing.__qualname__
    if getattr(sys.modules["holdfast"], name, None) is thing:
        return f"hf.{name}"
    parts = thing.__module__.split(".")
    modules = [".".join(parts[: end + 1]) for end in range(len(parts))]
    shown = [module for module in modules if getattr(sys.modules.get(module), name, None) is thing]
    if not name.isidentifier() or not shown:
        return "..."
    if shown[0] != "__main__":
        imported.setdefault(shown[0], set()).add(name)
    return str(name)


def _changed_arguments(thing: Any, imported: dict[str, set[str]]) -> list[str] | None:
    """Return the arguments by which an object was made, without defaults; None if it does not keep them."""
    try:
        parameters = inspect.signature(type(thing)).parameters
        values = {name: getattr(thing, name) for name in parameters}
    except (AttributeError, ValueError, TypeError):
        return None
    defaults = {name: parameter.default for name, parameter in parameters.items()}
    if is_dataclass(thing):
        defaults |= {item.name: item.default_factory() for item in fields(thing) if item.default_factory is not MISSING}
    changed = {name: value for name, value in values.items() if describe(value) != describe(defaults[name])}
    return [f"{name}={_write(value, imported)}" for name, value in changed.items()]


MAX_LINE = 90
"""Length from which code is written in several lines."""
NAMED_IN_PLANS = {
    "selectors.baseline": ("RandomSelector",),
    "selectors.ensemble": ("EnsembleSelector",),
    "selectors.grouped": ("GroupedSelector",),
    "selectors.information": ("InformationGain", "SymmetricalUncertaintyFilter"),
    "selectors.relief": ("ReliefF",),
    "selectors.rfe": ("HybridRFE",),
    "resampling.drawn": ("Bootstrap", "ComplementaryPairs", "NestedSubsamples", "Subsample"),
    "resampling.folds": ("Folds", "NestedFolds"),
    "resampling.given": ("GivenSplits",),
    "resampling.halvings": ("SplitHalves",),
    "resampling.unsampled": ("NewSeeds", "Noise"),
}
"""Modules by which stores of format 4 name classes that are defined elsewhere now."""
FORMER_NAMES = {"SplitHalves": "Halvings"}
FORMER_PARAMETERS = {"SplitHalves": {"n_pairs": "n_halvings"}}
"""Names that stores keep for what has another name now."""
ADDED_PARAMETERS: dict[str, dict[str, Any]] = {
    "Golub": {"multi_class": "pairwise"},
    "GolubVariance": {"multi_class": "pairwise"},
    "HybridRFE": {"model": "auto", "multi_class": "multinomial"},
    "InformationGain": {"target_bins": None},
    "MRMR": {"relevance": "auto", "target_bins": None},
    "SymmetricalUncertaintyFilter": {"target_bins": None},
}
"""Parameters that came after the first stores, with the defaults at which plans do not name them."""
_MODULES = {name: f"holdfast.{module}" for module, names in NAMED_IN_PLANS.items() for name in names}


def _path(thing: Any) -> str:
    module = getattr(thing, "__module__", None) or "builtins"
    name = getattr(thing, "__qualname__", repr(thing))
    if module.startswith("holdfast."):
        return f"{_MODULES.get(name, module)}.{FORMER_NAMES.get(name, name)}"
    return f"{module}.{name}"


def _code(thing: Any) -> str:
    """A digest of a function's code, for functions of one name in scripts and notebooks."""
    code = getattr(thing, "__code__", None)
    if code is None or not (thing.__module__ == "__main__" or "<" in thing.__qualname__):
        return ""
    return "#" + hashlib.sha256(repr(_instructions(code)).encode()).hexdigest()[:12]


def _instructions(code: CodeType) -> tuple[Any, ...]:
    """What a piece of code does, without where it lies."""
    constants: list[Any] = []
    for value in code.co_consts:
        if isinstance(value, CodeType):
            constants.append(_instructions(value))
        else:
            constants.append(repr(sorted(map(repr, value)) if isinstance(value, frozenset) else value))
    return code.co_code, code.co_names, constants


def plain_selector(described: str, task: str, target: Iterable[Any]) -> str:
    """A selector in JSON, with the model for numbers named where it was found, as by earlier commands.

    Numbers without a fraction may have been taken for classes.
    """
    guessed_numbers = task == "regression" and any(value % 1 for value in target)
    return described.replace('"model": "auto"', '"model": "linear"') if guessed_numbers else described


DIGESTED = 2**24
"""Bytes of an array that are digested at a time."""


def digest(array: Any) -> str:
    """SHA-256 of values and shape, whatever the layout in memory."""
    summed = hashlib.sha256()
    if isinstance(array, pd.DataFrame):
        kinds = set(array.dtypes)
        if len(kinds) == 1 and all(isinstance(kind, np.dtype) and kind.kind in "biuf" for kind in kinds):
            return digest(array.to_numpy())  # column by column would take longer than many a study
        for name in array.columns:
            summed.update(digest(array[name]).encode())
        return summed.hexdigest()
    if hasattr(array, "tocsr"):
        csr = array.tocsr()
        return hashlib.sha256(
            "".join(digest(part) for part in (csr.data, csr.indices, csr.indptr)).encode()
        ).hexdigest()
    values = np.asarray(array)
    if values.dtype.kind in "OUST":
        summed.update("\0".join(map(repr, values.ravel().tolist())).encode())
    else:
        rows = np.atleast_1d(values)
        at_once = max(1, DIGESTED // max(1, rows[:1].nbytes))
        for begin in range(0, len(rows), at_once):  # without a copy of the whole
            summed.update(np.ascontiguousarray(rows[begin : begin + at_once]).reshape(-1).view(np.uint8).data)
    summed.update(repr(np.shape(array)).encode())
    return summed.hexdigest()


def fingerprint(X: Any, y: Any, groups: Any, covariates: Any, names: Any) -> dict[str, Any]:
    """What identifies a data set."""
    return {
        "n_samples": int(X.shape[0]),
        "n_features": int(X.shape[1]),
        "features": digest(X),
        "target": digest(y),
        "groups": None if groups is None else digest(groups),
        "covariates": None if covariates is None else digest(covariates),
        "names": digest(np.asarray(names, dtype=object)),
    }


@lru_cache(maxsize=1)
def versions() -> Mapping[str, str]:
    """Versions of what the results may depend on; reading them takes longer than many a study."""
    own = import_module("holdfast").__version__  # that of the code that runs, whatever was installed
    installed = {"python": platform.python_version(), "machine": platform.machine(), "holdfast": own}
    for name in PACKAGES:
        try:
            installed[name] = version(name)
        except PackageNotFoundError:
            continue
    return MappingProxyType(installed)


def list_differences(stored: Mapping[str, Any], new: Mapping[str, Any], inside: str = "") -> list[str]:
    """List where two plans differ, the stored one first."""
    changes = []
    for key in dict.fromkeys([*stored, *new]):
        before, now = stored.get(key), new.get(key)
        name = f"{inside}{key}"
        if isinstance(before, Mapping) and isinstance(now, Mapping) and set(before) == set(now):
            changes += list_differences(before, now, f"{name}.")
        elif before != now:
            changes.append(f"{name} was {shorten(repr(before), 60)} and is now {shorten(repr(now), 60)}")
    return changes
