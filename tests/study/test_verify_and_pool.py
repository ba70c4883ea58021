"""A stored study fitted again, bit by bit, and studies of several seeds put together."""

import json

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import holdfast as hf
from holdfast.study import StoreError
from holdfast.study.matching import VOLATILE, WHAT
from holdfast.study.store import open_to_write, schema
from study_parts import Raising, X, Y, small_data


def make_study(seed=0, n=12, **options):
    selectors = {
        "anova": hf.Candidates(hf.selectors.AnovaF(), sizes=[2, 4]),
        "lasso": hf.Candidates(hf.selectors.ElasticNetPath(), {"n_features": [2, 3]}),
        "forest": hf.Candidates(hf.selectors.ReliefF(), {"n_features": [3]}),
        "loop": SelectKBest(k=3),
    }
    options = {"estimator": KNeighborsClassifier(3), "random_state": seed, **options}
    return hf.Study(selectors, options.pop("perturbation", hf.Bootstrap(n)), **options)


@pytest.fixture
def store(tmp_path):
    make_study().run(X, Y, store=tmp_path / "a.db")
    return tmp_path / "a.db"


# Fitted again


@pytest.mark.parametrize(
    "perturbation", [hf.Bootstrap(12), hf.Folds(3, 2), hf.ComplementaryPairs(4), hf.NewSeeds(6), hf.NestedFolds(3, 2)]
)
def test_a_study_repeats_itself_to_the_last_bit(tmp_path, perturbation):
    study = make_study(perturbation=perturbation)
    study.run(X, Y, store=tmp_path / "a.db")
    before = (tmp_path / "a.db").read_bytes()
    found = study.verify(tmp_path / "a.db", X, Y, n_splits=3)
    assert found.same, found.sentence
    assert len(found.splits) == 3
    assert found.n_fits == 18
    assert "18 fits on 3 splits repeated: all results are the same" in found.sentence
    assert (tmp_path / "a.db").read_bytes() == before


def test_processes_and_blocks_change_no_bit(store):
    assert make_study().verify(store, X, Y, n_splits=12, n_jobs=2).same


def test_every_column_that_is_changed_is_noticed(store):
    """Whatever is stored of a split and is no time or traceback: another value is found, and named."""
    split = make_study().verify(store, X, Y, n_splits=1).splits[0]
    with open_to_write(store) as opened:
        rows = opened.find_splits([split])
        original = {name: opened.connection.execute(f"SELECT * FROM {name}").fetchall() for name in rows}
    for name, table in schema.TABLES.items():
        columns = list(table.columns)
        for column in columns[table.n_key :]:
            changed = [
                change(row, columns.index(column), table.columns[column])
                for row in original.get(name, ())
                if row[columns.index("split")] == split and row[columns.index(column)] not in (None, b"")
            ]
            if not changed or (name, column) in {("orders", "complete"), ("outcomes", "kind")}:
                continue  # other values of these are refused as damage
            with open_to_write(store) as opened, opened.transaction():
                opened.write(schema.TABLES[name], changed[:1])
            found = make_study().verify(store, X, Y, n_splits=1)
            assert found.same == (column in VOLATILE), (name, column)
            if column not in VOLATILE:
                assert WHAT.get(name, WHAT.get(column, column)) in found.sentence, (name, column)
            with open_to_write(store) as opened, opened.transaction():
                opened.write(schema.TABLES[name], [row[:-1] for row in original[name]])
    assert make_study().verify(store, X, Y, n_splits=1).same


def change(row, place, kind):
    """The row with another value in a column."""
    value = row[place]
    other = {
        "INTEGER": lambda: value + 1, "REAL": lambda: value + 0.5, "TEXT": lambda: value + "x",
        "BLOB": lambda: bytes([value[0] ^ 1]) + value[1:],
    }[kind]()  # fmt: skip
    return [*row[:place], other, *row[place + 1 : -1]]


def test_other_data_and_plans_are_named_before_any_fit(store):
    other = X.copy()
    other.iloc[3, 4] += 1e-9
    found = make_study().verify(store, other, Y)
    assert found.differences == ("the data (other values)",)
    assert found.splits == ()
    assert "differs in the data (other values)" in found.sentence
    assert "the seed (0, now 7)" in make_study(seed=7).verify(store, X, Y).sentence
    changed = make_study(estimator=DecisionTreeClassifier())
    assert any("the model" in text for text in changed.verify(store, X, Y).differences)
    assert make_study().verify(store, X, Y, n_splits=0).sentence.startswith("Plan and data are the same.")


def test_a_selector_that_draws_without_a_seed_is_found_out(tmp_path):
    study = hf.Study({"random": hf.Candidates(DrawsAtWill())}, hf.Bootstrap(6))
    study.run(X, Y, store=tmp_path / "a.db")
    found = study.verify(tmp_path / "a.db", X, Y, n_splits=6)
    assert not found.same
    assert any(text.startswith("the selection of random on ") for text in found.differences)


class DrawsAtWill(SelectKBest):
    """Selects at random, whatever its seed."""

    rng = np.random.default_rng()

    def fit(self, X, y):
        super().fit(X, y)
        self.scores_ = self.rng.random(self.scores_.size)
        return self


def test_more_selectors_or_resamples_than_are_stored_do_not_matter(store):
    study = make_study(n=40)
    more = hf.Study({**study.selectors, "new": hf.selectors.AnovaF(2)}, hf.Bootstrap(40),
                    estimator=study.estimator)  # fmt: skip
    assert more.verify(store, X, Y).same


