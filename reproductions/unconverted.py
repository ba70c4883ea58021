"""Claims judged by the rules of earlier pages, for papers whose experiments do not yet give evidence and rule.

Each function makes a :class:`~reproductions.records.Claim` whose evidence has no interval but for orders. To convert
an experiment, replace its calls; the module goes when none is left.
"""

import math
import re

from reproductions.records import Claim, Evidence, Kind, Rule

NOT_VARIED = "not varied yet"
ERRORS = 3
"""Standard errors of a simulation that a number of ours may be off."""


def number(
    claim: str,
    where: str,
    *,
    published: float,
    ours: float,
    tolerance: float,
    because: str,
    error: float = 0.0,
    digits: int = 2,
    if_missed: str = "",
    kind: Kind = "empirical",
) -> Claim:
    """Judge a printed number: ours may be off by the tolerance, and by three standard errors of our simulation."""
    reach = tolerance + ERRORS * error
    off = f" and {ERRORS} standard errors of ours ({error:.{digits + 1}f} each)" if error else ""
    rule = Rule(
        text=f"within {tolerance:g}{off}: {because}", low=published - reach, high=published + reach,
        base_low=published, base_high=published,
    )  # fmt: skip
    evidence = Evidence(value=float(ours), low=float(ours), high=float(ours), varied=NOT_VARIED, digits=digits)
    return make_claim(claim, where, f"{published:.{digits}f}", evidence, rule, if_missed, kind)


def order(
    claim: str,
    where: str,
    *,
    difference: float,
    low: float,
    high: float,
    published: str = "",
    digits: int = 2,
    if_missed: str = "",
    kind: Kind = "empirical",
) -> Claim:
    """Judge whether something is larger than something else, by the interval of the difference."""
    evidence = Evidence(
        value=float(difference), low=float(low), high=float(high), varied="", digits=digits,
        reason="undefined" if math.isnan(difference) else "",
    )  # fmt: skip
    return make_claim(claim, where, published, evidence, Rule.above(0), if_missed, kind)


def fact(
    claim: str,
    where: str,
    *,
    holds: bool,
    rule: str,
    ours: str,
    published: str = "",
    if_missed: str = "",
    kind: Kind = "empirical",
) -> Claim:
    """Judge by yes or no, which leaves nothing open."""
    value = float(holds)
    evidence = Evidence(value=value, low=value, high=value, varied=NOT_VARIED, shown=ours)
    return make_claim(claim, where, published, evidence, Rule.same(rule), if_missed, kind)


def make_claim(claim: str, where: str, printed: str, evidence: Evidence, rule: Rule, reason: str, kind: Kind) -> Claim:
    """Make a claim about the first table or figure that ``where`` names."""
    named = re.search(r"(Table|Figure)s? (\d+)", where)
    return Claim(
        claim=claim, kind=kind, exhibit=f"{named[1]} {named[2]}" if named else "", where=where, printed=printed,
        evidence=evidence, rule=rule, reason=reason,
    )  # fmt: skip
