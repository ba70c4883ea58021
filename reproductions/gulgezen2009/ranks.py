"""Figures 3 to 5 and Tables 3 to 8: stability and accuracy against numbers of features, and ranks of alpha."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from scipy.stats import spearmanr, t

import holdfast as hf
from holdfast import plots
from reproductions import unconverted
from reproductions.experiments import experiment
from reproductions.gulgezen2009 import published
from reproductions.gulgezen2009.nested import (
    Floats,
    Nested,
    describe_protocol,
    run_study,
)
from reproductions.gulgezen2009.published import ALPHAS, PAPER, QUARTER, RATIOS, TITLES, Row
from reproductions.records import Claim, Outcome, Picture, Table
from reproductions.workbench import Workbench

LEAST = 0.9
RULE = f"Spearman's correlation with the printed ranks is at least {LEAST}: at most 1 in 24 orders of five are so near"
SIMILAR = 0.02
"""Difference of accuracies up to which they are called similar."""
OTHERS = ("ionosphere", "sonar", "parkinsons", "gtzan5_librosa", "optdigits_train", "wine")
ALREADY_WHOLE = "optdigits_train"
"""Its values are whole numbers up to 16: bins change little, and ties of distances take long."""


@experiment(
    PAPER, "musk", shows="Figures 3 and 4, Tables 3 and 4", data=("musk1",),
    title="MID, MIQ and MID with weights on Musk, against numbers of features",
)  # fmt: skip
def musk(bench: Workbench) -> Outcome:
    """Compare MID with MIQ, and the alphas by stability and accuracy, at each r."""
    ratios = bench.choose(RATIOS, (QUARTER,))
    nested = run_study(bench, "musk1", ratios)
    binned = run_study(bench, "musk1", (QUARTER,), binned=True)
    tables = {"stability": published.MUSK_STABILITY, "accuracy": published.MUSK_ACCURACY}
    return Outcome(
        claims=[
            *(more_stable(nested, ratio, "Musk", "Figure 3, Section 5.3") for ratio in ratios),
            always_more_stable(nested, ratios),
            *similar_accuracy({"musk1": nested}),
            *table_checks(nested, binned, ratios, tables, "Musk", {"stability": "Table 3", "accuracy": "Table 4"}),
        ],
        tables=[
            ratio_table(nested, ratios, tables["stability"], "stability", "Table 3: stability on Musk"),
            ratio_table(nested, ratios, tables["accuracy"], "accuracy", "Table 4: 3-NN accuracy on Musk"),
        ],
        pictures=[
            *(
                curves(nested, ratio, (0.5, None), f"Figure 3: MID (alpha = 0.5) and MIQ on Musk at r = {ratio:g}.")
                for ratio in ratios
            ),
            *all_curves(nested, "Figure 4: all alphas and MIQ on Musk at r = {:g}."),
        ],
        protocol=describe_protocol("Musk (version 1)", nested.result, ratios),
        notes=[say_best(nested, ratios, "Musk"), say_readings(binned, published.MUSK_ACCURACY[QUARTER], "Musk")],
    )  # fmt: skip


@experiment(
    PAPER, "multi-features", shows="Figure 5, Tables 5 and 6", data=("mfeat",),
    title="MID, MIQ and MID with weights on Multi-features digits",
)  # fmt: skip
def multi_features(bench: Workbench) -> Outcome:
    """Compare the alphas by stability and accuracy at each r, and MID with MIQ."""
    ratios = bench.choose(RATIOS, (QUARTER,))
    nested = run_study(bench, "mfeat", ratios)
    binned = run_study(bench, "mfeat", (QUARTER,), binned=True)
    tables = {"stability": published.MFEAT_STABILITY, "accuracy": published.MFEAT_ACCURACY}
    places = {"stability": "Table 5", "accuracy": "Table 6"}
    return Outcome(
        claims=[
            *(more_stable(nested, ratio, "Multi-features", "Figure 5, Section 5.3") for ratio in ratios),
            *similar_accuracy({"mfeat": nested}),
            *table_checks(nested, binned, ratios, tables, "Multi-features", places),
        ],
        tables=[
            ratio_table(nested, ratios, tables["stability"], "stability", "Table 5: stability on Multi-features"),
            ratio_table(nested, ratios, tables["accuracy"], "accuracy", "Table 6: 3-NN accuracy on Multi-features"),
        ],
        pictures=all_curves(nested, "Figure 5: all alphas and MIQ on Multi-features at r = {:g}."),
        protocol=describe_protocol("Multi-features digits", nested.result, ratios)
        + bench.choose(" The numbers of features are evenly spaced, so that mean ranks estimate those over all.", ""),
        notes=[
            say_best(nested, ratios, "Multi-features"),
            say_readings(binned, published.MFEAT_ACCURACY[QUARTER], "Multi-features"),
        ],
    )  # fmt: skip


@experiment(
    PAPER, "tables7-8", shows="Tables 7 and 8", data=OTHERS,
    title="ranks of alpha by stability and by accuracy on the other data sets at r = 0.25",
)  # fmt: skip
def all_sets(bench: Workbench) -> Outcome:
    """Rank the alphas on each set, and compare MID with MIQ."""
    names = bench.choose(OTHERS, OTHERS[-1:])
    found = {name: run_study(bench, name, (QUARTER,)) for name in bench.available(names)}
    binned = {name: run_study(bench, name, (QUARTER,), binned=True) for name in found if name != ALREADY_WHOLE}
    return Outcome(
        claims=[
            *(set_check(nested, name, "stability") for name, nested in found.items()),
            *(side_check(nested, name) for name, nested in found.items()),
            half_is_not_always_best(found),
            *(more_stable(nested, QUARTER, TITLES[name], "Section 5.3") for name, nested in found.items()),
            *similar_accuracy(found),
            *(set_check(nested, name, "accuracy", binned.get(name)) for name, nested in found.items()),
        ],
        tables=[
            set_table(found, published.STABILITY_AT_QUARTER, "stability", "Table 7: stability at r = 0.25"),
            set_table(found, published.ACCURACY_AT_QUARTER, "accuracy", "Table 8: 3-NN accuracy at r = 0.25"),
            set_table(binned, published.ACCURACY_AT_QUARTER, "accuracy", "Table 8 with 3-NN on bins"),
        ],
        protocol=describe_protocol(
            ", ".join(TITLES[name] for name in found), list(found.values())[-1].result, [QUARTER]
        )
        + " Of Handwritten digits the 3823 rows of the training part. The rows of Musk and Multi-features in Tables 7 "
        "and 8 repeat Tables 3 to 6.",
        notes=[say_uncertainty(found), say_without_similarity(found)],
    )  # fmt: skip


# Checks


def table_checks(
    nested: Nested,
    binned: Nested,
    ratios: Sequence[float],
    tables: dict[str, dict[float, Row]],
    title: str,
    places: dict[str, str],
) -> list[Claim]:
    """One check for each printed row of ranks; rows of accuracy say what bins would change."""
    return [
        rank_check(
            nested, ratio, of, tables[of][ratio], title, places[of],
            say_bins(binned, tables[of][ratio]) if of == "accuracy" and ratio == QUARTER else "",
        )
        for of in tables for ratio in ratios
    ]  # fmt: skip


def set_check(nested: Nested, name: str, of: str, binned: Nested | None = None) -> Claim:
    """Claim the row of a data set in Table 7 or 8."""
    rows, where = {
        "stability": (published.STABILITY_AT_QUARTER, "Table 7"),
        "accuracy": (published.ACCURACY_AT_QUARTER, "Table 8"),
    }[of]
    more = "The features are not the paper's." if name == "gtzan5_librosa" else ""
    bins = "" if binned is None else say_bins(binned, rows[name])
    return rank_check(nested, QUARTER, of, rows[name], TITLES[name], where, f"{more} {bins}")


def rank_check(nested: Nested, ratio: float, of: str, row: Row, title: str, where: str, more: str) -> Claim:
    """Claim the order of the alphas by the correlation of mean ranks with a printed row."""
    ours = nested.ranks(ratio, of)["rank"]
    found = correlate(ours, row)
    low, high = np.nanquantile([correlate(ranks, row) for ranks in nested.redrawn_ranks(ratio, of)], [0.025, 0.975])
    return unconverted.fact(
        f"Order of the five alphas by {of} on {title} at r = {ratio:g}.", where, holds=found >= LEAST - 1e-9, rule=RULE,
        published=" ".join(f"{rank:g}" for rank, _ in row), ours=f"{found:.2f}: {_line(ours)}",
        if_missed=f"With our bootstrap samples drawn again the correlation is {low:.2f} to {high:.2f}. "
        f"{_say_spread(nested, ratio, of)} {more}".strip(),
    )  # fmt: skip


def _say_spread(nested: Nested, ratio: float, of: str) -> str:
    """How far the values that are ranked lie apart, beside how sure a difference of two is."""
    values = np.array([nested.by_sample(alpha, ratio, of) for alpha in ALPHAS])  # alphas × sizes × samples
    others = np.delete(values, ALPHAS.index(0.5), axis=0) - values[ALPHAS.index(0.5)]
    error = np.median(others.std(axis=2, ddof=1)) / np.sqrt(values.shape[2])
    gap = np.median(np.ptp(values.mean(axis=2), axis=0))
    return (
        f"The best and the worst alpha are {gap:.3f} apart (median over numbers of features); the standard error of a "
        f"difference from MID is {error:.3f}."
    )


def side_check(nested: Nested, name: str) -> Claim:
    """Claim on which side of 0.5 the most stable alpha is."""
    ranks = nested.ranks(QUARTER, "stability")["rank"]
    above = name in published.PREFERS_RELEVANCE
    redrawn = np.array([float(ALPHAS[place]) for place in nested.redrawn_ranks(QUARTER, "stability").argmin(axis=1)])
    share = ((redrawn > 0.5) if above else (redrawn < 0.5)).mean()
    side, best = "above" if above else "below", float(ALPHAS[int(ranks.to_numpy().argmin())])
    return unconverted.fact(
        f"The most stable alpha on {TITLES[name]} is {side} 0.5.", "Section 5.3, Table 7",
        holds=best > 0.5 if above else best < 0.5,
        rule="the alpha of the best mean rank", published=f"{side} 0.5", ours=f"{best:g}",
        if_missed=f"It is {side} 0.5 in {share:.0%} of redraws of our bootstrap samples.",
    )  # fmt: skip


def half_is_not_always_best(found: dict[str, Nested]) -> Claim:
    """Claim that MID, alpha = 0.5, is not the best choice everywhere."""
    best = {
        of: [nested.ranks(QUARTER, of)["rank"].idxmin() for nested in found.values()]
        for of in ("stability", "accuracy")
    }
    return unconverted.fact(
        "MID, alpha = 0.5, is not necessarily the best choice, by stability or accuracy.", "Section 5.3",
        holds=all(any(alpha != 0.5 for alpha in alphas) for alphas in best.values()),
        rule="another alpha has the best mean rank on at least one data set, by each",
        ours="; ".join(
            f"{of}: another on {sum(alpha != 0.5 for alpha in alphas)} of {len(alphas)}" for of, alphas in best.items()
        ),
    )  # fmt: skip


def more_stable(nested: Nested, ratio: float, title: str, where: str) -> Claim:
    """Claim that MID is more stable than MIQ, on average over numbers of features."""
    by_sample = nested.difference(ratio, "stability").mean(axis=0)
    low, high = _interval(by_sample)
    return unconverted.order(
        f"MID is more stable than MIQ on {title} at r = {ratio:g}, on average over numbers of features.", where,
        difference=float(by_sample.mean()), low=low, high=high, digits=3, if_missed=_say_why(nested),
    )  # fmt: skip


def _say_why(nested: Nested) -> str:
    """A likely reason for MID not to be more stable."""
    if not nested.constant:
        return (
            "The paper's argument from the variances of the criteria does not say how far features are apart in each."
        )
    size = [nested.result.settings(name)["size"] for name in nested.names(None)][:5][-1]
    mid, miq = (nested.share_with_constants(alpha, size) for alpha in (0.5, None))
    return (
        f"A constant feature ({', '.join(nested.constant)}) has no information and matches nothing, not even itself; "
        f"V − W takes it for free of redundancy. Among {size} features MID chose one on {mid:.0%} of samples, MIQ on "
        f"{miq:.0%}."
    )


def always_more_stable(nested: Nested, ratios: Iterable[float]) -> Claim:
    """Claim that MID is more stable at every number of features."""
    parts = {ratio: nested.difference(ratio, "stability").mean(axis=1) for ratio in ratios}
    below = {ratio: int((part < -1e-12).sum()) for ratio, part in parts.items()}
    total = sum(part.size for part in parts.values())
    return unconverted.fact(
        "MID is always more stable than MIQ, whatever r and the number of features.", "Section 5.3, Figure 3",
        holds=not any(below.values()),
        rule="MIQ's mean similarity is not above MID's at any number of features and r",
        ours=f"MIQ above at {sum(below.values())} of {total} points ("
        + ", ".join(f"{count} at r = {ratio:g}" for ratio, count in below.items()) + ")",
        if_missed="The checks above say where it holds on average over numbers of features.",
    )  # fmt: skip


def similar_accuracy(found: dict[str, Nested]) -> list[Claim]:
    """Claim that MID and MIQ are similarly accurate."""
    means = {TITLES[name]: nested.difference(QUARTER, "accuracy").mean(axis=0) for name, nested in found.items()}
    return [
        unconverted.fact(
            f"MID and MIQ have similar accuracies on {title} at r = 0.25.", "Abstract, Section 6",
            holds=bool(abs(by_sample.mean()) <= SIMILAR),
            rule=f"mean accuracies over numbers of features differ by at most {SIMILAR}",
            ours="{:+.3f} ({:+.3f} to {:+.3f})".format(by_sample.mean(), *_interval(by_sample)),
            if_missed="Their difference is larger than what we call similar; the paper gives no number.",
        )
        for title, by_sample in means.items()
    ]  # fmt: skip


def correlate(ours: Iterable[float], row: Row) -> float:
    """Spearman's correlation of ranks with a printed row."""
    return float(spearmanr(list(ours), [rank for rank, _ in row])[0])


