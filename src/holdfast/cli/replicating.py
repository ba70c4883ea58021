"""The command that asks whether a new study would find the same features: replicate."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli import options
from holdfast.cli.app import DECIDE, Json, Level, app
from holdfast.cli.parsing import parse_measure
from holdfast.cli.printing import interval_text, notes, number, print_json
from holdfast.cli.running import plan_for, stopped_cleanly, typed_options
from holdfast.cli.terminal import console, say, table
from holdfast.cli.tradeoffs import STUDY

if TYPE_CHECKING:
    from holdfast.replication import Replicability
    from holdfast.study import Study

MOST_FEATURES = 30
"""Features that are printed; --json has all."""


@app.command(rich_help_panel=DECIDE)
def replicate(
    ctx: typer.Context,
    data: Annotated[
        Path | None, typer.Argument(help="The data, as for `holdfast study`; or a study's store, for its candidate.")
    ] = None,
    target: options.Target = None,
    select: options.Select = None,
    candidate: Annotated[
        str | None, typer.Option(metavar="NAME", help="Candidate (default: the chosen one, or the only one).")
    ] = None,
    halvings: Annotated[
        int, typer.Option("--halvings", "-n", metavar="N", help="How often the rows are halved.")
    ] = 100,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            "-m",
            metavar="NAME[:param=value,…]",
            autocompletion=options.complete("measures"),
            help="Tell how far halves agree by this measure too, such as yu; give it again for more.",
        ),
    ] = None,
    control: Annotated[
        bool, typer.Option("--control/--no-control", help="Halve the rows with a shuffled target, too (45 fits more).")
    ] = True,
    thorough: Annotated[
        bool,
        typer.Option("--thorough", help="Leave out groups of rows too, up to 1,200 fits more: for near-copies."),
    ] = False,
    top: Annotated[
        int | None, typer.Option(metavar="K", help="How many of the best features count, for rankings or weights.")
    ] = None,
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
    seed: options.Seed = None,
    jobs: options.Jobs = None,
    device: options.Device = None,
    allow: options.Allow = None,
    level: Level = 0.95,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Ask how many of the selected features a new study of this size would select too.

    Resamples of one data set share rows, new studies do not: a stable selection need not be found again. Here the
    selector is fitted to all rows and to many halves that share none, and what two new studies would agree on is
    estimated from that, with an interval over data sets and a probability for each feature.

    **Examples**

    `holdfast replicate patients.csv --target status -s anova:k=10`

    `holdfast replicate patients-study.db --halvings 50`

    The answer about a stored study is kept in its store, for its report.
    """
    store, chosen, read_data, study = plan_for(data, typed_options(ctx, STUDY), allow, quiet)
    name = candidate or (None if store is None else _choose_stored(store, quiet))
    with notes(quiet), stopped_cleanly():
        found = _replicate(
            study, read_data, candidate=name, n_halvings=halvings, control=control, thorough=thorough,
            measures=[parse_measure(text) for text in measure or ()], top=top,
            level=level, n_jobs=chosen["jobs"], progress=not quiet,
        )  # fmt: skip
    if as_json:
        print_json("replicability", found.to_dict())
    else:
        _print(found)
    if store is not None and name is not None:
        _keep(store, name, found, study, read_data, quiet)


def _choose_stored(store: Path, quiet: bool) -> str:
    """The candidate that a report would show."""
    from holdfast.study import load_study
    from holdfast.tradeoff.reported import default_candidate

    result = load_study(store)
    chosen = default_candidate(result)
    if not quiet and len(result.candidates) > 1:
        say(f"The candidate is {chosen}, which the report shows; --candidate takes another.")
    return chosen


def _keep(store: Path, candidate: str, found: "Replicability", study: "Study", data: Any, quiet: bool) -> None:
    """Keep the answer for the report, if it is about the very study of the store; else say why not."""
    from holdfast.replication import has_halvings, keep_replicability
    from holdfast.study import load_study
    from holdfast.study.matching import match_store
    from holdfast.study.store import StoreError

    if has_halvings(load_study(store)):
        return  # which answers by itself
    try:
        match = match_store(study, data.X, data.y, data.groups, store)
        if match is None or match.differences:
            differences = "" if match is None else f", which differs in {'; '.join(match.differences)}"
            say(f"The answer is not kept in {store}: it is not about the study there{differences}.")
            return
        keep_replicability(store, found)
    except StoreError as error:
        say(f"The answer is not kept: {error}")
        return
    if not quiet:
        say(f"The answer is kept in {store}; a report about {candidate} shows it.")


def _replicate(study: "Study", data: Any, **options: Any) -> "Replicability":
    from holdfast.replication import replicability
    from holdfast.study import StudyError

    try:
        return replicability(study, data, **options)
    except (StudyError, ValueError) as error:
        message = str(error).partition("\n")[0] if isinstance(error, StudyError) else str(error)
        raise ValueError(message.replace("Expected candidate=,", "Expected --candidate NAME,")) from None


def _print(found: "Replicability") -> None:
    out = console()
    out.print(found.sentence, style="bold", soft_wrap=True)
    if found.rows_sentence:
        out.print(found.rows_sentence, soft_wrap=True)
    known = found.reason is None
    if known:
        share = f"{100 * found.level:g}% interval"
        out.print(
            f"Agreement of this selection with that of a new study of {found.n_rows:,} rows: {number(found.agreement)} "
            f"{interval_text(*found.interval)} ({share}), extrapolated; of two studies of {found.n_rows // 2:,} rows: "
            f"{number(found.half_agreement)} {interval_text(*found.half_interval)}. 0 is chance, 1 the same features.",
            soft_wrap=True,
        )
    for name, value in found.other_measures.items():
        out.print(f"By {name}, two studies of {found.n_rows // 2:,} rows agree by {number(value)}.", soft_wrap=True)
    for caution in found.cautions:
        out.print(f"Caution: {caution}", soft_wrap=True)
    if not known:
        return
    if found.n_empty:
        out.print(f"{found.n_empty} of {found.n_pairs} halvings were left out: a half selected nothing, or everything.")
    rows = table("feature", "probability in a new study", "share of halves of these data")
    for row in found.frame.head(MOST_FEATURES).to_dict(orient="records"):
        rows.add_row(str(row["feature"]), number(row["probability"], ".2f"), f"{row['frequency']:.0%}")
    out.print(rows)
    if found.n_selected > MOST_FEATURES:
        out.print(f"… and {found.n_selected - MOST_FEATURES:,} more (--json prints all)")
