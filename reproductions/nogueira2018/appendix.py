"""Worked examples, expectations under the null model and theorems of Appendices B, C and D."""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import holdfast as hf
from reproductions import unconverted
from reproductions.experiments import experiment
from reproductions.nogueira2018.enumeration import (
    PRINTED,
    ROUNDING,
    Collections,
    enumerate_collections,
    expectations,
)
from reproductions.records import Claim, Outcome
from reproductions.workbench import Workbench

PAPER = "nogueira2018"
KRIZEK = ("1100 1100 0011 0011", "1010 1010 0011 0011")
GUZMAN = ("10010 01010 00011 00110", "10010 01010 10100 01010")
CW_REL = "1100 1100 1110 1110"
JACCARD = ("0011 0011 0101 0110", "0011 0011 0011 1100")


def read_runs(text: str) -> Any:
    """Rows of 0 and 1."""
    return np.array([[int(bit) for bit in row] for row in text.split()])


def sum_of_variances(runs: Any) -> float:
    """The sum of the unbiased variances of all features."""
    return float(np.var(runs, axis=0, ddof=1).sum())


@experiment(PAPER, "appendix", shows="Appendices B, C and D", title="worked examples, formulas and theorems")
def check_appendix(bench: Workbench) -> Outcome:
    """Every number that the appendix works out, and its theorems on all small collections."""
    part = enumerate_collections(*bench.choose((4, 3), (3, 3)))
    checks = [*_worked_examples(), *_formulas(part), *_theorems(part)]
    less, more = map(read_runs, JACCARD)
    return Outcome(
        claims=checks,
        protocol=f"Examples as printed; formulas and theorems on all {len(part.sets):,} collections of {part.M} "
        f"non-empty proper subsets of {part.d} features, exactly. An expectation is the mean over all collections of "
        "the same sizes (Definition 2).",
        notes=[
            "Jaccard's index, which Table 2 calls monotone, is not even for selections of one size: runs "
            f"{', '.join(JACCARD[0].split())} have a sum of variances of {sum_of_variances(less):.3f} and the value "
            f"{hf.stability(less, 'jaccard').value:.3f}; runs {', '.join(JACCARD[1].split())} have "
            f"{sum_of_variances(more):.3f}, more, and {hf.stability(more, 'jaccard').value:.3f}.",
            "For runs of different sizes the expectation of the new measure is −Σ(k_i − k̄)² / (M(M−1) k̄ (d − k̄)), "
            f"which the enumeration confirms to {_bias_error(part):.0e}: too small to matter for hundreds of runs, but "
            "not 0.",
        ],
    )  # fmt: skip


def _bias_error(part: Collections) -> float:
    def bias(sizes: tuple[int, ...]) -> float:
        k, M = np.array(sizes), part.M
        return -float(((k - k.mean()) ** 2).sum() / (M * (M - 1) * k.mean() * (part.d - k.mean())))

    found = expectations("nogueira", part)
    return max(1e-16, *(abs(found[sizes] - bias(sizes)) for sizes in found))


def _worked_examples() -> list[Claim]:
    krizek, guzman = (list(map(read_runs, texts)) for texts in (KRIZEK, GUZMAN))
    slip = "Neither a sum nor unbiased: the means of p(1 − p) are 0.15 and 0.175; the order of the two is right."
    both = zip((1, 2), krizek, (4 / 3, 2 / 3), guzman, ((0.24, 0.15), (0.31, 0.17)), strict=True)
    checks = []
    for number, entropy, variance, divergence, (value, total) in both:
        own = hf.stability(entropy, "krizek").value, hf.stability(divergence, "guzman").value
        checks += [
            _exact(f"Krízek's measure of Z{number} in C.2.4.", "Appendix C.2.4", 1, own[0]),
            _exact(f"Sum of variances of Z{number} in C.2.4.", "Appendix C.2.4", variance, sum_of_variances(entropy)),
            _printed(f"Guzmán's measure of Z{number} in C.2.5.", "Appendix C.2.5", value, own[1]),
            _printed(
                f"Sum of variances of Z{number} in C.2.5.", "Appendix C.2.5", total, sum_of_variances(divergence), slip
            ),
        ]
    value = hf.stability(read_runs(CW_REL), "cw_rel").value
    return [*checks, _exact("CW_rel of four runs that are not all equal.", "Appendix C.4.5", 1, value)]


def _exact(claim: str, where: str, published: float, ours: float) -> Claim:
    return unconverted.number(
        claim, where, published=published, ours=ours, tolerance=0, because="an exact number", kind="exact"
    )


def _printed(claim: str, where: str, published: float, ours: float, if_missed: str = "") -> Claim:
    return unconverted.number(
        claim, where, published=published, ours=ours, tolerance=0.005, because="printed to two digits",
        if_missed=if_missed,
    kind="exact")  # fmt: skip


