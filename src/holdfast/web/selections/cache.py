"""Selections as they were read, kept beside their upload, so that measuring them again need not parse the file."""

import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast import __version__
from holdfast.io.selections import read_preferences, write_preferences
from holdfast.preferences import Preferences
from holdfast.web.folder import write_private

WORTHWHILE = 100_000
"""Bytes of a file from which what was read is kept."""


def recall(path: Path, options: Mapping[str, Any]) -> tuple[Preferences, str | None] | None:
    """Return what was read from a file with these options, and the note on it; None if it was not kept."""
    kept, about = _files(path, options)
    return (read_preferences(kept), json.loads(about.read_text(encoding="utf-8"))) if kept.exists() else None


def keep(path: Path, options: Mapping[str, Any], preferences: Preferences, note: str | None) -> None:
    """Keep what was read from a file that is not small, for its owner only."""
    if path.stat().st_size < WORTHWHILE:
        return
    kept, about = _files(path, options)
    write_private(about, json.dumps(note))
    passing = path.with_name(f".passing-{secrets.token_hex(4)}.parquet")
    write_preferences(preferences, passing)
    passing.chmod(0o600)
    os.replace(passing, kept)


def _files(path: Path, options: Mapping[str, Any]) -> tuple[Path, Path]:
    """Where selections and the note on them are kept."""
    digest = hashlib.sha256(json.dumps([__version__, dict(options)], sort_keys=True).encode()).hexdigest()[:16]
    return path.with_name(f".read-{digest}.parquet"), path.with_name(f".read-{digest}.json")
