"""Files as they are found: lines above the header, GEO series, annotations of genes, pipes, covariates of texts."""

import gzip
import os

import numpy as np
import pandas as pd
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import holdfast as hf
from holdfast.io import ReadingError, inspect_table
from holdfast.io.delimited import TextTable
from holdfast.resampling import Bootstrap
from holdfast.selectors import AnovaF

ROWS = "1,2.5,3,x\n2,3.5,1,y\n3,1.5,2,x\n4,0.5,2,y\n"
COLUMNS = ["a", "b"]


@pytest.mark.parametrize(
    ("above", "shown"),
    [
        ("\n \n", None),
        ("Table 1. Patients\n", "1 line above the header: 'Table 1. Patients'"),
        ("Table 1,,,\n\n", "1 line above the header: 'Table 1'"),
        ("Table 1: all patients, as of May\n", "1 line above"),
        ("# made by, me\n#, 2020\n", "2 lines above the header: '# made by, me', '#, 2020'"),
        ("Exported by,Smith\nDate,2020-01-01\n,,,\n", "2 lines above"),
        ("sep=,\nTable 1\n", "1 line above the header: 'Table 1'"),
    ],
)
def test_lines_above_the_header_are_no_header(tmp_path, above, shown):
    file = tmp_path / "patients.csv"
    file.write_text(f"{above}id,a,b,ill\n{ROWS}")
    table = hf.read_table(file, "ill", index="id")
    assert list(table.X) == COLUMNS
    assert len(table.X) == 4
    notes = [note for note in table.notes if "above the header" in note]
    assert (shown is None and not notes) or (shown in notes[0] and len(notes) == 1)


@pytest.mark.parametrize("header", ["#id,a,b,ill", "id,a,b,ill", '"i\nd",a,b,ill'])
def test_a_header_stays_a_header(tmp_path, header):
    (tmp_path / "patients.csv").write_text(f"{header}\n{ROWS}")
    first = header.partition(",")[0].strip('"')
    assert list(hf.read_table(tmp_path / "patients.csv", "ill", index=first).X) == COLUMNS


def test_short_lines_above_numbers_are_not_left_out(tmp_path):
    (tmp_path / "numbers.csv").write_text("title\n1,2,3\n4,5,6\n7,8,10\n")
    with pytest.raises(ValueError, match="Expected"):
        hf.read_table(tmp_path / "numbers.csv", "title")


def write_series(path, n=12, values=True):
    """Write a GEO series matrix of 6 probes: tissue, and batch in cells that sometimes hold something else."""
    rng = np.random.default_rng(0)
    names = [f"GSM{100 + sample}" for sample in range(n)]
    lines = [
        '!Series_title\t"A series"',
        "!Sample_title\t" + "\t".join(f'"array {sample}"' for sample in range(n)),
        "!Sample_geo_accession\t" + "\t".join(f'"{name}"' for name in names),
        "!Sample_characteristics_ch1\t" + "\t".join(f'"tissue: {("normal", "tumor")[s % 2]}"' for s in range(n)),
        "!Sample_characteristics_ch1\t" + "\t".join('"Sex: f"' if s == 3 else f'"age: {30 + s}"' for s in range(n)),
        "!Sample_characteristics_ch1\t" + "\t".join(f'"plate: {"AB"[s % 3 == 0]}"' for s in range(n)),
        "!series_matrix_table_begin",
        '"ID_REF"\t' + "\t".join(f'"{name}"' for name in names),
        *(f'"{probe}_at"\t' + "\t".join(map(str, rng.normal(size=n).round(4))) for probe in range(6 if values else 0)),
        "!series_matrix_table_end\n",
    ]
    write = gzip.open if path.suffix == ".gz" else open
    with write(path, "wt") as file:
        file.write("\n".join(lines))
    return path


