"""Sound and damaged rows of a store, distinguished by checksums, totals and content; damaged ones are dropped."""

import json
import sqlite3
import warnings
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from holdfast.declared import is_about
from holdfast.io.record import DataRecord
from holdfast.kernels.effects import effect_width
from holdfast.preferences import Kind
from holdfast.resampling.split import Design
from holdfast.serialization import from_plain
from holdfast.study.store.schema import (
    BASELINES,
    FORMAT,
    META,
    TABLES,
    TOTALS,
    Row,
    Table,
    unpack_rows,
    unpack_weights,
    wrap_sum,
)  # fmt: skip
from holdfast.study.store.store import Store, StoreError
from holdfast.study.work import QUANTILES, THIRDS

MOST_FEATURES = 2**31 - 1  # subsets are stored in 32 bits
MOST_REPEATS = 16  # held-out rows of a list of splits may repeat; a claim beyond this is not believed
MOST_VANISHED = 100_000  # a store that claims to have lost more splits is not believed
SHOWN = 5
Faulty = Sequence[bool] | NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class TableCheck:
    """A table that was read with its checksums.

    Attributes
    ----------
    table : Table
        Which one.
    rows : list of tuple
        The sound rows, ordered by their key, without checksums.
    damaged : list of tuple
        The others, as they were read.
    n : int or None
        How many rows there must be; None if that record is damaged.
    stale : bool
        Whether there are as many sound rows as there must be, but not those that were written last.
    """

    table: Table
    rows: list[Row]
    damaged: list[Row] = field(default_factory=list)
    n: int | None = None
    stale: bool = False

    @property
    def missing(self) -> int:
        """How many rows vanished; below 0 if there are more than were written."""
        return 0 if self.n is None else self.n - len(self.rows) - len(self.damaged)

    @property
    def is_sound(self) -> bool:
        """Whether all is as it was written."""
        return not (self.damaged or self.n is None or self.stale or self.missing)

    def without(self, faulty: Faulty) -> "TableCheck":
        """The same, with these rows among the damaged ones."""
        if not any(faulty):
            return self
        rows = [row for row, bad in zip(self.rows, faulty, strict=True) if not bad]
        more = [row for row, bad in zip(self.rows, faulty, strict=True) if bad]
        return replace(self, rows=rows, damaged=[*self.damaged, *more])


Checks = dict[str, TableCheck]


def take_tables(connection: sqlite3.Connection) -> Checks:
    """Read all tables as they are: those that this process has checked or written itself."""
    return {
        name: TableCheck(table=table, rows=[row[:-1] for row in connection.execute(table.select())])
        for name, table in TABLES.items()
    }


