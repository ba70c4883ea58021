"""Where a study keeps what it found: one SQLite file, safe at every moment, readable while it is written."""

import json
import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast.resampling import Split
from holdfast.study.families import Family
from holdfast.study.plan import described, differences
from holdfast.study.work import Outcome

FORMAT = 1
SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE splits (split INTEGER PRIMARY KEY, label TEXT, seed INTEGER, block INTEGER, fraction REAL,
    measured INTEGER, n_train INTEGER, n_rows INTEGER, n_test INTEGER, rows BLOB, counts BLOB, test BLOB);
CREATE TABLE families (family TEXT PRIMARY KEY, selector TEXT) WITHOUT ROWID;
CREATE TABLE candidates (candidate INTEGER PRIMARY KEY, name TEXT UNIQUE, family TEXT, settings TEXT);
CREATE TABLE outcomes (candidate INTEGER, split INTEGER, kind TEXT, preference BLOB, predictions BLOB, seconds REAL,
    score_seconds REAL, note TEXT, PRIMARY KEY (candidate, split)) WITHOUT ROWID;
CREATE TABLE scores (candidate INTEGER, split INTEGER, metric TEXT, value REAL,
    PRIMARY KEY (candidate, split, metric)) WITHOUT ROWID;
CREATE TABLE baselines (split INTEGER, strategy TEXT, metric TEXT, value REAL,
    PRIMARY KEY (split, strategy, metric)) WITHOUT ROWID;
CREATE TABLE failures (candidate INTEGER, split INTEGER, stage TEXT, error TEXT, traceback TEXT,
    PRIMARY KEY (candidate, split)) WITHOUT ROWID;
