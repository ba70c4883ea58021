"""Figures 3 to 5 and Tables 3 to 8: stability and accuracy against numbers of features, and ranks of alpha."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from holdfast import plots
from reproductions.experiments import experiment
from reproductions.gulgezen2009 import published
from reproductions.gulgezen2009.nested import REDRAWN, Nested, describe_protocol, run_study
from reproductions.gulgezen2009.published import ALPHAS, PAPER, QUARTER, RATIOS, TITLES, Row
from reproductions.records import Claim, Evidence, Outcome, Picture, Rule, Table
from reproductions.workbench import Workbench

OTHERS = ("ionosphere", "sonar", "parkinsons", "gtzan5_librosa", "optdigits_train", "wine")
Tables = Mapping[str, tuple[str, Mapping[float, Row]]]


@experiment(
    PAPER, "musk", shows="Figures 3 and 4, Tables 3 and 4", data=("musk1",),
    title="MID, MIQ and MID with weights on Musk, against numbers of features",
    question="Is MID more stable than MIQ on Musk, and which weight α is the most stable, and the most accurate?",
)  # fmt: skip
def musk(bench: Workbench) -> Outcome:
    """Compare MID with MIQ, and the alphas by stability and accuracy, at each r."""
    ratios = bench.choose(RATIOS, (QUARTER,))
    nested = run_study(bench, "musk1", ratios)
    tables = {"stability": ("Table 3", published.MUSK_STABILITY), "accuracy": ("Table 4", published.MUSK_ACCURACY)}
    outcome = compare_alphas(nested, "musk1", ratios, tables, ("Figure 3", "Figure 4"))
    pictures = [plot_curves(nested, ratio, (0.5, None), "Figure 3", "musk1") for ratio in ratios]
    return replace(
        outcome, claims=[judge_always(nested, ratios), *outcome.claims], pictures=[*pictures, *outcome.pictures]
    )


@experiment(
    PAPER, "multi-features", shows="Figure 5, Tables 5 and 6", data=("mfeat",),
    title="MID, MIQ and MID with weights on Multi-features digits",
    question="Is MID more stable than MIQ on Multi-features, and which weight α is the most stable, and the most "
    "accurate?",
)  # fmt: skip
def multi_features(bench: Workbench) -> Outcome:
    """Compare the alphas by stability and accuracy at each r, and MID with MIQ."""
    ratios = bench.choose(RATIOS, (QUARTER,))
    nested = run_study(bench, "mfeat", ratios)
    tables = {"stability": ("Table 5", published.MFEAT_STABILITY), "accuracy": ("Table 6", published.MFEAT_ACCURACY)}
    return compare_alphas(nested, "mfeat", ratios, tables, ("Figure 5", "Figure 5"))


def compare_alphas(
    nested: Nested, name: str, ratios: Sequence[float], tables: Tables, figures: tuple[str, str]
) -> Outcome:
    """Judge the rows of both tables, on which side of 0.5 the best alpha is, and MID next to MIQ."""
    return Outcome(
        claims=[
            *(judge_difference(nested, ratio, name, figures[0]) for ratio in ratios),
            judge_accuracy(nested, name, figures[1]),
            *(
                judge_row(nested, ratio, of, rows[ratio], name, exhibit)
                for of, (exhibit, rows) in tables.items() for ratio in ratios
            ),
            judge_side(nested, name, tables["stability"][0]),
        ],
        tables=[
            make_table({f"{ratio:g}": (nested.ranks(ratio, of), rows[ratio]) for ratio in ratios},
                       f"{exhibit}: {of} on {TITLES[name]}", "r")
            for of, (exhibit, rows) in tables.items()
        ],
        pictures=[
            plot_curves(nested, ratio, (*ALPHAS, None), figures[1], name)
            for ratio in (0.25, 0.75) if ratio in ratios
        ],
        protocol=describe_protocol(TITLES[name], nested, ratios),
    )  # fmt: skip


@experiment(
    PAPER, "tables7-8", shows="Tables 7 and 8", data=OTHERS,
    title="ranks of α by stability and by accuracy on the other data sets at r = 0.25",
    question="Does the best α depend on the data set, and is MID more stable than MIQ everywhere?",
)  # fmt: skip
def all_sets(bench: Workbench) -> Outcome:
    """Rank the alphas on each set, compare MID with MIQ, and 3 nearest neighbors with support vector machines."""
    names = bench.available(bench.choose(OTHERS, OTHERS[-1:]))
    found = {name: run_study(bench, name, (QUARTER,)) for name in names}
    machine = make_pipeline(StandardScaler(), SVC())
    machines = {name: run_study(bench, name, (QUARTER,), estimator=machine, n_sizes=6) for name in names}
    tables = {
        "stability": ("Table 7", published.STABILITY_AT_QUARTER), "accuracy": ("Table 8", published.ACCURACY_AT_QUARTER)
    }  # fmt: skip
    return Outcome(
        claims=[
            *(
                judge_row(nested, QUARTER, of, rows[name], name, exhibit)
                for of, (exhibit, rows) in tables.items() for name, nested in found.items()
            ),
            *(judge_side(nested, name, "Table 7") for name, nested in found.items()),
            *(judge_half(found, of, exhibit) for of, (exhibit, _) in tables.items()),
            *(judge_difference(nested, QUARTER, name, "") for name, nested in found.items()),
            *(judge_accuracy(nested, name, "") for name, nested in found.items()),
            *judge_machines(found, machines),
        ],
        tables=[
            make_table({TITLES[name]: (nested.ranks(QUARTER, of), rows[name]) for name, nested in found.items()},
                       f"{exhibit}: {of} at r = 0.25", "data set")
            for of, (exhibit, rows) in tables.items()
        ],
        protocol=describe_protocol(", ".join(map(TITLES.__getitem__, names)), found[names[-1]], [QUARTER])
        + " The rows of Musk and Multi-features in Tables 7 and 8 repeat Tables 3 to 6. Support vector machines "
        "(radial kernel, standardized columns) were scored at six numbers of features.",
    )  # fmt: skip


# Claims


def judge_row(nested: Nested, ratio: float, of: str, row: Row, name: str, exhibit: str) -> Claim:
    """Judge a printed row of mean ranks by the mean distance of ours from it."""
    printed = np.array([rank for rank, _ in row])
    values = np.array([nested.by_sample(alpha, ratio, of) for alpha in ALPHAS])  # alphas × sizes × samples
    others = np.delete(values, ALPHAS.index(0.5), axis=0) - values[ALPHAS.index(0.5)]
    error = np.median(others.std(axis=2, ddof=1)) / np.sqrt(values.shape[2])
    gap = np.median(np.ptp(values.mean(axis=2), axis=0))
    features = "The features are not the paper's. " if name == "gtzan5_librosa" else ""
    found = nested.judge_ranks(ratio, of, lambda ranks: float(np.abs(ranks - printed).mean()))
    ours = " ".join(f"{rank:.1f}" for rank in nested.ranks(ratio, of)["rank"])
    return Claim(
        claim=f"Mean ranks of α by {of} on {TITLES[name]} at r = {ratio:g}.", exhibit=exhibit,
        printed=" ".join(f"{rank:g}" for rank in printed), rule=Rule.word("similar", "rank"),
        evidence=replace(found, shown=f"{ours}; distance {found}"),
        reason=f"{features}The best and the worst α are {gap:.3f} apart (median over numbers of features); the "
        f"standard error of a difference from MID is {error:.3f}.",
    )  # fmt: skip


def judge_side(nested: Nested, name: str, exhibit: str) -> Claim:
    """Judge on which side of 0.5 the most stable alpha is, by how far its mean rank is ahead of the other side's."""
    above = name in published.PREFERS_RELEVANCE
    own = np.array([alpha > 0.5 if above else alpha < 0.5 for alpha in ALPHAS])
    side = "above" if above else "below"
    return Claim(
        claim=f"The best α by stability on {TITLES[name]} at r = 0.25 is {side} 0.5.", exhibit=exhibit,
        where="Section 5.3", printed=f"{side} 0.5", rule=Rule.above(0),
        evidence=nested.judge_ranks(QUARTER, "stability", lambda ranks: float(ranks[~own].min() - ranks[own].min())),
        reason="How far the best mean rank on this side is ahead of the best of the others, 0.5 included.",
    )  # fmt: skip


