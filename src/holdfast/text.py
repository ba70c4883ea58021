"""Text that may stand anywhere: names made safe to show, and numbers as a reader wants them.

One convention for terminal, report, page, card, picture and LaTeX: a real minus and none before zero, thousands
separated, 95 %, p < 0.001; what is undefined is a dash in a table and a word in a sentence. Numbers in JSON, CSV and
the ``repr`` of a result are not display: they are written elsewhere.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that no SVG can hold; the converter ends the whole process when it meets one."""
TURNING = {chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F)}
"""Characters that change the direction of writing, which would mix a name with the text next to it."""
NO_NAME = "(no name)"
UNDEFINED = "–"
"""What stands in a table where there is no number; in a sentence that is "undefined"."""

LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}", "±": r"$\pm$", "−": "$-$",
    "–": "--", "[": "{[}", "]": "{]}",
}  # fmt: skip
"""Characters that LaTeX would read as commands, and how they are written."""


# Names


def clean_text(text: str) -> str:
    """Replace each character that cannot be drawn, or that disturbs the text next to it."""
    if text.isascii() and text.isprintable():
        return text
    possible = NOT_XML.sub("\ufffd", text)
    return "".join("\ufffd" if unicodedata.category(c) == "Cc" or c in TURNING else c for c in possible)


def clean_lines(text: str) -> str:
    """Replace characters that cannot be shown in a text, but not its line breaks."""
    return "\n".join(clean_text(line) for line in text.split("\n"))


def display_names(names: Iterable[Any]) -> list[str]:
    """Return names as they are shown: clean, none empty, and different names never alike."""
    seen: set[str] = set()
    texts = []
    for name in names:
        base = text = _display_name(name)
        copies = 2
        while text in seen:
            text, copies = f"{base} ({copies})", copies + 1
        seen.add(text)
        texts.append(text)
    return texts


def _display_name(name: Any) -> str:
    if isinstance(name, Integral):
        return f"feature {name}"
    return clean_text(str(name)) if str(name).strip() else NO_NAME


def shorten(name: Any, most: int = 40) -> str:
    """Return a name for a sentence, cut if it is long."""
    text = _display_name(name)
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def upper_first(text: str) -> str:
    """Return a text with its first letter in upper case, and all others as they are."""
    return text[:1].upper() + text[1:]


def join_words(words: Sequence[str], last: str = " and ") -> str:
    """Join words for a sentence: a, b and c."""
    return last.join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def join_names(names: Sequence[Any], most: int = 3) -> str:
    """Join names for a sentence: a, b and c; or a, b and 4 others."""
    texts = [shorten(name, 30) for name in names]
    if len(texts) > most:
        texts = [*texts[: most - 1], f"{len(texts) - most + 1} others"]
    return join_words(texts)


def join_first(items: Iterable[str], most: int = 5) -> str:
    """Join the first items by commas, and say how many there are if some are left out: a, b, … (7 in all)."""
    texts = list(items)
    more = f", … ({len(texts):,} in all)" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


# Numbers


def format_number(value: float, decimals: int = 2) -> str:
    """Format a number with a real minus, none before zero, and thousands separated; a dash if it is undefined.

    Examples
    --------
    >>> [format_number(value) for value in (0.746, -0.001, -12345.6, float("nan"))]
    ['0.75', '0.00', '−12,345.60', '–']
    """
    return UNDEFINED if math.isnan(value) else f"{value:z,.{decimals}f}".replace("-", "−")


def format_interval(low: float, high: float, decimals: int = 2) -> str:
    """Format an interval: [0.65, 0.81]; a dash if it is undefined."""
    if math.isnan(low) or math.isnan(high):
        return UNDEFINED
    return f"[{format_number(low, decimals)}, {format_number(high, decimals)}]"


def describe_interval(low: float, high: float, level: float, decimals: int = 2) -> str:
    """Return an interval in words: 95 % interval 0.65 to 0.81."""
    if math.isnan(low) or math.isnan(high):
        return "no interval"
    return f"{format_percent(level)} interval {format_number(low, decimals)} to {format_number(high, decimals)}"


