"""Charts in files: SVG, PDF, PNG, HTML and JSON."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.io.files import as_path
from holdfast.plots.embed import PageTheme, page, vegalite_version
from holdfast.plots.text import clean_text, drawable_spec
from holdfast.plots.theme import import_optional, themed

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart

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
    spec = drawable_spec(_with_theme(chart, theme).to_dict())
    path.write_bytes(_converted(spec, ending, scale))
    return path


def _with_theme(chart: Any, theme: Any) -> Any:
    return chart if theme is None else themed(chart, theme)


def _converted(spec: dict[str, Any], ending: str, scale: float) -> bytes:
    if ending == ".json":
        return json.dumps(spec, indent=1, ensure_ascii=True).encode()
    convert = import_optional("vl_convert")
    options: dict[str, Any] = {"vl_version": vegalite_version(), "allowed_base_urls": []}
    if ending == ".png":
        return convert.vegalite_to_png(spec, scale=scale, **options)
    if ending == ".pdf":
        return convert.vegalite_to_pdf(spec, **options)
    return str(convert.vegalite_to_svg(spec, **options)).encode()


def chart_title(chart: "AnyChart") -> str:
    """Return the finding, as the title of a page."""
    text = getattr(getattr(chart, "title", None), "text", None)
    return clean_text(" ".join(text)) if isinstance(text, list) else "holdfast"