def _formulas(part: Collections) -> list[Claim]:
    """The printed expectations under the null model, for selections of one size, beside enumerated ones."""
    d, M = part.d, part.M

    def cw_rel(k: int) -> float:
        D = (M * k) % d
        rest = D / (M * M * d) * (1 - D / d)
        return (k / d * (1 - k / d) / M - rest) / (k / d * (1 - k / d) - rest)

    formulas: dict[str, tuple[str, Callable[[int], float], str]] = {
        "dice": ("k/d", lambda k: k / d, ""),
        "ochiai": ("k/d", lambda k: k / d, ""),
        "pog": ("k/d", lambda k: k / d, ""),
        "hamming": ("1 − 2(k/d)(1 − k/d)", lambda k: 1 - 2 * k / d * (1 - k / d), ""),
        "jaccard": ("the hypergeometric sum", lambda k: _jaccard(k, d), ""),
        "goh": ("k/d", lambda k: k / d, ""),
        "krizek": ("log of the number of subsets", lambda k: math.log2(math.comb(d, k)),
                   "That is the entropy of the true distribution; an estimate from M runs cannot exceed log M."),
        "guzman": ("0", lambda k: 0.0, "A division by a negative number does not turn Jensen's inequality."),
        "cw_rel": ("the printed ratio", cw_rel, ""),
        "lausser": ("1/M + (M − 1)k/(Md)", lambda k: 1 / M + (M - 1) / M * k / d, ""),
        "nogueira": ("0", lambda k: 0.0, ""),
    }  # fmt: skip
    checks = []
    for name, (text, formula, reason) in formulas.items():
        off = max(abs(value - formula(s[0])) for s, value in expectations(name, part).items() if len(set(s)) == 1)
        checks.append(
            unconverted.fact(
                f"Expectation of {PRINTED[name][0]} for random selections of one size.", "Appendix C.5", published=text,
                holds=off < ROUNDING, ours=_gap(off), rule="equal to the mean over all collections",
                if_missed=reason,
            kind="exact")
        )  # fmt: skip
    return [*checks, _general_hamming(part)]


def _gap(off: float) -> str:
    return "equal" if off < ROUNDING else f"off by up to {off:.3g}"


def _jaccard(k: int, d: int) -> float:
    return sum(n / (2 * k - n) * math.comb(k, n) * math.comb(d - k, k - n) / math.comb(d, k) for n in range(1, k + 1))


def _general_hamming(part: Collections) -> Claim:
    """C.5.1 for any sizes."""
    found = expectations("hamming", part)

    def printed(sizes: tuple[int, ...]) -> float:
        k, M = np.array(sizes) / part.d, part.M
        return float(1 - 2 * k.mean() + M / (M - 1) * k.mean() ** 2 - (k**2).sum() / (M * (M - 1)))

    off = max(abs(found[sizes] - printed(sizes)) for sizes in found)
    return unconverted.fact(
        "Expectation of Hamming's measure for random selections of any sizes.", "Appendix C.5.1", holds=off < ROUNDING,
        published="1 − 2k̄/d + M k̄²/((M − 1)d²) − …", ours=_gap(off),
        rule="equal to the mean over all collections",
        if_missed="The derivation counts the overlap once instead of twice; the printed special case of one size is "
        "right.",
    kind="exact")  # fmt: skip


def _theorems(part: Collections) -> list[Claim]:
    d, M, values = part.d, part.M, part.values
    sizes = np.array([sum(map(len, sets)) / M for sets in part.sets])
    overlaps = np.array([_mean_overlap(sets) for sets in part.sets])
    one_size = np.array([len(set(map(len, sets))) == 1 for sets in part.sets])
    kappa = np.array([_fleiss_kappa(sets, d) for sets in part.sets])
    equal = values[one_size][["kuncheva", "wald", "npog"]].sub(values["nogueira"][one_size], axis=0)
    example = [((a,), (b, c)) for a in range(3) for b, c in itertools.combinations(range(3), 2)]
    variances = [_variance_of_first(sets) for sets in example]

    def fact(claim: str, where: str, off: float, **more: Any) -> Claim:
        return unconverted.fact(
            claim, where, holds=off < ROUNDING, ours=_gap(off), rule="equal on all collections", **more, kind="exact"
        )

    return [
        fact("The mean overlap of two runs is k̄ less the sum of variances.", "Theorem 1",
             np.abs(overlaps - (sizes - part.variances)).max()),
        unconverted.number(
            "The expected variance of a feature in the example of two runs with sizes 1 and 2 of 3.", "Theorem 3 in "
            "B.2",
            published=0.25, ours=float(np.mean(variances)), tolerance=0.0, because="an exact number", digits=3,
            if_missed="The mean over the nine printed matrices is 5/18: the entries of a column have the means 1/3 "
            "and 2/3, while the proof takes both for 1/2.",
        kind="exact"),
        fact("For selections of one size the new measure equals Kuncheva's, Wald's and nPOG.", "Theorem 5",
             float(equal.abs().to_numpy().max())),
        fact("The new measure is Fleiss' kappa.", "Theorem 6", float(np.abs(kappa - values["nogueira"]).max())),
        unconverted.fact(
            "The new measure is at least −1/(M − 1).", "Appendix D", published=f"{-1 / (M - 1):.3f} for M = {M}",
            holds=values["nogueira"].min() >= -1 / (M - 1) - ROUNDING, ours=f"{values['nogueira'].min():.3f}",
            rule="no collection is below",
        kind="exact"),
    ]  # fmt: skip


def _mean_overlap(sets: Sequence[Sequence[int]]) -> float:
    return float(np.mean([len({*a} & {*b}) for a, b in itertools.combinations(sets, 2)]))


def _variance_of_first(sets: Sequence[Sequence[int]]) -> float:
    return float(np.var([0 in own for own in sets], ddof=1))


def _fleiss_kappa(sets: Sequence[Sequence[int]], d: int) -> float:
    """Fleiss (1971), with runs as raters, features as subjects and two categories."""
    M = len(sets)
    chosen = np.bincount(np.concatenate(sets), minlength=d)
    counts = np.column_stack([chosen, M - chosen])
    agreement = (counts * (counts - 1)).sum() / (d * M * (M - 1))
    by_chance = ((counts.sum(axis=0) / (M * d)) ** 2).sum()
    return float((agreement - by_chance) / (1 - by_chance))
