"""Text that may stand anywhere: names made safe to show, and numbers as a reader wants them."""

import math
import re
import unicodedata

NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that no SVG can hold; the converter ends the whole process when it meets one."""
TURNING = {chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F)}
"""Characters that change the direction of writing, which would mix a name with the text beside it."""

LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}", "±": r"$\pm$", "−": "$-$",
    "–": "--", "[": "{[}", "]": "{]}",
}  # fmt: skip
"""Characters that LaTeX would read as commands, and how they are written."""


def clean_text(text: str) -> str:
    """Replace each character that cannot be drawn, or that disturbs the text beside it."""
    if text.isascii() and text.isprintable():
        return text
    possible = NOT_XML.sub("\ufffd", text)
    return "".join("\ufffd" if unicodedata.category(c) == "Cc" or c in TURNING else c for c in possible)


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


def escape_latex(text: str) -> str:
    r"""Return a text in which LaTeX reads no command; line breaks and control characters are gone.

    Examples
    --------
    >>> from holdfast.text import escape_latex
    >>> print(escape_latex("50 % of a_b"))
    50 \% of a\_b
    """
    return "".join(LATEX.get(character, character) for character in clean_text(" ".join(text.split())))
