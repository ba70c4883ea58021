"""Tables as they were read, kept beside their upload, so that the next question about one need not parse it again.

Only what reads back exactly as it was is kept (:mod:`holdfast.io.loading`); nothing is unpickled.
"""

import hashlib
import json
import os
import secrets
import shutil
from dataclasses import asdict
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from holdfast import __version__
from holdfast.io.files import Loaded, Reading
from holdfast.io.loading import are_same, pack_table, unpack_table
from holdfast.io.table import load_table
from holdfast.web.folder import SPARE
from holdfast.web.guard import MEGABYTE

WORTHWHILE = 100_000
"""Bytes of a file from which what was read is kept."""
LARGEST = 500 * MEGABYTE
"""Bytes of the largest table that is kept."""
UNREADABLE = (OSError, ValueError, TypeError, NotImplementedError)
"""What is raised where a table cannot be packed or unpacked, by Arrow too."""
MOST_KEPT = 2
"""Ways of reading one file of which the tables are kept; the newest stay."""


def load_kept(path: Path, reading: Reading) -> Loaded:
    """Load a table as :func:`holdfast.io.table.load_table` does; one that was loaded before, from what was kept."""
    file = _kept_file(path, reading)
    known = _recall(file)
    if known is not None:
        return known
    loaded = load_table(path, reading)
    if path.stat().st_size >= WORTHWHILE:
        _keep(file, loaded)
    return loaded


def _kept_file(path: Path, reading: Reading) -> Path:
    text = json.dumps([__version__, asdict(reading)], sort_keys=True)
    return path.with_name(f".table-{hashlib.sha256(text.encode()).hexdigest()[:16]}.npz")


def _recall(file: Path) -> Loaded | None:
    """Return the table that a file keeps; None if it keeps none."""
    try:
        with file.open("rb") as content, np.load(content, allow_pickle=False) as stored:
            return unpack_table(stored)
    except (*UNREADABLE, KeyError, EOFError, BadZipFile):
        return None


def _keep(file: Path, loaded: Loaded) -> None:
    """Keep a table if it can be read back as it is and there is room for it; older ones of the same upload go."""
    size = int(loaded.frame.memory_usage(index=False).sum())
    if size > LARGEST or size > shutil.disk_usage(file.parent).free - SPARE:
        return
    passing = file.with_name(f".passing-{secrets.token_hex(4)}.npz")
    try:
        with os.fdopen(os.open(passing, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            np.savez(out, allow_pickle=False, **pack_table(loaded))
        kept = _recall(passing)
        if kept is not None and are_same(kept, loaded):
            passing.replace(file)
    except UNREADABLE:  # such as lists in cells
        return
    finally:
        passing.unlink(missing_ok=True)
    for old in sorted(file.parent.glob(".table-*.npz"), key=lambda other: -other.stat().st_mtime)[MOST_KEPT:]:
        old.unlink(missing_ok=True)
