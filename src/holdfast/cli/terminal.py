"""Printing to the terminal: results as tables or JSON, notes on stderr; control characters are escaped."""

import re
import shlex
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

import holdfast as hf
from holdfast.cli.options import as_options
from holdfast.serialization import to_json
from holdfast.targets import TASKS
from holdfast.text import format_count, format_interval, format_number, format_p_value, format_percent, join_first

if TYPE_CHECKING:
    from rich.text import Text

    from holdfast.io.record import DataRecord

CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but line feeds and tabs, marks that turn the direction of writing, halves of characters."""


def visible(text: str) -> str:
    r"""The text with each control character written as its code, such as ``\x1b``.

    Names of features, columns and files come from strangers too: an escape sequence in one could hide or forge lines.
    """
    return CONTROL_CHARACTERS.sub(lambda match: _code(match[0], "\\x{:02x}", "\\u{:04x}"), text)


def visible_json(text: str) -> str:
    """JSON that means the same, with these characters as JSON writes them."""
    return CONTROL_CHARACTERS.sub(lambda match: _code(match[0], "\\u{:04x}", "\\u{:04x}"), text)


def _code(character: str, short: str, long: str) -> str:
    return (short if ord(character) < 256 else long).format(ord(character))


def quote_path(path: Any) -> str:
    """A path as it can be pasted into a shell, also one that begins like an option."""
    text = str(path)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)


def write(text: str) -> None:
    """Print lines on stdout, where results go."""
    typer.echo(visible(text))


def write_json(text: str) -> None:
    """Print JSON on stdout."""
    typer.echo(visible_json(text))


def print_stderr(text: str, *, of_python: bool = False) -> None:
    """Print a line on stderr, where notes and errors go; parameters are spelled as options, but not in code."""
    print(visible(text if of_python else as_options(text)), file=sys.stderr)


def console(*, stderr: bool = False) -> Any:
    """Where results are printed, with ``stderr`` where progress is shown; texts are printed as they are, no markup."""
    from rich.console import Console

    class Terminal(Console):
        def render_str(self, text: str, **options: Any) -> "Text":
            return super().render_str(visible(text), **options)

        def print(self, *things: Any, **options: Any) -> None:
            super().print(*things, **{"soft_wrap": isinstance(things[0], str), **options})

    alive = (sys.stderr if stderr else sys.stdout).isatty()
    return Terminal(highlight=False, markup=False, emoji=False, stderr=stderr, width=None if alive else 160)


def table(*columns: str, rows: Iterable[Iterable[Any]] = ()) -> Any:
    """A table whose first column, a name, is never cut, and whose cells are one line each."""
    from rich.table import Column, Table

    made = Table(Column(columns[0], no_wrap=True), *columns[1:], box=None)
    for row in rows:
        made.add_row(*(str(cell).replace("\n", "\\n") for cell in row))
    return made


FOR_PYTHON = " The table .failures holds their tracebacks."
"""The end of a warning that only helps in Python."""


@contextmanager
def notes(quiet: bool = False) -> Iterator[None]:
    """Show warnings as notes on stderr, unless quiet."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in () if quiet else caught:
        print_stderr(f"holdfast: note: {str(warning.message).removesuffix(FOR_PYTHON)}")


MAX_CLASSES = 8

FORMS = {
    "benchmark": "benchmark: data sets, candidates, ranks and tests over data sets",
    "check": "check: one row per name of the list, and the conclusion",
    "comparison": "compare: selections or candidates with their letters, and all pairs",
    "cost": "study --dry-run: fits, seconds and bytes",
    "demo": "demo: the report's file and its summary",
    "features": "features: one row per selected feature, with direction and effect",
    "files": "export: the files that were written",
    "measurement": "measure: the estimates; of exported selections those of each candidate, and how they compare",
    "nested": "nested: the choice with its score on outer folds, and what each fold chose",
    "records": "selectors, perturbations, models, scores, rules, measures: what is known of each",
    "replicability": "replicate: how far a new study would select the same features, and one row per feature",
    "study": "study, resume, show: the data, one row per candidate, failures, notes",
    "tradeoff": "tradeoff, choose: the choice and the front",
    "verification": "verify: rows that are sound, damaged or missing",
}
"""The forms of JSON that commands print, with what they hold; docs/json.md has the same table."""


