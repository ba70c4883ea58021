"""Whether a new study would select the same features, as a report says it."""

from holdfast.plots.text import clean_text
from holdfast.replication import Replicability, find_known
from holdfast.report.findings import ReportOptions
from holdfast.report.records import Replication
from holdfast.study.tables import StudyTables


def find_replicability(result: StudyTables, candidate: str | None, options: ReportOptions) -> Replicability | None:
    """Return what is known of a candidate in new studies: as it was given, or as the study has it."""
    given = options.replicability
    if given is not None and given.candidate != candidate:
        raise ValueError(
            f"Expected the replicability of {candidate}, which the report shows, got that of {given.candidate}; "
            "choose what is shown with candidate=."
        )
    if given is not None:
        return given.at_level(options.level)
    return None if candidate is None else find_known(result, candidate, level=options.level, X=options.X)


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
