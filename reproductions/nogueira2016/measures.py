"""Worked examples of the measures, and figures of their properties (sections 1 to 4)."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import holdfast as hf
from holdfast import plots
from reproductions import unconverted
from reproductions.experiments import experiment
from reproductions.records import Claim, Outcome, Picture, Table
from reproductions.workbench import Workbench

PAPER = "nogueira2016"
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

A_1 = [[1, 1, 1, 0, 0]] * 3
A_2 = [[1, 1, 1, 0, 0], [1, 0, 1, 1, 0], [1, 0, 1, 0, 0]]
"""The two examples of equation (1), section 1."""
D, M = 10, 100
"""Numbers of features and of samples in Figures 1 and 2."""
UNCORRECTED = {"hamming": "Hamming", "jaccard": "Jaccard", "pog": "POG", "dice": "Dice"}
"""The measures of Figure 2."""
CORRECTED = {
    "pearson": "Pearson's correlation",
    "npog": "nPOG",
    "lustgarten": "Lustgarten",
    "wald": "Wald",
    "cw_rel": "CW_rel",
}
"""Those that the paper calls corrected for chance (sections 2.2 and 4)."""


def _stability(rows: object, measure: str) -> float:
    return hf.stability(np.asarray(rows), measure).value


@experiment(PAPER, "examples", shows="Sections 1 to 4", title="worked examples of the measures")
def worked_examples(bench: Workbench) -> Outcome:
    """The two matrices of equation (1), Theorem 2, the conventions of section 4.1, and the scenarios of section 4.2."""
    names = ("jaccard", "dice", "pearson", "nogueira", "cw_rel")
    frame = pd.DataFrame({name: [_stability(A_1, name), _stability(A_2, name)] for name in names}, index=["A_1", "A_2"])
    ours, later = frame.loc["A_2", ["pearson", "nogueira"]]
    return Outcome(
        claims=[*_check_matrices(), *_check_theorems(bench.choose(200, 10)), *_check_scenarios()],
        tables=[Table(title="The two examples by several measures.", frame=frame.rename_axis("example"), digits=4)],
        protocol="Exact arithmetic on the printed matrices; Theorem 2 on random selections of one size.",
        notes=[
            f"The measure of this paper and that of 2018 are two measures if sizes vary: A_2 has {ours:.4f} by the "
            f"mean correlation of pairs and {later:.4f} by the later definition."
        ],
    )


def _check_matrices() -> list[Claim]:
    printed = {
        "The Jaccard stability of A_1 is 1": (1.0, _stability(A_1, "jaccard"), "Section 2.2"),
        "The Jaccard stability of A_2 is 11/18": (11 / 18, _stability(A_2, "jaccard"), "Section 2.2"),
        "Features 2 and 4 of A_2 have frequency 1/3": (
            1 / 3,
            hf.Preferences.from_matrix(A_2).frequency[3],
            "Section 1",
        ),
    }
    return [
        unconverted.number(
            claim, where, published=published, ours=ours, tolerance=1e-12, because="exact", digits=4, kind="exact"
        )
        for claim, (published, ours, where) in printed.items()
    ]


def _check_theorems(n_trials: int) -> list[Claim]:
    gap = _largest_gap(n_trials)
    empty, some, full = [0] * 5, [1, 1, 0, 0, 0], [1] * 5
    conventions = [(empty, some, 0.0), (full, some, 0.0), (empty, full, 0.0), (empty, empty, 1.0), (full, full, 1.0)]
    kept = sum(_stability(pair, "pearson") == value for *pair, value in conventions)
    return [
        unconverted.fact(
            "With subsets of one size, Pearson's correlation, Kuncheva, Wald and nPOG give the same stability",
            "Theorem 2", holds=gap < 1e-9, rule=f"largest difference in {n_trials} random selections below 1e-9",
            ours=f"largest difference {gap:.0e}",
        kind="exact"),
        unconverted.fact(
            "Pearson's similarity is 0 if one set is empty or full and the other is not, and 1 if both are",
            "Section 4.1", holds=kept == len(conventions), rule="equal in five cases", ours=f"equal in {kept}",
        kind="exact"),
    ]  # fmt: skip


def _check_scenarios() -> list[Claim]:
    where = "Section 4.2, Figure 3"
    return [
        unconverted.number(
            "Scenario 1: always the same 6 of 15 features give a stability of 1", where, published=1.0,
            ours=_scenario([0] * 100), tolerance=1e-12, because="exact",
        kind="exact"),
        unconverted.number(
            "Scenario 3: equal frequencies 6/15 give a stability of 0", where, published=0.0,
            ours=_scenario(range(100)), tolerance=0.005, because="printed as 0", digits=3,
            if_missed="Equal *observed* frequencies give -1/(M - 1), here with M = 100: the variance of a feature is "
            "the unbiased one, which the maximum in the denominator is not. 0 is the value of the probabilities.",
        kind="exact"),
    ]  # fmt: skip


def _largest_gap(n_trials: int) -> float:
    """The largest difference of the measures of Theorem 2 in random selections of one size."""
    rng = np.random.default_rng(0)
    gaps = []
    for _ in range(n_trials):
        d = int(rng.integers(5, 30))
        rows = [rng.permutation(np.arange(d) < rng.integers(1, d)).astype(int)]
        rows += [rng.permutation(rows[0]) for _ in range(int(rng.integers(1, 12)))]
        values = [_stability(rows, name) for name in ("pearson", "kuncheva", "wald", "npog")]
        gaps.append(max(values) - min(values))
    return max(gaps)


def _scenario(starts: Sequence[int] | range) -> float:
    """The stability of 6 of 15 features: those from a start on, for each sample."""
    rows = np.zeros((len(starts), 15), dtype=np.int64)
    for row, start in zip(rows, starts, strict=True):
        row[(6 * start + np.arange(6)) % 15] = 1
    return _stability(rows, "pearson")


@experiment(PAPER, "figure1", shows="Figure 1", title="measures that violate the property of the maximum")
def maximum(bench: Workbench) -> Outcome:
    """Identical sets, by Lustgarten; two sets that differ by a feature, by Wald and CW_rel."""
    same = {k: _stability(_first(k, k), "lustgarten") for k in range(1, D)}
    halves = {
        name: {k: _stability(_first(k, k - 1), name) for k in range(2, D)}
        for name in ("wald", "cw_rel", "pearson", "nogueira")
    }
    frame = pd.DataFrame({"lustgarten, identical sets": same, **halves}).rename_axis("k")
    spread = max(same.values()) - min(same.values())
    ones = {name: max(abs(value - 1) for value in halves[name].values()) for name in ("wald", "cw_rel")}
    checks = [
        unconverted.fact(
            "Lustgarten's measure of identical sets varies with their size k", "Figure 1, left", holds=spread > 1e-9,
            rule="its range over k = 1 … 9 is above 0",
            ours=f"from {min(same.values()):.2f} (k = {min(same, key=lambda k: same[k])}) to {max(same.values()):.2f}",
        kind="exact"),
        *(
            unconverted.fact(
                f"{label} is 1 although half of the samples select k features and half k - 1 of them",
                "Figure 1, right", holds=ones[name] < 1e-9, rule="1 at every k = 2 … 9, up to rounding",
                ours=f"at most {ones[name]:.0e} off",
            kind="exact")
            for name, label in (("wald", "Wald's measure"), ("cw_rel", "CW_rel"))
        ),
    ]  # fmt: skip
    lines = {"lustgarten, identical sets": same, **{f"{name}, k and k - 1": halves[name] for name in halves}}
    rows = [(line, k, "stability", value) for line, values in lines.items() for k, value in values.items()]
    return Outcome(
        claims=checks,
        tables=[Table(title="Stability against k; for d = 10 features and M = 100 samples.", frame=frame)],
        pictures=[_by_size(
            rows, "maximum",
            f"Lustgarten's measure of identical sets is {min(same.values()):.1f} to {max(same.values()):.1f}; sets "
            f"that differ have {min(halves['wald'].values()):.1f} (Wald) and {min(halves['cw_rel'].values()):.1f} "
            "(CW_rel)",
            "Stability against the size k, beside Figure 1: Lustgarten's measure where all samples select the same k "
            "features; the others where half of them select k, and half k - 1 of these. Wald's line lies under that of "
            "CW_rel.",
        )],
        protocol="Exact, as in the paper: d = 10 and M = 100.",
        notes=[
            "Where half of the samples select k features and half k - 1 of them, the mean correlation of pairs is "
            f"{min(halves['pearson'].values()):.2f} to {max(halves['pearson'].values()):.2f} and the measure of 2018 "
            f"{min(halves['nogueira'].values()):.2f} to {max(halves['nogueira'].values()):.2f}, below 1 at every k."
        ],
    )  # fmt: skip


def _first(k: int, other: int) -> Ints:
    """Half of the samples select the first k features, half the first of another number."""
    sizes = np.repeat([k, other], M // 2)
    return (np.arange(D) < sizes[:, None]).astype(np.int64)


def _by_size(rows: Sequence[tuple[object, ...]], name: str, title: str, caption: str) -> Picture:
    columns = pd.DataFrame(rows, columns=["line", "setting", "quantity", "value"])
    return Picture(name=name, caption=caption, chart=plots.plot_setting(columns, "k", lines="measure", title=title))


@experiment(PAPER, "figure2", shows="Figure 2", title="measures of random selections: correction for chance")
def correction_for_chance(bench: Workbench) -> Outcome:
    """Mean stability of random selections against their size."""
    sizes, n_draws = range(2, D - 1), bench.choose(200, 10)
    labels = UNCORRECTED | CORRECTED
    drawn = np.array([_random_stabilities(k, n_draws, labels) for k in sizes])  # sizes × draws × measures
    means, errors = drawn.mean(axis=1), drawn.std(axis=1, ddof=1) / np.sqrt(n_draws)
    checks = [
        (_check_varying if name in UNCORRECTED else _check_zero)(name, label, means[:, place], errors[:, place])
        for place, (name, label) in enumerate(labels.items())
    ]
    frame = pd.DataFrame(means.round(3) + 0.0, index=pd.Index(sizes, name="k"), columns=list(labels.values()))
    drawn_labels = [*UNCORRECTED.values(), CORRECTED["pearson"], CORRECTED["cw_rel"]]
    rows = [(label, k, "stability", value) for label in drawn_labels for k, value in frame[label].items()]
    spans = [f"{label} {frame[label].min():.2f} to {frame[label].max():.2f}" for label in drawn_labels[:4]]
    return Outcome(
        claims=checks,
        tables=[Table(title="Mean stability of random selections against their size k.", frame=frame, digits=3)],
        pictures=[_by_size(
            rows, "chance", f"Random selections, k = 2 … 8: {', '.join(spans)}",
            "Mean stability of random selections against their size, beside Figure 2.",
        )],
        protocol=f"As in the paper: d = 10, M = 100; a sample selects k features with probability 1/2, k - 1 or k + 1 "
        f"with 1/4 each. Means over {n_draws} such selections, where the paper shows one. k = 2 … 8, so that no set "
        "is empty or full.",
    )  # fmt: skip


def _random_stabilities(k: int, n_draws: int, names: Iterable[str]) -> list[list[float]]:
    """Stability of random selections, draws × measures."""
    rng = np.random.default_rng(k)
    rows = []
    for _ in range(n_draws):
        sizes = rng.choice([k - 1, k, k + 1], size=M, p=[0.25, 0.5, 0.25])
        selected = rng.permuted(np.arange(D) < sizes[:, None], axis=1).astype(np.int64)
        rows.append([_stability(selected, name) for name in names])
    return rows


def _check_varying(name: str, label: str, means: Floats, errors: Floats) -> Claim:
    low, high = int(np.argmin(means)), int(np.argmax(means))
    return unconverted.fact(
        f"{label} is not corrected for chance: its mean over random selections depends on their size", "Figure 2",
        holds=bool(means[high] - means[low] > 4 * np.hypot(errors[low], errors[high])),
        rule="its largest and least mean over k differ by more than 4 standard errors",
        ours=f"from {means[low]:.2f} (k = {low + 2}) to {means[high]:.2f} (k = {high + 2})",
    )  # fmt: skip


def _check_zero(name: str, label: str, means: Floats, errors: Floats) -> Claim:
    apart = float((np.abs(means) / errors).max())
    return unconverted.fact(
        f"{label} is corrected for chance: its mean over random selections is 0 whatever their size",
        {"pearson": "Theorem 1", "cw_rel": "Section 2.2"}.get(name, "Figure 2, which does not name it"),
        holds=apart <= 4, rule="at every k within 4 standard errors of 0",
        ours=f"farthest from 0: {np.abs(means).max():.4f}, {apart:.1f} standard errors",
        if_missed="The correction is asymptotic: with M samples a value of order 1/M remains, as the authors' paper of "
        "2018 says." if name == "cw_rel" else "",
    )  # fmt: skip
