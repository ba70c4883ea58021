"""The command that repeats the experiments of the papers: ``python -m reproductions``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli import options
from holdfast.cli.app import Json
from holdfast.cli.running import stopped_cleanly
from holdfast.cli.terminal import console, notes, print_json, print_stderr, table, write_json
from holdfast.serialization import to_json, to_plain

if TYPE_CHECKING:
    from reproductions.stored import StoredOutcome


app = typer.Typer(name="python -m reproductions", rich_markup_mode="markdown", pretty_exceptions_enable=False)


@app.command()
def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Experiments or papers (see --list), or all.")
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="List the experiments, and which data sets they need.")
    ] = False,
    seeds: Annotated[
        list[int] | None,
        typer.Option(
            "--seed", metavar="N", help="Seed of all random numbers (default 0); repeat it for claims over several."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Try within seconds that everything runs: no verdicts, no pages.")
    ] = False,
    large: Annotated[bool, typer.Option("--large", help="The largest simulations too.")] = False,
    compare_seeds: Annotated[
        bool,
        typer.Option("--compare-seeds", help="Print which verdicts change at other stored seeds; runs nothing."),
    ] = False,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where the pages go.")] = Path(
        "reproductions"
    ),
    stores: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where studies and outcomes are stored (default: DIR/stores).")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Do finished experiments again.")] = False,
    device: options.Device = None,
    jobs: options.Jobs = None,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Repeat experiments of the papers behind holdfast: published numbers next to ours, verdicts, pictures.

    What is finished is stored: the same command continues where it was stopped. Real data sets are looked for in the
    folder that HOLDFAST_DATA names; experiments whose data are not there are skipped.

    **Examples**

    `python -m reproductions --list`

    `python -m reproductions nogueira2016 --seed 0 --seed 1`

    `python -m reproductions all --jobs 2 --out reproductions`

    `python -m reproductions --compare-seeds --out reproductions`
    """
    from reproductions import running

    if listed:
        _print_list(names or ["all"], as_json)
        return
    if compare_seeds:
        folder = running.find_folder(out, stores, quick=quick, large=large)
        _print_comparison(folder, seeds or [0], as_json)
        return
    if not names:
        raise ValueError("Expected names of experiments or papers, or all, got none; --list lists them.")
    with notes(quiet), stopped_cleanly("what is finished is stored: run the same command again to continue"):
        outcomes, failures = running.reproduce(
            names, out, stores=stores, seeds=seeds or [0], quick=quick, large=large, again=again, n_jobs=jobs or 1,
            device=device or "cpu", report=(lambda line: None) if quiet else print_stderr,
        )  # fmt: skip
    if as_json:
        plain = [_describe(outcome, with_verdicts=not quick) for outcome in outcomes]
        pages = None if quick else str(out)
        record = {"schema": "holdfast.reproduction/2", "outcomes": plain, "failures": failures, "pages": pages}
        write_json(to_json(record))
    else:
        _print(outcomes, failures, out, quick)
    if any(reason.startswith("failed") for reason in failures.values()):
        raise typer.Exit(1)


def _describe(outcome: "StoredOutcome", *, with_verdicts: bool) -> dict[str, Any]:
    """Return an outcome as JSON holds it, with the verdict of each claim."""
    plain = to_plain(outcome)
    claims = plain.pop("claims")
    if with_verdicts:
        plain["claims"] = [{**to_plain(claim), "verdict": claim.verdict} for claim in outcome.claims]
    return {**plain, "n_claims": len(claims)}


def _print_list(names: Sequence[str], as_json: bool) -> None:
    from holdfast.datasets.real import available
    from reproductions.experiments import find_experiments

    here = set(available())
    chosen = find_experiments(list(names))
    if as_json:
        about = [{**item.about.to_dict(), "available": [name for name in item.data if name in here]} for item in chosen]
        print_json("records", {"reproduce": about})
        return
    rows = (
        [item.name, item.shows, item.title,
         ", ".join(name if name in here else f"{name} (missing)" for name in item.data) or "simulated"]
        for item in chosen
    )  # fmt: skip
    console().print(table("experiment", "of the paper", "about", "data sets", rows=rows))


def _print_comparison(folder: Path, seeds: Sequence[int], as_json: bool) -> None:
    from reproductions.running import find_seeds, read_combined
    from reproductions.stored import compare_seeds

    others = [seed for seed in find_seeds(folder) if seed not in seeds]
    on_pages = read_combined(folder, seeds)
    if not on_pages or not others:
        missing = "another seed" if on_pages else f"seed {seeds[0]}"
        raise ValueError(f"Expected stored outcomes of {missing} in {folder}, got none; run them with --seed.")
    compared = compare_seeds(on_pages, [outcome for seed in others for outcome in read_combined(folder, [seed])])
    if as_json:
        print_json("records", {"compare_seeds": to_plain(compared)})
        return
    shown = console()
    for line in compared.changed:
        shown.print(line)
    shown.print(
        f"{len(compared.changed)} of {compared.n_decided} verdicts that are not open at seed "
        f"{', '.join(map(str, seeds))} ({compared.share:.1%}) change at seed {', '.join(map(str, others))}; "
        f"{compared.n_reversed} of them are reversed, the others become open."
    )


def _print(outcomes: "Sequence[StoredOutcome]", failures: Mapping[str, str], out: Path, quick: bool) -> None:
    from reproductions.records import KINDS, count_verdicts

    shown = console()
    for outcome in outcomes:
        shown.print(f"\n{outcome.experiment}, seed {outcome.seeds[0]}", style="bold")
        if quick:
            shown.print(
                f"ran in {outcome.seconds:.0f} s: {len(outcome.claims)} claims, {len(outcome.tables)} tables, "
                f"{len(outcome.pictures)} pictures"
            )
        else:
            rows = ([item.verdict, item.printed or "–", str(item.evidence), item.claim] for item in outcome.claims)
            shown.print(table("verdict", "printed", "ours", "claim", rows=rows))
    for name, reason in failures.items():
        shown.print(f"\n{name}: {reason}")
    if quick:
        shown.print("\nA quick run shows that everything runs; it does too little for verdicts.")
    elif outcomes:
        claims = [claim for outcome in outcomes for claim in outcome.claims]
        counts = [sentence for kind in KINDS if (sentence := count_verdicts(claims, kind))]
        shown.print("\n" + "\n".join(counts))
        shown.print(f"The pages are in {out}: open {out / 'index.md'}.")
