"""Running one study on several data sets, each with its own store; finished fits are never repeated."""

import hashlib
import json
import logging
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from holdfast.benchmarking.result import BenchmarkResult
from holdfast.inference.intervals import check_level
from holdfast.io import Table
from holdfast.io.files import as_path
from holdfast.measures import Measure, find_measure
from holdfast.serialization import from_plain, to_json
from holdfast.study import StoreError, Study, StudyInterrupted, load_study
from holdfast.study.running import Line, Progress, Report
from holdfast.text import shorten

if TYPE_CHECKING:
    from holdfast.result import StudyResult

LIST = "benchmark.json"
SCHEMA = "holdfast.benchmark-folder/1"
MAX_LENGTH = 60
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d|benchmark)(\..*)?", re.IGNORECASE)
"""Names that Windows reserves for devices, and that of the list."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A data set of a benchmark.

    Attributes
    ----------
    name, file : str
        Its name, and the name of its store in the folder.
    failure : str or None
        Why it has no results; None if it has some, or has not been run yet.
    """

    name: str
    file: str
    failure: str | None = None


@dataclass(frozen=True, kw_only=True)
class Contents:
    """What the folder of a benchmark lists.

    Attributes
    ----------
    schema : str
        Name and version of this form.
    candidates : tuple of str
        Names of the candidates; a store may hold others, of earlier studies.
    metric, measure : str or None
        How the candidates were compared.
    level : float
        Level of the intervals.
    datasets : tuple of Entry
        The data sets, in their order.
    """

    schema: str = SCHEMA
    candidates: tuple[str, ...]
    metric: str | None
    measure: str | None
    level: float
    datasets: tuple[Entry, ...]


def store_name(name: str) -> str:
    """Return the name of a data set's store, which is safe for every file system and depends on the name alone.

    Letters without accents, digits, ``.``, ``-`` and ``_`` stay; if anything had to be replaced, a few digits of a hash
    keep different names apart.
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    safe = re.sub(r"[^\w.-]+", "_", plain).strip("._-")[:MAX_LENGTH]
    if safe == name and not RESERVED.fullmatch(safe):
        return f"{safe}.db"
    return f"{safe or 'data'}-{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()[:8]}.db"


def store_names(names: Iterable[str]) -> dict[str, str]:
    """Return the name of each data set's store; raise if two would be the same file where case does not count."""
    files: dict[str, str] = {}
    for name in names:
        file = store_name(name)
        for other, taken in files.items():
            if taken.lower() == file.lower():
                raise ValueError(
                    f"Expected names of data sets that differ in more than case, got {other!r} and {name!r}."
                )
        files[name] = file
    return files


def make_folder(path: str | Path) -> Path:
    """Return the folder of a benchmark, made if it is not there."""
    folder = as_path(path, "the path of a folder for the stores of a benchmark")
    if folder.exists() and not folder.is_dir():
        raise StoreError(f"Expected a folder for the stores of a benchmark, got the file {path}; name another one.")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_list(folder: Path, contents: Contents) -> None:
    """Write which data sets a folder holds, in one step: a reader sees the old list or the new one."""
    new = folder / f".{LIST}-{os.getpid()}"
    try:
        new.write_text(to_json(contents) + "\n", encoding="utf-8")
        new.replace(folder / LIST)
    finally:
        new.unlink(missing_ok=True)


def read_list(path: str | Path) -> tuple[Path, Contents]:
    """Return a folder and its list, checked; raise an error if it is not the folder of a benchmark."""
    folder = as_path(path, "the path of a benchmark's folder")
    if not (folder / LIST).is_file():
        raise StoreError(f"Expected the folder of a benchmark, got {path}, which has no {LIST}.")
    try:
        record: Any = json.loads((folder / LIST).read_text(encoding="utf-8"))
        contents = from_plain(Contents, record if isinstance(record, Mapping) else {})
    except (ValueError, RecursionError) as error:
        raise StoreError(f"Expected the list of a benchmark's data sets in {folder / LIST}, got {error}") from None
    if contents.schema != SCHEMA:
        raise StoreError(f"Expected {LIST} with the schema {SCHEMA!r}, got {contents.schema!r} in {path}.")
    for entry in contents.datasets:
        if entry.file != store_name(entry.name):
            expected = f"the store {store_name(entry.name)} for {entry.name!r}"
            raise StoreError(f"Expected {expected} in {folder / LIST}, got {entry.file!r}.")
    return folder, contents


log = logging.getLogger(__name__)


