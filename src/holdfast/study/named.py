"""Selectors, models and perturbations made from their names, for the command line and its configuration files."""

import importlib
import inspect
import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from holdfast.declared import Registry, a, did_you_mean
from holdfast.models import MODELS
from holdfast.resampling import PERTURBATIONS, Perturbation
from holdfast.selectors.catalog import SELECTORS
from holdfast.study.families import Candidates, candidate_name

PACKAGES = ("holdfast", "sklearn")
NOT_PUBLIC = ("tests", "conftest", "externals")
PATH = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")


@dataclass(frozen=True)
class Trust:
    """Whose code may be run for a path that was read somewhere.

    Importing a module runs it, so a path is checked as text, before anything is imported.

    Attributes
    ----------
    source : str
        Where the paths were read, for messages.
    allowed : tuple of str
        Modules that the user allowed besides the public ones of holdfast and scikit-learn, each with all below it.
    any_module : bool
        Whether the user wrote the paths, who may name any module.
    """

    source: str = "a study"
    allowed: tuple[str, ...] = ()
    any_module: bool = False

    def __post_init__(self) -> None:
        for module in self.allowed:
            if not all(part.isidentifier() for part in module.split(".")):
                raise ValueError(
                    f"Expected the name of a module to allow, such as mypackage.selectors, got {module!r}."
                )

    def missing_modules(self, paths: Iterable[str]) -> list[str]:
        """Modules of these paths that may not be imported."""
        return list(dict.fromkeys(_module(path) for path in paths if not self._covers(path)))

    def _covers(self, path: str) -> bool:
        module, (package, *inside) = _module(path), path.split(".")
        public = package in PACKAGES and not any(part.startswith("_") or part in NOT_PUBLIC for part in inside)
        below = (module == allowed or module.startswith(f"{allowed}.") for allowed in self.allowed)
        return self.any_module or public or any(below)

    def check(self, paths: Iterable[str]) -> None:
        """Raise unless all these classes may be imported, naming those that may not."""
        others = [path for path in dict.fromkeys(paths) if not self._covers(path)]
        if others:
            raise ValueError(
                f"Expected public classes of holdfast and scikit-learn in {self.source}, got "
                f"{', '.join(map(repr, others))}; nothing was imported. If you trust that code, pass "
                f"{' '.join(f'--allow {module}' for module in self.missing_modules(others))}."
            )

    def check_memory(self, name: str, parameters: Mapping[str, Any]) -> None:
        """Raise if results are to be cached: joblib unpickles what it finds there, which can run any code."""
        if parameters.get("memory") is not None and not self.any_module:
            raise ValueError(
                f"Expected no memory= for {name} in {self.source}, got {parameters['memory']!r}: what is cached there "
                "would be unpickled, which can run any code; leave it out."
            )


PUBLIC_CLASSES = Trust()
"""Trust in the public modules of holdfast and scikit-learn, and in nothing else."""


def dotted_paths(name: str, parameters: Mapping[str, Any]) -> list[str]:
    """Paths of classes that a name with parameters may lead to: the name, and values that read like a path."""
    values = [item for value in parameters.values() for item in (value if isinstance(value, list) else [value])]
    return [name] * ("." in name) + [value for value in values if _is_path(value)]


def _is_path(text: Any) -> bool:
    return isinstance(text, str) and PATH.fullmatch(text) is not None


def _module(path: str) -> str:
    return path.rpartition(".")[0]


def find_class(path: str, what: str, trust: Trust) -> Any:
    """Import the class of an estimator, if its module may be imported; only classes with fit and get_params are given.

    Parameters
    ----------
    path : str
        Module and name, such as ``sklearn.feature_selection.SelectFpr``.
    what : str
        What it is to be, for messages.
    trust : Trust
        Whose code may be run.
    """
    if not _is_path(path):
        raise ValueError(f"Expected the dotted path of a class, such as mypackage.Selector, for {what}, got {path!r}.")
    trust.check([path])
    try:
        kind = getattr(importlib.import_module(_module(path)), path.rpartition(".")[2])
    except Exception as error:  # a module may fail in any way while it is imported
        reason = str(error) if isinstance(error, (ImportError, AttributeError)) else f"{type(error).__name__}: {error}"
        raise ValueError(f"Expected the path of a class for {what}, got {path!r}: {reason.rstrip('.')}.") from None
    concrete = inspect.isclass(kind) and not inspect.isabstract(kind)
    if not (concrete and all(callable(getattr(kind, name, None)) for name in ("fit", "get_params"))):
        raise ValueError(
            f"Expected a class with fit and get_params, as scikit-learn's estimators have, for {what}, got {path!r}; "
            "it was not called."
        )
    return kind


