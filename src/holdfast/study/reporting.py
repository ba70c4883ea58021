"""The report of a study: shown in a notebook, or written into a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, overload

from holdfast.measures import Measure
from holdfast.study.features import StudyFeatures

if TYPE_CHECKING:
    from holdfast.replication import Replicability
    from holdfast.report.inline import InlineReport
    from holdfast.report.render import Format
    from holdfast.study.result import StudyResult


class StudyReporting(StudyFeatures):
    """A study that reports what it found."""

    @overload
    def report(
        self,
        path: None = None,
        *,
        format: "Format | None" = None,
        candidate: str | None = None,
        rule: str = "one-se",
        metric: str | None = None,
        measure: str | Measure | None = None,
        level: float = 0.95,
        threshold: float = 0.5,
        X: Any = None,
        y: Any = None,
        replicability: "Replicability | None" = None,
        title: str | None = None,
        **parameters: Any,
    ) -> "InlineReport": ...

    @overload
    def report(
        self,
        path: str | Path,
        *,
        format: "Format | None" = None,
        candidate: str | None = None,
        rule: str = "one-se",
        metric: str | None = None,
        measure: str | Measure | None = None,
        level: float = 0.95,
        threshold: float = 0.5,
        X: Any = None,
        y: Any = None,
        replicability: "Replicability | None" = None,
        title: str | None = None,
        **parameters: Any,
    ) -> Path: ...

    def report(
        self,
        path: str | Path | None = None,
        *,
        format: "Format | None" = None,
        candidate: str | None = None,
        rule: str = "one-se",
        metric: str | None = None,
        measure: str | Measure | None = None,
        level: float = 0.95,
        threshold: float = 0.5,
        X: Any = None,
        y: Any = None,
        replicability: "Replicability | None" = None,
        title: str | None = None,
        **parameters: Any,
    ) -> "Path | InlineReport":
        """Show the report in a notebook, or write it into one file, which needs no other file and no network.

        Parameters
        ----------
        path : path, optional
            File to write; without one, the report is shown in the notebook.
        format : {"html", "md", "json"}, optional
            Format of the file; without it, the file's name ends in .html, .md or .json.
        candidate : str, optional
            Which candidate to report; the one that ``rule`` chooses by default, or without scores the most stable one.
        rule, metric, measure : str
            How to choose, as for :meth:`choose`.
        level, threshold : float
            Level of all intervals; what the lower end of a feature's frequency must exceed to be trusted.
        X : frame or array, optional
            The features that the study ran on; then features that stand in for each other must be correlated too.
        y : array, optional
            The target beside X: single rows are then drawn in the box plots, visible to whoever reads the report.
        replicability : Replicability, optional
            What :func:`holdfast.replicability` found for the reported candidate; without it, what the store says.
        title : str, optional
            Heading of the report.
        **parameters
            Parameters of the rule, as for :meth:`choose`.

        Returns
        -------
        Path or InlineReport
            The file; without a path, what a notebook shows as the whole report, and ``.save(path)`` writes.

        Raises
        ------
        ValueError
            If an option is wrong whatever the study found; what a study cannot answer is said in its report.

        See Also
        --------
        holdfast.report.summarize : What the report says, as data.
        """
        from holdfast import report
        from holdfast.tradeoff.choice import check_rule

        check_rule(rule, parameters, StudyReporting.report)
        if path is None and format is not None:
            raise ValueError(f"Expected a path for a report with format={format!r}, got none.")
        heading = {} if title is None else {"title": title}
        summary = report.summarize(
            cast("StudyResult", self), candidate=candidate, rule=rule, metric=metric, measure=measure, level=level,
            threshold=threshold, X=X, y=y, replicability=replicability, **heading, **parameters,
        )  # fmt: skip
        return report.InlineReport(summary) if path is None else report.write_report(summary, path, format=format)
