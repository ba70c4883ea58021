"""What studies are about, in a line each, from a few facts of their stores."""

from dataclasses import dataclass

from holdfast.plots.text import shorten
from holdfast.report.labels import label_family
from holdfast.study.store import Overview, StoreError, read_overview
from holdfast.web.folder import Folder, Stamp, stamp_file


@dataclass(frozen=True, kw_only=True)
class StudyOverview:
    """What a study is about.

    Attributes
    ----------
    data : str
        Name of the file or of the known data set; empty for data that came from a program.
    rows, features : int
        Number of samples, and of features to choose from.
    target : str
        Name of what is predicted; empty if it has none.
    selectors : tuple of str
        The selectors, by their names for readers.
    resumable : bool
        Whether it can go on from here: it was started on this page or on the command line.
    """

    data: str
    rows: int
    features: int
    target: str
    selectors: tuple[str, ...]
    resumable: bool


class Overviews:
    """What the studies of a folder are about, each read again when its store has changed.

    Parameters
    ----------
    folder : Folder
        Where the stores are.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._known: dict[str, tuple[Stamp, StudyOverview | None]] = {}

    def get(self, study: str) -> StudyOverview | None:
        """What a study is about; None if its store does not say so, or there is none."""
        path = self.folder.store_of(study)
        stamp, known = stamp_file(path), self._known.get(study)
        if known is not None and stamp == known[0]:
            return known[1]
        try:
            found = _describe(read_overview(path))
        except StoreError:
            found = None
        if stamp is not None:
            self._known[study] = stamp, found
        return found


def _describe(overview: Overview | None) -> StudyOverview | None:
    if overview is None:
        return None
    data = overview.data
    return StudyOverview(
        data=shorten(data.source, 80) if data.source else "",
        rows=data.rows,
        features=data.features,
        target=shorten(data.target, 60) if data.target else "",
        selectors=tuple(shorten(label_family(name, about), 60) for name, about in overview.selectors.items()),
        resumable=overview.command is not None,
    )
