"""Words and names in pictures: findings in a sentence, numbers with intervals, names that cannot do harm."""

import math
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

NO_NAME = "(no name)"
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that no SVG can hold; the converter ends the whole process when it meets one."""
TURNING = {chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F)}
"""Characters that turn the direction of writing, and would mix a name with what stands beside it."""


def clean(text: str) -> str:
    """The text with a replacement for each character that cannot be drawn, or disturbs what stands beside it."""
    if text.isascii() and text.isprintable():
        return text
    possible = NOT_XML.sub("\ufffd", text)
    return "".join("\ufffd" if unicodedata.category(c) == "Cc" or c in TURNING else c for c in possible)


def drawable(spec: Any) -> Any:
    """A chart, as a dictionary, without any character that cannot be drawn."""
    if isinstance(spec, str):
        return NOT_XML.sub("\ufffd", spec)
    if isinstance(spec, dict):
        return {drawable(key): drawable(value) for key, value in spec.items()}
    return [drawable(value) for value in spec] if isinstance(spec, (list, tuple)) else spec


def plain(value: Any) -> Any:
    """A value as JSON has it: undefined numbers are None, texts are clean."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float)) else clean(str(value))


def shown(names: Iterable[Any]) -> list[str]:
    """The names as they are drawn: clean, none empty, and different names never alike."""
    seen: set[str] = set()
    drawn = []
    for name in names:
        base = text = _text_of(name)
        number = 2
        while text in seen:
            text, number = f"{base} ({number})", number + 1
        seen.add(text)
        drawn.append(text)
    return drawn


def _text_of(name: Any) -> str:
    if isinstance(name, (int, np.integer)):
        return f"feature {name}"
    return clean(str(name)) if str(name).strip() else NO_NAME


def short(name: Any, most: int = 40) -> str:
    """A name for a sentence, cut where it is long."""
    text = shown([name])[0]
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def wrapped(text: str, width: int) -> list[str]:
    """The lines of a text."""
    return textwrap.wrap(text, max(width, 30)) or [""]


def listed(names: Sequence[Any], most: int = 3) -> str:
    """Names in a sentence: a, b and c; or a, b and 4 others."""
    texts = [short(name, 30) for name in names]
    if len(texts) > most:
        texts = [*texts[: most - 1], f"{len(texts) - most + 1} others"]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def number(value: float) -> str:
    """A stability or score with two decimals, a real minus, and no minus before zero."""
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text.replace("-", "−")


def told(value: float, low: float, high: float) -> str:
    """A number with its interval: 0.74 [0.65, 0.81]."""
    if math.isnan(value):
        return "undefined"
    return number(value) if math.isnan(low) else f"{number(value)} [{number(low)}, {number(high)}]"


def percent(level: float) -> str:
    """A level or share in per cent: 95 %."""
    return f"{100 * level:.4g} %"


def counted(count: int, what: str) -> str:
    """A count with its noun: 1 run, 20 runs, 20,000 features."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def strength(value: float) -> str:
    """The words for a stability that is corrected for chance."""
    return "poor" if value < 0.4 else "intermediate to good" if value <= 0.75 else "excellent"
