"""What is known of new studies, kept in the store of a study beside what its resamples gave."""

from pathlib import Path

from holdfast.replication.result import UNKNOWN, Replicability
from holdfast.study import StudyResult
from holdfast.study.store import open_to_write
from holdfast.tradeoff.reported import default_candidate, features_that_count

KEY = "replicability"


def keep_replicability(store: str | Path, found: Replicability) -> None:
    """Write what is known of a candidate in new studies into the store of its study."""
    with open_to_write(store) as opened, opened.transaction():
        opened.put(KEY, {**(opened.get(KEY) or {}), found.candidate: found.to_dict()})


def find_kept(result: StudyResult, candidate: str | None) -> Replicability | None:
    """Return what the store of a study says of a candidate in new studies; None if it says nothing that can be read."""
    plain = result.kept_replicability.get(candidate or "")
    try:
        return None if plain is None else Replicability.from_dict(plain)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None  # written by another version: it is made again


def has_halvings(result: StudyResult) -> bool:
    """Whether a study has halved the rows itself."""
    return result.perturbation.get("perturbation") == "Halvings"


def find_known(result: StudyResult, candidate: str | None, level: float = 0.95) -> Replicability | None:
    """Return what is known of a candidate in new studies: told by the halvings of its study, or kept in the store."""
    if candidate is None or not has_halvings(result):
        kept = find_kept(result, candidate)
        return None if kept is None else kept.at_level(level)
    try:
        return result.replicability(candidate, level=level, top=features_that_count(result, candidate))
    except ValueError:  # fits failed, or have not ended yet
        return None


def find_answer(result: StudyResult, level: float = 0.95) -> str | None:
    """Return what is known in new studies of the candidate that a report shows; None if nothing is."""
    candidate = default_candidate(result) if result.finished else None
    found = find_known(result, candidate, level)
    return None if found is None or candidate is None else tell(result, candidate, found)


def tell(result: StudyResult, candidate: str, found: Replicability | str) -> str:
    """Return the answer in a line, or the reason why there is none; a candidate among others is named."""
    if isinstance(found, str):
        answer = f"{UNKNOWN}: {found}."
    else:
        number = len(found.cautions)
        cautions = "a caution" if number == 1 else f"{number} cautions"
        answer = found.sentence + (f" The report has {cautions}." if number else "")
    return answer if len(result.candidates) == 1 else f"{candidate}: {answer}"
