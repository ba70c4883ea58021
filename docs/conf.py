"""Sphinx configuration; tables of measures and pages of the reference are made from the code."""

import re
import sys
from pathlib import Path

import holdfast

project = "holdfast"
author = "The holdfast developers"
version = release = holdfast.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax", "numpydoc"]
extensions += ["sphinx_gallery.gen_gallery"]
exclude_patterns = ["_build", "_generated/*.md", "tables/*.md", "gallery"]
html_theme = "pydata_sphinx_theme"
html_title = "holdfast"
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["holdfast.css"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
numpydoc_show_class_members = False
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))  # for gallery_pictures
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "_generated/gallery",
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("gallery_pictures",),
    "reset_modules": (),
    "abort_on_example_error": True,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "min_reported_time": 1000,
    "write_computation_times": False,
}
with_sidebar = ["sidebar-nav-bs"]
html_sidebars = {page.stem: [] for page in FOLDER.glob("*.md")} | {"search": [], "genindex": [], "py-modindex": []}
html_sidebars |= {"api": with_sidebar, "_generated/api/*": with_sidebar}


def reference_files(names: list[str]) -> dict[str, str]:
    """File names of the reference; classes named like a function get another, as some disks ignore case."""
    lower = {name for name in names if name == name.lower()}
    return {name: f"{name}-class" for name in names if name != name.lower() and name.lower() in lower}


def remove_stale(folder: Path, current: set[str]) -> None:
    """Remove pages of an earlier build whose objects are gone."""
    for page in folder.glob("*.rst"):
        if page.stem not in current:
            page.unlink()


api_names = re.findall(r"^   ([\w.]+)$", (FOLDER / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
api_names = [f"holdfast.{name}" for name in api_names]
autosummary_filename_map = reference_files(api_names)
remove_stale(FOLDER / "_generated" / "api", {autosummary_filename_map.get(name, name) for name in api_names})


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


write_tables(FOLDER / "_generated")
