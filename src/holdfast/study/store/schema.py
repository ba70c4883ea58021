"""The tables of a store, each declared once: how it is made, written, and read back with a checksum for every row.

A checksum covers all columns of a row and the name of its table, so a changed value, a changed key and a row in the
wrong table are noticed. ``totals`` counts the rows of every other table and adds up their checksums, so vanished rows
are noticed too.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import Any

FORMAT = 4
Row = tuple[Any, ...]
PYTHON: Mapping[str, type] = {"INTEGER": int, "REAL": float, "TEXT": str, "BLOB": bytes}


@dataclass(frozen=True, eq=False)
class Table:
    """A table of a store.

    Attributes
    ----------
    name : str
        Its name.
    columns : mapping from str to str
        The type of each column: INTEGER, REAL, TEXT or BLOB.
    key : tuple of str
        The columns that tell its rows apart.
    optional : tuple of str
        The columns that may be empty: NULL, as which SQLite also keeps nan.
    recomputable : bool
        Whether a resumed study computes lost rows again; without the rows of other tables a store cannot be used.
    """

    name: str
    columns: Mapping[str, str]
    key: tuple[str, ...]
    optional: tuple[str, ...] = ()
    recomputable: bool = True

    @property
    def create(self) -> str:
        """The statement that makes the table."""
        columns = ", ".join(f"{name} {kind}" for name, kind in self.columns.items())
        numbered = [self.columns[name] for name in self.key] == ["INTEGER"]
        form = "" if numbered else " WITHOUT ROWID"
        return f"CREATE TABLE {self.name} ({columns}, checksum INTEGER, PRIMARY KEY ({', '.join(self.key)})){form}"

    @cached_property
    def insert(self) -> str:
        """The statement that writes one row."""
        return f"INSERT INTO {self.name} VALUES ({', '.join('?' * (len(self.columns) + 1))})"

    @property
    def select(self) -> str:
        """The statement that reads all rows, with their checksums last."""
        return f"SELECT {', '.join(self.columns)}, checksum FROM {self.name} ORDER BY {', '.join(self.key)}"

    @property
    def select_values(self) -> str:
        """The statement that reads all rows, without their checksums."""
        return f"SELECT {', '.join(self.columns)} FROM {self.name} ORDER BY {', '.join(self.key)}"

    @property
    def select_backwards(self) -> str:
        """The same from the end."""
        return f"SELECT {', '.join(self.columns)}, checksum FROM {self.name} ORDER BY {' DESC, '.join(self.key)} DESC"

    @property
    def has_key(self) -> str:
        """The condition that finds one row."""
        return " AND ".join(f"{name} = ?" for name in self.key)

    def places(self, *columns: str) -> list[int]:
        """Where these columns stand in a row."""
        names = list(self.columns)
        return [names.index(name) for name in columns]

    @cached_property
    def _key_places(self) -> list[int]:
        return self.places(*self.key)

    def get_key(self, row: Row) -> Row:
        """The values of a row that tell it apart."""
        return tuple(row[place] for place in self._key_places)

    @cached_property
    def _converters(self) -> list[Callable[[Any], Any]]:
        return [PYTHON[kind] for kind in self.columns.values()]

    def with_checksum(self, values: Sequence[Any]) -> Row:
        """A row as SQLite gives it back, with its checksum."""
        row = tuple(
            [
                None if value is None or value != value else convert(value)
                for convert, value in zip(self._converters, values, strict=True)
            ]
        )
        if not self._may_hold(tuple(map(type, row))):
            raise ValueError(
                f"Expected a value for each of {', '.join(self.columns)} in {self.name}, got {row!r:.200}."
            )
        return (*row, self.checksum(row))

    def _may_hold(self, types: tuple[type, ...]) -> bool:
        if types not in self._known_types:
            self._known_types[types] = self.has_types(types)
        return self._known_types[types]

    @cached_property
    def _known_types(self) -> dict[tuple[type, ...], bool]:
        return {}

    @cached_property
    def _blob_places(self) -> list[int]:
        return self.places(*(name for name, kind in self.columns.items() if kind == "BLOB"))

    def checksum(self, row: Row) -> int:
        """A number of 64 bits that changes with every value of a row, and with its type."""
        plain, blobs = [self.name, *row], []
        for place in self._blob_places:  # as they are: written as text they would take four times as long
            if type(row[place]) is bytes:
                blobs.append(row[place])
                plain[place + 1] = (len(row[place]),)
        raw = b"".join([ascii(plain).encode(), *blobs])
        return int.from_bytes(blake2b(raw, digest_size=8).digest(), "little", signed=True)

    @cached_property
    def _types(self) -> list[tuple[type, ...]]:
        return [
            (PYTHON[kind], type(None)) if name in self.optional else (PYTHON[kind],)
            for name, kind in self.columns.items()
        ]

    def is_sound(self, row: Row) -> bool:
        """Whether a row that was read is the one that was written."""
        return row[-1] == self.checksum(row[:-1])

    def has_types(self, types: tuple[type, ...]) -> bool:
        """Whether values of these types may stand in a row."""
        return all(kind in allowed for kind, allowed in zip(types, self._types, strict=True))


def wrap_sum(total: int, change: int) -> int:
    """The sum of checksums, kept within 64 bits."""
    return (total + change + 2**63) % 2**64 - 2**63


META = Table("meta", {"key": "TEXT", "value": "TEXT"}, ("key",), recomputable=False)
FAMILIES = Table("families", {"family": "TEXT", "selector": "TEXT"}, ("family",), recomputable=False)
ORDERINGS = Table(
    "orderings",
    {"ordering": "INTEGER", "family": "TEXT", "settings": "TEXT", "sizes": "TEXT", "keep": "TEXT"},
    ("ordering",),
    recomputable=False,
)
CANDIDATES = Table(
    "candidates",
    {
        "candidate": "INTEGER", "name": "TEXT", "family": "TEXT", "settings": "TEXT", "ordering": "INTEGER",
        "size": "INTEGER",
    },
    ("candidate",),
    optional=("ordering", "size"),
    recomputable=False,
)  # fmt: skip
SPLITS = Table(
    "splits",
    {
        "split": "INTEGER", "label": "TEXT", "seed": "INTEGER", "block": "INTEGER", "fraction": "REAL",
        "measured": "INTEGER", "n_train": "INTEGER", "n_rows": "INTEGER", "n_test": "INTEGER", "rows": "BLOB",
        "counts": "BLOB", "test": "BLOB",
    },
    ("split",),
    optional=("counts",),
)  # fmt: skip
ORDERS = Table(
    "orders",
    {
        "ordering": "INTEGER", "split": "INTEGER", "smallest": "INTEGER", "complete": "INTEGER", "columns": "BLOB",
        "kind": "TEXT", "whole": "BLOB",
    },
    ("ordering", "split"),
    optional=("kind", "whole"),
)  # fmt: skip
OUTCOMES = Table(
    "outcomes",
    {
        "candidate": "INTEGER", "split": "INTEGER", "kind": "TEXT", "preference": "BLOB", "predictions": "BLOB",
        "scores": "BLOB", "coefficients": "BLOB", "seconds": "REAL", "score_seconds": "REAL", "note": "TEXT",
    },
    ("candidate", "split"),
    optional=("preference", "predictions", "scores", "coefficients"),
)  # fmt: skip
BASELINES = Table(
    "baselines",
    {"split": "INTEGER", "strategy": "TEXT", "metric": "TEXT", "value": "REAL"},
    ("split", "strategy", "metric"),
    optional=("value",),
)
FAILURES = Table(
    "failures",
    {"candidate": "INTEGER", "split": "INTEGER", "stage": "TEXT", "error": "TEXT", "traceback": "TEXT"},
    ("candidate", "split"),
)
EFFECTS = Table(
    "effects",
    {"family": "TEXT", "split": "INTEGER", "features": "BLOB", "effects": "BLOB"},
    ("family", "split"),
)
QUANTILES = Table("quantiles", {"family": "TEXT", "feature": "INTEGER", "quantiles": "BLOB"}, ("family", "feature"))
SESSIONS = Table(
    "sessions",
    {"session": "INTEGER", "started": "TEXT", "ended": "TEXT", "n_jobs": "INTEGER", "versions": "TEXT"},
    ("session",),
    optional=("ended", "n_jobs"),
)
TABLES: Mapping[str, Table] = {
    table.name: table
    for table in (
        META, FAMILIES, ORDERINGS, CANDIDATES, SPLITS, ORDERS, OUTCOMES, BASELINES, FAILURES, EFFECTS,
        QUANTILES, SESSIONS,
    )
}  # fmt: skip
"""All that a store holds; a table of one's own is one more declaration here."""

TOTALS = Table("totals", {"name": "TEXT", "n": "INTEGER", "total": "INTEGER"}, ("name",))


def make_tables(connection: sqlite3.Connection) -> None:
    """Make all tables in an empty file, at once."""
    empty = [TOTALS.with_checksum((name, 0, 0)) for name in TABLES]
    connection.execute("BEGIN IMMEDIATE")
    for table in (*TABLES.values(), TOTALS):
        connection.execute(table.create)
    connection.executemany(TOTALS.insert, empty)
    connection.execute("COMMIT")


def read_schema(connection: sqlite3.Connection) -> set[Row]:
    """What SQLite knows of the tables of a file, indices, views and triggers included."""
    try:
        return set(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"))
    except UnicodeDecodeError:  # SQLite quotes damaged names in its message
        raise sqlite3.DatabaseError("its tables have lost their names") from None


@lru_cache(maxsize=1)
def expected_schema() -> set[Row]:
    """What SQLite knows of the tables of a store."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    make_tables(connection)
    schema = read_schema(connection)
    connection.close()
    return schema
