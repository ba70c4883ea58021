"""Reading a study from its store."""

from pathlib import Path

from holdfast.study.result import StudyResult
from holdfast.study.store import open_to_read
from holdfast.study.stored import read_stored


def load_study(store: str | Path) -> StudyResult:
    """Read a study from its store, also while it still runs.

    Parameters
    ----------
    store : path
        File that :meth:`Study.run` was given as ``store``.

    Returns
    -------
    StudyResult

    Raises
    ------
    StoreError
        If there is no study at this path, or the file is damaged.
    """
    with open_to_read(store) as opened:
        return StudyResult(read_stored(opened))