def format_estimate(value: float, low: float, high: float, decimals: int = 2) -> str:
    """Format a number with its interval: 0.74 [0.65, 0.81]; the number alone if it has none."""
    if math.isnan(value):
        return "undefined"
    interval = "" if math.isnan(low) else f" {format_interval(low, high, decimals)}"
    return format_number(value, decimals) + interval


def format_score(value: float, error: float, decimals: int = 3) -> str:
    """Format a score with its standard error: 0.912 ± 0.010; the score alone if it has none."""
    return format_number(value, decimals) + ("" if math.isnan(error) else f" ± {format_number(error, decimals)}")


def format_p_value(p_value: float, *, name: str = "p") -> str:
    """Format a p-value by two digits: p = 0.032, p < 0.001; without a name as a table has it: 0.032, < 0.001.

    Examples
    --------
    >>> [format_p_value(p) for p in (0.0316, 0.5, 0.0002, float("nan"))]
    ['p = 0.032', 'p = 0.5', 'p < 0.001', 'p undefined']
    >>> [format_p_value(p, name="") for p in (0.0316, 0.0002, float("nan"))]
    ['0.032', '< 0.001', '–']
    """
    if math.isnan(p_value):
        return f"{name} undefined" if name else UNDEFINED
    if p_value < 0.001:
        return f"{name} < 0.001".lstrip()
    return f"{name} = {p_value:.2g}" if name else f"{p_value:.2g}"


def format_percent(share: float, decimals: int = 2) -> str:
    """Format a level or share in percent, with at most so many decimals: 95 %, 99.9 %; a dash if it is undefined."""
    return UNDEFINED if math.isnan(share) else f"{round(100 * share, decimals) + 0.0:g} %".replace("-", "−")


AGAIN = {0.2: (0.0, 0.7), 0.4: (0.1, 0.8), 0.6: (0.2, 0.9), 0.8: (0.4, 1.0)}
"""Steps in which probabilities of new studies are stated, and where the middle 80 % of the true ones lie."""

LEGEND = {
    "new_study": "New study: the probability that a new study of this size selects the feature; decide by this number.",
    "q": "q: of the features that stand out from shuffled targets as much, the expected share that has nothing to do "
    "with the target.",
    "used": "Used: the share of the importance that models give to the feature where it was selected.",
}
"""What is known of a feature besides its frequency, in a sentence each."""


def format_again(probability: float) -> str:
    """Format the probability that a new study selects a feature, no finer than it is known: 0.8 (0.4 to 1)."""
    if math.isnan(probability):
        return UNDEFINED
    if probability < 0.1:
        return "below 0.1"
    step = min(AGAIN, key=lambda step: abs(step - probability))
    low, high = AGAIN[step]
    return f"{step:g} ({low:g} to {high:g})"


def format_share(share: float) -> str:
    """Format a share in whole percent, never more certain than it is: less than 1 %, 50 %, more than 99 %."""
    if 0 < share < 0.005:
        return "less than 1 %"
    return "more than 99 %" if 0.995 <= share < 1 else format_percent(share, 0)


def pluralize(count: int, noun: str) -> str:
    """Return a noun as a count asks for: row, rows, entries."""
    return noun if count == 1 else f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def format_count(count: int, noun: str) -> str:
    """Format a count with its noun: 1 resample, 20 resamples, 20,000 features."""
    return f"{count:,} {pluralize(count, noun)}"


def escape_latex(text: str) -> str:
    r"""Return a text in which LaTeX reads no command; line breaks and control characters are gone.

    Examples
    --------
    >>> from holdfast.text import escape_latex
    >>> print(escape_latex("50 % of a_b"))
    50 \% of a\_b
    """
    return "".join(LATEX.get(character, character) for character in clean_text(" ".join(text.split())))
