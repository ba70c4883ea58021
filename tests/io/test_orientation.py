"""Features in rows, targets in a second file, and the same for selections."""

import gzip

import numpy as np
import openpyxl
import pandas as pd
import pytest
from typer.testing import CliRunner

import holdfast as hf
from holdfast.cli import app
from holdfast.io.guessing import are_run_labels, explain_features_in_rows
from holdfast.io.selections import read_selections

RNG = np.random.default_rng(0)
GENES = [f"{place}_at" for place in range(1000, 1030)]
SAMPLES = [f"GSM{place}" for place in range(1, 9)]
VALUES = RNG.normal(size=(30, 8)).round(4)
EXPRESSION = pd.DataFrame(VALUES, index=GENES, columns=SAMPLES)
LABELS = ["ill", "well"] * 4
CLINICAL = pd.DataFrame({"sample": SAMPLES, "status": LABELS, "patient": [1, 1, 2, 2, 3, 3, 4, 4], "age": range(8)})


def message(path, target="status", **options):
    with pytest.raises(ValueError, match=r"^Expected [^\n]*[.?]$") as caught:
        hf.read_table(path, target, **options)
    return str(caught.value)


@pytest.fixture
def files(tmp_path):
    EXPRESSION.to_csv(tmp_path / "expression.csv", index_label="probe")
    CLINICAL.sample(frac=1, random_state=0).to_csv(tmp_path / "clinical.csv", index=False)
    return tmp_path


def test_features_in_rows_are_recognized_with_the_options_to_use(files):
    assert "or pass target_file=FILE, a table" in message(files / "expression.csv", transpose=True)
    told = message(files / "expression.csv")
    assert "got rows named '1000_at', '1001_at'" in told
    assert "8 columns of numbers, which look like features in rows" in told
    assert (
        "pass transpose=True and target_file=FILE, a table with the names of the samples and a column 'status'." in told
    )


def test_the_target_in_a_second_file(files):
    options = {"transpose": True, "target_file": files / "clinical.csv"}
    table = hf.read_table(files / "expression.csv", "status", groups="patient", **options)
    np.testing.assert_array_equal(table.X.to_numpy(), VALUES.T)
    assert list(table.X.columns) == GENES
    assert list(table.X.index) == SAMPLES
    assert table.y.tolist() == LABELS
    assert table.groups.tolist() == [1, 1, 2, 2, 3, 3, 4, 4]
    assert "Transposed the table, as features stood in its rows." in table.notes
    assert "Took 'status', 'patient' from clinical.csv, matched by sample name ('sample')." in table.notes
    assert "Left out the other columns of clinical.csv: 'age'." in table.notes
    assert (table.record.rows, table.record.features, table.record.n_groups) == (8, 30, 4)
    kept = hf.read_table(files / "expression.csv", "status", treat_as_feature="age", ignore=[], **options)
    assert kept.X["age"].tolist() == list(range(8))


def test_the_target_as_a_row(tmp_path):
    rows = pd.concat([pd.DataFrame([LABELS], index=["status"], columns=SAMPLES), EXPRESSION.astype(object)])
    rows.to_csv(tmp_path / "d.csv")
    assert "got a row of this name: features stand in rows; pass transpose=True." in message(tmp_path / "d.csv")
    table = hf.read_table(tmp_path / "d.csv", "status", transpose=True)
    np.testing.assert_array_equal(table.X.to_numpy(), VALUES.T)
    assert table.y.tolist() == LABELS
    text = rows.map(lambda cell: str(cell).replace(".", ","))
    text.to_csv(tmp_path / "e.csv", sep=";")
    np.testing.assert_array_equal(hf.read_table(tmp_path / "e.csv", "status", transpose=True).X.to_numpy(), VALUES.T)
    book = openpyxl.Workbook()
    for row in [
        ["", *SAMPLES],
        ["status", *LABELS],
        *([name, *row] for name, row in zip(GENES, VALUES.tolist(), strict=True)),
    ]:
        book.active.append(row)
    book.save(tmp_path / "f.xlsx")
    np.testing.assert_array_equal(hf.read_table(tmp_path / "f.xlsx", "status", transpose=True).X.to_numpy(), VALUES.T)


def test_r_writes_samples_as_a_short_header(files):
    text = (
        "\t".join(SAMPLES)
        + "\n"
        + "\n".join("\t".join([name, *map(repr, row)]) for name, row in zip(GENES, VALUES.tolist(), strict=True))
    )
    (files / "m.txt.gz").write_bytes(gzip.compress(text.encode()))
    table = hf.read_table(files / "m.txt.gz", "status", transpose=True, target_file=files / "clinical.csv")
    np.testing.assert_array_equal(table.X.to_numpy(), VALUES.T)