def check_tables(connection: sqlite3.Connection, names: Sequence[str] | None = None) -> Checks:
    """Read tables, and tell sound rows from damaged ones; what rows say of each other is checked if all are read."""
    totals = {row[0]: row[1:] for row in _read(connection, TOTALS, (None, None)).rows}
    checks = {name: _read(connection, TABLES[name], totals.get(name, (None, None))) for name in names or TABLES}
    for name, check in checks.items():
        checks[name] = check.without(faulty_meta(check.rows) if name == "meta" else _faulty_json(check))
    facts = _facts(checks) if names is None else None
    if facts is not None:
        for name, check in checks.items():
            checks[name] = check = check.without(_faulty_keys(check, facts))
            if name in CONTENTS:
                checks[name] = check = check.without(CONTENTS[name](check.rows, facts))
            if name == "orders":
                facts.orders.update({(row[0], row[1]): len(row[4]) // 4 for row in check.rows})
    return checks


def _read(connection: sqlite3.Connection, table: Table, known: Row) -> TableCheck:
    rows, damaged, total = [], [], 0
    for line in scan(connection, table):
        if table.is_sound(line):
            rows.append(line[:-1])
            total += line[-1]
        else:
            damaged.append(line[:-1])
    n, written = known
    stale = not damaged and n == len(rows) and wrap_sum(0, total) != written
    return TableCheck(table=table, rows=rows, damaged=damaged, n=n, stale=stale)


def scan(connection: sqlite3.Connection, table: Table) -> Iterator[Row]:
    """Yield all rows that can be read, with checksums: from the beginning, and from the end if damage stops that."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    seen: set[Row] = set()
    for order in ("", " DESC"):
        try:
            for row in islice(connection.execute(table.select(order)), pages * size // 4):  # no file has more rows
                if order and table.key_of(row) in seen:
                    return
                seen.add(table.key_of(row))
                yield row
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:
                raise
        else:
            return


# What rows say: checksums do not tell whether a store was made to harm

JSON_COLUMNS = {"families": 1, "orderings": 2, "candidates": 3, "sessions": 4}


def _faulty_json(check: TableCheck) -> Faulty:
    place = JSON_COLUMNS.get(check.table.name)
    return [] if place is None else [_parse(row[place]) is BROKEN for row in check.rows]


BROKEN = object()


def _parse(text: Any) -> Any:
    """What a text of JSON says; ``BROKEN`` if it is none."""
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return BROKEN


def parse_meta(check: TableCheck) -> dict[str, Any]:
    """The facts of a study that are kept by name."""
    return {key: json.loads(value) for key, value in check.rows}


def _is_data_record(value: Any) -> bool:
    try:
        from_plain(DataRecord, value)
    except (ValueError, TypeError):
        return False
    return True


def _are_about(values: Any) -> bool:
    return isinstance(values, dict) and all(map(is_about, values.values()))


META_CHECKS: dict[str, Callable[[Any, Mapping[str, Any]], bool]] = {
    "format": lambda value, _: isinstance(value, int),
    "plan": lambda value, _: (
        isinstance(value, dict)
        and {"data", "perturbation", "random_state", "estimator", "scoring"} <= set(value)
        and all(isinstance(value[part], dict) for part in ("scoring", "data", "perturbation"))
        and "perturbation" in value["perturbation"]
    ),
    "design": lambda value, _: value in get_args(Design),
    "declared": lambda value, _: (
        isinstance(value, dict)
        and isinstance(value.get("perturbation"), dict)
        and is_about(value["perturbation"])
        and all(_are_about(value.get(kind)) for kind in ("selectors", "scores"))
    ),
    "n_features": lambda value, _: isinstance(value, int) and 0 < value <= MOST_FEATURES,
    "names": lambda value, meta: value is None or (isinstance(value, list) and len(value) == meta.get("n_features")),
    "target": lambda value, meta: isinstance(value, list) and len(value) == meta["plan"]["data"].get("n_samples"),
    "classes": lambda value, _: value is None or isinstance(value, list),
    "data_record": lambda value, _: _is_data_record(value),
    "no_effects": lambda value, _: value is None or isinstance(value, str),
    "prefilter": lambda value, _: value is None or isinstance(value, str),
    "replicability": lambda value, _: (
        isinstance(value, dict) and all(isinstance(answer, dict) for answer in value.values())
    ),
    "command": lambda value, _: value is None or isinstance(value, dict),
}
"""What a reader takes for granted."""
OPTIONAL = frozenset({"replicability"})
"""What is computed again if it is lost."""
NEEDED = frozenset(META_CHECKS) - OPTIONAL
"""What a store must not lack."""


def faulty_meta(rows: Sequence[Row]) -> list[bool]:
    """Which facts are not what a reader takes for granted; without a plan, only itself can be judged."""
    meta = {key: _parse(value) for key, value in rows}
    judged = {"plan"} if not META_CHECKS["plan"](meta.get("plan"), meta) else set(META_CHECKS)
    return [meta[key] is BROKEN or (key in judged and not META_CHECKS[key](meta[key], meta)) for key, _ in rows]


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What rows of other tables must agree with."""

    n_samples: int
    n_features: int
    n_classes: int | None
    n_metrics: int
    n_candidates: int
    keys: Mapping[str, Container[Any]]  # what may stand in a column of a key
    n_tests: Mapping[int, int]  # of sound splits
    cuts: Mapping[int, tuple[int, int]]  # the ordering of each candidate that is a cut of one, and its size
    orders: dict[tuple[int, int], int] = field(default_factory=dict)  # of sound orders, their number of features


def _facts(checks: Checks) -> Facts | None:
    """What the sound rows say; None without a plan."""
    meta = parse_meta(checks["meta"])
    if not set(meta) >= NEEDED:
        return None
    splits, candidates = checks["splits"], checks["candidates"]
    n_splits = len(splits.rows) + len(splits.damaged) + min(max(splits.missing, 0), MOST_VANISHED)
    cuts = {row[0]: row[4:6] for row in candidates.rows if None not in row[4:6]}
    return Facts(
        n_samples=len(meta["target"]),
        n_features=meta["n_features"],
        n_classes=None if meta["classes"] is None else len(meta["classes"]),
        n_metrics=len(meta["plan"]["scoring"]),
        n_candidates=len(candidates.rows) + len(candidates.damaged),
        keys={
            "family": {row[0] for row in checks["families"].rows},
            "candidate": {row[0] for row in candidates.rows},
            "ordering": {ordering for ordering, _ in cuts.values()},
            "split": range(n_splits),
            "feature": range(meta["n_features"]),
        },
        n_tests={row[0]: row[8] for row in splits.rows},
        cuts=cuts,
    )


def _faulty_keys(check: TableCheck, facts: Facts) -> Faulty:
    """Rows of candidates, splits, families or features that are not there."""
    faulty = np.zeros(len(check.rows), dtype=bool)
    for place, name in enumerate(check.table.key if check.table.recomputable else ()):
        if name in facts.keys:
            known = facts.keys[name]
            faulty |= np.array([row[place] not in known for row in check.rows], dtype=bool)
    return faulty


def _is_split(row: Row, n_samples: int) -> bool:
    *_, n_train, n_rows, n_test, packed_rows, counts, test = row
    if not (0 < n_rows <= n_samples and 0 <= n_test <= MOST_REPEATS * n_samples):
        return False
    try:
        train, held = unpack_rows(packed_rows, n_rows), unpack_rows(test, n_test)
        times = np.ones(n_rows, np.int64) if counts is None else unpack_rows(counts, n_rows)
    except ValueError:
        return False
    in_range = all(0 <= rows.min(initial=0) <= rows.max(initial=0) < n_samples for rows in (train, held))
    ordered = (np.diff(train) > 0).all() and (np.diff(held) >= 0).all()
    return bool(in_range and ordered and times.min() > 0 and times.sum() == n_train)


def _faulty_orders(rows: Sequence[Row], facts: Facts) -> Faulty:
    """Orders that name a feature twice or one there is not, or whose weights are lost."""
    faulty = _faulty_columns([row[4] for row in rows], facts.n_features, ascending=False)
    for place, (_, _, smallest, _, _, kind, whole) in enumerate(rows):
        weights = kind in ("ranking", "weighting") and whole is not None and _are_weights(whole, facts.n_features)
        faulty[place] |= smallest < 1 or not (weights or (kind is None and whole is None))
    return faulty


def _are_weights(blob: bytes, n_features: int) -> bool:
    try:
        return unpack_weights(blob, n_features).size == n_features
    except ValueError:
        return False


def _faulty_outcomes(rows: Sequence[Row], facts: Facts) -> Faulty:
    subset = np.array([row[2] == "subset" and row[3] is not None for row in rows], dtype=bool)
    faulty = np.zeros(len(rows), dtype=bool)
    preferences = [row[3] for row, is_subset in zip(rows, subset, strict=True) if is_subset]
    faulty[subset] = _faulty_columns(preferences, facts.n_features, ascending=True)
    for place, (candidate, split, kind, preference, predictions, scores, coefficients, *_) in enumerate(rows):
        ordering, size = facts.cuts.get(candidate, (-1, 0))
        if preference is None:  # then it is a cut of an order
            faulty[place] |= kind != "subset" or (ordering, split) not in facts.orders
            n_selected = min(size, facts.orders.get((ordering, split), 0))
        else:
            faulty[place] |= kind not in get_args(Kind)
            faulty[place] |= kind != "subset" and len(preference) != 8 * facts.n_features
            n_selected = len(preference) // 4
        if scores is not None:
            faulty[place] |= len(scores) != 8 * facts.n_metrics
        if predictions is not None and split in facts.n_tests:
            faulty[place] |= not _are_predictions(predictions, facts.n_tests[split], facts.n_classes)
        if coefficients is not None:
            faulty[place] |= kind != "subset" or len(coefficients) != 4 * n_selected
    return faulty


def _faulty_effects(rows: Sequence[Row], facts: Facts) -> Faulty:
    """Effects of features there are not, or not as many as there must be; both have 4 bytes."""
    width = effect_width(facts.n_classes or 0)
    faulty = _faulty_columns([row[2] for row in rows], facts.n_features, ascending=True)
    return faulty | np.array([len(effects) != width * len(features) for *_, features, effects in rows], dtype=bool)


def _faulty_quantiles(rows: Sequence[Row], facts: Facts) -> Faulty:
    size = 8 * len(QUANTILES) * (len(THIRDS) if facts.n_classes is None else facts.n_classes)
    return [len(quantiles) != size for *_, quantiles in rows]


def _faulty_columns(blobs: Sequence[bytes], n_features: int, *, ascending: bool) -> NDArray[np.bool_]:
    """Which lists are no features, each once; if told so, in ascending order."""
    lengths = np.array([len(blob) for blob in blobs], dtype=np.int64)
    faulty = lengths % 4 != 0
    whole = np.flatnonzero(~faulty)
    indices = np.frombuffer(b"".join(blobs[place] for place in whole.tolist()), dtype="<i4")
    owner = np.repeat(whole, lengths[whole] // 4)
    faulty[owner[(indices < 0) | (indices >= n_features)]] = True
    if not ascending:
        by_column = np.lexsort([indices, owner])
        indices, owner = indices[by_column], owner[by_column]
    falls = (np.diff(indices.astype(np.int64)) <= 0) & (np.diff(owner) == 0)
    faulty[owner[1:][falls]] = True
    return faulty


def _are_predictions(blob: bytes, n_test: int, n_classes: int | None) -> bool:
    """Whether there is one prediction for each held-out row, of a class that there is."""
    size, rest = divmod(len(blob), n_test) if n_test else (0, 1)
    if rest or size not in ((8,) if n_classes is None else (1, 2, 4, 8)):
        return False
    return n_classes is None or int(np.frombuffer(blob, dtype=f"<u{size}").max()) < n_classes


CONTENTS: dict[str, Callable[[Sequence[Row], Facts], Faulty]] = {
    "candidates": lambda rows, facts: [not 1 <= row[0] <= facts.n_candidates for row in rows],
    "splits": lambda rows, facts: [not _is_split(row, facts.n_samples) for row in rows],
    "orders": _faulty_orders,
    "outcomes": _faulty_outcomes,
    "effects": _faulty_effects,
    "quantiles": _faulty_quantiles,
}


# What is lost, in words

WORDS = {"meta": "entries of the plan", "families": "selectors"}


def describe_damage(checks: Checks) -> list[str]:
    """What is lost, a phrase for each table that is not sound."""
    return [_describe(check, checks) for check in checks.values() if not check.is_sound]


def _describe(check: TableCheck, checks: Checks) -> str:
    name, lost = WORDS.get(check.table.name, check.table.name), len(check.damaged) + max(check.missing, 0)
    if check.n is None and not check.damaged:
        return f"the number of {name} is unreadable"
    if check.missing < 0:
        return f"{-check.missing:,} {name} too many"
    if check.stale:
        return f"outdated {name}"
    of = "" if check.n is None else f" of {check.n:,}"
    where = list(dict.fromkeys(_places(check, checks)))
    shown = ", ".join(where[:SHOWN]) + (", …" if len(where) > SHOWN or (where and check.missing) else "")
    return f"{lost:,}{of} {name} lost" + (f": {shown}" if shown else "")


def _places(check: TableCheck, checks: Checks) -> Iterator[str]:
    """Where the damaged rows stand, as far as their keys can be believed; without what a terminal would obey."""
    candidates, labels = (
        {row[0]: row[1] for row in checks[name].rows} if name in checks else {} for name in ("candidates", "splits")
    )
    for first, *rest in map(check.table.key_of, check.damaged):
        text = "" if check.table.recomputable else f"{first}"
        if check.table.key[:2] == ("candidate", "split") and first in candidates:
            text = f"{candidates[first]} on {labels.get(rest[0], f'split {rest[0]}')}"
        if text:
            yield "".join(letter if letter.isprintable() else "?" for letter in text[:60])


def refuse_damage(checks: Checks, path: Any, fault: str) -> None:
    """Raise if anything is lost or the file is faulty, and say what to do."""
    refuse_unusable(checks, path)
    lost = describe_damage(checks) or ([f"no row lost, but {fault}"] if fault else [])
    if lost:
        raise StoreError(
            f"The store {path} is damaged ({'; '.join(lost)}); run the study again with this store, or holdfast resume "
            f"{path}, to recompute what is lost (holdfast verify {path} shows what is sound)."
        )


def refuse_unusable(checks: Checks, path: Any) -> None:
    """Raise if something is lost that cannot be recomputed; of the plan, some answers can be."""
    lost = [
        _describe(check, checks)
        for check in checks.values()
        if not check.table.recomputable
        and (
            any(check.table is not META or row[0] not in OPTIONAL for row in check.damaged)
            or check.stale
            or check.missing
        )
    ]
    if lost:
        raise StoreError(
            f"The store {path} is damaged ({'; '.join(lost)}), and this part of it cannot be recomputed; restore it "
            "from a copy, or start again with another path."
        )
    meta = parse_meta(checks["meta"])
    if meta.get("format", FORMAT) != FORMAT:
        raise wrong_format(meta["format"], path)
    lacking = sorted(NEEDED - set(meta))
    if meta and lacking:
        raise StoreError(f"Expected the plan of a study in {path}, got one without {', '.join(lacking)}.")


def wrong_format(version: Any, path: Any) -> StoreError:
    """The error for a store that another version wrote."""
    return StoreError(
        f"Expected a store of format {FORMAT}, got format {str(version)[:20]} in {path}; use the holdfast that wrote "
        "it, or start again with another path."
    )


# Dropping what is damaged


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
    fits = [check for check in checks.values() if check.table.key[:2] == ("candidate", "split")]
    lost = {row[:2] for check in fits for row in check.damaged}
    if not checks["failures"].is_sound:  # a lost one does not tell whose it was: all fits without scores
        unscored = {row[:2] for row in checks["outcomes"].rows if row[5] is None}
        lost |= unscored - {row[:2] for row in checks["failures"].rows}
    left = {check.table: check.rows for check in checks.values() if check.table.recomputable or check.table is META}
    left |= {check.table: [row for row in check.rows if row[:2] not in lost] for check in fits}
    if not checks["baselines"].is_sound:  # all of them: a split that has some counts as done
        left[BASELINES] = []
    return left
