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
        What is in the store now: a snapshot if the study still runs.

    Raises
    ------
    StoreError
        If there is no study at this path, or the file is damaged.

    See Also
    --------
    Study.run : Writes the store, and resumes from it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> study = hf.Study(selectors=[hf.selectors.AnovaF(2)], perturbation=hf.Bootstrap(20))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "iris.db"
    ...     _ = study.run(X, y, store=path)
    ...     hf.load_study(path).stability("anova")
    nogueira = 1.000 [0.761, 1.000] (95% CI, 20 runs)
    """
    with open_to_read(store) as opened:
        return StudyResult(read_stored(opened))