def _interval(by_sample: Floats) -> tuple[float, float]:
    reach = t.ppf(0.975, by_sample.size - 1) * by_sample.std(ddof=1) / np.sqrt(by_sample.size)
    return float(by_sample.mean() - reach), float(by_sample.mean() + reach)


# Tables and pictures


def ratio_table(nested: Nested, ratios: Sequence[float], rows: dict[float, Row], of: str, title: str) -> Table:
    """A table of the paper with one row for each r."""
    return _table({f"{ratio:g}": (nested.ranks(ratio, of), rows[ratio]) for ratio in ratios}, title, "r")


def set_table(found: dict[str, Nested], rows: dict[str, Row], of: str, title: str) -> Table:
    """A table of the paper with one row for each data set."""
    by_set = {TITLES[name]: (nested.ranks(QUARTER, of), rows[name]) for name, nested in found.items()}
    return _table(by_set, title, "data set")


def _table(rows: dict[str, tuple[pd.DataFrame, Row]], title: str, index: str) -> Table:
    cells = {label: [*_cells(ours, row), f"{correlate(ours['rank'], row):.2f}"] for label, (ours, row) in rows.items()}
    columns = [*(f"α = {alpha:g}" for alpha in ALPHAS), "Spearman"]
    return Table(
        title=f"{title}: mean rank ∓ standard deviation over numbers of features, in brackets as printed",
        frame=pd.DataFrame.from_dict(cells, orient="index", columns=columns).rename_axis(index),
    )