def judge_half(found: Mapping[str, Nested], of: str, exhibit: str) -> Claim:
    """Judge whether another alpha than that of MID is best on at least one data set."""
    half = ALPHAS.index(0.5)
    ahead = [
        nested.judge_ranks(QUARTER, of, lambda ranks: float(ranks[half] - np.delete(ranks, half).min()), len(found))
        for nested in found.values()
    ]
    best = max(ahead, key=lambda evidence: evidence.low)
    return Claim(
        claim=f"MID, α = 0.5, is not necessarily the best choice by {of}.", exhibit=exhibit, where="Section 5.3",
        evidence=replace(
            best, high=max(evidence.high for evidence in ahead),
            varied=f"{REDRAWN}, for the clearest of {len(found)} data sets",
        ),
        rule=Rule.above(0),
    )  # fmt: skip


def judge_difference(nested: Nested, ratio: float, name: str, exhibit: str) -> Claim:
    """Judge whether MID is more stable than MIQ, on average over numbers of features."""
    by_sample = nested.difference(ratio, "stability").mean(axis=0)
    return Claim(
        claim=f"MID is more stable than MIQ on {TITLES[name]} at r = {ratio:g}, on average over numbers of features.",
        exhibit=exhibit, where="Section 5.3", rule=Rule.above(0), reason=explain_difference(nested),
        evidence=Evidence.from_sample(by_sample, f"{by_sample.size} bootstrap samples", digits=3),
    )  # fmt: skip


