"""The tables and figures of the papers: what each shows, and its verdict from the claims about it."""

import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from reproductions.records import Claim, join_counts
from reproductions.stored import StoredOutcome, StoredPicture

RowVerdict = Literal["holds", "holds in part", "does not hold", "open", "data not to be had", "not run"]


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """A table or figure of a paper, as ``exhibits.toml`` lists it.

    Attributes
    ----------
    paper : str
        Key of the paper.
    name : str
        ``"Table 2"``.
    shows : str
        What it shows, in a few words.
    experiment : str
        The experiment that repeats it; empty if none does.
    missing : str
        Why nothing of it, or a part, can be repeated.
    """

    paper: str
    name: str
    shows: str
    experiment: str
    missing: str = ""


@dataclass(frozen=True, kw_only=True)
class Row:
    """What became of a table or figure.

    Attributes
    ----------
    exhibit : Exhibit
        Which.
    verdict : str
        From its empirical claims, or, where it has none, from its exact ones.
    sentence : str
        Why.
    picture : StoredPicture, optional
        Ours.
    numbers : str
        Up to three numbers of ours beside those in print.
    """

    exhibit: Exhibit
    verdict: RowVerdict
    sentence: str
    picture: StoredPicture | None = None
    numbers: str = ""


def read_exhibits() -> list[Exhibit]:
    """Return all tables and figures with results, in the order of the papers."""
    table = tomllib.loads((Path(__file__).parent / "exhibits.toml").read_text(encoding="utf-8"))
    return [Exhibit(paper=paper, name=name, **facts) for paper, rows in table.items() for name, facts in rows.items()]


def make_row(exhibit: Exhibit, outcomes: Sequence[StoredOutcome]) -> Row:
    """Return the row of an exhibit from the outcomes of its paper."""
    if exhibit.missing and not exhibit.experiment:
        return Row(exhibit=exhibit, verdict="data not to be had", sentence=f"{exhibit.missing.capitalize()}.")
    about = [claim for outcome in outcomes for claim in outcome.claims if claim.exhibit == exhibit.name]
    claims = [claim for claim in about if claim.kind == "empirical"] or [
        claim for claim in about if claim.kind == "exact"
    ]
    verdict = judge_row(claims)
    sentences = [outcome.sentences[exhibit.name] for outcome in outcomes if exhibit.name in outcome.sentences]
    sentence = sentences[0] if sentences else describe_claims(claims)
    left_out = f" Left out: {exhibit.missing}." if exhibit.missing else ""
    return Row(
        exhibit=exhibit,
        verdict=verdict,
        sentence=sentence + left_out,
        picture=next((item for outcome in outcomes for item in outcome.pictures if item.exhibit == exhibit.name), None),
        numbers="; ".join([f"{claim.evidence} against {claim.printed}" for claim in claims if claim.printed][:3]),
    )


def judge_row(claims: Iterable[Claim]) -> RowVerdict:
    """Return the verdict on a table or figure: *holds* if all its claims do, *in part* if some do."""
    verdicts = {claim.verdict for claim in claims}
    if not verdicts:
        return "not run"
    if verdicts == {"holds"}:
        return "holds"
    if verdicts & {"holds", "holds in part"}:
        return "holds in part"
    return "open" if "open" in verdicts else "does not hold"


def describe_claims(claims: Sequence[Claim]) -> str:
    """Return why a row has its verdict: the counts, and the claims that do not hold."""
    if not claims:
        return "No experiment was run."
    counts = Counter(claim.verdict for claim in claims)
    missed = [claim.claim.rstrip(".") for claim in claims if claim.verdict == "does not hold"]
    listed = f" Not: {'; '.join(missed[:2])}{' …' if len(missed) > 2 else ''}." if missed else ""
    return f"Of {len(claims)} {'claim' if len(claims) == 1 else 'claims'} {join_counts(counts)}.{listed}"