CREATE TABLE sessions (session INTEGER PRIMARY KEY, started TEXT, ended TEXT, n_jobs INTEGER, versions TEXT);
"""


class StoreError(ValueError):
    """A store that cannot be used, and why."""


class Store:
    """A study's file. Open one with :func:`opened_to_write` or :func:`opened_to_read`."""

    def __init__(self, connection: sqlite3.Connection, path: Path | None) -> None:
        self.connection, self.path = connection, path

    # Meta

    def get(self, key: str) -> Any:
        """Return what is kept under a key; None if nothing."""
        found = self.connection.execute("SELECT value FROM meta WHERE key = ?", [key]).fetchone()
        return None if found is None else json.loads(found[0])

    def put(self, key: str, value: Any) -> None:
        """Keep something under a key."""
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [key, json.dumps(value)])

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

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
            for family in families:
                self._add_family(family)

    def _check_plan(self, stored: Mapping[str, Any], plan: Mapping[str, Any]) -> None:
        told = differences(stored, plan)
        if told:
            raise StoreError(
                f"Expected the plan of the study in {self.path}, got another: {'; '.join(told)}. Use the same plan to "
                "resume (more resamples and more selectors may be added), or another store."
            )

    def _add_family(self, family: Family) -> None:
        selector = json.dumps(described(family.selector), sort_keys=True)
        found = self.connection.execute("SELECT selector FROM families WHERE family = ?", [family.name]).fetchone()
        if found is None:
            self.connection.execute("INSERT INTO families VALUES (?, ?)", [family.name, selector])
        elif found[0] != selector:
            told = "; ".join(differences(json.loads(found[0]), json.loads(selector)))
            raise StoreError(
                f"Expected selector {family.name!r} as it is in {self.path}, got another: {told}. Give the new one "
                "another name."
            )
        for name, settings in zip(family.names, family.candidates.described(), strict=True):
            row = [name, family.name, json.dumps(described(settings))]
            known = self.connection.execute("SELECT settings FROM candidates WHERE name = ?", [name]).fetchone()
            if known is None:
                self.connection.execute("INSERT INTO candidates (name, family, settings) VALUES (?, ?, ?)", row)
            elif known[0] != row[2]:
                raise StoreError(f"Expected candidate {name!r} with settings {known[0]}, got {row[2]}; rename one.")

    def add_splits(self, splits: Iterable[Split]) -> None:
        """Write splits that are not there yet."""
        with self.transaction():
            self.connection.executemany(
                f"INSERT OR IGNORE INTO splits VALUES ({', '.join('?' * 12)})", map(_split_row, splits)
            )

    # Outcomes

    def ids(self) -> dict[str, int]:
        """The number of each candidate, by name."""
        return dict(self.connection.execute("SELECT name, candidate FROM candidates"))

    def done(self, n_candidates: int, n_splits: int) -> NDArray[np.bool_]:
        """Which candidates (by number, from 1) have an outcome or a failure on which splits."""
        done = np.zeros((n_candidates + 1, n_splits), dtype=bool)
        for table in ("outcomes", "failures"):
            found = self.connection.execute(f"SELECT candidate, split FROM {table} WHERE split < ?", [n_splits])
            places = np.array(found.fetchall(), dtype=np.int64).reshape(-1, 2)
            done[places[:, 0], places[:, 1]] = True
        return done

    def progress(self) -> tuple[int, int]:
        """How many fits ended, well or not, and how many there are to be."""
        (done,) = self.connection.execute(
            "SELECT count(*) FROM (SELECT candidate, split FROM outcomes UNION SELECT candidate, split FROM failures)"
        ).fetchone()
        (total,) = self.connection.execute(
            "SELECT (SELECT count(*) FROM candidates) * (SELECT count(*) FROM splits)"
        ).fetchone()
        return done, total

    def forget_failures(self, candidates: Sequence[str]) -> None:
        """Make room for another try of what failed of these candidates."""
        ids = self.ids()
        mine = [[ids[name]] for name in candidates]
        failed = "candidate = ?1 AND split IN (SELECT split FROM failures WHERE candidate = ?1)"
        with self.transaction():
            for table in ("outcomes", "scores", "failures"):
                self.connection.executemany(f"DELETE FROM {table} WHERE {failed}", mine)

    def add(self, outcomes: Sequence[Outcome], ids: Sequence[Sequence[int]]) -> None:
        """Write outcomes, all or nothing; ``ids`` are the numbers of each family's candidates."""
        rows = [(ids[one.family][one.candidate], one.split, one) for one in outcomes]
        selected = [(*key, *_outcome_row(one)) for *key, one in rows if one.values is not None]
        scores = [(*key, metric, value) for *key, one in rows for metric, value in one.scores.items()]
        failures = [(*key, *one.failure) for *key, one in rows if one.failure is not None]
        with self.transaction():
            for table, width, found in (("outcomes", 8, selected), ("scores", 4, scores), ("failures", 5, failures)):
                if found:
                    marks = ", ".join("?" * width)
                    self.connection.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", found)

    # Guessing

    def splits_in(self, table: Literal["scores", "baselines"]) -> set[int]:
        """The splits that have scores of candidates, or of guessing."""
        return {split for (split,) in self.connection.execute(f"SELECT DISTINCT split FROM {table}")}

    def add_baselines(self, rows: Iterable[tuple[int, str, str, float]]) -> None:
        """Write scores of guessing: split, way to guess, metric, value."""
        with self.transaction():
            self.connection.executemany("INSERT OR REPLACE INTO baselines VALUES (?, ?, ?, ?)", rows)

    # Sessions

    def begin_session(self, n_jobs: int | None, versions: Mapping[str, str]) -> int:
        """Note that a process begins to work."""
        with self.transaction():
            row = self.connection.execute(
                "INSERT INTO sessions (started, n_jobs, versions) VALUES (?, ?, ?)",
                [_now(), n_jobs, json.dumps(versions)],
            )
        return int(row.lastrowid or 0)

    def end_session(self, session: int) -> None:
        """Note that it has come to its end."""
        with self.transaction():
            self.connection.execute("UPDATE sessions SET ended = ? WHERE session = ?", [_now(), session])


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def packed(rows: NDArray[Any] | None) -> bytes | None:
    """Row numbers, compressed."""
    return None if rows is None else zlib.compress(rows.astype("<i4").tobytes(), 1)


def unpacked(blob: bytes) -> NDArray[np.int64]:
    """Row numbers again."""
    return np.frombuffer(zlib.decompress(blob), dtype="<i4").astype(np.int64)


def _split_row(split: Split) -> tuple[Any, ...]:
    return (
        split.index, split.label, split.seed, int(split.block), split.fraction, split.measured,
        int(split.rows.size if split.counts is None else split.counts.sum()), split.rows.size, split.test.size,
        packed(split.rows), packed(split.counts), packed(split.test),
    )  # fmt: skip


def _outcome_row(one: Outcome) -> tuple[Any, ...]:
    assert one.values is not None
    values = one.values.astype("<i4" if one.kind == "subset" else "<f8").tobytes()
    predictions = None if one.predictions is None else one.predictions.tobytes()
    return one.kind, values, predictions, one.seconds, one.score_seconds, one.note


