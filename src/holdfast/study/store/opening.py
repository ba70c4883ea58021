"""Opening and reading a store: one writer, any number of readers, what it says, and what SQLite's errors mean."""

import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import compress, count
from pathlib import Path
from typing import Any, Literal, NamedTuple

from holdfast.declared import About
from holdfast.io.files import as_path
from holdfast.io.record import DataRecord
from holdfast.serialization import from_plain
from holdfast.study.store import checking
from holdfast.study.store.checking import Checks
from holdfast.study.store.schema import (
    FORMAT,
    META,
    TABLES,
    complete_tables,
    expected_schemas,
    make_tables,
    read_schema,
)
from holdfast.study.store.store import LockedStoreError, Store, StoreError, UnwritableStoreError

POLL_SECONDS = 0.001
LOCK_POLLS = 100
LOCKED_BYTE = 4096
FIRST_BYTES = b"SQLite format 3\0"
State = Literal["sound", "damaged", "unusable"]

# To write


@contextmanager
def open_to_write(path: str | Path | None) -> Iterator[Store]:
    """Open a store for the one process that may write it; None keeps it in memory."""
    if path is None:
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
            make_tables(connection)
            yield Store(connection, None, is_new=True)
        return
    path = check_path(path)
    real = path.resolve()  # SQLite's own files and the lock go by name: all names must lead to one
    if not real.parent.is_dir():
        raise StoreError(f"Expected a folder for the store {path}, got none at {real.parent}; make it first.")
    with only_writer(real, path), explain_errors(path):
        _refuse_hard_links(path)
        with closing(sqlite3.connect(real, isolation_level=None, timeout=30)) as connection:
            is_new = _prepare(connection, path)
            opened = path.stat()
            check_file = partial(_check_that_it_is_there, connection, path, opened)
            try:
                yield Store(connection, path, check_file, is_new=is_new)
                check_file()
            finally:
                if _is_file(path, opened) and not connection.in_transaction:
                    with suppress(sqlite3.Error):  # one file, without a journal, if nobody reads it at this moment
                        connection.execute("PRAGMA busy_timeout = 0")
                        connection.execute("PRAGMA journal_mode = DELETE")


def check_path(path: str | Path) -> Path:
    """The path of a file that is, or may become, a store."""
    if str(path) == ":memory:":
        raise StoreError(
            "Expected a file as store, got ':memory:'; leave the store out (store=None, no --store) to keep a study in "
            "memory."
        )
    expanded = as_path(path, "the path of a study's store")
    if expanded.is_dir():
        raise StoreError(
            f"Expected a file as store, got the folder {path}; name a file in it, such as {expanded / 'study.db'}."
        )
    if expanded.exists() and not expanded.is_file():
        raise StoreError(f"Expected a file as store, got {path}, which is none; give another path.")
    return expanded


def _refuse_hard_links(path: Path) -> None:
    names = path.stat().st_nlink if path.exists() else 1
    if names > 1:
        raise StoreError(
            f"Expected a store with one name, got {path} with {names} (hard links), each of which would have its "
            "own journal; make a copy and use that, or remove the other names."
        )


