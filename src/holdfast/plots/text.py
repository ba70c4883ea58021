"""Charts and tables made safe to draw."""

import textwrap
from typing import Any

from holdfast.serialization import to_plain
from holdfast.text import NOT_XML, clean_text


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


def wrap_lines(text: str, width: int) -> list[str]:
    """Break a text into lines."""
    return textwrap.wrap(text, max(width, 30)) or [""]
