"""Worked examples, expectations under the null model and theorems of Appendices B, C and D; derivatives of Table 7."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import holdfast as hf
from holdfast.testing import stability_value
from reproductions.enumeration import (
    PRINTED,
    ROUNDING,
    Collections,
    check_equal,
    check_exact,
    enumerate_collections,
    expectations,
    value_of,
)  # fmt: skip
from reproductions.experiments import experiment
from reproductions.records import Claim, Outcome, Rule
from reproductions.workbench import Workbench

PAPER = "nogueira2018"
KRIZEK = ("1100 1100 0011 0011", "1010 1010 0011 0011")
GUZMAN = ("10010 01010 00011 00110", "10010 01010 10100 01010")
CW_REL = "1100 1100 1110 1110"
JACCARD = ("0011 0011 0101 0110", "0011 0011 0011 1100")
Formula = Callable[[float, int, int, int], float]
TABLE_7: dict[str, tuple[Formula, Formula]] = {
    "hamming": (lambda r, k, q, d: 1 - (k + q - 2 * r) / d, lambda r, k, q, d: 2 / d),
    "jaccard": (lambda r, k, q, d: r / (k + q - r), lambda r, k, q, d: (k + q) / (k + q - r) ** 2),
    "dice": (lambda r, k, q, d: 2 * r / (k + q), lambda r, k, q, d: 2 / (k + q)),
    "ochiai": (lambda r, k, q, d: r / math.sqrt(k * q), lambda r, k, q, d: 1 / math.sqrt(k * q)),
    "pog": (lambda r, k, q, d: r / k, lambda r, k, q, d: 1 / k),
    "kuncheva": (lambda r, k, q, d: (r - k * k / d) / (k - k * k / d), lambda r, k, q, d: 1 / (k - k * k / d)),
    "lustgarten": (
        lambda r, k, q, d: (r - k * q / d) / (min(k, q) - max(0, k + q - d)),
        lambda r, k, q, d: 1 / (min(k, q) - max(0, k + q - d)),
    ),
    "wald": (
        lambda r, k, q, d: (r - k * q / d) / (min(k, q) - k * q / d), lambda r, k, q, d: 1 / (min(k, q) - k * q / d)
    ),
    "npog": (lambda r, k, q, d: (r - k * q / d) / (k - k * q / d), lambda r, k, q, d: 1 / (k - k * q / d)),
}  # fmt: skip
"""Similarities (Table 6) and their derivatives by the overlap r (Table 7), for sizes k and q of d features."""


def read_runs(text: str) -> Any:
    """Return rows of 0 and 1."""
    return np.array([[int(bit) for bit in row] for row in text.split()])


def sum_of_variances(runs: Any) -> float:
    """Return the sum of the unbiased variances of all features."""
    return float(np.var(runs, axis=0, ddof=1).sum())


@experiment(
    PAPER, "appendix", shows="Table 7", title="derivatives, worked examples, formulas and theorems of the appendices",
    question="Are the numbers, formulas and theorems of Appendices B, C and D, and the derivatives of Table 7, right?",
)  # fmt: skip
def check_appendix(bench: Workbench) -> Outcome:
    """Every number that the appendix works out, and its theorems on all small collections."""
    part = enumerate_collections(bench.choose(4, 3), 3, bench=bench)
    less, more = map(read_runs, JACCARD)
    return Outcome(
        claims=[*check_derivatives(), *check_examples(), *check_formulas(part), *check_theorems(part)],
        sentences={"Table 7": "All nine derivatives are right, and positive; that monotonicity follows is not, see "
                              "Table 2."},
        protocol=f"Examples as printed; formulas and theorems on all {len(part.sets):,} collections of {part.M} "
        f"non-empty proper subsets of {part.d} features, exactly. An expectation is the mean over all collections of "
        "the same sizes (Definition 2). Derivatives: central differences of the formulas of Table 6, which are "
        "compared with holdfast's measures of all pairs of sets of 4 features.",
        notes=[
            "Jaccard's index, which Table 2 calls monotone, is not even for selections of one size: runs "
            f"{', '.join(JACCARD[0].split())} have a sum of variances of {sum_of_variances(less):.3f} and the value "
            f"{hf.stability(less, 'jaccard').value:.3f}; runs {', '.join(JACCARD[1].split())} have "
            f"{sum_of_variances(more):.3f}, more, and {hf.stability(more, 'jaccard').value:.3f}."
        ],
    )  # fmt: skip


def check_derivatives() -> list[Claim]:
    """Judge the derivatives of Table 7 against differences, and that all are above 0."""
    h, sizes = 1e-6, [(k, q, d) for d in (4, 7, 10) for k in range(1, d) for q in range(1, d)]
    wrong, off, least = [], 0.0, math.inf
    for name, (similarity, derivative) in TABLE_7.items():
        for k, q, d in sizes:
            if name == "kuncheva" and k != q:
                continue
            for r in range(max(0, k + q - d), min(k, q) + 1):
                slope = (similarity(r + h, k, q, d) - similarity(r - h, k, q, d)) / (2 * h)
                if abs(slope / derivative(r, k, q, d) - 1) > 1e-6:
                    wrong.append(name)
                least = min(least, derivative(r, k, q, d))
        for k, q, shift in itertools.product(range(1, 4), range(1, 4), range(4)):
            sets = set(range(k)), {(shift + place) % 4 for place in range(q)}
            if name == "kuncheva" and k != q:
                continue
            r, both = len(sets[0] & sets[1]), ((k, q), (q, k))
            mean = float(np.mean([similarity(r, *pair, 4) for pair in both]))
            off = max(off, abs(mean - value_of(name, [sorted(own) for own in sets], 4)))
    right = len(TABLE_7) - len(set(wrong))
    return [
        check_exact("The derivatives of the nine similarities by the overlap.", "Appendix C.2.1", right / len(TABLE_7),
                    Rule.equal(1.0, "differences agree for all sizes of 4, 7 and 10 features"), exhibit="Table 7",
                    printed="9 formulas", shown=f"{right} of {len(TABLE_7)} right"),
        check_exact("All nine derivatives are above 0.", "Appendix C.2.1", least, Rule.above(0), exhibit="Table 7",
                    printed="> 0", digits=3, shown=f"at least {least:.3f}"),
        check_equal("The similarities of Table 6, with k_i + k_j − 2r in Hamming's, are holdfast's.", "Table 6", off),
    ]  # fmt: skip


def check_examples() -> list[Claim]:
    """Judge the numbers that Appendix C works out."""
    krizek, guzman = (list(map(read_runs, texts)) for texts in (KRIZEK, GUZMAN))
    slip = "Neither a sum nor unbiased: the means of p(1 − p) are 0.15 and 0.175; the order of the two is right."
    both = zip((1, 2), krizek, (4 / 3, 2 / 3), guzman, (("0.24", "0.15"), ("0.31", "0.17")), strict=True)
    claims = []
    for number, entropy, variance, divergence, (value, total) in both:
        first, second = "Appendix C.2.4", "Appendix C.2.5"
        claims += [
            check_equal(f"Krízek's measure of Z{number} in C.2.4 is 1.", first,
                        abs(hf.stability(entropy, "krizek").value - 1)),
            check_equal(f"The sum of variances of Z{number} in C.2.4.", first,
                        abs(sum_of_variances(entropy) - variance), printed=f"{variance * 3:.0f}/3"),
            check_exact(f"Guzmán's measure of Z{number} in C.2.5.", second, hf.stability(divergence, "guzman").value,
                        Rule.within(value), printed=value),
            check_exact(f"The sum of variances of Z{number} in C.2.5.", second, sum_of_variances(divergence),
                        Rule.within(total), printed=total, reason=slip),
        ]  # fmt: skip
    off = abs(hf.stability(read_runs(CW_REL), "cw_rel").value - 1)
    return [*claims, check_equal("CW_rel of four runs that are not all equal is 1.", "Appendix C.4.5", off)]


def check_formulas(part: Collections) -> list[Claim]:
    """Judge the printed expectations under the null model, for selections of one size, and of any."""
    d, M = part.d, part.M

    def cw_rel(k: int) -> float:
        D = (M * k) % d
        rest = D / (M * M * d) * (1 - D / d)
        return (k / d * (1 - k / d) / M - rest) / (k / d * (1 - k / d) - rest)

    def jaccard(k: int) -> float:
        return sum(
            n / (2 * k - n) * math.comb(k, n) * math.comb(d - k, k - n) / math.comb(d, k) for n in range(1, k + 1)
        )

    def hamming(sizes: tuple[int, ...]) -> float:
        k = np.array(sizes) / d
        return float(1 - 2 * k.mean() + M / (M - 1) * k.mean() ** 2 - (k**2).sum() / (M * (M - 1)))

    def bias(sizes: tuple[int, ...]) -> float:
        k = np.array(sizes)
        return -float(((k - k.mean()) ** 2).sum() / (M * (M - 1) * k.mean() * (d - k.mean())))

    formulas: dict[str, tuple[str, Callable[[int], float], str]] = {
        "dice": ("k/d", lambda k: k / d, ""),
        "ochiai": ("k/d", lambda k: k / d, ""),
        "pog": ("k/d", lambda k: k / d, ""),
        "hamming": ("1 − 2(k/d)(1 − k/d)", lambda k: 1 - 2 * k / d * (1 - k / d), ""),
        "jaccard": ("the hypergeometric sum", jaccard, ""),
        "goh": ("k/d", lambda k: k / d, ""),
        "krizek": ("log of the number of subsets", lambda k: math.log2(math.comb(d, k)),
                   "That is the entropy of the true distribution; an estimate from M runs cannot exceed log M."),
        "guzman": ("0", lambda k: 0.0, "A division by a negative number does not turn Jensen's inequality."),
        "cw_rel": ("the printed ratio", cw_rel, ""),
        "lausser": ("1/M + (M − 1)k/(Md)", lambda k: 1 / M + (M - 1) / M * k / d, ""),
        "nogueira": ("0", lambda k: 0.0, ""),
    }  # fmt: skip
    claims = []
    for name, (text, formula, reason) in formulas.items():
        off = max(abs(value - formula(s[0])) for s, value in expectations(name, part).items() if len(set(s)) == 1)
        claims.append(check_equal(f"The expectation of {PRINTED[name][0]} for random selections of one size.",
                                  "Appendix C.5", off, printed=text, reason=reason))  # fmt: skip
    mixed = {
        name: max(abs(value - formula(sizes)) for sizes, value in expectations(name, part).items())
        for name, formula in (("hamming", hamming), ("nogueira", bias))
    }
    unbiased = check_equal("For runs of different sizes the expectation of the new measure is −Σ(kᵢ − k̄)² / (M(M − 1) "
                           "k̄ (d − k̄)).", "Theorem 3", mixed["nogueira"])  # fmt: skip
    return [
        *claims,
        check_equal("The expectation of Hamming's measure for random selections of any sizes.", "Appendix C.5.1",
                    mixed["hamming"], printed="1 − 2k̄/d + M k̄²/((M − 1)d²) − …", reason="The derivation counts the "
                    "overlap once instead of twice; the printed special case of one size is right."),
        replace(unbiased, kind="beyond"),
    ]  # fmt: skip


def check_theorems(part: Collections) -> list[Claim]:
    """Judge Theorems 1, 3, 5 and 6 and the lower bound of the new measure."""
    d, M, values = part.d, part.M, part.values
    sizes = np.array([sum(map(len, sets)) / M for sets in part.sets])
    overlaps = [np.mean([len({*a} & {*b}) for a, b in itertools.combinations(sets, 2)]) for sets in part.sets]
    one_size = np.array([len(set(map(len, sets))) == 1 for sets in part.sets])
    kappa = np.array([fleiss_kappa(sets, d) for sets in part.sets])
    equal = values[one_size][["kuncheva", "wald", "npog"]].sub(values["nogueira"][one_size], axis=0)
    example = [((a,), pair) for a in range(3) for pair in itertools.combinations(range(3), 2)]
    variance = float(np.mean([np.var([0 in own for own in sets], ddof=1) for sets in example]))
    apart, plain = compare_as_m_grows(part), hf.MEASURES["davis"].bind(alpha=0.0)
    davis = [stability_value(hf.Preferences.from_sets(sets, n_features=d), plain) for sets in part.sets]
    least = values["nogueira"].min()
    return [
        check_equal("The mean overlap of two runs is k̄ less the sum of variances.", "Theorem 1",
                    float(np.abs(overlaps - (sizes - part.variances)).max())),
        check_exact("The expected variance of a feature in the example of two runs with sizes 1 and 2 of 3.",
                    "Theorem 3 in B.2", variance, Rule.equal(0.25), printed="0.25", digits=3,
                    reason="The mean over the nine printed matrices is 5/18: the entries of a column have the means "
                    "1/3 and 2/3, while the proof takes both for 1/2."),
        check_equal("For selections of one size the new measure equals Kuncheva's, Wald's and nPOG.", "Theorem 5",
                    float(equal.abs().to_numpy().max())),
        check_exact("For selections of one size the ratio of CW_rel to the new measure goes to 1 as M grows.",
                    "Theorem 5, second part", apart[-1], Rule.at_most(0.001), printed="asymptotically equivalent",
                    shown=f"off by up to {apart[0]:.4f} and {apart[1]:.5f} with {100 * M:,} and {10_000 * M:,} runs",
                    reason="The ratio is undefined where the stability is 0; such collections are left out."),
        check_equal("Davis' measure without a penalty is Goh's.", "Appendices C.2.3 and C.4.3",
                    float(np.abs(davis - values["goh"]).max()), reason="It divides by the number of features that are "
                    "ever selected, Goh's by the number of all; it has the Maximum property, Goh's has not."),
        check_equal("The new measure is Fleiss' kappa.", "Theorem 6", float(np.abs(kappa - values["nogueira"]).max())),
        check_exact("The new measure is at least −1/(M − 1).", "Appendix D", float(least + 1 / (M - 1)),
                    Rule(text="no collection is below", low=0.0), printed=f"{-1 / (M - 1):.3f} for M = {M}",
                    shown=f"at least {least:.3f}"),
    ]  # fmt: skip


def compare_as_m_grows(part: Collections) -> list[float]:
    """Return how far CW_rel is from the new measure, as a share, if collections of one size are repeated."""
    ratios = []
    for sets in part.sets:
        rows = np.array([[feature in own for feature in range(part.d)] for own in sets], dtype=np.int64)
        p = rows.mean(axis=0)
        limit = 1 - p @ (1 - p) / (p.sum() * (1 - p.mean()))
        if len(set(map(len, sets))) > 1 or limit < ROUNDING:
            continue
        many = [np.tile(rows, (times, 1)) for times in (100, 10_000)]
        ratios.append([hf.stability(own, "cw_rel").value / hf.stability(own, "nogueira").value - 1 for own in many])
    return [float(np.abs(own).max()) for own in np.array(ratios).T]


def fleiss_kappa(sets: Sequence[Sequence[int]], d: int) -> float:
    """Return the kappa of Fleiss (1971), with runs as raters, features as subjects and two categories."""
    M = len(sets)
    chosen = np.bincount(np.concatenate(sets), minlength=d)
    counts = np.column_stack([chosen, M - chosen])
    agreement = (counts * (counts - 1)).sum() / (d * M * (M - 1))
    by_chance = ((counts.sum(axis=0) / (M * d)) ** 2).sum()
    return float((agreement - by_chance) / (1 - by_chance))
