"""Large tables are mapped into memory a block of columns at a time, and studied as the same numbers in memory."""

import mmap
import shutil
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier

import holdfast as hf
from holdfast.io import large
from holdfast.selectors import AnovaF

h5py = pytest.importorskip("h5py")
pytest.importorskip("pyarrow")


def make_frame(n=40, d=50, dtype=np.float32):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)).astype(dtype)
    X[:, 3] += np.arange(n) % 2
    frame = pd.DataFrame(X, columns=[f"g{column}" for column in range(d)])
    return frame.assign(ill=np.where(np.arange(n) % 2, "yes", "no"), patient=np.arange(n) // 2)


def write_texts(group, name, texts):
    item = group.create_dataset(name, data=np.array(texts, dtype=object), dtype=h5py.string_dtype())
    item.attrs["encoding-type"] = "string-array"


def write_h5ad(path, frame, described=("ill", "patient"), **layout):
    features = frame.drop(columns=list(described))
    with h5py.File(path, "w") as file:
        file.create_dataset("X", data=features.to_numpy(), **layout)
        for name, index, columns in (("obs", frame.index, described), ("var", features.columns, ())):
            group = file.create_group(name)
            group.attrs["_index"] = "_index"
            group.attrs["column-order"] = np.array(columns, dtype=h5py.string_dtype())
            write_texts(group, "_index", list(map(str, index)))
        write_texts(file["obs"], "ill", frame["ill"].tolist())
        file["obs"].create_dataset("patient", data=frame["patient"].to_numpy())


def write(path, frame):
    if path.suffix == ".h5ad":
        write_h5ad(path, frame, chunks=(7, 11))
    else:
        frame.set_axis(frame.index * 2).to_parquet(path, row_group_size=17)  # its labels are no feature
    return path


@pytest.mark.parametrize("name", ["t.parquet", "t.h5ad"])
def test_a_mapped_table_has_the_numbers_of_its_file_and_gives_the_same_study(tmp_path, name, monkeypatch):
    monkeypatch.setattr(large, "MIN_COLUMNS", 8)
    monkeypatch.setattr(large, "MAX_COLUMNS", 8)
    monkeypatch.setattr(large, "AT_ONCE", 400)
    frame = make_frame()
    table = hf.io.map_table(write(tmp_path / name, frame), "ill", groups="patient")
    features = frame.drop(columns=["ill", "patient"])
    pd.testing.assert_frame_equal(table.X, features, check_exact=True, check_column_type=False)
    memory = table.X.to_numpy()
    while isinstance(memory, np.ndarray):
        memory = memory.base
    assert isinstance(memory, mmap.mmap)
    assert table.X.to_numpy().dtype == np.float32
    assert table.y.tolist() == frame["ill"].tolist()
    assert table.record.n_groups == 20
    study = hf.Study({"anova": AnovaF(3)}, hf.Bootstrap(5), estimator=KNeighborsClassifier(3))
    mapped, held = study.run(table), study.run(features, frame["ill"], groups=frame["patient"])
    assert mapped.plan["data"] == held.plan["data"]
    pd.testing.assert_frame_equal(mapped.scores, held.scores)
    np.testing.assert_array_equal(mapped.preferences("anova").lists()[0], held.preferences("anova").lists()[0])


def test_types_are_kept_and_a_file_can_be_named(tmp_path):
    frame = make_frame(dtype=np.int16)
    table = hf.io.map_table(
        write(tmp_path / "t.parquet", frame.drop(columns="patient")), "ill", file=tmp_path / "kept.npy"
    )
    kept = np.load(tmp_path / "kept.npy", mmap_mode="r")
    assert kept.dtype == table.X.to_numpy().dtype == np.int16
    np.testing.assert_array_equal(kept, frame.drop(columns=["ill", "patient"]))
    with pytest.raises(ValueError, match="Expected a new file with file="):
        hf.io.map_table(tmp_path / "t.parquet", "ill", file=tmp_path / "kept.npy")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda frame: frame.assign(sex="f"),
            r"Expected columns of numbers besides 'ill' .* got other columns \('sex'\)",
        ),
        (
            lambda frame: frame.assign(g1=[np.nan, *frame["g1"][1:]]),
            "Expected finite numbers .* infinite ones in 'g1'",
        ),
        (lambda frame: frame.assign(ill=[None, *frame["ill"][1:]]), "Expected a value of 'ill' in every row"),
        (lambda frame: frame.rename(columns={"ill": "sick"}), "Expected a column of .* got 'ill'"),
    ],
)
def test_what_cannot_be_mapped_is_refused_in_a_sentence(tmp_path, change, message):
    change(make_frame().drop(columns="patient")).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=message):
        hf.io.map_table(tmp_path / "t.parquet", "ill")


def test_sparse_rows_other_files_and_too_little_room_are_refused_before_anything_is_read(tmp_path, monkeypatch):
    with h5py.File(tmp_path / "s.h5ad", "w") as file:
        for name in ("X", "obs", "var"):
            file.create_group(name)
    with pytest.raises(ValueError, match=r"Expected dense numbers as X .* sparse rows, which cannot be read in blocks"):
        hf.io.map_table(tmp_path / "s.h5ad", "ill")
    (tmp_path / "t.csv").write_text("a,ill\n1,yes\n")
    with pytest.raises(ValueError, match=r"Expected a file ending in .parquet or .h5ad, got 't.csv'"):
        hf.io.map_table(tmp_path / "t.csv", "ill")
    path = write(tmp_path / "t.parquet", make_frame())
    with pytest.raises(ValueError, match="Expected an AnnData file for layer="):
        hf.io.map_table(path, "ill", layer="raw")
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=10))
    with pytest.raises(ValueError, match=r"GB of free disk space in .* for 40 × 51 numbers, got 0.0 GB; name a file"):
        hf.io.map_table(path, "ill")
