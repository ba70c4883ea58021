"""What an option is, and how a table is read: every option of reading, declared once.

The options of a study are declared in the same way, in :mod:`holdfast.options`. The signatures of
:func:`holdfast.read_table` and :func:`holdfast.io.inspect_table`, the options of commands, the keys of configuration
files, the form of the page and the table in docs/data.md agree with the fields of :class:`ReadOptions`;
tests/io/test_reading_options.py compares them. This module imports nothing that takes time.
"""

from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal, NamedTuple

from holdfast.targets import TaskName

Missing = Literal["error", "impute-median", "drop"]
Categorical = Literal["error", "one-hot", "codes", "drop"]
Repeats = Literal["keep", "drop"]


class Option(NamedTuple):
    """What everyone who offers an option has to know.

    Attributes
    ----------
    kind : {"column", "columns", "choice", "flag", "file", "text", "texts", "whole number", "number"}
        What its values are: the name of a column, several, one of a few words, yes or no, a path, any text, several,
        or a number.
    help : str
        What it is for, in one line.
    metavar : str
        What stands for a value in help texts.
    group : str
        The options that a command takes with it, such as ``"scoring"``.
    in_commands : bool
        Whether commands, configuration files and the page offer it.
    flags : tuple of str
        How it is typed, where not as ``--name``.
    registry : str
        The kind of thing whose names it takes, such as ``"models"``; a shell completes them.
    sets : str
        The field of :class:`holdfast.Study`, or the parameter of :meth:`holdfast.Study.run`, that it sets.
    values : tuple
        What its choices stand for in Python, where that is not the word itself.
    label, hint : str
        Its name in the form of the page, and an explanation; without a label, it has no field there.
    in_files : bool
        Whether configuration files take it.
    """

    kind: Literal["column", "columns", "choice", "flag", "file", "text", "texts", "whole number", "number"]
    help: str
    metavar: str = ""
    group: str = "reading"
    in_commands: bool = True
    flags: tuple[str, ...] = ()
    registry: str = ""
    sets: str = ""
    values: tuple[Any, ...] = ()
    label: str = ""
    hint: str = ""
    in_files: bool = True

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that it can be; empty if it is none of a few words."""
        return tuple(self.metavar.split("|")) if self.kind == "choice" else ()


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a file is written, where that is not to be detected."""

    sep: Annotated[
        str | None, Option("text", "Column separator of a text file, such as ; or tab (detected by default).", "MARK")
    ] = None
    decimal: Annotated[str | None, Option("text", "Decimal mark of a text file (detected by default).", ".|,")] = None
    encoding: Annotated[
        str | None, Option("text", "Encoding of a text file, such as latin-1 (detected by default).", "NAME")
    ] = None
    sheet: Annotated[
        str | None,
        Option(
            "text",
            "Sheet of an Excel file, object of an .RData file (default: the first with a table), or layer of AnnData.",
            "NAME",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ReadOptions(Reading):
    """All options of reading a table."""

    target: Annotated[str | None, Option("column", "Column to predict.", "COLUMN", group="task")] = None
    time: Annotated[
        str | None, Option("column", "Column of survival times, to be predicted instead of a target.", "COLUMN")
    ] = None
    event: Annotated[
        str | None,
        Option("column", "Column that says whether the event was seen at that time, or the row is censored.", "COLUMN"),
    ] = None
    event_is: Annotated[
        str | None,
        Option("text", "The value of that column that is the event (default: 1, true, or 2 of 1 and 2).", "VALUE"),
    ] = None
    ignore: Annotated[tuple[str, ...], Option("columns", "Column to leave out.", "COLUMN")] = ()
    treat_as_feature: Annotated[
        tuple[str, ...],
        Option("columns", "Column that is a feature though it looks like an identifier or the target.", "COLUMN"),
    ] = ()
    covariates: Annotated[
        tuple[str, ...],
        Option("columns", "Covariate in every model, not to be chosen; texts become 0/1.", "COLUMN", sets="covariates"),
    ] = ()
    index: Annotated[str | None, Option("column", "Column with the names of the rows; not a feature.", "COLUMN")] = None
    groups: Annotated[
        str | None,
        Option("column", "Column of groups, such as patients, whose rows stay together; not a feature.", "COLUMN"),
    ] = None
    sites: Annotated[
        str | None,
        Option(
            "column",
            "Column of sites, such as batches, centers or cohorts, that rows come from; not a feature.",
            "COLUMN",
        ),
    ] = None
    weights: Annotated[
        str | None,
        Option("column", "Column of weights of the rows, above 0; not a feature.", "COLUMN"),
    ] = None
    feature_groups: Annotated[
        str | None,
        Option(
            "file", "Table of two columns, column and group: columns of one group count as one feature.", "FILE",
            sets="feature_groups",
        ),
    ] = None  # fmt: skip
    missing: Annotated[Missing, Option("choice", "What to do with missing values.", "error|impute-median|drop")] = (
        "error"
    )
    na_values: Annotated[
        str | None, Option("text", "Values that stand for a missing one, such as -999 or unknown.", "VALUE[,VALUE]")
    ] = None
    repeats: Annotated[Repeats, Option("choice", "What to do with rows that repeat another.", "keep|drop")] = "keep"
    categorical: Annotated[
        Categorical, Option("choice", "What to do with columns that are not numbers.", "error|one-hot|codes|drop")
    ] = "error"
    task: Annotated[
        TaskName | None,
        Option(
            "choice", "Whether classes, numbers or survival times are predicted (detected by default).",
            "classification|regression|survival", sets="task",
        ),
    ] = None  # fmt: skip
    drop_constant: Annotated[bool, Option("flag", "Leave out columns with a single value.", in_commands=False)] = False
    transpose: Annotated[bool, Option("flag", "The table has features in rows and samples in columns.")] = False
    target_file: Annotated[
        str | None, Option("file", "Second table with the target, matched by sample names.", "FILE")
    ] = None


OF_FILE = tuple(known.name for known in fields(Reading))
"""Options that say how a file is written."""
_LISTED = sorted(fields(ReadOptions), key=lambda known: known.name in OF_FILE)
DEFAULTS: dict[str, Any] = {known.name: known.default for known in _LISTED}
"""The default of every option, in the order in which help texts list them."""
OPTIONS: dict[str, Option] = {known.name: known.type.__metadata__[0] for known in _LISTED}  # type: ignore[union-attr]
"""Every option by its name."""
