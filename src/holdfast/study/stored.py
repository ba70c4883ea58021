"""The tables of a study's store, read in one moment, and the ways to look things up in them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.checks import check_unique
from holdfast.declared import About
from holdfast.inference.designs import DesignedRuns
from holdfast.preferences import Kind, Preferences
from holdfast.study.memory import FEW_BYTES, Memory
from holdfast.study.orders import Sets, StoredOrders, UnansweredError, no_orders, no_weights
from holdfast.study.store import Checks, Store, read_tables, unpack_rows
from holdfast.study.work import SplitCoefficients, best_features

MOST_BYTES = 64 << 20
"""How much a result remembers of what was computed from it."""


class Records(NamedTuple):
    """What is said of the perturbation, of every family's selector and of every score."""

    perturbation: About
    selectors: dict[str, About]
    scores: dict[str, About]


@dataclass(frozen=True, kw_only=True, eq=False)
class Stored:
    """Everything a store held at one moment."""

    path: Path | None
    meta: Mapping[str, Any]
    splits: pd.DataFrame
    candidates: pd.DataFrame
    orderings: pd.DataFrame
    orders: pd.DataFrame
    outcomes: pd.DataFrame
    scores: pd.DataFrame
    failures: pd.DataFrame
    sessions: pd.DataFrame
    rows: pd.DataFrame  # of each split, packed: those trained on, how often each, and those held out
    baselines: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame(columns=["split", "strategy", "metric", "value"])
    )
    effects: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame(columns=["family", "split", "features", "effects"])
    )
    quantiles: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=["family", "feature", "quantiles"]))

    @property
    def features(self) -> Sequence[str] | range:
        """The universe: all columns that the study could select from, without covariates."""
        names = self.meta["names"]
        return range(self.meta["n_features"]) if names is None else names

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return dict(zip(self.splits["label"].tolist(), self.splits.index.tolist(), strict=True))

    def split_numbers(self, labels: Iterable[str]) -> NDArray[np.int64]:
        """The numbers of splits by their labels."""
        return np.array([self._numbers[label] for label in labels], dtype=np.int64)

    def with_names(self, table: pd.DataFrame) -> pd.DataFrame:
        """Replace numbers of candidates and splits by names."""
        names = self.candidates.set_index("candidate")["name"]
        named = table.assign(candidate=table["candidate"].map(names), run=table["split"].map(self.splits["label"]))
        first = ["candidate", "run"]
        return named[[*first, *(column for column in named.columns if column not in (*first, "split"))]]

    @cached_property
    def memory(self) -> Memory:
        """What was computed from these tables, which do not change."""
        return Memory(MOST_BYTES)

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

    @cached_property
    def _scores_by_metric(self) -> dict[Any, pd.DataFrame]:
        return dict(iter(self.scores.groupby(["candidate", "metric"])))

    def find_outcomes(self, candidate: str) -> pd.DataFrame:
        """The fits of a candidate that did not fail, one row per split."""
        return self._outcomes_by_candidate.get(int(self.row(candidate)["candidate"]), self.outcomes.iloc[:0])

    def fractions(self, fraction: float | None = None) -> tuple[float, ...] | None:
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

    @cached_property
    def records(self) -> Records:
        """What perturbation, selectors and scores say of themselves."""
        declared = self.meta["declared"]
        selectors, scores = (
            {name: About.from_dict(values) for name, values in declared[kind].items()}
            for kind in ("selectors", "scores")
        )
        return Records(About.from_dict(declared["perturbation"]), selectors, scores)

    @cached_property
    def _orders(self) -> dict[Any, StoredOrders]:
        by_number = self.orders.groupby("ordering")
        return {number: StoredOrders(table.set_index("split"), len(self.features)) for number, table in by_number}

    def find_orders(self, candidate: str) -> StoredOrders | None:
        """The orders that the selections of a candidate are cut from; None if none were stored."""
        number = self.row(candidate)["ordering"]
        return None if pd.isna(number) else self._orders.get(number)

    def stored_sizes(self, candidate: str) -> tuple[int, int]:
        """The least and the largest size that the orders of all splits of a candidate hold for."""
        orders, splits = self.find_orders(candidate), self.find_outcomes(candidate)["split"].tolist()
        if orders is None or not splits or not set(splits) <= set(orders.table.index):
            raise no_orders(candidate)
        return orders.reach(splits)

    def designed(
        self,
        candidate: str,
        before: int | None = None,
        fraction: float | None = None,
        kind: Kind | None = None,
        top: int | None = None,
        measured: bool = True,
    ) -> DesignedRuns:
        """The measured runs of a candidate with their place in the design, if asked only those before a split.

        Of nested subsamples, those of one size, if a fraction is given, and the whole ones. A ``kind`` asks for the
        ranking or the weights that selections were cut from, ``top`` for a cut to another size; ``measured=False``
        for the others: outer folds, and all rows beside halvings.
        """
        kind = None if kind == "subset" else kind  # as it is asked for where nothing is said
        return self.memory.recall(
            ("designed", candidate, before, fraction, kind, top, measured),
            lambda: self._find_designed(candidate, before, fraction, kind, top, measured),
            _count_bytes,
        )

    def _find_designed(
        self,
        candidate: str,
        before: int | None,
        fraction: float | None,
        kind: Kind | None,
        top: int | None,
        measured: bool,
    ) -> DesignedRuns:
        outcomes, fractions = self.find_outcomes(candidate), self.fractions(fraction)
        numbers = outcomes["split"].to_numpy()
        label, counts, block, share = (
            column[self.splits.index.get_indexer(pd.Index(numbers))] for column in self._design
        )
        chosen = (counts.astype(bool) == measured) & (numbers < (before or math.inf))
        if fractions is not None:
            chosen &= np.isin(share, [*fractions, 1.0])
        if not chosen.any():
            raise self._no_runs(candidate)
        return DesignedRuns(
            self._make_preferences(candidate, outcomes[chosen], tuple(label[chosen].tolist()), kind, top),
            self.meta["design"],
            block[chosen].tolist(),
            share[chosen].tolist(),
            self.records.perturbation,
            None if fractions is None else tuple(size for size in fractions if size < 1),
        )

    @cached_property
    def _design(self) -> list[NDArray[Any]]:
        """Of each split: its label, whether it is measured, its block, and its size as a share of the whole one."""
        return [
            self.splits["label"].to_numpy(dtype=object),
            *(self.splits[column].to_numpy() for column in ("measured", "block", "fraction")),
        ]

    def _make_preferences(
        self, candidate: str, outcomes: pd.DataFrame, labels: tuple[str, ...], kind: Kind | None, top: int | None
    ) -> Preferences:
        """Put the stored preferences of one candidate together."""
        names, stored = self._names, outcomes["kind"].iloc[0]
        if stored == "subset" and kind is None:
            sets = self._read_sets(candidate, outcomes, top)
            return Preferences(
                kind="subset", n_features=len(self.features), indices=sets.indices, indptr=sets.indptr, names=names,
                labels=labels,
            )  # fmt: skip
        if stored == "subset":
            orders, splits = self.find_orders(candidate), outcomes["split"].tolist()
            if orders is None or kind is None:
                raise no_weights(candidate, kind or "ranking")
            stored, rows = orders.whole(splits, kind, candidate)
        else:
            rows = np.vstack([np.frombuffer(blob, dtype="<f8") for blob in outcomes["preference"]])
        make = Preferences.from_rankings if stored == "ranking" else Preferences.from_weights
        return make(rows, features=names, labels=labels)

    @cached_property
    def _names(self) -> Sequence[str] | None:
        """The names of the features, looked through once."""
        names = None if self.meta["names"] is None else tuple(self.meta["names"])
        return check_unique(names, len(self.features), "feature", "column", "features=")

    def _read_sets(self, candidate: str, outcomes: pd.DataFrame, top: int | None) -> Sets:
        """The selected features on each split: those of the candidate, or the best of another number."""
        orders, splits, blobs = self.find_orders(candidate), outcomes["split"].tolist(), outcomes["preference"]
        if top is not None:
            if orders is None or blobs.notna().any() or not set(splits) <= set(orders.table.index):
                raise no_orders(candidate)
            orders.check_size(top, splits, candidate)
            return orders.cut(splits, top)
        is_cut = blobs.isna().to_numpy()
        if orders is None or not is_cut.any():
            return Sets.join([np.frombuffer(blob, dtype="<i4") for blob in blobs])
        cut = orders.cut(outcomes["split"].to_numpy()[is_cut], int(self.row(candidate)["size"]))
        if is_cut.all():
            return cut
        cuts = iter(cut.split())
        return Sets.join([next(cuts) if blob is None else np.frombuffer(blob, dtype="<i4") for blob in blobs])

    def selected_features(self, family: str, splits: Sequence[int]) -> dict[int, list[NDArray[Any]]]:
        """What each candidate of a family selected on these splits; of rankings and weights the best features."""
        selected: dict[int, list[NDArray[Any]]] = {split: [] for split in splits}
        for name in self.candidates["name"][self.candidates["family"] == family]:
            outcomes = self.find_outcomes(name)
            outcomes = outcomes[outcomes["split"].isin(splits)]
            subsets = outcomes[outcomes["kind"] == "subset"]
            for split, columns in zip(subsets["split"], self._read_sets(name, subsets, None).split(), strict=True):
                selected[split].append(columns)
            others = outcomes[outcomes["kind"] != "subset"]
            for split, kind, blob in zip(others["split"], others["kind"], others["preference"], strict=True):
                selected[split].append(best_features(kind, np.frombuffer(blob, dtype="<f8")))
        return selected

    def find_coefficients(self, candidate: str) -> list[SplitCoefficients]:
        """The coefficients of the selected features in each linear model of a candidate."""
        outcomes = self.find_outcomes(candidate)
        outcomes = outcomes[outcomes["coefficients"].notna()]
        sets = self._read_sets(candidate, outcomes, None).split()
        rows = zip(outcomes["split"], sets, outcomes["coefficients"], strict=True)
        return [SplitCoefficients(split, columns, np.frombuffer(blob, dtype="<f4")) for split, columns, blob in rows]

    def rows_by_split(self) -> dict[str, Any]:
        """The row numbers of every split: those trained on, how often each was taken, and those held out."""
        trained, counts, tested = [], [], []
        sizes = self.splits[["n_rows", "n_test"]].itertuples(index=False, name=None)
        for (n_rows, n_test), packed in zip(sizes, self.rows.itertuples(index=False, name=None), strict=True):
            trained.append(unpack_rows(packed[0], n_rows).astype(np.int32))
            once = packed[1] is None
            counts.append(np.ones(n_rows, np.int32) if once else unpack_rows(packed[1], n_rows).astype(np.int32))
            tested.append(unpack_rows(packed[2], n_test).astype(np.int32))
        return {"train_rows": trained, "train_counts": counts, "test_rows": tested}

    def _no_runs(self, candidate: str) -> UnansweredError:
        failed = (self.failures["candidate"] == self.row(candidate)["candidate"]).any()
        why = "the table .failures says why" if failed else "the study has not come so far"
        return UnansweredError(
            f"{candidate} has no finished fits; {why}.",
            "all of its fits failed" if failed else "none of its runs has finished yet",
        )

    def split_scores(
        self, candidate: str, metric: str, fraction: float | None = None
    ) -> tuple["pd.Series[float]", pd.DataFrame]:
        """A candidate's scores by split, and these splits.

        Of nested subsamples, the scores at one size, or the mean over all smaller ones of each sample, as their
        stability is; samples without a score at each of these sizes are left out.
        """
        scores, splits = self.memory.recall(
            ("scores", candidate, metric, fraction), lambda: self._find_scores(candidate, metric, fraction)
        )
        return scores.copy(), splits.copy()

    def _find_scores(
        self, candidate: str, metric: str, fraction: float | None
    ) -> tuple["pd.Series[float]", pd.DataFrame]:
        rows = self._scores_by_metric.get((int(self.row(candidate)["candidate"]), metric), self.scores.iloc[:0])
        scores = rows.dropna(subset="value").set_index("split")["value"].sort_index()
        splits, fractions = self.splits.loc[scores.index], self.fractions(fraction)
        return (scores, splits) if fractions is None else _average_over_fractions(scores, splits, fractions)

    def guessing_scores(self, metric: str) -> pd.DataFrame:
        """The scores of guessing: one row per split, one column per way to guess; ``nan`` where there is none.

        Of nested subsamples, means over sizes as those of :meth:`split_scores`.
        """
        rows = self.baselines[self.baselines["metric"] == metric]
        table = rows.set_index(["split", "strategy"])["value"].astype(float).unstack("strategy")  # noqa: PD010
        fractions = self.fractions()
        if fractions is None:
            return table
        known = {strategy: scores.dropna() for strategy, scores in table.items()}
        means = {
            strategy: _average_over_fractions(scores, self.splits.loc[scores.index], fractions)[0]
            for strategy, scores in known.items()
        }
        return pd.DataFrame(means)

    def predictions(self, candidate: str) -> pd.DataFrame:
        """One row per run and held-out row: the truth and what was predicted."""
        empty = pd.DataFrame(columns=["run", "row", "truth", "predicted"])
        rows = self.find_outcomes(candidate).dropna(subset="predictions")[["split", "predictions"]]
        frames = [self._read_predictions(split, blob) for split, blob in rows.itertuples(index=False, name=None)]
        return pd.concat(frames, ignore_index=True) if frames else empty

    def _read_predictions(self, split: int, blob: bytes) -> pd.DataFrame:
        test = unpack_rows(self.rows["test"].loc[split], int(self.splits["n_test"].loc[split]))
        numbers = self.meta["classes"] is None
        predicted = np.frombuffer(blob, dtype="<f8" if numbers else f"<u{len(blob) // test.size}")
        label = self.splits["label"].loc[split]
        truth = np.array(self.meta["target"])[test]
        return pd.DataFrame(
            {"run": label, "row": test, "truth": self._decode(truth), "predicted": self._decode(predicted)}
        )

    def _decode(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Classes by their number; predicted numbers as they are."""
        classes = self.meta["classes"]
        return codes if classes is None else np.array(classes, dtype=object)[codes]


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


def _count_bytes(designed: DesignedRuns) -> int:
    arrays = (designed.runs.indices, designed.runs.indptr, designed.runs.values)
    return FEW_BYTES + sum(array.nbytes for array in arrays if array is not None)


def read_stored(store: Store, *, own: bool = False) -> Stored:
    """Read everything in one moment; raise if anything is damaged, unless it is this process' own work."""
    checks, meta = read_tables(store, own=own)
    as_frames = (
        "candidates", "orderings", "orders", "outcomes", "baselines", "failures", "effects", "quantiles", "sessions",
    )  # fmt: skip
    tables = {name: _make_frame(checks, name) for name in as_frames}
    splits = _make_frame(checks, "splits").set_index("split")
    return Stored(
        path=store.path,
        meta={**meta, "selectors": dict(checks["families"].rows)},
        splits=splits.drop(columns=["rows", "counts", "test"]),
        rows=splits[["rows", "counts", "test"]],
        scores=_unpack_scores(tables["outcomes"], list(meta["plan"]["scoring"])),
        **tables,
    )


def _unpack_scores(outcomes: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """One row per candidate, split and metric."""
    scored = outcomes[outcomes["scores"].notna()]
    return pd.DataFrame(
        {
            "candidate": np.repeat(scored["candidate"].to_numpy(dtype=np.int64), len(metrics)),
            "split": np.repeat(scored["split"].to_numpy(dtype=np.int64), len(metrics)),
            "metric": np.tile(np.array(metrics, dtype=object), len(scored)),
            "value": np.frombuffer(b"".join(scored["scores"]), dtype="<f8"),
        }
    )


def _make_frame(checks: Checks, name: str) -> pd.DataFrame:
    check = checks[name]
    return pd.DataFrame.from_records(check.rows, columns=list(check.table.columns), coerce_float=True)