def _prepare(connection: sqlite3.Connection, path: Path) -> bool:
    """Make a store of a new file; refuse one that is none or cannot be used, and repair how its rows are arranged.

    Return whether it is new.
    """
    connection.text_factory = _decode_text
    new = _is_new(connection, path)
    if not new:
        _refuse_other_files(connection, path)  # before anything is written: it may be another program's file
        checking.refuse_unusable(checking.check_tables(connection, checking.PLAN_TABLES), path)
        complete_tables(connection, write=True)
        checking.repair_structure(connection, path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    if new:
        make_tables(connection)
    return new


def _decode_text(raw: bytes) -> str:
    """Text as it was written; damaged text is read too, so that its checksum can be compared."""
    return raw.decode("utf-8", "surrogateescape")


# A file that is taken away


def _is_file(path: Path, status: os.stat_result) -> bool:
    """Whether a path leads to this file; never by opening it, as closing it again would release SQLite's locks."""
    try:
        return os.path.samestat(path.stat(), status)
    except OSError:
        return False


def _check_that_it_is_there(connection: sqlite3.Connection, path: Path, opened: os.stat_result) -> None:
    """Raise if a store was deleted, moved or replaced while it is written, and save what it holds next to it."""
    if _is_file(path, opened):
        return
    what = f"The store {path} was {'replaced by another file' if path.exists() else 'deleted or moved'} while it was"
    for folder in (path.parent, Path(tempfile.gettempdir())):
        with suppress(OSError, sqlite3.Error):
            saved = _free_name(folder, path)
            _back_up(connection, saved)
            raise StoreError(
                f"{what} written, so the study was stopped; all that was finished is saved in {saved}: run the study "
                "again with that store to resume."
            )
    raise StoreError(f"{what} written, and there is no room to save it.")


def _free_name(folder: Path, path: Path) -> Path:
    """A name for a copy of a store that no file has yet; the file is made, so that nobody else takes it."""
    for number in count(1):
        free = folder / f"{path.stem}.rescued{'' if number == 1 else f'-{number}'}{path.suffix}"
        with suppress(FileExistsError):
            free.touch(0o644, exist_ok=False)
            break
    return free


def _back_up(connection: sqlite3.Connection, path: Path) -> None:
    """Write all rows of one moment into a file, which needs no journal next to it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as copy:
        connection.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")


# To read


def is_database(path: Path) -> bool:
    """Whether a file is one of SQLite's, as stores are, whatever its name."""
    try:
        with as_path(path).open("rb") as file:
            return file.read(len(FIRST_BYTES)) == FIRST_BYTES
    except OSError:
        return False


@contextmanager
def open_to_read(path: str | Path) -> Iterator[Store]:
    """Open a store to read, also while a study writes it, or where nothing may be written."""
    with _open_read_only(path) as (connection, path):
        _refuse_other_files(connection, path)
        complete_tables(connection, write=False)
        yield Store(connection, path)


@contextmanager
def open_to_count(path: str | Path) -> Iterator[Store | None]:
    """Open a store to count its rows, without looking for damage; None while a study only begins to make it."""
    with _open_read_only(path) as (connection, path):
        new = _is_new(connection, path)
        if not new:
            _refuse_other_tables(connection, path)
            complete_tables(connection, write=False)
        yield None if new else Store(connection, path)


def copy_store(path: str | Path, copy: str | Path) -> None:
    """Copy a store as it is at one moment, also while a study writes it."""
    with _open_read_only(path) as (connection, _):
        _back_up(connection, Path(copy))


@contextmanager
def _open_read_only(path: str | Path) -> Iterator[tuple[sqlite3.Connection, Path]]:
    """A connection that only reads, and the path of its file."""
    path = check_path(path)
    if not path.is_file():
        raise StoreError(f"Expected a study's store, got no file at {path}.")
    _refuse_hard_links(path)
    with explain_errors(path):
        try:
            connection = _connect(path, "mode=ro")
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise
            connection = _connect(path, "immutable=1")  # a folder that cannot be written has no room for -shm
        with closing(connection):
            yield connection, path


def _connect(path: Path, how: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True, timeout=30, isolation_level=None)
    connection.text_factory = _decode_text
    try:
        read_schema(connection)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _is_new(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether a file is empty, or a database that was only begun; in a short file of another kind is no page."""
    if read_schema(connection):
        return False
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    return pages > 0 or path.stat().st_size == 0


def _refuse_other_files(connection: sqlite3.Connection, path: Path) -> None:
    """Raise if a file is no store, or only the beginning of one."""
    _refuse_other_tables(connection, path)
    (page,) = connection.execute("PRAGMA page_size").fetchone()
    if path.stat().st_size % page:
        raise sqlite3.DatabaseError("its end is missing")  # SQLite reads zeros there


def _refuse_other_tables(connection: sqlite3.Connection, path: Path) -> None:
    """Raise if the tables of a file are not those of a store."""
    schema = read_schema(connection)
    if not any(name == "candidates" for _, name, *_ in schema):
        raise StoreError(f"Expected a study in {path}, got another or an empty file; give the path of a study's store.")
    if schema not in expected_schemas():
        with suppress(sqlite3.Error):
            (version,) = connection.execute("SELECT value FROM meta WHERE key = 'format'").fetchone() or (FORMAT,)
            if str(version).isdecimal() and str(version) != str(FORMAT):
                raise checking.wrong_format(version, path)
        raise sqlite3.DatabaseError("its tables are not those of a study")


@contextmanager
def explain_errors(path: Path) -> Iterator[None]:
    """Say what SQLite's errors mean for the user."""
    try:
        yield
    except sqlite3.Error as error:
        message = str(error)
        if "full" in message:
            reason = "there is no room left on its disk; what was finished is safe: make room and run again to resume"
        elif "not a database" in message:
            reason = "it is another kind of file; give a store that holdfast study made, such as NAME-study.db"
        elif type(error) is sqlite3.DatabaseError:
            reason = f"it is damaged ({message}); restore it from a copy, or move it away and start again"
        else:
            reason = message
        raise StoreError(f"Expected a study's store that can be used, got {path}: {reason}.") from error


# What a store says: all tables of one moment, or a few facts of a study that is being written


@contextmanager
def snapshot(store: Store) -> Iterator[None]:
    """Read a store as it is now, whatever is written meanwhile."""
    store.connection.execute("BEGIN")
    try:
        yield
    finally:
        if store.connection.in_transaction:
            store.connection.execute("ROLLBACK")  # nothing was written, and a damaged file cannot commit even that


def read_tables(store: Store, *, trusted: bool) -> tuple[Checks, dict[str, Any]]:
    """Read all tables of one moment, and the facts stored by name; raise if anything is damaged.

    Tables are not checked again if ``trusted``: this process opened, checked and wrote them.
    """
    if trusted:
        decode, store.connection.text_factory = store.connection.text_factory, str  # nothing is damaged
        checks = {
            name: checking.TableCheck(table=table, rows=store.connection.execute(table.select_values).fetchall())
            for name, table in TABLES.items()
        }
        store.connection.text_factory = decode
    else:
        with explain_errors(store.path or Path(":memory:")), snapshot(store):
            checks, fault = checking.check_tables(store.connection), checking.find_fault(store.connection)
        checking.refuse_damage(checks, store.path, fault)
    return checks, _study_meta(checks, store)


def _study_meta(checks: Checks, store: Store) -> dict[str, Any]:
    meta = checking.parse_meta(checks["meta"].rows)
    if "plan" not in meta:
        raise StoreError(f"Expected a study in {store.path}, got a store that was never begun.")
    return meta


def read_meta(path: str | Path) -> dict[str, Any]:
    """Read what a store says of its study, whatever happened to the outcomes."""
    with open_to_read(path) as store:
        checks = checking.check_tables(store.connection, checking.PLAN_TABLES)
        checking.refuse_unusable(checks, path)
        return {**_study_meta(checks, store), "n_splits": store.n_splits}


class StoredPlan(NamedTuple):
    """What a store's results depend on, and how far its study has come.

    ``selectors`` are texts of JSON by family, ``candidates`` the names of each family's; ``done`` are fits that ended,
    ``versions`` those of the libraries that the last session ran with.
    """

    plan: dict[str, Any]
    selectors: dict[str, str]
    candidates: dict[str, list[str]]
    done: int
    n_splits: int
    versions: dict[str, str]


def read_plan(path: str | Path) -> StoredPlan | None:
    """Read the plan of a store, also while it is written; None for a file that a study only began to make."""
    if Path(path).is_file() and not Path(path).stat().st_size:
        return None
    with open_to_read(path) as store:
        checks = checking.check_tables(store.connection, checking.PLAN_TABLES)
        if not checks["meta"].rows:
            return None
        checking.refuse_unusable(checks, path)
        candidates: dict[str, list[str]] = {}
        for _, name, family, *_ in checks["candidates"].rows:
            candidates.setdefault(family, []).append(name)
        plan = _study_meta(checks, store)["plan"]
        last = store.connection.execute("SELECT versions FROM sessions ORDER BY session DESC LIMIT 1").fetchone()
        return StoredPlan(
            plan, dict(checks["families"].rows), candidates, store.progress()[0], store.n_splits,
            {} if last is None else json.loads(last[0]),
        )  # fmt: skip


class StoreProgress(NamedTuple):
    """How far the study in a store has come.

    Of ``total`` fits, ``n_splits`` of each of ``n_candidates``, ``done`` have ended, ``failed`` of them with an error.
    The last session ``started`` and ``ended`` at these times (UTC, ISO 8601); one that runs, or was cut short, has no
    end.
    """

    done: int = 0
    failed: int = 0
    total: int = 0
    n_splits: int = 0
    n_candidates: int = 0
    started: str | None = None
    ended: str | None = None


def read_progress(path: str | Path) -> StoreProgress:
    """Count how far a study has come, also while it is written, without reading or checking its results.

    All numbers are of one moment. A file that a study only began to make has none of anything.
    """
    with open_to_count(path) as store:
        if store is None:
            return StoreProgress()
        with snapshot(store):
            counts, (done, total) = store.counts(), store.progress()
            last = store.connection.execute("SELECT started, ended FROM sessions ORDER BY session DESC").fetchone()
            return StoreProgress(done, counts["failures"], total, counts["splits"], counts["candidates"], *(last or ()))


class Overview(NamedTuple):
    """What a study is about, from a few facts of its store.

    ``selectors`` describe each family by name, ``command`` how the command line began it.
    """

    data: DataRecord
    selectors: dict[str, About | None]
    command: dict[str, Any] | None


def read_overview(path: str | Path) -> Overview | None:
    """Read what a study is about, in a millisecond and also while it is written; None if that is not there yet."""
    with open_to_count(path) as store:
        if store is None:
            return None
        with snapshot(store):
            wanted = "SELECT * FROM meta WHERE key IN ('plan', 'data_record', 'declared', 'command')"
            rows = store.connection.execute(wanted).fetchall()
            facts_read = [row[:2] for row in compress(rows, META.find_sound(rows))]
            by_number = "SELECT family FROM candidates GROUP BY family ORDER BY min(candidate)"
            families = [family for (family,) in store.connection.execute(by_number)]
    stored = checking.parse_meta(facts_read)
    facts = {key: value for key, value in stored.items() if checking.is_possible_fact(key, stored)}
    if not {"plan", "data_record", "declared"} <= set(facts):
        return None
    described = {name: About.from_dict(values) for name, values in facts["declared"]["selectors"].items()}
    data = from_plain(DataRecord, facts["data_record"])
    return Overview(data, {name: described.get(name) for name in families}, facts.get("command"))


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What is sound in a store, and what is lost.

    Attributes
    ----------
    path : Path
        The store.
    state : {"sound", "damaged", "unusable"}
        Whether all is as it was written; if not, whether resuming the study recomputes what is lost.
    tables : mapping from str to mapping
        For each table, how many rows are ``sound``, ``damaged`` and ``missing``.
    message : str
        What is lost and what to do, in one sentence; empty for a sound store.
    """

    path: Path
    state: State
    tables: Mapping[str, Mapping[str, int]]
    message: str


def verify(path: str | Path) -> Verification:
    """Read all of a store and report which rows are sound, also while a study writes it."""
    with open_to_read(path) as store, snapshot(store):
        checks, fault = checking.check_tables(store.connection), checking.find_fault(store.connection)
    state: State = "unusable"
    message = ""
    try:
        checking.refuse_unusable(checks, path)
        state = "damaged"
        checking.refuse_damage(checks, path, fault)
        state = "sound"
    except StoreError as error:
        message = str(error)
    tables = {
        name: {"sound": len(check.rows), "damaged": len(check.damaged), "missing": max(check.missing, 0)}
        for name, check in checks.items()
    }
    return Verification(path=Path(path), state=state, tables=tables, message=message)


# Who writes: a lock in a file next to the store, which ends with the process that holds it


@contextmanager
def only_writer(real: Path, path: Path) -> Iterator[None]:
    """Hold the right to write."""
    lock = _lock_file(real)
    while True:
        try:
            handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise UnwritableStoreError(
                f"Expected a store that can be written, got {path}: {error.strerror or error}; give a path in a folder "
                "that can be written."
            ) from None
        if _can_lock(handle):
            if _is_file(lock, os.fstat(handle)):
                break
        elif not _can_lock(handle, only_look=True):
            holder = _read_number(handle)
            os.close(handle)
            raise LockedStoreError(
                f"Another process ({holder or 'number unknown'}) is writing {path}, and a store has one writer at a "
                "time; wait for it, or read with hf.load_study() (holdfast show) meanwhile."
            )
        os.close(handle)  # its last holder took the file away, or somebody looked at the lock: try again
        time.sleep(POLL_SECONDS)
    with suppress(OSError):  # the number only serves those who ask who writes
        os.truncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
    try:
        yield
    finally:
        with suppress(OSError):
            lock.unlink()
        os.close(handle)


def find_writer(path: str | Path) -> int | None:
    """Return the number of the process that is writing a store; None if nobody is. A writer is never hindered.

    This only looks: the lock is shared for a moment, and a writer that starts just then waits for that moment.
    """
    lock, number = _lock_file(check_path(path).resolve()), None
    for _ in range(LOCK_POLLS):
        try:
            with lock.open("rb", buffering=0) as file:
                locked = not _can_lock(file.fileno(), only_look=True)
                number = _read_number(file.fileno()) if locked else None
                is_there = _is_file(lock, os.fstat(file.fileno()))
        except OSError:
            return None
        if (is_there and not locked) or (number is not None and _is_alive(number)):
            break
        time.sleep(POLL_SECONDS)  # a new writer has not left its number yet
    return number


def holds_lock(real: Path, process: int) -> bool:
    """Whether it is a process of this machine, and of this user, that holds the right to write.

    A folder may be shared by machines: then the number in the lock file is that of a process elsewhere.
    """
    if not Path("/proc/self/fd").is_dir():
        return _is_alive(process)
    try:
        lock = _lock_file(real).stat()
        return any(_is_file(handle, lock) for handle in Path(f"/proc/{process}/fd").iterdir())
    except OSError:
        return False


def _lock_file(real: Path) -> Path:
    return real.with_name(real.name + ".holdfast-lock")


def _read_number(handle: int) -> int | None:
    """The number of the process that left it in a lock file."""
    text = os.read(handle, 20).strip()
    return int(text) if text.isdigit() else None


def _is_alive(process: int) -> bool:
    """Whether a process runs, here; a lock file of one that was killed keeps its number until another takes it."""
    if os.name == "nt":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True


def _can_lock(handle: int, *, only_look: bool = False) -> bool:
    """Take the lock if it is free; or see whether a writer holds it, unseen by others who look."""
    try:
        if os.name == "nt":
            _lock_byte(handle)
            if only_look:
                _lock_byte(handle, unlock=True)
        else:
            import fcntl

            fcntl.flock(handle, (fcntl.LOCK_SH if only_look else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            if only_look:
                fcntl.flock(handle, fcntl.LOCK_UN)
    except OSError:
        return False
    return True


def _lock_byte(handle: int, *, unlock: bool = False) -> None:
    """Windows locks bytes, and nobody else can read them: one behind the number."""
    import msvcrt

    os.lseek(handle, LOCKED_BYTE, os.SEEK_SET)
    try:
        msvcrt.locking(handle, msvcrt.LK_UNLCK if unlock else msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    finally:
        os.lseek(handle, 0, os.SEEK_SET)
