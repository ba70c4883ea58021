"""What is known of new studies, kept in the store of a study beside what its resamples gave."""

from pathlib import Path
from typing import Any

from holdfast.replication.result import UNKNOWN, Replicability
from holdfast.study import StudyResult
from holdfast.study.store import open_to_write
from holdfast.tradeoff.reported import default_candidate, features_that_count

KEY = "replicability"


def keep_replicability(store: str | Path, found: Replicability) -> None:
    """Write what is known of a candidate in new studies into the store of its study."""
    with open_to_write(store) as opened, opened.transaction():
        opened.put(KEY, {**(opened.get(KEY) or {}), found.candidate: found.to_dict()})


def find_kept(result: StudyResult, candidate: str) -> Replicability | None:
    """Return what the store of a study says of a candidate in new studies; None if it says nothing that can be read."""
    plain = result.kept_replicability.get(candidate)
    try:
        return None if plain is None else Replicability.from_dict(plain)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None  # written by another version: it is made again


def has_halvings(result: StudyResult) -> bool:
    """Whether a study has halved the rows itself."""
    return result.perturbation.get("perturbation") == "Halvings"


def find_known(result: StudyResult, candidate: str, *, level: float = 0.95, X: Any = None) -> Replicability | None:
    """Return what a study says of a candidate in new studies: by its own halvings, or kept in its store; else None."""
    if not has_halvings(result):
        kept = find_kept(result, candidate)
        return None if kept is None else kept.at_level(level)
    try:
        return result.replicability(candidate, level=level, top=features_that_count(result, candidate), X=X)
    except ValueError:  # fits are missing, or failed
        return None


def find_answer(result: StudyResult, level: float = 0.95) -> str | None:
    """Return what a study says of the candidate that a report shows, in new studies; None if it says nothing."""
    if not result.finished:
        return None
    candidate = default_candidate(result)
    found = find_known(result, candidate, level=level)
    return None if found is None else format_answer(result, candidate, found)


def format_answer(result: StudyResult, candidate: str, found: Replicability | str) -> str:
    """Return the answer in a line, or the reason why there is none; a candidate among others is named."""
    if isinstance(found, str):
        answer = f"{UNKNOWN}: {found}."
    else:
        number = len(found.cautions)
        cautions = "a caution" if number == 1 else f"{number} cautions"
        answer = found.sentence + (f" The report has {cautions}." if number else "")
    return answer if len(result.candidates) == 1 else f"{candidate}: {answer}"