def stored_bytes(things: Sequence[Outcome] | Sequence[Split]) -> int:
    """About how much room outcomes or splits take in a store."""
    rows = [
        _split_row(one) if isinstance(one, Split) else () if one.values is None else _outcome_row(one) for one in things
    ]
    numbers = 40  # keys, times and scores of a row, and what SQLite adds
    return sum(numbers + sum(len(item) for item in row if isinstance(item, bytes)) for row in rows)


# Opening


@contextmanager
def opened_to_write(path: str | Path | None) -> Iterator[Store]:
    """Open a store for the one process that may write it; None keeps it in memory."""
    if path is None:
        connection = sqlite3.connect(":memory:", isolation_level=None)
        connection.executescript(SCHEMA)
        yield Store(connection, None)
        return
    path = Path(path)
    if not path.parent.is_dir():
        raise StoreError(f"Expected a folder for the store {path}, got none at {path.parent}; make it first.")
    with _only_writer(path), clear_errors(path):
        connection = sqlite3.connect(path, isolation_level=None, timeout=30)
        try:
            _prepare(connection, path)
            yield Store(connection, path)
        finally:
            connection.close()


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    new = not _tables(connection) and _beginning(path) in (b"", b"SQLite")
    if not new:
        _check(connection, path)  # before anything is written: it may be another program's file
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    if new:
        connection.executescript(f"BEGIN; {SCHEMA} COMMIT;")


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(6)


def _tables(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _check(connection: sqlite3.Connection, path: Path) -> None:
    if "candidates" not in _tables(connection):
        raise StoreError(f"Expected a study in {path}, got another or an empty file; give the path of a study's store.")
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise sqlite3.DatabaseError(found)
    (page,) = connection.execute("PRAGMA page_size").fetchone()
    if path.stat().st_size % page:
        raise sqlite3.DatabaseError("its end is missing")  # SQLite reads zeros there
    stored = Store(connection, path).get("format")
    if stored not in (None, FORMAT):
        raise StoreError(
            f"Expected a store of format {FORMAT}, got format {stored} in {path}; use the holdfast that wrote it."
        )


def opened_to_read(path: str | Path) -> Store:
    """Open a store to read, also while a study writes it, or where nothing may be written."""
    path = Path(path)
    if not path.is_file():
        raise StoreError(f"Expected a study's store, got no file at {path}.")
    with clear_errors(path):
        try:
            connection = _readable(path, "mode=ro")
        except sqlite3.OperationalError:
            connection = _readable(path, "immutable=1")  # a folder that cannot be written has no room for -shm
        try:
            _check(connection, path)
        except BaseException:
            connection.close()
            raise
    return Store(connection, path)


def _readable(path: Path, how: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True, timeout=30, isolation_level=None)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


@contextmanager
def clear_errors(path: Path) -> Iterator[None]:
    """Say what SQLite's errors mean for the user."""
    try:
        yield
    except sqlite3.Error as error:
        told = str(error)
        if "full" in told:
            reason = "there is no room left on its disk; what was finished is safe: make room and run again to resume"
        elif "not a database" in told:
            reason = "it is another kind of file; give another path"
        elif type(error) is sqlite3.DatabaseError:
            reason = f"it is damaged ({told}); restore it from a copy, or move it away and begin anew"
        else:
            reason = told
        raise StoreError(f"Expected a study's store that can be used, got {path}: {reason}.") from error


@contextmanager
def _only_writer(path: Path) -> Iterator[None]:
    """Hold the right to write: a lock that ends with the process, however that ends."""
    place = path.with_name(path.name + ".lock")
    handle = _locked(place, path)
    try:
        yield
    finally:
        with suppress(OSError):
            place.unlink()
        os.close(handle)


def _locked(place: Path, path: Path) -> int:
    while True:
        try:
            handle = os.open(place, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise StoreError(
                f"Expected a store that can be written, got {path}: {error.strerror or error}; give a path in a folder "
                "that can be written."
            ) from None
        try:
            _lock(handle)
        except OSError:
            holder = os.read(handle, 20).decode(errors="replace").strip()
            os.close(handle)
            raise StoreError(
                f"Expected to be the only writer of {path}, got another one at work (process {holder or 'unknown'}); "
                "wait for it, or read with hf.load() (holdfast show) meanwhile."
            ) from None
        if _is_at(handle, place):
            with suppress(OSError):  # the number only serves the message to others
                os.truncate(handle, 0)
                os.write(handle, f"{os.getpid()}\n".encode())
            return handle
        os.close(handle)  # its last holder took the file away: try again


def _is_at(handle: int, place: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), place.stat())
    except FileNotFoundError:
        return False


def _lock(handle: int) -> None:
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
