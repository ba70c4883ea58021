"""Sphinx configuration; the tables of measures are written from the one table in the code."""

from pathlib import Path

import holdfast

project = "holdfast"
author = "The holdfast developers"
version = release = holdfast.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax", "numpydoc"]
exclude_patterns = ["_build"]
html_theme = "pydata_sphinx_theme"
html_title = "holdfast"
html_sidebars = {"**": []}
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
numpydoc_show_class_members = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"


def line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def header(*cells: str) -> str:
    return line(*cells) + "\n" + "|---" * len(cells) + "|"


def holds(measure: holdfast.Measure, name: str) -> str:
    now, printed = getattr(measure.properties, name), getattr(measure.published, name, None)
    differs = printed is not None and (printed == "yes") != (now == "yes")
    return "–" if now is None else f"**{now}** (in print: {printed})" if differs else now


def write_tables(folder: Path) -> None:
    """Write the list of measures and their properties as Markdown."""
    folder.mkdir(exist_ok=True)
    facts = ("kind", "range", "summary", "undefined", "reference")
    rows = [header("measure", "of", "range", "what it is", "undefined for", "reference")]
    for name, row in holdfast.MEASURES.to_frame().iterrows():
        rows.append(line(f"`{name}`", *(row[fact] for fact in facts)))
    (folder / "measures.md").write_text("\n".join(rows) + "\n", encoding="utf-8")
    names = list(vars(holdfast.MEASURES["nogueira"].properties))
    rows = [header("measure", *(name.replace("_", " ") for name in names))]
    for measure in holdfast.MEASURES.values():
        rows.append(line(f"`{measure.name}`", *(holds(measure, name) for name in names)))
    (folder / "properties.md").write_text("\n".join(rows) + "\n", encoding="utf-8")


write_tables(Path(__file__).parent / "_generated")
