"""The results of a study, as its store holds them: the plan, the candidates, and what each of them did on every split.

:class:`StudyTables` is what everything below :class:`holdfast.StudyResult` reads a study by.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.checks import check_unique
from holdfast.declared import About
from holdfast.inference.designs import RunsByBlock
from holdfast.inference.features import frequency_interval
from holdfast.inference.intervals import check_level
from holdfast.io.record import DataRecord
from holdfast.kernels.survival_curves import CURVE_LINES
from holdfast.preferences import Kind, Preferences
from holdfast.serialization import from_plain
from holdfast.study import exports, stabilities
from holdfast.study.memory import FEW_BYTES, Cache
from holdfast.study.orders import Sets, StoredOrders, UnansweredError, no_orders, no_weights
from holdfast.study.store import Checks, Store, open_to_read, read_tables, unpack_rows
from holdfast.study.work import QUANTILES, SplitCoefficients, SplitEffects, best_features, unpack_effects
from holdfast.targets import TaskName

if TYPE_CHECKING:
    from holdfast.result import StudyResult
    from holdfast.study.study import Study

MAX_BYTES = 64 << 20
"""How much a result remembers of what was computed from it."""


def load_study(store: str | Path) -> "StudyResult":
    """Read a study from its store, also while it still runs.

    Parameters
    ----------
    store : path
        File that :meth:`Study.run` was given as ``store``.

    Returns
    -------
    StudyResult
        What is in the store now: a snapshot if the study still runs.

    Raises
    ------
    StoreError
        If there is no study at this path, or the file is damaged.

    See Also
    --------
    Study.run : Writes the store, and resumes from it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> study = hf.Study(selectors=[hf.selectors.AnovaF(2)], perturbation=hf.Bootstrap(20))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "iris.db"
    ...     _ = study.run(X, y, store=path)
    ...     hf.load_study(path).stability("anova")
    nogueira = 1.000 [0.761, 1.000] (95% CI, 20 runs)
    """
    with open_to_read(store) as opened:
        return make_result(opened)


def make_result(store: Store, study: "Study | None" = None) -> "StudyResult":
    """Read the results of a study from an open store: only here does a study import its result.

    With its study, the store was written by this process and is not checked for damage again.
    """
    from holdfast.result import StudyResult

    return StudyResult(read_snapshot(store, trusted=study is not None), study)


class Records(NamedTuple):
    """What is said of the perturbation, of every family's selector and of every score."""

    perturbation: About
    selectors: dict[str, About]
    scores: dict[str, About]


PACKED = ["rows", "counts", "test"]
"""Columns of splits with the rows trained on, how often each, and those held out."""


def _frame(name: str) -> "cached_property[pd.DataFrame]":
    return cached_property(lambda snapshot: snapshot.make_frame(name))


