"""Reading a store: all tables of one moment, or a few facts of a study that is being written."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from holdfast.declared import About
from holdfast.io.record import DataRecord
from holdfast.serialization import from_plain
from holdfast.study.store import checking
from holdfast.study.store.checking import Checks
from holdfast.study.store.opening import explain_errors, open_to_count, open_to_read
from holdfast.study.store.schema import META
from holdfast.study.store.store import Store, StoreError

State = Literal["sound", "damaged", "unusable"]


@contextmanager
def snapshot(store: Store) -> Iterator[None]:
    """Read a store as it is now, whatever is written meanwhile."""
    store.connection.execute("BEGIN")
    try:
        yield
    finally:
        if store.connection.in_transaction:
            store.connection.execute("ROLLBACK")  # nothing was written, and a damaged file cannot commit even that


def read_tables(store: Store, *, own: bool) -> tuple[Checks, dict[str, Any]]:
    """Read all tables of one moment, and the facts kept by name; raise if anything is damaged.

    What this process has opened, checked and written as its own is not checked again.
    """
    if own:
        checks = checking.take_tables(store.connection)
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

    ``selectors`` are texts of JSON by family, ``candidates`` the names of each family's; ``done`` are fits that ended.
    """

    plan: dict[str, Any]
    selectors: dict[str, str]
    candidates: dict[str, list[str]]
    done: int
    n_splits: int


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
        return StoredPlan(plan, dict(checks["families"].rows), candidates, store.progress()[0], store.n_splits)


class Progress(NamedTuple):
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


def read_progress(path: str | Path) -> Progress:
    """Count how far a study has come, also while it is written, without reading or checking what it found.

    All numbers are of one moment. A file that a study only began to make has none of anything.
    """
    with open_to_count(path) as store:
        if store is None:
            return Progress()
        with snapshot(store):
            counts, (done, total) = store.counts(), store.progress()
            last = store.connection.execute("SELECT started, ended FROM sessions ORDER BY session DESC").fetchone()
            return Progress(done, counts["failures"], total, counts["splits"], counts["candidates"], *(last or ()))


class Overview(NamedTuple):
    """What a study is about, from a few facts of its store.

    ``selectors`` are what is told of each family by name, ``command`` how the command line began it.
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
            rows = [row[:2] for row in store.connection.execute(wanted) if META.is_sound(row)]
            by_number = "SELECT family FROM candidates GROUP BY family ORDER BY min(candidate)"
            families = [family for (family,) in store.connection.execute(by_number)]
    stored = checking.parse_meta(rows)
    facts = {key: value for key, value in stored.items() if checking.is_possible_fact(key, stored)}
    if not {"plan", "data_record", "declared"} <= set(facts):
        return None
    told = {name: About.from_dict(values) for name, values in facts["declared"]["selectors"].items()}
    data = from_plain(DataRecord, facts["data_record"])
    return Overview(data, {name: told.get(name) for name in families}, facts.get("command"))


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