@pytest.mark.parametrize("name", ["GSE1_series_matrix.txt", "GSE1_series_matrix.txt.gz"])
def test_a_series_matrix_is_read_with_its_characteristics(tmp_path, name):
    file = write_series(tmp_path / name)
    assert {"tissue", "plate", "age"} <= {guess.name for guess in inspect_table(file).targets}
    table = hf.read_table(file, "tissue", covariates="plate")
    assert list(table.X) == [*(f"{probe}_at" for probe in range(6)), "plate=B"]
    assert table.X.index[0] == "GSM100"
    assert table.record.classes == (("normal", 6), ("tumor", 6))
    assert "'title', 'age', 'Sex'" in " ".join(table.notes)
    assert table.record.file_format == "GEO series matrix"
    assert hf.read_table(file, "tissue", transpose=True).X.equals(hf.read_table(file, "tissue").X)
    assert hf.read_table(file, "age", missing="drop", task="regression").y.size == 11


def test_a_series_matrix_may_describe_the_samples_of_another_table(tmp_path):
    file = write_series(tmp_path / "GSE1_series_matrix.txt", values=False)
    counts = pd.DataFrame(np.arange(36.0).reshape(3, 12) % 7, columns=[f"GSM{111 - sample}" for sample in range(12)])
    counts.insert(0, "gene", ["A", "B", "C"])
    counts.to_csv(tmp_path / "counts.csv", index=False)
    table = hf.read_table(tmp_path / "counts.csv", "tissue", transpose=True, target_file=file, covariates="plate")
    assert table.y.tolist() == ["tumor", "normal"] * 6
    assert list(table.X)[-1] == "plate=B"


def test_annotations_of_genes_in_rows_become_labels(tmp_path):
    genes = pd.DataFrame(np.random.default_rng(0).normal(size=(5, 8)), columns=[f"S{s}" for s in range(8)])
    genes.insert(0, "Geneid", [f"ENSG{gene:05d}" for gene in range(5)])
    genes.insert(1, "Length", range(100, 105))
    genes.insert(2, "Gene Symbol", ["TP53", "EGFR", "", "KRAS", "TP53"])
    genes.to_csv(tmp_path / "genes.csv", index=False)
    samples = pd.DataFrame({"sample": [f"S{s}" for s in range(8)], "ill": list("abababab"), "Charge": list("uuvvwwuv")})
    samples.to_csv(tmp_path / "samples.csv", index=False)
    assert inspect_table(tmp_path / "genes.csv").question.option == "transpose"
    given = {"transpose": True, "target_file": tmp_path / "samples.csv"}
    table = hf.read_table(tmp_path / "genes.csv", "ill", **given, covariates="Charge")
    genes = ["TP53 (ENSG00000)", "EGFR (ENSG00001)", "ENSG00002", "KRAS (ENSG00003)", "TP53 (ENSG00004)"]
    assert list(table.X) == [*genes, "Charge=u", "Charge=v", "Charge=w"]
    assert "labels to the names of 4 features, as in 'TP53 (ENSG00000)'" in " ".join(table.notes)
    assert "describes the features: 'Length', 'Gene Symbol'" in " ".join(table.notes)


def test_columns_that_are_left_out_are_recorded():
    frame = pd.DataFrame({"id": range(6), "a": np.arange(6.0) ** 2, "ill": list("xyxyxy")})
    table = hf.read_table(frame, "ill", ignore=["id"])
    assert "Left out as asked: 'id'." in table.record.notes


@pytest.fixture
def mixed():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    return pd.DataFrame(
        {
            "patient_id": np.arange(60) + 1000, "crp": rng.normal(size=60) + y, "age": rng.normal(size=60),
            "Charge": rng.choice(list("ABC"), 60), "ill": np.where(y, "yes", "no"),
        }
    )  # fmt: skip


def test_everything_that_is_open_stands_in_one_message(mixed):
    mixed.loc[3, "crp"] = np.nan
    with pytest.raises(ReadingError) as caught:
        hf.read_table(mixed, "ill")
    first, second, third = str(caught.value).split("\nAlso: ")
    assert "categorical='one-hot'" in first
    assert "missing='impute-median'" in second
    assert "ignore='patient_id'" in third
    assert caught.value.question.option == "categorical"
    with pytest.raises(ReadingError) as caught:
        hf.read_table(mixed, "ill", categorical="one-hot", missing="drop")
    assert "Also:" not in str(caught.value)


