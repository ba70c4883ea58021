"""The facts of a study that a store keeps by name, and what a reader takes for granted about them."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

from holdfast.declared import is_about
from holdfast.io.record import DataRecord
from holdfast.resampling.split import Design
from holdfast.serialization import from_plain
from holdfast.study.store.schema import Row

if TYPE_CHECKING:
    from holdfast.study.store.checking import TableCheck

MOST_FEATURES = 2**31 - 1  # subsets are stored in 32 bits


def is_json(text: Any) -> bool:
    """Whether a text can be read as JSON."""
    try:
        json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return False
    return True


def parse_meta(check: "TableCheck") -> dict[str, Any]:
    """The facts of a study that are kept by name."""
    return {key: json.loads(value) for key, value in check.rows}


def _is_list(value: Any, length: Any) -> bool:
    return isinstance(value, list) and len(value) == length


def _is_data_record(value: Any) -> bool:
    try:
        from_plain(DataRecord, value)
    except (ValueError, TypeError):
        return False
    return True


META_CHECKS: dict[str, Callable[[Any, Mapping[str, Any]], bool]] = {
    "format": lambda value, _: isinstance(value, int),
    "plan": lambda value, _: (
        isinstance(value, dict)
        and {"data", "perturbation", "random_state", "estimator", "scoring"} <= set(value)
        and isinstance(value["scoring"], dict)
        and isinstance(value["data"], dict)
        and isinstance(value["perturbation"], dict)
        and "perturbation" in value["perturbation"]
    ),
    "design": lambda value, _: value in get_args(Design),
    "declared": lambda value, _: (
        isinstance(value, dict)
        and all(isinstance(value.get(kind), dict) for kind in ("perturbation", "selectors", "scores"))
        and all(is_about(record) for record in (value["perturbation"], *value["selectors"].values()))
        and all(is_about(record) for record in value["scores"].values())
    ),
    "n_features": lambda value, _: isinstance(value, int) and 0 < value <= MOST_FEATURES,
    "names": lambda value, meta: value is None or _is_list(value, meta.get("n_features")),
    "target": lambda value, meta: _is_list(value, meta["plan"]["data"].get("n_samples")),
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
    """Which facts are not what a reader takes for granted."""
    faulty = [not is_json(value) for _, value in rows]
    meta = {key: json.loads(value) for (key, value), bad in zip(rows, faulty, strict=True) if not bad}
    if not META_CHECKS["plan"](meta.get("plan"), meta):
        return [bad or key == "plan" for (key, _), bad in zip(rows, faulty, strict=True)]
    return [
        bad or (key in META_CHECKS and not META_CHECKS[key](meta[key], meta))
        for (key, _), bad in zip(rows, faulty, strict=True)
    ]
