"""What a study found: stabilities, scores, preferences, failures, and where they come from."""

import json
import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.checks import Matrix
from holdfast.inference.comparison import Comparisons
from holdfast.inference.designs import design_comparisons, design_stability, shrink_values
from holdfast.inference.estimate import StabilityEstimate
from holdfast.inference.features import feature_table
from holdfast.inference.intervals import Interval
from holdfast.inference.planning import Pilot, runs_needed
from holdfast.io.files import path_of
from holdfast.measures import Measure, UndefinedStabilityWarning, find
from holdfast.preferences import Kind, Preferences
from holdfast.study.footing import USUAL, Footing, choose_footing
from holdfast.study.opening import opened_to_read
from holdfast.study.stored import Stored, read

if TYPE_CHECKING:
    from holdfast import tradeoff


@dataclass(frozen=True, eq=False)
class StudyResult:
    """What a study found, as :meth:`Study.run` and :func:`load_study` return it; a snapshot if the study still runs.

    Attributes
    ----------
    stored : Stored
        The tables of the study's store.
    study : Study or None
        The plan, if this process ran it; a store does not hold it.
    """

    stored: Stored
    study: Any = None

    # What was studied

    @property
    def candidates(self) -> list[str]:
        """Names of all candidates."""
        return self.stored.candidates["name"].tolist()

    @property
    def families(self) -> list[str]:
        """Names of all selectors."""
        return list(dict.fromkeys(self.stored.candidates["family"]))

    @property
    def metrics(self) -> list[str]:
        """Names of the scores."""
        return list(self.stored.meta["plan"]["scoring"])

    @property
    def features(self) -> Sequence[str] | range:
        """The universe: all columns that were handed to the study, covariates left out."""
        return self.stored.features

    @property
    def design(self) -> str:
        """How the runs hang together: runs, folds, pairs, nested or shrink."""
        return self.stored.meta["design"]

    @property
    def design_in_words(self) -> str:
        """The design, and of shrinking samples the sizes that a summary is about."""
        sizes = ", ".join(f"{size:g}" for size in self.stored.sizes() or ())
        return f"{self.design}; stability and scores are means over the sizes {sizes}" if sizes else self.design

    @cached_property
    def _ended(self) -> pd.DataFrame:
        """Candidate and split of every fit that ended, well or not; one whose score failed is in both tables."""
        key = ["candidate", "split"]
        return pd.concat([self.stored.outcomes[key], self.stored.failures[key]]).drop_duplicates()

    @property
    def n_outcomes(self) -> int:
        """Number of fits that ended, well or not."""
        return len(self._ended)

    @property
    def complete(self) -> bool:
        """Whether every candidate ran on every split, but for those that a search stopped."""
        runs = self._ended["candidate"].value_counts()
        table = self.stored.candidates
        wanted = table["candidate"][~table["name"].isin(self.stopped.index)]
        return bool((runs.reindex(wanted, fill_value=0) == len(self.stored.splits)).all())

    @cached_property
    def kinds(self) -> dict[str, Kind]:
        """What each candidate gives, of those that finished a run: subset, ranking or weighting."""
        found = {name: self.stored.outcomes_of(name) for name in self.candidates}
        return {name: outcomes["kind"].iloc[0] for name, outcomes in found.items() if len(outcomes)}

    @cached_property
    def stopped(self) -> pd.DataFrame:
        """Candidates that a search stopped early: ``after`` how many runs, and ``by`` which better one."""
        told = [{"candidate": name, **why} for name, why in self.stored.meta.get("stopped", {}).items()]
        return pd.DataFrame(told, columns=["candidate", "after", "by"]).set_index("candidate")

    @cached_property
    def failures(self) -> pd.DataFrame:
        """One row per failure: candidate, run, stage (select, score, time limit, died), error, traceback."""
        return self.stored.named(self.stored.failures)

    @cached_property
    def notes(self) -> pd.DataFrame:
        """What was heard during fits, such as solvers that did not converge: candidate, note, in how many runs."""
        named = self.stored.named(self.stored.outcomes)[["candidate", "note"]]
        split = named.assign(note=named["note"].str.split("\n")).explode("note")
        counted = split[split["note"].fillna("") != ""].value_counts(["candidate", "note"], sort=False)
        return counted.rename("runs").reset_index()

    @property
    def provenance(self) -> dict[str, Any]:
        """Where the results come from: plan, data fingerprint, seeds, versions, sessions."""
        meta, sessions = self.stored.meta, self.stored.sessions
        return {
            "plan": meta["plan"],
            "prefilter": meta["prefilter"],
            "n_splits": len(self.stored.splits),
            "selectors": {family: json.loads(text) for family, text in meta["selectors"].items()},
            "until": meta.get("until"),
            "sessions": [{**row, "versions": json.loads(row["versions"])} for row in sessions.to_dict("records")],
            "store": None if self.stored.path is None else str(self.stored.path),
        }

    # What each candidate did

    def settings(self, candidate: str) -> dict[str, Any]:
        """What a candidate sets."""
        return json.loads(self.stored.row(candidate)["settings"])

    def preferences(self, candidate: str) -> Preferences:
        """What a candidate preferred in each run that did not fail; runs are labeled by their split."""
        return self.stored.designed(candidate).runs

    def features_of(self, candidate: str, *, level: float = 0.95) -> pd.DataFrame:
        """How often a candidate selected each feature (see :func:`holdfast.feature_table`)."""
        return feature_table(self.preferences(candidate), level=level)

    @cached_property
    def scores(self) -> pd.DataFrame:
        """One row per candidate and run with held-out rows, one column per score."""
        tall = self.stored.scores.set_index(["candidate", "split", "metric"])["value"]
        wide = tall.unstack("metric")  # noqa: PD010 - a pivot table adds a row for every fit that failed
        wide = wide.reindex(columns=self.metrics).rename_axis(columns=None).reset_index()
        return self.stored.named(wide)

    def predictions(self, candidate: str) -> pd.DataFrame:
        """One row per run and held-out row: the truth and what was predicted."""
        return self.stored.predictions(candidate)

    # Stability

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
        inside outer folds, shrinking samples by the agreement of each with its whole. A pair of which a half selected
        nothing says nothing about agreement: it is left out and counted, and if most are, the stability is undefined.
        Pairs have no interval: those of one data set do not show how much new data sets would differ.

        Parameters
        ----------
        candidate : str
            Name of a candidate.
        measure : str or Measure, optional
            What to measure; by default ``nogueira`` for subsets, ``spearman`` for rankings, ``weight_correlation`` for
            weights.
        fraction : float, optional
            Of shrinking samples, the size to compare with the whole; the mean over all smaller sizes by default.
        top : int, optional
            Of a ranking or weights, measure the best so many features, as subsets.
        X, **parameters
            As for :func:`holdfast.stability`.
        """
        designed = Footing("", top).cut(self.stored.designed(candidate, fraction=fraction))
        return design_stability(designed, measure or USUAL[designed.runs.kind], X=X, **parameters)

    def footing(self, candidates: Iterable[str] | None = None, measure: str | Measure | None = None) -> Footing:
        """On what candidates (all by default) are compared: a measure, and how many of the best features count.

        Candidates that all give the same are measured as they are. If some give subsets, rankings and weights are cut
        to as many features as those select (the median of their mean sizes), and all are measured as subsets.
        """
        asked = set(self.candidates if candidates is None else candidates)
        kinds = {name: kind for name, kind in self.kinds.items() if name in asked}
        return choose_footing(kinds, lambda name: self.preferences(name).sizes.mean(), len(self.features), measure)

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

        Whatever the design, also of pairs, differences speak of resampling this data set, not of new data sets.

        Parameters
        ----------
        candidates : iterable of str, optional
            Names of candidates; by default all that finished two runs. A warning tells which did not.
        measure, X, **parameters
            As for :meth:`stability`.
        level : float
            Confidence level.
        """
        names = self._finished() if candidates is None else [str(name) for name in candidates]
        if len(names) < 2:
            raise ValueError(f"Expected at least two candidates to compare, got {len(names)}.")
        footing = self.footing(names, measure)
        designed = {name: footing.cut(self.stored.designed(name)) for name in names}
        return design_comparisons(designed, footing.measure, level=level, X=X, **parameters)

    def _finished(self) -> list[str]:
        """Candidates that finished two runs or more, which a stability needs; warn of others."""
        measured = self.stored.splits.index[self.stored.splits["measured"].astype(bool)]
        runs = {name: self.stored.outcomes_of(name)["split"].isin(measured).sum() for name in self.candidates}
        others = [name for name, n in runs.items() if n < 2]
        if others and len(others) < len(runs):
            warnings.warn(
                f"{', '.join(others)} finished no two runs and {'is' if len(others) == 1 else 'are'} left out of the "
                "comparison; the table .failures tells why.",
                UserWarning,
                stacklevel=3,
            )
        return [name for name in runs if name not in others]

    def shrinkage(self, candidate: str, measure: str | Measure | None = None, **parameters: Any) -> pd.DataFrame:
        """For a study of shrinking samples: how far smaller samples select as their whole one did, by size."""
        if self.design != "shrink":
            raise ValueError(f"Expected a study with hf.NestedSubsamples, got one of {self.design}.")
        designed = self.stored.designed(candidate)
        chosen = find(measure or USUAL[designed.runs.kind]).bind(**parameters)
        values = shrink_values(designed, chosen)
        rows = [
            (size, one.mean(), one.std(ddof=1) if one.size > 1 else np.nan, one.size) for size, one in values.items()
        ]
        return pd.DataFrame(rows, columns=["fraction", "agreement", "deviation", "runs"])

    def summary(
        self,
        measure: str | Measure | Sequence[str | Measure] | None = None,
        *,
        level: float = 0.95,
        fraction: float | None = None,
        X: Matrix | None = None,
        **parameters: Any,
    ) -> pd.DataFrame:
        """One row per candidate: stability with its interval, scores with their standard errors, size, time, failures.

        All candidates are measured by one measure, on one kind of preference (see :meth:`footing`): ``top`` tells how
        many of the best features of a ranking or weights count, where they had to be cut for that.

        The standard error of a score allows for the overlap of training sets (Nadeau and Bengio, 2003): runs on one
        data set are not independent, and the plain one would be too small. Of shrinking samples, stability and scores
        of a row are at the same sizes.

        Parameters
        ----------
        measure : str or Measure, or several of them, optional
            What to measure; by default the usual one for what the candidates give. Several make a row of each, indexed
            by candidate and measure.
        level : float
            Level of the intervals.
        fraction : float, optional
            Of shrinking samples, the size that stability and scores are of; by default both are means over all smaller
            sizes. 1 gives the scores of whole samples, which have no stability of this kind.
        X, **parameters
            As for :meth:`stability`.
        """
        from holdfast.study.summary import summary_table

        return summary_table(self, measure, level, fraction, X, parameters)

    def interval(self, candidate: str, estimate: StabilityEstimate, level: float) -> Interval:
        """The interval of an estimate; the one that the pilot promised, if a pilot settled the number of runs."""
        until = self.stored.meta.get("until")
        if until is None or estimate.measure != until["measure"] or level != until["level"] or estimate.no_interval:
            return estimate.ci(level)
        pilot = self._pilot(candidate)
        return estimate.ci(level) if pilot is None else pilot.ci(estimate)

    # Trade-offs and decisions (holdfast.tradeoff)

    def pareto(
        self, metric: str | None = None, measure: str | Measure | None = None, **options: Any
    ) -> "tradeoff.Pareto":
        """Find the best compromises of accuracy and stability (see :func:`holdfast.tradeoff.pareto`)."""
        from holdfast import tradeoff

        return tradeoff.pareto(self, metric, measure, **options)

    def choose(self, rule: str = "one-se", **options: Any) -> "tradeoff.Choice":
        """Choose one candidate by accuracy and stability, and say why (see :func:`holdfast.tradeoff.choose`)."""
        from holdfast import tradeoff

        return tradeoff.choose(self, rule, **options)

    def final_features(self, candidate: str, X: Any = None, y: Any = None, **options: Any) -> "tradeoff.FinalFeatures":
        """Report the features of a candidate, with how sure they are (see :func:`holdfast.tradeoff.final_features`)."""
        from holdfast import tradeoff

        return tradeoff.final_features(self, candidate, X, y, **options)

    def recovery(self, truth: Any, candidate: str, **options: Any) -> "tradeoff.Recovery":
        """Count false positives and negatives where the truth is known (see :func:`holdfast.tradeoff.recovery`)."""
        from holdfast import tradeoff

        return tradeoff.recovery(self, truth, candidate, **options)

    def prediction_agreement(self, candidate: str) -> "tradeoff.PredictionAgreement":
        """Tell whether other selections predict otherwise (see :func:`holdfast.tradeoff.prediction_agreement`)."""
        from holdfast import tradeoff

        return tradeoff.prediction_agreement(self, candidate)

    def profile(self, name: str, measure: str | Measure = "nogueira", **options: Any) -> "tradeoff.SizeProfile":
        """Measure stability against the number of features (see :func:`holdfast.tradeoff.profile`)."""
        from holdfast import tradeoff

        return tradeoff.profile(self, name, measure, **options)

    def fraction_profile(self, candidates: Iterable[str] | None = None, **options: Any) -> pd.DataFrame:
        """Agreement and score against the size of the sample (see :func:`holdfast.tradeoff.fraction_profile`)."""
        from holdfast import tradeoff

        return tradeoff.fraction_profile(self, candidates, **options)

    def setting_ranks(self, over: str = "size", **options: Any) -> pd.DataFrame:
        """Mean rank of every setting over the values of a parameter (see :func:`holdfast.tradeoff.ranked_settings`)."""
        from holdfast import tradeoff

        return tradeoff.ranked_settings(self, over, **options)

    def report(self, path: str | Path = "report.html", **options: Any) -> Path:
        """Write a report into one file, .html, .md or .json; options as for :func:`holdfast.report.summarize`."""
        from holdfast import report

        format = options.pop("format", None)
        return report.write_report(report.summarize(self, **options), path, format=format)

    # A pilot

    def _pilot(self, candidate: str) -> Pilot | None:
        """What a candidate's first runs ask for; None if they have no uncertainty."""
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
        """The most runs that any candidate's pilot asks for."""
        pilots = [self._pilot(name) for name in self.candidates]
        return max((pilot.n_runs for pilot in pilots if pilot is not None), default=self.stored.meta["until"]["pilot"])

    def export(self, folder: str | Path) -> list[Path]:
        """Write all tables as Parquet files into a folder and return their paths.

        The tables are ``summary``, ``selections``, ``scores``, ``predictions``, ``failures`` and ``splits``.
        """
        from holdfast.study.export import write_tables

        return write_tables(self, path_of(folder, "the path of a folder"))

    def __repr__(self) -> str:
        state = "" if self.complete else f", {self.n_outcomes:,} fits so far"
        failed = f", {len(self.failures)} failed" if len(self.failures) else ""
        splits = f"{len(self.stored.splits)} splits ({self.design_in_words})"
        head = f"Study of {len(self.candidates)} candidates on {splits}{state}{failed}"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = self.summary().drop(columns=["family", "reason", "measure"])
        table = table.drop(columns="top") if table["top"].isna().all() else table
        cut = {"top": lambda k: "" if k != k else f"{k:.0f}"}
        return f"{head}\n{table.to_string(formatters=cut, float_format=lambda number: f'{number:.3f}')}"


def corrected_error(values: NDArray[np.float64], splits: pd.DataFrame) -> float:
    """Standard error of a mean score over runs that share training rows: the variance times 1/J + tested/trained."""
    if values.size < 2:
        return math.nan
    ratio = (splits["n_test"] / splits["n_rows"]).mean()
    return float(np.sqrt((1 / values.size + ratio) * values.var(ddof=1)))


def load_study(store: str | Path) -> StudyResult:
    """Read a study from its store, also while it still runs.

    Parameters
    ----------
    store : path
        File that :meth:`Study.run` was given as ``store``.
    """
    kept = opened_to_read(store)
    try:
        return StudyResult(read(kept))
    finally:
        kept.connection.close()
