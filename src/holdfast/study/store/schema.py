"""The tables of a store, each declared once, and splits, outcomes and orders as rows of them.

A checksum covers all columns of a row and the name of its table, so a changed value, a changed key and a row in the
wrong table are noticed. ``totals`` counts the rows of every other table and adds up their checksums, so vanished rows
are noticed too.
"""

import json
import math
import sqlite3
import struct
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import blake2b
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.resampling import Split
from holdfast.selection import is_rising
from holdfast.study.work import BlockResult, Outcome, SplitOrder, pack_effects

FORMAT = 4
Row = tuple[Any, ...]
Ids = tuple[int, int | None]
"""The number of a candidate, and that of the order which it is a cut of."""
PYTHON: Mapping[str, type] = {"INTEGER": int, "REAL": float, "TEXT": str, "BLOB": bytes}
FEW_BYTES = 512
WRAPPED, CHECK = struct.Struct("<3sHH"), struct.Struct(">I")
"""What stands before and after bytes that zlib takes as they are, in a single block."""


@dataclass(frozen=True, eq=False)
class Table:
    """A table of a store.

    Attributes
    ----------
    name : str
        Its name.
    definition : str
        Its columns, each with its type: INTEGER, REAL, TEXT or BLOB.
    n_key : int
        How many of them, from the first one on, identify a row.
    optional : tuple of str
        The columns that may be empty: NULL, as which SQLite also keeps nan.
    json_column : str or None
        The column whose text must be JSON, if there is one.
    recomputable : bool
        Whether a resumed study computes lost rows again; without the rows of other tables a store cannot be used.
    """

    name: str
    definition: str
    n_key: int = 1
    optional: tuple[str, ...] = ()
    json_column: str | None = None
    recomputable: bool = True

    @cached_property
    def columns(self) -> dict[str, str]:
        """The type of each column."""
        return {column.split()[0]: column.split()[1] for column in self.definition.split(", ")}

    @cached_property
    def key(self) -> tuple[str, ...]:
        """The columns that identify a row."""
        return tuple(self.columns)[: self.n_key]

    @cached_property
    def insert(self) -> str:
        """The statement that writes one row."""
        return f"INSERT INTO {self.name} VALUES ({', '.join('?' * (len(self.columns) + 1))})"

    @cached_property
    def select(self) -> str:
        """The statement that reads all rows by key, with their checksums last."""
        return f"SELECT * FROM {self.name} ORDER BY {', '.join(self.key)}"

    @cached_property
    def select_values(self) -> str:
        """The statement that reads all rows by key, without their checksums."""
        return self.select.replace("*", ", ".join(self.columns))

    def seal(self, rows: Iterable[Iterable[Any]]) -> list[Row]:
        """Rows as SQLite gives them back, each with its checksum."""
        given = zip(zip(*rows, strict=True), self.columns.values(), strict=False)
        columns = [_as_stored(values, PYTHON[kind]) for values, kind in given]
        checksums = self.checksums(columns)
        if None in checksums:
            wrong = checksums.index(None)
            raise ValueError(
                f"Expected a value for each of {', '.join(self.columns)} in {self.name}, got "
                f"{tuple(column[wrong] for column in columns)!r:.200}."
            )
        return list(zip(*columns, checksums, strict=True))

    def find_sound(self, rows: Sequence[Row]) -> list[bool]:
        """Which rows that were read, with their checksums last, are as they were written."""
        *columns, stored = zip(*rows, strict=True) if rows else [()]
        pairs = zip(stored, self.checksums(columns), strict=True)
        sound = [checksum is not None and checksum == read for read, checksum in pairs]
        if self.json_column is not None:
            column = list(self.columns).index(self.json_column)
            sound = [right and _is_json(row[column]) for right, row in zip(sound, rows, strict=True)]
        return sound

    def checksums(self, columns: Sequence[Sequence[Any]]) -> list[int | None]:
        """A number of 64 bits for each row of these columns; None where a value is not of the type of its column.

        What is summed is the row as Python's ``ascii`` writes a list of it, blobs by their lengths and then as they
        are. A store may have 100,000 rows: all that have values of the same types are written by one pattern.
        """
        kinds = [set(map(type, column)) for column in columns]
        n_rows = len(columns[0]) if columns else 0
        rows_of_types: dict[tuple[type, ...], Any] = {}
        if all(len(kind) == 1 for kind in kinds) and n_rows:
            rows_of_types[tuple(kind.pop() for kind in kinds)] = range(n_rows)
        else:
            for row, types in enumerate(zip(*[map(type, column) for column in columns], strict=True)):
                rows_of_types.setdefault(types, []).append(row)
        checksums: list[int | None] = [None] * n_rows
        for types, rows in rows_of_types.items():
            pattern = _make_pattern(self, types)
            if pattern is None:
                continue
            alike = columns if len(rows) == n_rows else [[column[row] for row in rows] for column in columns]
            blobs = [column for column, kind in zip(alike, types, strict=True) if kind is bytes]
            plain = [map(len, column) if kind is bytes else column for column, kind in zip(alike, types, strict=True)]
            texts = map(pattern.__mod__, zip(*plain, *blobs, strict=True))
            digests = b"".join([blake2b(text, digest_size=8).digest() for text in texts])
            for row, checksum in zip(rows, np.frombuffer(digests, "<i8").tolist(), strict=True):
                checksums[row] = checksum
        return checksums


