"""Commands that weigh accuracy against stability: tradeoff, choose."""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from holdfast.cli import options
from holdfast.cli.app import DECIDE, Json, Level, app
from holdfast.cli.configuration import trust_by_option
from holdfast.cli.parsing import parse_measure, parse_rule
from holdfast.cli.printing import counted, interval_text, notes, number, print_json
from holdfast.cli.reading import OF_FILES
from holdfast.cli.running import DEFAULTS, run_study, typed_options
from holdfast.cli.terminal import console, table

if TYPE_CHECKING:
    from holdfast.measures import Measure
    from holdfast.study import StudyResult
    from holdfast.tradeoff import Choice, Pareto

STUDY = (
    "data", "target", "select", "perturb", "resamples", "estimator", "score", "keep", "store", "no_store", "time_limit",
    "seed", "jobs", "device", "fast_models", *OF_FILES,
)  # fmt: skip
USUAL: dict[str, Any] = {
    "estimator": "linear",
    "usual": {
        "classification": ["anova:k=5|10|20", "lasso:penalty_strength=0.2|0.1|0.05"],
        "regression": ["correlation:k=5|10|20", "lasso:k=5|10|20"],
    },
}


@app.command(rich_help_panel=DECIDE)
def tradeoff(
    ctx: typer.Context,
    data: options.Data = None,
    target: options.Target = None,
    select: options.Select = None,
    rule: options.Rule = "one-se",
    metric: options.Metric = None,
    measure: options.MeasureText = None,
    perturb: options.Perturb = None,
    resamples: options.Resamples = None,
    estimator: options.Estimator = None,
    score: options.Score = None,
    fast_models: options.FastModels = None,
    task: options.PredictionTask = None,
    keep: options.Keep = None,
    ignore: options.Ignore = None,
    accept: options.Accept = None,
    index: options.Index = None,
    groups: options.Groups = None,
    missing: options.Missing = None,
    categorical: options.Categorical = None,
    transpose: options.Transpose = None,
    target_file: options.TargetFile = None,
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    sheet: options.Sheet = None,
    store: options.Store = None,
    no_store: options.NoStore = False,
    time_limit: options.TimeLimit = None,
    seed: options.Seed = None,
    jobs: options.Jobs = None,
    device: options.Device = None,
    level: Level = 0.95,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Run selectors, show the best compromises of accuracy and stability, and choose one of them.

    Without --select, a filter and a lasso with three settings each are tried.

    **Examples**

    `holdfast tradeoff patients.csv --target status -s "anova:k=5|10|20" -s "lasso:k=5|10|20" --store study.db`

    `holdfast tradeoff breast_cancer --rule at-least:stability=0.8`
    """
    decision = parse_decision(rule, metric, measure, level)
    typed = typed_options(ctx, STUDY)
    chosen = {**DEFAULTS, **USUAL, **typed}
    if metric is not None and metric not in (chosen["score"] or [metric]):
        raise ValueError(f"Expected one of the scores ({', '.join(chosen['score'])}) as --metric, got {metric!r}.")
    ran = run_study(chosen, trust_by_option(typed, None, "the defaults"), quiet)
    _decide(ran.result, decision, quiet, as_json)
    ran.say_what_is_next()


@app.command(rich_help_panel=DECIDE)
def choose(
    store: options.StoreFile,
    rule: options.Rule = "one-se",
    metric: options.Metric = None,
    measure: options.MeasureText = None,
    level: Level = 0.95,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Choose a candidate of a study by accuracy and stability, and say why.

    **Examples**

    `holdfast choose study.db --rule one-se`

    `holdfast choose study.db --rule weighted:weight=0.7 --json`
    """
    from holdfast.study import load_study

    decision = parse_decision(rule, metric, measure, level)
    _decide(load_study(store), decision, quiet, as_json)


class Decision(NamedTuple):
    """How to decide."""

    rule: str
    metric: str | None
    measure: "Measure | None"
    level: float
    options: dict[str, Any]


def parse_decision(rule: str, metric: str | None, measure: str | None, level: float) -> Decision:
    """How to decide, checked before a study is run for it."""
    from holdfast.inference.intervals import check_level

    check_level(level)
    name, parameters = parse_rule(rule)
    return Decision(name, metric, None if measure is None else parse_measure(measure), level, parameters)


def _decide(result: "StudyResult", how: Decision, quiet: bool, as_json: bool) -> None:
    """Print the front and the choice."""
    with notes(quiet):
        choice = result.choose(how.rule, metric=how.metric, measure=how.measure, level=how.level, **how.options)
        front = result.pareto(how.metric, how.measure, level=how.level)
    if as_json:
        kept = None if result.path is None else str(result.path)
        print_json("tradeoff", {"choice": choice.to_dict(), "pareto": front.to_dict(), "store": kept})
    else:
        _print(front, choice)


def _print(pareto: "Pareto", choice: "Choice") -> None:
    out, ends = console(), f"{100 * pareto.level:g}% interval"
    count, total = len(pareto.front), counted(len(pareto.frame), "candidate")
    out.print(f"The front: {count} of {total} {'is a best compromise' if count == 1 else 'are best compromises'}.")
    rows = table("candidate", pareto.metric, ends, pareto.measure, ends, "size", "on the front", "chosen in")
    chosen_in = choice.probabilities["probability"]
    for name, row in pareto.front.iterrows():
        rows.add_row(
            str(name), number(row["score"]), interval_text(row["score_low"], row["score_high"]),
            number(row["stability"]), interval_text(row["low"], row["high"]), number(row["size"], ".1f"),
            number(row["probability"], ".2f"), number(chosen_in.get(name, math.nan), ".2f"),
        )  # fmt: skip
    out.print(rows)
    out.print(f"The choice ({choice.rule}): {choice.reason}", soft_wrap=True)
    if choice.certainty:
        out.print(f"How sure: {choice.certainty}", soft_wrap=True)
    out.print(f"Measured on {choice.measured_on}.", soft_wrap=True)