def test_covariates_may_be_texts(mixed):
    table = hf.read_table(mixed, "ill", ignore="patient_id", covariates="Charge")
    assert list(table.X) == ["crp", "age", "Charge=A", "Charge=B", "Charge=C"]
    dropped = hf.read_table(
        mixed.assign(note="t" * 60), "ill", ignore="patient_id", covariates="Charge", categorical="drop"
    )
    assert list(dropped.X) == list(table.X)
    study = hf.Study(
        {"a": AnovaF(n_features=1)}, Bootstrap(4), estimator=LinearDiscriminantAnalysis(), covariates=["Charge"]
    )
    result = study.run(table)
    assert result.feature_names == ["crp", "age"]
    assert result.plan["keep"] == ["Charge"]
    one = hf.read_table(mixed, "ill", ignore="patient_id", categorical="one-hot", covariates="Charge=B")
    assert list(one.X) == list(table.X)
    with pytest.raises(ValueError, match="covariates= column 'Chargee'"):
        hf.read_table(mixed, "ill", ignore="patient_id", covariates="Chargee")
    study = hf.Study(
        {"a": AnovaF(n_features=1)}, Bootstrap(4), estimator=LinearDiscriminantAnalysis(), covariates=["Charge"]
    )
    with pytest.raises(ValueError, match=r"texts in 'Charge'; hf.read_table\(frame, target, covariates=\['Charge'\]\)"):
        study.run(mixed[["crp", "age", "Charge"]], mixed["ill"])


def test_a_target_in_another_order_is_aligned(mixed):
    X, y = mixed[["crp", "age"]], mixed["ill"]
    study = hf.Study({"a": AnovaF(n_features=1)}, Bootstrap(4))
    plain = study.run(X, y)
    aligned = study.run(X, y.sample(frac=1, random_state=0))
    assert aligned.plan["data"] == plain.plan["data"]
    assert aligned.data.notes == ("Put y into the order of the rows of X, by their labels.",)
    named = study.run(X.set_axis([f"p{row}" for row in range(60)]), y)  # y has no labels, only numbers
    assert named.plan["data"] == plain.plan["data"]
    assert not named.data.notes
    with pytest.raises(ValueError, match=r"same labels of rows in X and y, got 60 in y alone.*y.to_numpy\(\)"):
        study.run(X, y.set_axis(range(5, 65)))
    with pytest.raises(ValueError, match="same labels of rows in X and groups"):
        study.run(X, y, groups=y.set_axis(range(5, 65)))


@pytest.mark.parametrize("name", ["runs.csv", "runs.json", "runs.txt", "runs.xlsx", "runs.parquet"])
def test_a_named_pipe_is_refused_at_once(tmp_path, name):
    os.mkfifo(tmp_path / name)
    for read in (hf.read_preferences, inspect_table, lambda path: hf.read_table(path, "y"), hf.load_study):
        with pytest.raises(ValueError, match=r"Expected a file, got a named pipe: .*; write what comes through it"):
            read(tmp_path / name)


def test_weights_are_refused_without_reading_them_twice_or_names_of_functions(tmp_path, monkeypatch):
    weights = np.random.default_rng(0).normal(size=(4, 50)).round(2)
    lines = [",".join(f"g{column}" for column in range(50)), *(",".join(map(str, row)) for row in weights)]
    (tmp_path / "weights.csv").write_text("\n".join(lines))
    parsed, parse = [], TextTable.parse  # of 100,000 columns it takes seconds
    monkeypatch.setattr(TextTable, "parse", lambda table, **given: parsed.append(given) or parse(table, **given))
    for kind, match in ((None, "Expected 0 and 1"), ("subset", "pass kind='ranking'"), ("ranking", "kind='weighting'")):
        with pytest.raises(ValueError, match=match) as caught:
            hf.read_preferences(tmp_path / "weights.csv", kind=kind)
        assert "Preferences." not in str(caught.value)
        assert len(parsed) == 1
        parsed.clear()


def test_a_name_with_a_character_that_ends_lines_elsewhere_is_one_name(tmp_path):
    name = "a\x85b\u2028c"
    frame = pd.DataFrame({name: np.arange(12.0) ** 2 / 8, "z": np.arange(12.0) % 5, "ill": ["p", "q"] * 6})
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert hf.read_table(tmp_path / "t.csv", "ill").X.columns.tolist() == [name, "z"]