@dataclass(frozen=True)
class BenchmarkProgress(Progress):
    """How far a benchmark has come: the fits of one data set, its name, and which of all data sets it is.

    Attributes
    ----------
    dataset : str
        Name of the data set.
    number, n_datasets : int
        Which one it is, counted from 1, and how many there are.
    """

    dataset: str = ""
    number: int = 0
    n_datasets: int = 0

    def __str__(self) -> str:
        return f"{self.dataset} ({self.number} of {self.n_datasets} data sets) {super().__str__()}"


ReportBenchmark: TypeAlias = Callable[[BenchmarkProgress], None]


def benchmark(
    datasets: Mapping[str, Any],
    study: Study,
    *,
    store_dir: str | Path | None = None,
    n_jobs: int | None = None,
    progress: bool | ReportBenchmark = False,
    metric: str | None = None,
    measure: str | Measure | None = None,
    level: float = 0.95,
    time_limit: float | None = None,
    retry_failures: bool = False,
) -> BenchmarkResult:
    """Run the same study on several data sets, and compare its candidates over them.

    A data set that cannot be studied is recorded with the reason, and the others go on; so are selectors that do not
    suit a data set, such as those for two classes where there are more. What a data set gives depends
    on its data, the study and its seed only, not on the other data sets.

    Parameters
    ----------
    datasets : mapping from name to (X, y), (X, y, groups), Table or Dataset
        The data sets, as ``Study.run``, :func:`holdfast.read_table` and :func:`holdfast.datasets.load` have them.
    study : Study
        Selectors, perturbation, model and scores, the same for all.
    store_dir : path, optional
        Folder with one store per data set; made if it is not there. Called again, only what is missing is run. None
        keeps everything in memory.
    n_jobs : int, optional
        Processes to use, -1 for all cores.
    progress : bool or callable
        Draw progress on stderr, or hand it to a function.
    metric : str, optional
        The score to compare candidates by; by default the first one that all data sets have.
    measure : str or Measure, optional
        The measure of stability; by default the one for what the candidates give.
    level : float
        Level of the intervals; its complement is the level of significance.
    time_limit, retry_failures : optional
        As for :meth:`Study.run`.

    Returns
    -------
    BenchmarkResult
        The results of all data sets, and what can be concluded over them.

    Raises
    ------
    ValueError
        If a data set is given in another form, or the study is none.
    StoreError
        If a store holds another study.

    See Also
    --------
    load_benchmark : Read a benchmark from its folder.
    Study.run : One data set.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_breast_cancer, load_iris, load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> loaders = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer}
    >>> study = hf.Study(
    ...     selectors={"anova": hf.selectors.AnovaF(2), "random": hf.selectors.RandomSelector(2)},
    ...     perturbation=hf.Bootstrap(10),
    ...     estimator=KNeighborsClassifier(3),
    ... )
    >>> result = hf.benchmark({name: load(return_X_y=True) for name, load in loaders.items()}, study)
    >>> result.stabilities.round(2)
            anova  random
    iris     1.00    0.00
    wine     0.58   -0.01
    cancer   0.49   -0.02
    >>> print(result.verdict("stability").headline)
    No difference in stability was shown between 2 candidates over 3 data sets (Wilcoxon's signed-rank test, p = 0.25).
    """
    if not isinstance(study, Study):
        raise ValueError(f"Expected a study, hf.Study(…), to run on each data set, got {shorten(repr(study), 60)}.")
    if not isinstance(datasets, Mapping) or not datasets:
        raise ValueError(f"Expected data sets by name, such as {{'alon': (X, y)}}, got {shorten(repr(datasets), 60)}.")
    check_level(level)
    data = {_check_name(name): _read_data(str(name), given) for name, given in datasets.items()}
    files = store_names(data)
    folder = None if store_dir is None else make_folder(store_dir)
    entries = [Entry(name=name, file=files[name]) for name in data]
    chosen = None if measure is None else find_measure(measure)
    names = tuple(name for family in study.families for name in family.names)
    label = None if chosen is None else chosen.name
    about = Contents(candidates=names, metric=metric, measure=label, level=level, datasets=())
    results: dict[str, StudyResult] = {}
    for index, (name, (X, y, groups, task)) in enumerate(data.items()):
        _list(folder, entries, about)
        fitting = replace(study, task=task) if study.task is None and task is not None else study
        report = _make_reporter(progress, name, index + 1, len(data))
        try:
            with _name_dataset(name, index + 1, len(data)):
                results[name] = fitting.run(
                    X, y, groups=groups, store=None if folder is None else folder / files[name], n_jobs=n_jobs,
                    progress=report, time_limit=time_limit, retry_failures=retry_failures, unsuitable="record",
                )  # fmt: skip
        except (StoreError, OSError):
            raise
        except Exception as error:
            log.warning("The data set %s could not be studied.", name, exc_info=True)
            entries[index] = replace(entries[index], failure=_describe(error))
    _list(folder, entries, about)
    failures = {entry.name: entry.failure for entry in entries if entry.failure is not None}
    return BenchmarkResult(
        results=results, failures=failures, metric=metric, measure=chosen, level=level, folder=folder, only=names
    )


