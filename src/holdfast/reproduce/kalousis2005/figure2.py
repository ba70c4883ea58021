"""Figure 2: S_S against the number of selected features, and knots."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

import holdfast as hf
from holdfast import plots
from holdfast.reproduce.experiments import experiment
from holdfast.reproduce.kalousis2005.nested import (
    SAME,
    TOP,
    at_size,
    load_data,
    names_of_data,
    paired,
    run_methods,
    zero_share,
)
from holdfast.reproduce.kalousis2005.published import METHODS, MICROARRAYS, OVARIAN, PAPER
from holdfast.reproduce.kalousis2005.table2 import OTHER_PEAKS, WRONG_END
from holdfast.reproduce.records import Check, Outcome, Picture, Table
from holdfast.reproduce.workbench import Workbench

TOLERANCE = 0.5
"""Folds share most of their rows, and agree on noise to about this degree (docs/tradeoff.md)."""
Profiles = dict[str, hf.tradeoff.SizeProfile]


@experiment(
    PAPER, "figure2", shows="Figure 2", title="S_S against the number of selected features",
    data=(OVARIAN, *MICROARRAYS),
)  # fmt: skip
def figure2(bench: Workbench) -> Outcome:
    """Measure the stability of the best 10, 15, … features of each method."""
    results, profiles = dict[str, hf.StudyResult](), dict[str, Profiles]()
    for name in names_of_data(bench):
        X, y, _ = load_data(bench, name)
        results[name] = run_methods(bench, name, X, y)
        profiles[name] = {
            method: results[name].profile(
                method, "jaccard", sizes=usual_sizes(X.shape[1]), tolerance=TOLERANCE, fill=True
            )
            for method in METHODS
        }
    judged = next(iter(profiles))
    informative = (1 - zero_share(results[judged])) * len(results[judged].feature_names)
    return Outcome(
        checks=judge_profiles(profiles[judged], results[judged], informative),
        tables=[_knots(profiles, results)],
        pictures=[
            Picture(
                name=f"profiles-{name.replace('_', '-')}", chart=plots.plot_profile(lines),
                caption=f"{name}, beside Figure 2: S_S (Jaccard) of the best features, by their number; dashed: random "
                "features.",
            )
            for name, lines in profiles.items()
        ],
        protocol=SAME + "Sizes are 10, 15, … up to 200 as in the paper, and 25 beyond. Features without "
        "information enter at random, as in the paper. A knot is a size after which inner folds agree on what enters "
        f"to at most {TOLERANCE:g} of what is possible.",
        beyond=_describe_rule(judged, results[judged]),
    )  # fmt: skip


def usual_sizes(n_features: int) -> list[int]:
    """The paper's sizes up to 200 features, and about 25 from there to all."""
    dense = np.arange(TOP, min(200, n_features) + 1, 5)
    return sorted({*dense.tolist(), *np.geomspace(dense[-1], n_features, 26).round().astype(int).tolist()})


def _values(profiles: Profiles) -> pd.DataFrame:
    """S_S of every method by size."""
    return pd.DataFrame({method: line.frame.set_index("size")["stability"] for method, line in profiles.items()})


def judge_profiles(profiles: Profiles, result: hf.StudyResult, informative: float) -> list[Check]:
    """Check what Section 4 says of the curves of ovarian."""
    values = _values(profiles)
    low, high = values[values.index <= 50], values[values.index > len(result.feature_names) / 2]
    inner = values[values.index <= len(result.feature_names) / 2]
    first = (inner.idxmax(axis=1) == "ReliefF").mean()
    apart = (values["SVMONE"] - values["SVMRFE"]).rename("difference")
    knots = profiles["IG"].knots
    near = min(knots, key=lambda size: abs(size - informative), default=None)
    return [
        Check.fact(
            "ReliefF clearly dominates all others at all interesting sizes", "Section 4, on Figure 2", holds=first == 1,
            rule="the highest S_S at every size up to half of the features", ours=f"at {first:.0%} of these sizes",
            if_missed=OTHER_PEAKS,
        ),
        Check.fact(
            "The curve of information gain has a knot where all features with gain are in", "Section 4, on Figure 2",
            holds=near is not None and abs(near - informative) <= 0.1 * informative,
            rule="a knot within 10 % of the mean number of features with gain",
            ours=f"{_list(knots)}; {informative:.0f} features with gain", published="about 300",
        ),
        _judge_rise(result, near, informative),
        Check.order(
            "SVMONE has a small advantage over SVMRFE at few features (here: ten)", "Section 4, on Figure 2",
            **paired(*(result.stability(at_size(method), "jaccard") for method in ("SVMONE", "SVMRFE"))), digits=3,
            if_missed=OTHER_PEAKS,
        ),
        Check.fact(
            "At many features SVMONE and SVMRFE are indistinguishable", "Section 4, on Figure 2",
            holds=bool(apart[high.index].abs().max() <= 0.02),
            rule="within 0.02 at every size above half of the features",
            ours=f"at most {apart[high.index].abs().max():.3f} apart",
        ),
        Check.fact(
            "The difference between them grows toward fewer features", "Section 4, on Figure 2",
            holds=bool(apart[low.index].mean() > apart[high.index].mean()),
            rule="the mean difference up to 50 features is above that beyond half of them",
            ours=f"{apart[low.index].mean():+.3f} against {apart[high.index].mean():+.3f}", if_missed=OTHER_PEAKS,
        ),
    ]  # fmt: skip


def _judge_rise(result: hf.StudyResult, near: int | None, informative: float) -> Check:
    """Whether S_S of information gain rises up to its knot."""
    at_knot = result.stability(at_size("IG"), "jaccard", top=near or round(informative))
    return Check.order(
        "Up to its knot the stability of information gain rises sharply (here: from ten features)",
        "Section 4, on Figure 2",
        **paired(at_knot, result.stability(at_size("IG"), "jaccard")), digits=3, if_missed=WRONG_END,
    )  # fmt: skip


def _list(sizes: Sequence[int]) -> str:
    return f"knots at {', '.join(map(str, sizes))}" if sizes else "no knot"


def _knots(profiles: dict[str, Profiles], results: dict[str, hf.StudyResult]) -> Table:
    rows = []
    for name, lines in profiles.items():
        result = results[name]
        informative = (1 - zero_share(result)) * len(result.feature_names)
        rows.append(
            {
                "data": name, "features": len(result.feature_names), "with gain": round(informative),
                **{f"knots of {method}": ", ".join(map(str, line.knots)) or "none" for method, line in lines.items()},
            }
        )  # fmt: skip
    return Table(
        title="Knots of the profiles, beside the number of all features and of those with information gain (mean "
        "over folds)",
        frame=pd.DataFrame(rows).set_index("data"),
    )


def _describe_rule(name: str, result: hf.StudyResult) -> list[str]:
    """What the rule that chooses the size at a knot says of the five sizes that were scored."""
    try:
        said = result.choose("knot", measure="jaccard", tolerance=TOLERANCE).reason
    except hf.study.UnansweredError as none:
        said = f"{none.plain[0].upper()}{none.plain[1:]}."
    return [
        "The paper leaves open whether knots can choose the number of features. The rule `knot` does so, here among "
        f"the sizes of Table 3 on {name}. {said}"
    ]
