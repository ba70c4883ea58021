"""The SQLite file of a study: the only place with SQL, and the only user of sqlite3.

``schema`` declares the tables, ``packing`` makes rows, ``store`` writes them, ``checking`` and ``meta`` tell sound rows
from damaged ones, ``locking`` says who may write, ``opening`` opens, ``reading`` reads all of one moment, ``mending``
drops what is damaged so that it is recomputed.
"""

from holdfast.study.store.checking import Checks, TableCheck
from holdfast.study.store.mending import Verification, mend, verify
from holdfast.study.store.opening import copy_store, find_writer, is_database, open_to_read, open_to_write
from holdfast.study.store.packing import estimate_bytes, pack_rows, unpack_rows, unpack_weights
from holdfast.study.store.reading import (
    Overview,
    Progress,
    StoredPlan,
    read_meta,
    read_overview,
    read_own_tables,
    read_plan,
    read_progress,
    read_sound_tables,
)
from holdfast.study.store.store import LockedStoreError, OtherStudyError, Store, StoreError, UnwritableStoreError

__all__ = [
    "Checks",
    "LockedStoreError",
    "OtherStudyError",
    "Overview",
    "Progress",
    "Store",
    "StoreError",
    "StoredPlan",
    "TableCheck",
    "UnwritableStoreError",
    "Verification",
    "copy_store",
    "estimate_bytes",
    "find_writer",
    "is_database",
    "mend",
    "open_to_read",
    "open_to_write",
    "pack_rows",
    "read_meta",
    "read_overview",
    "read_own_tables",
    "read_plan",
    "read_progress",
    "read_sound_tables",
    "unpack_rows",
    "unpack_weights",
    "verify",
]
