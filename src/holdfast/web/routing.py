"""Routes, declared once: from a function with typed arguments follows what is read from a request and what is answered.

Names in the path are arguments of the function; ``query: SomeRecord`` and ``body: SomeRecord`` are read from the
address and from the JSON that was sent, every value checked against the type of its field; the record that is returned
becomes a page by a template; what is declared as data or as an action answers with JSON, under ``/api/v1``.
"""

import errno
import inspect
import json
import logging
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints
from urllib.parse import parse_qsl, quote, urlencode

import anyio.to_thread
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Match
from starlette.routing import Route as StarletteRoute

from holdfast.serialization import from_plain, to_plain
from holdfast.web.guard import UNEXPECTED, RefusedError, is_api
from holdfast.web.rendering import Page, render_page

if TYPE_CHECKING:
    from holdfast.web.site import Site

Draw: TypeAlias = Callable[[Any], Mapping[str, str]]
Parts: TypeAlias = Callable[[Any], Mapping[str, Any]]
Method: TypeAlias = Literal["GET", "POST", "PUT", "DELETE"]
API = "/api/v1"
MAX_JSON = 2_000_000
MAX_FORM = 20_000_000
FULL = "The disk is full; nothing was changed. Delete something, and try again."
logger = logging.getLogger("holdfast.web")


@dataclass(frozen=True, kw_only=True)
class Route:
    """One thing that the page offers.

    Attributes
    ----------
    method, path : str
        How it is asked for; names in braces are arguments.
    answer : callable
        Takes the site, the names in the path, and ``query``, ``body`` or ``request`` if it has such arguments.
    template : str or None
        The template of its page; None for what only programs and the page's script ask for.
    draw : callable or None
        Draws the figures of its page from the record, as HTML by their names, which the template finds as ``figures``.
    parts : callable or None
        Makes of the record what templates of the report need too, by their names.
    status : int
        Status of the answer.
    """

    method: Method
    path: str
    answer: Callable[..., Any]
    template: str | None = None
    draw: Draw | None = None
    parts: Parts | None = None
    status: int = 200

    @cached_property
    def hints(self) -> dict[str, Any]:
        """Types of the arguments and of what is returned."""
        return get_type_hints(self.answer)