def _as_stored(values: Sequence[Any], kind: type) -> Sequence[Any]:
    """The values of a column as SQLite gives them back."""
    if set(map(type, values)) == {kind} and not (kind is float and math.isnan(sum(values))):
        return values
    return [None if value is None or value != value else kind(value) for value in values]


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


@cache
def _make_pattern(table: Table, types: tuple[type, ...]) -> bytes | None:
    """The pattern by which rows with values of these types are written; None if they cannot be in the table."""
    columns = zip(types, table.columns.items(), strict=True)
    if any(
        given is not PYTHON[kind] and not (given is NoneType and name in table.optional)
        for given, (name, kind) in columns
    ):
        return None
    values = ", ".join("(%d,)" if given is bytes else "%a" for given in types)
    return f"[{table.name!a}, {values}]{'%b' * types.count(bytes)}".encode()


def add_checksums(checksums: Iterable[int], total: int = 0) -> int:
    """A total and the sum of checksums, within 64 bits."""
    return (total + sum(checksums) + 2**63) % 2**64 - 2**63


META = Table("meta", "key TEXT, value TEXT", json_column="value", recomputable=False)
FAMILIES = Table("families", "family TEXT, selector TEXT", json_column="selector", recomputable=False)
ORDERINGS = Table(
    "orderings",
    "ordering INTEGER, family TEXT, settings TEXT, sizes TEXT, keep TEXT",
    json_column="settings",
    recomputable=False,
)
CANDIDATES = Table(
    "candidates",
    "candidate INTEGER, name TEXT, family TEXT, settings TEXT, ordering INTEGER, size INTEGER",
    optional=("ordering", "size"),
    json_column="settings",
    recomputable=False,
)
SPLITS = Table(
    "splits",
    "split INTEGER, label TEXT, seed INTEGER, block INTEGER, fraction REAL, measured INTEGER, n_train INTEGER, "
    "n_rows INTEGER, n_test INTEGER, rows BLOB, counts BLOB, test BLOB",
    optional=("counts",),
)
ORDERS = Table(
    "orders",
    "ordering INTEGER, split INTEGER, smallest INTEGER, complete INTEGER, columns BLOB, kind TEXT, whole BLOB",
    n_key=2,
    optional=("kind", "whole"),
)
OUTCOMES = Table(
    "outcomes",
    "candidate INTEGER, split INTEGER, kind TEXT, preference BLOB, predictions BLOB, scores BLOB, coefficients BLOB, "
    "seconds REAL, score_seconds REAL, note TEXT",
    n_key=2,
    optional=("preference", "predictions", "scores", "coefficients"),
)
BASELINES = Table("baselines", "split INTEGER, strategy TEXT, metric TEXT, value REAL", n_key=3, optional=("value",))
FAILURES = Table("failures", "candidate INTEGER, split INTEGER, stage TEXT, error TEXT, traceback TEXT", n_key=2)
EFFECTS = Table("effects", "family TEXT, split INTEGER, features BLOB, effects BLOB", n_key=2)
QUANTILES = Table("quantiles", "family TEXT, feature INTEGER, quantiles BLOB", n_key=2)
MEMBERS = Table("members", "candidate INTEGER, split INTEGER, columns TEXT", n_key=2, json_column="columns")
SESSIONS = Table(
    "sessions",
    "session INTEGER, started TEXT, ended TEXT, n_jobs INTEGER, versions TEXT",
    optional=("ended", "n_jobs"),
    json_column="versions",
)
TABLES: Mapping[str, Table] = {
    table.name: table
    for table in (
        META, FAMILIES, ORDERINGS, CANDIDATES, SPLITS, ORDERS, OUTCOMES, BASELINES, FAILURES, EFFECTS,
        QUANTILES, MEMBERS, SESSIONS,
    )
}  # fmt: skip
"""All that a store holds; another table is one more declaration here."""

TOTALS = Table("totals", "name TEXT, n INTEGER, total INTEGER")
ADDED = (MEMBERS.name,)
"""Tables that older stores lack."""


def make_tables(connection: sqlite3.Connection, names: Collection[str] | None = None) -> None:
    """Make these tables, at once; all of them in an empty file unless named."""
    made = [*TABLES, TOTALS.name] if names is None else names
    connection.execute("BEGIN IMMEDIATE")
    for table in (*TABLES.values(), TOTALS):
        if table.name in made:
            connection.execute(_define(table))
    connection.executemany(TOTALS.insert, TOTALS.seal((name, 0, 0) for name in TABLES if name in made))
    connection.execute("COMMIT")


def _define(table: Table, temporary: str = "") -> str:
    """The statement that makes a table."""
    form = "" if [table.columns[name] for name in table.key] == ["INTEGER"] else " WITHOUT ROWID"
    columns = f"{table.definition}, checksum INTEGER, PRIMARY KEY ({', '.join(table.key)})"
    return f"CREATE {temporary} TABLE {table.name} ({columns}){form}"


