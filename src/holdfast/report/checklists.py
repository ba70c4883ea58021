"""Checklists of reporting guidelines, filled in with what a study knows, as Markdown or Word."""

import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.io.files import as_path
from holdfast.report.rendering import make_environment
from holdfast.report.summary import Summary
from holdfast.text import clean_text, describe_interval, format_count, format_number, join_first, upper_first

CHECKLISTS: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("checklists.toml").read_text(encoding="utf-8")
)
"""Reporting guidelines by name: ``title``, ``about``, and ``items``: number, topic, and what may answer it."""
COLUMNS = {"item": 1.3, "topic": 7.0, "from the study": 12.5, "where": 4.2}
"""Columns of a checklist, with their widths in cm on a page in landscape."""
FOR_THE_AUTHORS = "For the authors."


class Checklist(NamedTuple):
    """What a checklist says: a title, sentences below it, and for each item the texts of ``COLUMNS``."""

    title: str
    sentences: tuple[str, ...]
    rows: tuple[tuple[str, str, str, str], ...]


def fill_in(summary: Summary, guideline: str) -> Checklist:
    """Return the checklist of a guideline, with empty texts where the study knows nothing."""
    if guideline not in CHECKLISTS:
        raise ValueError(f"Expected a guideline among {', '.join(CHECKLISTS)}, got {guideline!r}.")
    found, known = find_evidence(summary), CHECKLISTS[guideline]
    rows = []
    for number, topic, *key in known["items"]:
        evidence, where = found.get(key[0] if key else "", ("", ""))
        rows.append((number, topic, evidence, f"report, {where}" if evidence else ""))
    answered = sum(bool(evidence) for *_, evidence, _ in rows)
    counts = (
        f"Of {len(rows)} items, the study has evidence for {answered}, which the authors must complete with what it "
        "cannot know; the others are theirs."
    )
    about = f"{known['about']} Topics are in our words; the guideline is authoritative."
    return Checklist(f"{known['title']}: {summary.title}", (about, counts), tuple(rows))


def render_checklist(summary: Summary, guideline: str) -> str:
    """Fill in the checklist of a reporting guideline with what a study knows, as Markdown.

    Parameters
    ----------
    summary : Summary
        What a report says of the study.
    guideline : {"tripod-ai", "remark"}
        The guideline.

    Returns
    -------
    str
        A table of all items: what the study answers, with the part of the report where it stands; all others are the
        authors' own.

    Raises
    ------
    ValueError
        If there is no such guideline.

    See Also
    --------
    summarize : Makes the summary.
    write_checklist : Writes the checklist into a file, also for Word.
    """
    template = make_environment("md").get_template("checklist.md.j2")
    return template.render(
        checklist=fill_in(summary, guideline), columns=tuple(COLUMNS), for_the_authors=FOR_THE_AUTHORS
    )


def write_checklist(summary: Summary, path: str | Path, guideline: str) -> Path:
    """Write the checklist of a reporting guideline, filled in with what a study knows, for Word or as Markdown.

    Parameters
    ----------
    summary : Summary
        What a report says of the study.
    path : path
        File to write. Its ending decides: ``.docx`` for Word, ``.md`` for Markdown.
    guideline : {"tripod-ai", "remark"}
        The guideline.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ValueError
        If the file has another ending, or there is no such guideline.

    See Also
    --------
    summarize : Makes the summary.
    render_checklist : The same as text.
    """
    path = as_path(path)
    if path.suffix.lower() == ".docx":
        _write_word(fill_in(summary, guideline), path)
    elif path.suffix.lower() in (".md", ".markdown"):
        path.write_text(render_checklist(summary, guideline), encoding="utf-8")
    else:
        raise ValueError(f"Expected a file that ends in .docx or .md, got {path.name!r}.")
    return path


