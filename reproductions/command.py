"""The command that does the experiments of the papers again: ``python -m reproductions``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli import options
from holdfast.cli.app import Json
from holdfast.cli.running import stopped_cleanly
from holdfast.cli.terminal import console, notes, print_json, print_stderr, table, write_json
from holdfast.serialization import to_json

if TYPE_CHECKING:
    from reproductions.kept import KeptOutcome


app = typer.Typer(name="python -m reproductions", rich_markup_mode="markdown", pretty_exceptions_enable=False)


@app.command()
def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Experiments or papers (see --list), or all.")
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="List the experiments, and which data sets they need.")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A small part of each only, within seconds.")] = False,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where the pages go.")] = Path(
        "reproductions"
    ),
    stores: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where studies and outcomes are kept (default: DIR/stores).")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Do finished experiments again.")] = False,
    device: options.Device = None,
    jobs: options.Jobs = None,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Do experiments of the papers behind holdfast again: published numbers beside ours, verdicts, pictures.

    What is finished is kept: the same command goes on where it was stopped. Real data sets are looked for in the
    folder that HOLDFAST_DATA names; experiments whose data are not there are skipped.

    **Examples**

    `python -m reproductions --list`

    `python -m reproductions nogueira2016 --quick`

    `python -m reproductions all --jobs 2 --out reproductions`
    """
    from reproductions import running

    if listed:
        _print_list(names or ["all"], as_json)
        return
    if not names:
        raise ValueError("Expected names of experiments or papers, or all, got none; --list lists them.")
    with notes(quiet), stopped_cleanly("what is finished is kept: run the same command again to go on"):
        found, undone = running.reproduce(
            names, out, stores=stores, quick=quick, again=again, n_jobs=jobs or 1, device=device,
            say=(lambda line: None) if quiet else print_stderr,
        )  # fmt: skip
    if as_json:
        record = {"schema": "holdfast.reproduction/1", "outcomes": found, "undone": undone, "pages": str(out)}
        write_json(to_json(record))
    else:
        _print(found, undone, out)
    if any(reason.startswith("failed") for reason in undone.values()):
        raise typer.Exit(1)


def _print_list(names: Sequence[str], as_json: bool) -> None:
    from holdfast.datasets.real import available
    from reproductions.experiments import find_experiments

    here = set(available())
    chosen = find_experiments(list(names))
    if as_json:
        about = [{**item.about.to_dict(), "at_hand": [name for name in item.data if name in here]} for item in chosen]
        print_json("records", {"reproduce": about})
        return
    rows = (
        [item.name, item.shows, item.title,
         ", ".join(name if name in here else f"{name} (missing)" for name in item.data) or "simulated"]
        for item in chosen
    )  # fmt: skip
    console().print(table("experiment", "of the paper", "about", "data sets", rows=rows))


def _print(found: "Sequence[KeptOutcome]", undone: Mapping[str, str], out: Path) -> None:
    from reproductions.pages import summarize_verdicts

    shown = console()
    for outcome in found:
        shown.print(f"\n{outcome.experiment}", style="bold")
        rows = ([check.verdict, check.published or "–", check.ours, check.claim] for check in outcome.checks)
        shown.print(table("verdict", "published", "ours", "claim", rows=rows))
    for name, reason in undone.items():
        shown.print(f"\n{name}: {reason}")
    if found:
        verdicts = summarize_verdicts(check for outcome in found for check in outcome.checks)
        shown.print(f"\n{verdicts} The pages are in {out}: open {out / 'index.md'}.")
