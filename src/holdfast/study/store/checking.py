"""Sound and damaged rows of a store, distinguished by checksums, totals and content; damaged ones are dropped.

Checksums do not show whether a store was made to harm: a row is damaged as well if it was sealed rightly and cannot be.
"""

import json
import math
import re
import sqlite3
import warnings
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress, islice
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from holdfast.declared import FORMER_OPTIONS, is_about
from holdfast.io.record import DataRecord
from holdfast.kernels.effects import effect_width
from holdfast.kernels.survival_curves import CURVE_LINES
from holdfast.models import SCORES, Score
from holdfast.preferences import Kind
from holdfast.resampling.split import Design
from holdfast.serialization import from_plain
from holdfast.study.memory import gc_paused
from holdfast.study.store import schema
from holdfast.study.store.schema import Row, Table
from holdfast.study.store.store import Store, StoreError
from holdfast.study.work import QUANTILES
from holdfast.targets import TASKS

MAX_FEATURES = 2**31 - 1  # subsets are stored in 32 bits
MAX_REPEATS = 16  # held-out rows of a list of splits may repeat; a claim beyond this is not believed
SLACK = 1e-9  # by which rounding may leave the range of a score
MAX_UNPACKED = 2**20  # row numbers of splits that are looked at together
MAX_VANISHED = 100_000  # a store that claims to have lost more splits is not believed
MAX_NAMED = 5
Flags = NDArray[np.bool_]
PLAN_TABLES = ("meta", "families", "candidates")
"""What a study is, whatever happened to its outcomes."""


@dataclass(kw_only=True)
class TableCheck:
    """A table that was read with its checksums.

    Attributes
    ----------
    table : Table
        Which one.
    rows : list of tuple
        The sound rows, ordered by their key, without checksums.
    damaged : list of tuple
        The others, as they were read.
    n : int or None
        How many rows there must be; None if that record is damaged.
    stale : bool
        Whether there are as many sound rows as there must be, but not those that were written last.
    """

    table: Table
    rows: list[Row] = field(default_factory=list)
    damaged: list[Row] = field(default_factory=list)
    n: int | None = None
    stale: bool = False

    @property
    def missing(self) -> int:
        """How many rows vanished; below 0 if there are more than were written."""
        return 0 if self.n is None else self.n - len(self.rows) - len(self.damaged)

    @property
    def is_sound(self) -> bool:
        """Whether all is as it was written."""
        return not (self.damaged or self.n is None or self.stale or self.missing)

    @property
    def is_unusable(self) -> bool:
        """Whether something is lost that cannot be recomputed; of the plan, some answers can be."""
        if self.table.recomputable:
            return False
        lost = [row for row in self.damaged if self.table is not schema.META or row[0] not in OPTIONAL]
        return bool(lost or self.stale or self.missing)

    def drop(self, possible: Collection[bool]) -> None:
        """Count the rows that cannot be among the damaged ones."""
        if not all(possible):
            self.damaged += compress(self.rows, [not right for right in possible])
            self.rows = list(compress(self.rows, possible))


Checks = dict[str, TableCheck]


@gc_paused()
def check_tables(connection: sqlite3.Connection, names: Sequence[str] | None = None) -> Checks:
    """Read tables, sound rows apart from damaged ones; what rows say of each other is checked if all are read."""
    totals = {name: (n, total) for name, n, total in read_table(connection, schema.TOTALS).rows}
    checks = {
        name: read_table(connection, schema.TABLES[name], *totals.get(name, (0, 0) if name in schema.ADDED else ()))
        for name in names or schema.TABLES
    }
    meta = parse_meta(checks["meta"].rows)
    checks["meta"].drop([is_possible_fact(key, meta) for key, _ in checks["meta"].rows])
    meta = parse_meta(checks["meta"].rows)
    if names is None and set(meta) >= NEEDED:
        known = Known(meta, checks)
        for check in checks.values():  # in this order: outcomes are cuts of orders, which are checked before
            check.drop(known.find_possible(check.table, check.rows))
    return checks


