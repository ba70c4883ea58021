"""The target of a table: class labels, or numbers to predict."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.io.files import as_number
from holdfast.io.options import TableOptions, Task, pluralize, quote_names
from holdfast.io.questions import Question, ReadingError, ask_column, ask_task, quoted

FEW_CLASSES = 20  # more different whole numbers may be classes or quantities


def make_target(column: "pd.Series[Any]", options: TableOptions) -> tuple[NDArray[Any], Task, list[str]]:
    """Return the target, its task (classification or regression), and notes."""
    labels = as_labels(column)
    truth = set(column.map(type)) <= {bool, np.bool_}
    notes = [f"Made 1 and 0 of true and false in {options.target!r}."] if truth else []
    task, guess = (options.task, []) if options.task else _likely_task(labels, options)
    if task == "regression":
        return _as_quantities(column, options), task, notes + guess
    return labels, task, notes + guess + _check_classes(labels, options)


def as_labels(column: "pd.Series[Any]") -> NDArray[Any]:
    """Return labels as whole numbers if all are, as texts if one is not a number, else as floats."""
    entries = column.astype(object).tolist()
    if not all(map(_is_number, entries)):
        return np.array([str(entry) for entry in entries])
    whole = all(float(entry).is_integer() for entry in entries)
    return np.array([int(entry) if whole else float(entry) for entry in entries])


def _is_number(entry: Any) -> bool:
    """Whether an array of numbers can hold it; a number of more than 18 digits is a name."""
    number = entry if isinstance(entry, str) else as_number(entry)
    return isinstance(number, float) and not (isinstance(entry, int) and abs(entry) >= 2**63)


def _likely_task(labels: NDArray[Any], options: TableOptions) -> tuple[Task, list[str]]:
    if labels.dtype.kind == "f":
        note = f"Took {options.target!r} for numbers to predict (regression), as there are fractions"
        return "regression", [f"{note} such as {_fraction(labels):g}."]
    n_classes = len(np.unique(labels))
    if labels.dtype.kind == "U" or n_classes <= 2:
        return "classification", []
    if n_classes > min(FEW_CLASSES, len(labels) / 2):
        raise ReadingError(
            f"Expected texts, fractions or few whole numbers in {options.target_name}, got {n_classes} different whole "
            f"numbers in {len(labels)} rows; pass task='regression' or task='classification'.",
            ask_task(
                options.target,
                f"has {n_classes} different whole numbers in {len(labels)} rows. What are they?",
                ("regression", "classification"),
            ),
        )
    return "classification", [
        f"Took the {n_classes} whole numbers of {options.target!r} for classes, not for quantities."
    ]


def _check_classes(labels: NDArray[Any], options: TableOptions) -> list[str]:
    """Raise unless the labels can be classes; return notes on classes of one row."""
    if labels.dtype.kind == "f":
        raise ReadingError(
            f"Expected classes in {options.target_name}, got fractions such as {_fraction(labels):g}; pass "
            "task='regression', or write the classes as text.",
            ask_task(options.target, f"has fractions such as {_fraction(labels):g}: no classes.", ("regression",)),
        )
    classes, counts = np.unique(labels, return_counts=True)
    if len(classes) < 2:
        raise ReadingError(
            f"Expected at least two classes in {options.target_name}, got only {classes[0].item()!r} in "
            f"{pluralize(len(labels), 'row')}; add samples of another class, or name another target.",
            _ask_another(options, f"has a single class, {quoted(classes[0].item())}."),
        )
    if len(classes) > max(2, len(labels) / 2):
        found = f"has {len(classes)} different entries in {len(labels)} rows"
        numbers = labels.dtype.kind != "U"
        raise ReadingError(
            f"Expected at least two rows per class in {options.target_name}, got {len(classes)} classes in "
            f"{len(labels)} rows; pass task='regression' if these are quantities, name another target if they are "
            "identifiers.",
            ask_task(options.target, f"{found}: too many for classes.", ("regression",))
            if numbers
            else _ask_another(options, f"{found}, as identifiers have."),
        )
    single = classes[counts == 1].tolist()
    return [f"Found a single row of class {quote_names(single)}: splits cannot be stratified by it."] if single else []


def _as_quantities(column: "pd.Series[Any]", options: TableOptions) -> NDArray[np.float64]:
    entries = [as_number(entry) for entry in column]
    wrong = [entry for entry in entries if not (isinstance(entry, float) and np.isfinite(entry))]
    if wrong:
        raise ReadingError(
            f"Expected finite numbers in {options.target_name} for regression, got {wrong[0]!r} "
            f"({pluralize(len(wrong), 'such entry')}); fix them, or pass task='classification'.",
            ask_task(options.target, f"has entries that are no numbers: {quoted(wrong[0])}.", ("classification",)),
        )
    if len(set(entries)) < 2:
        raise ReadingError(
            f"Expected different numbers in {options.target_name}, got only {entries[0]:g} in "
            f"{pluralize(len(entries), 'row')}; name another target.",
            _ask_another(options, f"has a single value, {entries[0]:g}."),
        )
    return np.array(entries)


def _ask_another(options: TableOptions, why: str) -> Question:
    others = [name for name in options.columns if name != options.target]
    return ask_column("target", f"{quoted(options.target)} {why} Which other column is to be predicted?", others)


def _fraction(labels: NDArray[Any]) -> float:
    return next(label for label in labels.tolist() if not label.is_integer())
