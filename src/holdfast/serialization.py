"""JSON in and out: how results become JSON, how typed records are read back, and the JSON Schema of a record.

An undefined number is ``null`` wherever holdfast writes JSON, because JSON has no other word for it.
"""

import inspect
import json
import math
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

Record = TypeVar("Record")
TYPES = {str: "string", int: "integer", bool: "boolean", float: "number", NoneType: "null"}
ATTRIBUTE = re.compile(r"^(\w[\w, ]*) : .*\n((?:[ ]{4}.*\n?)+)", re.MULTILINE)


# Writing


def to_plain(value: Any) -> Any:
    """Return a value as JSON can hold it: numbers, texts, lists and mappings; undefined and infinite numbers are None.

    Parameters
    ----------
    value : object
        Numbers, texts, arrays, frames, results, and lists and mappings of them; anything else becomes its text.

    Returns
    -------
    None, bool, int, float, str, list or dict

    Examples
    --------
    >>> import numpy as np
    >>> to_plain({"low": float("nan"), "sizes": np.array([3, 4])})
    {'low': None, 'sizes': [3, 4]}
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if hasattr(value, "iterrows"):  # a frame; pandas is not imported for it
        table = value if type(value.index).__name__ == "RangeIndex" else value.reset_index()
        return [to_plain(row) for row in table.to_dict(orient="records")]
    if hasattr(value, "tolist"):  # numbers, arrays and columns
        return to_plain(value.tolist())
    if hasattr(value, "to_dict"):
        return to_plain(value.to_dict())
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Iterable):
        return [to_plain(item) for item in value]
    return None if type(value).__name__ in ("NAType", "NaTType") else str(value)


def to_json(value: Any) -> str:
    """Return a result as JSON text that every reader takes; a list of plain values stands on one line.

    Examples
    --------
    >>> print(to_json({"low": float("nan"), "sizes": (3, 4)}))
    {
      "low": null,
      "sizes": [3, 4]
    }
    """
    return _format(to_plain(value), "\n")


def _format(value: Any, line_break: str) -> str:
    inner = line_break + "  "
    if isinstance(value, dict) and value:
        items = [f"{json.dumps(key)}: {_format(item, inner)}" for key, item in value.items()]
        return "{" + ",".join(inner + item for item in items) + line_break + "}"
    if isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
        return "[" + ",".join(inner + _format(item, inner) for item in value) + line_break + "]"
    return json.dumps(value, allow_nan=False)


# Reading


def from_plain(kind: type[Record], value: Any) -> Record:
    """Return the typed record that :func:`to_plain` turned into dictionaries and lists.

    Every value is checked against the type of its field, so that a record read from a file is what it says it is.

    Parameters
    ----------
    kind : type
        A dataclass, or any type that its fields have.
    value : dict, list, str, number or None
        What a JSON reader returned.
    """
    return read_plain(kind, value, kind.__name__)


def read_plain(kind: Any, value: Any, where: str) -> Any:
    """Return a value of this type, which may be a union with None or a type of tuples, from plain values."""
    if kind is Any:
        return value
    if isinstance(kind, type) and is_dataclass(kind):
        _expect(isinstance(value, dict), value, "an object", where)
        hints = get_type_hints(kind)
        needed = {field.name for field in fields(kind) if field.default is field.default_factory is MISSING}
        unknown, missing = sorted(set(value) - set(hints)), sorted(needed - set(value))
        if unknown or missing:
            problem = f"lacks {', '.join(missing)}" if missing else f"has unknown entries: {', '.join(unknown)}"
            raise ValueError(f"{where} {problem}.")
        return kind(**{name: read_plain(hints[name], item, f"{where}.{name}") for name, item in value.items()})
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):  # records have no other unions than with None
        (known,) = (argument for argument in arguments if argument is not NoneType)
        return None if value is None else read_plain(known, value, where)
    if origin is tuple:
        _expect(isinstance(value, list), value, "an array", where)
        kinds = (arguments[0],) * len(value) if arguments[-1] is Ellipsis else arguments
        _expect(len(kinds) == len(value), value, f"an array of {len(kinds)}", where)
        items = enumerate(zip(kinds, value, strict=True))
        return tuple(read_plain(kind, item, f"{where}[{index}]") for index, (kind, item) in items)
    if origin is Literal:
        return _expect(value in arguments, value, f"one of {', '.join(map(repr, arguments))}", where)
    if origin is not None:  # Mapping[str, …]
        _expect(isinstance(value, dict), value, "an object", where)
        return {key: read_plain(arguments[1], item, f"{where}.{key}") for key, item in value.items()}
    if kind is float:
        if value is None:
            return math.nan
        _expect(isinstance(value, (int, float)) and not isinstance(value, bool), value, "a number or null", where)
        if abs(value) > sys.float_info.max:
            raise ValueError(f"Expected a number at {where}, got one that is too large.")
        return float(value)
    return _expect(type(value) is kind, value, f"a JSON {TYPES[kind]}", where)


def _expect(right: bool, value: Any, expected: str, where: str) -> Any:
    if not right:
        raise ValueError(f"Expected {expected} at {where}, got {json.dumps(value, default=str)[:60]}.")
    return value


# Describing


def json_schema(kind: type, *, title: str, schema: str | None = None) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a dataclass, described by the docstrings of its records.

    Parameters
    ----------
    kind : type
        A dataclass whose fields have plain types, tuples, mappings, or other dataclasses.
    title : str
        Title of the schema.
    schema : str, optional
        Name and version that every document carries under the key ``schema``.
    """
    definitions: dict[str, Any] = {}
    described = _describe_record(kind, definitions)
    if schema is not None:
        described["properties"] = {"schema": {"const": schema}, **described["properties"]}
        described["required"] = ["schema", *described["required"]]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **described,
        "$defs": dict(sorted(definitions.items())),
    }


def _describe(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if kind is Any:
        return {}
    if isinstance(kind, type) and is_dataclass(kind):
        name = kind.__name__
        if name not in definitions:
            definitions[name] = {}  # so that a record inside itself ends here
            definitions[name] = _describe_record(kind, definitions)
        return {"$ref": f"#/$defs/{name}"}
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return {"anyOf": [_describe(argument, definitions) for argument in arguments]}
    if origin is tuple and arguments[-1] is Ellipsis:
        return {"type": "array", "items": _describe(arguments[0], definitions)}
    if origin is tuple:
        items = [_describe(argument, definitions) for argument in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is not None:
        return {"type": "object", "additionalProperties": _describe(arguments[1], definitions)}
    return {"type": ["number", "null"]} if kind is float else {"type": TYPES[kind]}


def _describe_record(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    hints, texts = get_type_hints(kind), _field_texts(kind)
    names = [field.name for field in fields(kind)]
    return {
        "type": "object",
        "description": (kind.__doc__ or "").strip().partition("\n")[0],
        "properties": {
            name: {**_describe(hints[name], definitions), **({"description": texts[name]} if name in texts else {})}
            for name in names
        },
        "required": names,
        "additionalProperties": False,
    }


def _field_texts(kind: Any) -> dict[str, str]:
    """What the sections *Attributes* of the docstrings of a record and of its bases say about each field."""
    sections = [
        inspect.cleandoc(base.__doc__ or "").partition("Attributes\n----------\n")[2] for base in reversed(kind.__mro__)
    ]
    return {
        name.strip(): " ".join(text.split()).replace("``", "")
        for section in sections
        for names, text in ATTRIBUTE.findall(section)
        for name in names.split(",")
    }
