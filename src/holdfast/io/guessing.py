"""Guesses that a person confirms: which column is the target, which ones name rows, what numbers of selections are."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from holdfast.io import files
from holdfast.io.dialect import DASHES
from holdfast.io.doubts import NAMES, is_identifier, split_words
from holdfast.io.files import as_name, as_number, is_text
from holdfast.io.questions import MAX_CHOICES, listed, quoted, refuse, shorten
from holdfast.preferences import Kind

NO_NAME = ("", "Unnamed: 0")  # the header of row names that pandas or R wrote
RUN_LABEL = re.compile(
    r"(run|fold|resample|sample|subsample|seed|boot(strap)?|split|rep(eat|lication|licate)?|iter(ation)?|draw|trial|cv|"
    r"permutation|perturbation|half)s?[ _.\-#:]*\d+([ _.\-]*(run|fold|rep(eat)?)?[ _.\-]*\d+)?",
    re.IGNORECASE,
)
_SAMPLE_NAME = re.compile(
    r"(GSM\d+|TCGA-.+|[SP]\d+|(sample|patient|subject|donor|case|control|tumou?r|normal|healthy|mouse|rat|array|chip|"
    r"individual|participant|pat|subj|ctrl|id)[ _.\-#]*\w{0,8})(\.CEL)?",
    re.IGNORECASE,
)
_FEATURE_NAME = re.compile(
    r"ENS[A-Z]*[GTP]\d+(\.\d+)?|\d+_([a-z]_)?(s_|x_|g_|f_|i_|r_)?at|AFFX.+|ILMN_\d+|rs\d+|cg\d{5,}|hsa[-_](mir|let).+|"
    r"[NX][MRP]_\d+.*|A_\d+_P\d+|LOC\d+|(gene|probe|probeset|feature|metabolite|protein)[ _.\-]*\d+",
    re.IGNORECASE,
)
_JOINED = re.compile(r"(.+) \((.+)\)")
MIN_ALIKE = 0.8  # share of names
MAX_TRIED = 50
"""Columns of texts that are tried as numbers."""


def match_share(names: Iterable[Any], pattern: "re.Pattern[str]") -> float:
    """Return the share of names that match a pattern."""
    texts = [str(name).strip() for name in names]
    matches = sum(len(text) <= files.MAX_NAME_LENGTH and pattern.fullmatch(text) is not None for text in texts)
    return matches / len(texts) if texts else 0.0


def are_run_labels(names: Sequence[Any]) -> bool:
    """Whether names are those of runs: run1, fold_2, seed 3."""
    return len(names) > 1 and match_share(names, RUN_LABEL) == 1


def are_feature_names(names: Sequence[Any]) -> bool:
    """Whether most names are those of genes, probes or the like."""
    return match_share(names, _FEATURE_NAME) >= MIN_ALIKE


# Tables of samples and features


def row_labels(frame: pd.DataFrame) -> "pd.Index[Any] | None":
    """Return the names of the rows: the index, or a first column of different texts; None if there are none."""
    if frame.index.name is not None or not types.is_integer_dtype(frame.index):
        return frame.index
    if not frame.shape[1]:
        return None
    first = frame.iloc[:, 0]
    if frame.columns[0] in NO_NAME:
        return pd.Index(first)
    return pd.Index(first) if is_text(first) and first.is_unique else None


def explain_features_in_rows(frame: pd.DataFrame) -> str:
    """Return a sentence on why rows look like features; an empty text if they do not.

    They do if rows have names, all else is numbers, and names or shape say so.
    """
    labels = row_labels(frame)
    if labels is None:
        return ""
    body = frame if labels is frame.index else frame.iloc[:, 1:]
    annotations = find_annotations(frame)
    body = body.drop(columns=annotations) if annotations else body
    if body.shape[1] < 2 or len(body) < 2 or not _are_numbers(body):
        return ""
    if labels is not frame.index and str(frame.columns[0]).lower() in NAMES["features"]:
        return f"The first column is named {quoted(frame.columns[0])}, as if each row were a feature."
    if match_share(labels, _FEATURE_NAME) >= MIN_ALIKE / 2 and match_share(body.columns, _FEATURE_NAME) < MIN_ALIKE / 2:
        return f"Rows are named like features: {listed(labels, 3)}."
    if match_share(labels, _SAMPLE_NAME) >= MIN_ALIKE:
        return ""
    if match_share(body.columns, _SAMPLE_NAME) >= MIN_ALIKE:
        return f"Columns are named like samples: {listed(body.columns, 3)}."
    if len(body) >= 2 * body.shape[1] and _are_alike(body.columns):
        return f"There are many more rows ({len(body)}) than columns ({body.shape[1]}), and columns have similar names."
    return ""


def find_annotations(frame: pd.DataFrame) -> list[str]:
    """Return columns that describe features in rows, such as their symbols: texts, where samples are numbers."""
    columns = list(frame.columns[0 if row_labels(frame) is frame.index else 1 :])
    head = frame[columns[:MAX_TRIED]].head(MAX_TRIED)
    texts = {
        name for name in head.columns[[not types.is_numeric_dtype(dtype) for dtype in head.dtypes]]
        if not _SAMPLE_NAME.fullmatch(str(name)[: files.MAX_NAME_LENGTH])
        and sum(isinstance(as_number(str(cell).replace(",", ".")), str) for cell in head[name]) > len(head) / 2
    }  # fmt: skip
    annotations = [name for name in head.columns if name in texts or _plain_name(name) in NAMES["annotations"]]
    return annotations if len(annotations) < len(columns) / 2 else []


def label_features(frame: pd.DataFrame, annotations: Iterable[str]) -> dict[str, str]:
    """Return the labels of features in rows, by their names, from the first column of symbols among the annotations."""
    column = next((name for name in annotations if _plain_name(name) in NAMES["labels"]), None)
    if column is None:
        return {}
    names = frame.index if row_labels(frame) is frame.index else frame.iloc[:, 0]
    texts = zip(map(as_name, names), frame[column], strict=True)
    return {name: text.strip() for name, text in texts if isinstance(text, str) and text.strip() not in ("", name)}


def join_label(label: str, name: str) -> str:
    """Return the name of a feature with its label: ``TP53 (ENSG00000141510)``."""
    return f"{label} ({name})"


def split_label(name: str) -> tuple[str, ...]:
    """Return label and name of a feature that :func:`join_label` may have joined; nothing for another one."""
    joined = _JOINED.fullmatch(name)
    return () if joined is None else joined.groups()


def _plain_name(name: Any) -> str:
    return re.sub(r"[\W_]", "", str(name)).lower()


def _are_numbers(body: pd.DataFrame) -> bool:
    """Whether all columns hold numbers, but for rows of texts that all of them share, such as classes of samples."""
    texts = [position for position, dtype in enumerate(body.dtypes) if not types.is_numeric_dtype(dtype)]
    if not texts:
        return True
    if len(texts) < body.shape[1]:
        return False
    cells = body.iloc[:, :MAX_TRIED].astype("string").apply(lambda column: column.str.replace(",", ".", regex=False))
    words = cells.apply(pd.to_numeric, errors="coerce").isna().to_numpy() & cells.notna().to_numpy()
    return bool(words.all(axis=1).any() and words.mean() <= 1 - MIN_ALIKE)


def _are_alike(names: Iterable[Any]) -> bool:
    """Whether most names differ in their digits only, or share a beginning."""
    texts = [str(name) for name in names]
    _, times = Counter(re.sub(r"\d+", "0", text) for text in texts).most_common(1)[0]
    return times >= MIN_ALIKE * len(texts) or len({text[:3] for text in texts}) == 1


# Turning


def turn(frame: pd.DataFrame, decimal: str, where: str) -> pd.DataFrame:
    """Return a table with its rows as columns; the first column, or the index, names them."""
    labels = row_labels(frame)
    body = frame if labels is not None and labels is frame.index else frame.iloc[:, 1:]
    if labels is None:
        labels = _first_column(frame, where)
    names = [as_name(label) for label in labels]
    samples = pd.Index([str(name) for name in body.columns])
    if all(types.is_numeric_dtype(dtype) for dtype in body.dtypes):
        return pd.DataFrame(body.to_numpy(dtype=np.float64, na_value=np.nan).T, index=samples, columns=names)
    return _turn_texts(body, names, samples, decimal)


def _first_column(frame: pd.DataFrame, where: str) -> "pd.Index[Any]":
    first = frame.iloc[:, 0] if frame.shape[1] else pd.Series(dtype=object)
    whole = all(isinstance(as_number(entry), str) or float(entry).is_integer() for entry in first.dropna())
    if not len(first) or first.isna().any() or not whole:
        shown = repr(first.tolist()[0]) if len(first) else "nothing"
        raise refuse("no-names-to-turn", where=where, shown=shown)
    return pd.Index(first)


def _turn_texts(body: pd.DataFrame, names: list[str], samples: "pd.Index[Any]", decimal: str) -> pd.DataFrame:
    """Turn a table some rows of which are texts, such as a target; the other rows become numbers again."""
    cells = body.to_numpy(dtype=object)
    numbers = np.full(cells.T.shape, np.nan)
    texts = {}
    for position, row in enumerate(cells):
        try:
            numbers[:, position] = [_as_float(cell, decimal) for cell in row]
        except (TypeError, ValueError):
            texts[position] = pd.Series(row, index=samples, dtype=object).infer_objects()
    frame = pd.DataFrame(numbers, index=samples)
    plain = frame.loc[:, ~frame.columns.isin(list(texts))]  # drop() would make a block of memory of each column
    turned = pd.concat([plain, *texts.values()], axis=1, keys=None)
    turned.columns = pd.Index([*plain.columns, *texts])
    return turned[range(len(names))].set_axis(names, axis=1)


def _as_float(cell: Any, decimal: str) -> float:
    if not isinstance(cell, str):
        return np.nan if cell is None or cell is pd.NA else float(cell)
    text = cell.strip()
    if text in DASHES:
        return np.nan
    if "_" in text or (decimal == "," and "." in text):
        raise ValueError("no number")
    return float(text.replace(",", ".") if decimal == "," else text)


FEW_TEXTS = 20
"""Most different texts in a column that may be the target."""
MAX_EVENT_VALUES = 4
"""Most different values in a column that may say whether an event was seen."""
FEW_NUMBERS = 10  # so many different whole numbers look like classes
EDGE = 5  # columns at either end of a wide table that are looked at whatever they hold
MANY_COLUMNS = 500  # of a wider table, numbers between its ends are looked at only if their names tell
EXAMPLES = 5


@dataclass(frozen=True, kw_only=True)
class TargetGuess:
    """A column that may be the one to predict.

    Attributes
    ----------
    name : str
        Name of the column.
    kind : {"classes", "numbers"}
        What it would be predicted as.
    n_values : int
        Number of different values.
    examples : tuple of (str, int)
        Values with the number of their rows: the most frequent, or the first of numbers.
    why : str
        What speaks for it, in words.

    See Also
    --------
    holdfast.io.inspect_table : Guesses the target of a table.

    Examples
    --------
    >>> import pandas as pd
    >>> from holdfast.io.guessing import guess_targets
    >>> guess_targets(pd.DataFrame({"age": [31, 45, 50, 62], "ill": ["no", "yes", "yes", "no"]}))[0].examples
    (('no', 2), ('yes', 2))
    """

    name: str
    kind: Literal["classes", "numbers"]
    n_values: int
    examples: tuple[tuple[str, int], ...]
    why: str


def guess_targets(frame: pd.DataFrame) -> list[TargetGuess]:
    """Return columns that may be the target, the likeliest first: judged by name, values and position."""
    guesses = []
    for position in _columns_to_rate(frame):
        rated = _rate(frame.iloc[:, position], str(frame.columns[position]), position, frame.shape[1])
        if rated is not None:
            guesses.append((-rated[0], position, rated[1]))
    return [guess for _, _, guess in sorted(guesses, key=lambda entry: entry[:2])[:MAX_CHOICES]]


def guess_survival(frame: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return columns that by name and values may be times until an event, and those that may say if it was seen."""
    known, of_times = NAMES["end_points"] | NAMES["sure_end_points"], NAMES["end_points"] | NAMES["with_end_points"]
    times, events = [], []
    for name in frame.columns:
        words = {word for word in split_words(name) if not word.isdigit()}
        if not words or not (words <= of_times or words & known):
            continue
        column, n_values = frame[name], frame[name].nunique()
        if 2 <= n_values <= MAX_EVENT_VALUES and words & known:
            events.append(name)
        elif n_values > MAX_EVENT_VALUES and words <= of_times and types.is_numeric_dtype(column) and column.min() >= 0:
            times.append(name)
    return times, events


