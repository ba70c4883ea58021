"""Pages of what was reproduced: one per paper, and one of all verdicts, in Markdown."""

import inspect
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path

from holdfast.references import REFERENCES
from reproductions.experiments import PAPERS, Experiment, load_experiments
from reproductions.kept import KeptOutcome, KeptTable
from reproductions.records import Check, Verdict

WORDS: dict[Verdict, str] = {"reproduced": "✓ reproduced", "not reproduced": "✗ not reproduced", "open": "? open"}
QUICK = (
    "These pages are of a quick run, which does a small part of each experiment: their verdicts say little. "
    "`python -m reproductions all` does the whole."
)
TIMES = (
    "All random numbers come from fixed seeds, so that the same command gives the same numbers. Times are of the last "
    "run, which does not fit anew what studies had kept."
)
INTRODUCTION = (
    "Every table and figure of the five papers behind holdfast that data allow, done again with holdfast: the "
    "published numbers beside ours, a verdict on each claim by a rule that stands beside it, and the pictures. Rules "
    "were fixed before the runs that they judge, but for those of which the page of a paper says otherwise. A claim is "
    "*open* where our own uncertainty leaves room for both answers. A miss is told as a miss, with the likely reason; "
    "nothing was tuned to hit a number. `python -m reproductions --list` lists the experiments, `python -m "
    "reproductions NAME` does one again, `make reproduce` all of them."
)


def write_pages(outcomes: Sequence[KeptOutcome], folder: Path, out: Path) -> None:
    """Write the pages of these outcomes, whose pictures lie in the folders of their experiments."""
    known = load_experiments()
    by_paper = {paper: [item for item in outcomes if known[item.experiment].paper == paper] for paper in PAPERS}
    by_paper = {paper: found for paper, found in by_paper.items() if found}
    for paper, found in by_paper.items():
        (out / f"{paper}.md").write_text(paper_page(paper, found), encoding="utf-8")
        for outcome in found:
            for picture in outcome.pictures:
                drawn = (folder / outcome.experiment / picture.file).read_text(encoding="utf-8")
                (out / picture.file).write_text(slim_svg(drawn), encoding="utf-8")
    (out / "index.md").write_text(index_page(by_paper), encoding="utf-8")


def slim_svg(drawn: str) -> str:
    """Return a picture without a description of each of its marks, and with coordinates to a tenth of a point."""
    plain = re.sub(r' (?:aria-[a-z]+|role)="[^"]*"', "", drawn)
    return re.sub(r'(?<= d=")[^"]*', lambda path: re.sub(r"\d+\.\d+", _tenths, path[0]), plain)


def _tenths(number: re.Match[str]) -> str:
    return f"{float(number[0]):.1f}".removesuffix(".0")


