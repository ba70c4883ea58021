"""Types of parameters as pages ask for them: what can be typed, and which values there are to choose from."""

from collections.abc import Callable
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from holdfast.declared import REQUIRED
from holdfast.serialization import to_plain

Kind: TypeAlias = Literal["whole number", "number", "choice", "word"]
NONE = "none"
"""The text that stands for no value, where a parameter may have none."""


def read_types(make: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of what a function or a class takes; none where annotations cannot be read, as of a plug-in."""
    try:
        return get_type_hints(make.__init__ if isinstance(make, type) else make)  # type: ignore[misc]
    except Exception:  # annotations may name anything
        return {}


def kind_of(type_: Any, default: Any = REQUIRED) -> Kind | None:
    """Return what can be typed for a parameter, by its type, or by its default where the type says nothing.

    None is returned for a type that nothing typed can be of, such as a function.
    """
    if list_values(type_):
        return "choice"
    types, _ = _without_none(type_)
    if get_origin(type_) is tuple:
        types = [part for part in get_args(type_) if part is not Ellipsis]
    example = default[0] if isinstance(default, tuple) and default else default
    if float in types or isinstance(example, float):
        return "number"
    if int in types or (isinstance(example, int) and not isinstance(example, bool)):
        return "number" if isinstance(default, tuple) else "whole number"
    return "word" if str in types or isinstance(example, str) else None


def list_values(type_: Any) -> dict[str, Any]:
    """Return the values that a parameter of a type can have, by their texts; none if there are too many to list."""
    types, may_be_none = _without_none(type_)
    if len(types) != 1:
        return {}
    values = (True, False) if types[0] is bool else get_args(types[0]) if get_origin(types[0]) is Literal else ()
    return {as_typed(value): value for value in (*values, *((None,) if may_be_none and values else ()))}


def as_typed(value: Any) -> str:
    """Return a value as a person would type it; an empty text where one has to be given."""
    if value is REQUIRED:
        return ""
    plain = to_plain(value)
    if isinstance(plain, list):
        return " ".join(map(as_typed, plain))
    return NONE if plain is None else str(plain).lower() if isinstance(plain, bool) else str(plain)


def _without_none(type_: Any) -> tuple[list[Any], bool]:
    """Return the types that are joined in one, without None, and whether None is one of them."""
    if get_origin(type_) not in (Union, UnionType):
        return [type_], False
    return [other for other in get_args(type_) if other is not NoneType], NoneType in get_args(type_)
