"""How results look on a terminal, and as JSON."""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from holdfast.cli.terminal import console, say, table, write_json
from holdfast.serialization import to_json

if TYPE_CHECKING:
    from holdfast.inference.comparisons import Comparisons
    from holdfast.inference.estimate import StabilityEstimate
    from holdfast.io.record import DataRecord
    from holdfast.preferences import Preferences


FOR_PYTHON = " The table .failures holds their tracebacks."
"""The end of a warning that only helps in Python."""


@contextmanager
def notes(quiet: bool = False) -> Iterator[None]:
    """Show warnings as notes on stderr, unless quiet."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in () if quiet else caught:
        say(f"holdfast: note: {str(warning.message).removesuffix(FOR_PYTHON)}")


MOST_CLASSES = 8

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
    "records": "selectors, perturbations, models, scores, rules, measures, reproduce --list: what is known of each",
    "reproduction": "reproduce: the claims of each experiment with their verdicts, and what could not be done",
    "study": "study, resume, show: the data, one row per candidate, failures, notes",
    "tradeoff": "tradeoff, choose: the choice and the front",
    "verification": "verify: rows that are sound, damaged or missing",
}
"""The forms of JSON that commands print, with what they hold; docs/json.md has the same table."""


def print_json(form: str, record: Mapping[str, Any]) -> None:
    """Print JSON that every reader takes: it names its form, and undefined numbers are null."""
    assert form in FORMS
    write_json(to_json({"schema": f"holdfast.{form}/1", **record}))


def counted(n: int, what: str) -> str:
    """A number of things, in words."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def number(value: float, form: str = ".3f") -> str:
    """A number, or a dash where there is none."""
    return "–" if value != value else f"{value:{form}}"


def interval_text(low: float, high: float) -> str:
    """An interval, or a dash where there is none."""
    return "–" if low != low else f"[{low:.3f}, {high:.3f}]"


def print_estimates(
    preferences: "Preferences", estimates: "list[StabilityEstimate]", level: float, out: Any = None
) -> None:
    """Print stabilities as a table, with what they describe."""
    rows = table("measure", "stability", f"{100 * level:g}% interval", "strength", "note")
    for estimate in estimates:
        value = "undefined" if estimate.value != estimate.value else f"{estimate.value:.3f}"
        note = estimate.note or ("" if estimate.validated else "interval not validated")
        rows.add_row(estimate.measure, value, interval_text(*estimate.ci(level)), estimate.strength or "", note)
    out = out or console()
    out.print(str(preferences))
    first = estimates[0]
    if first.mean_overlap is not None:
        out.print(f"Two runs share {first.mean_overlap:.1f} of {first.mean_size:.1f} features on average.")
    if not all(estimate.no_interval for estimate in estimates):
        out.print(f"Intervals describe {first.scope}.")
    out.print(rows)


def print_candidates(
    preferences: "Mapping[str, Preferences]",
    estimates: "Mapping[str, list[StabilityEstimate]]",
    compared: "Comparisons | None",
    level: float,
) -> None:
    """Print the stabilities of candidates, and how they compare."""
    for name, own in estimates.items():
        console().print(name, style="bold")
        print_estimates(preferences[name], own, level)
    if compared is not None:
        console().print("")
        print_comparisons(str(compared.pairs.loc[0, "measure"]), compared)


def print_data(record: "DataRecord", *, with_notes: bool) -> None:
    """Print what the data of a study are, and with notes what was done to them."""
    out = console()
    source = "" if record.source is None else f"{record.source}: "
    counts = ", ".join(f"{label} ({count:,})" for label, count in record.classes[:MOST_CLASSES])
    classes = f"{counts}{', …' if len(record.classes) > MOST_CLASSES else ''}" if record.classes else "numbers"
    target = f"{record.target or 'target'}: {classes}"
    groups = "" if record.n_groups is None else f"; {counted(record.n_groups, 'group')} by {record.groups or 'groups'}"
    out.print(
        f"Data: {source}{counted(record.rows, 'row')}, {counted(record.features, 'feature')}; {target}{groups}",
        soft_wrap=True,
    )
    for note in record.notes if with_notes else ():
        out.print(f"  {note}", soft_wrap=True)
    for warning in record.warnings:
        out.print(f"  Caution: {warning}", soft_wrap=True)


def print_comparisons(measure_name: str, comparisons: "Comparisons") -> None:
    """Print stabilities with their letters, and all pairs."""
    out = console()
    rows = table("selection", measure_name, f"{100 * comparisons.level:g}% interval", "letters")
    for row in comparisons.to_frame().to_dict(orient="records"):
        ends = interval_text(row["low"], row["high"])
        rows.add_row(str(row["selection"]), number(row["stability"]), ends, row["letters"])
    out.print(rows)
    out.print("")
    rows = table("pair", "difference", f"{100 * comparisons.level:g}% interval", "p", "p (Holm)", "runs compared")
    for row in comparisons.pairs.to_dict(orient="records"):
        pair = f"{row['first_name']} - {row['second_name']}"
        p_values = (number(row[name], ".2g") for name in ("p_value", "p_holm"))
        rows.add_row(pair, number(row["difference"]), interval_text(row["low"], row["high"]), *p_values, row["design"])
    out.print(rows)
