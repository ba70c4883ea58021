"""Splits, outcomes and orders as rows of a store, and back."""

import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.resampling import Split
from holdfast.study.effects import pack_effects
from holdfast.study.store.schema import Row
from holdfast.study.work import Finished, Outcome, SplitOrder

Ids = tuple[int, int | None]
FEW_BYTES = 512


def pack_rows(rows: NDArray[Any] | None) -> bytes | None:
    """Compress row numbers; few are only wrapped, as compressing them takes longer than storing them."""
    if rows is None:
        return None
    raw = rows.astype("<i4").tobytes()
    return zlib.compress(raw, 0 if len(raw) < FEW_BYTES else 1)


def unpack_rows(blob: bytes, n: int) -> NDArray[np.int64]:
    """Return ``n`` compressed row numbers; no more than these are ever unpacked."""
    return np.frombuffer(_inflate(blob, n, "row numbers"), dtype="<i4").astype(np.int64)


def _inflate(blob: bytes, n: int, what: str) -> bytes:
    """The bytes of ``n`` compressed numbers of 32 bits."""
    inflate = zlib.decompressobj()
    try:
        raw = inflate.decompress(blob, 4 * n + 1)
    except zlib.error as error:
        raise ValueError(f"Expected compressed {what}, got something else: {error}.") from None
    if len(raw) != 4 * n or not inflate.eof:
        raise ValueError(f"Expected {n} {what}, got fewer or more.")
    return raw


def split_row(split: Split) -> tuple[Any, ...]:
    """The row of a store that holds a split."""
    return (
        split.index, split.label, split.seed, int(split.block), split.fraction, split.measured,
        int(split.rows.size if split.counts is None else split.counts.sum()), split.rows.size, split.test.size,
        pack_rows(split.rows), pack_rows(split.counts), pack_rows(split.test),
    )  # fmt: skip


def outcome_row(outcome: Outcome) -> Row:
    """What the row of an outcome holds after candidate and split."""
    values = outcome.values
    if values is not None and outcome.kind == "subset":
        values = (values if (values[1:] > values[:-1]).all() else np.unique(values)).astype("<i4", copy=False)
    predictions = None if outcome.predictions is None else outcome.predictions.tobytes()
    blob = None if values is None else (values if outcome.kind == "subset" else values.astype("<f8")).tobytes()
    scores = np.fromiter(outcome.scores.values(), "<f8").tobytes() if outcome.scores else None
    weights = None if outcome.coefficients is None else outcome.coefficients.astype("<f4", copy=False).tobytes()
    return outcome.kind, blob, predictions, scores, weights, outcome.seconds, outcome.score_seconds, outcome.note


def order_rows(found: SplitOrder, ids: Sequence[Ids]) -> list[Row]:
    """The order of a split, under each number that candidates know it by."""
    order, whole = found.order, found.order.whole
    kept = (None, None) if whole is None else (whole.kind, pack_weights(whole.values))
    columns = order.columns.astype("<i4", copy=False).tobytes()
    numbers = dict.fromkeys(ids[candidate][1] for candidate in found.candidates)
    return [(number, found.split, order.smallest, order.complete, columns, *kept) for number in numbers]


def pack_weights(weights: NDArray[Any]) -> bytes:
    """Compress ranks or weights, which are kept in 32 bits."""
    return zlib.compress(weights.astype("<f4").tobytes(), 1)


def unpack_weights(blob: bytes, n: int) -> NDArray[np.float64]:
    """Return ``n`` compressed ranks or weights; no more than these are ever unpacked."""
    return np.frombuffer(_inflate(blob, n, "ranks or weights"), dtype="<f4").astype(np.float64)


def estimate_bytes(finished: Iterable[Finished], splits: Sequence[Split]) -> int:
    """About how much room outcomes, orders and splits take in a store."""
    rows = [
        *(outcome_row(outcome) for part in finished for outcome in part.outcomes),
        *(
            row
            for part in finished
            for order in part.orders
            for row in order_rows(order, [(0, 0)] * (1 + max(order.candidates)))
        ),
        *(pack_effects(effects) for part in finished for effects in part.effects),
        *map(split_row, splits),
    ]
    numbers = 60  # keys, times, scores and checksums of a row, and what SQLite adds
    return sum(numbers + sum(len(item) for item in row if isinstance(item, bytes)) for row in rows)