@dataclass(frozen=True, kw_only=True, eq=False)
class Snapshot:
    """Every table of a store, read in one moment, in which candidates and splits are numbers.

    A table becomes a frame when it is asked for. ``scores`` are those of the outcomes, one in a row; ``rows`` the
    packed rows of the splits. ``frames`` stand in for what was read, as in studies that were pooled.
    """

    path: Path | None
    meta: Mapping[str, Any]
    checks: Checks
    frames: Mapping[str, pd.DataFrame] = field(default_factory=dict)

    splits, rows, candidates, orderings, orders = map(_frame, ("splits", "rows", "candidates", "orderings", "orders"))
    outcomes, scores, baselines, failures = map(_frame, ("outcomes", "scores", "baselines", "failures"))
    effects, quantiles, members, sessions = map(_frame, ("effects", "quantiles", "members", "sessions"))

    def make_frame(self, name: str) -> pd.DataFrame:
        """A table as it was read, or what stands in for it."""
        if name in self.frames:
            return self.frames[name]
        if name == "scores":
            scored, metrics = self.outcomes[self.outcomes["scores"].notna()], list(self.meta["plan"]["scoring"])
            return pd.DataFrame(
                {
                    "candidate": np.repeat(scored["candidate"].to_numpy(dtype=np.int64), len(metrics)),
                    "split": np.repeat(scored["split"].to_numpy(dtype=np.int64), len(metrics)),
                    "metric": np.tile(np.array(metrics, dtype=object), len(scored)),
                    "value": np.frombuffer(b"".join(scored["scores"]), dtype="<f8"),
                }
            )
        check = self.checks["splits" if name == "rows" else name]
        frame = pd.DataFrame.from_records(check.rows, columns=list(check.table.columns), coerce_float=True)
        if name not in ("splits", "rows"):
            return frame
        by_split = frame.set_index("split")
        return by_split[PACKED] if name == "rows" else by_split.drop(columns=PACKED)

    def with_names(self, table: pd.DataFrame) -> pd.DataFrame:
        """Replace numbers of candidates and splits by names."""
        names = self.candidates.set_index("candidate")["name"]
        named = table.assign(candidate=table["candidate"].map(names), run=table["split"].map(self.splits["label"]))
        first = ["candidate", "run"]
        return named[[*first, *(column for column in named.columns if column not in (*first, "split"))]]

    @cached_property
    def _rows_by_name(self) -> dict[Any, "pd.Series[Any]"]:
        return {row["name"]: row for _, row in self.candidates[::-1].iterrows()}  # the first of a name counts

    def row(self, candidate: str) -> "pd.Series[Any]":
        """The row of a candidate in the table of candidates, or a sentence that lists those there are."""
        if candidate not in self._rows_by_name:
            known = ", ".join(self.candidates["name"][:20])
            raise ValueError(f"Expected one of the candidates {known}, got {candidate!r}.")
        return self._rows_by_name[candidate]

    @cached_property
    def _outcomes_by_candidate(self) -> dict[Any, pd.DataFrame]:
        return dict(iter(self.outcomes.groupby("candidate")))

    def find_outcomes(self, candidate: str) -> pd.DataFrame:
        """The fits of a candidate that did not fail, one row per split."""
        return self._outcomes_by_candidate.get(int(self.row(candidate)["candidate"]), self.outcomes.iloc[:0])

    def find_fractions(self, fraction: float | None = None) -> tuple[float, ...] | None:
        """Of nested subsamples, the sizes that are meant: one, or all smaller ones; None in other designs."""
        if self.meta["design"] != "nested_subsamples":
            if fraction is not None:
                raise ValueError(
                    f"Expected a study with hf.NestedSubsamples for fraction=, got one of {self.meta['design']}."
                )
            return None
        known = sorted(set(self.splits["fraction"].tolist()))
        if fraction is not None and fraction not in known:
            raise ValueError(f"Expected one of the sizes {', '.join(f'{size:g}' for size in known)}, got {fraction!r}.")
        return tuple(size for size in known if size < 1) if fraction is None else (float(fraction),)


def read_snapshot(store: Store, *, trusted: bool = False) -> Snapshot:
    """Read everything in one moment; raise if anything is damaged, unless this process wrote it."""
    checks, meta = read_tables(store, trusted=trusted)
    return Snapshot(path=store.path, meta={**meta, "selectors": dict(checks["families"].rows)}, checks=checks)


