"""Reading a store: all tables of one moment, with what is damaged in them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.declared import About
from holdfast.io.record import DataRecord
from holdfast.serialization import from_plain
from holdfast.study.store.checking import (
    Checks,
    check_tables,
    refuse_damage,
    refuse_unusable,
    take_tables,
)  # fmt: skip
from holdfast.study.store.meta import parse_meta
from holdfast.study.store.opening import explain_errors, open_to_count, open_to_read
from holdfast.study.store.store import Store, StoreError


def read_tables(store: Store) -> Checks:
    """Read all tables of one moment, with what is damaged in them."""
    with one_moment(store):
        return check_tables(store.connection)


@contextmanager
def one_moment(store: Store) -> Iterator[None]:
    """Read a store as it is now, whatever is written meanwhile."""
    store.connection.execute("BEGIN")
    try:
        yield
    finally:
        if store.connection.in_transaction:
            store.connection.execute("ROLLBACK")  # nothing was written, and a damaged file cannot commit even that


def read_sound_tables(store: Store) -> tuple[Checks, dict[str, Any]]:
    """Read all tables of one moment, and the facts kept by name; raise if anything is damaged."""
    with explain_errors(store.path or Path(":memory:")):
        checks = read_tables(store)
    refuse_damage(checks, store.path, store.fault)
    return checks, _meta_of_study(checks, store.path)


def read_own_tables(store: Store) -> tuple[Checks, dict[str, Any]]:
    """Read all tables of a store that this process has opened, checked and written, without checking them again."""
    checks = take_tables(store.connection)
    return checks, _meta_of_study(checks, store.path)


def read_meta(path: str | Path) -> dict[str, Any]:
    """Read what a store says of its study, whatever happened to the outcomes."""
    with open_to_read(path) as store, explain_errors(Path(path)):
        checks = check_tables(store.connection, ("meta", "families", "candidates"))
        refuse_unusable(checks, path)
        return {**_meta_of_study(checks, store.path), "n_splits": store.n_splits}


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
    with open_to_read(path) as store, explain_errors(Path(path)):
        checks = check_tables(store.connection, ("meta", "families", "candidates"))
        if not checks["meta"].rows:
            return None
        refuse_unusable(checks, path)
        candidates: dict[str, list[str]] = {}
        for _, name, family, *_ in checks["candidates"].rows:
            candidates.setdefault(family, []).append(name)
        plan = _meta_of_study(checks, store.path)["plan"]
        return StoredPlan(plan, dict(checks["families"].rows), candidates, store.progress()[0], store.n_splits)


class Progress(NamedTuple):
    """How far the study in a store has come.

    Of ``total`` fits, ``n_splits`` of each of ``n_candidates``, ``done`` have ended, ``failed`` of them with an error.
    The last session ``started`` and ``ended`` at these times (UTC, ISO 8601); one that runs, or was cut short, has no
    end.
    """

    done: int
    failed: int
    total: int
    n_splits: int
    n_candidates: int
    started: str | None
    ended: str | None


def read_progress(path: str | Path) -> Progress:
    """Count how far a study has come, also while it is written, without reading or checking what it found.

    All numbers are of one moment. A file that a study only began to make has none of anything.
    """
    with open_to_count(path) as store, explain_errors(Path(path)):
        if store is None:
            return Progress(0, 0, 0, 0, 0, None, None)
        with one_moment(store):
            counts, (done, total) = store.counts(), store.progress()
            return Progress(
                done, counts["failures"], total, counts["splits"], counts["candidates"], *store.last_session()
            )


class Overview(NamedTuple):
    """What a study is about, from a few facts of its store.

    ``selectors`` are what is told of each family by name, ``command`` how the command line began it.
    """

    data: DataRecord
    selectors: dict[str, About | None]
    command: dict[str, Any] | None


def read_overview(path: str | Path) -> Overview | None:
    """Read what a study is about, in a millisecond and also while it is written; None if that is not there yet."""
    with open_to_count(path) as store, explain_errors(Path(path)):
        if store is None:
            return None
        with one_moment(store):
            facts, families = store.facts("data_record", "declared", "command"), store.families()
    if not {"data_record", "declared"} <= set(facts):
        return None
    told = {name: About.from_dict(values) for name, values in facts["declared"]["selectors"].items()}
    data = from_plain(DataRecord, facts["data_record"])
    return Overview(data, {name: told.get(name) for name in families}, facts.get("command"))


def _meta_of_study(checks: Checks, path: Path | None) -> dict[str, Any]:
    meta = parse_meta(checks["meta"])
    if "plan" not in meta:
        raise StoreError(f"Expected a study in {path}, got a store that was never begun.")
    return meta
