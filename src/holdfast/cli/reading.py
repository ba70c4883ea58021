"""The data of a study from the command line: a file with its options, or a data set by its name."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.cli.parsing import as_options
from holdfast.cli.terminal import say

if TYPE_CHECKING:
    from holdfast.io import Table

OF_FILES = (
    "ignore", "accept", "index", "groups", "missing", "categorical", "task", "transpose", "target_file", "sep",
    "decimal", "encoding", "sheet",
)  # fmt: skip
"""Options that say how to read a file: parameters of :func:`holdfast.read_table`."""
NOT_FOR_KNOWN = [key for key in OF_FILES if key not in ("missing", "categorical", "task")]


def read(options: dict[str, Any], quiet: bool, name: str | None = None) -> "Table":
    """Read the data, and print a note for every change made to them; ``name`` says to which of several data sets."""
    data, whose = _table(options), "" if name is None else f"{name}: "
    if not quiet:
        for note in data.notes:
            say(f"holdfast: note: {whose}{as_options(note)}")
        for warning in data.warnings:
            say(f"holdfast: warning: {whose}{warning}")
    return data


def _table(options: dict[str, Any]) -> "Table":
    """The data: a file, or, where there is no such file, a data set by its name."""
    from holdfast import datasets
    from holdfast.declared import did_you_mean
    from holdfast.io import read_table

    data, target = options.get("data"), options.get("target")
    if data is None:
        raise ValueError("Expected a data file for the study, got none; see holdfast study --help.")
    if not Path(data).exists() and data in datasets.names():
        return _known_data(data, options)
    if not Path(data).exists():
        hint = did_you_mean(data, datasets.names())
        raise ValueError(f"There is no file {data}, and no data set of this name{hint}")
    if target is None:
        raise ValueError(f"Expected --target COLUMN, the column of {data} to be predicted, got none.")
    given = {key: options[key] for key in OF_FILES if options.get(key) is not None}
    try:
        return read_table(data, target, **given)
    except ValueError as error:
        raise ValueError(as_options(str(error))) from None


def _known_data(name: str, options: dict[str, Any]) -> "Table":
    from holdfast import datasets
    from holdfast.io.table import make_table

    for key in NOT_FOR_KNOWN:
        if options.get(key):
            option = key.replace("_", "-")
            raise ValueError(f"Expected a file for --{option}, got the data set {name}, of which every column counts.")
    known = datasets.load(name)
    target = options.get("target") or "target"
    return make_table(
        known.X, known.y, known.info.task, target=target, source=name, file_format="known data set",
        notes=(known.description,),
    )  # fmt: skip
