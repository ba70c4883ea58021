"""Addresses of pages, with what was asked for beside the usual."""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, TypeAlias
from urllib.parse import quote, urlencode

Pairs: TypeAlias = tuple[tuple[str, str], ...]


def list_changes(query: Any, kind: type[Any] | None = None) -> Pairs:
    """Return the fields of a query that differ from their defaults, as they stand in an address.

    One of several values is a pair of its own, and so is each entry of a mapping. ``kind`` is the class whose fields
    count, if not all do.
    """
    changed = [(field.name, getattr(query, field.name)) for field in fields(kind or query) if _differs(query, field)]
    return tuple(pair for name, value in changed for pair in _write(name, value))


def _differs(query: Any, field: "Field[Any]") -> bool:
    usual = field.default if field.default_factory is MISSING else field.default_factory()
    return bool(getattr(query, field.name) != usual)


def _write(name: str, value: Any) -> list[tuple[str, str]]:
    if isinstance(value, Mapping):
        return [(str(key), str(text)) for key, text in value.items()]
    values = value if isinstance(value, tuple) else (value,)
    return [(name, str(item).lower() if isinstance(item, bool) else str(item)) for item in values]


def make_address(path: str, pairs: Iterable[tuple[str, str]] = ()) -> str:
    """Return a path with what is asked of it."""
    asked = urlencode(list(pairs))
    return f"{path}?{asked}" if asked else path


def study_address(study: str, part: str, pairs: Iterable[tuple[str, str]] = ()) -> str:
    """Return the address of a part of a study, such as ``features/3``."""
    return make_address(f"/studies/{quote(study, safe='')}/{part}", pairs)
