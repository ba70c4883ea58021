"""Numbers, counts and names as text for pictures and reports, and names made safe to draw."""

import math
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from holdfast.serialization import to_plain

NO_NAME = "(no name)"
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that no SVG can hold; the converter ends the whole process when it meets one."""
TURNING = {chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F)}
"""Characters that change the direction of writing, which would mix a name with the text beside it."""


def clean_text(text: str) -> str:
    """Replace each character that cannot be drawn, or that disturbs the text beside it."""
    if text.isascii() and text.isprintable():
        return text
    possible = NOT_XML.sub("\ufffd", text)
    return "".join("\ufffd" if unicodedata.category(c) == "Cc" or c in TURNING else c for c in possible)


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


def format_number(value: float) -> str:
    """Format a stability or score: two decimals, a real minus, and no minus before zero."""
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text.replace("-", "−")


def format_estimate(value: float, low: float, high: float) -> str:
    """Format a number with its interval: 0.74 [0.65, 0.81]."""
    if math.isnan(value):
        return "undefined"
    interval = "" if math.isnan(low) else f" [{format_number(low)}, {format_number(high)}]"
    return format_number(value) + interval


def format_percent(share: float) -> str:
    """Format a level or share in percent: 95 %."""
    return f"{100 * share:.4g} %"


def format_count(count: int, noun: str) -> str:
    """Format a count with its noun: 1 resample, 20 resamples, 20,000 features."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