def test_failures_are_repeated_too(tmp_path):
    study = hf.Study({"raising": Raising(), "anova": hf.selectors.AnovaF(2)}, hf.Bootstrap(12))
    with pytest.warns(UserWarning, match="fits failed"):
        study.run(X, Y, store=tmp_path / "a.db")
    assert study.verify(tmp_path / "a.db", X, Y).same


def test_versions_that_changed_are_named_and_decide_nothing(store):
    with open_to_write(store) as opened, opened.transaction():
        (row,) = opened.connection.execute("SELECT * FROM sessions").fetchall()
        old = json.dumps({**json.loads(row[4]), "numpy": "1.0.0", "abacus": "2"})
        opened.write(schema.SESSIONS, [(*row[:4], old)])
    found = make_study().verify(store, X, Y, n_splits=1)
    assert found.same
    assert found.versions == (f"numpy 1.0.0, now {np.__version__}", "abacus 2, now none")
    assert found.sentence.endswith(
        f"Versions that have changed: numpy 1.0.0, now {np.__version__}, abacus 2, now none."
    )


def test_a_store_that_holds_no_study_or_no_fit_is_refused(tmp_path, store):
    with pytest.raises(StoreError, match="no file at"):
        make_study().verify(tmp_path / "none.db", X, Y)
    with pytest.raises(ValueError, match="n_splits"):
        make_study().verify(store, X, Y, n_splits=-1)
    with open_to_write(store) as opened:
        opened.forget_splits(range(12))
        make_study_splits(opened)
    with pytest.raises(ValueError, match="finished splits"):
        make_study().verify(store, X, Y)


def make_study_splits(opened):
    from holdfast.study.data import prepare_data
    from holdfast.study.running import StudyRun

    StudyRun(make_study(), prepare_data(X, Y, None, (), None, None), True).write_splits(opened)


# Pooled


@pytest.mark.parametrize("perturbation", [hf.Bootstrap(12), hf.Folds(3, 2), hf.ComplementaryPairs(4)])
def test_pooled_studies_hold_the_runs_of_both(perturbation):
    first, second = (make_study(seed, perturbation=perturbation).run(X, Y) for seed in (0, 1))
    pooled = first.pool(second)
    assert pooled.n_splits == first.n_splits + second.n_splits
    assert pooled.seeds == [0, 1]
    for name in first.candidates:
        runs = [study.preferences(name) for study in (first, second, pooled)]
        expected = np.vstack([run.to_frame().to_numpy() for run in runs[:2]])
        assert np.array_equal(runs[2].to_frame().to_numpy(), expected), name
        scores = [study.split_scores(name, "accuracy")[0].to_numpy() for study in (first, second, pooled)]
        assert np.array_equal(scores[2], np.concatenate(scores[:2]))
        predicted = [study.predictions(name) for study in (first, second, pooled)]
        assert len(predicted[2]) == len(predicted[0]) + len(predicted[1])
        assert not pooled.features(name).frame.empty
    assert pooled.splits["label"].is_unique
    assert pooled.splits["block"].nunique() == first.splits["block"].nunique() * 2


def test_pooled_runs_are_measured_as_if_they_were_one_study():
    """Independent resamples: the estimate is that of all runs together, and its interval is narrower."""
    first, second = (make_study(seed, n=30).run(X, Y) for seed in (0, 1))
    pooled = first.pool(second).stability("loop")
    matrices = [study.preferences("loop").to_frame().to_numpy() for study in (first, second)]
    alone = hf.stability(np.vstack(matrices))
    assert pooled.value == pytest.approx(alone.value, abs=1e-12)
    assert pooled.ci() == pytest.approx(alone.ci(), abs=1e-12)
    assert pooled.ci().high - pooled.ci().low < np.ptp(first.stability("loop").ci())


def test_several_seeds_are_pooled_and_reported(tmp_path):
    pooled = make_study(3, n=5).run(X, Y)
    for seed in (4, 5):
        pooled = pooled.pool(make_study(seed, n=5).run(X, Y))
    assert pooled.seeds == [3, 4, 5]
    assert pooled.splits["label"].tolist()[::5] == ["bootstrap 0", "seed 4, bootstrap 0", "seed 5, bootstrap 0"]
    text = pooled.report(tmp_path / "r.md").read_text(encoding="utf-8")
    assert "the random seeds were 3, 4, 5." in text
    assert "15 bootstrap samples" in text


def test_studies_that_differ_in_more_than_the_seed_are_not_pooled():
    first = make_study().run(X, Y)
    for other, said in (
        (make_study().run(X, Y), "seed 0 twice"),
        (make_study(1, estimator=KNeighborsClassifier(5)).run(X, Y), "the model"),
        (make_study(1).run(*small_data(seed=1)), "the data"),
        (make_study(1, perturbation=hf.Folds(3, 2)).run(X, Y), "how resamples are made"),
    ):
        with pytest.raises(ValueError, match=said):
            first.pool(other)
    one, two = (hf.Study({"a": hf.selectors.AnovaF(k)}, random_state=k).run(X, Y) for k in (2, 3))
    with pytest.raises(ValueError, match="the selectors"):
        one.pool(two)
    pairs = [(np.arange(40), np.arange(40, 60)), (np.arange(20, 60), np.arange(20))]
    one, two = (hf.Study(hf.selectors.AnovaF(2), pairs, random_state=seed).run(X, Y) for seed in (0, 1))
    with pytest.raises(ValueError, match="given splits"):
        one.pool(two)
