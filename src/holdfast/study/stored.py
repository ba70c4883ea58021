"""The tables of a study's store, read in one moment, and the ways to look things up in them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.declared import About
from holdfast.inference.designs import DesignedRuns
from holdfast.preferences import Kind, Preferences
from holdfast.study.checking import Checks, check_tables, parse_meta, refuse_damage, refuse_unusable
from holdfast.study.opening import clear_errors, opened_to_read
from holdfast.study.store import Store, StoreError, unpacked


class UnansweredError(ValueError):
    """A question that a study cannot answer; ``plain`` says why in words for a report, without advice on calls."""

    def __init__(self, message: str, plain: str) -> None:
        super().__init__(message)
        self.plain = plain


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
    outcomes: pd.DataFrame
    scores: pd.DataFrame
    failures: pd.DataFrame
    sessions: pd.DataFrame
    tests: Mapping[int, bytes]
    baselines: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame(columns=["split", "strategy", "metric", "value"])
    )

    @property
    def features(self) -> Sequence[str] | range:
        """The universe: all columns that were handed to the study, covariates left out."""
        names = self.meta["names"]
        return range(self.meta["n_features"]) if names is None else names

    def named(self, table: pd.DataFrame) -> pd.DataFrame:
        """Replace numbers of candidates and splits by names."""
        names = self.candidates.set_index("candidate")["name"]
        named = table.assign(candidate=table["candidate"].map(names), run=table["split"].map(self.splits["label"]))
        first = ["candidate", "run"]
        return named[[*first, *(column for column in named.columns if column not in (*first, "split"))]]

    def row(self, candidate: str) -> "pd.Series[Any]":
        """What is known of a candidate."""
        found = self.candidates[self.candidates["name"] == candidate]
        if found.empty:
            known = ", ".join(self.candidates["name"][:20])
            raise ValueError(f"Expected one of the candidates {known}, got {candidate!r}.")
        return found.iloc[0]

    @cached_property
    def _by_candidate(self) -> dict[Any, pd.DataFrame]:
        return dict(iter(self.outcomes.groupby("candidate")))

    @cached_property
    def _by_score(self) -> dict[Any, pd.DataFrame]:
        return dict(iter(self.scores.groupby(["candidate", "metric"])))

    def outcomes_of(self, candidate: str) -> pd.DataFrame:
        """What a candidate did on each split that it finished."""
        return self._by_candidate.get(int(self.row(candidate)["candidate"]), self.outcomes.iloc[:0])

    def sizes(self, fraction: float | None = None) -> tuple[float, ...] | None:
        """Of shrinking samples, the sizes that are meant: one, or all smaller ones; None in other designs."""
        if self.meta["design"] != "shrink":
            if fraction is not None:
                raise ValueError(
                    f"Expected a study with hf.NestedSubsamples for fraction=, got one of {self.meta['design']}."
                )
            return None
        known = sorted(set(self.splits["fraction"].tolist()))
        if fraction is not None and fraction not in known:
            raise ValueError(f"Expected one of the sizes {', '.join(f'{size:g}' for size in known)}, got {fraction!r}.")
        return tuple(size for size in known if size < 1) if fraction is None else (float(fraction),)

    @property
    def records(self) -> Records:
        """What perturbation, selectors and scores say of themselves."""
        declared = self.meta["declared"]
        selectors, scores = (
            {name: About.from_dict(values) for name, values in declared[kind].items()}
            for kind in ("selectors", "scores")
        )
        return Records(About.from_dict(declared["perturbation"]), selectors, scores)

    def designed(self, candidate: str, before: int | None = None, fraction: float | None = None) -> DesignedRuns:
        """The measured runs of a candidate with their place in the design; only those before a split, if said.

        Of shrinking samples, smaller ones of one size, if a fraction is said, and the whole ones.
        """
        found, sizes = self.outcomes_of(candidate), self.sizes(fraction)
        splits = self.splits.loc[found["split"]]
        chosen = splits["measured"].to_numpy(dtype=bool) & (found["split"].to_numpy() < (before or math.inf))
        if sizes is not None:
            chosen &= splits["fraction"].isin([*sizes, 1.0]).to_numpy()
        found, splits = found[chosen], splits[chosen]
        if found.empty:
            failed = (self.failures["candidate"] == self.row(candidate)["candidate"]).any()
            why = "see .failures for why" if failed else "the study has not come so far"
            raise UnansweredError(
                f"Expected finished runs of {candidate}, got none; {why}.",
                "all of its fits failed" if failed else "none of its runs has finished yet",
            )
        runs = _preferences(found, self.features, tuple(splits["label"]))
        return DesignedRuns(
            runs,
            self.meta["design"],
            splits["block"].tolist(),
            splits["fraction"].tolist(),
            self.records.perturbation,
            None if sizes is None else tuple(size for size in sizes if size < 1),
        )

    def scores_of(
        self, candidate: str, metric: str, fraction: float | None = None
    ) -> tuple["pd.Series[float]", pd.DataFrame]:
        """A candidate's scores by split, and these splits.

        Of shrinking samples, the scores at one size, or the mean over all smaller ones of each sample, as their
        stability is; samples without a score at each of these sizes are left out.
        """
        mine = self._by_score.get((int(self.row(candidate)["candidate"]), metric), self.scores.iloc[:0])
        scores = mine.dropna(subset="value").set_index("split")["value"].sort_index()
        splits, sizes = self.splits.loc[scores.index], self.sizes(fraction)
        return (scores, splits) if sizes is None else _mean_over_sizes(scores, splits, sizes)

    def baselines_of(self, metric: str) -> pd.DataFrame:
        """The scores of guessing: one row per split, one column per way to guess; ``nan`` where there is none.

        Of shrinking samples, means over sizes as those of :meth:`scores_of`.
        """
        mine = self.baselines[self.baselines["metric"] == metric]
        table = mine.set_index(["split", "strategy"])["value"].astype(float).unstack("strategy")  # noqa: PD010
        sizes = self.sizes()
        if sizes is None:
            return table
        known = {strategy: scores.dropna() for strategy, scores in table.items()}
        means = {
            strategy: _mean_over_sizes(scores, self.splits.loc[scores.index], sizes)[0]
            for strategy, scores in known.items()
        }
        return pd.DataFrame(means)

    def predictions(self, candidate: str) -> pd.DataFrame:
        """One row per run and held-out row: the truth and what was predicted."""
        empty = pd.DataFrame(columns=["run", "row", "truth", "predicted"])
        kept = self.outcomes_of(candidate).dropna(subset="predictions")
        frames = [self._predicted(*one) for one in kept[["split", "predictions"]].itertuples(index=False, name=None)]
        return pd.concat(frames, ignore_index=True) if frames else empty

    def _predicted(self, split: int, blob: bytes) -> pd.DataFrame:
        test = unpacked(self.tests[split], int(self.splits["n_test"].loc[split]))
        numbers = self.meta["classes"] is None
        predicted = np.frombuffer(blob, dtype="<f8" if numbers else f"<u{len(blob) // test.size}")
        label = self.splits["label"].loc[split]
        truth = np.array(self.meta["target"])[test]
        return pd.DataFrame(
            {"run": label, "row": test, "truth": self._labels(truth), "predicted": self._labels(predicted)}
        )

    def _labels(self, coded: NDArray[Any]) -> NDArray[Any]:
        classes = self.meta["classes"]
        return coded if classes is None else np.array(classes, dtype=object)[coded]


def _mean_over_sizes(
    scores: "pd.Series[float]", splits: pd.DataFrame, sizes: Sequence[float]
) -> tuple["pd.Series[float]", pd.DataFrame]:
    """The mean score of each sample that has one at every size, by its first split.

    ``n_rows`` is the harmonic mean of its sizes, so that tested / trained rows is the mean ratio.
    """
    table = splits.assign(score=scores, trained=1 / splits["n_rows"])[splits["fraction"].isin(sizes).to_numpy()]
    by_block = table.groupby("block")
    complete = by_block["score"].transform("size") == len(sizes)
    table = table.assign(**by_block[["score", "trained"]].transform("mean"))[complete].drop_duplicates("block")
    return table["score"], table.assign(n_rows=1 / table["trained"])[splits.columns]


def _preferences(found: pd.DataFrame, features: Sequence[str] | range, labels: tuple[str, ...]) -> Preferences:
    """Put the stored preferences of one candidate together."""
    names = None if isinstance(features, range) else tuple(features)
    kind: Kind = found["kind"].iloc[0]
    if kind != "subset":
        rows = np.vstack([np.frombuffer(blob, dtype="<f8") for blob in found["preference"]])
        make = Preferences.from_rankings if kind == "ranking" else Preferences.from_weights
        return make(rows, features=names, labels=labels)
    sets = [np.frombuffer(blob, dtype="<i4") for blob in found["preference"]]
    return Preferences(
        kind="subset",
        n_features=len(features),
        indices=np.concatenate(sets).astype(np.int32),
        indptr=np.concatenate([[0], np.cumsum([one.size for one in sets])]).astype(np.int64),
        names=names,
        labels=labels,
    )


def read(store: Store) -> Stored:
    """Read everything in one moment; raise if anything is damaged."""
    with clear_errors(store.path or Path(":memory:")):
        checks = read_checks(store)
    refuse_damage(checks, store.path, store.fault)
    meta = _begun(checks, store.path)
    read_as_frames = ("candidates", "outcomes", "scores", "baselines", "failures", "sessions")
    tables = {name: _frame(checks, name) for name in read_as_frames}
    splits = _frame(checks, "splits").set_index("split")
    return Stored(
        path=store.path,
        meta={**meta, "selectors": dict(checks["families"].rows)},
        splits=splits.drop(columns=["rows", "counts", "test"]),
        tests=dict(zip(splits.index, splits["test"], strict=True)),
        **tables,
    )


def read_checks(store: Store) -> Checks:
    """All tables of one moment, with what is damaged in them."""
    store.connection.execute("BEGIN")
    try:
        return check_tables(store.connection)
    finally:
        if store.connection.in_transaction:
            store.connection.execute("ROLLBACK")  # nothing was written, and a damaged file cannot commit even that


def read_meta(path: str | Path) -> dict[str, Any]:
    """What a store says of its study, whatever happened to the outcomes."""
    store = opened_to_read(path)
    try:
        with clear_errors(Path(path)):
            checks = check_tables(store.connection, ("meta", "families", "candidates"))
            refuse_unusable(checks, path)
            return {**_begun(checks, store.path), "n_splits": store.n_splits}
    finally:
        store.connection.close()


def _begun(checks: Checks, path: Path | None) -> dict[str, Any]:
    meta = parse_meta(checks["meta"])
    if "plan" not in meta:
        raise StoreError(f"Expected a study in {path}, got a store that was never begun.")
    return meta


def _frame(checks: Checks, name: str) -> pd.DataFrame:
    check = checks[name]
    return pd.DataFrame.from_records(check.rows, columns=list(check.table.columns), coerce_float=True)
