"""Columns that are no features: found by name, place, row order and values, and never a marker stopped."""

import os
import string
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from sklearn.neighbors import KNeighborsClassifier
from typer.testing import CliRunner

import holdfast as hf
from holdfast import datasets
from holdfast.cli import app
from holdfast.io.doubts import describe_doubts, describe_equal_rows, find_doubts
from holdfast.report import summarize

N = 40
RNG = np.random.default_rng(0)
LABELS = np.array(["ill", "well"] * (N // 2))
FRAME = pd.DataFrame(RNG.normal(size=(N, 3)), columns=["age", "dose", "crp"]).assign(status=LABELS)
SHUFFLED = RNG.permutation(10_000)[:N]


def put(place=None, **column):
    """The table with one more column, at the end or at a place."""
    (name, values), frame = *column.items(), FRAME.copy()
    frame.insert(frame.shape[1] - 1 if place is None else place, name, values)
    return frame


STOPPED = {
    "id": put(id=SHUFFLED),
    "ID first": put(0, ID=SHUFFLED),
    "patient_id": put(patient_id=SHUFFLED),
    "PatientID": put(PatientID=SHUFFLED),
    "sample.id": put(**{"sample.id": SHUFFLED}),
    "barcode": put(barcode=SHUFFLED),
    "index": put(index=np.arange(N)),
    "row": put(row=np.arange(N)[::-1]),
    "Nr": put(Nr=np.arange(1, N + 1)),
    "no.": put(**{"no.": np.arange(1, N + 1)}),
    "case number": put(**{"case number": RNG.permutation(N)}),
    "sample": put(sample=RNG.permutation(N)),
    "X of R": put(0, X=np.arange(1, N + 1)),
    "first, in order": put(0, v1=np.sort(SHUFFLED)),
    "first, counting": put(0, v1=RNG.permutation(N)),
    "row order": put(v1=np.arange(N) * 5 + 100),
    "row order, down": put(v1=-np.arange(N)),
    "status_code": put(status_code=(LABELS == "ill") + 1),
    "status2": put(status2=(LABELS == "ill") * 1),
    "label": put(label=(LABELS == "ill") * 7),
    "subjects with rows": put(subject_id=RNG.integers(0, 12, N)),
}
SPARED = {
    "plain": FRAME,
    "body mass index": put(body_mass_index=SHUFFLED),
    "age in years": put(0, age_years=np.sort(SHUFFLED)),
    "time in steps": put(time=np.arange(N)),
    "dose in steps": put(0, dose_level=np.arange(N)),
    "nitric oxide": put(NO=SHUFFLED),
    "uric acid": put(uric_acid=SHUFFLED),
    "covid": put(covid=(LABELS == "ill") * 1),
    "fractions named id": put(id=SHUFFLED / 7),
    "site_id, few": put(site_id=RNG.integers(0, 3, N)),
    "first, unsorted": put(0, v1=SHUFFLED),
    "perfect marker": put(her2=(LABELS == "ill") * 1.0),
    "perfect marker, a range": put(her2=(LABELS == "ill") * 10 + RNG.normal(size=N)),
    "marker named like the target": put(status_protein=(LABELS == "ill") * 10 + RNG.normal(size=N)),
    "year": put(year=2000 + np.arange(N)),
}


@pytest.mark.parametrize("frame", STOPPED.values(), ids=STOPPED)
def test_evidence_beyond_values_stops(frame):
    (name,) = set(frame) - set(FRAME)
    with pytest.raises(ValueError, match=r"^Expected only features besides the target in the frame, but '") as caught:
        hf.read_table(frame, "status")
    assert f"ignore={name!r}, or keep it as a feature with treat_as_feature={name!r}." in str(caught.value)
    assert name not in hf.read_table(frame, "status", ignore=name).X
    kept = hf.read_table(frame, "status", treat_as_feature=name)
    assert name in kept.X
    assert any(note.startswith(f"Kept as a feature, as treat_as_feature= says: {name!r} ") for note in kept.notes)
    assert kept.warnings == ()


@pytest.mark.parametrize("frame", SPARED.values(), ids=SPARED)
def test_features_with_telling_names_or_values_never_stop(frame):
    assert hf.read_table(frame, "status").X.shape[1] == frame.shape[1] - 1


def test_a_recoded_target_with_another_name_is_a_warning():
    for values in ((LABELS == "ill") * 3.5, (LABELS == "ill") * 10 + RNG.normal(size=N)):
        table = hf.read_table(put(x7=values), "status")
        assert table.warnings == (
            "'x7' separates the classes of 'status' perfectly, one value range for each: a perfect marker, or the "
            "target in other words.",
        )
        assert table.record.warnings == table.warnings
        assert "1 warning" in repr(table)
    both = hf.read_table(put(x7=(LABELS == "ill") * 1).assign(x8=(LABELS == "ill") * 2), "status")
    assert both.warnings[0].startswith("'x7', 'x8': each separates the classes")
    assert hf.read_table(put(x7=(LABELS == "ill") * 1), "status", treat_as_feature="x7").warnings == ()


def test_three_classes():
    codes = np.arange(N) % 3
    frame = FRAME.assign(status=np.array(["a", "b", "c"])[codes], x7=np.array([5, 1, 9])[codes], x8=codes > 0)
    assert [doubt.feature for doubt in find_doubts(frame[["x7", "x8", "age"]], frame["status"].to_numpy())] == ["x7"]


def test_copies_of_a_number_to_predict():
    y = RNG.normal(size=N)
    frame = FRAME.drop(columns="status").assign(pressure=y, x1=3 - 2 * y, x2=np.exp(y), x3=y + RNG.normal(size=N))
    (warning,) = hf.read_table(frame, "pressure").warnings
    assert warning.startswith("'x1', 'x2': each rises or falls with the target 'pressure' from row to row")
    with pytest.raises(ValueError, match="'pressure_log' is named like the target 'pressure' and orders the rows"):
        hf.read_table(frame.assign(pressure_log=y), "pressure")


def test_groups_in_other_words():
    who = np.repeat(np.arange(8), 5)
    codes = RNG.permutation(100)[:8][who]
    frame = FRAME.assign(patient=[f"p{place}" for place in who], code=codes, height=RNG.normal(size=8)[who])
    (warning,) = hf.read_table(frame, "status", groups="patient").warnings
    assert warning == "'code' has one whole number for each of the groups 'patient', as another name of them would."
    with pytest.raises(ValueError, match="'patient_code' has one whole number for each of the groups 'patient'"):
        hf.read_table(frame.rename(columns={"code": "patient_code"}), "status", groups="patient")


def test_few_rows_say_nothing():
    frame = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [0.0, 1, 0, 1], "status": ["p", "q", "p", "q"]})
    assert hf.read_table(frame, "status").warnings == ()


