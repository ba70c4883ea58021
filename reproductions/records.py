"""What an experiment returns: claims with evidence, rule and verdict; tables, pictures and findings.

A claim is judged in one way only. Its :class:`Evidence` is a number of ours with the interval over what could vary,
its :class:`Rule` an interval of numbers for which the claim holds. The claim *holds* if the whole interval of the
evidence lies within the rule, *does not hold* if no part of it does, and is *open* otherwise. Everything that is
compared becomes such a number: a difference, a distance from a printed number, a share, or 1 and 0 for yes and no.
Where the paper leaves a choice open, evidence has a part for each choice, and a claim may hold *in part*.
"""

import math
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit
from scipy.stats import binomtest

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart

Verdict = Literal["holds", "holds in part", "does not hold", "open"]
Kind = Literal["empirical", "exact", "beyond"]
VERDICTS: tuple[Verdict, ...] = ("holds", "holds in part", "does not hold", "open")
VERDICT_VERBS = {
    "holds": ("holds", "hold"), "holds in part": ("holds in part", "hold in part"),
    "does not hold": ("does not hold", "do not hold"), "open": ("is open", "are open"),
    "data not to be had": ("could not be repeated",) * 2, "not run": ("was not run", "were not run"),
}  # fmt: skip
KINDS: dict[Kind, str] = {
    "empirical": "empirical claims of the papers",
    "exact": "exact checks of formulas, theorems and worked examples",
    "beyond": "results beyond the papers (second readings, other protocols, tests of our own)",
}
WORDS: dict[str, dict[str, Any]] = tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))
"""What a word like "slightly" means, by quantity; the same for all papers."""
TAILS = (0.025, 0.975)
Z = 1.959964
ROUNDING = 1e-9
"""How far a number may be off by the arithmetic of a computer."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """A number of ours, with its 95 % interval over what could vary.

    Made by one of the class methods, which differ in where the interval comes from.

    Attributes
    ----------
    value, low, high : float
        The number and the ends of its interval; undefined evidence has nan.
    varied : str
        What varied: ``"200 redraws of the resamples"``, ``"5 data sets"``, ``"3 seeds"``; ``"exact"`` if nothing.
    shown : str
        How the number is written, if not by its digits.
    digits : int
        Digits after the point.
    reason : str
        Why it is undefined.
    parts : tuple of Evidence
        The number by each choice that the paper leaves open, the primary one first.
    """

    value: float
    low: float
    high: float
    varied: str
    shown: str = ""
    digits: int = 2
    reason: str = ""
    parts: tuple["Evidence", ...] = ()

    @classmethod
    def exact(cls, value: float, **options: Any) -> "Evidence":
        """Return a number that nothing can change: of an enumeration, a proof, a worked example."""
        return cls(value=float(value), low=float(value), high=float(value), varied="exact", **options)

    @classmethod
    def from_draws(
        cls,
        value: float,
        draws: ArrayLike,
        varied: str,
        *,
        n_tries: int = 1,
        n_units: int | None = None,
        **options: Any,
    ) -> "Evidence":
        """Return a number with the quantiles of its redraws, for any distribution, also one with two modes.

        ``n_tries`` widens the interval for a number that is picked as the best of so many (Bonferroni); ``n_units``
        where a few resamples or data sets are redrawn, whose quantiles are too narrow: by sqrt(n / (n - 1)), and by
        Student's quantile over the normal one.
        """
        tail = TAILS[0] / n_tries
        low, high = np.quantile(np.asarray(draws, dtype=np.float64), (tail, 1 - tail))
        wider = 1.0
        if n_units is not None:
            wider = math.sqrt(n_units / (n_units - 1)) * stdtrit(n_units - 1, 1 - tail) / ndtri(1 - tail)
        return cls(
            value=float(value),
            low=float(value - wider * max(value - low, 0.0)),
            high=float(value + wider * max(high - value, 0.0)),
            varied=varied,
            **options,
        )

    @classmethod
    def from_error(cls, value: float, standard_error: float, varied: str, **options: Any) -> "Evidence":
        """Return a number with a standard error."""
        reach = Z * standard_error
        return cls(value=float(value), low=float(value - reach), high=float(value + reach), varied=varied, **options)

    @classmethod
    def from_sample(cls, values: ArrayLike, varied: str, **options: Any) -> "Evidence":
        """Return the mean of a sample, for example of data sets, with its interval by Student's t."""
        sample: NDArray[np.float64] = np.asarray(values, dtype=np.float64)
        error = sample.std(ddof=1) / math.sqrt(sample.size) if sample.size > 1 else math.nan
        reach = stdtrit(sample.size - 1, TAILS[1]) * error
        mean = float(sample.mean())
        return cls(value=mean, low=float(mean - reach), high=float(mean + reach), varied=varied, **options)

    @classmethod
    def from_count(cls, n_true: int, n: int, varied: str, **options: Any) -> "Evidence":
        """Return a share of independent trials, with its exact interval (Clopper and Pearson), also near 0 and 1."""
        ends = binomtest(n_true, n).proportion_ci(TAILS[1] - TAILS[0])
        return cls(value=n_true / n, low=float(ends.low), high=float(ends.high), varied=varied, **options)

    @classmethod
    def from_verdicts(cls, verdicts: Iterable[Verdict], varied: str, **options: Any) -> "Evidence":
        """Return the share of parts that hold; parts that are open may hold or not."""
        counts = Counter(verdicts)
        n, sure, possible = counts.total(), counts["holds"], counts["holds"] + counts["open"]
        options.setdefault("shown", f"{sure} of {n} hold, {counts['open']} open")
        return cls(value=sure / n, low=sure / n, high=possible / n, varied=varied, **options)

    @classmethod
    def from_answers(cls, answers: Sequence[str], printed: str, varied: str, **options: Any) -> "Evidence":
        """Return whether an answer in words is the printed one: 1 or 0, over redraws of the answer, ours first."""
        same = np.array([answer == printed for answer in answers], dtype=np.float64)
        shares = ", ".join(f"{answer} ({count / len(answers):.0%})" for answer, count in Counter(answers).most_common())
        options.setdefault("shown", answers[0] if len(set(answers)) == 1 else f"{answers[0]}; redrawn: {shares}")
        return cls.from_draws(same[0], same, varied, **options)

    @classmethod
    def over(cls, evidence: Sequence["Evidence"], varied: str) -> "Evidence":
        """Return the first of several numbers with the range of all their intervals: over seeds, settings, readings."""
        undefined = [item for item in evidence if not item.is_defined]
        if undefined:
            return undefined[0]
        texts = dict.fromkeys(item.shown for item in evidence if item.shown)
        low, high = min(item.low for item in evidence), max(item.high for item in evidence)
        by_part = zip(*(item.parts for item in evidence), strict=True)
        parts = tuple(cls.over(part, varied) for part in by_part)
        return replace(evidence[0], low=low, high=high, varied=varied, shown="; ".join(texts), parts=parts)

    @classmethod
    def by_choice(cls, parts: Sequence["Evidence"], choices: str) -> "Evidence":
        """Return a number by each choice that the paper leaves open, the primary one first, with the range of all.

        Of answers in words it says how many choices give each.
        """
        whole = cls.over(parts, f"{parts[0].varied}, {choices}")
        answers = Counter(part.shown.partition(";")[0] for part in parts if part.shown).most_common()
        shown = ", ".join(f"{answer} ({count} of {len(parts)})" for answer, count in answers)
        return replace(whole, parts=tuple(parts), shown=shown)

    @classmethod
    def undefined(cls, reason: str) -> "Evidence":
        """Return evidence that does not exist, and why."""
        return cls(value=math.nan, low=math.nan, high=math.nan, varied="", reason=reason)

    @property
    def is_defined(self) -> bool:
        """Whether there are a number and an interval."""
        return not any(map(math.isnan, (self.value, self.low, self.high)))

    def __str__(self) -> str:
        if not self.is_defined:
            return "undefined"
        value, low, high = (f"{number:.{self.digits}f}" for number in (self.value, self.low, self.high))
        return self.shown or (value if self.low == self.high else f"{value} ({low} to {high})")


