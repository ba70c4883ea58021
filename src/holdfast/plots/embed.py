r"""Charts in web pages: drawn offline, under a policy that allows no other scripts than those of holdfast.

Names in a chart come from files and may hold anything. Altair's own export would run a name such as
``<script>…</script>``; here a chart is text inside a data block that the browser never runs, ``<`` is written
``\u003c``, and Vega evaluates its expressions with an interpreter instead of compiling them.

A page has any number of charts::

    body = "".join(figure(chart, key) for key, chart in charts.items())
    html = f'<head><meta charset="utf-8">{head()}</head><body>{body}{scripts()}</body>'
"""

import base64
import hashlib
import html
import json
import os
import struct
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from holdfast.io.files import as_path
from holdfast.plots.text import drawable_spec
from holdfast.plots.theme import FONT, THEMES, alt, import_optional, themed, unchecked
from holdfast.text import clean_text

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart

resource: Any = None  # Windows has no such limits
with suppress(ImportError):
    import resource


PageTheme: TypeAlias = Literal["light", "dark", "auto"]

FOLDER = Path(__file__).parent
STYLE = (
    FOLDER.joinpath("charts.css")
    .read_text(encoding="utf-8")
    .replace("LIGHT", THEMES["light"]["background"])
    .replace("DARK", THEMES["dark"]["background"])
    .replace("FONT", FONT)
)
"""Style of a page with charts; a report adds its own (see :func:`head`)."""

NARROW_BELOW = 620
"""Width in pixels below which its narrow form is drawn."""

LOADER = FOLDER.joinpath("charts.js").read_text(encoding="utf-8").replace("NARROW_BELOW", str(NARROW_BELOW))
"""Draws all charts of a page, in their narrow form where there is no room; other scripts find what it uses."""

CANVAS_FROM = 200_000
"""Bytes of a chart from which it is drawn as pixels, which is faster than thousands of shapes."""


