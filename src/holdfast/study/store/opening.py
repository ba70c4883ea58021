"""Opening a store: one writer, any number of readers, and what SQLite's errors mean."""

import os
import sqlite3
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from holdfast.io.files import as_path
from holdfast.study.store.checking import check_tables, refuse_unusable, scan, wrong_format
from holdfast.study.store.locking import find_holder, only_writer
from holdfast.study.store.schema import FORMAT, TABLES, TOTALS, Row, expected_schema, make_tables, read_schema
from holdfast.study.store.store import Store, StoreError

Identity = tuple[int, int] | None


# To write


@contextmanager
def open_to_write(path: str | Path | None) -> Iterator[Store]:
    """Open a store for the one process that may write it; None keeps it in memory."""
    if path is None:
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
            make_tables(connection)
            yield Store(connection, None)
        return
    path = check_path(path)
    real = path.resolve()  # SQLite's own files and the lock go by name: all names must lead to one
    if not real.parent.is_dir():
        raise StoreError(f"Expected a folder for the store {path}, got none at {real.parent}; make it first.")
    with only_writer(real, path), explain_errors(path):
        _refuse_hard_links(path)
        connection = sqlite3.connect(real, isolation_level=None, timeout=30)
        guard = _Guard(connection, path)
        try:
            _prepare(connection, path)
            guard.identity = _identity(path)
            yield Store(connection, path, guard.check)
            guard.check()
        finally:
            _close(connection, single_file=guard.identity is not None and guard.identity == _identity(path))


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
    with suppress(FileNotFoundError):
        names = path.stat().st_nlink
        if names > 1:
            raise StoreError(
                f"Expected a store with one name, got {path} with {names} (hard links), each of which would have its "
                "own journal; make a copy and use that, or remove the other names."
            )


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    connection.text_factory = _decode_text
    new = not read_schema(connection) and _is_blank(connection, path)
    if not new:
        fault = _check(connection, path)  # before anything is written: it may be another program's file
        refuse_unusable(check_tables(connection, ("meta", "families", "candidates")), path)
        if fault:
            _rebuild(connection)
            warnings.warn(f"The structure of {path} was faulty ({fault}) and was rebuilt.", UserWarning, stacklevel=6)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    if new:
        make_tables(connection)


def _decode_text(raw: bytes) -> str:
    """Text as it was written; damaged text is read too, so that its checksum can tell."""
    return raw.decode("utf-8", "surrogateescape")