def explain_difference(nested: Nested) -> str:
    """A likely reason for MID not to be more stable."""
    if not nested.constant:
        return "The argument from the variances of the criteria does not say how far features are apart in each."
    size = nested.sizes[:5][-1]
    mid, miq = (nested.share_with_constants(alpha, size) for alpha in (0.5, None))
    return (
        f"A constant feature ({', '.join(nested.constant)}) has no information and matches nothing, not even itself; "
        f"V − W takes it for free of redundancy. Among {size} features MID chose one on {mid:.0%} of samples, MIQ on "
        f"{miq:.0%}."
    )


def judge_always(nested: Nested, ratios: Sequence[float]) -> Claim:
    """Judge whether MID is at least as stable at every number of features."""
    samples = np.concatenate([nested.difference(ratio, "stability") for ratio in ratios])
    ours, drawn = ((means >= -1e-12).mean(axis=0) for means in (samples.mean(axis=1), nested.redraw(samples)))
    return Claim(
        claim="MID is always more stable than MIQ on Musk, whatever r and the number of features.", exhibit="Figure 3",
        where="Section 5.3", printed="always",
        evidence=Evidence.from_draws(float(ours), drawn, REDRAWN, n_units=nested.n_samples, digits=3),
        rule=Rule.equal(1.0, "at every point"),
        reason="The claims on averages over numbers of features say where it holds in general.",
    )  # fmt: skip


def judge_accuracy(nested: Nested, name: str, exhibit: str) -> Claim:
    """Judge whether MID and MIQ are similarly accurate."""
    by_sample = nested.difference(QUARTER, "accuracy").mean(axis=0)
    return Claim(
        claim=f"MID and MIQ have similar accuracies on {TITLES[name]} at r = 0.25.", exhibit=exhibit,
        where="Abstract and Section 6", rule=Rule.word("similar", "accuracy"),
        evidence=Evidence.from_sample(by_sample, f"{by_sample.size} bootstrap samples", digits=3),
        reason="The paper gives no number for “similar”.",
    )  # fmt: skip


