"""The tables of a study's store, read in one moment, and the ways to look things up in them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.inference.designs import DesignedRuns
from holdfast.preferences import Kind, Preferences
from holdfast.study.checking import Checks, check_tables, parse_meta, refuse_damage, refuse_unusable
from holdfast.study.opening import clear_errors, opened_to_read
from holdfast.study.store import Store, StoreError, unpacked


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

    def designed(self, candidate: str, before: int | None = None) -> DesignedRuns:
        """The measured runs of a candidate with their place in the design; only those before a split, if said."""
        found = self.outcomes_of(candidate)
        splits = self.splits.loc[found["split"]]
        chosen = splits["measured"].to_numpy(dtype=bool) & (found["split"].to_numpy() < (before or math.inf))
        found, splits = found[chosen], splits[chosen]
        if found.empty:
            failed = (self.failures["candidate"] == self.row(candidate)["candidate"]).any()
            why = "see .failures for why" if failed else "the study has not come so far"
            raise ValueError(f"Expected finished runs of {candidate}, got none; {why}.")
        runs = _preferences(found, self.features, tuple(splits["label"]))
        return DesignedRuns(
            runs,
            self.meta["design"],
            splits["block"].tolist(),
            splits["fraction"].tolist(),
            self.meta["plan"]["perturbation"]["perturbation"],
        )

    def scores_of(self, candidate: str, metric: str) -> "pd.Series[float]":
        """A candidate's scores by split; of shrinking samples, those of the whole ones."""
        mine = self._by_score.get((int(self.row(candidate)["candidate"]), metric), self.scores.iloc[:0])
        scores = mine.dropna(subset="value").set_index("split")["value"].sort_index()
        return scores[(self.splits.loc[scores.index, "fraction"] == 1).to_numpy()]

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
    tables = {name: _frame(checks, name) for name in ("candidates", "outcomes", "scores", "failures", "sessions")}
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