def _cells(ours: pd.DataFrame, row: Row) -> list[str]:
    pairs = zip(ours["rank"], ours["sd"], row, strict=True)
    return [f"{rank:.1f} ∓ {sd:.1f} ({printed:g} ∓ {spread:g})" for rank, sd, (printed, spread) in pairs]


def curves(nested: Nested, ratio: float, alphas: Sequence[float | None], caption: str) -> Picture:
    """Stability and accuracy against the number of features, a line for each alpha; None stands for MIQ."""
    names = [name for alpha in alphas for name in nested.names(alpha)]
    chart = plots.plot_setting(
        nested.result, "size", measure=nested.measure, fraction=ratio, candidates=names
    )  # fmt: skip
    which = "mid-miq" if len(alphas) == 2 else "alphas"
    return Picture(name=f"{which}-{ratio:g}".replace(".", ""), caption=caption, chart=chart)


def all_curves(nested: Nested, caption: str) -> list[Picture]:
    """The pictures with all alphas and MIQ, at the two sizes of the paper's figures."""
    ratios = [ratio for ratio in (0.25, 0.75) if ratio in nested.result.fractions]
    return [curves(nested, ratio, (*ALPHAS, None), caption.format(ratio)) for ratio in ratios]


# Beyond the paper


def say_bins(binned: Nested, row: Row) -> str:
    """What the correlation is with a classifier that is given bins."""
    ranks = binned.ranks(QUARTER, "accuracy")["rank"]
    return f"With 3-NN on bins instead of values the correlation is {correlate(ranks, row):.2f} ({_line(ranks)})."