@dataclass(frozen=True, eq=False)
class StudyTables:
    """The plan of a study, its candidates, what each of them did on every split, and how stable each is.

    Attributes
    ----------
    stored : Snapshot
        The tables of the study's store; use the properties and methods instead.
    study : Study or None
        The plan, if this process ran it; a store does not hold it.
    """

    stored: Snapshot
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

    @cached_property
    def records(self) -> Records:
        """What perturbation, selectors and scores say of themselves, as it was when the study ran."""
        declared = self.stored.meta["declared"]
        selectors, scores = (
            {name: About.from_dict(values) for name, values in declared[kind].items()}
            for kind in ("selectors", "scores")
        )
        return Records(About.from_dict(declared["perturbation"]), selectors, scores)

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
        return self.stored.find_fractions() or ()

    @property
    def perturbation_name(self) -> str:
        """The name of the perturbation, and of nested subsamples the sizes that a summary averages over."""
        name, sizes = self.records.perturbation.name, ", ".join(f"{size:g}" for size in self.fractions)
        return f"{name}; stability and scores are means over the fractions {sizes}" if sizes else name

    @property
    def seeds(self) -> list[int]:
        """The seed of the study; of studies that were pooled, those of all."""
        return list(self.stored.meta.get("seeds", [self.plan["random_state"]]))

    @property
    def command(self) -> dict[str, Any] | None:
        """The options by which ``holdfast study`` began the study; None if a program did."""
        return self.stored.meta.get("command")

    @property
    def code(self) -> list[str]:
        """Python code of the studies that made these results, without their data; empty if the command line did."""
        return list(self.stored.meta.get("code", []))

    @property
    def metrics(self) -> list[str]:
        """Names of the scores."""
        return list(self.plan["scoring"])

    @property
    def feature_names(self) -> Sequence[str] | range:
        """The universe: all columns that the study could select from, without covariates."""
        names = self.stored.meta["names"]
        return range(self.stored.meta["n_features"]) if names is None else names

    @property
    def classes(self) -> list[Any] | None:
        """The classes of the target, sorted; None if numbers are predicted."""
        return self.stored.meta["classes"]

    @property
    def task(self) -> TaskName:
        """What is predicted: classes or numbers."""
        return self.plan["task"]

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
    def path(self) -> Path | None:
        """The file of the store; None for a study in memory."""
        return self.stored.path

    @cached_property
    def memory(self) -> Cache:
        """What was computed from these results before; a result never changes, so that it need not be done again."""
        return Cache(MAX_BYTES)

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

    def n_forced(self, candidate: str) -> int:
        """Return how many features the setting of a candidate forces into every selection (see ``HybridRFE``).

        Parameters
        ----------
        candidate : str
            Name of a candidate.

        Returns
        -------
        int
            0 for selectors that force none.
        """
        given = [value for name, value in self.settings(candidate).items() if name.split("__")[-1] == "n_forced"]
        own = re.findall(r'"n_forced": ?(\d+)', self.stored.meta["selectors"].get(self.family(candidate), ""))
        return int((given or own or [0])[0])

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
        orders, splits = self._find_orders(candidate), self.stored.find_outcomes(candidate)["split"].tolist()
        if orders is None or not splits or not set(splits) <= set(orders.table.index):
            raise no_orders(candidate)
        return orders.reach(splits)

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
        numbers = dict(zip(self.stored.splits["label"], self.stored.splits.index, strict=True))
        return np.array([numbers[label] for label in runs.labels or ()], dtype=np.int64)

    @cached_property
    def splits(self) -> pd.DataFrame:
        """One row per split, indexed by its number: label, seed, block, fraction, numbers of rows, and the rows.

        ``train_rows`` are the rows trained on, from 0, each once, and ``train_counts`` how often each was taken (1, or
        more in a bootstrap sample); ``test_rows`` are those held out.
        """
        rows: dict[str, Any] = {"train_rows": [], "train_counts": [], "test_rows": []}
        sizes = self.stored.splits[["n_rows", "n_test"]].itertuples(index=False, name=None)
        for (n_rows, n_test), packed in zip(sizes, self.stored.rows.itertuples(index=False, name=None), strict=True):
            train, counts, test = packed
            rows["train_rows"].append(unpack_rows(train, n_rows).astype(np.int32))
            counted = np.ones(n_rows) if counts is None else unpack_rows(counts, n_rows)
            rows["train_counts"].append(counted.astype(np.int32))
            rows["test_rows"].append(unpack_rows(test, n_test).astype(np.int32))
        return self.stored.splits.assign(**rows)

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

    # Preferences

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
        return self.runs_by_block(candidate, kind=kind, top=top).runs

    def runs_by_block(
        self,
        candidate: str,
        *,
        fraction: float | None = None,
        kind: Kind | None = None,
        top: int | None = None,
        measured: bool = True,
    ) -> RunsByBlock:
        """Return what a candidate preferred on each measured split, with the block and fraction of each.

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
            False for the splits that do not enter the stability: outer folds, and all rows next to split halves.

        Returns
        -------
        RunsByBlock
            Preferences with block and fraction of each.

        Raises
        ------
        ValueError
            If there is no such candidate, or none of its fits has finished.
        """
        kind = None if kind == "subset" else kind  # as it is asked for where nothing is said
        return self.memory.get_or_compute(
            ("runs_by_block", candidate, fraction, kind, top, measured),
            lambda: self._find_runs_by_block(candidate, fraction, kind, top, measured),
            _count_bytes,
        )

    designed = runs_by_block  # its first name

    def _find_runs_by_block(
        self, candidate: str, fraction: float | None, kind: Kind | None, top: int | None, measured: bool
    ) -> RunsByBlock:
        outcomes, fractions = self.stored.find_outcomes(candidate), self.stored.find_fractions(fraction)
        splits = self.stored.splits
        at = splits.index.get_indexer(pd.Index(outcomes["split"]))
        share = splits["fraction"].to_numpy()[at]
        chosen = splits["measured"].to_numpy()[at].astype(bool) == measured
        if fractions is not None:
            chosen &= np.isin(share, [*fractions, 1.0])
        if not chosen.any():
            failed = (self.stored.failures["candidate"] == self.stored.row(candidate)["candidate"]).any()
            why = "the table .failures says why" if failed else "the study has not come so far"
            raise UnansweredError(
                f"{candidate} has no finished fits; {why}.",
                "all of its fits failed" if failed else "none of its runs has finished yet",
            )
        labels = tuple(splits["label"].to_numpy(dtype=object)[at[chosen]].tolist())
        return RunsByBlock(
            self._make_preferences(candidate, outcomes[chosen], labels, kind, top),
            self.design,
            splits["block"].to_numpy()[at[chosen]].tolist(),
            share[chosen].tolist(),
            self.records.perturbation,
            None if fractions is None else tuple(size for size in fractions if size < 1),
        )

    def _make_preferences(
        self, candidate: str, outcomes: pd.DataFrame, labels: tuple[str, ...], kind: Kind | None, top: int | None
    ) -> Preferences:
        """Put the stored preferences of one candidate together."""
        names, stored = self._names, outcomes["kind"].iloc[0]
        if stored == "subset" and kind is None:
            sets = self._read_sets(candidate, outcomes, top)
            return Preferences(
                kind="subset", n_features=len(self.feature_names), indices=sets.indices, indptr=sets.indptr,
                names=names, labels=labels,
            )  # fmt: skip
        if stored == "subset":
            orders = self._find_orders(candidate)
            if orders is None or kind is None:
                raise no_weights(candidate, kind or "ranking")
            stored, rows = orders.whole(outcomes["split"].tolist(), kind, candidate)
        else:
            rows = np.vstack([np.frombuffer(blob, dtype="<f8") for blob in outcomes["preference"]])
        make = Preferences.from_rankings if stored == "ranking" else Preferences.from_weights
        return make(rows, features=names, labels=labels)

    @cached_property
    def _names(self) -> Sequence[str] | None:
        """The names of the features, looked through once."""
        names = self.stored.meta["names"]
        names = None if names is None else tuple(names)
        return check_unique(names, len(self.feature_names), "feature", "column", "features=")

    @cached_property
    def _orders(self) -> dict[Any, StoredOrders]:
        by_number = self.stored.orders.groupby("ordering")
        n_features = len(self.feature_names)
        return {number: StoredOrders(table.set_index("split"), n_features) for number, table in by_number}

    def _find_orders(self, candidate: str) -> StoredOrders | None:
        """The orders that the selections of a candidate are cut from; None if none were stored."""
        number = self.stored.row(candidate)["ordering"]
        return None if pd.isna(number) else self._orders.get(number)

    def _read_sets(self, candidate: str, outcomes: pd.DataFrame, top: int | None) -> Sets:
        """The selected features on each split: those of the candidate, or the best of another number."""
        orders, splits, blobs = self._find_orders(candidate), outcomes["split"].tolist(), outcomes["preference"]
        if top is not None:
            if orders is None or blobs.notna().any() or not set(splits) <= set(orders.table.index):
                raise no_orders(candidate)
            orders.check_size(top, splits, candidate)
            return orders.cut(splits, top)
        is_cut = blobs.isna().to_numpy()
        if orders is None or not is_cut.any():
            return Sets.join([np.frombuffer(blob, dtype="<i4") for blob in blobs])
        cut = orders.cut(outcomes["split"].to_numpy()[is_cut], int(self.stored.row(candidate)["size"]))
        if is_cut.all():
            return cut
        cuts = iter(cut.split())
        return Sets.join([next(cuts) if blob is None else np.frombuffer(blob, dtype="<i4") for blob in blobs])

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

        def find() -> tuple["pd.Series[float]", pd.DataFrame]:
            key = int(self.stored.row(candidate)["candidate"]), metric
            rows = self._scores_by_metric.get(key, self.stored.scores.iloc[:0])
            scores = rows.dropna(subset="value").set_index("split")["value"].sort_index()
            splits, fractions = self.stored.splits.loc[scores.index], self.stored.find_fractions(fraction)
            return (scores, splits) if fractions is None else _average_over_fractions(scores, splits, fractions)

        scores, splits = self.memory.get_or_compute(("scores", candidate, metric, fraction), find)
        return scores.copy(), splits.copy()

    @cached_property
    def _scores_by_metric(self) -> dict[Any, pd.DataFrame]:
        return dict(iter(self.stored.scores.groupby(["candidate", "metric"])))

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
        rows = self.stored.baselines[self.stored.baselines["metric"] == metric]
        table = rows.set_index(["split", "strategy"])["value"].astype(float).unstack("strategy")  # noqa: PD010
        if self.design != "nested_subsamples":
            return table
        known = {strategy: scores.dropna() for strategy, scores in table.items()}
        means = {
            strategy: _average_over_fractions(scores, self.stored.splits.loc[scores.index], self.fractions)[0]
            for strategy, scores in known.items()
        }
        return pd.DataFrame(means)

    def predictions(self, candidate: str) -> pd.DataFrame:
        """Return the prediction for every held-out row.

        Parameters
        ----------
        candidate : str
            Name of a candidate.

        Returns
        -------
        DataFrame
            One row per run and held-out row: the truth and what was predicted (of survival times, the time, the event,
            and the log risk); empty if predictions were not stored.
        """
        target, classes = np.array(self.stored.meta["target"]), self.classes
        events, target = target.T if self.task == "survival" else (None, target)
        frames = []
        rows = self.stored.find_outcomes(candidate).dropna(subset="predictions")[["split", "predictions"]]
        for split, blob in rows.itertuples(index=False, name=None):
            test = unpack_rows(self.stored.rows["test"].loc[split], int(self.stored.splits["n_test"].loc[split]))
            truth = target[test]
            predicted = np.frombuffer(blob, dtype="<f8" if classes is None else f"<u{len(blob) // test.size}")
            if classes is not None:
                truth, predicted = (np.array(classes, dtype=object)[codes] for codes in (truth, predicted))
            run = self.stored.splits["label"].loc[split]
            frames.append(pd.DataFrame({"run": run, "row": test, "truth": truth, "predicted": predicted}))
            if events is not None:
                frames[-1].insert(3, "event", events[test].astype(bool))
        empty = pd.DataFrame(columns=["run", "row", "truth", "predicted"])
        return pd.concat(frames, ignore_index=True) if frames else empty

    # Features

    def members(self, candidate: str, *, level: float = 0.95) -> pd.DataFrame:
        """Return how often each column was selected that a step of a pipeline made, or that belongs to a group.

        A feature is selected if any of its columns is: so its frequency is at least that of the most frequent one,
        and larger where columns take turns.

        Parameters
        ----------
        candidate : str
            Name of a candidate.
        level : float
            Level of the intervals.

        Returns
        -------
        DataFrame
            One row per column that was selected at all, those of one feature together, the most frequent feature
            first: ``feature``, ``feature_frequency``, ``column``, ``frequency``, ``low``, ``high``. Empty if each
            column is a feature, or if the candidate gives rankings or weights.

        Examples
        --------
        >>> import holdfast as hf
        >>> X, y = hf.datasets.load("breast_cancer")
        >>> study = hf.Study(
        ...     hf.selectors.AnovaF(4), hf.Bootstrap(20), feature_groups={"radius": ["mean radius", "worst radius"]}
        ... )
        >>> study.run(X, y).members("anova")[["feature", "column", "frequency"]]
          feature        column  frequency
        0  radius  worst radius        1.0
        """
        check_level(level)
        number, names = int(self.stored.row(candidate)["candidate"]), list(map(str, self.feature_names))
        stored = self.stored.members[self.stored.members["candidate"] == number]["columns"]
        times = Counter(
            (int(feature), column)
            for text in stored
            for feature, columns in json.loads(text).items()
            for column in columns
        )
        counts, n_runs = np.array([*times.values()], dtype=np.int64), max(1, len(self.stored.find_outcomes(candidate)))
        low, high = frequency_interval(counts, n_runs, level)
        share = self.preferences(candidate).frequency if times else np.empty(0)
        frame = pd.DataFrame(
            {
                "feature": [names[feature] for feature, _ in times],
                "feature_frequency": [float(share[feature]) for feature, _ in times],
                "column": [column for _, column in times],
                "frequency": counts / n_runs,
                "low": low,
                "high": high,
            }
        )
        order = ["feature_frequency", "feature", "frequency", "column"]
        return frame.sort_values(order, ascending=[False, True, False, True], ignore_index=True)

    @property
    def no_effects(self) -> str | None:
        """Why there are no effects of features on held-out rows, in words; None if there are."""
        effects, reason = self.stored.effects, self.stored.meta["no_effects"]
        if reason is not None:
            return str(reason)
        if not (self.split_table["n_test"] > 0).any():
            return "no rows were held out"
        if not effects["features"].map(len).any():
            return "the rows that were held out were also trained on" if len(effects) else "none were stored"
        return None

    def split_effects(self, candidate: str) -> list[SplitEffects]:
        """Return the effects on held-out rows of all features that a candidate or others of its selector selected.

        Parameters
        ----------
        candidate : str
            Name of a candidate.

        Returns
        -------
        list of SplitEffects
            One per split, in order: ``split``, ``features`` (columns, ascending), and ``values`` (features × effects;
            those after adjustment, if the selection is adjusted, follow those before).
        """
        rows, adjusted = self.stored.effects, bool(self.plan.get("adjust"))
        rows = rows[rows["family"] == self.family(candidate)]
        return [
            unpack_effects(row, len(self.classes or ()), adjusted) for row in rows.itertuples(index=False, name=None)
        ]

    @property
    def adjusted_for(self) -> str | None:
        """What the selection is adjusted for, in words; None if it is not."""
        if not self.plan.get("adjust"):
            return None
        names = [*map(str, self.plan["keep"]), *(["the sites"] if "sites" in self.plan else [])]
        return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))

    def quantiles(self, candidate: str) -> dict[int, NDArray[np.float64]]:
        """Return quantiles by class of the features that a candidate or others of its selector selected most often.

        Parameters
        ----------
        candidate : str
            Name of a candidate.

        Returns
        -------
        dict
            For each feature, by column, its 10, 25, 50, 75 and 90 % quantiles in each class (classes × quantiles), or
            in each third of the target if that is a number; ``nan`` for classes of fewer than eight rows.
        """
        return {} if self.task == "survival" else self._read_groups(candidate, (-1, len(QUANTILES)))

    def survival_curves(self, candidate: str) -> dict[int, NDArray[np.float64]]:
        """Return survival by thirds of the features that a candidate or others of its selector selected most often.

        Parameters
        ----------
        candidate : str
            Name of a candidate.

        Returns
        -------
        dict
            For each feature, by column, what :func:`~holdfast.kernels.survival_curves.curves_by_group` returns;
            empty if no survival times are predicted.
        """
        return self._read_groups(candidate, (CURVE_LINES, -1)) if self.task == "survival" else {}

    def _read_groups(self, candidate: str, shape: tuple[int, int]) -> dict[int, NDArray[np.float64]]:
        rows = self.stored.quantiles[self.stored.quantiles["family"] == self.family(candidate)]
        blobs = zip(rows["feature"].tolist(), rows["quantiles"], strict=True)
        return {feature: np.frombuffer(blob, dtype="<f8").reshape(shape) for feature, blob in blobs}

    def no_model_use(self, candidate: str) -> str | None:
        """Return why it is not known what models do with the features of a candidate.

        Parameters
        ----------
        candidate : str
            Name of a candidate.

        Returns
        -------
        str or None
            The reason in words; None if it is known.
        """
        outcomes = self.stored.find_outcomes(candidate)
        if not outcomes["scores"].notna().any():
            return "no model was scored"
        if len(self.classes or ()) > 2:
            return "there are more than two classes"
        if not (outcomes["kind"] == "subset").any():
            return "the candidate orders or weights features and selects none"
        if self.stored.meta["no_effects"] is not None:
            return str(self.stored.meta["no_effects"])
        return None if outcomes["coefficients"].notna().any() else "the model is not linear"

    def model_coefficients(self, candidate: str) -> list[SplitCoefficients]:
        """Return what the linear models of a candidate do with each feature next to the others.

        Parameters
        ----------
        candidate : str
            Name of a candidate.

        Returns
        -------
        list of SplitCoefficients
            One per split with a linear model: ``split``, ``features`` (columns, ascending), and ``values``, their
            coefficients times their standard deviations on the training rows.
        """
        outcomes = self.stored.find_outcomes(candidate)
        outcomes = outcomes[outcomes["coefficients"].notna()]
        sets = self._read_sets(candidate, outcomes, None).split()
        rows = zip(outcomes["split"], sets, outcomes["coefficients"], strict=True)
        return [SplitCoefficients(split, columns, np.frombuffer(blob, dtype="<f4")) for split, columns, blob in rows]

    def importances(self, candidate: str, *, fraction: float | None = None) -> RunsByBlock:
        """Return how much the linear model of each measured split uses each feature, as weights.

        Parameters
        ----------
        candidate : str
            Name of a candidate.
        fraction : float, optional
            Of nested subsamples, only those of this size, and the whole samples.

        Returns
        -------
        RunsByBlock
            Absolute coefficients in units of the features' standard deviations, 0 for features that were not selected.
            Splits without a model, or with one that uses no feature, are left out.

        Raises
        ------
        UnansweredError
            If no coefficients were stored; :meth:`importance_stability` finds what other models use.

        See Also
        --------
        model_coefficients : The coefficients with their signs.
        """

        def find() -> RunsByBlock:
            chosen = self.runs_by_block(candidate, fraction=fraction)
            parts = {part.split: part for part in self.model_coefficients(candidate) if part.values.any()}
            numbers = self.split_numbers(chosen.runs).tolist()
            modeled = [run for run, split in enumerate(numbers) if split in parts]
            if not modeled:
                reason = self.no_model_use(candidate) or "no resample that counts has a model that uses a feature"
                raise UnansweredError(
                    f"Expected stored coefficients of {candidate}, got none: {reason}; importance_stability(candidate, "
                    "X=X, y=y) finds what other models use.",
                    f"it is not known what its models use: {reason}",
                )
            chosen = chosen.take(modeled)
            weights = np.zeros((chosen.runs.n_runs, len(self.feature_names)))
            for row, split in zip(weights, self.split_numbers(chosen.runs).tolist(), strict=True):
                row[parts[split].features] = np.abs(parts[split].values)
            runs = Preferences.from_weights(weights, features=self._names, labels=chosen.runs.labels)
            return replace(chosen, runs=runs)

        return self.memory.get_or_compute(("importances", candidate, fraction), find, _count_bytes)

    @property
    def stored_replicability(self) -> dict[str, Any]:
        """What is stored of candidates in new studies, by candidate, as plain values."""
        return dict(self.stored.meta.get("replicability", {}))

    # How stable each candidate is, and what differs

    @property
    def pilot_runs(self) -> int:
        """The largest number of resamples that any candidate's pilot asks for."""
        pilots = [stabilities.find_pilot(self, name) for name in self.candidates]
        return max((pilot.n_runs for pilot in pilots if pilot is not None), default=self.stored.meta["until"]["pilot"])

    stability = stabilities.stability
    measured = stabilities.measured
    compare_with_use = stabilities.compare_with_use
    common_measure = stabilities.common_measure
    interval = stabilities.interval
    kalousis = stabilities.kalousis
    compare = stabilities.compare
    find_comparable = stabilities.find_comparable
    summary = stabilities.summary

    # Files

    def tabulate_features(self) -> pd.DataFrame:
        """Return the names of all features; a :class:`~holdfast.StudyResult` knows more of them.

        Returns
        -------
        DataFrame
            A column ``feature``.
        """
        return pd.DataFrame({"feature": list(map(str, self.feature_names))})

    export = exports.export
    to_latex = exports.to_latex


