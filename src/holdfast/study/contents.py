"""The contents of a study: its plan, its candidates, and what each of them did on every split."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.inference.designs import DesignedRuns
from holdfast.io.record import DataRecord
from holdfast.preferences import Kind, Preferences
from holdfast.serialization import from_plain
from holdfast.study.memory import Memory
from holdfast.study.stored import Records, Stored

if TYPE_CHECKING:
    from holdfast.study.study import Study


@dataclass(frozen=True, eq=False)
class StudyContents:
    """The plan of a study, its candidates, and what each of them did on every split.

    Attributes
    ----------
    stored : Stored
        The tables of the study's store; use the properties and methods instead.
    study : Study or None
        The plan, if this process ran it; a store does not hold it.
    """

    stored: Stored
    study: "Study | None" = None

    # The plan

    @property
    def plan(self) -> dict[str, Any]:
        """What the results depend on: data fingerprint, perturbation, seed, estimator, scores, covariates, task."""
        return self.stored.meta["plan"]

    @property
    def perturbation(self) -> dict[str, Any]:
        """The perturbation as plain values: its class under ``"perturbation"``, and its parameters."""
        return self.plan["perturbation"]

    @property
    def records(self) -> Records:
        """What perturbation, selectors and scores say of themselves, as it was when the study ran."""
        return self.stored.records

    @property
    def design(self) -> str:
        """How the stabilities of resamples are put together: runs, folds, pairs, nested_folds or nested_subsamples."""
        return self.stored.meta["design"]

    @property
    def fractions(self) -> tuple[float, ...]:
        """Of nested subsamples, the smaller sizes (shares of a whole sample) that a summary averages over; else none.

        See Also
        --------
        fraction_profile : Agreement and score at each of these sizes.
        """
        return self.stored.fractions() or ()

    @property
    def perturbation_name(self) -> str:
        """The name of the perturbation, and of nested subsamples the sizes that a summary averages over."""
        name, sizes = self.records.perturbation.name, ", ".join(f"{size:g}" for size in self.fractions)
        return f"{name}; stability and scores are means over the fractions {sizes}" if sizes else name

    @property
    def metrics(self) -> list[str]:
        """Names of the scores."""
        return list(self.plan["scoring"])

    @property
    def feature_names(self) -> Sequence[str] | range:
        """The universe: all columns that the study could select from, without covariates."""
        return self.stored.features

    @property
    def classes(self) -> list[Any] | None:
        """The classes of the target, sorted; None if numbers are predicted."""
        return self.stored.meta["classes"]

    @property
    def task(self) -> Literal["classification", "regression"]:
        """What is predicted: classes or numbers."""
        return "regression" if self.classes is None else "classification"

    @cached_property
    def data(self) -> DataRecord:
        """What the data are and what was done to them: rows, features, target, classes, notes; never a value."""
        return from_plain(DataRecord, self.stored.meta["data_record"])

    @property
    def prefilter(self) -> str | None:
        """What was done to the columns before the study, in words; None if nothing was said."""
        return self.stored.meta["prefilter"]

    @property
    def provenance(self) -> dict[str, Any]:
        """Where the results come from: plan, data fingerprint, seeds, versions, sessions."""
        sessions = self.stored.sessions.to_dict("records")
        return {
            "plan": self.plan,
            "prefilter": self.prefilter,
            "n_splits": self.n_splits,
            "selectors": self.selectors,
            "until": self.stored.meta.get("until"),
            "sessions": [{**row, "versions": json.loads(row["versions"])} for row in sessions],
            "store": None if self.stored.path is None else str(self.stored.path),
        }

    @property
    def memory(self) -> Memory:
        """What was computed from these results before; a result never changes, so that it need not be done again."""
        return self.stored.memory

    def without_store(self) -> Self:
        """Return the same results, without the path of a store, such as a temporary one.

        Returns
        -------
        StudyResult
            A copy.
        """
        return replace(self, stored=replace(self.stored, path=None))

    # Candidates

    @property
    def candidates(self) -> list[str]:
        """Names of all candidates."""
        return self.stored.candidates["name"].tolist()

    @property
    def families(self) -> list[str]:
        """Names of all selectors, each a family of candidates."""
        return list(dict.fromkeys(self.stored.candidates["family"]))

    @property
    def selectors(self) -> dict[str, Any]:
        """The selector of each family as plain values: its class and its parameters."""
        return {family: json.loads(text) for family, text in self.stored.meta["selectors"].items()}

    def family(self, candidate: str) -> str:
        """Return the name of the selector that a candidate belongs to.

        Parameters
        ----------
        candidate : str
            Name of a candidate.

        Returns
        -------
        str
            Name of a family.

        Raises
        ------
        ValueError
            If the study has no such candidate.
        """
        return str(self.stored.row(candidate)["family"])

    def settings(self, candidate: str) -> dict[str, Any]:
        """Return the setting of a candidate.

        Parameters
        ----------
        candidate : str
            Name of a candidate.

        Returns
        -------
        dict
            Values of the selector's parameters that make this candidate, and its ``size`` if an order was cut.

        Raises
        ------
        ValueError
            If the study has no such candidate.
        """
        return json.loads(self.stored.row(candidate)["settings"])

    def size_of(self, candidate: str) -> int | None:
        """Return how many features a candidate cuts from the order of each fit.

        Parameters
        ----------
        candidate : str
            Name of a candidate.

        Returns
        -------
        int or None
            At most so many are selected; None if it is no cut of a stored order.
        """
        size = self.stored.row(candidate)["size"]
        return None if pd.isna(size) else int(size)

    def stored_sizes(self, candidate: str) -> tuple[int, int]:
        """Return for which sizes the stored orders of a candidate hold, so that they can be cut without a new fit.

        Parameters
        ----------
        candidate : str
            Name of a candidate.

        Returns
        -------
        (int, int)
            The least and the largest.

        Raises
        ------
        UnansweredError
            If no orders were stored.
        """
        return self.stored.stored_sizes(candidate)

    @cached_property
    def kinds(self) -> dict[str, Kind]:
        """What each candidate with a finished fit gives: subset, ranking or weighting."""
        outcomes = {name: self.stored.find_outcomes(name) for name in self.candidates}
        return {name: table["kind"].iloc[0] for name, table in outcomes.items() if len(table)}

    @property
    def finished(self) -> list[str]:
        """Candidates with at least one fit that did not fail."""
        return list(self.kinds)

    @cached_property
    def stopped(self) -> pd.DataFrame:
        """Candidates that a search stopped early: ``after`` how many resamples, and ``by`` which better one."""
        rows = [{"candidate": name, **why} for name, why in self.stored.meta.get("stopped", {}).items()]
        return pd.DataFrame(rows, columns=["candidate", "after", "by"]).set_index("candidate")

    # Splits and fits

    @property
    def split_table(self) -> pd.DataFrame:
        """The table :attr:`splits` without row numbers."""
        return self.stored.splits

    def split_numbers(self, runs: Preferences) -> NDArray[np.int64]:
        """Return the number of the split that each run comes from.

        Parameters
        ----------
        runs : Preferences
            Runs of a candidate, labeled by their splits.

        Returns
        -------
        ndarray of int
            Numbers of splits, as the tables of this study are indexed by them.
        """
        return self.stored.split_numbers(runs.labels or ())

    @cached_property
    def splits(self) -> pd.DataFrame:
        """One row per split, indexed by its number: label, seed, block, fraction, numbers of rows, and the rows.

        ``train_rows`` are the rows trained on, from 0, each once, and ``train_counts`` how often each was taken (1, or
        more in a bootstrap sample); ``test_rows`` are those held out.
        """
        return self.stored.splits.assign(**self.stored.rows_by_split())

    @property
    def n_splits(self) -> int:
        """Number of splits."""
        return len(self.stored.splits)

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
        """Whether every candidate was fitted on every split, but for those that a search stopped."""
        fits = self._ended["candidate"].value_counts()
        table = self.stored.candidates
        wanted = table["candidate"][~table["name"].isin(self.stopped.index)]
        return bool((fits.reindex(wanted, fill_value=0) == self.n_splits).all())

    @cached_property
    def failures(self) -> pd.DataFrame:
        """One row per failure: candidate, run, stage (select, score, time limit, died), error, traceback."""
        return self.stored.with_names(self.stored.failures)

    @cached_property
    def notes(self) -> pd.DataFrame:
        """Warnings during fits, such as solvers that did not converge: candidate, note, in how many runs."""
        table = self.stored.with_names(self.stored.outcomes)[["candidate", "note"]]
        lines = table.assign(note=table["note"].str.split("\n")).explode("note")
        counts = lines[lines["note"].fillna("") != ""].value_counts(["candidate", "note"], sort=False)
        return counts.rename("runs").reset_index()

    def designed(
        self,
        candidate: str,
        *,
        fraction: float | None = None,
        kind: Kind | None = None,
        top: int | None = None,
        measured: bool = True,
    ) -> DesignedRuns:
        """Return what a candidate preferred on each measured split, with the place of each in the design.

        Parameters
        ----------
        candidate : str
            Name of a candidate.
        fraction : float, optional
            Of nested subsamples, only those of this size, and the whole samples.
        kind : {"subset", "ranking", "weighting"}, optional
            Ask for the ranking or the weights that selections were cut from, if the study stored them.
        top : int, optional
            Of selections that were cut from an order, so many of the best features instead.
        measured : bool
            False for the splits that do not enter the stability: outer folds, and all rows beside halvings.

        Returns
        -------
        DesignedRuns
            Preferences with block and fraction of each.

        Raises
        ------
        ValueError
            If there is no such candidate, or none of its fits has finished.
        """
        return self.stored.designed(candidate, fraction=fraction, kind=kind, top=top, measured=measured)

    def preferences(self, candidate: str, *, kind: Kind | None = None, top: int | None = None) -> Preferences:
        """Return what a candidate preferred on each split that it was fitted on without failing.

        Parameters
        ----------
        candidate : str
            Name of a candidate.
        kind : {"subset", "ranking", "weighting"}, optional
            Ask for the ranking or the weights that selections were cut from, if the study stored them
            (``hf.Candidates(…, keep="weights")``).
        top : int, optional
            Of selections that were cut from an order, so many of the best features instead.

        Returns
        -------
        Preferences
            Runs are labeled by their split.

        Raises
        ------
        ValueError
            If there is no such candidate, or none of its fits has finished.
        """
        return self.designed(candidate, kind=kind, top=top).runs

    # Scores and predictions

    @cached_property
    def scores(self) -> pd.DataFrame:
        """One row per candidate and run with held-out rows, one column per score."""
        tall = self.stored.scores.set_index(["candidate", "split", "metric"])["value"]
        wide = tall.unstack("metric")  # noqa: PD010 - a pivot table adds a row for every fit that failed
        wide = wide.reindex(columns=self.metrics).rename_axis(columns=None).reset_index()
        return self.stored.with_names(wide)

    @property
    def has_scores(self) -> bool:
        """Whether any candidate has a score that is defined."""
        return bool(self.stored.scores["value"].notna().any())

    def split_scores(
        self, candidate: str, metric: str, *, fraction: float | None = None
    ) -> tuple["pd.Series[float]", pd.DataFrame]:
        """Return a candidate's score on each split, and what is known of these splits.

        Parameters
        ----------
        candidate : str
            Name of a candidate.
        metric : str
            Name of a score.
        fraction : float, optional
            Of nested subsamples, the size that the scores are of; by default each sample's mean over all smaller
            sizes, and samples without a score at each of these sizes are left out.

        Returns
        -------
        (Series, DataFrame)
            Scores by number of the split, and the rows of :attr:`splits` for them.
        """
        return self.stored.split_scores(candidate, metric, fraction)

    def guessing_scores(self, metric: str) -> pd.DataFrame:
        """Return the scores of guessing without any feature, which a candidate has to beat.

        Parameters
        ----------
        metric : str
            Name of a score.

        Returns
        -------
        DataFrame
            One row per split, one column per way to guess; ``nan`` where there is no such score. Of nested subsamples,
            means over sizes, as those of :meth:`split_scores`.
        """
        return self.stored.guessing_scores(metric)

    def predictions(self, candidate: str) -> pd.DataFrame:
        """Return the prediction for every held-out row.

        Parameters
        ----------
        candidate : str
            Name of a candidate.

        Returns
        -------
        DataFrame
            One row per run and held-out row: the truth and what was predicted; empty if predictions were not kept.
        """
        return self.stored.predictions(candidate)

    @property
    def path(self) -> Path | None:
        """The file of the store; None for a study in memory."""
        return self.stored.path