def _columns_to_rate(frame: pd.DataFrame) -> list[int]:
    n = frame.shape[1]
    if n <= MANY_COLUMNS:
        return list(range(n))
    texts = [position for position, dtype in enumerate(frame.dtypes) if not types.is_numeric_dtype(dtype)][
        :MANY_COLUMNS
    ]
    named = [position for position, name in enumerate(frame.columns) if str(name).lower() in NAMES["targets"]]
    return sorted({*range(EDGE), *range(n - EDGE, n), *texts, *named})


def _rate(column: "pd.Series[Any]", name: str, position: int, n_columns: int) -> tuple[float, TargetGuess] | None:
    """Return a rating and the guess; None for a column that cannot be the target."""
    try:
        counts = column.value_counts()
        counts = counts[counts > 0]  # categories that no row has
    except TypeError:  # lists and records
        return None
    kind = _target_kind(column, len(counts))
    if len(counts) < 2 or kind is None or name in NO_NAME or is_identifier(name):
        return None
    words = {word for word in split_words(name) if not word.isdigit()}
    text, sure = not types.is_numeric_dtype(column), words <= NAMES["sure_targets"]
    reasons = (
        (3.0, "its name is that of a target", bool(words) and sure),
        (2.0, "its name is like that of a target", not sure and not NAMES["targets"].isdisjoint(words)),
        (2.0, f"it holds {len(counts)} different texts", text and kind == "classes"),
        (1.0, f"it holds {len(counts)} different whole numbers", not text and kind == "classes"),
        (1.5, "it is the last column", position == n_columns - 1),
        (0.5, "it is the first column", position == 0),
    )
    rating = sum(points for points, _, holds in reasons if holds) + (0.5 if len(counts) == 2 else 0.0)
    why = ", ".join(reason for _, reason, holds in reasons if holds) or "it holds different numbers"
    shown = counts if kind == "classes" else counts.loc[column.dropna().drop_duplicates().iloc[:EXAMPLES]]
    examples = tuple((show_entry(value), int(count)) for value, count in shown.iloc[:EXAMPLES].items())
    guess = TargetGuess(name=name, kind=kind, n_values=len(counts), examples=examples, why=why[0].upper() + why[1:])
    return rating, guess


