"""Pages in Markdown: one of all tables and figures, and one for each paper."""

import inspect
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path

from holdfast.references import REFERENCES
from reproductions.exhibits import Row, make_row, read_exhibits
from reproductions.experiments import PAPERS, Experiment, load_experiments
from reproductions.records import KINDS, WORDS, Claim, Kind, count_verdicts, join_counts
from reproductions.stored import StoredOutcome, format_rows

SIGNS: dict[str, str] = {"holds": "✓", "holds in part": "(✓)", "does not hold": "✗", "open": "?"}
TITLES: dict[Kind, str] = {
    "empirical": "Claims of the paper", "exact": "Exact checks", "beyond": "Beyond the paper"
}  # fmt: skip
INTRODUCTION = """\
The experiments of five papers on the stability of feature selection, repeated with holdfast. The first table has one
row for each of their tables and figures with results, and says whether it holds.

A claim is judged by one rule: our number has a 95 % interval over what could vary (resamples, data sets, seeds); the
claim *holds* if the whole interval meets the rule, *does not hold* if no part of it does, and is *open* otherwise;
where a paper leaves a choice open, it holds *in part* if it does for some of them. What the rule would say at half and
at twice its threshold stands next to it. It is judged over all seeds that were run, which are listed at the end of each
page: what a seed changes is open. Words mean the same in all papers ([the table
of words](#what-words-mean)). Three kinds of claims are counted apart: what the papers say of data and simulations;
exact checks of their formulas, theorems and worked examples; and what we did beyond the papers.

[How to redo one figure in ten lines](redo.md). `python -m reproductions --list` lists the experiments,
`python -m reproductions NAME` repeats one, `make reproduce` all of them."""


def write_pages(outcomes: Sequence[StoredOutcome], folder: Path, out: Path) -> None:
    """Write the pages of these outcomes, whose pictures lie in the folders of their experiments."""
    known = load_experiments()
    by_paper = {paper: [item for item in outcomes if known[item.experiment].paper == paper] for paper in PAPERS}
    by_paper = {paper: found for paper, found in by_paper.items() if found}
    for paper, of_paper in by_paper.items():
        (out / f"{paper}.md").write_text(paper_page(paper, of_paper), encoding="utf-8")
        for stale in out.glob(f"{paper}-*.svg"):
            stale.unlink()
        for outcome in of_paper:
            for picture in outcome.pictures:
                drawn = (folder / outcome.experiment / picture.file).read_text(encoding="utf-8")
                (out / picture.file).write_text(slim_svg(drawn), encoding="utf-8")
    (out / "index.md").write_text(index_page(by_paper), encoding="utf-8")


def slim_svg(drawn: str) -> str:
    """Return a picture without a description of each of its marks, and with coordinates to a tenth of a point."""
    plain = re.sub(r' (?:aria-[a-z]+|role)="[^"]*"', "", drawn)
    return re.sub(r'(?<= d=")[^"]*', lambda path: re.sub(r"\d+\.\d+", _round_to_tenths, path[0]), plain)


def _round_to_tenths(number: re.Match[str]) -> str:
    return f"{float(number[0]):.1f}".removesuffix(".0")


# All papers


def index_page(by_paper: dict[str, list[StoredOutcome]]) -> str:
    """Return the page of all tables and figures."""
    rows = [make_row(exhibit, by_paper.get(exhibit.paper, [])) for exhibit in read_exhibits()]
    claims = [claim for outcomes in by_paper.values() for outcome in outcomes for claim in outcome.claims]
    return _join(
        "# The five papers, reproduced",
        INTRODUCTION,
        f"**{summarize_rows(rows)} {count_verdicts(claims, 'empirical')}**",
        _row_table(rows),
        "## Three counts",
        "\n".join(f"- {sentence}" for kind in KINDS if (sentence := count_verdicts(claims, kind))),
        "The claims are on the pages of the papers: "
        + ", ".join(f"[{_short(paper)}]({paper}.md)" for paper in by_paper),
        "## What words mean",
        "Thresholds on the difference of two numbers, chosen before the full runs.",
        _word_table(),
        "```{toctree}\n:hidden:\n\n" + "\n".join([*by_paper, "redo"]) + "\n```",
    )


def summarize_rows(rows: Sequence[Row]) -> str:
    """Return how many tables and figures hold, in words."""
    return f"Of {len(rows)} tables and figures {join_counts(Counter(row.verdict for row in rows))}."


def _row_table(rows: Sequence[Row]) -> str:
    known = load_experiments()
    cells = []
    for row in rows:
        exhibit = row.exhibit
        name = f"{_short(exhibit.paper)}, {exhibit.name}"
        experiment = known.get(f"{exhibit.paper}-{exhibit.experiment}")
        if experiment and row.verdict != "not run":
            name = f"[{name}]({exhibit.paper}.md#{_anchor(experiment)})"
        ours = f"![{row.picture.finding}]({row.picture.file})" if row.picture else row.numbers
        cells.append((name, exhibit.shows, ours, _sign(row.verdict), row.sentence))
    return format_rows(("in the paper", "what it shows", "ours", "verdict", "why"), cells)