def read_table(connection: sqlite3.Connection, table: Table, n: int | None = None, total: int = 0) -> TableCheck:
    """Read the rows of a table that must have ``n``, as far as SQLite can, sound ones apart from damaged ones."""
    rows: list[Row] = []
    (pages,), (size,) = (connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    try:
        for row in islice(connection.execute(table.select), pages * size // 4):  # no file has more rows
            rows.append(row)  # one by one: what was read before an error counts
    except sqlite3.DatabaseError as error:
        if type(error) is not sqlite3.DatabaseError:
            raise
    check = TableCheck(table=table, rows=[row[:-1] for row in rows], n=n)
    sound = table.find_sound(rows)
    check.drop(sound)
    checksums = [row[-1] for row in compress(rows, sound)]
    check.stale = not check.damaged and n == len(check.rows) and schema.add_checksums(checksums) != total
    return check


def find_fault(connection: sqlite3.Connection) -> str:
    """What is wrong with how the rows of a file are arranged, as SQLite says it; empty if nothing is."""
    try:
        (fault,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        if type(error) is not sqlite3.DatabaseError:
            raise
        fault = str(error)
    return "" if fault == "ok" else " ".join(fault.replace("*** in database main ***", "").split())


# What can be

FACTS: Mapping[str, Any] = {
    "format": int, "plan": dict, "design": str, "declared": dict, "n_features": int, "names": list | None,
    "target": list, "classes": list | None, "data_record": dict, "no_effects": str | None, "prefilter": str | None,
    "replicability": dict, "command": dict | None, "code": list,
}  # fmt: skip
"""What a store knows of its study, by name: the types that readers take for granted."""
OPTIONAL = frozenset({"replicability", "code"})
"""What a study can do without: it is computed again, or earlier versions did not store it."""
NEEDED = frozenset(FACTS) - OPTIONAL
"""What a store must not lack."""


def parse_meta(rows: Sequence[Row]) -> dict[str, Any]:
    """The facts of a study that are stored by name."""
    meta = {key: json.loads(value) for key, value in rows}
    if isinstance(command := meta.get("command"), dict):
        command = {FORMER_OPTIONS.get(key, key): value for key, value in command.items()}
        if str(command.get("perturb")).startswith("halvings"):
            command["perturb"] = command["perturb"].replace("n_halvings", "n_pairs").replace("halvings", "split_halves")
        meta["command"] = command
    return meta


def is_possible_fact(key: str, meta: Mapping[str, Any]) -> bool:
    """Whether a fact is what readers take for granted."""
    value = meta[key]
    if not isinstance(value, FACTS.get(key, object)):
        return False
    try:
        if key == "plan":
            parts = [value[part] for part in ("perturbation", "data", "scoring")]
            needed = "random_state" in value and "estimator" in value and "perturbation" in value["perturbation"]
            return needed and "n_samples" in value["data"] and all(isinstance(part, dict) for part in parts)
        if key == "declared":
            return all(map(is_about, [value["perturbation"], *value["selectors"].values(), *value["scores"].values()]))
        if key == "design":
            return value in get_args(Design)
        if key == "n_features":
            return 0 < value <= MAX_FEATURES
        if key == "data_record":
            from_plain(DataRecord, value)
        if key == "replicability":
            return all(isinstance(answer, dict) for answer in value.values())
        if key == "names":
            return value is None or len(value) == meta["n_features"]
        if key == "target" and "plan" in meta:
            return len(value) == meta["plan"]["data"]["n_samples"]
    except (ValueError, TypeError, KeyError, AttributeError):
        return False
    return True


class Known:
    """What the rows of other tables must agree with, from the sound ones."""

    def __init__(self, meta: Mapping[str, Any], checks: Checks) -> None:
        splits, candidates = checks["splits"], checks["candidates"]
        n_splits = len(splits.rows) + len(splits.damaged) + min(max(splits.missing, 0), MAX_VANISHED)
        self.checks = checks
        self.n_samples, self.n_features = len(meta["target"]), meta["n_features"]
        self.n_classes = None if meta["classes"] is None else len(meta["classes"])
        self.task = meta["plan"]["task"]
        self.adjusts = bool(meta["plan"].get("adjust"))
        self.scores = [
            SCORES.get(scorer) if isinstance(scorer, str) else None for scorer in meta["plan"]["scoring"].values()
        ]
        self.keys: Mapping[str, Container[Any]] = {
            "family": {row[0] for row in checks["families"].rows},
            "ordering": {row[0] for row in checks["orderings"].rows},
            "candidate": range(1, 1 + len(candidates.rows) + len(candidates.damaged)),
            "split": range(n_splits),
            "feature": range(self.n_features),
        }
        self.cuts = {row[0]: row[4:6] for row in candidates.rows if None not in row[4:6]}
        self.n_tests = {row[0]: row[8] for row in splits.rows}

    @cached_property
    def order_sizes(self) -> dict[Row, int]:
        """The number of features of each order."""
        return {row[:2]: len(row[4]) // 4 for row in self.checks["orders"].rows}

    def find_possible(self, table: Table, rows: Sequence[Row]) -> Flags:
        """Which rows can be: of candidates, splits, families and features that there are, and of the right form."""
        possible = np.ones(len(rows), dtype=bool)
        for name, column in zip(table.key, zip(*rows, strict=True), strict=False):
            known = self.keys.get(name)
            if known is not None:
                possible &= [key in known for key in column]
        if table.name in CONTENTS and possible.any():
            possible[possible] = CONTENTS[table.name](self, list(compress(rows, possible)))
        return possible

    def find_splits(self, rows: Sequence[Row]) -> Flags:
        """Rows of the data, in order and as many as are claimed; nothing is unpacked beyond what the data allow."""
        right = np.zeros(len(rows), dtype=bool)
        step = max(1, MAX_UNPACKED // self.n_samples)
        for first in range(0, len(rows), step):
            unpacked = [self._unpack_split(*row[-5:]) for row in rows[first : first + step]]
            complete = first + np.flatnonzero([parts is not None for parts in unpacked])
            if not complete.size:
                continue
            trains, counts, tests = zip(*filter(None, unpacked), strict=True)
            times = np.frombuffer(b"".join(counts), "<i4").astype(np.int64)
            starts = np.cumsum([0, *[len(blob) // 4 for blob in counts[:-1]]])
            n_train = [rows[index][-6] for index in complete.tolist()]
            counted = (np.minimum.reduceat(times, starts) > 0) & (np.add.reduceat(times, starts) == n_train)
            ascending = _are_ascending(trains, self.n_samples) & _are_ascending(tests, self.n_samples, repeats=True)
            right[complete] = counted & ascending
        return right

    def _unpack_split(
        self, n_rows: int, n_test: int, rows: bytes, counts: bytes | None, test: bytes
    ) -> tuple[bytes, bytes, bytes] | None:
        """Training rows, how often each occurs, and held-out rows, if there are as many as are claimed."""
        if not (0 < n_rows <= self.n_samples and 0 <= n_test <= MAX_REPEATS * self.n_samples):
            return None
        try:
            times = np.ones(n_rows, "<i4").tobytes() if counts is None else schema.inflate(counts, n_rows, "counts")
            return schema.inflate(rows, n_rows, "row numbers"), times, schema.inflate(test, n_test, "row numbers")
        except ValueError:
            return None

    def find_orders(self, rows: Sequence[Row]) -> Sequence[bool]:
        """Weights of all features, if there are any, and each feature at most once."""
        right = self._are_features([columns for *_, columns, _, _ in rows], ascending=False)
        return [
            right_features and smallest >= 1 and self._are_weights(kind, weights)
            for right_features, (_, _, smallest, _, _, kind, weights) in zip(right, rows, strict=True)
        ]

    def _are_weights(self, kind: str | None, weights: bytes | None) -> bool:
        if weights is None:
            return kind is None
        try:
            schema.unpack_weights(weights, self.n_features)
        except ValueError:
            return False
        return kind in ("ranking", "weighting")

    def find_outcomes(self, rows: Sequence[Row]) -> Flags:
        """Cuts of orders, or preferences, with as many coefficients as features, and so on."""
        _, splits, kinds, preferences, predictions, scores, _, _, _, notes = zip(*rows, strict=True)
        right = np.array([self._has_form(row) for row in rows], dtype=bool)
        subsets = np.array(
            [kind == "subset" and blob is not None for kind, blob in zip(kinds, preferences, strict=True)]
        )
        right[subsets] &= self._are_features(list(compress(preferences, subsets)))
        return right & self._are_scores(scores, notes) & self._are_predictions(predictions, splits)

    def _has_form(self, outcome: Row) -> bool:
        """Whether it is cut from an order that there is, or has a preference, and a coefficient for each feature."""
        candidate, split, kind, preference, _, _, coefficients, *_ = outcome
        n_selected = None
        if preference is None:
            ordering, size = self.cuts.get(candidate, (None, 0))
            n_ordered = self.order_sizes.get((ordering, split))
            if kind != "subset" or n_ordered is None:
                return False
            n_selected = min(size, n_ordered)
        elif kind == "subset":
            n_selected = len(preference) // 4
        elif kind not in get_args(Kind) or len(preference) != 8 * self.n_features:
            return False
        return coefficients is None or (n_selected is not None and len(coefficients) == 4 * n_selected)

    def find_effects(self, rows: Sequence[Row]) -> Flags:
        """As many values as the features have, or twice as many if they were adjusted; all have 4 bytes."""
        width = effect_width(self.n_classes or 0)
        widths = (width, 2 * width) if self.adjusts else (width,)
        complete = [len(effects) in [width * len(features) for width in widths] for *_, features, effects in rows]
        return self._are_features([features for *_, features, _ in rows]) & complete

    def find_quantiles(self, rows: Sequence[Row]) -> Sequence[bool]:
        """Those of each class, or of each third of the target; or curves of survival times, of any length."""
        if self.task == "survival":
            return [len(curves) > 0 and len(curves) % (8 * CURVE_LINES) == 0 for *_, curves in rows]
        n_groups = self.n_classes or len(TASKS[self.task].groups)
        return [len(quantiles) == 8 * len(QUANTILES) * n_groups for *_, quantiles in rows]

    # What blobs hold: all of a table at once, as looking into each by itself would take longer than reading it

    def _are_features(self, blobs: Sequence[bytes], *, ascending: bool = True) -> Flags:
        """Which blobs hold features that there are, each once, and in ascending order if they must be."""
        right = np.array([len(blob) % 4 == 0 for blob in blobs], dtype=bool)
        lists = list(compress(blobs, right))
        if not ascending:
            lists = [np.sort(np.frombuffer(blob, "<i4")).tobytes() for blob in lists]
        right[right] = _are_ascending(lists, self.n_features)
        return right

    def _are_scores(self, blobs: Sequence[bytes | None], notes: Sequence[str]) -> Flags:
        """Which have a score of each metric, in its range or undefined for a reason.

        Scorers that holdfast does not know may return anything.
        """
        n_bytes = 8 * len(self.scores)
        right = np.array([blob is None or len(blob) == n_bytes for blob in blobs], dtype=bool)
        scored = [index for index, blob in enumerate(blobs) if blob is not None and right[index]]
        values = np.frombuffer(b"".join([blobs[index] or b"" for index in scored]), "<f8")
        for score, column in zip(self.scores, values.reshape(-1, len(self.scores)).T, strict=True):
            if score is None:
                continue
            in_range = (column >= score.low - SLACK) & (column <= score.high + SLACK)
            for position in np.flatnonzero(~in_range).tolist():
                undefined = math.isnan(column[position]) and _may_be_undefined(score, notes[scored[position]])
                right[scored[position]] &= undefined
        return right

    def _are_predictions(self, blobs: Sequence[bytes | None], splits: Sequence[int]) -> Flags:
        """Which have one prediction for each held-out row, of a class that there is."""
        right, by_size = np.ones(len(blobs), dtype=bool), dict[int, list[int]]()
        for index, (blob, split) in enumerate(zip(blobs, splits, strict=True)):
            if blob is None or split not in self.n_tests:
                continue
            size, rest = divmod(len(blob), self.n_tests[split]) if self.n_tests[split] else (0, 1)
            right[index] = not rest and size in ((8,) if self.n_classes is None else (1, 2, 4, 8))
            if right[index] and self.n_classes is not None:
                by_size.setdefault(size, []).append(index)
        for size, indices in by_size.items():
            codes = np.frombuffer(b"".join([blobs[index] or b"" for index in indices]), f"<u{size}")
            ends = np.cumsum([len(blobs[index] or b"") // size for index in indices])
            wrong = np.searchsorted(ends, np.flatnonzero(codes >= self.n_classes), side="right")
            right[np.array(indices)[wrong]] = False
        return right


def _are_ascending(blobs: Sequence[bytes], limit: int, *, repeats: bool = False) -> Flags:
    """Which lists of whole numbers of 4 bytes are below a limit and ascend, each number once unless they may repeat."""
    ends = np.cumsum([len(blob) // 4 for blob in blobs], dtype=np.int64)
    numbers = np.frombuffer(b"".join(blobs), "<i4")
    follows = np.ones(numbers.size, dtype=bool)  # another number of the same list
    starts = np.array([0, *ends[:-1]], dtype=np.int64)
    follows[starts[starts < numbers.size]] = False  # empty lists at the end start nowhere
    wrong = (numbers < 0) | (numbers >= limit)
    precedes = np.less if repeats else np.less_equal
    wrong[1:] |= follows[1:] & precedes(numbers[1:], numbers[:-1])
    right = np.ones(len(blobs), dtype=bool)
    right[np.searchsorted(ends, np.flatnonzero(wrong), side="right")] = False
    return right


UNDEFINED = ("r2", "explained_variance", "roc_auc")
"""What the names of the scores begin with that are undefined on some rows: few rows, one class, infinite errors."""
REASON = re.compile(r"^(UndefinedMetricWarning: (?!.* being set to )|RuntimeWarning: invalid value)", re.MULTILINE)
"""How scikit-learn's warning of an undefined score begins; of ill-defined scores it says what they are set to."""


def _may_be_undefined(score: Score, note: str) -> bool:
    """Whether a study would have stored no number of a score with this note; scorers of others need not say why."""
    return not isinstance(score.scorer, str) or (score.scorer.startswith(UNDEFINED) and bool(REASON.search(note)))


CONTENTS: Mapping[str, Callable[[Known, Sequence[Row]], Sequence[bool] | Flags]] = {
    "splits": Known.find_splits,
    "orders": Known.find_orders,
    "outcomes": Known.find_outcomes,
    "effects": Known.find_effects,
    "quantiles": Known.find_quantiles,
}


# What is lost, in words

WORDS = {"meta": "entries of the plan", "families": "selectors"}


def refuse_damage(checks: Checks, path: Any, fault: str) -> None:
    """Raise if anything is lost or the file is faulty, and say what to do."""
    refuse_unusable(checks, path)
    lost = describe_damage(checks) or (f"no row lost, but {fault}" if fault else "")
    if lost:
        raise StoreError(
            f"The store {path} is damaged ({lost}); run the study again with this store, or holdfast resume "
            f"{path}, to recompute what is lost (holdfast verify {path} shows what is sound)."
        )


def refuse_unusable(checks: Checks, path: Any) -> None:
    """Raise if something is lost that cannot be recomputed."""
    lost = describe_damage({name: check for name, check in checks.items() if check.is_unusable})
    if lost:
        raise StoreError(
            f"The store {path} is damaged ({lost}), and this part of it cannot be recomputed; restore it "
            "from a copy, or start again with another path."
        )
    meta = parse_meta(checks["meta"].rows)
    if meta.get("format", schema.FORMAT) != schema.FORMAT:
        raise wrong_format(meta["format"], path)
    lacking = sorted(NEEDED - set(meta))
    if meta and lacking:
        raise StoreError(f"Expected the plan of a study in {path}, got one without {', '.join(lacking)}.")


def wrong_format(version: Any, path: Any) -> StoreError:
    """The error for a store that another version wrote."""
    return StoreError(
        f"Expected a store of format {schema.FORMAT}, got format {str(version)[:20]} in {path}; use the holdfast that "
        "wrote it, or start again with another path."
    )


def describe_damage(checks: Checks) -> str:
    """What is lost, a phrase for each table that is not sound."""
    return "; ".join(_describe(check, checks) for check in checks.values() if not check.is_sound)


def _describe(check: TableCheck, checks: Checks) -> str:
    name, lost = WORDS.get(check.table.name, check.table.name), len(check.damaged) + max(check.missing, 0)
    if check.n is None and not check.damaged:
        return f"the number of {name} is unreadable"
    if check.missing < 0:
        return f"{-check.missing:,} {name} too many"
    if check.stale:
        return f"outdated {name}"
    of = "" if check.n is None else f" of {check.n:,}"
    rows = list(dict.fromkeys(_name_damaged(check, checks)))
    named = ", ".join(rows[:MAX_NAMED]) + (", …" if len(rows) > MAX_NAMED or (rows and check.missing) else "")
    return f"{lost:,}{of} {name} lost" + (f": {named}" if named else "")


def _name_damaged(check: TableCheck, checks: Checks) -> Iterator[str]:
    """Which rows are damaged, as far as their keys can be believed; without what a terminal would obey."""
    candidates, labels = (
        {row[0]: row[1] for row in checks[name].rows} if name in checks else {} for name in ("candidates", "splits")
    )
    for first, second, *_ in check.damaged:
        text = "" if check.table.recomputable else f"{first}"
        if check.table.key == ("candidate", "split") and first in candidates:
            text = f"{candidates[first]} on {labels.get(second, f'split {second}')}"
        if text:
            yield "".join(letter if letter.isprintable() else "?" for letter in text[:60])


# Repair


def repair_structure(connection: sqlite3.Connection, path: Any) -> None:
    """If a file is faulty, write all sound rows that can be read into it anew, at once, and warn of that.

    The totals stay, so that lost rows are noticed.
    """
    fault = find_fault(connection)
    if not fault:
        return
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as memory:
        schema.make_tables(memory)
        memory.execute("DELETE FROM totals")
        for table in (*schema.TABLES.values(), schema.TOTALS):
            insert = table.insert.replace("INSERT", "INSERT OR IGNORE", 1)  # a page that is used twice gives rows twice
            memory.executemany(insert, table.seal(read_table(connection, table).rows))
        memory.backup(connection)
    warnings.warn(f"The structure of {path} was faulty ({fault}) and was rebuilt.", UserWarning, stacklevel=7)


def repair(store: Store) -> bool:
    """Drop what is damaged, so that it is recomputed, and warn of that; return whether there was anything."""
    if store.is_new:
        return False
    with store.transaction():
        checks = check_tables(store.connection)
        refuse_unusable(checks, store.path)
        lost = describe_damage(checks)
        if lost:
            store.rewrite(_sound_rows(checks))
    if lost:
        warnings.warn(
            f"The store {store.path} was damaged ({lost}); what belongs to this study is recomputed.",
            UserWarning,
            stacklevel=3,
        )
    return bool(lost)


def _sound_rows(checks: Checks) -> dict[Table, list[Row]]:
    """What is left of all tables: a fit is whole, or it is run again."""
    outcomes, failures = checks["outcomes"], checks["failures"]
    lost = {row[:2] for row in (*outcomes.damaged, *failures.damaged, *checks["members"].damaged)}
    if not failures.is_sound:  # a lost one does not say whose it was: all fits without scores
        lost |= {row[:2] for row in outcomes.rows if row[5] is None} - {row[:2] for row in failures.rows}
    left = {check.table: check.rows for check in checks.values()}
    for check in (outcomes, failures):
        left[check.table] = [row for row in check.rows if row[:2] not in lost]
    if not checks["baselines"].is_sound:  # all of them: a split that has some counts as done
        left[schema.BASELINES] = []
    return left