@dataclass(frozen=True, kw_only=True)
class Rule:
    """For which numbers a claim holds: from ``low`` to ``high``, either of which may be missing.

    The other ends are where no threshold or tolerance would put them; what is halved and doubled to see how much a
    verdict depends on it is the distance of the ends from there.

    Attributes
    ----------
    text : str
        The rule in words.
    low, high : float, optional
        Least and largest number for which the claim holds.
    base_low, base_high : float
        The same without any threshold or tolerance.
    strict : bool
        Whether ``low`` itself is excluded.
    by_factors : bool
        Whether distances are factors: a tolerance of 1.5 is 1.5 times as much or as little.
    error : float
        Standard error of the printed number, combined with ours; with ``by_factors``, of its logarithm.
    """

    text: str
    low: float | None = None
    high: float | None = None
    base_low: float = 0.0
    base_high: float = 0.0
    strict: bool = False
    by_factors: bool = False
    error: float = 0.0

    @classmethod
    def above(cls, threshold: float = 0.0) -> "Rule":
        """Return the rule for a number above a threshold."""
        return cls(text=f"above {threshold:g}", low=threshold, strict=True)

    @classmethod
    def at_most(cls, threshold: float) -> "Rule":
        """Return the rule for a number at or below a threshold."""
        return cls(text=f"at most {threshold:g}", high=threshold)

    @classmethod
    def between(cls, low: float, high: float) -> "Rule":
        """Return the rule for a number between two thresholds."""
        return cls(text=f"from {low:g} to {high:g}", low=low, high=high)

    @classmethod
    def within(
        cls, printed: str, tolerance: float = 0.0, *, error: float = 0.0, by_factors: bool = False, because: str = ""
    ) -> "Rule":
        """Return the rule for a number close to a printed one.

        Parameters
        ----------
        printed : str
            The number as it is printed, ``"0.023"``: it stands for all numbers that round to it.
        tolerance : float
            How far off a number may be and still count as the same; with ``by_factors``, by which factor.
        error : float
            Standard error of the printed number, where it comes from a sample of known size.
        by_factors : bool
            Whether numbers are compared by factors, as penalty strengths are.
        because : str
            Why that tolerance.
        """
        number, unit = float(printed), last_digit(printed)
        base_low, base_high = number - unit / 2, number + unit / 2
        factor = tolerance if by_factors and tolerance else 1.0
        low, high = (
            (base_low / factor, base_high * factor) if by_factors else (base_low - tolerance, base_high + tolerance)
        )
        near = f"within {'a factor of ' if by_factors else ''}{tolerance:g} of" if tolerance else "rounds to"
        theirs = f", standard error {error:.2g}" if error else ""
        return cls(
            text=f"{near} {printed}{theirs}{f': {because}' if because else ''}", low=low, high=high, base_low=base_low,
            base_high=base_high, by_factors=by_factors, error=error,
        )  # fmt: skip

    @classmethod
    def equal(cls, number: float, text: str = "") -> "Rule":
        """Return the rule for a number that is known exactly."""
        return cls(text=text or f"equal to {number:.4g}", low=number, high=number, base_low=number, base_high=number)

    @classmethod
    def share(cls, least: float) -> "Rule":
        """Return the rule for a share of at least so much; what is halved and doubled is what may be missing to 1."""
        return cls(text=f"at least {least:.0%}", low=least, base_low=1.0)

    @classmethod
    def same(cls, text: str = "the same answer") -> "Rule":
        """Return the rule for answers in words (:meth:`Evidence.from_answers`), and for yes and no as 1 and 0."""
        return cls(text=text, low=0.5, base_low=0.5)

    @classmethod
    def word(cls, word: str, quantity: str) -> "Rule":
        """Return what a word means for a difference of a quantity, by the table of words."""
        meaning = WORDS[word]
        threshold = meaning["thresholds"][quantity]
        low, high = {
            "at most": (None, threshold), "within": (-threshold, threshold), "above": (threshold, None),
            "above 0, at most": (0.0, threshold),
        }[meaning["form"]]  # fmt: skip
        text = f"“{word}”: {meaning['form']} {threshold:g} ({quantity})"
        return cls(text=text, low=low, high=high, strict=meaning["form"].startswith("above"))

    def bounds(self, factor: float) -> tuple[float, float]:
        """Return the ends at so many times the threshold or tolerance."""
        low = -math.inf if self.low is None else self._scale(self.base_low, self.low, factor)
        high = math.inf if self.high is None else self._scale(self.base_high, self.high, factor)
        return low, high

    def _scale(self, base: float, end: float, factor: float) -> float:
        return base * (end / base) ** factor if self.by_factors else base + factor * (end - base)

    @property
    def has_threshold(self) -> bool:
        """Whether anything can be halved and doubled."""
        return self.bounds(1) != self.bounds(2)