def _word_table() -> str:
    quantities = ("stability", "accuracy", "likelihood", "rank", "features")
    rows = [
        (f"{word}; {meaning['also']}", meaning["form"], *(f"{meaning['thresholds'].get(q, '–')}" for q in quantities))
        for word, meaning in WORDS.items()
    ]
    return format_rows(("word", "means", *quantities), rows)


# One paper


def paper_page(paper: str, outcomes: Sequence[StoredOutcome]) -> str:
    """Return the page of a paper."""
    publication, known = REFERENCES[paper], load_experiments()
    rows = [make_row(exhibit, outcomes) for exhibit in read_exhibits() if exhibit.paper == paper]
    claims = [claim for outcome in outcomes for claim in outcome.claims]
    findings = [finding for outcome in outcomes for finding in outcome.findings]
    return _join(
        f"# {publication.short}",
        f"{publication.text}" + (f" <{publication.link}>" if publication.link else ""),
        _introduce(paper),
        f"**{summarize_rows(rows)}** " + " ".join(count_verdicts(claims, kind) for kind in KINDS),
        _row_table(rows),
        *(part for outcome in outcomes for part in _sections(known[outcome.experiment], outcome)),
        *(["## What was found about the paper", *findings] if findings else []),
        "## Seeds, machine and time",
        "All random numbers follow from the seed. Times are of the last run, which reuses what studies had stored.",
        "\n".join(f"- {_describe_run(outcome)}" for outcome in outcomes),
    )


def _introduce(paper: str) -> str:
    """The docstring of a paper's module after its first line: introduction, readings, and what cannot be repeated."""
    text = inspect.getdoc(import_module(f"reproductions.{paper}")) or ""
    return text.partition("\n")[2].strip().replace("``", "`")


def _sections(experiment: Experiment, outcome: StoredOutcome) -> list[str]:
    """The parts of a page about one experiment: question, pictures, numbers, claims."""
    by_reason: dict[str, list[str]] = {}
    for claim in outcome.claims:
        reason = claim.evidence.reason or claim.reason
        if claim.verdict != "holds" and reason:
            by_reason.setdefault(reason, []).append(f"{claim.claim.rstrip('.')} ({claim.verdict})")
    left_out = f"Not on this machine, and left out: {', '.join(outcome.left_out)}." if outcome.left_out else ""
    return [
        f"## {_heading(experiment)}",
        experiment.question,
        *(f"![{picture.finding}]({picture.file})\n\n*{picture.caption}*" for picture in outcome.pictures),
        f"{outcome.protocol} {left_out}".strip(),
        *(part for kind in KINDS for part in _claim_table(outcome.claims, kind)),
        "\n".join(f"- {'; '.join(claims)}. {reason}" for reason, claims in by_reason.items()),
        *outcome.tables,
        *outcome.notes,
    ]


def _claim_table(claims: Iterable[Claim], kind: Kind) -> list[str]:
    rows = [
        (
            claim.claim, claim.location, claim.printed or "–", str(claim.evidence), claim.evidence.varied,
            claim.rule.text, _sign(claim.verdict), _compare_thresholds(claim),
        )
        for claim in claims if claim.kind == kind
    ]  # fmt: skip
    columns = ("claim", "where", "printed", "ours (95 %)", "over", "rule", "verdict", "at half, at twice")
    return [f"**{TITLES[kind]}**", format_rows(columns, rows)] if rows else []


def _compare_thresholds(claim: Claim) -> str:
    return ", ".join(SIGNS[verdict] for verdict in claim.other_verdicts or ()) or "–"


def _describe_run(outcome: StoredOutcome) -> str:
    minutes = outcome.seconds / 60
    time = f"{minutes:.0f} minutes" if minutes >= 2 else f"{outcome.seconds:.0f} seconds"
    options = "".join(f" --seed {seed}" for seed in outcome.seeds)
    seeds = "1 seed" if len(outcome.seeds) == 1 else f"{len(outcome.seeds)} seeds"
    return f"`python -m reproductions {outcome.experiment}{options}`: {seeds}, {time} a seed; {outcome.machine}"


# Parts


def _sign(verdict: str) -> str:
    return f"{SIGNS.get(verdict, '–')} {verdict}"


def _short(paper: str) -> str:
    """The first author and the year."""
    return f"{paper[:-4].capitalize()} {paper[-4:]}"


def _heading(experiment: Experiment) -> str:
    return f"{experiment.shows}: {experiment.title}"


def _anchor(experiment: Experiment) -> str:
    """The anchor that GitHub and Sphinx give its heading."""
    return re.sub(r"[^\w\- ]", "", _heading(experiment).lower()).replace(" ", "-")


def _join(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"
