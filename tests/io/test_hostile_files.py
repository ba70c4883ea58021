"""Files that would fill the memory, take for ever or lead elsewhere: each ends with one sentence, or as a table."""

import bz2
import gzip
import io
import lzma
import re
import struct
import zipfile
import zlib

import numpy as np
import openpyxl
import pandas as pd
import pytest

import holdfast as hf
from holdfast.io import files, inspect_selections, inspect_table
from holdfast.io.files import PIECE, read_at_most

h5py = pytest.importorskip("h5py")
pytest.importorskip("rdata")
PLAIN = "age,crp,status\n31,0.5,ill\n45,1.5,well\n50,2.5,ill\n62,3.5,well\n"


def message(path, **options):
    with pytest.raises(ValueError, match=r"^Expected [^\n]*[.?]$") as caught:
        hf.read_table(path, "status", **options)
    with pytest.raises(ValueError, match=f"^{re.escape(str(caught.value))}$"):
        inspect_table(path, **options)
    return str(caught.value)


# Packed files


def test_a_packed_text_is_unpacked_up_to_a_limit(tmp_path, monkeypatch):
    path = tmp_path / "d.csv.gz"
    path.write_bytes(gzip.compress(PLAIN.encode() + b"60,1.5,ill\n" * 10_000))
    assert len(hf.read_table(path, "status").X) == 10_004
    monkeypatch.setattr(files, "MAX_BYTES", 20_000)
    assert "when unpacked, got more" in message(path)
    (tmp_path / "r.json.gz").write_bytes(gzip.compress(b"[" + b" " * 50_000 + b"]"))
    with pytest.raises(ValueError, match="when unpacked, got more"):
        inspect_selections(tmp_path / "r.json.gz")


def test_no_memory_is_reserved_for_what_a_file_does_not_hold(tmp_path):
    asked = []

    class Recorded(io.BytesIO):
        def read(self, size=-1):
            asked.append(size)
            return super().read(size)

    assert read_at_most(Recorded(b"abc"), files.MAX_BYTES) == b"abc"
    assert 0 < max(asked) <= PIECE
    assert len(read_at_most(io.BytesIO(bytes(100)), 10)) == 11


@pytest.mark.parametrize(
    "pack", [gzip.compress, bz2.compress, lzma.compress, lambda c: gzip.compress(gzip.compress(c))]
)
def test_what_r_packed_is_unpacked_up_to_a_limit(tmp_path, monkeypatch, pack):
    path = tmp_path / "d.rds"
    path.write_bytes(pack(R_HEADER + struct.pack(">ii", 14, 5000) + bytes(40_000)))
    assert "got 'ndarray'" in message(path)
    monkeypatch.setattr(files, "MAX_BYTES", 20_000)
    assert "when unpacked, got more" in message(path)


# Spreadsheets


