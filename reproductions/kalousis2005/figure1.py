"""Figure 1: which inner fold selected which feature."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import holdfast as hf
from holdfast import plots
from reproductions import unconverted
from reproductions.experiments import experiment
from reproductions.kalousis2005.nested import SAME, TOP, at_size, load_data, names_of_data, run_methods
from reproductions.kalousis2005.published import METHODS, OVARIAN, PAPER
from reproductions.kalousis2005.table2 import WRONG_END
from reproductions.records import Claim, Outcome, Picture, Table
from reproductions.workbench import Workbench

LOW = 500.0
"""m/z below which spectra of this kind show mostly the matrix, not proteins."""


@experiment(PAPER, "figure1", shows="Figure 1", title="selection maps of the ten best features", data=(OVARIAN, "alon"))
def figure1(bench: Workbench) -> Outcome:
    """Draw which of the inner folds selected which feature, one map for each method."""
    name = names_of_data(bench)[0]
    X, y, _ = load_data(bench, name)
    result = run_methods(bench, name, X, y)
    frame = pd.DataFrame([_describe(result, method) for method in METHODS]).set_index("method")
    pictures = [
        Picture(
            name=f"map-{method.lower()}", chart=plots.plot_selection_map(result, at_size(method), show="all"),
            caption=f"{method} on {name}, beside Figure 1: columns are features in file order, rows are inner folds, "
            "ten for each outer fold.",
        )
        for method in METHODS
    ]  # fmt: skip
    return Outcome(
        claims=judge_maps(frame),
        tables=[
            Table(title=f"What the maps of {name} show, ten best features of each inner fold", frame=frame, digits=3)
        ],
        pictures=pictures,
        protocol=SAME + f"The paper shows prostate, which is not to be had; here it is {name}.",
        notes=[_always(result), *(_low_masses(result) if name == OVARIAN else [])],
    )


def _describe(result: hf.StudyResult, method: str) -> dict[str, object]:
    estimate = result.stability(at_size(method), "jaccard")
    runs = result.preferences(at_size(method))
    counts = runs.counts
    n_blocks = len(set(result.runs_by_block(at_size(method)).blocks))
    all_pairs, n = hf.stability(runs, "jaccard").value, runs.n_runs
    inside = n / n_blocks - 1  # other folds of the same outer fold, among the n − 1 other folds
    return {
        "method": method, "S_S": estimate.value,
        "S_S across outer folds": _across(all_pairs, estimate.value, inside, n),
        "features ever selected": int((counts > 0).sum()), "in every fold": int((counts == n).sum()),
    }  # fmt: skip


def _across(all_pairs: float, inside: float, n_inside: float, n: int) -> float:
    """The mean similarity of pairs of different outer folds, from that of all pairs and that of pairs inside."""
    share = n_inside / (n - 1)
    return (all_pairs - share * inside) / (1 - share)


def judge_maps(frame: pd.DataFrame) -> list[Claim]:
    """Claim what Section 4 says of the maps."""
    by_stability = frame.sort_values("S_S", ascending=False).index.tolist()
    by_features = frame.sort_values("features ever selected", kind="stable").index.tolist()
    within, across = frame["S_S"], frame["S_S across outer folds"]
    least = str(frame["features ever selected"].idxmax())
    return [
        unconverted.fact(
            "The maps agree with S_S: the more stable a method, the fewer columns", "Section 4, on Figure 1",
            holds=by_stability == by_features, rule="the order by features ever selected is that by S_S",
            ours=f"by S_S: {', '.join(by_stability)}; by columns: {', '.join(by_features)}",
            if_missed="A feature that is selected once counts as much as one that is selected in half of the folds.",
        ),
        unconverted.fact(
            "Inner folds of one outer fold share more rows than those of two: they agree more",
            "Section 4, on Figure 1",
            holds=bool((within >= across).all()), rule="for all methods S_S within outer folds is not below the other",
            ours=", ".join(f"{method} {within[method]:.3f} against {across[method]:.3f}" for method in METHODS),
        ),
        unconverted.fact(
            "The least stable method is information gain", "Section 4, on Figure 1", holds=least == "IG",
            rule="the most features ever selected", ours=f"{least} ({frame['features ever selected'][least]})",
            if_missed=WRONG_END,
        ),
    ]  # fmt: skip


def _always(result: hf.StudyResult) -> str:
    """The features among the best of every inner fold, by method."""
    told = []
    for method in METHODS:
        runs = result.preferences(at_size(method))
        chosen = np.flatnonzero(runs.counts == runs.n_runs)
        names = ", ".join(_short(str(result.feature_names[int(column)])) for column in chosen)
        told.append(f"{method}: {names or 'none'}")
    return f"Features among the {TOP} best of every inner fold: {'; '.join(told)}."


def _short(name: str) -> str:
    """A feature's name; of a peak its m/z with one digit."""
    return f"m/z {float(name[3:]):.1f}" if name.startswith("mz_") else name


def _low_masses(result: hf.StudyResult) -> list[str]:
    """How many of the selected peaks are at low m/z, where a bias between the classes is known."""
    masses = [float(str(name)[3:]) for name in result.feature_names]
    shares = {method: _share_below(result, method, np.array(masses)) for method in METHODS}
    listed = ", ".join(f"{method} {share:.0%}" for method, share in shares.items())
    low = float(np.mean(np.array(masses) < LOW))
    return [
        f"Share of the selected peaks that lie below m/z {LOW:g}, as {low:.0%} of all peaks do: {listed}. A published "
        "re-analysis (Sorace and Zhan, BMC Bioinformatics 4:24, 2003) reports a bias between cancer and control at "
        "low m/z that is not biological: that a selection of such peaks is stable does not make it a finding."
    ]


def _share_below(result: hf.StudyResult, method: str, masses: NDArray[np.float64]) -> float:
    counts = result.preferences(at_size(method)).counts
    return float(counts[masses < LOW].sum() / counts.sum())