def judge_machines(found: Mapping[str, Nested], machines: Mapping[str, Nested]) -> list[Claim]:
    """Judge the remark that support vector machines showed no significant difference, in two readings."""
    differences, spreads = [], []
    for name, nested in machines.items():
        places = [found[name].sizes.index(size) for size in nested.sizes]
        own = np.array([nested.by_sample(alpha, QUARTER, "accuracy") for alpha in ALPHAS])
        neighbors = np.array([found[name].by_sample(alpha, QUARTER, "accuracy")[places] for alpha in ALPHAS])
        differences.append(float((own - neighbors).mean()))
        spreads.append(float(np.ptp(own.mean(axis=(1, 2)))))
    n = f"{len(machines)} data sets"
    readings = {
        "Support vector machines are as accurate as 3 nearest neighbors.": differences,
        "Support vector machines are as accurate with any α (highest minus lowest mean accuracy).": spreads,
    }
    return [
        Claim(
            claim=claim, where="Section 5.2", printed="no significant difference",
            evidence=Evidence.from_sample(values, n, digits=3) if len(values) > 1
            else Evidence.undefined("One data set."),
            rule=Rule.word("similar", "accuracy"),
            reason="Between what no difference was seen the paper does not say: both readings are judged. The machines "
            "see standardized columns, the neighbors values as they are.",
        )
        for claim, values in readings.items()
    ]  # fmt: skip


# Tables, pictures and notes


def make_table(rows: Mapping[str, tuple[pd.DataFrame, Row]], title: str, index: str) -> Table:
    """A table of the paper, with the printed numbers in brackets."""
    cells = {
        label: [
            *(f"{rank:.1f} ∓ {sd:.1f} ({printed:g} ∓ {spread:g})"
              for rank, sd, (printed, spread) in zip(ours["rank"], ours["sd"], row, strict=True)),
            f"{np.abs(ours['rank'] - [rank for rank, _ in row]).mean():.2f}",
        ]
        for label, (ours, row) in rows.items()
    }  # fmt: skip
    return Table(
        title=f"{title}: mean rank ∓ standard deviation over numbers of features, in brackets as printed",
        frame=pd.DataFrame.from_dict(
            cells, orient="index", columns=[*(f"α = {alpha:g}" for alpha in ALPHAS), "mean distance"]
        ).rename_axis(index),
    )


def plot_curves(nested: Nested, ratio: float, alphas: Sequence[float | None], exhibit: str, name: str) -> Picture:
    """Stability and accuracy against the number of features, a line for each alpha; None stands for MIQ."""
    if len(alphas) == 2:
        above = (nested.difference(ratio, "stability").mean(axis=1) > 1e-12).sum()
        finding = f"MID is more stable than MIQ at {above} of {len(nested.sizes)} numbers of features"
    else:
        best = [nested.ranks(ratio, of)["rank"].idxmin() for of in ("stability", "accuracy")]
        finding = f"The best mean rank has α = {best[0]:g} by stability and α = {best[1]:g} by accuracy"
    chart = plots.plot_setting(
        nested.result, "size", measure=nested.measure, fraction=ratio, title=finding,
        candidates=[own for alpha in alphas for own in nested.names(alpha)],
    )  # fmt: skip
    which = "mid-miq" if len(alphas) == 2 else "alphas"
    what = "MID (α = 0.5) and MIQ" if len(alphas) == 2 else "all α and MIQ"
    return Picture(
        name=f"{which}-{ratio:g}".replace(".", ""), exhibit=exhibit, chart=chart,
        caption=f"{exhibit}: {what} on {TITLES[name]} at r = {ratio:g}.",
    )  # fmt: skip
