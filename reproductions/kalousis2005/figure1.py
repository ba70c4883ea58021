"""Figure 1: which inner fold selected which feature."""

import numpy as np
import pandas as pd

from holdfast import plots
from reproductions.experiments import experiment
from reproductions.kalousis2005.peaks import Folds, at_size, judge, run_lists, show_choices
from reproductions.kalousis2005.published import METHODS, OVARIAN, PAPER
from reproductions.records import Outcome, Picture, Rule, Table
from reproductions.workbench import Workbench


@experiment(
    PAPER, "figure1", shows="Figure 1", title="selection maps of the ten best features", data=(OVARIAN,),
    question="Which of the inner folds select which features, and do maps of them show what S_S measures?",
)  # fmt: skip
def figure1(bench: Workbench) -> Outcome:
    """Draw which of the inner folds selected which feature, one map for each method."""
    lists = run_lists(bench)
    first, *_ = next(iter(lists.values()))
    claims = [
        judge(lists, "Figure 1", "The maps agree with S_S: the more stable a method, the fewer columns.",
              correlate_columns,
              Rule(text="correlation with minus the number of columns at least 0.9", low=0.9, base_low=1.0),
              where="Section 4", printed="perfect agreement", most=1.0,
              reason="A feature that is selected once counts as much as one that is selected in half of the folds."),
        judge(lists, "Figure 1", "Inner folds of one outer fold agree more than those of two, by any method.",
              lambda folds: min(np.subtract(*within_and_across(folds, method)) for method in METHODS), Rule.above(0),
              where="Section 4", reason=""),
    ]  # fmt: skip
    frame = pd.DataFrame([describe_map(first, method) for method in METHODS]).set_index("method")
    return Outcome(
        claims=claims,
        tables=[Table(title="What the maps show", frame=frame, digits=3), show_choices(claims, lists)],
        pictures=[
            Picture(
                name=f"map-{method.lower()}", exhibit="Figure 1",
                chart=plots.plot_selection_map(first.result, at_size(method), show="all"),
                caption=f"{method}, as a map of Figure 1: columns are features in the order of m/z, rows are inner "
                "folds, ten for each outer fold.",
            )
            for method in METHODS
        ],
        protocol="The studies of Table 2, read again. The paper shows prostate, which is not to be had; here it is "
        "ovarian.",
    )  # fmt: skip


def describe_map(folds: Folds, method: str) -> dict[str, object]:
    """What the map of a method shows."""
    selected, _ = folds.selected[method]
    counts, (within, across) = selected.sum(axis=0), within_and_across(folds, method)
    return {
        "method": method, "S_S": within, "S_S across outer folds": across, "features ever selected": (counts > 0).sum(),
        "in every fold": (counts == len(selected)).sum(),
    }  # fmt: skip


def within_and_across(folds: Folds, method: str) -> tuple[float, float]:
    """The mean Jaccard index of pairs of inner folds of one outer fold, and of two."""
    selected, blocks = folds.selected[method]
    shared = selected.astype(float) @ selected.T
    sizes = selected.sum(axis=1)
    similar = shared / (sizes[:, None] + sizes - shared)
    same = blocks[:, None] == blocks
    return float(similar[same & ~np.eye(len(same), dtype=bool)].mean()), float(similar[~same].mean())


def correlate_columns(folds: Folds) -> float:
    """The correlation of S_S with minus the number of features ever selected, over methods."""
    columns = [-int(folds.selected[method][0].any(axis=0).sum()) for method in METHODS]
    return float(np.corrcoef([folds.stability(method) for method in METHODS], columns)[0, 1])