def _write_word(checklist: Checklist, path: Path) -> None:
    """Write a checklist as a Word document: a page in landscape, whose table repeats its head on every page."""
    try:
        import docx
    except ImportError:
        raise ImportError("Word files need python-docx: pip install 'holdfast[app]'") from None
    from docx.enum.section import WD_ORIENT
    from docx.oxml import OxmlElement
    from docx.shared import Cm, Pt

    document = docx.Document()
    properties, page = document.core_properties, document.sections[0]
    properties.title, properties.author, properties.comments = clean_text(checklist.title)[:255], "", ""
    properties.created = properties.modified = datetime.now(UTC)
    page.orientation, page.page_width, page.page_height = WD_ORIENT.LANDSCAPE, Cm(29.7), Cm(21)
    page.left_margin = page.right_margin = page.top_margin = page.bottom_margin = Cm(2)
    document.styles["Normal"].font.size = Pt(9)
    document.add_heading(clean_text(checklist.title))
    for sentence in checklist.sentences:
        document.add_paragraph(clean_text(sentence))
    table = document.add_table(0, len(COLUMNS), "Table Grid")
    table.autofit = False
    for column, width in zip(table.columns, COLUMNS.values(), strict=True):
        column.width = Cm(width)
    for item, topic, evidence, where in (tuple(COLUMNS), *checklist.rows):
        texts = item, topic, evidence or FOR_THE_AUTHORS, where
        for cell, text in zip(table.add_row().cells, texts, strict=True):
            cell.paragraphs[0].add_run(clean_text(text)).italic = text == FOR_THE_AUTHORS or None
    head = table.rows[0]
    head._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))  # repeated on every page
    for cell in head.cells:
        cell.paragraphs[0].runs[0].bold = True
    document.save(str(path))


def find_evidence(summary: Summary) -> dict[str, tuple[str, str]]:
    """What a study knows of the topics of reporting guidelines, each with the section of the report that says it."""
    facts, data, tradeoff = {fact.name: fact.value for fact in summary.method.facts}, summary.data, summary.tradeoff
    features, stability, test = summary.features, summary.stability, summary.information
    missing = [note for note in data.notes if "missing" in note.lower() or "imputed" in note.lower()]
    held = [feature.feature for feature in features.shown if feature.verdict == "holds"] if features else []
    name = "" if summary.candidate is None else summary.labels.candidate(summary.candidate)
    interval = describe_interval(stability.low, stability.high, summary.level)
    score_interval = describe_interval(tradeoff.score_low, tradeoff.score_high, summary.level)
    ran_by = f"{facts['Command']}; " if "Command" in facts else ""
    versions = ", ".join(f"{package} {number}" for package, number in summary.method.versions.items())
    covariates = facts.get("Covariates in every model", "")
    return {
        "objective": (
            "The development of a list of features, its stability under resampling, and its accuracy within these "
            "data; no evaluation on other data.", "Verdict"),
        "data": (f"{facts['Data']}.", "Method"),
        "preparation": (" ".join(data.notes) or "None: the data were used as they came.", "Method"),
        "outcome": (f"{facts['Target']}.", "Method"),
        "predictors": (f"{format_count(data.features, 'feature')} to choose from.", "Method"),
        "size": (f"{format_count(data.rows, 'sample')} of {format_count(data.features, 'feature')}; no size was "
            "computed.", "Method"),
        "missing": (" ".join(missing), "Method"),
        "partition": (f"{upper_first(facts['Resamples'])}; all selection and fitting inside of each.", "Method"),
        "analysis": (summary.method.paragraph, "Method"),
        "groups": ("" if data.n_groups is None else
            f"{format_count(data.n_groups, 'group')} of rows were never divided between training and testing.",
            "Method"),
        "measures": ("" if stability.measure is None else
            f"Stability: {stability.measure}. Scores: {facts['Scores']}.", "Method"),
        "classes": (", ".join(f"{label}: {count:,}" for label, count in data.classes), "Method"),
        "availability": (facts["Data availability"], "Method"),
        "code": (f"{ran_by}{versions}.", "For the analyst"),
        "features": (f"Features that hold: {join_first(held, 20)}. The study fits no final model." if held else "",
            "Features"),
        "performance": ("" if tradeoff.missing or test.untested else
            f"{name}: {summary.labels.score(tradeoff.metric)} {format_number(tradeoff.score, 3)} "
            f"({score_interval}), by resampling, not on other data.", "Trade-off"),
        "covariates": (f"{covariates} in every model." if covariates else "", "Method"),
        "stability": ("" if stability.measure is None else
            f"Stability of {name} over resamples: {format_number(stability.value)} ({interval}).", "Verdict"),
        "limitations": (" ".join([*data.warnings, *summary.verdict.cautions]), "Verdict"),
        "replication": ("" if summary.replication is None else summary.replication.sentence, "Verdict"),
    }  # fmt: skip
