"""Tables in Excel files and OpenDocument spreadsheets, through calamine."""

import os
import re
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from holdfast.io import files
from holdfast.io.dialect import Evidence, as_decimal_column, number_texts
from holdfast.io.files import Loaded, as_name, missing_package
from holdfast.io.questions import GAPS, SHEET_HINT, quote_names, refuse, suggest_name
from holdfast.text import format_count

ENDINGS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
PANDAS_GAPS = {
    "", "NA", "N/A", "n/a", "nan", "NaN", "NAN", "NULL", "null", "None", "<NA>", "#VALUE!", "#DIV/0!", "#REF!",
}  # fmt: skip
_CELL_NAME = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{0,4})(\d{1,9})["']""")
_FAR_CELL = re.compile(rb"""\br\s*=\s*(?:'|"[A-Za-z]{3}\d|"[A-Za-z]{0,2}\d{6})""")
_CELL = re.compile(rb"<(?:\w+:)?c[ />]")

Rows = list[list[Any]]


def read_excel(path: Path, row: str, sheet: str | None) -> Loaded:
    """Read the table of a sheet: by default the first sheet that has one."""
    workbook = _open(path)
    names = list(workbook.sheet_names)
    if sheet is not None and sheet not in names:
        hint = suggest_name(sheet, names, "sheet")
        raise refuse("no-such-sheet", names, sheet=sheet, path=path, hint=hint)
    sheets = {name: cells for name in names if (cells := _find_sheet(workbook, name)) is not None}
    filled = [name for name, cells in sheets.items() if cells.height * cells.width >= 4]
    chosen = sheet or next(iter(filled), None)
    if chosen is None or chosen not in sheets:
        raise refuse("no-filled-sheet", filled, row=row, path=path)
    rows = sheets[chosen].to_python()
    frame, notes = _make_frame(rows, f"sheet {chosen!r} of {path}", row)
    others = [name for name in filled if name != chosen]
    unread = f"; not read: {quote_names(others)}{SHEET_HINT}" if others and sheet is None else ""
    first = [f"Read the sheet {chosen!r}{unread}."] if len(names) > 1 or notes else []
    return Loaded(frame=frame, file_format=f"Excel, sheet {chosen!r}", notes=(*first, *notes), sheets=tuple(filled))


def _open(path: Path) -> Any:
    try:
        import python_calamine
    except ImportError:
        raise missing_package("python-calamine", f"the Excel file {path}") from None
    path.stat()
    _check_size(path)
    try:
        return python_calamine.load_workbook(os.fspath(path))
    except python_calamine.PasswordError:
        raise ValueError(f"Expected an Excel file without a password, got a locked one: {path}; unlock it.") from None
    except Exception:  # calamine's own errors, which have no common class in all of its versions
        raise _no_excel(path) from None


def _no_excel(path: Path) -> ValueError:
    return ValueError(f"Expected an Excel file, as {path} ends in {path.suffix}, got another or half of one.")


def _check_size(path: Path) -> None:
    """Raise if a file would fill the memory: one that unpacks to gigabytes, or one with cells very far apart."""
    if not zipfile.is_zipfile(path):
        return
    try:
        with zipfile.ZipFile(path) as archive:
            size, most = sum(member.file_size for member in archive.infolist()), files.MAX_WORKBOOK_BYTES
            if size > most:
                raise refuse("large-workbook", most=most / 1e9, path=path, size=size / 1e9)
            for member in archive.infolist():
                content = _unpack(archive, member, most)
                if b"sheetData" in content:
                    _check_extent(content, path)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError):
        raise _no_excel(path) from None


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> bytes:
    """Return a member of an archive, as long as it is in truth; one longer than it says is damaged."""
    declared, member.file_size = member.file_size, most
    with archive.open(member) as file:
        content = file.read(declared + 1)
    if len(content) != declared:
        raise zipfile.BadZipFile("another size than it says")
    return content


def _check_extent(content: bytes, path: Path) -> None:
    if not _FAR_CELL.search(content):
        return
    positions = set(_CELL_NAME.findall(content))
    last_row = max((int(row) for _, row in positions), default=1)
    named = max((_column_number(letters.upper()) for letters, _ in positions), default=1)
    last_column = max(named, max(len(_CELL.findall(row)) for row in content.split(b"<row")))  # cells may have no name
    if last_row * last_column > files.MAX_SHEET_CELLS:
        raise refuse("far-cells", path=path, row=last_row, column=last_column)


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _find_sheet(workbook: Any, name: str) -> Any:
    """Return a sheet that has cells, else None; a chart has none."""
    try:
        sheet = workbook.get_sheet_by_name(name)
    except Exception:
        return None
    return sheet if sheet.height else None


# The table on a sheet


def _make_frame(rows: Rows, where: str, row: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the table on a sheet: titles above it and remarks below it are left out, with a note."""
    filled = [sum(cell != "" for cell in cells) for cells in rows]
    start = next(position for position, count in enumerate(filled) if count >= max(2, 0.6 * max(filled))) if rows else 0
    end = len(rows)
    while end > start + 1 and (filled[end - 1] == 0 or (filled[end - 1] == 1 and max(filled) > 2)):
        end -= 1
    body = [cells for cells, count in zip(rows[start + 1 : end], filled[start + 1 : end], strict=True) if count]
    if not body:
        raise ValueError(f"Expected a header and one row per {row} in {where}, got less; add the missing rows.")
    notes = _note_texts(rows[:start], "above the table") + _note_texts(rows[end:], "below the table")
    positions = [
        position
        for position, name in enumerate(rows[start])
        if name != "" or any(cells[position] != "" for cells in body)
    ]
    names = [as_name(rows[start][position]) for position in positions]
    _check_names(names, where)
    columns = {number: _column([cells[position] for cells in body]) for number, position in enumerate(positions)}
    return pd.DataFrame(columns).set_axis(names, axis=1).copy(), notes  # in one block of memory


def _note_texts(rows: Rows, where: str) -> list[str]:
    texts = [str(cell) for cells in rows for cell in cells if cell != ""]
    return [f"Left out {format_count(len(texts), 'cell')} {where}: {quote_names(texts)}."] if texts else []


def _check_names(names: list[str], where: str) -> None:
    blank = [position for position, name in enumerate(names) if not name.strip()]
    if blank and blank != [0]:
        position = next(position for position in blank if position)
        raise refuse("unnamed-column", where=where, number=position + 1, before=names[position - 1], count=len(blank))


def _column(cells: list[Any]) -> Any:
    """Return the cells of a column as an array or a series: numbers, truths, texts or anything else."""
    if all(type(cell) is float for cell in cells):
        return np.array(cells)
    entries = [None if isinstance(cell, str) and cell.strip() in (*PANDAS_GAPS, *GAPS) else cell for cell in cells]
    column = pd.Series(entries, dtype=object)
    kinds = {type(entry) for entry in entries if entry is not None}
    if kinds and kinds <= {int, float}:
        return column.astype("float64")
    if kinds == {bool} and None not in entries:
        return column.astype(bool)
    texts = number_texts(column)
    if kinds == {str} and texts is not None:
        evidence = Evidence.from_cells(("", text) for text in texts)
        ambiguous = (",", "maybe") in evidence.examples and not (evidence.decimal(",") or evidence.decimal("."))
        numbers = None if ambiguous else as_decimal_column(column, "," if evidence.decimal(",") else ".")
        return column if numbers is None or column.dropna().map(_is_plain).all() else numbers
    return column


def _is_plain(text: str) -> bool:
    """Whether a number in a text is one to Python too: such columns get their note when they become features."""
    return re.fullmatch(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", text) is not None