def say_readings(binned: Nested, row: Row, title: str) -> str:
    """The other reading of the classifier's input."""
    n_sizes = len(binned.names(ALPHAS[0]))
    return (
        "The paper does not say whether the classifier was given values or bins; the order of alphas above is with "
        f"values. {title}, r = 0.25, {n_sizes} numbers of features: {say_bins(binned, row)}"
    )


def say_best(nested: Nested, ratios: Sequence[float], title: str) -> str:
    """How sure the best alpha is, from redraws of the bootstrap samples."""
    parts = []
    for ratio in ratios:
        for of in ("stability", "accuracy"):
            best = nested.redrawn_ranks(ratio, of).argmin(axis=1)
            place = int(np.bincount(best, minlength=len(ALPHAS)).argmax())
            parts.append(f"{of} at r = {ratio:g}: alpha = {ALPHAS[place]:g} in {(best == place).mean():.0%}")
    return (
        f"The paper ranks means of ten bootstrap samples without an interval. With the samples of {title} drawn again, "
        f"the best alpha is most often, by {'; by '.join(parts)} of redraws."
    )


def say_uncertainty(found: dict[str, Nested]) -> str:
    """How sure the most stable alpha is on each set."""
    parts = []
    for name, nested in found.items():
        best = nested.redrawn_ranks(QUARTER, "stability").argmin(axis=1)
        place = int(np.bincount(best, minlength=len(ALPHAS)).argmax())
        parts.append(f"{TITLES[name]} alpha = {ALPHAS[place]:g} ({(best == place).mean():.0%})")
    return (
        "How far ten bootstrap samples settle the most stable alpha: the one that redraws of the samples choose most "
        f"often, with its share: {', '.join(parts)}."
    )


def say_without_similarity(found: dict[str, Nested]) -> str:
    """Whether a chance-corrected measure that knows no similar features orders the alphas alike."""
    parts = []
    for name, nested in found.items():
        ours = nested.ranks(QUARTER, "stability")["rank"]
        plain = nested.ranks(QUARTER, "stability", hf.MEASURES["nogueira"])["rank"]
        parts.append(f"{TITLES[name]} {spearmanr(ours, plain)[0]:.2f} (best alpha {plain.idxmin():g})")
    return (
        "The matching gives credit to similar features and is not corrected for chance. Spearman's correlation of mean "
        "ranks by it with those, on the same selections, by Φ of Nogueira, Sechidis and Brown (2018), which is "
        f"corrected and knows no similar features: {', '.join(parts)}."
    )


def _line(ranks: "pd.Series[float]") -> str:
    return " ".join(f"{rank:.1f}" for rank in ranks)