def _is_blank(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether a file without tables is empty, or a database that was only begun."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    return pages > 0 or path.stat().st_size == 0  # SQLite sees no page in a short file of another kind


def _close(connection: sqlite3.Connection, *, single_file: bool) -> None:
    """Leave one file behind, without a journal beside it, if nobody reads it at this moment."""
    if single_file and not connection.in_transaction:
        with suppress(sqlite3.Error):
            connection.execute("PRAGMA busy_timeout = 0")
            connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()


# A file that is taken away


def _identity(path: Path) -> Identity:
    """Which file a path leads to; never by opening it, as closing it again would release SQLite's locks."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


class _Guard:
    """Notices that a store was deleted, moved or replaced while it is written, and saves what it holds."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.connection, self.path = connection, path
        self.identity: Identity = None  # until it is known to be a store

    def check(self) -> None:
        """Raise if the file is not the one that was opened."""
        now = _identity(self.path)
        if now == self.identity:
            return
        what = "deleted or moved" if now is None else "replaced by another file"
        saved = self._save_copy()
        if saved is None:
            raise StoreError(f"The store {self.path} was {what} while it was written, and there is no room to save it.")
        raise StoreError(
            f"The store {self.path} was {what} while it was written, so the study was stopped; all that was finished "
            f"is saved in {saved}: run the study again with that store to resume."
        )

    def _save_copy(self) -> Path | None:
        """Copy all rows to a file beside the store, or where temporary files go; return its path."""
        for folder in (self.path.parent, Path(tempfile.gettempdir())):
            with suppress(OSError, sqlite3.Error):
                place = _free_name(folder, self.path)
                _back_up(self.connection, place)
                return place
        return None


def _back_up(connection: sqlite3.Connection, place: Path) -> None:
    """Write all rows of one moment into a file, which needs no journal beside it."""
    with closing(sqlite3.connect(place, isolation_level=None)) as copy:
        connection.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")


def _free_name(folder: Path, path: Path) -> Path:
    """A name for a copy of a store that no file has yet; the file is made, so that nobody else takes it."""
    number = 1
    while True:
        place = folder / f"{path.stem}.rescued{'' if number == 1 else f'-{number}'}{path.suffix}"
        try:
            os.close(os.open(place, os.O_CREAT | os.O_EXCL, 0o644))
        except FileExistsError:
            number += 1
        else:
            return place


# To read

FIRST_BYTES = b"SQLite format 3\0"


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
    path = check_path(path)
    with _connected(path) as connection:
        with explain_errors(path):
            fault = _check(connection, path)
        yield Store(connection, path, fault=fault)


@contextmanager
def open_to_count(path: str | Path) -> Iterator[Store | None]:
    """Open a store to count its rows, without looking for damage; None while a study only begins to make it."""
    path = check_path(path)
    with _connected(path) as connection:
        with explain_errors(path):
            schema = read_schema(connection)
            new = not schema and _is_blank(connection, path)
            if not new:
                _check_tables(connection, path, schema)
        yield None if new else Store(connection, path)


def copy_store(path: str | Path, place: str | Path) -> None:
    """Copy a store as it is at one moment, also while a study writes it."""
    path = check_path(path)
    with _connected(path) as connection, explain_errors(path):
        _back_up(connection, Path(place))


@contextmanager
def _connected(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that only reads."""
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
        yield connection


def _connect(path: Path, how: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True, timeout=30, isolation_level=None)
    connection.text_factory = _decode_text
    try:
        read_schema(connection)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _check(connection: sqlite3.Connection, path: Path) -> str:
    """Raise if a file is no store, or cannot be read as one; return what is wrong with how its rows are arranged."""
    _check_tables(connection, path, read_schema(connection))
    (page,) = connection.execute("PRAGMA page_size").fetchone()
    if path.stat().st_size % page:
        raise sqlite3.DatabaseError("its end is missing")  # SQLite reads zeros there
    return _structural_fault(connection)


def _check_tables(connection: sqlite3.Connection, path: Path, schema: set[Row]) -> None:
    """Raise if the tables of a file are not those of a store."""
    if not any(name == "candidates" for _, name, *_ in schema):
        raise StoreError(f"Expected a study in {path}, got another or an empty file; give the path of a study's store.")
    if schema != expected_schema():
        version = _read_format(connection)
        if version not in (None, str(FORMAT)):
            raise wrong_format(version, path)
        raise sqlite3.DatabaseError("its tables are not those of a study")


def _structural_fault(connection: sqlite3.Connection) -> str:
    try:
        (fault,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        if type(error) is not sqlite3.DatabaseError:
            raise
        fault = str(error)
    return "" if fault == "ok" else " ".join(fault.replace("*** in database main ***", "").split())


def _rebuild(connection: sqlite3.Connection) -> None:
    """Write all sound rows into the file anew, at once; the totals stay, so that lost rows are missed."""
    memory = sqlite3.connect(":memory:", isolation_level=None)
    make_tables(memory)
    for table in (*TABLES.values(), TOTALS):
        memory.execute(f"DELETE FROM {table.name}")
        insert = table.insert.replace("INSERT", "INSERT OR IGNORE", 1)  # a page that is used twice gives rows twice
        memory.executemany(insert, [row for row in scan(connection, table) if table.is_sound(row)])
    memory.backup(connection)
    memory.close()


def _read_format(connection: sqlite3.Connection) -> str | None:
    """The format that a store of other tables says it has."""
    try:
        row = connection.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
    except sqlite3.Error:
        return None
    return None if row is None or not str(row[0]).isdecimal() else str(row[0])


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


# Who writes


def find_writer(path: str | Path) -> int | None:
    """Return the number of the process that is writing a store; None if nobody is. A writer is never hindered."""
    return find_holder(check_path(path).resolve())
