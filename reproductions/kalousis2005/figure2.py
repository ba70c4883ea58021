"""Figure 2: S_S against the number of selected features, and knots."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from holdfast.plots.theme import finish_chart, inline_data
from reproductions.experiments import experiment
from reproductions.kalousis2005.peaks import APART, TOLERANCE, Folds, Lists, judge, run_lists, show_choices
from reproductions.kalousis2005.published import METHODS, OVARIAN, PAPER
from reproductions.records import Claim, Outcome, Picture, Rule, Table
from reproductions.workbench import Workbench

FEW = 50
"""Up to so many features are few."""


@experiment(
    PAPER, "figure2", shows="Figure 2", title="S_S against the number of selected features", data=(OVARIAN,),
    question="How does the stability of the best features depend on their number, and is there a bend (a knot) where "
    "features without information begin to enter?",
)  # fmt: skip
def figure2(bench: Workbench) -> Outcome:
    """Measure the stability of the best 10, 15, … features of each method."""
    lists = run_lists(bench)
    claims = judge_curves(lists)
    draws = next(iter(lists.values()))
    return Outcome(
        claims=claims,
        tables=[
            show_choices(claims, lists),
            Table(
                title="Knots in one draw of the folds, also with the peaks at low m/z",
                frame=list_knots({**lists, **({} if bench.quick else run_lists(bench, (0,), 1))}),
            ),
        ],
        pictures=[plot_curves(draws)],
        protocol="The studies of Table 2, read again. Sizes are 10, 15, … up to all features, as in the paper; "
        "features without information enter at random. A knot is a size after which inner folds agree on what enters "
        f"to at most {TOLERANCE:g} of what is possible. It is looked for among those of these sizes that are "
        f"{APART - 1:.0%} above the one before: between sizes that are five features apart neighbors in the ranking "
        "swap, which looks like disagreement. “Few features” are 15 to 50 (ten are judged with Table 2), “many” more "
        "than half of all.",
    )  # fmt: skip


def judge_curves(lists: Lists) -> list[Claim]:
    """Judge what Section 4 says of the curves of ovarian."""
    where = "Section 4"
    return [
        judge(lists, "Figure 2", "ReliefF is above all others at every size up to half of the features.",
              lambda folds: float(lead_of_relieff(folds).min()), Rule.above(0), where=where,
              printed="clearly dominates"),
        judge(lists, "Figure 2", "The stability of information gain rises considerably from ten features to as many as "
              "have gain.", rise_of_gain, Rule.word("considerably", "stability"), where=where, printed="sharp increase",
              reason="See what was found about the printed S_S of information gain, at the end of the page."),
        judge(lists, "Figure 2", "The curve of information gain has its last knot where all features with gain are in.",
              lambda folds: (folds.knots("IG") or [0])[-1] / folds.n_informative,
              Rule(text="from 0.9 to 1.1 times their number", low=0.9, high=1.1, base_low=1.0, base_high=1.0),
              where=where, reason="Features enter at random from there on; agreement is measured at steps of a tenth."),
        judge(lists, "Figure 2", "SVMONE is slightly more stable than SVMRFE at few features.",
              lambda folds: float(lead_of_one(folds)[0].mean()), Rule.word("slightly", "stability"), where=where,
              printed="a small advantage"),
        judge(lists, "Figure 2", "At many features SVMONE and SVMRFE are the same.",
              lambda folds: float(lead_of_one(folds)[1].abs().max()), Rule.word("the same", "stability"), where=where,
              printed="indistinguishable"),
        judge(lists, "Figure 2", "The difference between them grows toward fewer features.",
              lambda folds: float(lead_of_one(folds)[0].mean() - lead_of_one(folds)[1].mean()), Rule.above(0),
              where=where),
    ]  # fmt: skip


def lead_of_relieff(folds: Folds) -> "pd.Series[float]":
    """How far ReliefF is above the best of the others, at each size up to half of the features."""
    curves = folds.curves[folds.curves.index <= folds.n_features / 2]
    return curves["ReliefF"] - curves[[method for method in METHODS if method != "ReliefF"]].max(axis=1)


def rise_of_gain(folds: Folds) -> float:
    """How much more stable all features with gain are than the first ten."""
    curve = folds.curves["IG"]
    return float(np.interp(folds.n_informative, curve.index, curve) - curve.iloc[0])


def lead_of_one(folds: Folds) -> tuple["pd.Series[float]", "pd.Series[float]"]:
    """How far SVMONE is above SVMRFE, at few features and at many."""
    lead = folds.curves["SVMONE"] - folds.curves["SVMRFE"]
    return lead[(lead.index > lead.index[0]) & (lead.index <= FEW)], lead[lead.index > folds.n_features / 2]


def list_knots(lists: Lists) -> pd.DataFrame:
    """The knots of every method in the first draw of the folds; they hold for both scalings of IG and ReliefF."""
    rows = [
        {"least m/z": cut, "scaling": scaling, "features": draws[0].n_features,
         "with gain": round(draws[0].n_informative),
         **{method: ", ".join(map(str, draws[0].knots(method))) or "none" for method in METHODS}}
        for (cut, scaling), draws in lists.items()
    ]  # fmt: skip
    return pd.DataFrame(rows).set_index("least m/z")


def plot_curves(draws: Sequence[Folds]) -> Picture:
    """Draw S_S against the number of features on plain axes, as in the paper."""
    mean = pd.concat([folds.curves for folds in draws]).groupby(level=0).mean()
    lines = mean.rename_axis("size").reset_index().melt("size", var_name="method", value_name="stability")
    informative = float(np.mean([folds.n_informative for folds in draws]))
    base = alt.Chart(inline_data(lines)).encode(
        x=alt.X("size:Q", title="number of selected features"),
        y=alt.Y("stability:Q", title="S_S", scale=alt.Scale(domain=[0, 1])),
        color=alt.Color("method:N", sort=[*METHODS, "random"], scale=alt.Scale(domain=[*METHODS, "random"])),
    )
    rule = alt.Chart(inline_data(pd.DataFrame({"size": [informative]}))).mark_rule(strokeDash=[2, 3]).encode(x="size:Q")
    chart: Any = alt.layer(base.mark_line(), rule).properties(width=480, height=320)
    lead = float(np.mean([(lead_of_relieff(folds) > 0).mean() for folds in draws]))
    finding = f"ReliefF is the most stable at {lead:.0%} of the sizes up to half of the features"
    return Picture(
        name="curves", exhibit="Figure 2",
        chart=finish_chart(chart, finding, [f"Dashed: {informative:.0f} features have information gain."], width=600),
        caption="As the panel of ovarian in Figure 2: S_S of the best features, by their number, and of random ones.",
    )  # fmt: skip
