"""What a data set is and what was done to it, for the store of a study and its report."""

from dataclasses import dataclass

from holdfast.io.doubts import Doubt
from holdfast.targets import TaskName


@dataclass(frozen=True, kw_only=True)
class DataRecord:
    """What a data set is and what was done to it before a study, in numbers and sentences; never a value of it.

    Attributes
    ----------
    source : str or None
        Name of the file or of the known data set, without its folder; None for data that came as an array or frame.
    file_format : str or None
        How the file was read, in words, such as ``text separated by ';' with decimal commas, Latin-1``.
    rows_read, columns_read : int
        Number of rows and columns that came, before anything was left out or encoded.
    rows, features : int
        Number of samples and of features to choose from that the study uses.
    target : str or None
        Name of the target.
    task : {"classification", "regression", "survival"}
        Whether classes, numbers or survival times are predicted.
    classes : tuple of (str, int)
        The classes with their numbers of rows; empty for other tasks.
    events : int or None
        Number of rows with the event, of survival times.
    follow_up : float or None
        Median of the survival times, of rows with and without the event.
    groups : str or None
        Name of the column of groups.
    n_groups : int or None
        Number of groups; None without groups.
    notes : tuple of str
        Every change that was made and everything that looks odd, one sentence each.
    warnings : tuple of str
        What changes how results are to be read, such as a feature that may be a copy of the target: for the first
        screen of a report.
    equal_rows : int
        Number of rows that repeat another.
    doubts : tuple of Doubt
        Columns that may be no features; they take part in the study, but are not listed among those to trust.
    """

    source: str | None = None
    file_format: str | None = None
    rows_read: int
    columns_read: int
    rows: int
    features: int
    target: str | None = None
    task: TaskName
    classes: tuple[tuple[str, int], ...] = ()
    events: int | None = None
    follow_up: float | None = None
    groups: str | None = None
    n_groups: int | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    equal_rows: int = 0
    doubts: tuple[Doubt, ...] = ()

    @property
    def doubted(self) -> dict[str, str]:
        """The columns that are not to be trusted until somebody says that they are features, with the reasons."""
        return {doubt.feature: doubt.reason for doubt in self.doubts if doubt.withholds_trust}

    @property
    def options(self) -> list[str]:
        """The options of reading that settle what is in doubt."""
        names = [name for name in ("ignore", "na_values") if any(doubt.option == name for doubt in self.doubts)]
        names += ["sites"] if any(doubt.certainty == "doubt" for doubt in self.doubts) else []
        return [*names, *(["treat_as_feature"] if self.doubted else []), *(["repeats"] if self.equal_rows else [])]

    @property
    def caution(self) -> str:
        """All warnings in one paragraph, for the first screen; empty if there are none."""
        return f"Caution: {' '.join(self.warnings)}" if self.warnings else ""