def test_a_second_file_works_for_samples_in_rows_too(files):
    EXPRESSION.T.to_csv(files / "turned.csv", index_label="id")
    table = hf.read_table(files / "turned.csv", "status", target_file=files / "clinical.csv")
    np.testing.assert_array_equal(table.X.to_numpy(), VALUES.T)
    assert table.y.tolist() == LABELS
    plain = EXPRESSION.T.reset_index(names="id")
    assert hf.read_table(plain, "status", index="id", target_file=files / "clinical.csv").y.tolist() == LABELS
    assert "name their column with index=" in message(
        EXPRESSION.T.reset_index(drop=True), target_file=files / "clinical.csv"
    )


def test_the_index_of_a_second_file_may_name_the_samples(files, tmp_path):
    clinical = pd.read_csv(files / "clinical.csv", index_col=0)
    clinical.rename_axis(None).to_parquet(tmp_path / "clinical.parquet")
    table = hf.read_table(files / "expression.csv", "status", transpose=True, target_file=tmp_path / "clinical.parquet")
    assert table.y.tolist() == LABELS


def test_names_of_samples_may_be_numbers(tmp_path):
    EXPRESSION.set_axis(range(1, 9), axis=1).to_csv(tmp_path / "x.csv", index_label="probe")
    pd.DataFrame({"nr": [3, 1, 2, 4, 8, 7, 6, 5], "y": list("abbaabab")}).to_csv(tmp_path / "y.csv", index=False)
    table = hf.read_table(tmp_path / "x.csv", "y", transpose=True, target_file=tmp_path / "y.csv")
    assert table.y.tolist() == ["b", "b", "a", "a", "b", "a", "b", "a"]


def test_names_that_do_not_match_are_refused_with_counts(files):
    options = {"transpose": True, "target_file": files / "c.csv"}
    CLINICAL[:6].to_csv(files / "c.csv", index=False)
    told = message(files / "expression.csv", **options)
    assert "for each of the 8 samples" in told
    assert "got none for 2: 'GSM7', 'GSM8'" in told
    dropped = hf.read_table(files / "expression.csv", "status", missing="drop", **options)
    assert dropped.y.tolist() == LABELS[:6]
    pd.concat([CLINICAL, CLINICAL.assign(sample="other").head(1)]).to_csv(files / "c.csv", index=False)
    more = hf.read_table(files / "expression.csv", "status", **options)
    assert "Left out 1 row of c.csv whose samples are not in the table: 'other'." in more.notes
    pd.concat([CLINICAL, CLINICAL[:1]]).to_csv(files / "c.csv", index=False)
    assert "every sample once in c.csv, got 'GSM1' (2 times)" in message(files / "expression.csv", **options)
    CLINICAL.assign(sample=[f"X{place}" for place in range(8)]).to_csv(files / "c.csv", index=False)
    assert "got none of them ('X0'" in message(files / "expression.csv", **options)
    CLINICAL.rename(columns={"status": "Status"}).to_csv(files / "c.csv", index=False)
    assert "did you mean 'Status'?" in message(files / "expression.csv", **options)


def test_a_second_file_for_a_table_that_lies_the_other_way(files):
    told = message(files / "expression.csv", target_file=files / "clinical.csv")
    assert "they are the names of columns: features stand in rows, pass transpose=True." in told


def test_annotations_beside_features_join_their_names_or_are_ignored(files):
    frame = EXPRESSION.reset_index(names="probe")
    frame.insert(1, "symbol", [f"gene {place}" for place in range(30)])
    frame.to_csv(files / "a.csv", index=False)
    options = {"transpose": True, "target_file": files / "clinical.csv"}
    labeled = hf.read_table(files / "a.csv", "status", **options)
    assert labeled.X.columns[0] == "gene 0 (1000_at)"
    np.testing.assert_array_equal(labeled.X.to_numpy(), VALUES.T)
    table = hf.read_table(files / "a.csv", "status", ignore="symbol", **options)
    np.testing.assert_array_equal(table.X.to_numpy(), VALUES.T)


def test_a_table_without_names_cannot_be_turned(tmp_path):
    pd.DataFrame(VALUES, columns=SAMPLES).to_csv(tmp_path / "d.csv", index=False)
    assert "names of features in the first column" in message(tmp_path / "d.csv", transpose=True)


@pytest.mark.parametrize(
    ("frame", "turned"),
    [
        (EXPRESSION, True),
        (
            EXPRESSION.set_axis([f"tumor_{place}" for place in range(8)], axis=1).set_axis(
                [f"m{p}" for p in range(30)]
            ),
            True,
        ),
        (EXPRESSION.T, False),
        (EXPRESSION.set_axis(list("abcdefgh"), axis=1).set_axis([f"patient {place}" for place in range(30)]), False),
        (
            EXPRESSION.set_axis([f"patient {p}" for p in range(30)]).set_axis(["age", "bmi", "crp", *"abcde"], axis=1),
            False,
        ),
        (EXPRESSION.reset_index(drop=True), False),
        (
            EXPRESSION.set_axis(list("abcdefgh"), axis=1)
            .set_axis([f"X{p}" for p in range(30)])
            .reset_index(names="ID_REF"),
            True,
        ),
        (EXPRESSION.assign(GSM1="text"), False),
        (EXPRESSION.assign(symbol="text"), True),
    ],
)
def test_which_way_a_table_lies(frame, turned):
    assert bool(explain_features_in_rows(frame)) == turned


