"""The OpenAPI description of everything under ``/api/v1``, made from the declared routes."""

import re
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any, get_args, get_origin, get_type_hints

from holdfast import __version__
from holdfast.serialization import json_schema
from holdfast.web.routing import API, ErrorPage, Route, Routes, required_fields

PLACE = "#/components/schemas/"


def describe_routes(routes: Routes) -> Routes:
    """Return the route that describes others."""
    own = Routes()

    @own.data("/openapi.json")
    async def describe(site: Any) -> dict[str, Any]:
        """Describe all routes, in the words of OpenAPI 3.1."""
        return describe_api(Routes([*routes, *own]))

    return own


def describe_api(routes: Routes) -> dict[str, Any]:
    """Return the OpenAPI description of routes."""
    schemas: dict[str, Any] = {"Error": _error_schema()}
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(API + route.path, {})[route.method.lower()] = _describe(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "holdfast", "version": __version__, "description": "The page of holdfast, for programs."},
        "security": [{"token": []}],
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def _describe(route: Route, schemas: dict[str, Any]) -> dict[str, Any]:
    hints = route.hints
    described: dict[str, Any] = {
        "operationId": route.answer.__name__,
        "summary": route.summary,
        "parameters": [*_path_parameters(route), *_query_parameters(hints.get("query"), schemas)],
        "responses": {
            str(route.status): {"description": "The answer.", "content": _content(hints.get("return"), schemas)},
            "default": {
                "description": "Why it was not answered, in one sentence.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
            },
        },
    }
    if "body" in hints:
        schema = _schema(hints["body"], schemas, given=True)
        described["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    elif route.method == "PUT":
        content = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
        described["requestBody"] = {"required": True, "content": content}
    return described


def _path_parameters(route: Route) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in re.findall(r"{(\w+)}", route.path)
    ]


def _query_parameters(kind: Any, schemas: dict[str, Any]) -> list[dict[str, Any]]:
    if kind is None:
        return []
    described = _schema(kind, schemas, given=True, inline=True)
    needed = required_fields(kind)
    return [
        {
            "name": name, "in": "query", "required": name in needed, "description": facts.get("description", ""),
            "schema": {key: value for key, value in facts.items() if key != "description"},
        }
        for name, facts in described["properties"].items()
    ]  # fmt: skip


def _content(kind: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    if isinstance(kind, type) and is_dataclass(kind):
        return {"application/json": {"schema": _schema(kind, schemas)}}
    if get_origin(kind) is dict:
        return {"application/json": {"schema": {"type": "object"}}}
    return {"*/*": {}}


def _schema(kind: Any, schemas: dict[str, Any], *, given: bool = False, inline: bool = False) -> dict[str, Any]:
    """Put the schema of a record among the others and return a reference to it, or the schema itself.

    What is given may leave out fields that have a default, so the same record is described apart for that.
    """
    described = json_schema(kind, title=kind.__name__)
    parts = described.pop("$defs", {})
    del described["$schema"], described["title"]
    for name, record in _find_records(kind).items():
        part = described if record is kind else parts[name]
        if given:
            part["required"] = required_fields(record)
        if isinstance(version := getattr(record, "schema", None), str):  # documents that are files of their own, too
            part["properties"] = {"schema": {"const": version}, **part["properties"]}
            part["required"] = ["schema", *part["required"]]
    prefix = "Given" if given else ""
    _add(schemas, parts if inline else {**parts, kind.__name__: described}, prefix)
    return _with_references(described, prefix) if inline else {"$ref": f"{PLACE}{prefix}{kind.__name__}"}


def _find_records(kind: Any) -> dict[str, Any]:
    """A record and all that are inside it, by name."""
    found: dict[str, Any] = {}
    waiting = [kind]
    while waiting:
        part = waiting.pop()
        if isinstance(part, type) and is_dataclass(part) and part.__name__ not in found:
            found[part.__name__] = part
            waiting += get_type_hints(part).values()
        waiting += get_args(part)
    return found


def _add(schemas: dict[str, Any], parts: Mapping[str, Any], prefix: str) -> None:
    """Put schemas among the others; two records of one name would be described as one."""
    for name, part in parts.items():
        described = _with_references(part, prefix)
        if schemas.setdefault(prefix + name, described) != described:
            raise ValueError(f"Expected one record named {name}, got two that differ; give one of them another name.")


def _with_references(schema: Any, prefix: str) -> Any:
    """The same schema, with references as OpenAPI writes them."""
    if isinstance(schema, dict):
        return {
            key: value.replace("#/$defs/", PLACE + prefix) if key == "$ref" else _with_references(value, prefix)
            for key, value in schema.items()
        }
    return [_with_references(item, prefix) for item in schema] if isinstance(schema, list) else schema


def _error_schema() -> dict[str, Any]:
    sentence = get_type_hints(ErrorPage)["sentence"]
    assert sentence is str
    return {
        "type": "object",
        "properties": {
            "error": {"type": "string", "description": "What was expected, what came, and what to do."},
            "question": {"type": ["object", "null"], "description": "A choice that would help, if there is one."},
        },
        "required": ["error"],
    }
