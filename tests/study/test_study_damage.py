"""Damage inside a store is named, never read as a result, and what was lost is recomputed."""

import json
import math
import re
import shutil
import sqlite3
import warnings
import zlib
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import holdfast as hf
from holdfast.models.block import Predictions
from holdfast.models.scores import NUMBERS, SCORES, score_block
from holdfast.study.scoring import find_scorer, join_warnings
from holdfast.study.store import checking, open_to_write, pack_rows, schema, verify
from study_parts import Raising, X, Y, anova, assert_same, run_with_failures

STUDY = hf.Study(
    selectors={"anova": hf.Candidates(anova(), {"k": [2, 3]}), "raising": Raising(), "weights": LogisticRegression()},
    perturbation=hf.Bootstrap(12),
    estimator=KNeighborsClassifier(3),
    scoring=["accuracy", "balanced_accuracy"],
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    path = tmp_path_factory.mktemp("finished") / "study.db"
    run_with_failures(STUDY, X, Y, store=path)
    return path


@pytest.fixture(scope="module")
def whole(finished):
    return hf.load_study(finished)


@pytest.fixture
def copy(finished, tmp_path):
    return shutil.copy(finished, tmp_path / "s.db")


def assert_equal_results(one, two):
    """All that was read is equal, and so is what is computed from it."""
    names = "candidates", "splits", "rows", "orderings", "orders", "outcomes", "scores", "failures", "effects"
    for name in (*names, "quantiles", "sessions"):
        pd.testing.assert_frame_equal(getattr(one.stored, name), getattr(two.stored, name), check_exact=True, obj=name)
    assert one.stored.meta == two.stored.meta
    pd.testing.assert_frame_equal(one.summary(), two.summary(), check_exact=True)


def resumed(path):
    """Run the study again on a damaged store; what it says of the damage."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = STUDY.run(X, Y, store=path)
    return result, [str(warning.message) for warning in caught if "s.db was" in str(warning.message)]


def flipped_places(raw, n):
    """Places all over a file, one half where something stands, some in its schema, each with the bits to turn over."""
    rng = np.random.default_rng(20)
    filled = np.flatnonzero(np.frombuffer(raw, np.uint8))
    places = np.concatenate(
        [rng.integers(len(raw), size=n // 2 - 20), rng.choice(filled, n // 2), rng.integers(4096, size=20)]
    )
    return list(zip(places.tolist(), rng.integers(1, 256, n).tolist(), strict=True))


@pytest.mark.slow
def test_a_flipped_byte_is_without_meaning_or_named_and_resuming_repairs_it(finished, whole, tmp_path):
    raw, path, found = finished.read_bytes(), tmp_path / "s.db", {"equal": 0, "named": 0, "repaired": 0}
    for place, bits in flipped_places(raw, 200):
        path.write_bytes(raw[:place] + bytes([raw[place] ^ bits]) + raw[place + 1 :])
        try:
            assert_equal_results(hf.load_study(path), whole)
            found["equal"] += 1
        except hf.study.StoreError as error:
            found["named"] += 1
            if "to recompute what is lost" in str(error) and found["named"] % 4 == 0:
                result, told = resumed(path)
                assert told
                assert_same(result, whole)
                assert_same(hf.load_study(path), whole)
                found["repaired"] += 1
        for beside in tmp_path.iterdir():
            beside.unlink()
    assert found["equal"] + found["named"] == 200
    assert found["named"] > 50
    assert found["repaired"] > 10


def change(path, statement, *values):
    """Change a store as no holdfast would."""
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(statement, values).rowcount
    connection.close()


HERE = "WHERE candidate = 1 AND split = 3"


@pytest.mark.parametrize(
    ("statement", "lost"),
    [
        (
            f"UPDATE outcomes SET preference = x'0000000001000000' {HERE}",
            r"1 of 45 outcomes lost: anova\(k=2\) on boot\w* 3",
        ),
        (
            "UPDATE outcomes SET seconds = seconds + 1 WHERE candidate = 2",
            r"12 of 45 outcomes lost: anova\(k=3\) .*, …",
        ),
        (f"UPDATE outcomes SET split = 99 {HERE}", r"1 of 45 outcomes lost: anova\(k=2\) on split 99"),
        (f"UPDATE outcomes SET candidate = 77 {HERE}", "1 of 45 outcomes lost"),
        (f"DELETE FROM outcomes {HERE}", "1 of 45 outcomes lost"),
        (f"UPDATE outcomes SET scores = zeroblob(16) {HERE}", r"1 of 45 outcomes lost: anova\(k=2\) on"),
        (f"UPDATE outcomes SET scores = NULL {HERE}", "1 of 45 outcomes lost"),
        ("UPDATE baselines SET value = 0.5 WHERE split = 3", r"\d+ of \d+ baselines lost"),
        ("DELETE FROM baselines WHERE split = 3", r"\d+ of \d+ baselines lost"),
        ("UPDATE failures SET error = 'none' WHERE candidate = 3", r"3 of 3 failures lost: raising on"),
        ("DELETE FROM failures", "3 of 3 failures lost"),
        ("UPDATE effects SET effects = zeroblob(length(effects)) WHERE split = 3", "2 of 33 effects lost"),
        ("DELETE FROM effects WHERE family = 'anova'", "12 of 33 effects lost"),
        ("DELETE FROM effects", "33 of 33 effects lost"),
        ("DELETE FROM quantiles WHERE feature = 1", r"3 of \d+ quantiles lost"),
        ("UPDATE splits SET n_test = n_test + 1 WHERE split = 5", "1 of 12 splits lost"),
        ("DELETE FROM splits WHERE split >= 10", "2 of 12 splits lost"),
        ("UPDATE sessions SET started = '2000-01-01T00:00:00Z'", "1 of 1 sessions lost"),
        (
            "INSERT INTO sessions SELECT 2, started, ended, n_jobs, versions, checksum FROM sessions",
            "1 sessions too many",
        ),
        ("UPDATE totals SET n = n + 1 WHERE name = 'baselines'", "the number of baselines is unreadable"),
        ("DELETE FROM totals WHERE name = 'meta'", "the number of entries of the plan is unreadable"),
    ],
)
def test_lost_rows_are_named_and_recomputed(statement, lost, copy, whole):
    change(copy, statement)
    with pytest.raises(
        hf.study.StoreError, match=rf"s.db is damaged \({lost}.*\); run the study again with this store"
    ):
        hf.load_study(copy)
    assert verify(copy).state == "damaged"
    result, told = resumed(copy)
    assert len(told) == 1
    assert "s.db was damaged (" in told[0]
    assert_same(result, whole)
    assert_same(hf.load_study(copy), whole)
    assert verify(copy).state == "sound"
    assert resumed(copy)[1] == []


@pytest.mark.parametrize(
    ("statement", "lost"),
    [
        (
            "UPDATE meta SET value = replace(value, 'strap', 'strip') WHERE key = 'plan'",
            "1 of 13 entries of the plan lost: plan",
        ),
        ("UPDATE meta SET key = 'plain' WHERE key = 'plan'", "1 of 13 entries of the plan lost: plain"),
        ("DELETE FROM meta WHERE key = 'plan'", "1 of 13 entries of the plan lost"),
        ("UPDATE families SET selector = '{}' WHERE family = 'anova'", "1 of 3 selectors lost: anova"),
        ("UPDATE candidates SET name = 'other' WHERE candidate = 2", "1 of 4 candidates lost: 2"),
        ("DELETE FROM candidates WHERE candidate = 4", "1 of 4 candidates lost"),
    ],
)
def test_what_cannot_be_recomputed_is_refused_and_left_alone(statement, lost, copy):
    change(copy, statement)
    before, message = copy.read_bytes(), rf"is damaged \({lost}\), and this part of it cannot be recomputed; restore"
    for use in (hf.load_study, lambda path: run_with_failures(STUDY, X, Y, store=path)):
        with pytest.raises(hf.study.StoreError, match=message):
            use(copy)
    assert copy.read_bytes() == before
    assert verify(copy).state == "unusable"


def rewrite_row(path, table, changes, **key):
    """Change a row and seal it with a checksum that is right, as someone would who means harm."""
    with closing(sqlite3.connect(path)) as connection, connection:
        where = " AND ".join(f"{name} = ?" for name in key)
        found = connection.execute(f"SELECT * FROM {table.name} WHERE {where}", list(key.values())).fetchone()
    connection.close()
    row = {**dict(zip(table.columns, found, strict=False)), **changes}
    with open_to_write(path) as store, store.transaction():
        store.write(table, [row.values()])


def subset(*indices):
    return np.array(indices, dtype="<i4").tobytes()


OUTCOME = schema.OUTCOMES, {"candidate": 1, "split": 3}
EFFECTS = schema.EFFECTS, {"family": "anova", "split": 3}
QUANTILES = schema.QUANTILES, {"family": "anova", "feature": 1}
SPLIT = schema.SPLITS, {"split": 3}
OTHER_NOTES = [
    "ConvergenceWarning: The solver did not converge.",
    "UndefinedMetricWarning: Precision is ill-defined and being set to 0.0 due to no predicted samples.",
    "UndefinedMetricWarning: Only one class is present in y_true.",  # which accuracy does not mind
]
IMPOSSIBLE = [
    (OUTCOME, {"preference": subset(0, 12)}),
    (OUTCOME, {"preference": subset(-1, 3)}),
    (OUTCOME, {"preference": subset(3, 3)}),
    (OUTCOME, {"preference": subset(3, 2)}),
    (OUTCOME, {"preference": subset(2**31 - 1)}),
    (OUTCOME, {"preference": b"\0\0\0"}),
    (OUTCOME, {"kind": "weighting"}),
    (OUTCOME, {"kind": "order"}),
    (OUTCOME, {"predictions": b"\2" * 20}),
    (OUTCOME, {"predictions": b""}),
    (OUTCOME, {"scores": bytes(8)}),
    (OUTCOME, {"scores": np.array([0.5, np.nan]).tobytes()}),
    (OUTCOME, {"scores": np.array([0.5, 1.5]).tobytes()}),
    *[(OUTCOME, {"scores": np.array([np.nan, 0.5]).tobytes(), "note": note}) for note in OTHER_NOTES],
    (OUTCOME, {"coefficients": bytes(400)}),
    (OUTCOME, {"coefficients": bytes(3)}),
    (OUTCOME, {"candidate": 10**12}),
    (OUTCOME, {"split": 10**12}),
    (OUTCOME, {"split": -1}),
    (EFFECTS, {"features": subset(0, 12)}),
    (EFFECTS, {"features": subset(3, 2)}),
    (EFFECTS, {"features": b"\0\0\0"}),
    (EFFECTS, {"effects": bytes(4)}),
    (EFFECTS, {"effects": bytes(10**6)}),
    (EFFECTS, {"family": "other"}),
    (EFFECTS, {"split": 10**12}),
    (QUANTILES, {"quantiles": bytes(8)}),
    (QUANTILES, {"feature": 12}),
    (QUANTILES, {"family": "other"}),
    (SPLIT, {"rows": zlib.compress(bytes(10**8), 9)}),
    (SPLIT, {"n_rows": 10**11, "rows": zlib.compress(bytes(10**8), 9)}),
    (SPLIT, {"n_test": 10**11}),
    (SPLIT, {"rows": pack_rows(np.arange(99, 99 + 60)), "counts": None, "n_rows": 60, "n_train": 60}),
    (SPLIT, {"counts": pack_rows(np.zeros(38))}),
    (SPLIT, {"test": b"no zlib"}),
    (SPLIT, {"split": 10**12}),
    ((schema.SESSIONS, {"session": 1}), {"versions": "no JSON"}),
    ((schema.META, {"key": "plan"}), {"value": "[" * 100_000}),
    ((schema.META, {"key": "plan"}), {"value": "{}"}),
    ((schema.META, {"key": "n_features"}), {"value": json.dumps(10**12)}),
    ((schema.META, {"key": "names"}), {"value": '["f0"]'}),
    ((schema.META, {"key": "target"}), {"value": "[0, 1]"}),
    ((schema.META, {"key": "design"}), {"value": '"none"'}),
    ((schema.META, {"key": "declared"}), {"value": '{"perturbation": {}, "selectors": {}, "scores": {}}'}),
    ((schema.META, {"key": "data_record"}), {"value": '{"rows": "many"}'}),
    ((schema.META, {"key": "no_effects"}), {"value": "1"}),
    ((schema.FAMILIES, {"family": "anova"}), {"selector": "{"}),
    ((schema.CANDIDATES, {"candidate": 2}), {"candidate": 10**12}),
]


@pytest.mark.parametrize(
    ("row", "changes"), IMPOSSIBLE, ids=[f"{table.name} {' '.join(changes)}" for (table, _), changes in IMPOSSIBLE]
)
def test_a_row_that_is_sealed_rightly_but_cannot_be_is_damaged_and_named(row, changes, copy):
    """Nothing of it is unpacked beyond what the data allow: 100 MB of zeros are compressed to 100 kB."""
    table, key = row
    rewrite_row(copy, table, changes, **key)
    name = {"meta": "entries of the plan", "families": "selectors"}.get(table.name, table.name)
    with pytest.raises(hf.study.StoreError, match=rf"is damaged \(.*\d of \d+ {name} lost"):
        hf.load_study(copy)
    found = verify(copy)
    assert found.state == ("damaged" if table.recomputable else "unusable")
    assert found.tables[table.name]["damaged"]


NUMERIC = hf.Study(
    {"f": SelectKBest(f_regression, k=2)}, hf.Folds(30), estimator=LinearRegression(),
    scoring=["r2", "neg_mean_absolute_error"],
)  # fmt: skip


def test_an_undefined_score_that_a_study_stored_is_sound(tmp_path):
    NUMERIC.run(X.iloc[:30], np.linspace(0, 1, 30), store=tmp_path / "s.db")
    assert hf.load_study(tmp_path / "s.db").summary()["r2"].isna().all()
    study = hf.Study(anova(), hf.Bootstrap(4), estimator=KNeighborsClassifier(3), scoring={"own": return_nan})
    study.run(X, Y, store=tmp_path / "own.db")
    assert hf.load_study(tmp_path / "own.db").summary()["own"].isna().all()


def return_nan(model, X, y):
    return math.nan


FITTED = "UserWarning: Features are constant."


@pytest.mark.parametrize(
    ("scores", "note", "is_sound"),
    [
        ([np.nan, -1.0], "UndefinedMetricWarning: R^2 score is not well-defined with less than two samples.", True),
        ([np.nan, -1.0], f"{FITTED}\nUndefinedMetricWarning: R^2 score is not well-defined.", True),
        ([np.nan, -1.0], f"{FITTED}\nRuntimeWarning: invalid value encountered in divide", True),
        ([np.nan, -1.0], FITTED, False),
        ([np.nan, -1.0], "RuntimeWarning: overflow encountered in square", False),
        ([np.nan, -1.0], "", False),
        ([np.nan, np.nan], "UndefinedMetricWarning: R^2 score is not well-defined with less than two samples.", False),
    ],
)
def test_a_score_without_a_number_needs_the_reason_that_a_study_would_store(scores, note, is_sound, tmp_path):
    path = tmp_path / "s.db"
    NUMERIC.run(X.iloc[:30], np.linspace(0, 1, 30), store=path)
    rewrite_row(path, schema.OUTCOMES, {"scores": np.array(scores).tobytes(), "note": note}, candidate=1, split=3)
    assert verify(path).state == ("sound" if is_sound else "damaged")
    if not is_sound:
        with pytest.raises(hf.study.StoreError, match="1 of 30 outcomes lost: f on fold 3"):
            hf.load_study(path)


def test_every_score_that_scikit_learn_leaves_undefined_may_be_undefined():
    """Few rows, one class and errors beyond all numbers, as a model would have answered: none of this is damage."""
    far, shares = np.array([1e200, -1e200, 0.0]), np.array([[0.2, 0.8]] * 3)
    numbers = [(far[:1], far[:1]), (far, -far), (far, far), (np.ones(3), far)]
    undefined = set()
    for score in SCORES.values():
        if NUMBERS in score.about.needs:
            blocks = [(truth, Predictions(np.array([0, truth.size]), predicted), None) for truth, predicted in numbers]
        else:
            cells = [
                (truth, np.zeros(truth.size, dtype=int))
                for truth in (np.zeros(1, int), np.zeros(3, int), np.ones(3, int))
            ]
            blocks = [
                (truth, Predictions(np.array([0, truth.size]), predicted, None, shares[: truth.size]), np.array([0, 1]))
                for truth, predicted in cells
            ]
        for truth, predictions, classes in blocks:
            result = score_block({"s": find_scorer(score.scorer)}, truth, predictions, classes)
            if np.isnan(result.values["s"][0]) and 0 not in result.errors:
                note = join_warnings(result.warnings.get(0, ()))
                assert checking._may_be_undefined(score, note), (score.about.name, note)
                undefined.add(score.about.name)
    assert {"r2", "explained_variance", "roc_auc"} <= undefined


def test_rows_that_cannot_be_are_recomputed(copy, whole):
    for (table, key), changes in [
        (OUTCOME, {"preference": subset(3, 2)}),
        (EFFECTS, {"family": "other"}),
        (QUANTILES, {"quantiles": bytes(8)}),
        (SPLIT, {"n_test": 10**11}),
        (SPLIT, {"split": 10**12}),
    ]:
        rewrite_row(copy, table, changes, **key)
    assert len(resumed(copy)[1]) == 1
    assert_same(hf.load_study(copy), whole)
    assert verify(copy).state == "sound"


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW more AS SELECT 1",
        "CREATE TRIGGER quiet AFTER INSERT ON outcomes BEGIN DELETE FROM baselines; END",
        "CREATE INDEX names ON candidates (name)",
        "DROP TABLE sessions",
        "ALTER TABLE outcomes ADD COLUMN more",
    ],
)
def test_a_store_with_other_tables_is_refused(statement, copy):
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute(statement)
    connection.close()
    with pytest.raises(
        hf.study.StoreError, match=r"s.db: it is damaged \(its tables are not those of a study\); restore it"
    ):
        hf.load_study(copy)


def test_pages_that_a_disk_forgot_to_write_are_noticed(copy, tmp_path):
    """The file with some pages as they were before the last fits: sound in itself, and short of rows."""
    early = tmp_path / "early.db"
    half = hf.Study(**{**vars(STUDY), "perturbation": hf.Bootstrap(6)})
    run_with_failures(half, X, Y, store=early)
    before = early.read_bytes()
    run_with_failures(STUDY, X, Y, store=early)
    raw, named = early.read_bytes(), 0
    assert hf.load_study(early).complete
    for page in range(min(len(before), len(raw)) // 4096):
        place = slice(4096 * page, 4096 * (page + 1))
        if before[place] == raw[place]:
            continue
        copy.write_bytes(raw[: place.start] + before[place] + raw[place.stop :])
        with pytest.raises(hf.study.StoreError):
            hf.load_study(copy)
        named += 1
    assert named > 2


def root_page(path, table):
    with closing(sqlite3.connect(path)) as connection, connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [table]).fetchone()
    connection.close()
    return 4096 * (page - 1)


@pytest.mark.parametrize("table", ["baselines", "outcomes", "splits", "failures", "sessions"])
def test_a_faulty_structure_is_rebuilt_from_the_rows_that_can_be_read(table, copy, whole):
    """Where the third row of a page begins is written after its head of eight bytes: there is no row at that place."""
    raw, root = bytearray(copy.read_bytes()), root_page(copy, table)
    page = root if raw[root] in (10, 13) else 4096 * (int.from_bytes(raw[root + 8 : root + 12]) - 1)  # a leaf
    pointers = page + 8 + 2 * min(2, int.from_bytes(raw[page + 3 : page + 5]) - 1)
    raw[pointers : pointers + 2] = (4095).to_bytes(2)
    copy.write_bytes(raw)
    with pytest.raises(hf.study.StoreError, match=rf"s.db is damaged \(.*{table} lost.*\); run the study again"):
        hf.load_study(copy)
    assert verify(copy).state == "damaged"
    result, told = resumed(copy)
    assert re.search(r"The structure of .*s.db was faulty \(.*\) and was rebuilt", told[0])
    assert f"{table} lost" in told[1]
    assert_same(result, whole)
    assert_same(hf.load_study(copy), whole)
    assert verify(copy).state == "sound"


def test_a_table_of_ones_own_is_one_declaration(tmp_path, monkeypatch):
    extras = schema.Table(
        "extras",
        "family TEXT, setting INTEGER, split INTEGER, ranks BLOB, n INTEGER, rest REAL",
        n_key=3,
        optional=("rest",),
    )
    monkeypatch.setitem(schema.TABLES, "extras", extras)
    schema.expected_schemas.cache_clear()
    path = tmp_path / "s.db"
    try:
        run_with_failures(STUDY, X, Y, store=path)
        with open_to_write(path) as store, store.transaction():
            store.write(extras, [("anova", 0, split, b"\1\2", np.int64(1), np.nan) for split in range(12)])
            with pytest.raises(ValueError, match="Expected a value for each of family, setting, split, "):
                store.write(extras, [("anova", 0, 12, None, 1, 0.5)])
        assert verify(path).tables["extras"] == {"sound": 12, "damaged": 0, "missing": 0}
        change(path, "UPDATE extras SET n = 2 WHERE split = 7")
        change(path, "DELETE FROM extras WHERE split = 8")
        with pytest.raises(hf.study.StoreError, match="2 of 12 extras lost"):
            hf.load_study(path)
        assert len(resumed(path)[1]) == 1
        assert verify(path).tables["extras"] == {"sound": 10, "damaged": 0, "missing": 0}
    finally:
        schema.expected_schemas.cache_clear()


def test_damaged_code_is_named_and_stored_again(copy):
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute("UPDATE meta SET value = substr(value, 3) WHERE key = 'code'")
    with pytest.raises(hf.study.StoreError, match="1 of 13 entries of the plan lost: code"):
        hf.load_study(copy)
    _, warned = resumed(copy)
    assert len(warned) == 1
    (code,) = hf.load_study(copy).code
    assert code.startswith("import holdfast as hf\n")
    assert verify(copy).state == "sound"
