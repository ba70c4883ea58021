"""What a file leaves open, as a question with its possible answers, for a person who knows no Python.

A reader that cannot go on without a decision raises :class:`ReadingError`: its message names options, as a program and
the command line need it; its question asks the same in plain words, and each answer is a value of one of these options.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from holdfast.declared import did_you_mean
from holdfast.io.options import DEFAULTS, OPTIONS
from holdfast.text import clean_text, join_first
from holdfast.text import shorten as shorten_text

MAX_LENGTH = 60
"""Characters of a name or an entry in a question."""
MAX_CHOICES = 50
YES, NO = "true", "false"
SHEET_HINT = " (sheet= names another one)"
ACCEPT_HINT = "; treat_as_feature= makes features of them"
ACCEPTED = ", as treat_as_feature= says"
TRANSPOSE_HINT = "; transpose=True (--transpose) if rows are features"
SEPARATOR_CHOICES = (
    (";", "semicolons ( ; )"), (",", "commas ( , )"), ("tab", "tabs"), ("|", "bars ( | )"), ("space", "spaces"),
)  # fmt: skip
ENCODING_CHOICES = (
    ("utf-8", "UTF-8, which most programs write today"),
    ("cp1252", "Windows (Western Europe), which older Excel writes"),
    ("latin-1", "Latin-1 (ISO 8859-1)"),
    ("utf-16", "UTF-16, Excel's “Unicode text”"),
)


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


def columns_as_choices(names: Iterable[Any]) -> tuple[tuple[str, str], ...]:
    """Return names of columns as choices."""
    return tuple((str(name), shorten(name)) for name, _ in zip(names, range(MAX_CHOICES), strict=False))


# Questions about a table


def ask_column(option: str, sentence: str, names: Iterable[Any]) -> Question:
    """Ask for a column, of those named or any other."""
    return Question(option, sentence, columns_as_choices(names), typed=True)


def ask_separator(sentence: str) -> Question:
    """Ask what separates columns."""
    return Question("sep", f"{sentence} What separates the columns?", SEPARATOR_CHOICES, typed=True)


def ask_encoding() -> Question:
    """Ask how letters are written."""
    sentence = "The letters of this file could not be read. In which encoding was it saved?"
    return Question("encoding", sentence, ENCODING_CHOICES, typed=True)


def ask_decimal(cell: str, fraction: str, whole: str, column: str) -> Question:
    """Ask what the comma or point in a number means, which is a fraction or a whole number."""
    mark, word, other = (",", "comma", ".") if "," in cell else (".", "point", ",")
    where = f" in the column {quoted(column)}" if column else ""
    return Question(
        "decimal",
        f"The number {quoted(cell)}{where} can be read in two ways. What does its {word} mean?",
        (
            (mark, f"a decimal {word}: the number is {shorten(fraction)}"),
            (other, f"a mark between thousands: the number is {shorten(whole)}"),
        ),
    )


def ask_decimal_mark(examples: str = "") -> Question:
    """Ask for the decimal mark of a whole file."""
    return Question(
        "decimal",
        f"Numbers in this file are written in two ways{examples}. Which decimal mark is right? Columns that do not fit "
        "are then read as texts.",
        ((",", "the comma, as in 1,5"), (".", "the point, as in 1.5")),
    )


def ask_sheet(names: Iterable[Any]) -> Question:
    """Ask which table of a file to read."""
    return Question("sheet", "This file holds several tables. Which one should be read?", columns_as_choices(names))


def ask_categorical(names: Sequence[Any]) -> Question:
    """Ask what to do with texts."""
    one = len(names) == 1
    return Question(
        "categorical",
        f"{'The column' if one else f'{len(names)} columns'} {listed(names)} {'holds' if one else 'hold'} text, not "
        "numbers. What should be done with such columns?",
        (
            ("one-hot", "Make a yes/no column of each category"),
            ("codes", "Number the categories, in alphabetical or stated order"),
            ("drop", "Leave out columns that hold text"),
        ),
    )


def ask_row_names(name: Any, example: Any) -> Question:
    """Ask whether a column of different texts names the rows."""
    sentence = (
        f"The column {quoted(name)} has a different text in each row, such as {quoted(example)}; it is no feature."
    )
    return Question(
        "index", f"{sentence} What is it?", ((str(name), "It names the rows, such as patients or samples"),)
    )


def ask_leave_out(names: Sequence[Any], why: str) -> Question:
    """Ask to leave out columns that cannot be features."""
    pairs = tuple((value, f"Leave out {label}") for value, label in columns_as_choices(names))
    return Question("ignore", why, pairs, several=True)


def ask_doubts(reasons: Sequence[tuple[str, str]]) -> Question:
    """Ask which columns that look like no features to leave out; the others are accepted."""
    sentence = "Some columns look like no features. Which of them should be left out? The others are kept as features."
    pairs = tuple((name, f"{quoted(name)} {shorten(reason, 160)}") for name, reason in reasons)
    return Question("ignore", sentence, pairs, several=True, rest="treat_as_feature")


def ask_missing(names: Sequence[Any], rows: int, *, fill: bool = True) -> Question:
    """Ask what to do with missing values; those of a target cannot be filled."""
    filled = (("impute-median", "Fill them with the middle value of the column, or the most frequent category"),)
    dropped = "Leave out the row that lacks one" if rows == 1 else f"Leave out the {rows} rows that lack one"
    return Question(
        "missing",
        f"Values are missing in {listed(names)}. What should be done with them?",
        (*(filled if fill else ()), ("drop", dropped)),
    )


def ask_task(target: Any, sentence: str, answers: Sequence[str] = ("classification", "regression")) -> Question:
    """Ask whether a target holds classes or quantities."""
    labels = {"classification": "Each number is a class, such as a type of tumor",
              "regression": "They are quantities, such as a blood pressure: predict the number"}  # fmt: skip
    if list(answers) == ["classification"]:
        labels["classification"] = "Its entries are classes"
    return Question("task", f"{quoted(target)} {sentence}", tuple((answer, labels[answer]) for answer in answers))


def ask_table_orientation(sentence: str) -> Question:
    """Ask which way a table lies, after what speaks for features in rows."""
    return Question(
        "transpose",
        f"{sentence} What does a row stand for?",
        ((YES, "A feature, such as a gene: turn the table"), (NO, "A sample, such as a patient")),
    )


def ask_target_file(sentence: str) -> Question:
    """Ask for a second table that names the samples and their target."""
    return Question(
        "target_file", f"{sentence} Which second table holds the names of the samples and their target?", typed=True
    )


# Questions about selections


def ask_runs_orientation(sentence: str) -> Question:
    """Ask which way a matrix of selections lies."""
    return Question(
        "transpose",
        f"{sentence} What does a row stand for?",
        ((YES, "A feature: turn the table"), (NO, "A run: what one fit selected")),
    )


KIND_CHOICES = {
    "subset": "Selections: 1 for a selected feature, 0 for the others",
    "ranking": "Ranks: 1 is the best feature",
    "weighting": "Weights or scores: the greater, the more important",
}


def ask_kind(sentence: str, kinds: Iterable[str]) -> Question:
    """Ask what the numbers of a matrix are."""
    return Question("kind", f"{sentence} What are the numbers?", tuple((kind, KIND_CHOICES[kind]) for kind in kinds))


def ask_n_features(least: int) -> Question:
    """Ask how many features there were to choose from; at least as many as were ever selected."""
    return Question(
        "n_features",
        "The file only lists the features that were selected. How many were there to choose from, selected or not?",
        ((str(least), f"{least}: only those that the file names, the fewest possible"),) if least else (),
        typed=True,
    )


def ask_candidate(names: Iterable[str]) -> Question:
    """Ask whose selections to read from a file that a study exported."""
    sentence = "This file holds the selections of several candidates of a study. Whose should be read?"
    return Question("candidate", sentence, columns_as_choices(names))


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
