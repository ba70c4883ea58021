"""Pictures of the gallery: the variable ``chart`` of a block of an example, as sphinx-gallery asks for it."""

from pathlib import Path
from typing import Any

from holdfast import plots


def save_chart(block: Any, variables: dict[str, Any], config: dict[str, Any]) -> str:
    """Save the chart that a block has made, if any, and return the text that shows it."""
    from sphinx_gallery.scrapers import figure_rst

    chart = variables["example_globals"].pop("chart", None)
    if chart is None:
        return ""
    path = Path(next(variables["image_path_iterator"]))
    plots.save(chart, path)
    return str(figure_rst([str(path)], config["src_dir"]))


def _get_sg_image_scraper() -> Any:
    return save_chart
