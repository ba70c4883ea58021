"""What is known of new studies, kept in the store of a study beside what its resamples gave."""

from pathlib import Path
from typing import Any

from holdfast.replication.result import Replicability
from holdfast.study import StudyResult
from holdfast.study.store import open_to_write

KEY = "replicability"


def keep_replicability(store: str | Path, candidate: str, found: Replicability) -> None:
    """Write what is known of a candidate in new studies into the store of its study."""
    with open_to_write(store) as opened, opened.transaction():
        opened.put(KEY, {**(opened.get(KEY) or {}), candidate: found.to_dict()})


def find_kept(result: StudyResult, candidate: str | None) -> Replicability | None:
    """Return what the store of a study says of a candidate in new studies; None if it says nothing."""
    kept: dict[str, Any] = result.stored.meta.get(KEY, {})
    return Replicability.from_dict(kept[candidate]) if candidate in kept else None
