"""Tables that were uploaded are parsed once: what is kept of them reads back as it was, and is bounded."""

from collections import namedtuple

import numpy as np
import pandas as pd
import pytest

from holdfast.io import inspect_table
from holdfast.io.files import Loaded
from holdfast.io.loading import are_same, pack_table, unpack_table
from holdfast.io.options import Reading
from holdfast.io.table import load_table
from holdfast.serialization import from_plain
from holdfast.web import tables
from holdfast.web.tables import load_cached
from serving import open_client, show, upload

AS_FOUND = Reading()
FACTS = {"file_format": "text", "notes": ("odd",), "aside": ("a",), "decimal": ",", "sheets": ("one", "two")}
FRAMES = {
    "numbers and texts": pd.DataFrame({"a": ["x", None], "b": [0.1, np.nan], "c": [1, 2], "d": [True, False]}),
    "one type": pd.DataFrame({"b": [0.1 + 0.2, -0.0], "a": [np.inf, 1e-300]}),
    "texts only": pd.DataFrame({"a": ["x", ""], "b": ["ü", "\u202e"]}),
    "small numbers": pd.DataFrame({"a": np.array([1, 2], dtype=np.uint8), "b": np.array([1, 2], dtype=np.float32)}),
    "names that come twice": pd.DataFrame([[1, "x", 2.5], [2, "y", 3.5]], columns=["a", "a", "b"]),
    "names of rows": pd.DataFrame({"a": [1.5, 2.5]}, index=pd.Index(["r1", "r2"], name="rows")),
    "numbers of rows": pd.DataFrame({"a": [1.5, 2.5]}, index=[1, 2]),
    "categories and days": pd.DataFrame(
        {"a": pd.Categorical(["x", "y"], ["y", "x"], ordered=True), "b": pd.to_datetime(["2020-01-01", None])}
    ),
    "numbers that may be missing": pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [1, 2]}),
}


@pytest.fixture
def wide(tmp_path):
    """A table of a size that is worth keeping."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(30, 600)).round(3), columns=[f"gene{place}" for place in range(600)])
    frame.insert(300, "status", rng.choice(["ill", "well"], 30))
    frame.insert(0, "patient", [f"P{place}" for place in range(30)])
    path = tmp_path / "wide.csv"
    frame.to_csv(path, index=False)
    return path


def cached_files(path):
    return sorted(path.parent.glob(".table-*"))


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_a_table_of_any_type_reads_back_as_it_was(frame):
    loaded = Loaded(frame=frame, **FACTS)
    assert are_same(unpack_table(pack_table(loaded)), loaded)


@pytest.mark.parametrize(
    "change",
    [
        {"frame": FRAMES["one type"].astype({"a": "float32"})},
        {"frame": FRAMES["one type"].rename(columns={"a": "c"})},
        {"frame": FRAMES["one type"].set_axis([5, 6])},
        {"frame": FRAMES["one type"].replace(1e-300, 1e-299)},
        {"decimal": "."},
    ],
    ids=["type", "name", "row", "value", "fact"],
)
def test_tables_that_differ_are_not_the_same(change):
    loaded = Loaded(frame=FRAMES["one type"], **FACTS)
    assert not are_same(Loaded(**{"frame": FRAMES["one type"], **FACTS, **change}), loaded)


def test_a_table_is_parsed_once_for_each_way_of_reading(wide, monkeypatch):
    first = load_cached(wide, AS_FOUND)
    (cached,) = cached_files(wide)
    assert cached.stat().st_mode & 0o077 == 0
    parsed = []
    monkeypatch.setattr(tables, "load_table", lambda *asked: parsed.append(asked) or load_table(*asked))
    assert are_same(load_cached(wide, AS_FOUND), first)
    assert parsed == []
    for sep in (",", "comma", ","):
        assert are_same(load_cached(wide, Reading(sep=sep)), first)
    assert [reading.sep for _, reading in parsed] == [",", "comma"]
    assert len(cached_files(wide)) == tables.MAX_CACHED


def test_what_cannot_be_kept_is_read_again(wide, monkeypatch):
    first = load_cached(wide, AS_FOUND)
    (cached,) = cached_files(wide)
    for content in (b"", b"PK\x03\x04", cached.read_bytes()[:-1000]):
        cached.write_bytes(content)
        assert are_same(load_cached(wide, AS_FOUND), first)
    cached.unlink()
    lists = Loaded(frame=first.frame.assign(odd=[[1, "x"]] * len(first.frame)), file_format="")
    monkeypatch.setattr(tables, "load_table", lambda *asked: lists)
    assert load_cached(wide, AS_FOUND) is lists
    assert list(wide.parent.iterdir()) == [wide]


def test_a_small_table_and_one_without_room_are_not_kept(wide, monkeypatch):
    small = wide.with_name("small.csv")
    small.write_text("a,b\n1,2\n3,4\n")
    load_cached(small, AS_FOUND)
    with monkeypatch.context() as patch:
        patch.setattr(tables, "MAX_CACHED_BYTES", 1000)
        load_cached(wide, AS_FOUND)
    usage = namedtuple("usage", "free")
    with monkeypatch.context() as patch:
        patch.setattr(tables.shutil, "disk_usage", lambda path: usage(tables.SPARE + 1000))
        load_cached(wide, AS_FOUND)
    assert cached_files(wide) == []


def test_the_page_says_the_same_from_what_it_kept(wide, tmp_path):
    with open_client(tmp_path / "studies") as client:
        key = upload(client, wide, "wide.csv")
        for options in ({}, {"target": "status"}, {"target": "status", "index": "patient"}):
            told = show(client, f"/data/{key}", params=options).json()["table"]
            seen = inspect_table(wide, **options)
            assert from_plain(type(seen), told) == seen
        assert len(list((client.app.app.state.site.folder.uploads / key).glob(".table-*"))) == 1
