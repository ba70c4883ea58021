"""What a file leaves open, as a question with its possible answers, for a person who knows no Python.

A reader that cannot go on without a decision raises :class:`ReadingError`: its message names options, as a program and
the command line need it; its question asks the same in plain words, and each answer is a value of one of these options.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from string import Formatter
from typing import Any

import pandas as pd

from holdfast.declared import did_you_mean
from holdfast.io.options import DEFAULTS, OPTIONS
from holdfast.text import clean_text, format_count, join_first
from holdfast.text import shorten as shorten_text

MAX_LENGTH = 60
"""Characters of a name or an entry in a question."""
MAX_CHOICES = 50
YES, NO = "true", "false"
SHEET_HINT = " (sheet= names another one)"
ACCEPT_HINT = "; treat_as_feature= makes features of them"
ACCEPTED = ", as treat_as_feature= says"
TRANSPOSE_HINT = "; transpose=True if rows are features"


@dataclass(frozen=True)
class Question:
    """A decision that a file needs, in plain words, with the possible answers.

    Attributes
    ----------
    option : str
        Which option of :func:`holdfast.read_table` or :func:`holdfast.read_preferences` an answer sets.
    sentence : str
        The question, for a person who knows neither Python nor a command line.
    choices : tuple of (str, str)
        Values of the option with what they mean; the likelier come first.
    several : bool
        Whether any number of the values may be taken together.
    rest : str
        Option that takes the values that were not taken, if there is one: a column is left out or accepted.
    typed : bool
        Whether another value may be typed, such as the name of a column or a number.

    See Also
    --------
    holdfast.io.ReadingError : Carries a question.
    holdfast.io.inspect_table : Asks what a table leaves open.

    Examples
    --------
    >>> from holdfast.io import Question
    >>> question = Question("transpose", "Do features stand in rows?", (("true", "Yes"), ("false", "No")))
    >>> question.answer("true")
    {'transpose': True}
    """

    option: str
    sentence: str
    choices: tuple[tuple[str, str], ...] = ()
    several: bool = False
    rest: str = ""
    typed: bool = False

    def answer(self, *values: str) -> dict[str, Any]:
        """Return the options that an answer sets.

        Parameters
        ----------
        *values : str
            Values of the choices that were taken, or what was typed: one, or any number if there may be ``several``.

        Returns
        -------
        dict
            Arguments for the reader that asked.

        Raises
        ------
        ValueError
            If a value is none of the choices, or not one value was given.
        """
        known = [value for value, _ in self.choices]
        wrong = [value for value in values if value not in known and not self.typed]
        if wrong or (len(values) != 1 and not self.several):
            shown = clean_text(wrong[0])[:MAX_LENGTH] if wrong else f"{len(values)} answers"
            raise ValueError(f"Expected one of the answers that were offered, got {shown!r}; choose again.")
        if self.several:
            left = tuple(value for value in known if value not in values)
            return {self.option: tuple(values)} | ({self.rest: left} if self.rest else {})
        return {self.option: _as_value(self.option, values[0])}


def add_answer(options: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with an answer added: columns join those that were left out or accepted before."""
    listed = {}
    for key, names in answer.items():
        if isinstance(names, tuple):
            before = options.get(key)
            listed[key] = (*((before,) if isinstance(before, str) else before or ()), *names)
    return {**options, **answer, **listed}


def _as_value(option: str, text: str) -> Any:
    if option in OPTIONS and OPTIONS[option].kind == "flag":
        return text == YES
    if option in OPTIONS and OPTIONS[option].kind == "column" and not text:
        return DEFAULTS[option]
    if option == "n_features":
        if not (text.strip().isdecimal() and text.strip().isascii() and len(text.strip()) < 16):
            raise ValueError(
                f"Expected a whole number of features, got {clean_text(text)[:MAX_LENGTH]!r}; type a number."
            )
        return int(text)
    return text


class ReadingError(ValueError):
    """A file cannot be read as asked; where a decision is missing, with the question that asks for it.

    Parameters
    ----------
    message : str
        One sentence: what was expected, what came, which option decides.
    question : Question, optional
        The decision that is missing; None if no option of reading helps.

    Attributes
    ----------
    question : Question or None
        The decision that is missing.

    See Also
    --------
    holdfast.read_table : Raises it.

    Examples
    --------
    >>> import pandas as pd
    >>> import holdfast as hf
    >>> frame = pd.DataFrame({"sex": ["f", "m", "f", "m"], "ill": ["no", "yes", "yes", "no"]})
    >>> try:
    ...     hf.read_table(frame, "ill")
    ... except hf.io.ReadingError as error:
    ...     print(error.question.option, [value for value, _ in error.question.choices])
    categorical ['one-hot', 'codes', 'drop']
    """

    def __init__(self, message: str, question: Question | None = None):
        super().__init__(message)
        self.question = question


