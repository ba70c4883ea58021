"""The folder of the page: the studies in it, and a private place for uploads, the queue and the token."""

import json
import os
import re
import secrets
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from holdfast.io.files import as_path
from holdfast.study.store import is_database

PRIVATE = ".holdfast-page"
OWNER_ONLY = 0o700
TOKEN = re.compile(r"[\w-]{32,128}", re.ASCII)


class Folder:
    """Where studies lie, and what the page keeps beside them.

    Stores are the files ``NAME.db`` in the folder. Everything else is in a hidden folder that only its owner may enter.

    Parameters
    ----------
    path : path
        The folder; it is made if it does not exist.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = as_path(path).resolve()
        if self.path.exists() and not self.path.is_dir():
            raise ValueError(f"Expected a folder for the page, got the file {path}.")
        self.private = self.path / PRIVATE
        try:
            self.path.mkdir(mode=OWNER_ONLY, parents=True, exist_ok=True)
            self.uploads, self.queue, self.logs = (self._make(name) for name in ("uploads", "queue", "logs"))
        except OSError as error:
            raise ValueError(f"Expected a folder that can be written, got {path}: {error.strerror}.") from None

    def _make(self, name: str) -> Path:
        for folder in (self.private, self.private / name):
            with suppress(FileExistsError):
                folder.mkdir(mode=OWNER_ONLY)
            facts = folder.lstat()
            if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.getuid():
                raise ValueError(f"Expected a folder of your own at {folder}, got something else; remove it.")
            folder.chmod(OWNER_ONLY)
        return self.private / name

    # Studies

    def stores(self) -> dict[str, Path]:
        """The stores in the folder by the name of their study, the newest first."""
        found = [path for path in self.path.glob("*.db") if not path.is_symlink() and is_database(path)]
        found.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        return {path.stem: path for path in found}

    def new_name(self, data: str) -> str:
        """A name for a new study of these data that no study, file or place in the queue has."""
        stem = safe_name(data).partition(".")[0] or "data"
        taken = {path.name for path in self.path.iterdir()} | {f"{path.stem}.db" for path in self.queue.iterdir()}
        number = 1
        while f"{(name := f'{stem}-study' + (f'-{number}' if number > 1 else ''))}.db" in taken:
            number += 1
        return name

    def store_of(self, study: str) -> Path:
        """The file of a study that is known or about to be started."""
        return self.path / f"{study}.db"

    # What is kept

    def token(self, *, new: bool = False) -> str:
        """The token of this folder, which outlives the server, so that an open page finds it again."""
        file = self.private / "token"
        with suppress(OSError):
            if new:
                file.unlink()
            kept = file.read_text(encoding="ascii", errors="replace").strip()
            if TOKEN.fullmatch(kept):
                return kept
        token = secrets.token_urlsafe(32)
        write_private(file, token)
        return token

    def shown(self, text: str) -> str:
        """A message without the path of the folder and of uploads: files by their names."""
        uploaded = re.sub(re.escape(str(self.uploads)) + r"/\w+/", "", text)
        return uploaded.replace(f"{self.private}/", "").replace(f"{self.path}/", "")


def safe_name(name: str) -> str:
    """The last part of a file's name, as people wrote it, without anything that a system could take for more."""
    last = re.split(r"[/\\]", name)[-1]
    plain = re.sub(r"[^\w.+ ()-]", "_", last).lstrip(".-").strip()
    stem, dot, endings = plain.partition(".")
    return (stem.encode()[:100].decode(errors="ignore") or "data") + (dot + endings[-20:] if endings else "")


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read, all of it or nothing."""
    passing = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(passing, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    passing.replace(path)


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record as JSON that only its owner may read."""
    write_private(path, json.dumps(record, indent=1))


def read_record(path: Path) -> dict[str, Any] | None:
    """Read a record; None if there is none that can be read."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