# Selections

RUNS = pd.DataFrame([[1, 0, 1], [1, 1, 0]], columns=["age", "dose", "sex"])


@pytest.mark.parametrize(
    "name", ["run1", "fold_2", "resample 3", "seed-4", "bootstrap.5", "Run #6", "split7", "rep8", "fold1_rep2"]
)
def test_names_of_runs(name):
    assert are_run_labels([name, name.replace("1", "9")])
    assert not are_run_labels([name, "age"])
    assert not are_run_labels([name])


@pytest.mark.parametrize("names", [["run1", "run2"], ["fold_1", "fold_2"], ["seed 0", "seed 1"]])
@pytest.mark.parametrize("index", ["feature", None], ids=["names", "no names"])
def test_columns_that_are_runs_need_the_option(tmp_path, names, index):
    RUNS.T.set_axis(names, axis=1).to_csv(tmp_path / "d.csv", index=index is not None, index_label=index)
    with pytest.raises(ValueError, match=r"named like runs: '.*pass transpose=True, as rows are features"):
        hf.read_preferences(tmp_path / "d.csv")
    turned = hf.read_preferences(tmp_path / "d.csv", transpose=True)
    expected = hf.Preferences.from_matrix(RUNS.to_numpy(), features=list(RUNS) if index else None, labels=names)
    assert turned == expected


def test_rows_that_are_features_need_the_option(tmp_path):
    (tmp_path / "d.csv").write_text("probe,a,b\nx,1,0\ny,0,1\nz,1,1\n")
    with pytest.raises(ValueError, match=r"rows that are named like features: 'x', 'y', 'z'; pass transpose=True"):
        hf.read_preferences(tmp_path / "d.csv")
    assert hf.read_preferences(tmp_path / "d.csv", transpose=True).n_runs == 2
    (tmp_path / "d.csv").write_text("name,a,b\nENSG00000141510,1,0\nENSG00000012048,0,1\n")
    with pytest.raises(ValueError, match="named like features: 'ENSG00000141510'"):
        hf.read_preferences(tmp_path / "d.csv")


def test_a_note_says_how_an_open_matrix_was_read(tmp_path):
    RUNS.to_csv(tmp_path / "d.csv", index=False)
    assert read_selections(tmp_path / "d.csv")[1] == (
        "Read as 2 runs of 3 features; transpose=True if rows are features."
    )
    for index, label in ((["run1", "run2"], "name"), (["a", "b"], "run")):
        RUNS.set_axis(index).to_csv(tmp_path / "d.csv", index_label=label)
        assert read_selections(tmp_path / "d.csv")[1] is None
    hf.write_preferences(hf.Preferences.from_matrix(RUNS), tmp_path / "own.csv")
    assert read_selections(tmp_path / "own.csv")[1] is None
    (tmp_path / "lists.txt").write_text("a b\n")
    with pytest.raises(ValueError, match="Expected a matrix for transpose=True"):
        hf.read_preferences(tmp_path / "lists.txt", n_features=3, transpose=True)


def call(*arguments, code=0):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == code, (done.output, done.exception)
    return done


def test_orientation_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    RUNS.to_csv("d.csv", index=False)
    RUNS.T.set_axis(["run1", "run2"], axis=1).to_csv("t.csv", index_label="feature")
    done = call("measure", "d.csv")
    assert "d.csv: Read as 2 runs of 3 features; --transpose if rows are features." in done.stderr
    assert call("measure", "d.csv", "--quiet").stderr == ""
    assert call("measure", "t.csv", "--transpose").stdout == done.stdout
    for name, rows in (("u", [0, 1, 0]), ("v", [1, 1, 0])):
        RUNS.iloc[rows].T.set_axis(["run1", "run2", "run3"], axis=1).to_csv(f"{name}.csv", index_label="feature")
    assert "u - v" in call("compare", "u.csv", "v.csv", "--transpose").stdout


def test_a_study_of_features_in_rows_on_the_command_line(files, monkeypatch, capsys):
    monkeypatch.chdir(files)
    study = ["study", "expression.csv", "--target", "status", "-s", "anova:k=2", "-n", "3"]
    from holdfast.cli import run

    monkeypatch.setattr("sys.argv", ["holdfast", *study])
    with pytest.raises(SystemExit):
        run()
    assert "pass --transpose and --target-file FILE" in capsys.readouterr().err
    done = call(*study, "--transpose", "--target-file", "clinical.csv", "--groups", "patient", "--store", "s.db")
    assert "Took 'status', 'patient' from clinical.csv" in done.stderr
    assert "30 features" in done.stdout
    monkeypatch.chdir("/")
    assert "30 features" in call("resume", files / "s.db").stdout
    (files / "c.toml").write_text(
        'data = "expression.csv"\ntarget = "status"\ntranspose = true\ntarget_file = "clinical.csv"\n'
        'select = "anova:k=2"\nresamples = 3\n'
    )
    assert "30 features" in call("study", "--config", files / "c.toml").stdout
