"""Sound and damaged rows of a store, told apart by checksums, totals, and what the rows say."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.effects import effect_width
from holdfast.preferences import Kind
from holdfast.study.effects import QUANTILES, THIRDS
from holdfast.study.store.meta import NEEDED, OPTIONAL, faulty_meta, is_json, parse_meta
from holdfast.study.store.packing import unpack_rows, unpack_weights
from holdfast.study.store.schema import FORMAT, META, TABLES, TOTALS, Row, Table, wrap_sum
from holdfast.study.store.store import StoreError

MOST_REPEATS = 16  # held-out rows of a list of splits may repeat; a claim beyond this is not believed
MOST_VANISHED = 100_000  # a store that claims to have lost more splits is not believed
SHOWN = 5


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
    damaged: list[Row]
    n: int | None
    stale: bool

    @property
    def missing(self) -> int:
        """How many rows vanished; below 0 if there are more than were written."""
        return 0 if self.n is None else self.n - len(self.rows) - len(self.damaged)

    @property
    def doubtful(self) -> bool:
        """Whether other rows than those in ``damaged`` may be lost."""
        return self.n is None or self.stale or self.missing != 0

    @property
    def is_sound(self) -> bool:
        """Whether all is as it was written."""
        return not self.damaged and not self.doubtful

    def without(self, faulty: Sequence[bool] | NDArray[np.bool_]) -> "TableCheck":
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
        name: TableCheck(
            table=table, rows=connection.execute(table.select_values).fetchall(), damaged=[], n=None, stale=False
        )
        for name, table in TABLES.items()
    }


def check_tables(connection: sqlite3.Connection, names: Sequence[str] | None = None) -> Checks:
    """Read tables, and tell sound rows from damaged ones; what rows say of each other is checked if all are read."""
    known = {row[0]: row[1:] for row in _read(connection, TOTALS, None).rows}
    checks = {name: _read(connection, TABLES[name], known.get(name)) for name in names or TABLES}
    for name, check in checks.items():
        if name in ROW_CHECKS:
            checks[name] = check.without(ROW_CHECKS[name](check.rows))
    facts = _facts(checks) if names is None else None
    if facts is not None:
        for name, find in CROSS_CHECKS.items():
            checks[name] = checks[name].without(find(checks[name].rows, facts))
            if name == "orders":
                facts = replace(facts, orders={(row[0], row[1]): len(row[4]) // 4 for row in checks[name].rows})
    return checks


def _read(connection: sqlite3.Connection, table: Table, known: Row | None) -> TableCheck:
    rows, damaged, total = [], [], 0
    allowed: dict[tuple[type, ...], bool] = {}
    for line in scan(connection, table):
        row, types = line[:-1], tuple(map(type, line[:-1]))
        if types not in allowed:
            allowed[types] = table.has_types(types)
        if allowed[types] and table.is_sound(line):
            rows.append(row)
            total += line[-1]
        else:
            damaged.append(row)
    n, written = (None, None) if known is None else known
    stale = not damaged and n == len(rows) and wrap_sum(0, total) != written
    return TableCheck(table=table, rows=rows, damaged=damaged, n=n, stale=stale)


def scan(connection: sqlite3.Connection, table: Table) -> Iterator[Row]:
    """Yield all rows that can be read, with checksums: from the beginning, and from the end if damage stops that."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    seen: set[Row] = set()
    for backwards, statement in enumerate((table.select, table.select_backwards)):
        try:
            for row in islice(connection.execute(statement), pages * size // 4):  # no file has more rows than that
                if backwards and table.get_key(row) in seen:
                    return
                seen.add(table.get_key(row))
                yield row
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:
                raise
        else:
            return


# What rows say


def _faulty_json(place: int) -> Callable[[Sequence[Row]], list[bool]]:
    return lambda rows: [not is_json(row[place]) for row in rows]


ROW_CHECKS: dict[str, Callable[[Sequence[Row]], list[bool]]] = {
    "meta": faulty_meta,
    "families": _faulty_json(1),
    "orderings": _faulty_json(2),
    "candidates": _faulty_json(3),
    "sessions": _faulty_json(4),
}


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What rows of other tables must agree with."""

    n_samples: int
    n_features: int
    n_classes: int | None
    n_metrics: int
    families: set[str]
    candidates: set[int]
    n_candidates: int
    n_splits: int
    n_tests: Mapping[int, int]  # of sound splits
    cuts: Mapping[int, int]  # the ordering of each candidate that is a cut of one
    sizes: Mapping[int, int]  # and how many features it cuts
    orders: Mapping[tuple[int, int], int] = field(default_factory=dict)  # of sound orders, their number of features


def _facts(checks: Checks) -> Facts | None:
    """What the sound rows say; None without a plan."""
    meta = parse_meta(checks["meta"])
    if not set(meta) >= NEEDED:
        return None
    splits = checks["splits"]
    place = splits.table.places("n_test")[0]
    return Facts(
        n_samples=len(meta["target"]),
        n_features=meta["n_features"],
        n_classes=None if meta["classes"] is None else len(meta["classes"]),
        n_metrics=len(meta["plan"]["scoring"]),
        families={row[0] for row in checks["families"].rows},
        candidates={row[0] for row in checks["candidates"].rows},
        n_candidates=len(checks["candidates"].rows) + len(checks["candidates"].damaged),
        n_splits=len(splits.rows) + len(splits.damaged) + min(max(splits.missing, 0), MOST_VANISHED),
        n_tests={row[0]: row[place] for row in splits.rows},
        cuts={row[0]: row[4] for row in checks["candidates"].rows if row[4] is not None and row[5] is not None},
        sizes={row[0]: row[5] for row in checks["candidates"].rows if row[4] is not None and row[5] is not None},
    )


def _faulty_splits(rows: Sequence[Row], facts: Facts) -> list[bool]:
    return [not _is_split(row, facts) for row in rows]


def _is_split(row: Row, facts: Facts) -> bool:
    index, *_, n_train, n_rows, n_test, packed_rows, counts, test = row
    if not (0 <= index < facts.n_splits and 0 < n_rows <= facts.n_samples):
        return False
    if not 0 <= n_test <= MOST_REPEATS * facts.n_samples:
        return False
    try:
        train, held = unpack_rows(packed_rows, n_rows), unpack_rows(test, n_test)
        times = np.ones(n_rows, np.int64) if counts is None else unpack_rows(counts, n_rows)
    except ValueError:
        return False
    in_range = all(0 <= rows.min(initial=0) <= rows.max(initial=0) < facts.n_samples for rows in (train, held))
    ordered = (np.diff(train) > 0).all() and (np.diff(held) >= 0).all()
    return bool(in_range and ordered and times.min() > 0 and times.sum() == n_train)


def _faulty_keys(rows: Sequence[Row], facts: Facts) -> NDArray[np.bool_]:
    """Rows, beginning with candidate and split, of candidates and splits that are not there."""
    return np.array([row[0] not in facts.candidates or not 0 <= row[1] < facts.n_splits for row in rows], dtype=bool)


def _faulty_orders(rows: Sequence[Row], facts: Facts) -> NDArray[np.bool_]:
    """Orders of splits that are not there, that name a feature twice or one there is not, or whose weights are lost."""
    known = set(facts.cuts.values())
    faulty = _faulty_columns([row[4] for row in rows], facts.n_features, ascending=False)
    for place, (ordering, split, smallest, _, _, kind, whole) in enumerate(rows):
        if ordering not in known or not 0 <= split < facts.n_splits or smallest < 1:
            faulty[place] = True
        if (kind is None) != (whole is None) or kind not in (None, "ranking", "weighting"):
            faulty[place] = True
        elif whole is not None:
            faulty[place] |= not _are_weights(whole, facts.n_features)
    return faulty


def _are_weights(blob: bytes, n_features: int) -> bool:
    try:
        unpack_weights(blob, n_features)
    except ValueError:
        return False
    return True


def _faulty_outcomes(rows: Sequence[Row], facts: Facts) -> NDArray[np.bool_]:
    faulty = _faulty_keys(rows, facts)
    subsets = [place for place, row in enumerate(rows) if row[2] == "subset" and row[3] is not None]
    faulty[subsets] |= _faulty_columns([rows[place][3] for place in subsets], facts.n_features, ascending=True)
    for place, (candidate, split, kind, preference, predictions, scores, coefficients, *_) in enumerate(rows):
        if scores is not None and len(scores) != 8 * facts.n_metrics:
            faulty[place] = True
        if preference is None:  # then it is a cut of an order
            faulty[place] |= kind != "subset" or (facts.cuts.get(candidate), split) not in facts.orders
        elif kind != "subset" and not (kind in get_args(Kind) and len(preference) == 8 * facts.n_features):
            faulty[place] = True
        if predictions is not None and split in facts.n_tests:
            faulty[place] |= not _are_predictions(predictions, facts.n_tests[split], facts.n_classes)
        if coefficients is not None:
            cut = min(facts.sizes.get(candidate, 0), facts.orders.get((facts.cuts.get(candidate, -1), split), 0))
            n_selected = cut if preference is None else len(preference) // 4
            faulty[place] |= kind != "subset" or len(coefficients) != 4 * n_selected
    return faulty


def _faulty_effects(rows: Sequence[Row], facts: Facts) -> NDArray[np.bool_]:
    """Effects of families and splits that are not there, of features there are not, or not as many as there must be."""
    faulty = _faulty_columns([row[2] for row in rows], facts.n_features, ascending=True)
    width = effect_width(facts.n_classes or 0)
    for place, (family, split, features, effects) in enumerate(rows):
        known = family in facts.families and 0 <= split < facts.n_splits
        faulty[place] |= not known or len(effects) != width * len(features)  # both have 4 bytes
    return faulty


def _faulty_quantiles(rows: Sequence[Row], facts: Facts) -> list[bool]:
    size = 8 * len(QUANTILES) * (len(THIRDS) if facts.n_classes is None else facts.n_classes)
    return [
        family not in facts.families or not 0 <= feature < facts.n_features or len(quantiles) != size
        for family, feature, quantiles in rows
    ]


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


CROSS_CHECKS: dict[str, Callable[[Sequence[Row], Facts], Sequence[bool] | NDArray[np.bool_]]] = {
    "candidates": lambda rows, facts: [not 1 <= row[0] <= facts.n_candidates for row in rows],
    "splits": _faulty_splits,
    "orders": _faulty_orders,
    "outcomes": _faulty_outcomes,
    "failures": _faulty_keys,
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
    """Where the damaged rows stand, as far as their keys can be believed."""
    candidates = {row[0]: row[1] for row in checks["candidates"].rows} if "candidates" in checks else {}
    labels = {row[0]: row[1] for row in checks["splits"].rows} if "splits" in checks else {}
    for row in check.damaged:
        key = check.table.get_key(row)
        if check.table.key[:2] == ("candidate", "split"):
            if key[0] in candidates:
                yield _printable(f"{candidates[key[0]]} on {labels.get(key[1], f'split {key[1]}')}")
        elif not check.table.recomputable:
            yield _printable(f"{key[0]}")


def _printable(text: str) -> str:
    """The beginning of a text, without what a terminal would obey."""
    return "".join(letter if letter.isprintable() else "?" for letter in text[:60])


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
    """Raise if something is lost that cannot be recomputed."""
    lost = [
        _describe(check, checks)
        for check in checks.values()
        if not check.table.recomputable and (_cannot_recompute(check) or check.stale or check.missing)
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


def _cannot_recompute(check: TableCheck) -> bool:
    """Whether a damaged row of a table that holds the plan is more than an answer that can be computed again."""
    return any(check.table is not META or row[0] not in OPTIONAL for row in check.damaged)


def wrong_format(version: Any, path: Any) -> StoreError:
    """The error for a store that another version wrote."""
    return StoreError(
        f"Expected a store of format {FORMAT}, got format {str(version)[:20]} in {path}; use the holdfast that wrote "
        "it, or start again with another path."
    )
