"""Whether a new study would select the same features, as a report says it."""

from holdfast.plots.text import clean_text
from holdfast.replication import Replicability, find_known
from holdfast.report.records import Replication
from holdfast.study import StudyResult


def find_replicability(result: StudyResult, candidate: str | None, level: float) -> Replicability | None:
    """Return what is known of a candidate in new studies: kept in the store, or told by the halvings of the study."""
    return None if candidate is None else find_known(result, candidate, level=level)


def describe_replication(found: Replicability | None) -> Replication | None:
    """Return the record of a summary."""
    if found is None:
        return None
    low, high = found.expected_interval
    return Replication(
        sentence=found.sentence, expected=found.expected, low=low, high=high, n_selected=found.n_selected,
        agreement=found.agreement, agreement_low=found.interval.low, agreement_high=found.interval.high,
        half_agreement=found.half_agreement, half_low=found.half_interval.low, half_high=found.half_interval.high,
        rows_sentence=found.rows_sentence, n_pairs=found.n_pairs, cautions=tuple(map(clean_text, found.cautions)),
    )  # fmt: skip