def _target_kind(column: "pd.Series[Any]", n_values: int) -> Literal["classes", "numbers"] | None:
    present = column.dropna()
    if isinstance(column.dtype, pd.CategoricalDtype):
        return "classes" if n_values <= FEW_TEXTS else None
    if types.is_numeric_dtype(column):
        whole = not types.is_float_dtype(column) or bool((present % 1 == 0).all())
        return "classes" if whole and n_values <= FEW_NUMBERS else "numbers"
    if types.is_datetime64_any_dtype(column) or types.is_timedelta64_dtype(column):
        return None
    few = n_values <= max(2, min(FEW_TEXTS, len(present) / 2))
    if few:
        return "classes"
    return "numbers" if all(isinstance(as_number(entry), float) for entry in present.iloc[:1000]) else None


def guess_identifiers(frame: pd.DataFrame) -> list[str]:
    """Return names of columns that look like names of rows: different texts, or numbers in a column named so."""
    identifiers = []
    for position in [position for position in _columns_to_rate(frame) if frame.columns[position] not in NO_NAME]:
        column, name = frame.iloc[:, position], str(frame.columns[position])
        text = not types.is_numeric_dtype(column) and all(isinstance(entry, str) for entry in column)
        named = is_identifier(name)
        if (text or named) and len(column) > 1 and column.nunique() >= (0.9 if named else 1) * len(column):
            identifiers.append(name)
    return identifiers[:MAX_CHOICES]


