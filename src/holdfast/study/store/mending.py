"""Verifying a store, and dropping what is damaged so that a resumed study recomputes it."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from holdfast.study.store.checking import (
    Checks,
    check_tables,
    describe_damage,
    refuse_damage,
    refuse_unusable,
)  # fmt: skip
from holdfast.study.store.opening import explain_errors, open_to_read
from holdfast.study.store.reading import read_tables
from holdfast.study.store.schema import BASELINES, META, Row, Table
from holdfast.study.store.store import Store, StoreError

State = Literal["sound", "damaged", "unusable"]


def mend(store: Store) -> bool:
    """Drop what is damaged, so that it is recomputed, and warn of that; return whether there was anything."""
    with store.transaction():
        checks = check_tables(store.connection)
        refuse_unusable(checks, store.path)
        lost = describe_damage(checks)
        if lost:
            store.rewrite(_sound_rows(checks))
    if lost:
        warnings.warn(
            f"The store {store.path} was damaged ({'; '.join(lost)}); what belongs to this study is recomputed.",
            UserWarning,
            stacklevel=3,
        )
    return bool(lost)


def _sound_rows(checks: Checks) -> dict[Table, list[Row]]:
    """What is left of the tables that can be recomputed, and of the plan: a fit is whole, or it is run again."""
    fit_checks = [check for check in checks.values() if check.table.key[:2] == ("candidate", "split")]
    lost = {row[:2] for check in fit_checks for row in check.damaged}
    failed = {row[:2] for row in checks["failures"].rows}
    if not checks["failures"].is_sound:
        lost |= _unscored(checks) - failed
    remaining = {check.table: [row for row in check.rows if row[:2] not in lost] for check in fit_checks}
    others = {
        check.table: check.rows
        for check in checks.values()
        if check.table.recomputable and check.table not in remaining
    }
    others[META] = checks["meta"].rows
    if not checks["baselines"].is_sound:  # all of them: a split that has some counts as done
        others[BASELINES] = []
    return {**others, **remaining}


def _unscored(checks: Checks) -> set[Row]:
    """Fits without scores: a lost failure does not tell whose it was."""
    (place,) = checks["outcomes"].table.places("scores")
    return {row[:2] for row in checks["outcomes"].rows if row[place] is None}


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
    with open_to_read(path) as store, explain_errors(Path(path)):
        checks = read_tables(store)
    state: State = "unusable"
    message = ""
    try:
        refuse_unusable(checks, path)
        state = "damaged"
        refuse_damage(checks, path, store.fault)
        state = "sound"
    except StoreError as error:
        message = str(error)
    tables = {
        name: {"sound": len(check.rows), "damaged": len(check.damaged), "missing": max(check.missing, 0)}
        for name, check in checks.items()
    }
    return Verification(path=Path(path), state=state, tables=tables, message=message)