def test_chance_separates_in_small_wide_tables_and_is_no_news():
    y = np.array(["p", "q"] * 6)
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(12, 20_000))).add_prefix("g")
    assert find_doubts(wide, y, target="y") == []


def test_several_columns_are_named_together():
    frame = put(id=SHUFFLED).assign(nr=np.arange(N))
    with pytest.raises(
        ValueError, match=r"ignore=\['id', 'nr'\], or keep it as a feature with treat_as_feature=\['id', 'nr'\]"
    ):
        hf.read_table(frame, "status")
    assert len(describe_doubts(find_doubts(frame.drop(columns="status"), LABELS))) == 2


def test_an_unknown_column_cannot_be_accepted():
    with pytest.raises(ValueError, match=r"the treat_as_feature= column 'agee'.*did you mean 'age'"):
        hf.read_table(FRAME, "status", treat_as_feature="agee")


# No false alarms


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits", "diabetes"])
def test_no_embedded_data_set_stops(name):
    bunch = getattr(sklearn.datasets, f"load_{name}")(as_frame=True)
    task = "regression" if name == "diabetes" else "classification"
    assert hf.read_table(bunch.data.assign(outcome=bunch.target), "outcome", task=task).warnings == ()


@pytest.mark.slow
@pytest.mark.skipif("HOLDFAST_DATA" not in os.environ, reason="needs the real data sets")
@pytest.mark.parametrize("name", [name for name in datasets.names() if name != "breast_cancer"])
def test_no_real_data_set_stops(name):
    if not (Path(os.environ["HOLDFAST_DATA"]) / f"{name}.parquet").exists():
        pytest.skip("not there")
    loaded = datasets.load(name)
    assert not any(doubt.certainty == "certain" for doubt in find_doubts(loaded.X, loaded.y, target="target"))