class Routes(list[Route]):
    """Routes of one part of the page, collected by decorators."""

    def page(
        self, path: str, template: str, draw: Draw | None = None, parts: Parts | None = None
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declare a page."""
        return self._declare(method="GET", path=path, template=template, draw=draw, parts=parts)

    def form(self, path: str, template: str = "error.html.j2") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declare what answers a form that a page posts, whose fields are the argument ``form``."""
        return self._declare(method="POST", path=path, template=template)

    def data(self, path: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declare something to read, as JSON or as a file."""
        return self._declare(method="GET", path=path)

    def action(
        self, method: Method, path: str, status: int = 200
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declare something that changes the state of the server."""
        return self._declare(method=method, path=path, status=status)

    def _declare(self, **facts: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def declare(answer: Callable[..., Any]) -> Callable[..., Any]:
            self.append(Route(answer=answer, **facts))
            return answer

        return declare


def make_routes(site: "Site", routes: Routes) -> list[StarletteRoute]:
    """Return the routes as Starlette takes them: pages at their path, all else under :data:`API`."""
    return [
        StarletteRoute(API + route.path, _answer_json(site, route), methods=[route.method])
        if route.template is None
        else StarletteRoute(route.path, _answer_page(site, route), methods=[route.method])
        for route in routes
    ]


def _answer_json(site: "Site", route: Route) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        content = await _call(site, route, request)
        if isinstance(content, StreamingResponse) and request.method == "HEAD":
            return Response(status_code=content.status_code, media_type=content.media_type)
        return content if isinstance(content, Response) else send_json(content, route.status)

    return answer


def _answer_page(site: "Site", route: Route) -> Callable[[Request], Any]:
    template = str(route.template)

    async def answer(request: Request) -> Response:
        content = await _call(site, route, request)
        if isinstance(content, Response):
            return content
        return await anyio.to_thread.run_sync(
            lambda: render_page(template, content, draw=route.draw, parts=route.parts),
            limiter=site.threads,
            abandon_on_cancel=True,
        )

    return answer


async def _call(site: "Site", route: Route, request: Request) -> Any:
    """Call the function of a route with what the request gives."""
    arguments: dict[str, Any] = dict(request.path_params)
    hints = route.hints
    if "query" in hints:
        arguments["query"] = read_query(hints["query"], request.query_params.multi_items())
    if "body" in hints:
        arguments["body"] = _read_body(hints["body"], await read_json(request))
    if "form" in hints:
        content = await _read_content(request, "application/x-www-form-urlencoded", MAX_FORM)
        given = parse_qsl(content.decode(errors="replace"), keep_blank_values=True, max_num_fields=100)
        arguments["form"] = read_query(hints["form"], given)
    if "request" in hints:
        arguments["request"] = request
    if inspect.iscoroutinefunction(route.answer):
        return await route.answer(site, **arguments)
    return await anyio.to_thread.run_sync(
        lambda: route.answer(site, **arguments), limiter=site.threads, abandon_on_cancel=True
    )


def send_json(answer: Any, status: int = 200) -> Response:
    """Return an answer as JSON; characters that UTF-8 has not are written as JSON writes them."""
    return Response(json.dumps(to_plain(answer), allow_nan=False), status, media_type="application/json")


# What comes in


async def read_json(request: Request) -> Any:
    """Read the body of a request as JSON; only what says that it is JSON, as forms of other sites cannot say so."""
    content = await _read_content(request, "application/json", MAX_JSON)
    try:
        return json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise RefusedError(400, "Expected JSON in the body of the request, got something else.") from None


async def _read_content(request: Request, expected: str, most: int) -> bytes:
    """Read the body of a request that says it is what is expected."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind != expected:
        raise RefusedError(415, f"Expected {expected} as content-type, got {kind or 'none'!r}.")
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > most:
            raise RefusedError(413, f"Expected at most {most / 1e6:g} MB of {expected}, got more.")
    return bytes(content)


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is not JSON")


def _read_body(kind: Any, content: Any) -> Any:
    try:
        return from_plain(kind, content)
    except RecursionError:
        raise ValueError("Expected a few levels in the body of the request, got hundreds.") from None


def read_query(kind: type, given: list[tuple[str, str]]) -> Any:
    """Read a record from the part of an address after the question mark; an empty text stands for the default.

    A field of type ``Mapping[str, str]`` takes all names that are not those of fields, such as parameters of a rule.
    """
    hints = get_type_hints(kind)
    rest = next((name for name, hint in hints.items() if get_origin(hint) is Mapping), None)
    texts: dict[str, list[str]] = {}
    for name, text in given:
        if rest is None and name not in hints:
            raise ValueError(f"Expected only {', '.join(hints) or 'nothing'} in the address, got {name[:60]!r}.")
        if text:
            texts.setdefault(name, []).append(text)
    fields_given = {name: values for name, values in texts.items() if name in hints and name != rest}
    others = {name: _read_texts(str, name, values) for name, values in texts.items() if name not in fields_given}
    record = {name: _read_texts(hints[name], name, values) for name, values in fields_given.items()}
    return kind(**record, **({} if rest is None else {rest: others}))


def _read_texts(kind: Any, name: str, texts: list[str]) -> Any:
    if get_origin(kind) is tuple:
        return tuple(_read_text(get_args(kind)[0], name, text) for text in texts)
    if len(texts) > 1:
        raise ValueError(f"Expected {name} once in the address, got it {len(texts)} times.")
    return _read_text(kind, name, texts[0])


def _read_text(kind: Any, name: str, text: str) -> Any:
    if get_origin(kind) in (Union, UnionType):
        (kind,) = (other for other in get_args(kind) if other is not NoneType)
    if get_origin(kind) is Literal:
        if text not in get_args(kind):
            raise ValueError(f"Expected {name} to be one of {', '.join(map(str, get_args(kind)))}, got {text[:60]!r}.")
        return text
    if kind is bool:
        if text not in ("true", "false"):
            raise ValueError(f"Expected true or false for {name}, got {text[:60]!r}.")
        return text == "true"
    try:
        value = kind(text)
    except ValueError:
        words = {int: "a whole number", float: "a number"}
        raise ValueError(f"Expected {words[kind]} for {name}, got {text[:60]!r}.") from None
    if kind is float and not math.isfinite(value):
        raise ValueError(f"Expected a number for {name}, got {text[:60]!r}.")
    return value


# What goes wrong


def make_handlers(site: "Site") -> Mapping[Any, Any]:
    """Return what answers a request that failed: one sentence, as a page or as JSON, never a traceback."""
    from holdfast.web.worker import TaskError

    def answer(request: Request, status: int, sentence: str, question: Any = None) -> Response:
        sentence = site.folder.shown(sentence)
        if is_api(request.scope["path"]):
            return send_json({"error": sentence, "question": question}, status)
        return render_page("error.html.j2", Page(sentence=sentence), status)

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, RefusedError)
        return answer(request, error.status, error.sentence)

    async def invalid(request: Request, error: Exception) -> Response:
        return answer(request, 400, str(error), getattr(error, "question", None))

    async def missing(request: Request, error: Exception) -> Response:
        status = getattr(error, "status_code", 404)
        sentences = {404: "There is no such page.", 405: "This HTTP method is not allowed for this address."}
        response = answer(request, status, sentences.get(status, "This request cannot be answered."))
        if status == 405:
            response.headers["allow"] = ", ".join(sorted(_methods(request)))
        return response

    async def unexpected(request: Request, error: Exception) -> Response:
        if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
            return answer(request, 507, FULL)
        logger.error("A request failed: %s %s", request.method, request.scope["path"], exc_info=error)
        return answer(request, 500, UNEXPECTED)

    async def gone(request: Request, error: Exception) -> Response:
        return Response(status_code=499)

    return {
        RefusedError: refused, TaskError: invalid, ValueError: invalid, ClientDisconnect: gone, HTTPException: missing,
        OSError: unexpected, Exception: unexpected,
    }  # fmt: skip


def _methods(request: Request) -> set[str]:
    """Allowed HTTP methods."""
    matching = [route for route in request.app.routes if route.matches(request.scope)[0] != Match.NONE]
    return {method for route in matching for method in route.methods}


# Addresses: what differs from the defaults


Pairs: TypeAlias = tuple[tuple[str, str], ...]


def list_changes(query: Any, kind: type[Any] | None = None) -> Pairs:
    """Return the fields of a query that differ from their defaults, as they stand in an address.

    One of several values is a pair of its own, and so is each entry of a mapping. ``kind`` is the class whose fields
    count, if not all do.
    """
    changed: list[tuple[str, str]] = []
    for field in fields(kind or query):
        default = field.default if field.default_factory is MISSING else field.default_factory()
        if (value := getattr(query, field.name)) != default:
            changed += _write(field.name, value)
    return tuple(changed)


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
