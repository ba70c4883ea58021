"""Numbers, counts and names as text for pictures and reports, and names made safe to draw."""

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from holdfast.serialization import to_plain
from holdfast.text import NOT_XML
from holdfast.text import clean_text as clean_text
from holdfast.text import format_estimate as format_estimate
from holdfast.text import format_number as format_number

NO_NAME = "(no name)"


def clean_lines(text: str) -> str:
    """Replace characters that cannot be shown in a text, but not its line breaks."""
    return "\n".join(clean_text(line) for line in text.split("\n"))


def drawable_spec(spec: Any) -> Any:
    """Replace each character of a chart, as a dictionary, that cannot be drawn."""
    if isinstance(spec, str):
        return NOT_XML.sub("\ufffd", spec)
    if isinstance(spec, dict):
        return {drawable_spec(key): drawable_spec(value) for key, value in spec.items()}
    return [drawable_spec(value) for value in spec] if isinstance(spec, (list, tuple)) else spec


def plain_cell(value: Any) -> Any:
    """Return one entry of a table as JSON has it: undefined numbers are None, texts are clean."""
    plain = to_plain(value)
    return clean_text(plain) if isinstance(plain, str) else plain


def display_names(names: Iterable[Any]) -> list[str]:
    """Return names as they are drawn: clean, none empty, and different names never alike."""
    seen: set[str] = set()
    texts = []
    for name in names:
        base = text = _name_text(name)
        copies = 2
        while text in seen:
            text, copies = f"{base} ({copies})", copies + 1
        seen.add(text)
        texts.append(text)
    return texts


def _name_text(name: Any) -> str:
    if isinstance(name, (int, np.integer)):
        return f"feature {name}"
    return clean_text(str(name)) if str(name).strip() else NO_NAME


def shorten(name: Any, most: int = 40) -> str:
    """Return a name for a sentence, cut if it is long."""
    (text,) = display_names([name])
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def wrap_lines(text: str, width: int) -> list[str]:
    """Break a text into lines."""
    return textwrap.wrap(text, max(width, 30)) or [""]


def join_names(names: Sequence[Any], most: int = 3) -> str:
    """Join names for a sentence: a, b and c; or a, b and 4 others."""
    texts = [shorten(name, 30) for name in names]
    if len(texts) > most:
        texts = [*texts[: most - 1], f"{len(texts) - most + 1} others"]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def format_percent(share: float) -> str:
    """Format a level or share in percent: 95 %."""
    return f"{100 * share:.4g} %"


def format_count(count: int, noun: str) -> str:
    """Format a count with its noun: 1 resample, 20 resamples, 20,000 features."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
