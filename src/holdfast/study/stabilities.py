"""How stable the candidates of a study are, each alone and compared."""

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from holdfast.cards.study import Card, make_study_card
from holdfast.checks import Matrix
from holdfast.inference.comparison import Comparisons
from holdfast.inference.designs import DesignedRuns, design_comparisons, design_stability
from holdfast.inference.estimate import StabilityEstimate
from holdfast.inference.intervals import Interval
from holdfast.inference.planning import Pilot, runs_needed
from holdfast.io.files import as_path
from holdfast.measures import Measure, UndefinedStabilityWarning, find_measure
from holdfast.results import ResultMixin
from holdfast.serialization import to_plain
from holdfast.study.common_measure import USUAL, CommonMeasure, choose_common_measure
from holdfast.study.contents import StudyContents
from holdfast.study.memory import Same
from holdfast.study.tables import TableFormat, make_latex, make_summary, write_tables


class StudyStabilities(ResultMixin, StudyContents):
    """The stabilities of a study's candidates, their intervals and comparisons; tables of them."""

    def stability(
        self,
        candidate: str,
        measure: str | Measure | None = None,
        *,
        fraction: float | None = None,
        top: int | None = None,
        X: Matrix | None = None,
        **parameters: Any,
    ) -> StabilityEstimate:
        """Measure the stability of a candidate, as the design of the study asks for it.

        Complementary pairs are summarized by the agreement within pairs, nested folds by the mean of the stabilities
        inside outer folds, nested subsamples by the agreement of each with its whole. A pair of which a half selected
        nothing says nothing about agreement: it is left out and counted, and if most are, the stability is undefined.
        Pairs have no interval: those of one data set do not show how much new data sets would differ.

        Parameters
        ----------
        candidate : str
            Name of a candidate.
        measure : str or Measure, optional
            What to measure; by default ``nogueira`` for subsets, ``spearman`` for rankings, ``weight_correlation`` for
            weights. Measures of rankings and weights need those of all features (``hf.Candidates(…, keep="weights")``).
        fraction : float, optional
            Of nested subsamples, the size to compare with the whole; the mean over all smaller sizes by default.
        top : int, optional
            Measure the best so many features, as subsets: of a ranking, of weights, or of the order that the study
            stored of a selection.
        X : matrix, optional
            Samples × features, for measures that need a similarity of features.
        **parameters
            Parameters of the measure, as for :func:`holdfast.stability`. Where resamples come in blocks (nested
            subsamples, nested folds, pairs), ``similarity`` may be a list with one similarity for each block.

        Returns
        -------
        StabilityEstimate
            Value with standard error and interval; ``nan`` with a reason if it is undefined.

        Raises
        ------
        ValueError
            If there is no such candidate, none of its fits has finished, or the measure does not suit what it gives.

        See Also
        --------
        summary : All candidates at once.
        compare : Whether candidates differ.

        Examples
        --------
        >>> import holdfast as hf
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> result = hf.Study(selectors=[hf.selectors.AnovaF(2)], perturbation=hf.Bootstrap(20)).run(X, y)
        >>> result.stability("anova", "jaccard")
        jaccard = 1.000 [0.761, 1.000] (95% CI, 20 runs)
        """
        chosen = None if measure is None else find_measure(measure)
        if X is not None or parameters:
            return self._find_stability(candidate, chosen, fraction, top, X, parameters)
        return self.memory.recall(
            ("stability", candidate, Same(chosen), fraction, top),
            lambda: self._find_stability(candidate, chosen, fraction, top, None, {}),
            is_final=lambda estimate: estimate.value == estimate.value,  # an undefined one warns each time
        )

    def _find_stability(
        self,
        candidate: str,
        measure: Measure | None,
        fraction: float | None,
        top: int | None,
        X: Matrix | None,
        parameters: dict[str, Any],
    ) -> StabilityEstimate:
        if self.kinds.get(candidate) == "subset" and top is not None:
            designed = self.designed(candidate, fraction=fraction, top=top)
        else:
            designed = self.measured(candidate, CommonMeasure(measure or "", top), fraction)
        return design_stability(designed, measure or USUAL[designed.runs.kind], X=X, **parameters)

    def measured(self, candidate: str, common: CommonMeasure, fraction: float | None = None) -> DesignedRuns:
        """Return the runs of a candidate as a common measure measures them.

        Parameters
        ----------
        candidate : str
            Name of a candidate.
        common : CommonMeasure
            The measure: one of rankings or weights asks for those that selections were cut from.
        fraction : float, optional
            Of nested subsamples, only those of this size, and the whole samples.

        Returns
        -------
        DesignedRuns
            Rankings and weights cut to ``common.top``, where they stand beside selections.
        """
        if self.kinds.get(candidate) != "subset" or not common.measure:
            return common.cut(self.designed(candidate, fraction=fraction))
        return self.designed(candidate, fraction=fraction, kind=find_measure(common.measure).kind)

    def common_measure(
        self, candidates: Iterable[str] | None = None, measure: str | Measure | None = None
    ) -> CommonMeasure:
        """Return the common measure of candidates, and how many of the best features of a ranking or weights count.

        Candidates that all give the same are measured as they are. If some give subsets, rankings and weights are cut
        to as many features as those select (the median of their mean sizes), and all are measured as subsets.

        Parameters
        ----------
        candidates : iterable of str, optional
            Names of candidates; all by default.
        measure : str or Measure, optional
            What to measure; by default the usual measure of what the candidates give.

        Returns
        -------
        CommonMeasure
            The measure, and ``top`` where orders have to be cut.
        """
        names = set(self.candidates if candidates is None else candidates)
        kinds = {name: kind for name, kind in self.kinds.items() if name in names}
        return choose_common_measure(
            kinds, lambda name: self.preferences(name).sizes.mean(), len(self.feature_names), measure
        )

    def compare(
        self,
        candidates: Iterable[str] | None = None,
        measure: str | Measure | None = None,
        *,
        level: float = 0.95,
        X: Matrix | None = None,
        **parameters: Any,
    ) -> Comparisons:
        """Compare the stabilities of candidates, each with each, on the splits that all of them finished.

        Whatever the design, also of pairs, differences describe resampling of this data set, not new data sets.

        Parameters
        ----------
        candidates : iterable of str, optional
            Names of candidates; by default all that finished two fits. A warning names those that did not.
        measure : str or Measure, optional
            What to measure; by default the usual measure of what the candidates give (see :meth:`common_measure`).
        level : float
            Confidence level.
        X : matrix, optional
            Samples × features, for measures that need a similarity of features.
        **parameters
            Parameters of the measure, as for :func:`holdfast.stability`.

        Returns
        -------
        Comparisons
            Differences with intervals and p-values, corrected for their number.

        Raises
        ------
        ValueError
            If there are fewer than two candidates to compare.

        See Also
        --------
        holdfast.compare_many : The same for selections that were not made by a study.
        """
        names = self.find_comparable() if candidates is None else [str(name) for name in candidates]
        if len(names) < 2:
            raise ValueError(f"Expected at least two candidates to compare, got {len(names)}.")
        common = self.common_measure(names, measure)
        designed = {name: self.measured(name, common) for name in names}
        return design_comparisons(designed, common.measure, level=level, X=X, **parameters)

    def find_comparable(self) -> list[str]:
        """Return the candidates that finished two fits or more, which a stability needs; warn of others.

        Returns
        -------
        list of str
            Names of candidates.
        """
        measured = self.split_table.index[self.split_table["measured"].astype(bool)]
        fits = {name: self.stored.find_outcomes(name)["split"].isin(measured).sum() for name in self.candidates}
        others = [name for name, n in fits.items() if n < 2]
        if others and len(others) < len(fits):
            warnings.warn(
                f"{', '.join(others)} {'has' if len(others) == 1 else 'have'} fewer than two finished fits and "
                f"{'is' if len(others) == 1 else 'are'} left out of the comparison; the table .failures says why.",
                UserWarning,
                stacklevel=3,
            )
        return [name for name in fits if name not in others]

    def summary(
        self,
        measure: str | Measure | Sequence[str | Measure] | None = None,
        *,
        level: float = 0.95,
        fraction: float | None = None,
        candidates: Iterable[str] | None = None,
        X: Matrix | None = None,
        **parameters: Any,
    ) -> pd.DataFrame:
        """Return stability with its interval, scores with standard errors, size, time and failures of all candidates.

        All candidates are measured by one measure, on one kind of preference (see :meth:`common_measure`): ``top`` is
        how many of the best features of a ranking or weights count, where they had to be cut for that.

        The standard error of a score allows for the overlap of training sets (Nadeau and Bengio, 2003): fits on one
        data set are not independent, and the plain one would be too small. Of nested subsamples, stability and scores
        of a row are at the same sizes.

        Parameters
        ----------
        measure : str or Measure, or several of them, optional
            What to measure; by default the usual one for what the candidates give. Several make a row of each, indexed
            by candidate and measure.
        level : float
            Level of the intervals.
        fraction : float, optional
            Of nested subsamples, the size that stability and scores are of; by default both are means over all smaller
            sizes. 1 gives the scores of whole samples, which have no stability of this kind.
        candidates : iterable of str, optional
            Names of candidates; all by default.
        X : matrix, optional
            Samples × features, for measures that need a similarity of features.
        **parameters
            Parameters of the measure, as for :func:`holdfast.stability`.

        Returns
        -------
        DataFrame
            One row per candidate, or per candidate and measure.

        Raises
        ------
        ValueError
            If a fraction or a candidate is not one of the study's, or the list of candidates or measures is empty.

        See Also
        --------
        compare : Whether candidates differ.
        pareto : The best compromises of accuracy and stability.
        """
        return make_summary(self, measure, level, fraction, candidates, X, parameters)

    def interval(self, candidate: str, estimate: StabilityEstimate, level: float = 0.95) -> Interval:
        """Return the interval of a candidate's stability.

        Parameters
        ----------
        candidate : str
            Name of a candidate.
        estimate : StabilityEstimate
            Its stability, as of :meth:`stability`.
        level : float
            Confidence level.

        Returns
        -------
        Interval
            The estimate's own; or the one that the pilot promised, if a pilot settled the number of resamples.
        """
        until = self.stored.meta.get("until")
        if until is None or estimate.measure != until["measure"] or level != until["level"] or estimate.no_interval:
            return estimate.ci(level)
        pilot = self._pilot(candidate)
        return estimate.ci(level) if pilot is None else pilot.ci(estimate)

    def _pilot(self, candidate: str) -> Pilot | None:
        """The number of resamples that a candidate's first ones ask for; None if they have no uncertainty."""
        until = self.stored.meta["until"]
        try:
            designed = self.stored.designed(candidate, before=until["pilot"])
        except ValueError:  # none of them was finished
            return None
        if designed.runs.kind != "subset":
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedStabilityWarning)
            estimate = design_stability(designed, until["measure"])
        if estimate.no_interval:
            return None
        planned = runs_needed(until["half_width"], pilot=estimate, level=until["level"])
        assert isinstance(planned, Pilot)
        return planned

    @property
    def pilot_runs(self) -> int:
        """The largest number of resamples that any candidate's pilot asks for."""
        pilots = [self._pilot(name) for name in self.candidates]
        return max((pilot.n_runs for pilot in pilots if pilot is not None), default=self.stored.meta["until"]["pilot"])

    # Tables

    def to_frame(self) -> pd.DataFrame:
        """Return the summary of all candidates (see :meth:`summary`).

        Returns
        -------
        DataFrame
            One row per candidate.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.summary()

    def to_dict(self) -> dict[str, Any]:
        """Return plan, summary and failures as plain values, ready for JSON: undefined numbers are None.

        Returns
        -------
        dict
            ``design``, ``n_splits``, ``complete``, ``data`` (the record of the data), ``candidates`` (rows of the
            summary), ``failures``, ``notes`` and ``provenance``.
        """
        return to_plain(
            {
                "design": self.design,
                "n_splits": self.n_splits,
                "complete": self.complete,
                "data": self.data,
                "candidates": self.to_frame(),
                "failures": self.failures.drop(columns="traceback"),
                "notes": self.notes,
                "provenance": self.provenance,
            }
        )

    def export(self, folder: str | Path, format: TableFormat = "parquet") -> list[Path]:
        """Write all tables as files into a folder and return their paths.

        Parameters
        ----------
        folder : path
            Folder to write into; it is made if it is not there.
        format : {"parquet", "csv"}
            Format of the files. In CSV, texts that a spreadsheet would run as a formula begin with a quote.

        Returns
        -------
        list of Path
            The tables ``summary``, ``selections``, ``features``, ``scores``, ``predictions``, ``failures`` and
            ``splits``, with the row numbers of every split. :func:`holdfast.read_preferences` and ``holdfast measure``
            read ``selections``.

        Raises
        ------
        ValueError
            If there is no such format.

        See Also
        --------
        to_latex : The candidates as a table for a paper.
        """
        return write_tables(self, as_path(folder, "the path of a folder"), format)

    def to_latex(self, measure: str | Measure | None = None, *, level: float = 0.95, label: str | None = None) -> str:
        """Return the candidates as a LaTeX table (booktabs), with a caption that says how intervals were made.

        Parameters
        ----------
        measure : str or Measure, optional
            What to measure, as for :meth:`summary`.
        level : float
            Level of the intervals.
        label : str, optional
            Label to refer to the table by.

        Returns
        -------
        str
            The table; it needs the package booktabs.

        See Also
        --------
        summary : The same as a frame.
        export : All tables as files.
        """
        return make_latex(self, measure, level, label)

    @property
    def _title(self) -> str:
        state = "" if self.complete else f", {self.n_outcomes:,} fits so far"
        failed = f", {len(self.failures)} failed" if len(self.failures) else ""
        n = len(self.candidates)
        candidates = f"{n} candidate{'' if n == 1 else 's'}"
        splits = f"{self.n_splits} splits ({self.perturbation_name})"
        return f"Study of {candidates} on {splits}{state}{failed}"

    def _card(self) -> Card:
        return make_study_card(self._title, self.to_frame(), self.metrics, self.data.caution)

    def __repr__(self) -> str:
        table = self.to_frame().drop(columns=["family", "reason", "measure"])
        table = table.drop(columns="top") if table["top"].isna().all() else table
        cut = {"top": lambda k: "" if k != k else f"{k:.0f}"}
        rows = table.to_string(formatters=cut, float_format=lambda number: f"{number:.3f}")
        return "\n".join(filter(None, [self._title, rows, self.data.caution]))
