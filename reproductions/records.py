"""What an experiment found: checks of published claims with their verdicts, tables, pictures, and what was learned."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pandas as pd

from holdfast.inference.intervals import check_level

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart

Verdict = Literal["reproduced", "not reproduced", "open"]
ERRORS = 3
"""Standard errors of a simulation that a number of ours may be off."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """A published claim, what we found, and whether that agrees by a rule that is stated with it.

    Make one with :meth:`number`, :meth:`order` or :meth:`fact`.

    Attributes
    ----------
    claim : str
        What the paper says, in a sentence.
    where : str
        Where it says so: ``"Table 2, page 5"``.
    published, ours : str
        The numbers, as printed and as found.
    rule : str
        When the claim counts as reproduced.
    verdict : {"reproduced", "not reproduced", "open"}
        What the rule says; open if our own uncertainty leaves room for both.
    reason : str
        For a claim that was not reproduced: what was tried, and the likely reason; else empty.
    """

    claim: str
    where: str
    published: str
    ours: str
    rule: str
    verdict: Verdict
    reason: str = ""

    @classmethod
    def number(
        cls,
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
    ) -> "Check":
        """Check a printed number: ours may be off by the tolerance, and by three standard errors of our simulation.

        Parameters
        ----------
        claim, where : str
            What the paper says, and where.
        published, ours : float
            The two numbers.
        tolerance : float
            How far off ours may be without any error of ours.
        because : str
            Why that far: ``"printed to two digits"``, ``"one data set was drawn there"``.
        error : float
            Standard error of ours; 0 if it is exact.
        digits : int
            How many to show.
        if_missed : str
            What was tried, and the likely reason, in case of a miss.

        Returns
        -------
        Check
            With its verdict; not reproduced if ours is undefined.
        """
        room = tolerance + ERRORS * error
        near = abs(ours - published) <= room + 1e-12
        off = f" and {ERRORS} standard errors of ours ({error:.{digits + 1}f} each)" if error else ""
        return cls(
            claim=claim, where=where, published=f"{published:.{digits}f}", ours=_shown(ours, digits),
            rule=f"within {tolerance:g}{off}: {because}", verdict="reproduced" if near else "not reproduced",
            reason="" if near else if_missed,
        )  # fmt: skip

    @classmethod
    def order(
        cls,
        claim: str,
        where: str,
        *,
        difference: float,
        low: float,
        high: float,
        level: float = 0.95,
        published: str = "",
        digits: int = 2,
        if_missed: str = "",
    ) -> "Check":
        """Check a claim that something is larger than something else, by the interval of the difference.

        Parameters
        ----------
        claim, where : str
            What the paper says, and where.
        difference, low, high : float
            How much larger we found it, and the interval of that.
        level : float
            Level of the interval.
        published : str
            The numbers that the paper gives, if it gives any.
        digits : int
            How many to show.
        if_missed : str
            What was tried, and the likely reason, in case of a miss.

        Returns
        -------
        Check
            Reproduced if the whole interval is above 0, not if it is below, else open; open if it is undefined.
        """
        check_level(level)
        verdict: Verdict = "reproduced" if low > 0 else "not reproduced" if high < 0 else "open"
        return cls(
            claim=claim, where=where, published=published, verdict=verdict,
            ours=f"{_signed(difference, digits)} ({_signed(low, digits)} to {_signed(high, digits)})",
            rule=f"the {level:.0%} interval of the difference is above 0; open if it includes 0",
            reason="" if verdict == "reproduced" else if_missed,
        )  # fmt: skip

    @classmethod
    def fact(
        cls, claim: str, where: str, *, holds: bool, rule: str, ours: str, published: str = "", if_missed: str = ""
    ) -> "Check":
        """Check a claim by a rule of its own, which leaves nothing open.

        Parameters
        ----------
        claim, where : str
            What the paper says, and where.
        holds : bool
            Whether the rule is met.
        rule : str
            The rule, in words.
        ours, published : str
            What we found, and what the paper gives.
        if_missed : str
            What was tried, and the likely reason, in case of a miss.

        Returns
        -------
        Check
            With its verdict.
        """
        return cls(
            claim=claim, where=where, published=published, ours=ours, rule=rule,
            verdict="reproduced" if holds else "not reproduced", reason="" if holds else if_missed,
        )  # fmt: skip


def _shown(value: float, digits: int) -> str:
    return "undefined" if math.isnan(value) else f"{value:.{digits}f}"


def _signed(value: float, digits: int) -> str:
    return "undefined" if math.isnan(value) else f"{value:+.{digits}f}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """A table of an outcome.

    Attributes
    ----------
    title : str
        What it shows, which table of the paper it repeats, and what the columns are.
    frame : DataFrame
        Its cells, texts or numbers; the index is shown if it has a name.
    digits : int
        Digits behind the point of numbers that are not whole.
    """

    title: str
    frame: pd.DataFrame
    digits: int = 2


@dataclass(frozen=True, kw_only=True, eq=False)
class Picture:
    """A picture of an outcome.

    Attributes
    ----------
    name : str
        Part of the file's name: letters, digits and hyphens.
    caption : str
        What it shows, and which figure of the paper it repeats.
    chart : altair chart
        The chart.
    """

    name: str
    caption: str
    chart: "AnyChart"


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """What an experiment found.

    Attributes
    ----------
    checks : sequence of Check
        The claims of the paper, with their verdicts.
    tables : sequence of Table
        Tables to compare with those of the paper.
    pictures : sequence of Picture
        Pictures to compare with those of the paper.
    protocol : str
        What was done, in a few sentences: data, resamples, settings, and where that is not what the paper did.
    beyond : sequence of str
        What we learned that the paper does not say: a paragraph each, made from numbers of this run.
    """

    checks: Sequence[Check]
    tables: Sequence[Table] = ()
    pictures: Sequence[Picture] = ()
    protocol: str = ""
    beyond: Sequence[str] = ()
