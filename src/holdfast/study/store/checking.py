"""Sound and damaged rows of a store, distinguished by checksums, totals and content; damaged ones are dropped.

Checksums do not show whether a store was made to harm: a row is damaged as well if it was sealed rightly and cannot be.
"""

import json
import math
import sqlite3
import struct
import warnings
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import compress, islice
from typing import Any, get_args

import numpy as np

from holdfast.declared import FORMER_OPTIONS, is_about
from holdfast.io.record import DataRecord
from holdfast.kernels.effects import effect_width
from holdfast.models import SCORES
from holdfast.preferences import Kind
from holdfast.resampling.split import Design
from holdfast.serialization import from_plain
from holdfast.study.store import schema
from holdfast.study.store.schema import Row, Table
from holdfast.study.store.store import Store, StoreError
from holdfast.study.work import QUANTILES, THIRDS

MAX_FEATURES = 2**31 - 1  # subsets are stored in 32 bits
MAX_REPEATS = 16  # held-out rows of a list of splits may repeat; a claim beyond this is not believed
SLACK = 1e-9  # by which rounding may leave the range of a score
MAX_VANISHED = 100_000  # a store that claims to have lost more splits is not believed
MAX_NAMED = 5
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

    def drop(self, is_possible: Callable[[Row], bool]) -> None:
        """Count the rows that cannot be among the damaged ones."""
        possible = [is_possible(row) for row in self.rows]
        if not all(possible):
            self.damaged += compress(self.rows, [not right for right in possible])
            self.rows = list(compress(self.rows, possible))


Checks = dict[str, TableCheck]


def check_tables(connection: sqlite3.Connection, names: Sequence[str] | None = None) -> Checks:
    """Read tables, sound rows apart from damaged ones; what rows say of each other is checked if all are read."""
    totals = {name: (n, total) for name, n, total in read_table(connection, schema.TOTALS).rows}
    checks = {
        name: read_table(connection, schema.TABLES[name], *totals.get(name, ())) for name in names or schema.TABLES
    }
    meta = parse_meta(checks["meta"].rows)
    checks["meta"].drop(lambda row: is_possible_fact(row[0], meta))
    meta = parse_meta(checks["meta"].rows)
    if names is None and set(meta) >= NEEDED:
        known = Known(meta, checks)
        for check in checks.values():  # in this order: outcomes are cuts of orders, which are checked before
            check.drop(partial(known.allows, check.table))
    return checks


