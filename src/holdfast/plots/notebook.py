"""Charts in notebooks: drawn offline, with an image instead wherever scripts do not run.

A chart of holdfast is an Altair chart that shows itself (:func:`show_offline`); charts that users make keep Altair's
renderer. What a notebook receives is an image, the chart as a data block that is never run, and a short script. Vega
comes with the first chart of a notebook only and stays on the page. A chart that is shown before it, as in notebooks
that draw what is scrolled to, waits for it; one that never meets it, because scripts are blocked or the cell that had
it is gone, stays an image. If the cell with Vega is run again, its new output has it again.

``alt.renderers.enable("holdfast")`` shows every other Altair chart in the same way.
"""

import html
import json
import sys
import uuid
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from holdfast.plots.embed import CANVAS_FROM, FOLDER, bundle, has_own_theme, json_block, make_images
from holdfast.plots.text import drawable_spec
from holdfast.plots.theme import THEMES, alt
from holdfast.text import clean_text

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart

Chart = TypeVar("Chart")

RENDERER = "holdfast"
REPLACED = ("default", "html", RENDERER)
"""Renderers of Altair that charts of holdfast replace; any other was chosen by the user, and they use it."""

START = """
(() => {
  const charts = window.holdfastCharts = window.holdfastCharts || {waiting: []};
  charts.draw ? charts.draw(KEY) : charts.waiting.push(KEY);
})();
"""
"""Draws a chart, or puts it on the list of those that wait for Vega."""


class Cell(NamedTuple):
    """The cell of a notebook that is being run, and which time that is."""

    name: str
    execution: str


class VegaCarrier:
    """Remembers which cell of the notebook has Vega in its output."""

    def __init__(self) -> None:
        self.cell: Cell | None = None

    def is_due(self, cell: Cell | None) -> bool:
        """Return whether the chart that is being shown has to bring Vega along.

        The first one has; so has the first one of each new output of the same cell, which replaces the old output.
        Without a notebook, and in Colab, where every output is a page of its own, all have.
        """
        if cell is None or "google.colab" in sys.modules:
            return True
        due = self.cell is None or (cell.name == self.cell.name and cell.execution != self.cell.execution)
        self.cell = cell if due else self.cell
        return due


CARRIER = VegaCarrier()


def current_cell() -> Cell | None:
    """Return the cell that is being run; None outside of a notebook."""
    parent: dict[str, Any] = getattr(_shell(), "get_parent", dict)() or {}
    name = parent.get("metadata", {}).get("cellId") or parent.get("content", {}).get("code")
    return Cell(str(name), str(parent.get("header", {}).get("msg_id"))) if name else None


def _shell() -> Any:
    """Return IPython's shell, if there is one."""
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


# Charts that show themselves


class _ShowsOffline:
    """What is added to Altair's charts: a view in notebooks, which charts that are made of them keep."""

    def _repr_mimebundle_(self, *args: Any, **options: Any) -> Any:
        if alt.renderers.active not in REPLACED:
            return super()._repr_mimebundle_(*args, **options)  # type: ignore[misc]
        return view_chart(self)  # type: ignore[arg-type]

    def __add__(self, other: Any) -> Any:
        return show_offline(super().__add__(other))  # type: ignore[misc]

    def __or__(self, other: Any) -> Any:
        return show_offline(super().__or__(other))  # type: ignore[misc]

    def __and__(self, other: Any) -> Any:
        return show_offline(super().__and__(other))  # type: ignore[misc]

    def __reduce__(self) -> Any:
        plain = type(self).__bases__[1]
        return show_offline, (plain.from_dict(self.to_dict()),)  # type: ignore[attr-defined]


def show_offline(chart: Chart) -> Chart:
    """Make an Altair chart one that notebooks show without a network; it stays an Altair chart in all else."""
    _register()
    if not isinstance(chart, _ShowsOffline):
        plain: Any = type(chart)
        object.__setattr__(chart, "__class__", _offline_class(plain))
    return chart


@cache
def _register() -> None:
    """Make the renderer known to Altair, once: Altair looks through all installed packages for those there are."""
    alt.renderers.register(RENDERER, view_spec)


@cache
def _offline_class(kind: Any) -> type:
    return type(kind.__name__, (_ShowsOffline, kind), {"__doc__": kind.__doc__, "__module__": kind.__module__})


# What a notebook receives


def view_chart(chart: "AnyChart") -> dict[str, str]:
    """Return a chart as a notebook shows it, by MIME type."""
    spec = chart.to_dict()
    if has_own_theme(chart):
        return _view(spec, spec, "own")
    dark = spec.get("config", {}).get("background") == THEMES["dark"]["background"]
    bare = {name: part for name, part in spec.items() if name != "config"}
    return _view(bare, {**bare, "config": THEMES["dark" if dark else "light"]}, "dark" if dark else "auto")


def view_spec(spec: dict[str, Any], **_: Any) -> dict[str, str]:
    """Return any Vega-Lite chart as a notebook shows it, in its own colors: the renderer ``"holdfast"`` of Altair."""
    return _view(spec, spec, "own")


def _view(spec: dict[str, Any], pictured: dict[str, Any], theme: str) -> dict[str, str]:
    text = describe(spec)
    shell = _shell()
    if shell is not None and not hasattr(shell, "kernel"):  # a terminal, which shows no pictures
        return {"text/plain": text}
    try:
        png, image = make_images(drawable_spec(pictured))
    except ImportError as error:
        return {
            "text/plain": f"{text}\n{error}",
            "text/html": f"<p>{html.escape(text)}</p><p>{html.escape(str(error))}</p>",
        }
    key = f"holdfast-{uuid.uuid4().hex}"
    block = json_block(drawable_spec(spec), f"{key}-data")
    renderer = "canvas" if len(block) > CANVAS_FROM else "svg"
    vega = f"<script>{vega_script()}</script>" if CARRIER.is_due(current_cell()) else ""
    return {
        "text/plain": text,
        "image/png": png,
        "text/html": f'<div data-holdfast-chart="{key}" data-theme="{theme}" data-renderer="{renderer}">'
        f'<img alt="{html.escape(text)}" src="{image}" style="max-width:100%;height:auto">{block}</div>'
        f"{vega}<script>{START.replace('KEY', json.dumps(key))}</script>",
    }


def describe(spec: dict[str, Any]) -> str:
    """Return what a chart says in words: its description, or its title."""
    title = spec.get("title", "")
    lines = title.get("text", "") if isinstance(title, dict) else title
    words = spec.get("description") or (" ".join(map(str, lines)) if isinstance(lines, list) else lines)
    return clean_text(str(words)) or "A chart"


@cache
def vega_script() -> str:
    """Return the script that brings Vega into a page and draws all charts that wait for it."""
    themes = json.dumps(THEMES).replace("<", "\\u003c")
    before, after = FOLDER.joinpath("notebook.js").read_text(encoding="utf-8").split("// VEGA")
    return before + bundle() + after.replace("THEMES", themes)
