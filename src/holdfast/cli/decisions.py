"""Commands that decide: tradeoff, choose, nested, replicate."""

import math
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

import holdfast as hf
from holdfast import replication
from holdfast.cli import options
from holdfast.cli.app import DECIDE, Json, Level, app
from holdfast.cli.options import parse_measure, parse_named, parse_rule
from holdfast.cli.running import N_PAIRS, plan_for, run_study, settle, stopped_cleanly, stored_command
from holdfast.cli.terminal import console, interval, notes, number, print_json, print_stderr, table
from holdfast.text import format_again, format_count, format_number, format_percent


@app.command(rich_help_panel=DECIDE)
@options.takes_study("shuffling", "resampling", "scoring", "storing", "limits")
def tradeoff(
    typed: dict[str, Any],
    rule: options.Rule = "one-se",
    metric: options.Metric = None,
    measure: options.MeasureText = None,
    level: Level = 0.95,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Run selectors, show the best trade-offs between accuracy and stability, and choose one candidate.

    Without --select, a filter and a lasso with three settings each are tried.

    **Examples**

    `holdfast tradeoff patients.csv --target status -s "anova:k=5|10|20" -s "lasso:k=5|10|20" --store study.db`

    `holdfast tradeoff breast_cancer --rule at-least:stability=0.8`
    """
    decision = parse_decision(rule, metric, measure, level)
    scores = typed.get("score") or [metric]
    if metric is not None and metric not in scores:
        raise ValueError(f"Expected one of the scores ({', '.join(scores)}) as --metric, got {metric!r}.")
    ran = run_study(settle(typed, search=True), quiet)
    _decide(ran.result, decision, quiet, as_json)
    for line in ran.next_lines:
        print_stderr(line)


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
    """Choose a candidate of a study by accuracy and stability, and explain the choice.

    **Examples**

    `holdfast choose study.db --rule one-se`

    `holdfast choose study.db --rule weighted:weight=0.7 --json`
    """
    decision = parse_decision(rule, metric, measure, level)
    _decide(hf.load_study(store), decision, quiet, as_json)


class Decision(NamedTuple):
    """How to decide."""

    rule: str
    metric: str | None
    measure: "hf.Measure | None"
    level: float
    options: dict[str, Any]


def parse_decision(rule: str, metric: str | None, measure: str | None, level: float) -> Decision:
    """How to decide, checked before a study is run for it."""
    from holdfast.inference.intervals import check_level

    check_level(level)
    name, parameters = parse_rule(rule)
    return Decision(name, metric, None if measure is None else parse_measure(measure), level, parameters)


def _decide(result: "hf.StudyResult", how: Decision, quiet: bool, as_json: bool) -> None:
    """Print the front and the choice."""
    with notes(quiet):
        choice = result.choose(how.rule, metric=how.metric, measure=how.measure, level=how.level, **how.options)
        front = result.pareto(how.metric, how.measure, level=how.level)
    if as_json:
        store = None if result.path is None else str(result.path)
        print_json("tradeoff", {"choice": choice.to_dict(), "pareto": front.to_dict(), "store": store})
    else:
        _print_choice(front, choice)


def _print_choice(pareto: "hf.tradeoff.Pareto", choice: "hf.tradeoff.Choice") -> None:
    out, ends = console(), f"{format_percent(pareto.level)} interval"
    count, total = len(pareto.front), format_count(len(pareto.frame), "candidate")
    out.print(f"The front: {count} of {total} {'is a best compromise' if count == 1 else 'are best compromises'}.")
    chosen_in = choice.probabilities["probability"]
    second = [pareto.second_measure] if pareto.second_measure else []
    rows = (
        [
            candidate, number(row["score"]), interval(row["score_low"], row["score_high"]), number(row["stability"]),
            interval(row["low"], row["high"]), *(number(row[name]) for name in second),
            format_number(row["size"], 1), format_number(row["probability"]),
            format_number(chosen_in.get(candidate, math.nan)),
        ]
        for candidate, row in pareto.front.iterrows()
    )  # fmt: skip
    headers = ["candidate", pareto.metric, ends, pareto.measure, ends, *second, "size", "on the front", "chosen in"]
    out.print(table(*headers, rows=rows))
    out.print(f"The choice ({choice.rule}): {choice.reason}")
    if choice.certainty:
        out.print(f"How sure: {choice.certainty}")
    out.print(f"Measured on {choice.measured_on}.")


MIN_ANNOUNCED = 20
"""Seconds from which the expected time is printed before a command begins."""


@app.command(rich_help_panel=DECIDE)
@options.takes_study("resampling", "scoring")
def nested(
    typed: dict[str, Any],
    data: options.DataOrStore = None,
    rule: options.Rule = "one-se",
    outer: Annotated[
        str,
        typer.Option(
            metavar="NAME[:param=value,…]", help="How rows are held out from the choice, such as folds:n_splits=10."
        ),
    ] = "folds:n_splits=5",
    metric: options.Metric = None,
    measure: options.MeasureText = None,
    allow: options.Allow = None,
    level: Level = 0.95,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Choose a candidate, and score the choice on rows that took no part in it.

    The score of a candidate that was chosen for its score is too good. Here the whole study and the choice are repeated
    without each outer fold in turn, and the choice is scored on that fold. Nothing is stored.

    **Examples**

    `holdfast nested patients.csv --target status -s "anova:k=5|10|20" --estimator linear`

    `holdfast nested study.db --rule accuracy --outer folds:n_splits=10`
    """
    from holdfast.study.named import named_perturbation
    from holdfast.study.requirements import can_predict
    from holdfast.study.running import format_duration

    how = parse_decision(rule, metric, measure, level)
    _, (chosen, table, study) = plan_for(data, typed, allow, quiet, search=True)
    with notes(quiet), stopped_cleanly():
        if study.estimator is None and not any(map(can_predict, study.families)):
            raise ValueError("A choice needs scores, and none of the selectors predicts; give --estimator.")
        for option, values in (("weights", table.weights), ("sites", table.sites)):
            if values is not None:
                raise ValueError(f"Expected no --{option} for holdfast nested, which does not use it; leave it out.")
        held_out = named_perturbation(*parse_named(outer, "perturbation"), None)
        times = 1 + held_out.get_n_splits()
        seconds = 0 if quiet else study.cost(table)["seconds"] * times
        if seconds > MIN_ANNOUNCED:
            print_stderr(
                f"The study is run {times} times: about {format_duration(seconds)} on one core (--jobs -1 uses all)."
            )
        try:
            evaluated = hf.nested_choice(
                study, table.X, table.y, rule=how.rule, outer=held_out, groups=table.groups, metric=how.metric,
                measure=how.measure, level=how.level, n_jobs=chosen["jobs"], progress=not quiet, **how.options,
            )  # fmt: skip
        except hf.StudyError as error:
            raise ValueError(str(error).partition("\n")[0]) from None
    if as_json:
        print_json("nested", evaluated.to_dict())
    else:
        _print_nested(evaluated, level)


def _print_nested(evaluated: "hf.tradeoff.NestedChoice", level: float) -> None:
    out, choice = console(), evaluated.choice
    low, high = choice.score_interval
    out.print(f"The choice ({choice.rule}): {choice.reason}")
    out.print(
        f"On rows that took no part in the choice, its {choice.metric} is {number(choice.score)} "
        f"{interval(low, high)} ({format_percent(level)} interval); on the resamples that it was chosen on it was "
        f"{number(evaluated.promised)}."
    )
    rows = (
        [fold, row["candidate"], number(row["score"]), number(row["promised"]), row["held_out"]]
        for fold, row in enumerate(evaluated.folds.to_dict(orient="records"), start=1)
    )
    out.print(table("outer fold", "chosen without it", choice.metric, "promised", "rows", rows=rows))
    out.print(
        f"The selections of the {len(evaluated.folds)} folds agree: {evaluated.stability.measure} = "
        f"{number(evaluated.stability.value)} {interval(*evaluated.stability.ci(level))}."
    )


MAX_FEATURES = 30
"""Features that are printed; --json has all."""


@app.command(rich_help_panel=DECIDE)
@options.takes_study("shuffling")
def replicate(
    typed: dict[str, Any],
    data: options.DataOrStore = None,
    candidate: options.Candidate = None,
    pairs: Annotated[
        int, typer.Option("--pairs", "-n", metavar="N", help="Number of random divisions of the rows into halves.")
    ] = 100,
    measure: options.MeasureTexts = None,
    thorough: Annotated[
        bool,
        typer.Option("--thorough", help="Also leave out groups of rows, to find near-copies (up to 1,200 more fits)."),
    ] = False,
    top: options.Top = None,
    allow: options.Allow = None,
    level: Level = 0.95,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Estimate how many of the selected features a new study of the same size would select.

    Resamples of one data set share rows, new studies do not, so a stable selection need not be replicable. Here the
    selector is fitted to all rows and to many pairs of halves that share no row. The agreement of two new studies is
    extrapolated from that of the halves, with an interval over data sets and a probability for each feature.

    **Examples**

    `holdfast replicate patients.csv --target status -s anova:k=10`

    `holdfast replicate patients-study.db --pairs 50`

    For a stored study, the result is added to its store and report.
    """
    from holdfast.replication.running import MIN_SITES
    from holdfast.tradeoff.selected import default_candidate

    store, (chosen, table, study) = plan_for(data, typed, allow, quiet)
    if store is not None and candidate is None:
        result = hf.load_study(store)
        candidate = default_candidate(result)
        if not quiet and len(result.candidates) > 1:
            print_stderr(f"The candidate is {candidate}, which the report shows; --candidate takes a different one.")
    at_sites, n_sites = None, 0 if table.sites is None else len(set(table.sites))
    with notes(quiet), stopped_cleanly():
        try:
            if n_sites >= MIN_SITES:
                at_sites = hf.replication.site_replicability(
                    study, table, candidate=candidate, n_pairs=max(10, pairs // 2), top=top, level=level,
                    n_jobs=chosen["jobs"],
                )  # fmt: skip
            estimate = hf.replicability(
                study, table, candidate=candidate, n_pairs=pairs, thorough=thorough,
                n_shuffles=chosen["shuffles"],
                measures=[parse_measure(text) for text in measure or ()], top=top,
                level=level, n_jobs=chosen["jobs"], progress=not quiet,
            )  # fmt: skip
        except (hf.StudyError, ValueError) as error:
            message = str(error).partition("\n")[0] if isinstance(error, hf.StudyError) else str(error)
            raise ValueError(message.replace("Expected candidate=,", "Expected --candidate NAME,")) from None
    if as_json:
        record = estimate.to_dict() if at_sites is None else {**estimate.to_dict(), "at_sites": at_sites.to_dict()}
        print_json("replicability", record)
    else:
        if n_sites and at_sites is None:
            console().print(
                f"What a new study at other sites would select is not known: at least {MIN_SITES} sites can be "
                f"halved, got {n_sites}. At the same sites:"
            )
        _print_replicability(estimate, at_sites)
    if store is not None and candidate is not None:
        _store(store, candidate, estimate, study, table, quiet)


def replicate_stored(
    store: Path, candidate: str, typed: dict[str, Any], allow: list[str] | None, *, top: int | None, quiet: bool
) -> "replication.Replicability":
    """Estimate what a new study would select for a candidate of a stored study, and store it."""
    if not quiet:
        print_stderr("What a new study would select is not stored yet: repeated split-half follows.")
    chosen, table, study = settle(typed, allow, file=stored_command(store), source=str(store)).plan(quiet=True)
    with notes(quiet), stopped_cleanly():
        estimate = hf.replicability(
            study, table, candidate=candidate, n_pairs=N_PAIRS, n_shuffles=chosen["shuffles"], top=top,
            n_jobs=chosen["jobs"], progress=not quiet,
        )  # fmt: skip
    _store(store, candidate, estimate, study, table, quiet)
    return estimate


def _store(
    store: Path, candidate: str, estimate: "replication.Replicability", study: "hf.Study", data: Any, quiet: bool
) -> None:
    """Store the result for the report, if it is about the very study of the store; else print why not."""
    from holdfast.study.matching import match_store

    try:
        match = match_store(study, data, store)
        if match is None or match.differences:
            differences = "" if match is None else f": {'; '.join(match.differences)}"
            print_stderr(f"The result is not stored in {store}, as its study is not the same{differences}.")
            return
        replication.store_replicability(store, estimate)
    except hf.study.StoreError as error:
        print_stderr(f"The result is not stored: {error}")
        return
    if not quiet:
        print_stderr(f"The result is stored in {store}; a report on {candidate} shows it.")


def _print_replicability(
    estimate: "replication.Replicability", at_sites: "replication.SiteReplicability | None"
) -> None:
    """Print the answer for the same sites, or rows of any; the first sentence is on other sites, too, if that is known.

    Its number for the same sites is from halves of the rows of each site.
    """
    out = console()
    out.print((at_sites or estimate).sentence, style="bold")
    if at_sites is not None:
        out.print(at_sites.stability)
    elif estimate.rows_sentence:
        out.print(estimate.rows_sentence)
    known = estimate.reason is None
    if estimate.real_sentence:
        out.print(estimate.real_sentence)
    if known:
        share = f"{format_percent(estimate.level)} interval"
        out.print(
            f"Agreement of this selection with that of a new study of {estimate.n_rows:,} rows: "
            f"{number(estimate.agreement)} {interval(*estimate.interval)} ({share}), extrapolated; of two studies of "
            f"{estimate.n_rows // 2:,} rows: {number(estimate.half_agreement)} {interval(*estimate.half_interval)}. "
            "0 is chance, 1 the same features."
        )
    for name, value in estimate.other_measures.items():
        out.print(f"By {name}, two studies of {estimate.n_rows // 2:,} rows agree by {number(value)}.")
    for caution in estimate.cautions:
        out.print(f"Caution: {caution}")
    if not known:
        return
    if estimate.n_empty:
        out.print(
            f"{estimate.n_empty} of {estimate.n_pairs} splits were left out: a half selected nothing, or everything."
        )
    judged, shares = (
        (("by habit", "q", ""), ("frequency", "by_habit")) if any(estimate.corners) else ((), ("frequency",))
    )
    shown = estimate.frame.assign(corner=estimate.corners).head(MAX_FEATURES).to_dict(orient="records")
    rows = [
        [row["feature"], format_again(row["probability"]), *(format_percent(row[name], 0) for name in shares),
         *((format_number(row["q"]), row["corner"]) if judged else ())]
        for row in shown
    ]  # fmt: skip
    out.print(table("feature", "probability in a new study", "share of halves of these data", *judged, rows=rows))
    if estimate.n_selected > MAX_FEATURES:
        out.print(f"… and {estimate.n_selected - MAX_FEATURES:,} more (--json prints all)")