def print_json(form: str, record: Mapping[str, Any]) -> None:
    """Print JSON that every reader takes: it names its form, and undefined numbers are null."""
    assert form in FORMS
    write_json(to_json({"schema": f"holdfast.{form}/1", **record}))


number = partial(format_number, decimals=3)
interval = partial(format_interval, decimals=3)


def print_estimates(
    preferences: "hf.Preferences", estimates: "list[hf.inference.StabilityEstimate]", level: float
) -> None:
    """Print stabilities as a table, with what they describe."""

    def row(estimate: "hf.inference.StabilityEstimate") -> list[str]:
        value = number(estimate.value) if estimate.value == estimate.value else "undefined"
        note = estimate.note or ("" if estimate.validated else "interval not validated")
        return [estimate.measure, value, interval(*estimate.ci(level)), estimate.strength or "", note]

    shown = table(
        "measure", "stability", f"{format_percent(level)} interval", "strength", "note", rows=map(row, estimates)
    )
    out, first = console(), estimates[0]
    out.print(str(preferences))
    if first.mean_overlap is not None:
        out.print(f"Two runs share {first.mean_overlap:.1f} of {first.mean_size:.1f} features on average.")
    if not all(estimate.no_interval for estimate in estimates):
        out.print(f"Intervals describe {first.scope}.")
    out.print(shown)


def print_candidates(
    preferences: "Mapping[str, hf.Preferences]",
    estimates: "Mapping[str, list[hf.inference.StabilityEstimate]]",
    compared: "hf.inference.Comparisons | None",
    level: float,
) -> None:
    """Print the stabilities of candidates, and how they compare."""
    for name, candidate_estimates in estimates.items():
        console().print(name, style="bold")
        print_estimates(preferences[name], candidate_estimates, level)
    if compared is not None:
        console().print("")
        print_comparisons(str(compared.pairs.loc[0, "measure"]), compared)


def print_data(record: "DataRecord", *, with_notes: bool) -> None:
    """Print what the data of a study are, and with notes what was done to them."""
    out = console()
    source = "" if record.source is None else f"{record.source}: "
    classes = join_first((f"{label} ({count:,})" for label, count in record.classes), MAX_CLASSES)
    events = "" if record.events is None else f"survival times ({format_count(record.events, 'event')})"
    target = f"{record.target or 'target'}: {classes or events or TASKS[record.task].noun}"
    by = f" by {record.groups or 'groups'}"
    groups = "" if record.n_groups is None else f"; {format_count(record.n_groups, 'group')}{by}"
    size = f"{format_count(record.rows, 'row')}, {format_count(record.features, 'feature')}"
    out.print(f"Data: {source}{size}; {target}{groups}")
    for note in record.notes if with_notes else ():
        out.print(f"  {note}")
    for warning in record.warnings:
        out.print(f"  Caution: {warning}")
    if record.options:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in record.options)
        out.print(f"  Options that settle this: {options}.")


def print_comparisons(measure_name: str, comparisons: "hf.inference.Comparisons") -> None:
    """Print stabilities with their letters, and all pairs."""
    out, ends = console(), f"{format_percent(comparisons.level)} interval"
    rows: Iterable[list[str]] = (
        [row["selection"], number(row["stability"]), interval(row["low"], row["high"]), row["letters"]]
        for row in comparisons.to_frame().to_dict(orient="records")
    )
    out.print(table("selection", measure_name, ends, "letters", rows=rows))
    out.print("")
    rows = (
        [f"{row['first_name']} - {row['second_name']}", number(row["difference"]),
         interval(row["low"], row["high"]), format_p_value(row["p_value"], name=""),
         format_p_value(row["p_holm"], name=""), row["design"]]
        for row in comparisons.pairs.to_dict(orient="records")
    )  # fmt: skip
    out.print(table("pair", "difference", ends, "p", "p (Holm)", "runs compared", rows=rows))


NOT_PASSED = 3
"""Exit code where a requirement is not met, or it is undecided whether it is."""


def close_gate(sentence: str, passed: bool) -> None:
    """Print on stderr whether a requirement is met, in a sentence for a log; exit with code 3 if it is not."""
    print_stderr(f"holdfast: {sentence}")
    if not passed:
        raise typer.Exit(NOT_PASSED)
