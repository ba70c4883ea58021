"""The SQLite file of a study: the only place with SQL, and the only user of sqlite3.

From the outside in: ``opening`` lets one process write and any number read, and reads what a study knows, whole or in
part, and verifies it, ``store`` writes it, ``checking`` finds damaged rows and drops them
so that they are recomputed, ``schema`` declares the tables and makes their rows.
"""

from holdfast.study.store.checking import Checks as Checks
from holdfast.study.store.checking import repair as repair
from holdfast.study.store.opening import Overview as Overview
from holdfast.study.store.opening import StoredPlan as StoredPlan
from holdfast.study.store.opening import StoreProgress as StoreProgress
from holdfast.study.store.opening import copy_store as copy_store
from holdfast.study.store.opening import find_writer as find_writer
from holdfast.study.store.opening import holds_lock as holds_lock
from holdfast.study.store.opening import is_database as is_database
from holdfast.study.store.opening import open_to_read as open_to_read
from holdfast.study.store.opening import open_to_write as open_to_write
from holdfast.study.store.opening import read_meta as read_meta
from holdfast.study.store.opening import read_overview as read_overview
from holdfast.study.store.opening import read_plan as read_plan
from holdfast.study.store.opening import read_progress as read_progress
from holdfast.study.store.opening import read_tables as read_tables
from holdfast.study.store.opening import verify as verify
from holdfast.study.store.schema import Row as Row
from holdfast.study.store.schema import estimate_bytes as estimate_bytes
from holdfast.study.store.schema import pack_rows as pack_rows
from holdfast.study.store.schema import unpack_rows as unpack_rows
from holdfast.study.store.schema import unpack_weights as unpack_weights
from holdfast.study.store.store import LockedStoreError as LockedStoreError
from holdfast.study.store.store import OtherStudyError as OtherStudyError
from holdfast.study.store.store import Store as Store
from holdfast.study.store.store import StoreError as StoreError
from holdfast.study.store.store import UnwritableStoreError as UnwritableStoreError
