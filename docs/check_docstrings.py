"""Check that the documentation of every public object is complete: ``python docs/check_docstrings.py``.

Public are the names of ``holdfast/__init__.pyi`` and of ``__all__`` in the modules below, and the methods and
properties of public classes, also those inherited from bases that are not public. It stands here because what it checks
is what the reference in ``docs/api.md`` shows.

Checked with :mod:`numpydoc.validate`, everywhere:

- GL03, GL06, GL07, GL08: there is a docstring; its sections have known names and the usual order;
- SS01, SS03, SS06: the summary is one line and ends with a period;
- PR01 to PR04 and PR06 to PR09: the documented parameters are those of the signature, in its order, each with a type
  and a description that is a sentence; a class that stores its arguments may describe them as attributes;
- RT01 to RT05 and YD01: what is returned or yielded is described;
- SA02 to SA04: every entry under See Also has a description;
- RS: exceptions that the function raises itself are listed under Raises.

For the names at the top level and for all public classes besides:

- SA01, EX01: See Also, and an example that the tests run.
"""

import ast
import functools
import importlib
import inspect
import sys
import textwrap
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from numpydoc.docscrape import get_doc_object
from numpydoc.validate import Validator, validate

import holdfast

MODULES = (
    "benchmarking", "inference", "measures", "io", "similarity", "resampling", "selectors", "study", "tradeoff",
    "plots", "report", "datasets", "testing",
)  # fmt: skip
EVERYWHERE = {
    "GL03", "GL06", "GL07", "GL08", "SS01", "SS03", "SS06", "PR01", "PR02", "PR03", "PR04", "PR06", "PR07", "PR08",
    "PR09", "RT01", "RT02", "RT03", "RT04", "RT05", "YD01", "SA02", "SA03", "SA04", "RS",
}  # fmt: skip
IN_FULL = EVERYWHERE | {"SA01", "EX01"}


class Documented(Validator):
    """The docstring of an object; attributes of a class count as parameters if it takes them."""

    def __init__(self, thing: Any, obj_name: str):
        super().__init__(get_doc_object(thing))
        self.full_name = obj_name

    @property
    def doc_all_parameters(self) -> Any:
        """Documented parameters with their type and description."""
        documented = self._doc_parameters(["Parameters", "Other Parameters"])
        if inspect.isclass(self.obj):
            attributes = self._doc_parameters(["Attributes"])
            taken = {name.lstrip("*") for name in self.signature_parameters}
            own = taken - set(documented)
            documented.update({name: about for name, about in attributes.items() if name in own})
        return documented


def public_objects() -> dict[str, Any]:
    """Return every public class and function by its shortest name."""
    owners = [("holdfast", holdfast, holdfast.__all__)]
    for name in MODULES:
        module = importlib.import_module(f"holdfast.{name}")
        owners.append((f"holdfast.{name}", module, getattr(module, "__all__", None) or own_names(module)))
    objects: dict[str, Any] = {}
    seen: set[int] = set()
    for prefix, module, names in owners:
        for name in names:
            thing = getattr(module, name)
            if (inspect.isclass(thing) or inspect.isfunction(thing)) and id(thing) not in seen:
                seen.add(id(thing))
                objects[f"{prefix}.{name}"] = thing
    return objects


def own_names(module: ModuleType) -> list[str]:
    """Return the public names that a module without ``__all__`` defines."""
    return [name for name, thing in vars(module).items() if name[0] != "_" and is_own(thing, module.__name__)]


def is_own(thing: Any, module: str) -> bool:
    """Whether a function or class is defined in this module."""
    return (inspect.isclass(thing) or inspect.isfunction(thing)) and thing.__module__ == module


def members(thing: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties of a class, its own and those of bases that are not public."""
    for name, value in inherited(thing).items():
        plain = inspect.unwrap(getattr(value, "__func__", value))
        is_property = isinstance(value, (property, functools.cached_property))
        inherits = getattr(value, "__doc__", None) is None and inspect.getdoc(getattr(thing, name, None))
        is_method = inspect.isfunction(plain) and plain.__name__ != "<lambda>"  # a default of a dataclass
        if name[0] != "_" and not inherits and (is_property or is_method):
            yield name, value if is_property else plain


def inherited(thing: type) -> dict[str, Any]:
    """Return the attributes of a class and of its bases in holdfast that are not public."""
    bases = [base for base in thing.__mro__[1:] if base.__module__.startswith("holdfast.") and not is_public(base)]
    values = {name: value for base in reversed(bases) for name, value in vars(base).items()}
    return {**values, **vars(thing)}


@functools.cache
def is_public(thing: type) -> bool:
    """Whether a class is among the public objects."""
    return any(thing is other for other in public_objects().values())


def problems(name: str, thing: Any, checks: set[str]) -> list[str]:
    """Return what the docstring of an object lacks."""
    if isinstance(thing, (property, functools.cached_property)):
        checks = checks & {"GL03", "GL08", "SS01", "SS03", "SS06"}
    errors = validate(name, validator_cls=functools.partial(Documented, thing))["errors"]
    found = [f"{code} {' '.join(text.split())}" for code, text in errors if code in checks]
    if "EX01" in checks and ">>>" not in (thing.__doc__ or "") and not any(line.startswith("EX01") for line in found):
        found.append("EX01 No example that can be run")
    if "RS" in checks and inspect.isfunction(thing):
        listed = " ".join(entry.type for entry in get_doc_object(thing)["Raises"])
        found += [f"RS {error} is raised but not listed" for error in sorted(raised(thing)) if error not in listed]
    return found


def raised(function: Any) -> set[str]:
    """Return the names of exceptions that a function raises in its own body."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    names, nodes = set(), list(ast.iter_child_nodes(tree))
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
            names.add(node.exc.func.id)
        if not isinstance(node, (ast.FunctionDef, ast.Lambda)):
            nodes += ast.iter_child_nodes(node)
    return {name for name in names if name[0].isupper()}


def check_all() -> dict[str, list[str]]:
    """Return what is missing, by the name of each public object that lacks something."""
    missing: dict[str, list[str]] = {}
    for name, thing in public_objects().items():
        top = name.count(".") == 1
        missing[name] = problems(name, thing, IN_FULL if top or inspect.isclass(thing) else EVERYWHERE)
        for member, value in members(thing) if inspect.isclass(thing) else ():
            missing[f"{name}.{member}"] = problems(f"{name}.{member}", value, EVERYWHERE)
    return {name: lacking for name, lacking in missing.items() if lacking}


def main() -> int:
    """Print what is missing; return 1 if there is anything."""
    missing = check_all()
    for name, lacking in missing.items():
        print(f"{name}\n  " + "\n  ".join(lacking))
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
