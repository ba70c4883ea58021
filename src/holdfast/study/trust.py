"""Classes by their dotted path: which modules may be imported, checked before they are, and what may be called."""

import importlib
import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

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
        Modules that the user allowed beside the public ones of holdfast and scikit-learn, each with all below it.
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
        module = _module(path)
        below = (module == allowed or module.startswith(f"{allowed}.") for allowed in self.allowed)
        return self.any_module or _is_public(path) or any(below)

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


def _is_public(path: str) -> bool:
    package, *inside = path.split(".")
    return package in PACKAGES and not any(part.startswith("_") or part in NOT_PUBLIC for part in inside)


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
    if not (_is_concrete(kind) and all(callable(getattr(kind, name, None)) for name in ("fit", "get_params"))):
        raise ValueError(
            f"Expected a class with fit and get_params, as scikit-learn's estimators have, for {what}, got {path!r}; "
            "it was not called."
        )
    return kind


def _is_concrete(kind: Any) -> bool:
    return inspect.isclass(kind) and not inspect.isabstract(kind)