def read_table(connection: sqlite3.Connection, table: Table, n: int | None = None, total: int = 0) -> TableCheck:
    """Read the rows of a table that must have ``n``, as far as SQLite can, sound ones apart from damaged ones."""
    check, checksums = TableCheck(table=table, n=n), []
    (pages,), (size,) = (connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    try:
        for row in islice(connection.execute(table.select), pages * size // 4):  # no file has more rows
            if table.is_sound(row):
                check.rows.append(row[:-1])
                checksums.append(row[-1])
            else:
                check.damaged.append(row[:-1])
    except sqlite3.DatabaseError as error:
        if type(error) is not sqlite3.DatabaseError:
            raise
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
    "replicability": dict, "command": dict | None,
}  # fmt: skip
"""What a store knows of its study, by name: the types that readers take for granted."""
OPTIONAL = frozenset({"replicability"})
"""What is computed again if it is lost."""
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
        scorers = [
            SCORES.get(scorer) if isinstance(scorer, str) else None for scorer in meta["plan"]["scoring"].values()
        ]
        self.score_ranges = [None if score is None else score.range for score in scorers]
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

    def allows(self, table: Table, row: Row) -> bool:
        """Whether a row can be: of candidates, splits, families and features that there are, and of the right form."""
        if any(name in self.keys and key not in self.keys[name] for name, key in zip(table.key, row, strict=False)):
            return False
        try:
            return table.name not in CONTENTS or CONTENTS[table.name](self, row)
        except ValueError:  # from blobs that are no numbers, or not as many as there must be
            return False

    def allows_split(self, row: Row) -> bool:
        """Nothing is unpacked beyond what the data allow."""
        *_, n_train, n_rows, n_test, packed_rows, packed_counts, packed_test = row
        if not (0 < n_rows <= self.n_samples and 0 <= n_test <= MAX_REPEATS * self.n_samples):
            return False
        train, test = schema.unpack_rows(packed_rows, n_rows), schema.unpack_rows(packed_test, n_test)
        counts = np.ones(n_rows, np.int64) if packed_counts is None else schema.unpack_rows(packed_counts, n_rows)
        in_range = all(0 <= rows.min(initial=0) <= rows.max(initial=0) < self.n_samples for rows in (train, test))
        ordered = (np.diff(train) > 0).all() and (np.diff(test) >= 0).all()
        return bool(in_range and ordered and counts.min() > 0 and counts.sum() == n_train)

    def allows_order(self, row: Row) -> bool:
        """Weights of all features, if there are any, and each feature at most once."""
        _, _, smallest, _, columns, kind, weights = row
        if weights is not None:
            schema.unpack_weights(weights, self.n_features)
        right_kind = kind is None if weights is None else kind in ("ranking", "weighting")
        return smallest >= 1 and right_kind and self._are_features(np.sort(np.frombuffer(columns, "<i4")))

    def allows_outcome(self, row: Row) -> bool:
        """A cut of an order or a preference, with as many coefficients as features, and so on."""
        candidate, split, kind, preference, predictions, scores, coefficients, *_, note = row
        n_selected = None
        if preference is None:
            ordering, size = self.cuts.get(candidate, (None, 0))
            possible = kind == "subset" and (ordering, split) in self.order_sizes
            n_selected = min(size, self.order_sizes.get((ordering, split), 0))
        elif kind == "subset":
            columns = np.frombuffer(preference, "<i4")
            possible, n_selected = self._are_features(columns), columns.size
        else:
            possible = kind in get_args(Kind) and len(preference) == 8 * self.n_features
        return (
            possible
            and (scores is None or self._are_scores(scores, note))
            and (predictions is None or split not in self.n_tests or self._are_predictions(predictions, split))
            and (coefficients is None or (n_selected is not None and len(coefficients) == 4 * n_selected))
        )

    def allows_effects(self, row: Row) -> bool:
        """As many values as the features have; both have 4 bytes."""
        *_, features, effects = row
        n_values = effect_width(self.n_classes or 0) * len(features)
        return len(effects) == n_values and self._are_features(np.frombuffer(features, "<i4"))

    def allows_quantiles(self, row: Row) -> bool:
        """Those of each class, or of each third of the target."""
        return len(row[-1]) == 8 * len(QUANTILES) * (len(THIRDS) if self.n_classes is None else self.n_classes)

    def _are_features(self, columns: Any) -> bool:
        """Whether there are such features, in ascending order."""
        if not columns.size:
            return True
        return bool(columns[0] >= 0 and columns[-1] < self.n_features and (columns[1:] > columns[:-1]).all())

    def _are_scores(self, blob: bytes, note: str) -> bool:
        """Whether there is a score of each metric, in its range; of an undefined one, the fit has a note that says why.

        Scorers that holdfast does not know may return anything.
        """
        if len(blob) != 8 * len(self.score_ranges):
            return False
        return all(
            limits is None or limits.low - SLACK <= score <= limits.high + SLACK or (math.isnan(score) and note)
            for score, limits in zip(struct.unpack(f"<{len(blob) // 8}d", blob), self.score_ranges, strict=True)
        )

    def _are_predictions(self, blob: bytes, split: int) -> bool:
        """Whether there is one prediction for each held-out row, of a class that there is."""
        n_test = self.n_tests[split]
        size, rest = divmod(len(blob), n_test) if n_test else (0, 1)
        if rest or size not in ((8,) if self.n_classes is None else (1, 2, 4, 8)):
            return False
        return self.n_classes is None or int(np.frombuffer(blob, dtype=f"<u{size}").max()) < self.n_classes


CONTENTS: Mapping[str, Callable[[Known, Row], bool]] = {
    "splits": Known.allows_split,
    "orders": Known.allows_order,
    "outcomes": Known.allows_outcome,
    "effects": Known.allows_effects,
    "quantiles": Known.allows_quantiles,
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
            memory.executemany(insert, map(table.seal, read_table(connection, table).rows))
        memory.backup(connection)
    warnings.warn(f"The structure of {path} was faulty ({fault}) and was rebuilt.", UserWarning, stacklevel=7)


def repair(store: Store) -> bool:
    """Drop what is damaged, so that it is recomputed, and warn of that; return whether there was anything."""
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
    lost = {row[:2] for row in (*outcomes.damaged, *failures.damaged)}
    if not failures.is_sound:  # a lost one does not say whose it was: all fits without scores
        lost |= {row[:2] for row in outcomes.rows if row[5] is None} - {row[:2] for row in failures.rows}
    left = {check.table: check.rows for check in checks.values()}
    for check in (outcomes, failures):
        left[check.table] = [row for row in check.rows if row[:2] not in lost]
    if not checks["baselines"].is_sound:  # all of them: a split that has some counts as done
        left[schema.BASELINES] = []
    return left