def paper_page(paper: str, outcomes: Sequence[KeptOutcome]) -> str:
    """Return the page of a paper."""
    publication = REFERENCES[paper]
    known = load_experiments()
    parts = [
        f"# {publication.short}",
        f"{publication.text}" + (f" <{publication.link}>" if publication.link else ""),
        *([QUICK] if outcomes[0].quick else []),
        f"**{summarize_verdicts(check for outcome in outcomes for check in outcome.checks)}**",
        _limits(paper),
        *(part for outcome in outcomes for part in _sections(known[outcome.experiment], outcome)),
        "## Where, and how long",
        TIMES,
        "\n".join(f"- {_took(outcome)}" for outcome in outcomes),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def index_page(by_paper: dict[str, list[KeptOutcome]]) -> str:
    """Return the page of all verdicts."""
    known = load_experiments()
    checks = [check for found in by_paper.values() for outcome in found for check in outcome.checks]
    rows = [
        (f"[{REFERENCES[paper].short}]({paper}.md)", *_counts(check for outcome in found for check in outcome.checks))
        for paper, found in by_paper.items()
    ]
    claims = [
        (
            f"[{_short(paper)}, {known[outcome.experiment].shows}]({paper}.md#{_anchor(known[outcome.experiment])})",
            check.claim, check.published or "–", check.ours, WORDS[check.verdict],
        )
        for paper, found in by_paper.items() for outcome in found for check in outcome.checks
    ]  # fmt: skip
    quick = any(outcome.quick for found in by_paper.values() for outcome in found)
    parts = [
        "# The five papers, reproduced",
        INTRODUCTION,
        QUICK if quick else "",
        f"**{summarize_verdicts(checks)}**",
        _table(("paper", "reproduced", "not reproduced", "open"), rows),
        "## All claims",
        _table(("where", "claim", "published", "ours", "verdict"), claims),
        "```{toctree}\n:hidden:\n\n" + "\n".join(by_paper) + "\n```",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def summarize_verdicts(checks: Iterable[Check]) -> str:
    """Return how many claims were reproduced, in words."""
    counted = Counter(check.verdict for check in checks)
    return (
        f"{counted['reproduced']} of {counted.total()} claims reproduced, {counted['not reproduced']} not, "
        f"{counted['open']} open."
    )


def _counts(checks: Iterable[Check]) -> list[str]:
    counted = Counter(check.verdict for check in checks)
    return [str(counted[verdict]) for verdict in WORDS]


def _short(paper: str) -> str:
    """The first author and the year."""
    return f"{paper[:-4].capitalize()} {paper[-4:]}"


def _heading(experiment: Experiment) -> str:
    return f"{experiment.shows}: {experiment.title}"


def _anchor(experiment: Experiment) -> str:
    """The anchor that GitHub and Sphinx give its heading."""
    return re.sub(r"[^\w\- ]", "", _heading(experiment).lower()).replace(" ", "-")


def _limits(paper: str) -> str:
    """What the module of a paper says beside its first line: what cannot be done again, and why."""
    text = inspect.getdoc(import_module(f"reproductions.{paper}")) or ""
    return text.partition("\n")[2].strip().replace("``", "`")


def _sections(experiment: Experiment, outcome: KeptOutcome) -> list[str]:
    """The parts of a page about one experiment."""
    claims = [
        (check.claim, check.where, check.published or "–", check.ours, check.rule, WORDS[check.verdict])
        for check in outcome.checks
    ]
    reasons = [
        f"- *{WORDS[check.verdict]}*: {check.claim.rstrip('.')}. {check.reason}"
        for check in outcome.checks
        if check.reason
    ]
    left_out = f"Not on this machine, and left out: {', '.join(outcome.left_out)}." if outcome.left_out else ""
    return [
        f"## {_heading(experiment)}",
        outcome.protocol,
        left_out,
        _table(("claim", "where", "published", "ours", "rule", "verdict"), claims),
        "\n".join(reasons),
        *(_titled(table) for table in outcome.tables),
        *(f"![{_line(picture.finding)}]({picture.file})\n\n*{picture.caption}*" for picture in outcome.pictures),
        *(["### Beyond the paper", *outcome.beyond] if outcome.beyond else []),
    ]


def _titled(table: KeptTable) -> str:
    return f"**{table.title}**\n\n{_table(table.columns, table.rows)}"


def _took(outcome: KeptOutcome) -> str:
    minutes = outcome.seconds / 60
    time = f"{minutes:.0f} minutes" if minutes >= 2 else f"{outcome.seconds:.0f} seconds"
    command = f"python -m reproductions {outcome.experiment}{' --quick' if outcome.quick else ''}"
    return f"`{command}`: {time}; {outcome.machine}"


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; without rows nothing."""
    lines = [columns, ["---"] * len(columns), *rows]
    if len(lines) == 2:
        return ""
    return "\n".join(f"| {' | '.join(map(_line, line))} |" for line in lines)


def _line(text: str) -> str:
    """A text as a cell of a table: one line, no bars."""
    return " ".join(text.split()).replace("|", "\\|")