def show_entry(entry: Any) -> str:
    """Return an entry of a table as it is shown: numbers in six digits, nothing where it is missing."""
    if isinstance(entry, (float, np.floating)):
        return "" if np.isnan(entry) else f"{entry:.6g}"
    missing = entry is None or entry is pd.NA or entry is pd.NaT
    return "" if missing else shorten(entry, 40)


# Selections


def guess_kind(matrix: NDArray[np.float64]) -> tuple[Kind, str]:
    """Return what the numbers of a matrix of runs look like, and why, as a sentence."""
    if np.isin(matrix, (0, 1)).all():
        return "subset", "All entries are 0 or 1."
    d = matrix.shape[1]
    ordered = np.sort(matrix, axis=1)
    if (ordered == np.arange(1, d + 1)).all():
        return "ranking", f"Each run holds every whole number from 1 to {d} once, as ranks do."
    if (matrix % 0.5 == 0).all() and (matrix >= 1).all() and (matrix.sum(axis=1) == d * (d + 1) / 2).all():
        return "ranking", f"The numbers of each run lie between 1 and {d} and add up as ranks with ties do."
    other = matrix[~np.isin(matrix, (0, 1))][0]
    return "weighting", f"The file holds numbers such as {other:g}, which are no selections of 0 and 1."