def read_selected(study: StudyTables, family: str, splits: Sequence[int]) -> dict[int, list[NDArray[Any]]]:
    """What each candidate of a family selected on these splits; of rankings and weights the best features."""
    selected: dict[int, list[NDArray[Any]]] = {split: [] for split in splits}
    candidates = study.stored.candidates
    for name in candidates["name"][candidates["family"] == family]:
        outcomes = study.stored.find_outcomes(name)
        outcomes = outcomes[outcomes["split"].isin(splits)]
        subsets = outcomes[outcomes["kind"] == "subset"]
        for split, columns in zip(subsets["split"], study._read_sets(name, subsets, None).split(), strict=True):
            selected[split].append(columns)
        others = outcomes[outcomes["kind"] != "subset"]
        for split, kind, blob in zip(others["split"], others["kind"], others["preference"], strict=True):
            selected[split].append(best_features(kind, np.frombuffer(blob, dtype="<f8")))
    return selected


def _average_over_fractions(
    scores: "pd.Series[float]", splits: pd.DataFrame, fractions: Sequence[float]
) -> tuple["pd.Series[float]", pd.DataFrame]:
    """The mean score of each sample that has one at every size, by its first split.

    ``n_rows`` is the harmonic mean of its sizes, so that tested / trained rows is the mean ratio.
    """
    table = splits.assign(score=scores, trained=1 / splits["n_rows"])[splits["fraction"].isin(fractions).to_numpy()]
    if len(fractions) == 1:
        return table["score"], table[splits.columns]
    by_block = table.groupby("block")
    complete = by_block["score"].transform("size") == len(fractions)
    table = table.assign(**by_block[["score", "trained"]].transform("mean"))[complete].drop_duplicates("block")
    return table["score"], table.assign(n_rows=1 / table["trained"])[splits.columns]


def _count_bytes(runs_by_block: RunsByBlock) -> int:
    arrays = (runs_by_block.runs.indices, runs_by_block.runs.indptr, runs_by_block.runs.values)
    return FEW_BYTES + sum(array.nbytes for array in arrays if array is not None)