def named_selectors(
    label: str, name: str, parameters: Mapping[str, Any], task: str, trust: Trust = PUBLIC_CLASSES
) -> dict[str, Candidates]:
    """Make selectors by their name, or by the dotted path of their class; lists of values make several.

    Values of the selector's own parameters make one family, which may share its work; others make one family each.
    ``k`` is short for ``n_features``; ``sizes`` and ``keep`` are those of :class:`Candidates`.
    """
    record = SELECTORS.get(name)
    given = {_full_name(name, key): value for key, value in parameters.items()}
    sizes, keep = given.pop("sizes", None if record is None else record.sizes), given.pop("keep", None)
    grid = {key: value for key, value in given.items() if isinstance(value, list)}
    first = {key: value[0] if key in grid else value for key, value in given.items()}
    selector = make_selector(name, first, task, trust)
    if set(grid) <= set(selector.get_params(deep=False)):
        return {label: Candidates(selector, grid, sizes, keep)}
    settings = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    return {
        candidate_name(label, setting): Candidates(
            make_selector(name, {**first, **setting}, task, trust), {}, sizes, keep
        )
        for setting in settings
    }


def _full_name(selector: str, parameter: str) -> str:
    """Return the full name of a selector's parameter; ``k`` is short for ``n_features``."""
    known = SELECTORS[selector].parameters if selector in SELECTORS else {}
    if parameter != "k" or "k" in known or not known:
        return parameter
    if "n_features" not in known:
        raise ValueError(
            f"k is short for n_features, the number of features to select, which {selector} does not have. Its "
            f"parameters are {', '.join(known)}."
        )
    return "n_features"


def make_selector(name: Any, parameters: Mapping[str, Any], task: str, trust: Trust) -> Any:
    """Make a selector by its name or by the dotted path of its class."""
    if not isinstance(name, str):
        raise ValueError(f"Expected the name of a selector as base, got {name!r}.")
    return _make(SELECTORS, name, parameters, task, trust)


def named_estimator(name: str, parameters: Mapping[str, Any], task: str, trust: Trust = PUBLIC_CLASSES) -> Any:
    """Make a model by its name, or by the dotted path of its class."""
    return _make(MODELS, name, parameters, task, trust)


def named_perturbation(name: str, parameters: Mapping[str, Any], resamples: int | None) -> Perturbation:
    """Make a perturbation by its name."""
    make = PERTURBATIONS.find(name)
    given = {key: tuple(value) if isinstance(value, list) else value for key, value in parameters.items()}
    if resamples is not None:
        if make.grows is None or make.design in ("folds", "nested_folds"):
            remedy = "leave it out" if make.grows is None else f"say {name}:n_splits=…,n_repeats=…"
            raise ValueError(f"Expected --resamples with resamples that are drawn, got it with {name}; {remedy}.")
        given = {make.grows: resamples, **given}
    return _call(make, given, f"perturbation {name}")


def _make(known: Registry[Any], name: str, parameters: Mapping[str, Any], task: str, trust: Trust) -> Any:
    """Make what has this name in a registry, or is a class at this dotted path, if both are allowed."""
    what = known.kind
    trust.check(dotted_paths(name, parameters))
    trust.check_memory(name, parameters)
    if name in known:
        record = known[name]
        bins = parameters.get("target_bins") is not None
        if task not in record.about.tasks and not (bins and task == "regression"):
            others = [other for other, about in known.abouts().items() if task in about.tasks]
            served = " and ".join(record.about.tasks)
            binned = f"; {name}:target_bins=4 takes bins of the numbers" if "target_bins" in record.parameters else ""
            raise ValueError(
                f"Expected {a(what)} for {task} ({', '.join(others)}), got {name!r}, which is for {served}{binned}."
            )
        if task == "regression" and not bins:
            parameters = {**getattr(record.make, "for_numbers", {}), **parameters}
        resolve = partial(_resolve_base, task=task, trust=trust)
        return _call(record.make, parameters, f"{what} {name}", {"task": task, "resolve": resolve})
    if "." not in name:
        hint = did_you_mean(name, known)
        raise ValueError(f"Expected {a(what)} ({', '.join(known)}) or the dotted path of a class, got {name!r}{hint}")
    return _call(find_class(name, a(what), trust), parameters, f"{what} {name}")


def _resolve_base(name: Any, *, task: str, trust: Trust, **parameters: Any) -> Any:
    """Make the base of another selector, which may call its number of features ``k``."""
    known = SELECTORS[name].parameters if isinstance(name, str) and name in SELECTORS else {}
    given = {"k" if key == "n_features" and key not in known and "k" in known else key: value
             for key, value in parameters.items()}  # fmt: skip
    return make_selector(name, given, task, trust)


def _call(make: Callable[..., Any], parameters: Mapping[str, Any], what: str, offered: Mapping[str, Any] = {}) -> Any:
    """Call with parameters by name, and with what is offered if it is taken; name the parameters if one is wrong."""
    takes = inspect.signature(make).parameters
    known = [name for name in takes if name not in offered]
    for name in parameters:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ValueError(f"Expected parameters of {what} ({', '.join(known) or 'none'}), got {name!r}{hint}")
    needed = [name for name in known if takes[name].default is inspect.Parameter.empty and name not in parameters]
    if any(takes[name].kind not in (takes[name].VAR_POSITIONAL, takes[name].VAR_KEYWORD) for name in needed):
        raise ValueError(f"Expected {needed[0]}= for {what}, got none; it has no default.")
    return make(**parameters, **{name: value for name, value in offered.items() if name in takes})