def complete_tables(connection: sqlite3.Connection, *, write: bool) -> None:
    """Make the tables that an older store lacks: in its file, or for the time that it is read."""
    known = {name for _, name, *_ in read_schema(connection)}
    for name in ADDED:
        if name not in known and write:
            make_tables(connection, [name])
        elif name not in known:
            connection.execute(_define(TABLES[name], "TEMP"))


def read_schema(connection: sqlite3.Connection) -> set[Row]:
    """What SQLite knows of the tables of a file, indices, views and triggers included."""
    try:
        return set(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"))
    except UnicodeDecodeError:  # SQLite quotes damaged names in its message
        raise sqlite3.DatabaseError("its tables have lost their names") from None


@cache
def expected_schemas() -> list[set[Row]]:
    """What SQLite knows of the tables of a store, and of an older one."""
    schemas = []
    for names in ((*TABLES, TOTALS.name), (*(name for name in TABLES if name not in ADDED), TOTALS.name)):
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
            make_tables(connection, names)
            schemas.append(read_schema(connection))
    return schemas


# Rows


def pack_rows(rows: NDArray[Any] | None) -> bytes | None:
    """Compress row numbers; few are only wrapped, as compressing them takes longer than storing them."""
    if rows is None:
        return None
    raw = rows.astype("<i4").tobytes()
    if len(raw) >= FEW_BYTES:
        return zlib.compress(raw, 1)
    return WRAPPED.pack(b"\x78\x01\x01", len(raw), len(raw) ^ 0xFFFF) + raw + CHECK.pack(zlib.adler32(raw))


def unpack_rows(blob: bytes, n: int) -> NDArray[np.int64]:
    """Return ``n`` compressed row numbers; no more than these are ever unpacked."""
    return np.frombuffer(inflate(blob, n, "row numbers"), "<i4").astype(np.int64)


def unpack_weights(blob: bytes, n: int) -> NDArray[np.float64]:
    """Return ``n`` compressed ranks or weights; no more than these are ever unpacked."""
    return np.frombuffer(inflate(blob, n, "ranks or weights"), "<f4").astype(np.float64)


def inflate(blob: bytes, n: int, what: str) -> bytes:
    """The ``n`` compressed numbers of 32 bits, unpacked; no more than these ever are."""
    inflate = zlib.decompressobj()
    try:
        raw = inflate.decompress(blob, 4 * n + 1)
    except zlib.error:
        raw = b""
    if len(raw) != 4 * n or not inflate.eof:
        raise ValueError(f"Expected {n} compressed {what}, got something else.")
    return raw


def split_row(split: Split) -> Row:
    """The row of a split."""
    return (
        split.index, split.label, split.seed, int(split.block), split.fraction, split.measured,
        int(split.rows.size if split.counts is None else split.counts.sum()), split.rows.size, split.test.size,
        pack_rows(split.rows), pack_rows(split.counts), pack_rows(split.test),
    )  # fmt: skip


def outcome_rows(outcomes: Iterable[Outcome]) -> Iterator[Row]:
    """What the rows of outcomes hold after candidate and split."""
    for _, _, _, seconds, score, kind, values, _ in outcomes:
        preference = predictions = scores = coefficients = None
        if values is not None and kind == "subset":
            preference = (values if is_rising(values) else np.unique(values)).astype("<i4", copy=False).tobytes()
        elif values is not None:
            preference = values.astype("<f8").tobytes()
        if score.predictions is not None:
            predictions = score.predictions.tobytes()
        if score.scores:
            scores = struct.pack(f"<{len(score.scores)}d", *score.scores.values())
        if score.coefficients is not None:
            coefficients = score.coefficients.astype("<f4", copy=False).tobytes()
        yield kind, preference, predictions, scores, coefficients, seconds, score.seconds, score.note


def order_rows(split_order: SplitOrder, ids: Sequence[Ids]) -> list[Row]:
    """The order of a split, under each number that candidates know it by."""
    order, whole = split_order.order, split_order.order.whole
    stored = (None, None) if whole is None else (whole.kind, zlib.compress(whole.values.astype("<f4").tobytes(), 1))
    columns = order.columns.astype("<i4", copy=False).tobytes()
    numbers = dict.fromkeys(ids[candidate][1] for candidate in split_order.candidates)
    return [(number, split_order.split, order.smallest, order.complete, columns, *stored) for number in numbers]


def estimate_bytes(finished: Iterable[BlockResult], splits: Sequence[Split]) -> int:
    """About how much room outcomes, orders and splits take in a store."""
    rows = [split_row(split) for split in splits]
    for part in finished:
        rows += outcome_rows(part.outcomes)
        rows += map(pack_effects, part.effects)
        rows += [row for order in part.orders for row in order_rows(order, [(0, 0)] * (1 + max(order.candidates)))]
    numbers = 60  # keys, times, scores and checksums of a row, and what SQLite adds
    return sum(numbers + sum(len(item) for item in row if isinstance(item, bytes)) for row in rows)
