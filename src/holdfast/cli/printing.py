"""How results look on a terminal, and as JSON."""

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from holdfast.cli.terminal import console, say, table, write_json

if TYPE_CHECKING:
    from holdfast.inference.comparison import Comparisons
    from holdfast.inference.estimate import StabilityEstimate
    from holdfast.preferences import Preferences


@contextmanager
def notes(quiet: bool = False) -> Iterator[None]:
    """Show warnings as notes on stderr, unless that is not wanted."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for one in () if quiet else caught:
        say(f"holdfast: note: {one.message}")


def print_json(record: Any) -> None:
    """Print JSON that every reader takes: undefined numbers are null."""

    def clean(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: clean(value) for key, value in item.items()}
        if isinstance(item, list):
            return [clean(value) for value in item]
        return None if isinstance(item, float) and item != item else item

    write_json(json.dumps(clean(record), indent=2, ensure_ascii=False, allow_nan=False))


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
    """Print stabilities as a table, with what their intervals describe."""
    rows = table("measure", "stability", f"{100 * level:g}% interval", "strength", "note")
    for one in estimates:
        value = "undefined" if one.value != one.value else f"{one.value:.3f}"
        note = one.note or ("" if one.validated else "interval not validated")
        rows.add_row(one.measure, value, interval_text(*one.ci(level)), one.strength or "", note)
    out = out or console()
    out.print(str(preferences))
    first = estimates[0]
    if first.mean_overlap is not None:
        out.print(f"Two runs share {first.mean_overlap:.1f} of {first.mean_size:.1f} features on average.")
    if not all(one.no_interval for one in estimates):
        out.print(f"Intervals describe {first.scope}.")
    out.print(rows)


def print_comparisons(measure_name: str, found: "Comparisons") -> None:
    """Print stabilities with their letters, and all pairs."""
    out = console()
    rows = table("selection", measure_name, f"{100 * found.level:g}% interval", "letters")
    for row in found.to_frame().to_dict(orient="records"):
        ends = interval_text(row["low"], row["high"])
        rows.add_row(str(row["selection"]), number(row["stability"]), ends, row["letters"])
    out.print(rows)
    out.print("")
    rows = table("pair", "difference", f"{100 * found.level:g}% interval", "p", "p (Holm)", "runs compared")
    for row in found.pairs.to_dict(orient="records"):
        pair = f"{row['first_name']} - {row['second_name']}"
        p_values = (number(row[name], ".2g") for name in ("p_value", "p_holm"))
        rows.add_row(pair, number(row["difference"]), interval_text(row["low"], row["high"]), *p_values, row["design"])
    out.print(rows)