TYPICAL = [
    "age", "bmi", "crp", "sex", "height", "weight", "sbp", "dbp", "glucose", "hba1c", "ldl", "hdl", "smoker",
    "stage", "grade", "size", "nodes", "time", "dose", "visit", "year", "score", "index1", "BMI_index", "code_a",
    "idh1", "CD4", "No2", "sample_volume", "case_load", "patient_age", "row_height", "number_of_nodes",
]  # fmt: skip


def random_table(seed):
    """A table as people have: counts, codes, measurements and dummies, sorted by a measurement or by class."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(12, 200)), int(rng.integers(2, 20))
    kinds = [
        lambda: rng.normal(size=n), lambda: rng.integers(0, 2, n), lambda: rng.integers(1, 6, n),
        lambda: rng.poisson(20, n),
        lambda: rng.integers(18, 95, n), lambda: rng.lognormal(size=n).round(2), lambda: rng.integers(0, 100_000, n),
        lambda: np.repeat(rng.normal(size=n // 4 + 1), 4)[:n],
    ]  # fmt: skip
    names = rng.permutation([*TYPICAL, *(f"{letter}{rng.integers(99)}" for letter in string.ascii_lowercase)])[:p]
    columns = {str(name): kinds[rng.integers(len(kinds))]().astype(float) for name in names}
    y = rng.integers(0, rng.integers(2, 4), n) if seed % 3 else rng.normal(size=n)
    frame = pd.DataFrame(columns)
    if seed % 2:
        return frame, np.sort(y)
    return frame.assign(rank=np.sort(rng.normal(size=n))), y


NAMED_LIKE_A_BATCH = {"visit"}


def test_random_tables_raise_no_alarm():
    alarms = [doubt for seed in range(400) for doubt in find_doubts(*random_table(seed), target="outcome")]
    assert not [doubt for doubt in alarms if doubt.certainty == "certain"]
    assert len([doubt for doubt in alarms if doubt.feature not in NAMED_LIKE_A_BATCH]) <= 4


# Batches, near-copies of the target, codes, repeated rows


@pytest.mark.parametrize(
    "name",
    [
        "batch",
        "Batch Nr",
        "Charge",
        "Chargennummer",
        "plate_id",
        "Standort",
        "scan_date",
        "Fecha",
        "run",
        "lotto",
        "site",
    ],
)
def test_names_of_batches_in_several_languages_are_in_doubt(name):
    (doubt,) = find_doubts(put(**{name: RNG.integers(0, 3, N)}).drop(columns="status"), LABELS)
    assert (doubt.feature, doubt.certainty, doubt.withholds_trust) == (name, "doubt", True)


@pytest.mark.parametrize(
    "name", ["run_time", "lot size", "center of mass", "platelets", "labor force", "LOS", "number of visits", "charged"]
)
def test_names_of_features_that_hold_such_words_are_not(name):
    assert find_doubts(put(**{name: RNG.integers(0, 3, N)}).drop(columns="status"), LABELS) == []


@pytest.mark.parametrize(
    "name", ["Probennummer", "Patientennummer", "numéro de patient", "codice paziente", "id_muestra"]
)
def test_identifiers_in_several_languages_stop(name):
    with pytest.raises(ValueError, match="named like an identifier and differs in nearly every row"):
        hf.read_table(put(**{name: SHUFFLED}), "status")


def test_a_batch_that_nearly_is_the_target_is_in_doubt_and_says_both():
    batch = np.where(LABELS == "ill", "B1", "B2")
    batch[3] = "B1"
    table = hf.read_table(put(Charge=batch), "status", categorical="one-hot")
    (doubt,) = table.record.doubts
    assert doubt.feature.startswith("Charge=")
    assert table.warnings == (
        f"{doubt.feature!r} is named like a batch, a site or a date, which describes how samples came about (as the "
        "column of sites it is adjusted for), and has a value of its own for each of the classes of 'status' in all "
        "but 1 row of 40.",
    )
    settled = hf.read_table(put(Charge=batch), "status", categorical="one-hot", treat_as_feature="Charge")
    assert settled.record.doubts == settled.warnings == ()
    assert any("Kept as a feature" in note and "named like a batch" in note for note in settled.notes)


@pytest.mark.parametrize(("swapped", "found"), [(1, True), (2, True), (5, False)])
def test_a_near_copy_of_the_target_is_a_question(swapped, found):
    copy = (LABELS == "ill").astype(float)
    copy[:swapped] = 1 - copy[:swapped]
    doubts = find_doubts(put(x7=copy).drop(columns="status"), LABELS, target="status")
    assert [doubt.certainty for doubt in doubts] == ["question"] * found
    if found:
        assert doubts[0].reason.endswith(": a marker, or a copy of the target?")


def test_a_rare_class_is_not_matched_by_a_nearly_constant_column():
    y = np.repeat(["well", "ill"], [95, 5])
    rng = np.random.default_rng(0)
    X = pd.DataFrame((rng.random((100, 500)) < 0.02).astype(float)).add_prefix("x")
    assert find_doubts(X, y) == []


def test_measured_markers_keep_their_trust_and_copies_with_noise_do_not():
    side = (LABELS == "ill") * 10.0
    marker, copy = side + RNG.uniform(0, 8, N), side + RNG.uniform(0, 1, N)
    doubts = find_doubts(put(marker=marker).assign(copy=copy).drop(columns="status"), LABELS)
    assert {doubt.feature: doubt.withholds_trust for doubt in doubts} == {"marker": False, "copy": True}


def test_sites_settle_a_column_that_is_named_like_a_batch():
    plate = np.arange(N) % 4 + 1
    assert hf.read_table(FRAME.assign(plate=plate), "status").record.options == ["ignore", "sites", "treat_as_feature"]
    assert hf.read_table(FRAME.assign(plate=plate), "status", sites="plate").record.options == []


def test_a_code_for_missing_values_is_named_and_can_be_read_as_missing():
    age = RNG.integers(30, 80, N).astype(float)
    age[[2, 5]] = -999
    table = hf.read_table(FRAME.assign(age=age), "status")
    assert table.warnings == ("'age' is −999 in 2 rows, far from all its other values: a code for a missing one?",)
    assert table.record.options == ["na_values", "treat_as_feature"]
    for codes in ("-999", -999, [-999, "unknown"]):
        read = hf.read_table(FRAME.assign(age=age), "status", na_values=codes, missing="impute-median")
        assert read.X["age"].min() >= 30
        assert read.warnings == ()


def test_repeated_rows_are_counted_and_dropped():
    twice = pd.concat([FRAME, FRAME.iloc[[4, 7]]], ignore_index=True)
    twice.loc[N + 1, "status"] = "ill" if FRAME.loc[7, "status"] == "well" else "well"
    table = hf.read_table(twice, "status")
    assert table.record.equal_rows == 2
    assert table.warnings == (
        f"2 rows repeat another (first: rows 4 and {N}), so that models may be scored on rows that they were trained "
        "on.",
        f"1 pair of equal rows differs in the target (first: rows 7 and {N + 1}): one of the two labels is wrong, or "
        "the features cannot tell.",
    )
    dropped = hf.read_table(twice, "status", repeats="drop")
    assert dropped.X.index.tolist() == [row for row in range(N) if row != 7]
    assert "Dropped 3 rows equal to others, 1 pair of them with different targets." in dropped.notes


def test_rows_are_equal_up_to_rounding_but_not_by_chance():
    X = pd.DataFrame(RNG.normal(50, 10, size=(N, 8)))
    rounded = pd.concat([X, X.iloc[[3]].round(2)], ignore_index=True)
    assert describe_equal_rows(rounded, np.arange(N + 1))[0] == 1
    categories = pd.DataFrame(RNG.integers(0, 2, size=(200, 4)).astype(float))
    assert describe_equal_rows(categories, np.arange(200)) == (0, [])


@pytest.mark.slow
@pytest.mark.skipif("HOLDFAST_DATA" not in os.environ, reason="needs the real data sets")
def test_real_data_sets_hold_the_repeated_rows_that_they_are_known_for():
    known = {"mfeat": 6, "spambase": 394, "gtzan5_librosa": 5, "ionosphere": 1, "sonar": 0, "singh": 0}
    found = {}
    for name in known:
        loaded = datasets.load(name)
        found[name] = describe_equal_rows(pd.DataFrame(loaded.X), np.asarray(loaded.y))[0]
    assert found == known


def test_a_doubted_feature_is_never_among_those_to_trust():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = pd.DataFrame(rng.normal(size=(80, 12)) + 1.5 * y[:, None] * (np.arange(12) < 3)).add_prefix("g")
    X["batch"] = np.where(np.arange(80) == 5, 1 - y, y)
    study = hf.Study({"anova": hf.selectors.AnovaF(4)}, hf.Bootstrap(20), estimator=KNeighborsClassifier(3))
    result = study.run(X, y)
    verdicts = result.features("anova").frame.set_index("feature")["verdict"]
    assert verdicts["batch"] == "selected often; in doubt as a feature"
    assert verdicts["g0"] == "holds"
    summary = summarize(result)
    assert summary.verdict.headline.startswith("Check first whether batch is a feature. ")
    assert (
        "Not among the features to trust until that is settled: batch is named like a batch"
        in summary.verdict.sentences[-1]
    )
    assert "batch" not in summary.verdict.sentences[1]
    assert summary.to_dict()["data"]["doubts"][0]["feature"] == "batch"
    settled = study.run(X, y, treat_as_feature=["batch"])
    assert settled.features("anova").frame.set_index("feature")["verdict"]["batch"] == "holds"
    assert summarize(settled).verdict.headline == "The selection holds."
    assert "Kept as a feature, as treat_as_feature= says: 'batch' is named" in settled.data.notes[0]


# Columns with little of their own


def test_nearly_constant_and_repeated_columns_are_counted():
    once = np.zeros(N)
    once[3] = 1
    frame = FRAME.assign(rare=once, rare2=2 * once, again=FRAME["age"], zero=-once * 0.0)
    notes = hf.read_table(frame, "status").notes
    assert "Kept 2 columns in which a single row differs from all others: 'rare', 'rare2'." in notes
    assert "Kept 1 column that repeats another: 'again' (as 'age')." in notes
    assert "Kept 1 column with a single value: 'zero'." in notes
    tall = pd.concat([FRAME] * 10, ignore_index=True).assign(x=lambda frame: frame.index < 4)
    tall["age"] += np.arange(len(tall)) / 9
    assert any("at most 1 % of the rows (4) differ" in note for note in hf.read_table(tall, "status").notes)


def test_the_former_name_of_treat_as_feature_works_for_a_version(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = put(patient_id=SHUFFLED)
    frame.to_csv("d.csv", index=False)
    with pytest.warns(FutureWarning, match="^accept= is now treat_as_feature="):
        assert "patient_id" in hf.read_table(frame, "status", accept="patient_id").X
    with pytest.warns(FutureWarning, match="^accept= is now treat_as_feature="):
        assert hf.io.inspect_table("d.csv", "status", accept="patient_id").question is None
    options = ["--target", "status", "-s", "anova:k=2", "-n", "2", "--dry-run", "--quiet"]
    with pytest.warns(FutureWarning, match="^--accept is now --treat-as-feature;"):
        assert CliRunner().invoke(app, ["study", "d.csv", *options, "--accept", "patient_id"]).exit_code == 0
    Path("study.toml").write_text('data = "d.csv"\naccept = "patient_id"')
    with pytest.warns(FutureWarning, match="^accept in study.toml is now treat_as_feature;"):
        assert CliRunner().invoke(app, ["study", "--config", "study.toml", *options]).exit_code == 0
