"""Writing a study into one SQLite file, safe at every moment and readable while it is written."""

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import compress, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.resampling import Split
from holdfast.study.families import Family
from holdfast.study.plan import describe, list_differences, plain_selector
from holdfast.study.store import schema
from holdfast.study.store.schema import Ids, Row, Table, order_rows, outcome_rows, split_row
from holdfast.study.work import BlockResult, SplitEffects, join_effects, pack_effects, unpack_effects

BATCH_ROWS = 500
"""How many rows are held in memory at a time while they are written: splits of large data need room."""


class StoreError(ValueError):
    """A store cannot be used: missing, damaged, or of another study; the message says what to do.

    See Also
    --------
    load_study : Reads a store.
    Study.run : Writes one.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast.study import StoreError
    >>> try:
    ...     hf.load_study("missing.db")
    ... except StoreError as error:
    ...     print(error)
    Expected a study's store, got no file at missing.db.
    """


class LockedStoreError(StoreError):
    """Another process is writing the store."""


class UnwritableStoreError(StoreError):
    """The folder of the store cannot be written."""


class OtherStudyError(StoreError):
    """The store holds a study with another plan."""


class Store:
    """A study's file. Open one with :func:`open_to_write` or :func:`open_to_read`.

    ``after_commit`` is called once rows are on disk, and may say that the file is gone. ``is_new`` is a store that this
    process made.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path | None,
        after_commit: Callable[[], None] = lambda: None,
        *,
        is_new: bool = False,
    ) -> None:
        self.connection, self.path, self.after_commit, self.is_new = connection, path, after_commit, is_new
        self._totals: dict[str, tuple[int, int]] = {}  # as they will be at the end of a transaction

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; the totals change with the rows."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            before = self._read_totals()
            self._totals = dict(before)
            yield
            if self._totals != before:
                rows = schema.TOTALS.seal((name, *counted) for name, counted in self._totals.items())
                self.connection.execute("DELETE FROM totals")
                self.connection.executemany(schema.TOTALS.insert, rows)
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")
        self.after_commit()

    def _read_totals(self) -> dict[str, tuple[int, int]]:
        """How many rows each table has, and the sum of their checksums, where that is not damaged."""
        rows = self.connection.execute(schema.TOTALS.select).fetchall()
        return {row[0]: row[1:-1] for row in compress(rows, schema.TOTALS.find_sound(rows))}

    def _count(self, table: Table, n: int, checksums: Iterable[int]) -> None:
        """Add to the total of a table; one that is damaged stays lost, so that it is noticed."""
        if table.name in self._totals:
            before, total = self._totals[table.name]
            self._totals[table.name] = before + n, schema.add_checksums(checksums, total)

    def _ask(self, statement: str, *values: Any) -> list[Any]:
        """All rows that a statement gives; of a single column, its values."""
        rows = self.connection.execute(statement, values).fetchall()
        return [row[0] for row in rows] if rows and len(rows[0]) == 1 else rows

    # Rows

    def write(self, table: Table, rows: Iterable[Iterable[Any]]) -> None:
        """Write rows, in place of those with the same keys."""
        rows = iter(rows)
        while batch := table.seal(islice(rows, BATCH_ROWS)):
            self.connection.execute("SAVEPOINT rows")
            try:
                self.connection.executemany(table.insert, batch)
            except sqlite3.IntegrityError:  # rows of these keys are there
                self.connection.execute("ROLLBACK TO rows")
                for row in batch:
                    self.remove(table, " AND ".join(f"{name} = ?" for name in table.key), row[: table.n_key])
                    self.connection.execute(table.insert, row)
            self.connection.execute("RELEASE rows")
            self._count(table, len(batch), [row[-1] for row in batch])

    def remove(self, table: Table, condition: str, values: Sequence[Any]) -> None:
        """Remove the rows that a condition holds for."""
        checksums = self._ask(f"SELECT checksum FROM {table.name} WHERE {condition}", *values)
        if checksums:
            self.connection.execute(f"DELETE FROM {table.name} WHERE {condition}", values)
            self._count(table, -len(checksums), [-checksum for checksum in checksums])

    def rewrite(self, tables: Mapping[Table, Sequence[Row]]) -> None:
        """Replace all rows of these tables, whatever was there, and count them anew."""
        for table, rows in tables.items():
            sealed = table.seal(rows)
            self.connection.execute(f"DELETE FROM {table.name}")
            self.connection.executemany(table.insert, sealed)
            self._totals[table.name] = len(sealed), schema.add_checksums(row[-1] for row in sealed)

    def _next_number(self, table: Table) -> int:
        return 1 + (self._ask(f"SELECT max({table.key[0]}) FROM {table.name}")[0] or 0)

    # Meta

    def get(self, key: str) -> Any:
        """Return what is stored under a key; None if nothing."""
        return next(map(json.loads, self._ask("SELECT value FROM meta WHERE key = ?", key)), None)

    def put(self, key: str, value: Any) -> None:
        """Store a value under a key."""
        self.write(schema.META, [(key, json.dumps(value))])

    # Beginning, and growing

    def begin(self, plan: Mapping[str, Any], about: Mapping[str, Any], families: Sequence[Family]) -> None:
        """Write the plan into a new store; in an old one check that it is the same, and add new selectors."""
        with self.transaction():
            stored = self.get("plan")
            if stored is None:
                for key, value in {"format": schema.FORMAT, "plan": plan, **about}.items():
                    self.put(key, value)
            else:
                self._refuse_changes(f"the plan of the study in {self.path}", stored, plan, "Use the same plan to "
                    "resume (more resamples and more selectors may be added), or another store.")  # fmt: skip
                if about.get("command") is not None:
                    self.put("command", about["command"])
                if about["data_record"]["target"] is not None or self.get("data_record")["target"] is None:
                    self.put("data_record", about["data_record"])  # unless arrays without a name would replace a table
                declared = self.get("declared") or about["declared"]
                selectors = {**declared["selectors"], **about["declared"]["selectors"]}
                self.put("declared", {**declared, "selectors": selectors})
            for family in families:
                self._add_family(family, partial(plain_selector, task=plan["task"], target=about["target"]))

    def add_code(self, code: Sequence[str]) -> None:
        """Store code that made a part of the study, next to what is there; after a repair, as that may be damaged."""
        stored = self.get("code") or []
        if new := [text for text in code if text not in stored]:
            with self.transaction():
                self.put("code", [*stored, *new])

    def _refuse_changes(self, what: str, stored: Mapping[str, Any], given: Mapping[str, Any], advice: str) -> None:
        changes = "; ".join(list_differences(stored, given))
        if changes:
            raise OtherStudyError(f"Expected {what}, got another: {changes}. {advice}")

    def _add_family(self, family: Family, plain: Callable[[str], str]) -> None:
        selector = json.dumps(describe(family.selector), sort_keys=True)
        stored = self._ask("SELECT selector FROM families WHERE family = ?", family.name)
        if not stored:
            self.write(schema.FAMILIES, [(family.name, selector)])
        elif plain(stored[0]) != plain(selector):
            self._refuse_changes(f"selector {family.name!r} as it is in {self.path}", json.loads(stored[0]),
                json.loads(selector), "Give the new one another name.")  # fmt: skip
        settings = [json.dumps(describe(setting)) for setting in family.candidates.candidate_settings()]
        known = dict(self._ask("SELECT name, settings FROM candidates"))
        for name, setting in zip(family.names, settings, strict=True):
            if known.get(name, setting) != setting:
                raise OtherStudyError(
                    f"Expected candidate {name!r} with settings {known[name]}, got {setting}; rename one."
                )
        new = [index for index, name in enumerate(family.names) if name not in known]
        cuts: dict[int, tuple[int, int]] = {}  # of which order, and to which size
        for ordering in family.orderings:
            # candidates that came to a study together share an order; those that are added later have one of their
            # own, as their fits may reach over other sizes
            sizes = {index: size for index, size in ordering.sizes.items() if index in new}
            if sizes:
                number = self._next_number(schema.ORDERINGS)
                shared, together = json.dumps(describe(ordering.setting)), json.dumps(sorted(sizes.values()))
                self.write(schema.ORDERINGS, [(number, family.name, shared, together, family.candidates.keep or "")])
                cuts |= {index: (number, size) for index, size in sizes.items()}
        for number, index in enumerate(new, self._next_number(schema.CANDIDATES)):
            cut = cuts.get(index, (None, None))
            self.write(schema.CANDIDATES, [(number, family.names[index], family.name, settings[index], *cut)])

    def add_splits(self, splits: Iterable[Split]) -> None:
        """Write splits that are not there yet."""
        known = set(self._ask("SELECT split FROM splits"))
        with self.transaction():
            self.write(schema.SPLITS, (split_row(split) for split in splits if split.index not in known))

    @property
    def n_splits(self) -> int:
        """How many splits the study has reached, those included whose rows are lost."""
        tables = [name for name, table in schema.TABLES.items() if "split" in table.columns]
        return max(1 + last for name in tables for last in self._ask(f"SELECT ifnull(max(split), -1) FROM {name}"))

    # Outcomes

    def ids(self) -> dict[str, Ids]:
        """The number of each candidate, and that of the order which it is a cut of, by name."""
        rows = self._ask("SELECT name, candidate, ordering FROM candidates")
        return {name: (candidate, ordering) for name, candidate, ordering in rows}

    def done(self, n_candidates: int, n_splits: int) -> NDArray[np.bool_]:
        """Which candidates (by number, from 1) have an outcome or a failure on which splits."""
        done = np.zeros((n_candidates + 1, n_splits), dtype=bool)
        for table in ("outcomes", "failures"):
            rows = self._ask(f"SELECT candidate, split FROM {table} WHERE split < ?", n_splits)
            done[tuple(np.array(rows, dtype=np.int64).reshape(-1, 2).T)] = True
        return done

    def progress(self) -> tuple[int, int]:
        """How many fits ended, well or not, and how many there are to be; counted without reading the tables."""
        counts = self.counts()
        # fits that were stored before their model failed
        (both,) = self._ask("SELECT count(*) FROM failures CROSS JOIN outcomes USING (candidate, split)")
        return counts["outcomes"] + counts["failures"] - both, counts["candidates"] * counts["splits"]

    def counts(self) -> dict[str, int]:
        """How many rows each table has, from their totals; where these are damaged, from the table."""
        known = self._read_totals()
        counted = {name: n for name, (n, _) in known.items()}
        lost = [name for name in schema.TABLES if name not in known]
        return counted | {name: self._ask(f"SELECT count(*) FROM {name}")[0] for name in lost}

    def find_splits(self, splits: Sequence[int]) -> dict[str, dict[Row, dict[str, Any]]]:
        """All that is stored of some splits: for each table its rows, each with its columns by name, by their keys."""
        rows: dict[str, dict[Row, dict[str, Any]]] = {}
        for name, table in schema.TABLES.items():
            if "split" in table.columns:
                found = self._ask(f"SELECT * FROM {name} WHERE {_among(splits)}", *splits)
                rows[name] = {row[: table.n_key]: dict(zip(table.columns, row, strict=False)) for row in found}
        return rows

    def forget_splits(self, splits: Sequence[int]) -> None:
        """Delete all that is stored of some splits, so that they are fitted again."""
        with self.transaction():
            for table in schema.TABLES.values():
                if "split" in table.columns:
                    self.remove(table, _among(splits), splits)

    def forget_failures(self, candidates: Sequence[str]) -> None:
        """Delete failures of these candidates, and the fits they belong to, so that they are retried."""
        ids = self.ids()
        failed = "candidate = ? AND split IN (SELECT split FROM failures WHERE candidate = ?)"
        with self.transaction():
            for name in candidates:
                for table in (schema.OUTCOMES, schema.FAILURES):
                    self.remove(table, failed, [ids[name][0]] * 2)

    def add(self, finished: BlockResult, ids: Sequence[Sequence[Ids]], baselines: Iterable[Row] = ()) -> None:
        """Write what a piece of work gave, all or nothing; ``ids`` are the numbers of each family's candidates.

        ``baselines`` are scores of guessing: split, way to guess, metric, value.
        """
        keyed = [(ids[outcome.family][outcome.candidate][0], outcome.split, outcome) for outcome in finished.outcomes]
        keyed.sort(key=itemgetter(0, 1))  # as they stand in the file
        fitted = [row for row in keyed if row[2].kind is not None]
        rows = outcome_rows(outcome for _, _, outcome in fitted)
        with self.transaction():
            self._write_effects(finished.effects)
            self.write(schema.OUTCOMES, [(*key, *row) for (*key, _), row in zip(fitted, rows, strict=True)])
            self.write(
                schema.ORDERS, [row for order in finished.orders for row in order_rows(order, ids[order.family])]
            )
            self.write(
                schema.FAILURES, [(*key, *outcome.failure) for *key, outcome in keyed if outcome.failure is not None]
            )
            self.write(schema.BASELINES, baselines)
            self.write(
                schema.MEMBERS,
                [(*key, json.dumps(outcome.members)) for *key, outcome in keyed if outcome.members is not None],
            )

    # Effects

    def _write_effects(self, effects: Sequence[SplitEffects]) -> None:
        """Write effects, joined with those of other candidates of the family on the same splits."""
        if not effects:
            return
        splits, n_classes = {part.split for part in effects}, len(self.get("classes") or ())
        before = self._ask(
            "SELECT family, split, features, effects FROM effects WHERE family = ? AND split BETWEEN ? AND ?",
            effects[0].family, min(splits), max(splits),
        )  # fmt: skip
        adjusted = bool(self.get("plan").get("adjust"))
        known = [unpack_effects(row, n_classes, adjusted) for row in before if row[1] in splits]
        self.write(schema.EFFECTS, map(pack_effects, join_effects([*known, *effects])))

    def splits_without_effects(self) -> list[tuple[str, int]]:
        """Families and splits that have an outcome but lost their effects."""
        return self._ask(
            "SELECT DISTINCT family, split FROM outcomes JOIN candidates USING (candidate) "
            "EXCEPT SELECT family, split FROM effects"
        )

    def lists_of_features(self) -> list[tuple[str, bytes]]:
        """The family and the features of all effects."""
        return self._ask("SELECT family, features FROM effects")

    def replace_quantiles(self, rows: Sequence[Row]) -> None:
        """Write the quantiles of the features in place of all that are there."""
        if sorted(rows) != [row[:-1] for row in self._ask(schema.QUANTILES.select)]:
            with self.transaction():
                self.remove(schema.QUANTILES, "1", [])
                self.write(schema.QUANTILES, rows)

    # Guessing

    def scored_splits(self) -> tuple[set[int], set[int]]:
        """The splits that have scores of candidates, and those that have scores of guessing."""
        scored = self._ask("SELECT DISTINCT split FROM outcomes WHERE scores IS NOT NULL")
        return set(scored), set(self._ask("SELECT DISTINCT split FROM baselines"))

    # Sessions

    def begin_session(self, n_jobs: int | None, versions: Mapping[str, str]) -> int:
        """Note that a process begins to work."""
        with self.transaction():
            session = self._next_number(schema.SESSIONS)
            self.write(schema.SESSIONS, [(session, _now(), None, n_jobs, json.dumps(dict(versions)))])
        return session

    def end_session(self, session: int) -> None:
        """Note that it has come to its end."""
        with self.transaction():
            ((number, started, _, *rest, _),) = self._ask("SELECT * FROM sessions WHERE session = ?", session)
            self.write(schema.SESSIONS, [(number, started, _now(), *rest)])


def _among(splits: Sequence[int]) -> str:
    return f"split IN ({', '.join('?' * len(splits))})"


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
