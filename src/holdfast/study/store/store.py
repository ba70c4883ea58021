"""Writing a study into one SQLite file, safe at every moment and readable while it is written."""

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.resampling import Split
from holdfast.study.effects import SplitEffects, join_effects, pack_effects, unpack_effects
from holdfast.study.families import Family
from holdfast.study.plan import describe, list_differences
from holdfast.study.store.meta import faulty_meta
from holdfast.study.store.packing import Ids, order_rows, outcome_row, split_row
from holdfast.study.store.schema import (
    BASELINES,
    CANDIDATES,
    EFFECTS,
    FAILURES,
    FAMILIES,
    FORMAT,
    META,
    ORDERINGS,
    ORDERS,
    OUTCOMES,
    QUANTILES,
    SESSIONS,
    SPLITS,
    TABLES,
    TOTALS,
    Row,
    Table,
    wrap_sum,
)  # fmt: skip
from holdfast.study.work import Finished

AT_ONCE = 500
"""How many rows are held in memory at a time while they are written."""


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


def _nothing() -> None:
    pass


class Store:
    """A study's file. Open one with :func:`open_to_write` or :func:`open_to_read`.

    ``after_commit`` is called once rows are on disk, and may say that the file is gone; ``fault`` is what SQLite finds
    wrong with the file.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path | None,
        after_commit: Callable[[], None] = _nothing,
        fault: str = "",
    ) -> None:
        self.connection, self.path, self.after_commit, self.fault = connection, path, after_commit, fault
        self._changes: dict[str, tuple[int, int]] = {}

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing."""
        self._changes = {}
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._add_changes()
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")
        self.after_commit()

    # Rows

    def write(self, table: Table, rows: Iterable[Sequence[Any]]) -> None:
        """Write rows, in place of those with the same keys."""
        checked = map(table.with_checksum, rows)
        while some := list(islice(checked, AT_ONCE)):  # splits of large data need room
            self.connection.execute("SAVEPOINT rows")
            try:
                self.connection.executemany(table.insert, some)
            except sqlite3.IntegrityError:  # rows of these keys are there
                self.connection.execute("ROLLBACK TO rows")
                for row in some:
                    self.remove(table, table.has_key, table.get_key(row))
                    self.connection.execute(table.insert, row)
            self.connection.execute("RELEASE rows")
            self._change(table, len(some), sum(row[-1] for row in some))

    def remove(self, table: Table, condition: str, values: Sequence[Any]) -> None:
        """Remove the rows that a condition holds for."""
        checksums = self.connection.execute(f"SELECT checksum FROM {table.name} WHERE {condition}", values).fetchall()
        if checksums:
            self.connection.execute(f"DELETE FROM {table.name} WHERE {condition}", values)
            self._change(table, -len(checksums), -sum(checksum for (checksum,) in checksums))

    def rewrite(self, tables: Mapping[Table, Sequence[Row]]) -> None:
        """Replace all rows of some tables, whatever was there, and count all tables anew."""
        for table, rows in tables.items():
            self.connection.execute(f"DELETE FROM {table.name}")
            self.connection.executemany(table.insert, [table.with_checksum(row) for row in rows])
        totals = []
        for name in TABLES:
            sums = [checksum for (checksum,) in self.connection.execute(f"SELECT checksum FROM {name}")]
            totals.append((name, len(sums), wrap_sum(0, sum(sums))))
        self._write_totals(totals)
        self._changes = {}

    def _change(self, table: Table, n: int, total: int) -> None:
        before = self._changes.get(table.name, (0, 0))
        self._changes[table.name] = before[0] + n, before[1] + total

    def _add_changes(self) -> None:
        """Bring the totals up to date; those that are damaged are left out, so that they are noticed."""
        if not self._changes:
            return
        known = {row[0]: row[1:-1] for row in self.connection.execute(TOTALS.select) if TOTALS.is_sound(row)}
        for name in set(known) & set(self._changes):
            n, total = self._changes[name]
            known[name] = known[name][0] + n, wrap_sum(known[name][1], total)
        self._write_totals([(name, *counted) for name, counted in known.items()])

    def _write_totals(self, totals: Sequence[Row]) -> None:
        self.connection.execute(f"DELETE FROM {TOTALS.name}")
        self.connection.executemany(TOTALS.insert, [TOTALS.with_checksum(row) for row in totals])

    def _next_number(self, table: Table) -> int:
        (last,) = self.connection.execute(f"SELECT max({table.key[0]}) FROM {table.name}").fetchone()
        return (last or 0) + 1

    # Meta

    def get(self, key: str) -> Any:
        """Return what is stored under a key; None if nothing."""
        row = self.connection.execute("SELECT value FROM meta WHERE key = ?", [key]).fetchone()
        return None if row is None else json.loads(row[0])

    def put(self, key: str, value: Any) -> None:
        """Store a value under a key."""
        self.write(META, [(key, json.dumps(value))])

    # Beginning, and growing

    def begin(self, plan: Mapping[str, Any], about: Mapping[str, Any], families: Sequence[Family]) -> None:
        """Write the plan into a new store; in an old one check that it is the same, and add new selectors."""
        with self.transaction():
            stored = self.get("plan")
            if stored is None:
                for key, value in {"format": FORMAT, "plan": plan, **about}.items():
                    self.put(key, value)
            else:
                self._check_plan(stored, plan)
                if about.get("command") is not None:
                    self.put("command", about["command"])
                if about["data_record"]["target"] is not None or self.get("data_record")["target"] is None:
                    self.put("data_record", about["data_record"])  # unless arrays without a name would replace a table
                declared = self.get("declared") or about["declared"]
                selectors = {**declared["selectors"], **about["declared"]["selectors"]}
                self.put("declared", {**declared, "selectors": selectors})
            for family in families:
                self._add_family(family)

    def _check_plan(self, stored: Mapping[str, Any], plan: Mapping[str, Any]) -> None:
        changes = list_differences(stored, plan)
        if changes:
            raise OtherStudyError(
                f"Expected the plan of the study in {self.path}, got another: {'; '.join(changes)}. Use the same plan "
                "to resume (more resamples and more selectors may be added), or another store."
            )

    def _add_family(self, family: Family) -> None:
        selector = json.dumps(describe(family.selector), sort_keys=True)
        stored = self.connection.execute("SELECT selector FROM families WHERE family = ?", [family.name]).fetchone()
        if stored is None:
            self.write(FAMILIES, [(family.name, selector)])
        elif stored[0] != selector:
            changes = "; ".join(list_differences(json.loads(stored[0]), json.loads(selector)))
            raise OtherStudyError(
                f"Expected selector {family.name!r} as it is in {self.path}, got another: {changes}. Give the new one "
                "another name."
            )
        settings = [json.dumps(describe(setting)) for setting in family.candidates.candidate_settings()]
        known = dict(self.connection.execute("SELECT name, settings FROM candidates"))
        new = [place for place, name in enumerate(family.names) if name not in known]
        for name, setting in zip(family.names, settings, strict=True):
            if known.get(name, setting) != setting:
                raise OtherStudyError(
                    f"Expected candidate {name!r} with settings {known[name]}, got {setting}; rename one."
                )
        orderings = self._add_orderings(family, new)
        first = self._next_number(CANDIDATES)
        self.write(
            CANDIDATES,
            [
                (first + number, family.names[place], family.name, settings[place], *orderings.get(place, (None, None)))
                for number, place in enumerate(new)
            ],
        )

    def _add_orderings(self, family: Family, new: Sequence[int]) -> dict[int, tuple[int, int]]:
        """Write the orders that new candidates are cuts of; return each one's number, and the candidate's size.

        Candidates that came to a study together share an order; those that are added later have one of their own, as
        their fits may reach over other sizes.
        """
        cuts: dict[int, tuple[int, int]] = {}
        for ordering in family.orderings:
            sizes = {place: size for place, size in ordering.sizes.items() if place in new}
            if sizes:
                number = self._next_number(ORDERINGS)
                setting, together = json.dumps(describe(ordering.setting)), json.dumps(sorted(sizes.values()))
                self.write(ORDERINGS, [(number, family.name, setting, together, family.keep or "")])
                cuts |= {place: (number, size) for place, size in sizes.items()}
        return cuts

    def add_splits(self, splits: Iterable[Split]) -> None:
        """Write splits that are not there yet."""
        known = {split for (split,) in self.connection.execute("SELECT split FROM splits")}
        with self.transaction():
            self.write(SPLITS, (split_row(split) for split in splits if split.index not in known))

    @property
    def n_splits(self) -> int:
        """How many splits the study has reached, those included whose rows are lost."""
        last = [
            self.connection.execute(f"SELECT max(split) FROM {name}").fetchone()[0]
            for name, table in TABLES.items()
            if "split" in table.columns
        ]
        return max((number + 1 for number in last if number is not None), default=0)

    # Outcomes

    def ids(self) -> dict[str, Ids]:
        """The number of each candidate, and that of the order which it is a cut of, by name."""
        rows = self.connection.execute("SELECT name, candidate, ordering FROM candidates")
        return {name: (candidate, ordering) for name, candidate, ordering in rows}

    def done(self, n_candidates: int, n_splits: int) -> NDArray[np.bool_]:
        """Which candidates (by number, from 1) have an outcome or a failure on which splits."""
        done = np.zeros((n_candidates + 1, n_splits), dtype=bool)
        for table in ("outcomes", "failures"):
            rows = self.connection.execute(f"SELECT candidate, split FROM {table} WHERE split < ?", [n_splits])
            places = np.array(rows.fetchall(), dtype=np.int64).reshape(-1, 2)
            done[places[:, 0], places[:, 1]] = True
        return done

    def progress(self) -> tuple[int, int]:
        """How many fits ended, well or not, and how many there are to be; counted without reading the tables."""
        counts = self.counts()
        # fits that were stored before their model failed
        both = self._count("SELECT count(*) FROM failures CROSS JOIN outcomes USING (candidate, split)")
        done = counts["outcomes"] + counts["failures"] - both
        return done, counts["candidates"] * counts["splits"]

    def counts(self) -> dict[str, int]:
        """How many rows each table has, from their totals; where these are damaged, from the table."""
        known = {row[0]: row[1] for row in self.connection.execute(TOTALS.select) if TOTALS.is_sound(row)}
        return {name: known[name] if name in known else self._count(f"SELECT count(*) FROM {name}") for name in TABLES}

    def _count(self, statement: str) -> int:
        (number,) = self.connection.execute(statement).fetchone()
        return int(number)

    def last_session(self) -> tuple[str | None, str | None]:
        """When the last session started and ended; None if there was none, or if it was cut short or still runs."""
        last = self.connection.execute("SELECT started, ended FROM sessions ORDER BY session DESC LIMIT 1").fetchone()
        return last or (None, None)

    def facts(self, *keys: str) -> dict[str, Any]:
        """Some of the facts that are kept by name; one that is damaged is left out, and all are without the plan."""
        wanted = ("plan", *keys)
        rows = self.connection.execute(f"SELECT * FROM meta WHERE key IN ({', '.join('?' * len(wanted))})", wanted)
        sound = [row[:2] for row in rows if META.is_sound(row)]
        read = {row[0]: json.loads(row[1]) for row, bad in zip(sound, faulty_meta(sound), strict=True) if not bad}
        return read if "plan" in read else {}

    def families(self) -> list[str]:
        """Names of the families, in the order in which they were added."""
        rows = self.connection.execute("SELECT family FROM candidates GROUP BY family ORDER BY min(candidate)")
        return [family for (family,) in rows]

    @property
    def n_failures(self) -> int:
        """How many fits failed."""
        return self._count("SELECT count(*) FROM failures")

    def forget_failures(self, candidates: Sequence[str]) -> None:
        """Make room for another try of what failed of these candidates."""
        ids = self.ids()
        failed = "candidate = ? AND split IN (SELECT split FROM failures WHERE candidate = ?)"
        with self.transaction():
            for name in candidates:
                for table in (OUTCOMES, FAILURES):
                    self.remove(table, failed, [ids[name][0]] * 2)

    def add(self, finished: Finished, ids: Sequence[Sequence[Ids]], baselines: Iterable[Row] = ()) -> None:
        """Write what a piece of work gave, all or nothing; ``ids`` are the numbers of each family's candidates.

        ``baselines`` are scores of guessing: split, way to guess, metric, value.
        """
        keyed = [(ids[outcome.family][outcome.candidate][0], outcome.split, outcome) for outcome in finished.outcomes]
        rows: dict[Table, list[Row]] = {
            OUTCOMES: [(*key, *outcome_row(outcome)) for *key, outcome in keyed if outcome.kind is not None],
            ORDERS: [row for order in finished.orders for row in order_rows(order, ids[order.family])],
            FAILURES: [(*key, *outcome.failure) for *key, outcome in keyed if outcome.failure is not None],
            BASELINES: list(baselines),
        }
        with self.transaction():
            self._write_effects(finished.effects)
            for table, new in rows.items():
                self.write(table, new)

    # Effects

    def _write_effects(self, effects: Sequence[SplitEffects]) -> None:
        """Write effects, joined with those of other candidates of the family on the same splits."""
        if not effects:
            return
        splits, n_classes = [part.split for part in effects], len(self.get("classes") or ())
        of_family = "SELECT family, split, features, effects FROM effects WHERE family = ? AND split BETWEEN ? AND ?"
        before = self.connection.execute(of_family, [effects[0].family, min(splits), max(splits)]).fetchall()
        known = [unpack_effects(row, n_classes) for row in before if row[1] in set(splits)]
        self.write(EFFECTS, map(pack_effects, join_effects([*known, *effects])))

    def splits_without_effects(self) -> list[tuple[str, int]]:
        """Families and splits that have an outcome but lost their effects."""
        return self.connection.execute(
            "SELECT DISTINCT family, split FROM outcomes JOIN candidates USING (candidate) "
            "EXCEPT SELECT family, split FROM effects"
        ).fetchall()

    def add_effects(self, effects: Sequence[SplitEffects]) -> None:
        """Write effects of one family."""
        with self.transaction():
            self._write_effects(effects)

    def lists_of_features(self) -> list[tuple[str, bytes]]:
        """The family and the features of all effects."""
        return self.connection.execute("SELECT family, features FROM effects").fetchall()

    def replace_quantiles(self, rows: Sequence[Row]) -> None:
        """Write the quantiles of the features in place of all that are there."""
        if sorted(rows) != self.connection.execute(QUANTILES.select_values).fetchall():
            with self.transaction():
                self.remove(QUANTILES, "1", [])
                self.write(QUANTILES, rows)

    # Guessing

    def scored_splits(self) -> set[int]:
        """The splits that have scores of candidates."""
        scored = "SELECT DISTINCT split FROM outcomes WHERE scores IS NOT NULL"
        return {split for (split,) in self.connection.execute(scored)}

    def guessed_splits(self) -> set[int]:
        """The splits that have scores of guessing."""
        return {split for (split,) in self.connection.execute("SELECT DISTINCT split FROM baselines")}

    def add_baselines(self, rows: Iterable[Row]) -> None:
        """Write scores of guessing: split, way to guess, metric, value."""
        with self.transaction():
            self.write(BASELINES, list(rows))

    # Sessions

    def begin_session(self, n_jobs: int | None, versions: Mapping[str, str]) -> int:
        """Note that a process begins to work."""
        with self.transaction():
            session = self._next_number(SESSIONS)
            self.write(SESSIONS, [(session, _now(), None, n_jobs, json.dumps(dict(versions)))])
        return session

    def end_session(self, session: int) -> None:
        """Note that it has come to its end."""
        with self.transaction():
            begun = self.connection.execute("SELECT * FROM sessions WHERE session = ?", [session]).fetchone()
            number, started, _, n_jobs, versions, _ = begun
            self.write(SESSIONS, [(number, started, _now(), n_jobs, versions)])


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