def last_digit(printed: str) -> float:
    """Return the unit of the last digit of a number as it is printed: 0.001 of ``"0.023"``, 1e-06 of ``"4.12e-4"``."""
    mantissa, _, exponent = printed.lower().partition("e")
    return float(10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2])))


def judge(evidence: Evidence, rule: Rule, factor: float = 1.0) -> Verdict:
    """Return whether evidence meets a rule, or the rule at so many times its threshold: the only way to a verdict.

    Our interval and the standard error of a printed number make one interval: their reaches are combined as the square
    root of the sum of squares.
    """
    if evidence.parts:
        verdicts = {judge(part, rule, factor) for part in evidence.parts}
        if len(verdicts) == 1:
            return verdicts.pop()
        return "holds in part" if "holds" in verdicts else "open"
    if not evidence.is_defined:
        return "open"
    low, high = rule.bounds(factor)
    if rule.by_factors:
        if evidence.low <= 0:
            return "open"
        value, *ends = (math.log(number) for number in (evidence.value, evidence.low, evidence.high))
        low, high = math.log(low), math.log(high)
    else:
        value, ends = evidence.value, [evidence.low, evidence.high]
    least = value - math.hypot(value - ends[0], Z * rule.error)
    most = value + math.hypot(ends[1] - value, Z * rule.error)
    exact = ROUNDING * max(1.0, abs(value))
    low = low + exact if rule.strict else low - exact
    high += exact
    if low <= least and most <= high:
        return "holds"
    return "does not hold" if most < low or least > high else "open"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement, our evidence on it, and the rule by which it is judged.

    Attributes
    ----------
    claim : str
        The statement, in a sentence. It holds no number of ours: it identifies the claim over seeds.
    kind : {"empirical", "exact", "beyond"}
        What the paper says of data or simulations; a check of a formula, theorem or worked example; or what the paper
        does not say.
    exhibit : str
        The table or figure that it is about, as in ``exhibits.toml``: ``"Table 2"``; empty for the text of the paper.
    where : str
        Where the paper says it, if not in the exhibit alone: ``"Section 4"``.
    printed : str
        The printed number or words, if any.
    evidence : Evidence
        What we found.
    rule : Rule
        When it holds.
    reason : str
        If it does not hold, or is open: what was tried, and the likely reason.
    """

    claim: str
    kind: Kind = "empirical"
    exhibit: str = ""
    where: str = ""
    printed: str = ""
    evidence: Evidence
    rule: Rule
    reason: str = ""

    @property
    def verdict(self) -> Verdict:
        """What the rule says."""
        return judge(self.evidence, self.rule)

    @property
    def other_verdicts(self) -> tuple[Verdict, Verdict] | None:
        """What it would say at half and at twice its threshold; None if it has none."""
        if not self.rule.has_threshold:
            return None
        return judge(self.evidence, self.rule, 0.5), judge(self.evidence, self.rule, 2.0)

    @property
    def location(self) -> str:
        """The exhibit and where in the text."""
        return self.where if self.exhibit in self.where else f"{self.exhibit}, {self.where}".removesuffix(", ")


def count_verdicts(claims: Iterable[Claim], kind: Kind) -> str:
    """Return how many claims of a kind hold, in words; empty if there is none."""
    counts = Counter(claim.verdict for claim in claims if claim.kind == kind)
    if not counts:
        return ""
    return f"Of {counts.total()} {KINDS[kind]} {join_counts(counts)}."


def join_counts(counts: Mapping[Any, int]) -> str:
    """Return how many verdicts there are of each kind: ``"3 hold, 1 does not hold"``."""
    return ", ".join(
        f"{count} {singular if count == 1 else plural}"
        for verdict, (singular, plural) in VERDICT_VERBS.items() if (count := counts.get(verdict, 0))
    )  # fmt: skip


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
        Digits after the point of numbers that are not whole.
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
    exhibit : str
        The figure or table that it repeats; the first picture of each is shown on the index page.
    """

    name: str
    caption: str
    chart: "AnyChart"
    exhibit: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """What an experiment returns.

    Attributes
    ----------
    claims : sequence of Claim
        The claims of the paper, and those beyond it.
    sentences : mapping of str to str
        For a table or figure, why its verdict is what it is, computed; without one, the claims are counted.
    tables : sequence of Table
        Tables to compare with those of the paper.
    pictures : sequence of Picture
        Pictures in the layout of the paper.
    protocol : str
        What was done, in a few sentences: data, resamples, settings, and where that is not what the paper did.
    notes : sequence of str
        What we learned that the paper does not say: a paragraph each, made from numbers of this run.
    findings : sequence of str
        What was found about the paper itself, with proof and with the alternatives that were tried; worded as a
        question to the authors where it is an inference. A paragraph each, which begins with its point in bold.
    """

    claims: Sequence[Claim]
    sentences: Mapping[str, str] = field(default_factory=dict)
    tables: Sequence[Table] = ()
    pictures: Sequence[Picture] = ()
    protocol: str = ""
    notes: Sequence[str] = ()
    findings: Sequence[str] = ()