def load_benchmark(
    store_dir: str | Path,
    *,
    metric: str | None = None,
    measure: str | Measure | None = None,
    level: float | None = None,
) -> BenchmarkResult:
    """Read a benchmark from its folder, also while it still runs.

    Parameters
    ----------
    store_dir : path
        Folder that :func:`benchmark` was given.
    metric, measure, level : optional
        How to compare candidates; by default as when the benchmark was run.

    Returns
    -------
    BenchmarkResult
        What is in the folder now; data sets that have not been begun count as missing.

    Raises
    ------
    StoreError
        If it is not the folder of a benchmark, or a store is damaged.

    See Also
    --------
    benchmark : Writes the folder, and resumes from it.

    Examples
    --------
    >>> import tempfile
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_iris, load_wine
    >>> data = {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)}
    >>> study = hf.Study(selectors=[hf.selectors.AnovaF(2)], perturbation=hf.Bootstrap(10))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = hf.benchmark(data, study, store_dir=folder)
    ...     hf.load_benchmark(folder).datasets
    ['iris', 'wine']
    """
    folder, contents = read_list(store_dir)
    results, failures = {}, {}
    for entry in contents.datasets:
        if entry.failure is not None:
            failures[entry.name] = entry.failure
        elif (folder / entry.file).exists():
            results[entry.name] = load_study(folder / entry.file)
        else:
            failures[entry.name] = "it has not been run yet"
    used = measure if measure is not None else contents.measure
    return BenchmarkResult(
        results=results, failures=failures, metric=metric or contents.metric, folder=folder,
        only=contents.candidates,
        measure=None if used is None else find_measure(used), level=contents.level if level is None else level,
    )  # fmt: skip


def _check_name(name: Any) -> str:
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"Expected texts as names of data sets, got {name!r}.")
    return name


def _read_data(name: str, given: Any) -> tuple[Any, Any, Any, Any]:
    """Return features, target, groups and task of a data set; a table brings all of them, and its record."""
    if isinstance(given, Table):
        return given, None, None, given.task
    if hasattr(given, "X") and hasattr(given, "y"):
        task = getattr(given, "task", None) or getattr(getattr(given, "info", None), "task", None)
        return given.X, given.y, getattr(given, "groups", None), task
    if isinstance(given, (tuple, list)) and len(given) in (2, 3):
        return (*given, None, None) if len(given) == 2 else (*given, None)
    text = f"an object of type {type(given).__name__}" if hasattr(given, "shape") else shorten(repr(given), 60)
    raise ValueError(f"Expected (X, y), (X, y, groups), a Table or a Dataset for the data set {name!r}, got {text}.")


def _describe(error: Exception) -> str:
    text = " ".join(str(error).split("\n\n")[0].split())
    return text if isinstance(error, ValueError) and text else f"{type(error).__name__}: {text}"


def _list(folder: Path | None, entries: list[Entry], about: Contents) -> None:
    if folder is not None:
        write_list(folder, replace(about, datasets=tuple(entries)))


def _make_reporter(progress: bool | ReportBenchmark, name: str, number: int, n_datasets: int) -> bool | Report:
    if progress is False:
        return False
    receive: Any = Line() if progress is True else progress

    def report(now: Progress) -> None:
        receive(BenchmarkProgress(now.done, now.total, now.failures, now.rate, name, number, n_datasets))

    return report


@contextmanager
def _name_dataset(name: str, number: int, n_datasets: int) -> Iterator[None]:
    """Name the data set at which a benchmark was stopped by Ctrl-C or SIGTERM."""
    try:
        yield
    except StudyInterrupted as stopped:
        interrupted = StudyInterrupted(f"Stopped at {name!r}, data set {number} of {n_datasets}. {stopped}")
        interrupted.signal = stopped.signal
        raise interrupted from None
