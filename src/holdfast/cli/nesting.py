"""The command that measures a choice on rows that took no part in it: nested."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli import options
from holdfast.cli.app import DECIDE, Json, Level, app
from holdfast.cli.parsing import parse_named
from holdfast.cli.printing import interval_text, notes, number, print_json
from holdfast.cli.running import plan_for, stopped_cleanly, typed_options
from holdfast.cli.terminal import console, say, table
from holdfast.cli.tradeoffs import STUDY, USUAL, Decision, parse_decision

if TYPE_CHECKING:
    from holdfast.study import Study
    from holdfast.tradeoff import NestedChoice

LONG = 20
"""Seconds from which the time that it will take is said before."""


@app.command(rich_help_panel=DECIDE)
def nested(
    ctx: typer.Context,
    data: Annotated[
        Path | None, typer.Argument(help="The data, as for `holdfast study`; or a study's store, to run its study.")
    ] = None,
    target: options.Target = None,
    select: options.Select = None,
    rule: options.Rule = "one-se",
    outer: Annotated[
        str,
        typer.Option(
            metavar="NAME[:param=value,…]", help="How rows are held out of the choice, such as folds:n_splits=10."
        ),
    ] = "folds:n_splits=5",
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
    index: options.Index = None,
    groups: options.Groups = None,
    missing: options.Missing = None,
    categorical: options.Categorical = None,
    accept: options.Accept = None,
    transpose: options.Transpose = None,
    target_file: options.TargetFile = None,
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    sheet: options.Sheet = None,
    seed: options.Seed = None,
    jobs: options.Jobs = None,
    device: options.Device = None,
    allow: options.Allow = None,
    level: Level = 0.95,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Choose a candidate, and score the choice on rows that took no part in it.

    A candidate that was chosen because it looked best looks better than it is. Here the whole study and the choice are
    made anew without each outer fold in turn, and scored on that fold. Nothing is stored.

    **Examples**

    `holdfast nested patients.csv --target status -s "anova:k=5|10|20" --estimator linear`

    `holdfast nested study.db --rule accuracy --outer folds:n_splits=10`
    """
    decision = parse_decision(rule, metric, measure, level)
    _, chosen, table_read, study = plan_for(data, typed_options(ctx, STUDY), allow, quiet, usual=USUAL)
    with notes(quiet), stopped_cleanly():
        found = _choose(study, table_read, decision, outer, chosen["jobs"], quiet)
    if as_json:
        print_json("nested", found.to_dict())
    else:
        _print(found, level)


def _choose(study: "Study", data: Any, how: Decision, outer: str, jobs: int, quiet: bool) -> "NestedChoice":
    from holdfast.study import StudyError
    from holdfast.study.named import named_perturbation
    from holdfast.study.requirements import can_predict
    from holdfast.tradeoff import nested_choice

    if study.estimator is None and not any(map(can_predict, study.families)):
        raise ValueError("A choice needs scores, and none of the selectors predicts; give --estimator.")
    held_out = named_perturbation(*parse_named(outer, "perturbation"), None)
    if not quiet:
        _say_how_long(study, data, held_out.get_n_splits())
    try:
        return nested_choice(
            study, data.X, data.y, rule=how.rule, outer=held_out, groups=data.groups, metric=how.metric,
            measure=how.measure, level=how.level, n_jobs=jobs, progress=not quiet, **how.options,
        )  # fmt: skip
    except StudyError as error:
        raise ValueError(str(error).partition("\n")[0]) from None


def _say_how_long(study: "Study", data: Any, n_folds: int) -> None:
    """Say how long it will take, if that is long."""
    from holdfast.study.progress import format_duration

    seconds = study.cost(data.X, data.y, groups=data.groups)["seconds"] * (1 + n_folds)
    if seconds > LONG:
        say(f"The study is run {1 + n_folds} times: about {format_duration(seconds)} on one core (--jobs -1 uses all).")


def _print(found: "NestedChoice", level: float) -> None:
    out, choice = console(), found.choice
    low, high = choice.score_interval
    out.print(f"The choice ({choice.rule}): {choice.reason}", soft_wrap=True)
    out.print(
        f"On rows that took no part in the choice, its {choice.metric} is {number(choice.score)} "
        f"{interval_text(low, high)} ({100 * level:g}% interval); on the resamples that it was chosen on it was "
        f"{number(found.promised)}.",
        soft_wrap=True,
    )
    rows = table("outer fold", "chosen without it", choice.metric, "promised", "rows")
    for fold, row in enumerate(found.folds.to_dict(orient="records"), start=1):
        rows.add_row(
            str(fold), row["candidate"], number(row["score"]), number(row["promised"]), str(row["held_out"])
        )  # fmt: skip
    out.print(rows)
    out.print(
        f"The selections of the {len(found.folds)} folds agree: {found.stability.measure} = "
        f"{number(found.stability.value)} {interval_text(*found.stability.ci(level))}.",
        soft_wrap=True,
    )