ReadingError.__module__ = "holdfast.io"  # the name by which it is imported, and which tracebacks show


# Words


def shorten(text: Any, limit: int = MAX_LENGTH) -> str:
    """Return a text as it can be shown on one line: without control characters, and cut if it is long."""
    words = " ".join(str(text)[: 4 * limit].split())
    return words and shorten_text(words, limit)


def quoted(name: Any) -> str:
    """Return a name or an entry in typographic quotes."""
    return f"“{shorten(name)}”"


def listed(names: Iterable[Any], limit: int = 5) -> str:
    """Return the first names in quotes, and how many there are if some are left out."""
    return join_first(map(quoted, names), limit)


def plain_note(note: str) -> str:
    """Return a note about a file without the options that a program would use."""
    for hint in (SHEET_HINT, ACCEPT_HINT, ACCEPTED, TRANSPOSE_HINT):
        note = note.replace(hint, "")
    return note


# Questions and refusals


class Sentences(Formatter):
    """Sentences with gaps, as ``refusals.toml`` explains them: those of ``str.format``, for names and counts too."""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        shown = {"q": quoted, "n": quote_names, "l": listed}.get(conversion)
        return super().convert_field(value, conversion) if shown is None else shown(value)

    def format_field(self, value: Any, format_spec: str) -> str:
        is_noun = len(format_spec) > 1 and format_spec.replace(" ", "").isalpha()
        return format_count(value, format_spec) if is_noun else super().format_field(value, format_spec)


QUESTIONS, REFUSALS = (
    tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
    for name in ("questions", "refusals")
)
"""What may be asked about a file, and why it is refused, by name."""
FIELDS = {"option", "sentence", "choices", "each", "typed"}
"""Fields of a question that may be others where it is asked."""


def fill(text: str, values: Mapping[str, Any]) -> str:
    """Return a text with values in its gaps."""
    return Sentences().vformat(text, (), values)


def ask(name: str, /, choices: Iterable[Any] | None = None, **values: Any) -> Question:
    """Return a question with values in the gaps of its sentence; a value named as one of its fields replaces this.

    ``choices`` are values of its table, names, pairs of a value and its meaning, or another table; the first 50 are
    offered.
    """
    facts: dict[str, Any] = {**QUESTIONS[name], **values}
    offered = facts.get("choices", {}) if choices is None else choices
    meanings = offered if isinstance(offered, dict) else facts.get("choices", {})

    def explain(choice: Any) -> tuple[str, str]:
        if isinstance(choice, tuple):
            return choice
        meaning = meanings.get(choice, facts.get("each", "{choice}"))
        return str(choice), fill(meaning, {**values, "choice": shorten(choice)})

    return Question(
        option=facts["option"], sentence=fill(facts["sentence"], values),
        choices=tuple(map(explain, islice(offered, MAX_CHOICES))), several=facts.get("several", False),
        rest=facts.get("rest", ""), typed=facts.get("typed", False),
    )  # fmt: skip


def refuse(
    name: str, /, choices: Iterable[Any] | None = None, question: Question | None = None, **values: Any
) -> ReadingError:
    """Return an error of ``refusals.toml`` with values in its gaps, and with the question that it leads to.

    A question that offers no choice, and takes nothing that is typed, is left out.
    """
    facts, values = REFUSALS[name], {**values, "choices": choices}
    if question is None and "question" in facts:
        words = {
            key: text if key in FIELDS else fill(text, values)
            for key, text in facts.items()
            if key not in ("message", "question")
        }
        asked = ask(facts["question"], **{**words, **values, "choices": words.get("choices", choices)})
        question = asked if asked.choices or asked.typed else None
    return ReadingError(fill(facts["message"], values), question)


GAPS = ("?", " ?", ".", "#NV", "#N/A")
"""Marks of missing values besides those of pandas: UCI's, SAS's, and those of a German and an English Excel."""


# Lists in messages


def quote_names(names: Iterable[Any]) -> str:
    """Return the first names in quotes."""
    return join_first(map(repr, names))


def suggest_name(name: str, known: Iterable[str], option: str) -> str:
    """Return the end of a message about an unknown name: the closest one, or that one of those named is needed."""
    hint = did_you_mean(name, known)
    return hint if hint.endswith("?") else f"; give {option}= one of these names."


def join_counts(counts: "pd.Series[int]") -> str:
    """Return the first names with their counts."""
    return join_first(f"{name!r} ({count:,})" for name, count in counts.items())