def rewrite(path, changes):
    """Rewrite members of an archive: ``changes`` from a name to a function of its text."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, changes.get(name, lambda text: text)(content.decode()))


@pytest.fixture
def book(tmp_path):
    made = openpyxl.Workbook()
    for row in (["age", "status"], [31, "ill"], [45, "well"], [50, "ill"], [62, "well"]):
        made.active.append(row)
    made.save(tmp_path / "d.xlsx")
    return tmp_path / "d.xlsx"


SHEET = "xl/worksheets/sheet1.xml"
FAR_ROWS = {
    "name in other quotes": "<row r='1048576'><c r='XFD1048576'><v>1</v></c></row>",
    "blanks around": '<row r="1048576"><c r = "XFD1048576"><v>1</v></c></row>',
    "small letters": '<row r="1048576"><c r="xfd1048576"><v>1</v></c></row>',
    "cells without names": f'<row r="6">{"<c><v>1</v></c>" * 200}</row><row r="1048576"><c><v>1</v></c></row>',
}


@pytest.mark.parametrize("rows", FAR_ROWS.values(), ids=FAR_ROWS)
def test_cells_far_away_are_found_however_they_are_written(book, rows):
    rewrite(book, {SHEET: lambda text: text.replace("</sheetData>", f"{rows}</sheetData>")})
    assert "got cells up to row 1048576 and column" in message(book)


def test_entities_are_not_expanded(book):
    bombs = "".join(f'<!ENTITY b{n} "{f"&b{n - 1};" * 10 if n else "x" * 1000}">' for n in range(9))
    changed = "<!DOCTYPE worksheet [" + bombs + "]><worksheet"
    rewrite(book, {SHEET: lambda text: text.replace("<worksheet", changed, 1).replace("status", "&b8;")})
    assert len(message(book)) < 1000


def test_a_member_that_is_longer_than_it_says_is_refused(book):
    rewrite(book, {SHEET: lambda text: text + " " * 100_000})
    content = bytearray(book.read_bytes())
    with zipfile.ZipFile(book) as archive:
        info, whole = archive.getinfo(SHEET), archive.read(SHEET)
    entry = content.rfind(b"PK\x01\x02", 0, content.rfind(SHEET.encode()))
    for place in (entry + 16, info.header_offset + 14):  # the sum and the size of its first bytes
        content[place : place + 4] = struct.pack("<I", zlib.crc32(whole[:1000]))
        content[place + 8 : place + 12] = struct.pack("<I", 1000)
    book.write_bytes(content)
    assert "got another or half of one" in message(book)


# AnnData


def write_h5ad(path):
    with h5py.File(path, "w") as file:
        file["X"] = np.arange(12.0).reshape(4, 3)
        for group, names in (("obs", ["c1", "c2", "c3", "c4"]), ("var", ["g1", "g2", "g3"])):
            file.create_group(group).attrs["_index"] = "name"
            file[group].create_dataset("name", data=np.array(names, dtype=object), dtype=h5py.string_dtype())
        status = np.array(["ill", "well", "ill", "well"], dtype=object)
        file["obs"].create_dataset("status", data=status, dtype=h5py.string_dtype())
        file["obs"].attrs["column-order"] = ["status"]
    return path


def replace_part(path, name, make):
    with h5py.File(path, "a") as file:
        if name in file:
            del file[name]
        make(file)


def external_storage(file):
    file.create_dataset("X", (4, 3), "f8", external=[("secret.bin", 0, 96)])


def virtual_data(file):
    layout = h5py.VirtualLayout((4, 3), "f8")
    layout[:] = h5py.VirtualSource("other.h5ad", "X", (4, 3))
    file.create_virtual_dataset("X", layout)


ELSEWHERE = {
    "external X": ("X", lambda file: file.__setitem__("X", h5py.ExternalLink("other.h5ad", "X"))),
    "soft X": ("X", lambda file: file.__setitem__("X", h5py.SoftLink("/obs/name"))),
    "external obs": ("obs", lambda file: file.__setitem__("obs", h5py.ExternalLink("other.h5ad", "obs"))),
    "external column": ("obs/status", lambda f: f.__setitem__("obs/status", h5py.ExternalLink("other.h5ad", "X"))),
    "external names": ("var/name", lambda f: f.__setitem__("var/name", h5py.ExternalLink("other.h5ad", "var/name"))),
    "external layers": ("layers", lambda file: file.__setitem__("layers", h5py.ExternalLink("other.h5ad", "/"))),
    "external storage": ("X", external_storage),
    "virtual data": ("X", virtual_data),
}  # fmt: skip


@pytest.mark.parametrize(("name", "make"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_no_other_file_is_opened(tmp_path, monkeypatch, name, make):
    monkeypatch.chdir(tmp_path)
    write_h5ad("other.h5ad")
    np.ones(12).tofile("secret.bin")
    path = write_h5ad(tmp_path / "d.h5ad")
    assert hf.read_table(path, "status").X.shape == (4, 3)
    replace_part(path, name, make)
    told = message(path)
    assert "is a link)" in told or "lies in another file)" in told


def test_a_column_behind_a_linked_group_is_not_read(tmp_path):
    path = write_h5ad(tmp_path / "d.h5ad")
    write_h5ad(tmp_path / "other.h5ad")
    with h5py.File(path, "a") as file:
        file["obs/away"] = h5py.ExternalLink(str(tmp_path / "other.h5ad"), "obs")
        file["obs"].attrs["column-order"] = ["status", "away/status"]
    assert "away is a link" in message(path)


HUGE = {
    "X": lambda file: file.create_dataset("X", (10**6, 10**6), "f8", chunks=(1000, 1000)),
    "obs/name": lambda file: file.create_dataset("obs/name", (10**12,), "S10", chunks=(1000,)),
    "obs/status": lambda file: file.create_dataset("obs/status", (10**12,), "f8", chunks=(1000,)),
    "var/name": lambda file: file.create_dataset("var/name", (3,), "S2000000000", chunks=(1,)),
}


@pytest.mark.parametrize("name", HUGE)
def test_huge_shapes_that_hold_nothing_are_refused(tmp_path, monkeypatch, name):
    path = write_h5ad(tmp_path / "d.h5ad")
    monkeypatch.setattr(files, "MAX_CELLS", 10**6)
    replace_part(path, name, HUGE[name])
    assert path.stat().st_size < 100_000
    message(path)


# R

R_HEADER = b"X\n" + struct.pack(">iii", 3, 0x040000, 0x030500) + struct.pack(">i", 5) + b"UTF-8"


def symbol(name):
    return struct.pack(">iii", 1, 0x00040009, len(name)) + name


def sequence(n, kind=b"compact_intseq"):
    """What R saves for 1:n, whatever n is."""
    names = struct.pack(">i", 2) + symbol(kind) + struct.pack(">i", 2) + symbol(b"base")
    info = names + struct.pack(">iiiii", 2, 13, 1, 13, 254)
    return R_HEADER + struct.pack(">i", 238) + info + struct.pack(">iiddd", 14, 3, n, 1, 1) + struct.pack(">i", 254)


@pytest.mark.parametrize("kind", [b"compact_intseq", b"compact_realseq"])
def test_a_sequence_of_any_length_takes_no_space_in_a_file(tmp_path, kind):
    path = tmp_path / "d.rds"
    path.write_bytes(sequence(5, kind))
    assert "got 'ndarray'" in message(path)
    for n in (1e10, 1e300, -1, float("nan")):
        path.write_bytes(sequence(n, kind))
        assert "fits into memory" in message(path)


R_OBJECTS = {
    "a vector of two billion": struct.pack(">ii", 14, 2_000_000_000),
    "a list of two billion": struct.pack(">ii", 19, 2_000_000_000),
    "lists in lists": struct.pack(">ii", 19, 1) * 50_000 + struct.pack(">i", 254),
}


@pytest.mark.parametrize("content", R_OBJECTS.values(), ids=R_OBJECTS)
def test_objects_of_r_that_are_not_there(tmp_path, content):
    (tmp_path / "d.rds").write_bytes(R_HEADER + content)
    told = message(tmp_path / "d.rds")
    assert "d.rds" in told
    assert "recursion" not in told


# Parquet and Feather


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_rows_that_take_no_space_in_a_file_are_counted_before_they_are_read(tmp_path, monkeypatch, ending):
    path = tmp_path / f"d.{ending}"
    frame = pd.DataFrame({"a": np.zeros(200_000), "status": np.zeros(200_000, dtype=np.int8)})
    getattr(frame, f"to_{ending}")(path, compression="zstd")
    assert path.stat().st_size < 20_000
    monkeypatch.setattr(files, "MAX_CELLS", 100_000)
    assert "fits into memory" in message(path)


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_every_byte_of_a_column_file_may_be_wrong(tmp_path, ending):
    path = tmp_path / f"d.{ending}"
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 5.0], "status": ["ill", "well", "ill", "well"]})
    getattr(frame, f"to_{ending}")(path)
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    for place in rng.integers(0, len(whole), 150):
        path.write_bytes(whole[:place] + bytes(rng.integers(0, 256, 2, dtype=np.uint8)) + whole[place + 2 :])
        try:
            assert inspect_table(path).rows >= 0
        except ValueError as error:
            assert "\n" not in str(error)  # noqa: PT017


def test_categories_in_the_first_column(tmp_path):
    frame = pd.DataFrame({"site": pd.Categorical(["a", "b", "a", "b"]), "x": [1.0, 2, 3, 5], "status": list("ikik")})
    frame.to_parquet(tmp_path / "d.parquet")
    assert inspect_table(tmp_path / "d.parquet").targets[0].name == "status"


# Text


def test_a_line_of_millions_of_columns_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_COLUMNS", 1000)
    path = tmp_path / "d.csv"
    for content in ("1," * 2000 + "1\n", PLAIN + ";" * 2000, " 1" * 2000):
        path.write_text(content)
        assert "in one line" in message(path)
    path.write_text("a" * 5000)
    assert "got less" in message(path)


SLOW = {  # each would take hours if the time grew as the square of the length
    "digits": "a;b\n" + "1" * 1_000_000 + "x;1\n2;2\n",
    "commas": "a;b\n1,5;1\n" + "1," * 500_000 + "x;1\n2;2\n",
    "commas in quotes": 'a;b\n1,5;1\n"' + "1," * 500_000 + 'x";1\n2;2\n',
    "blanks": "a b\n1" + " " * 2_000_000 + "x\n2 2\n",
    "long names": "run1" + "_" * 1_000_000 + "x,b\n1,2\n2,3\n",
}


@pytest.mark.parametrize("text", SLOW.values(), ids=SLOW)
def test_long_cells_take_no_longer_than_their_length(tmp_path, text):
    (tmp_path / "d.csv").write_text(text)
    try:
        assert inspect_table(tmp_path / "d.csv").question is not None
    except ValueError as error:
        assert "\n" not in str(error)  # noqa: PT017


@pytest.mark.parametrize("place", [8, 4996])
def test_zeros_in_a_text(tmp_path, place):
    content = bytearray(b"a,b,status\n" + b"1,2,ill\n3,4,well\n" * 500)
    content[place : place + 2] = b"\0\0"
    (tmp_path / "d.csv").write_bytes(content)
    try:
        assert inspect_table(tmp_path / "d.csv").rows == 1000
    except ValueError as error:
        assert "got a binary file" in str(error)  # noqa: PT017


ARFF = "@relation r\n@attribute a numeric\n@attribute status {ill,well}\n@data\n"


@pytest.mark.parametrize(
    "row", ["{99999999999 1}", "{-1 1}", "{0}", "1", "1,2,3", "{0 1,0 2}", "'", "1,{", "\\u0000,ill"]
)
def test_rows_of_arff_that_make_no_sense(tmp_path, row):
    (tmp_path / "d.arff").write_text(ARFF + row + "\n")
    try:
        assert inspect_table(tmp_path / "d.arff").rows >= 0
    except ValueError as error:
        assert "\n" not in str(error)  # noqa: PT017


# Damage anywhere


def damaged(whole, n_times, seed=0):
    """The content of a file with two bytes changed, at places all over it."""
    rng = np.random.default_rng(seed)
    for place in rng.integers(0, len(whole), n_times):
        yield whole[:place] + bytes(rng.integers(0, 256, 2, dtype=np.uint8)) + whole[place + 2 :]


@pytest.mark.parametrize("name", ["d.h5ad", "d.xlsx"])
def test_every_byte_of_a_file_may_be_wrong(tmp_path, book, name):
    path = tmp_path / name
    whole = book.read_bytes() if name == "d.xlsx" else write_h5ad(path).read_bytes()
    for content in damaged(whole, 200):
        path.write_bytes(content)
        try:
            assert inspect_table(path).rows >= 0
        except ValueError as error:
            assert "\n" not in str(error)  # noqa: PT017


def test_exported_selections_with_a_line_too_long(tmp_path):
    path = tmp_path / "selections.csv"
    path.write_text("candidate,run,feature,value,n_features\nlasso,1,a,1,9\nlasso,2,b,1,9,7\n")
    for read in (hf.read_preferences, inspect_selections):
        with pytest.raises(ValueError, match=r"^Expected a table in [^\n]*\.$"):
            read(path)
