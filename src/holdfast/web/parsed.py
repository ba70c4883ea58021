"""Selections as they were read, kept beside their upload, so that measuring them again need not parse the file."""

import hashlib
import json
import os
import secrets
from pathlib import Path
from typing import Any

from holdfast import __version__
from holdfast.io.selections import read_preferences, read_selections, write_preferences
from holdfast.preferences import Preferences

WORTHWHILE = 100_000
"""Bytes of a file from which what was read is kept."""


def read_once(path: Path, **options: Any) -> tuple[Preferences, str | None]:
    """Read selections as :func:`holdfast.io.selections.read_selections` does; a large file is parsed only once."""
    if path.stat().st_size < WORTHWHILE:
        return read_selections(path, **options)
    digest = hashlib.sha256(json.dumps([__version__, options], sort_keys=True).encode()).hexdigest()[:16]
    kept, about = (path.with_name(f".read-{digest}.{ending}") for ending in ("parquet", "json"))
    if kept.exists():
        return read_preferences(kept), json.loads(about.read_text(encoding="utf-8"))
    preferences, note = read_selections(path, **options)
    about.write_text(json.dumps(note), encoding="utf-8")
    passing = path.with_name(f".passing-{secrets.token_hex(4)}.parquet")
    write_preferences(preferences, passing)
    passing.chmod(0o600)
    os.replace(passing, kept)
    return preferences, note
