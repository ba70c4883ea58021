"""Reading a store: all tables of one moment, with what is damaged in them."""

from pathlib import Path
from typing import Any

from holdfast.study.store.checking import (
    Checks,
    check_tables,
    refuse_damage,
    refuse_unusable,
    take_tables,
)  # fmt: skip
from holdfast.study.store.meta import parse_meta
from holdfast.study.store.opening import explain_errors, open_to_read
from holdfast.study.store.store import Store, StoreError


def read_tables(store: Store) -> Checks:
    """Read all tables of one moment, with what is damaged in them."""
    store.connection.execute("BEGIN")
    try:
        return check_tables(store.connection)
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


def _meta_of_study(checks: Checks, path: Path | None) -> dict[str, Any]:
    meta = parse_meta(checks["meta"])
    if "plan" not in meta:
        raise StoreError(f"Expected a study in {path}, got a store that was never begun.")
    return meta