def json_block(data: Any, key: str) -> str:
    """Return a data block that a script can read and that may hold any text."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    safe = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return f'<script type="application/json" id="{html.escape(key)}">{safe}</script>'


def figure(
    chart: "AnyChart",
    key: str,
    *,
    theme: PageTheme = "auto",
    narrow: "AnyChart | None" = None,
    columns: Mapping[str, str] | None = None,
) -> str:
    """Return one chart as HTML, for a page that has :func:`head` and :func:`scripts` once.

    Parameters
    ----------
    chart : altair chart
        Any chart whose data is inside it.
    key : str
        Identifier, unique on the page.
    theme : {"auto", "light", "dark"}
        ``auto`` follows the reader's system. A chart with a configuration of its own keeps it.
    narrow : altair chart, optional
        The same chart for narrow screens; data that both have are written once.
    columns : mapping from str to str, optional
        Which fields of the chart's data a reader may save, with their headings.
    """
    own = has_own_theme(chart)
    spec = _spec(chart, own)
    if narrow is not None:
        small = _spec(narrow, own)
        spec["datasets"] = spec.get("datasets", {}) | small.pop("datasets", {})
        spec.setdefault("usermeta", {})["narrow"] = small
    if columns is not None:
        spec.setdefault("usermeta", {})["columns"] = dict(columns)
    used = "own" if own else theme
    block = json_block(drawable_spec(spec), f"{key}-data")
    renderer = "canvas" if len(block) > CANVAS_FROM else "svg"
    name = html.escape(key)
    return (
        f'<figure class="holdfast" id="{name}"><div data-holdfast-chart="{name}-data" data-theme="{used}" '
        f'data-renderer="{renderer}"><noscript>This chart needs JavaScript.</noscript></div>'
        f"{block}</figure>"
    )


def draw_figure(
    key: str, draw: "Callable[..., AnyChart]", *data: Any, columns: Mapping[str, str] | None = None, **options: Any
) -> str:
    """Return a picture of holdfast as HTML, drawn twice: for wide and for narrow screens.

    Parameters
    ----------
    key : str
        Identifier, unique on the page.
    draw : callable
        Called as ``draw(*data, narrow=…, **options)``: a ``draw_*()`` of :mod:`holdfast.plots`.
    columns : mapping from str to str, optional
        Which fields of the data a reader may save, with their headings.
    """
    with unchecked():
        wide, narrow = (draw(*data, narrow=is_narrow, **options) for is_narrow in (False, True))
    return figure(wide, key, narrow=narrow, columns=columns)


def _spec(chart: "AnyChart", own_theme: bool) -> dict[str, Any]:
    spec: dict[str, Any] = chart.to_dict(validate=own_theme)  # without one it is a chart of holdfast, which tests check
    if not own_theme:
        spec.pop("config", None)
    return spec


def has_own_theme(chart: "AnyChart") -> bool:
    """Return whether a chart has a configuration other than the themes of holdfast."""
    return chart.config is not alt.Undefined and alt.Config.to_dict(chart.config) not in THEMES.values()


def head(style: str = STYLE, more_scripts: Iterable[str] = ()) -> str:
    """Return what the head of a page needs: the policy, with the hashes of all scripts that may run, and the style."""
    return f'<meta http-equiv="Content-Security-Policy" content="{policy(style, more_scripts)}"><style>{style}</style>'


def policy(style: str = STYLE, more_scripts: Iterable[str] = ()) -> str:
    """Return the Content-Security-Policy: nothing from outside, and only these scripts."""
    allowed = " ".join(_hash(script) for script in (bundle(), LOADER, *more_scripts))
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_hash(style)}; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


def scripts(more_scripts: Iterable[str] = ()) -> str:
    """Return what the end of a page needs, after all charts: the themes, Vega, the script that draws, and others."""
    loaded = "".join(f"<script>{script}</script>" for script in (bundle(), LOADER, *more_scripts))
    return f"{json_block(THEMES, 'holdfast-themes')}{loaded}"


def page(charts: "AnyChart | Mapping[str, AnyChart]", *, title: str = "holdfast", theme: PageTheme = "auto") -> str:
    """Return a whole page with one chart, or several below each other."""
    charts = charts if isinstance(charts, Mapping) else {title: charts}
    body = "".join(figure(chart, f"chart-{index}", theme=theme) for index, chart in enumerate(charts.values()))
    style = STYLE
    if theme != "auto":
        style = STYLE.split("@media")[0] + f"body {{ background: {THEMES[theme]['background']}; }}\n"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">{head(style)}'
        f"<title>{html.escape(title)}</title></head><body>{body}{scripts()}</body></html>\n"
    )


_bundle: list[str] = []
_bundle_lock = threading.Lock()


def bundle() -> str:
    """Return Vega, Vega-Lite and their embedding as one script that needs nothing else."""
    with _bundle_lock:
        if not _bundle:
            _bundle.append(_make_bundle())
        return _bundle[0]


def bundle_elsewhere() -> str:
    """Return the same, made by another process: making it takes seconds in which no other thread of a process runs."""
    with _bundle_lock:
        if not _bundle:
            command = f"import sys; from {__name__} import bundle; sys.stdout.buffer.write(bundle().encode())"
            made = subprocess.run(
                [sys.executable, "-c", command], env={**os.environ, "PYTHONSAFEPATH": "1"}, stdin=subprocess.DEVNULL,
                capture_output=True, check=False,
            )  # fmt: skip
            _bundle.append(_make_bundle() if made.returncode else made.stdout.decode())
        return _bundle[0]


def _make_bundle() -> str:
    text: str = converter().javascript_bundle(vl_version=vegalite_version())
    return text.replace("</script", "<\\/script").replace("<!--", "\\x3c!--").replace("\r", "")


def converter() -> Any:
    """Return the converter, or raise where the process may not have the memory for it.

    It reserves tens of gigabytes of addresses, and where it may not (``ulimit -v``, as on clusters), it ends the
    process without a word of Python. So it is tried in another process first.
    """
    convert = import_optional("vl_convert")
    limit = -1 if resource is None else resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != -1 and not can_draw_within(limit):  # -1 stands for no limit
        raise ValueError(
            f"Expected memory for drawing pictures, got a limit of {limit / 1e9:.1f} GB (ulimit -v), within which the "
            "program that draws them ends; raise the limit, or write a report without pictures (.md, .json)."
        )
    return convert


@cache
def can_draw_within(limit: int) -> bool:
    """Return whether the converter runs in another process that has the same limit of memory."""
    command = [sys.executable, "-c", "import vl_convert; vl_convert.vega_to_svg({'marks': []})"]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode >= 0


@cache
def vegalite_version() -> str | None:
    """Return the version of Vega-Lite that Altair writes, if it is installed; else None, for the newest."""
    written = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    return written if written in import_optional("vl_convert").get_vegalite_versions() else None


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


SVG_UP_TO, SCALE = 40_000, 2
"""Bytes of an SVG up to which it is the image of a chart, and pixels per point of a PNG."""
PNG_HEAD = 8


def make_images(spec: dict[str, Any]) -> tuple[str, str]:
    """Return a chart as PNG, in base 64, and as the address of an image: SVG, or PNG if that would be large."""
    convert, version = converter(), vegalite_version()
    png = compress_png(convert.vegalite_to_png(spec, scale=SCALE, vl_version=version, allowed_base_urls=[]))
    coded = base64.b64encode(png).decode()
    if len(json.dumps(spec)) <= CANVAS_FROM:
        svg = str(convert.vegalite_to_svg(spec, vl_version=version, allowed_base_urls=[])).encode()
        if len(svg) <= SVG_UP_TO:
            return coded, f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
    return coded, f"data:image/png;base64,{coded}"


def compress_png(png: bytes) -> bytes:
    """Return the same PNG, its pixels packed again: the converter packs them fast, which takes four times the bytes."""
    chunks, start = [], PNG_HEAD
    while start < len(png):
        (size,) = struct.unpack_from(">I", png, start)
        chunks.append((png[start + 4 : start + 8], png[start + 8 : start + 8 + size]))
        start += 12 + size
    pixels = zlib.decompress(b"".join(data for kind, data in chunks if kind == b"IDAT"))
    others = [chunk for chunk in chunks if chunk[0] != b"IDAT"]
    packed = [*others[:-1], (b"IDAT", zlib.compress(pixels, 7)), others[-1]]
    return png[:PNG_HEAD] + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in packed
    )


ENDINGS = (".svg", ".pdf", ".png", ".html", ".json")


def save(chart: "AnyChart", path: str | Path, *, theme: PageTheme | None = None, scale: float = 2) -> Path:
    """Save a chart as .svg, .pdf, .png, .html or .json, by the ending of the file; nothing is downloaded.

    Parameters
    ----------
    chart : altair chart
        Any chart that holds its data.
    path : path
        File to write.
    theme : {"light", "dark", "auto"}, optional
        By default the chart's own; in HTML ``auto``, which follows the reader's system.
    scale : float
        Pixels per point of a PNG: 2 suits screens, 4 print.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ValueError
        If the file has another ending, or the theme does not suit it.

    See Also
    --------
    themed : The same chart for a dark background.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from holdfast import plots
    >>> from holdfast.datasets import load_example
    >>> chart = plots.plot_selection_map(load_example().top(10))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plots.save(chart, pathlib.Path(folder) / "map.svg").read_text(encoding="utf-8")[:4]
    '<svg'
    """
    path = as_path(path)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(f"Expected a file that ends in {', '.join(ENDINGS)}, got {path.name!r}.")
    if theme not in (None, "light", "dark", "auto"):
        raise ValueError(f"Expected theme 'light', 'dark' or 'auto', got {theme!r}.")
    if ending == ".html":
        path.write_text(page(chart, title=chart_title(chart), theme=theme or "auto"), encoding="utf-8")
        return path
    if theme == "auto":
        raise ValueError(f"Expected theme 'light' or 'dark' for {ending}, got 'auto', which only a page can follow.")
    shown: Any = chart
    spec = drawable_spec((shown if theme is None else themed(shown, theme)).to_dict())
    if ending == ".json":
        path.write_text(json.dumps(spec, indent=1, ensure_ascii=True), encoding="utf-8", newline="")
        return path
    convert = getattr(converter(), f"vegalite_to_{ending[1:]}")
    options = {"scale": scale} if ending == ".png" else {}
    drawn = convert(spec, vl_version=vegalite_version(), allowed_base_urls=[], **options)
    path.write_bytes(drawn.encode() if isinstance(drawn, str) else drawn)
    return path


def chart_title(chart: "AnyChart") -> str:
    """Return the finding, as the title of a page."""
    text = getattr(getattr(chart, "title", None), "text", None)
    return clean_text(" ".join(text)) if isinstance(text, list) else "holdfast"
