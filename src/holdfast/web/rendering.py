"""Pages from records: the report's templates and components, and files that the browser caches."""

import hashlib
import importlib.metadata
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from holdfast import __version__
from holdfast.plots import embed
from holdfast.plots.theme import THEMES, import_optional
from holdfast.report.rendering import Glossary, make_environment, page_script, page_style
from holdfast.serialization import to_plain
from holdfast.study.memory import FEW_BYTES, Cache, IdentityKey
from holdfast.web.guard import RefusedError

STATIC = Path(__file__).parent / "static"
KINDS = {".css": "text/css", ".js": "text/javascript"}
BUNDLE = "vega.js"
FOREVER = {"cache-control": "private, max-age=31536000, immutable"}


class Page(SimpleNamespace):
    """What a template shows, by the names that it uses."""


def render_page(
    template: str,
    page: Any,
    status: int = 200,
    draw: Callable[[Any], Mapping[str, str]] | None = None,
    parts: Callable[[Any], Mapping[str, Any]] | None = None,
) -> Response:
    """Return a page: a record in its template, which finds it as ``page``, and what is drawn of it as ``figures``.

    ``parts`` makes of the record what templates of the report need too, by their names.
    """
    from markupsafe import Markup

    figures = {} if draw is None else {name: Markup(text) for name, text in draw(page).items()}
    environment = make_environment("html", "holdfast.web")
    text = environment.get_template(template).render(
        **({} if parts is None else parts(page)),
        page=page, figures=figures, plain=to_plain, address=static_address, glossary=Glossary(), version=__version__,
        themes=Markup(embed.json_block(THEMES, "holdfast-themes")),
    )  # fmt: skip
    return HTMLResponse(text.encode(errors="replace"), status)


@cache
def page_files() -> dict[str, tuple[str, bytes]]:
    """What pages load in addition to the chart bundle, by name: type and content."""
    texts = {
        "page.css": page_style() + "".join(path.read_text(encoding="utf-8") for path in sorted(STATIC.glob("*.css"))),
        "charts.js": embed.LOADER,
        "report.js": page_script(),
        **{path.name: path.read_text(encoding="utf-8") for path in sorted(STATIC.glob("*.js"))},
    }
    return {name: (KINDS[Path(name).suffix], text.encode()) for name, text in texts.items()}


def bundle() -> bytes:
    """The chart bundle; the first call takes seconds (see :func:`holdfast.web.app.create_app`)."""
    return embed.bundle_elsewhere().encode()


def warm() -> None:
    """Load what pages and their charts are made with."""
    environment = make_environment("html", "holdfast.web")
    for name in environment.list_templates(extensions=["j2"]):
        if name.endswith(".html.j2"):
            environment.get_template(name)
    page_files()
    import_optional("altair")
    bundle()


@cache
def _digest() -> str:
    """What the addresses of files change with; one for all, so that scripts find each other by relative addresses."""
    content = b"".join(content for _, content in page_files().values())
    return hashlib.sha256(content + importlib.metadata.version("vl-convert-python").encode()).hexdigest()[:12]


def static_address(name: str) -> str:
    """Return the address of a file that pages load."""
    return f"/static/{_digest()}/{name}"


async def send_static(request: Request) -> Response:
    """Answer with a file, which the browser then caches."""
    name = request.path_params["name"]
    if name not in (*page_files(), BUNDLE) or request.url.path != static_address(name):
        raise RefusedError(404, "There is no such file.")
    if name == BUNDLE:
        return Response(await anyio.to_thread.run_sync(bundle), media_type=KINDS[".js"], headers=FOREVER)
    kind, content = page_files()[name]
    return Response(content, media_type=kind, headers=FOREVER)


Thing = TypeVar("Thing")
Made = TypeVar("Made")


def cache_last(make: Callable[[Thing], Made], most: int = 8) -> Callable[[Thing], Made]:
    """Cache what a function made of the last few objects, by identity rather than equality."""
    memory = Cache(most * FEW_BYTES)
    return lambda thing: memory.get_or_compute(IdentityKey(thing), lambda: make(thing))
