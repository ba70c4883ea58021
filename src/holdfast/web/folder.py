"""The folder of the page: the studies in it, and a private folder for uploads, the queue and the token."""

import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import anyio

from holdfast import __version__
from holdfast.text import clean_text
from holdfast.web.guard import MEGABYTE, RefusedError

PRIVATE = ".holdfast-page"
OWNER_ONLY = 0o700
SETTLE_SECONDS = 2.0
"""Seconds during which a file may be written twice without its time showing it, on any file system."""
TOKEN = re.compile(r"[\w-]{32,128}", re.ASCII)
ELSEWHERE = re.compile(r"(?<![\w/:.~-])~?(?:/[^\s/:;,'\"<>()]+)+/(?=[^\s/])")
"""The folders of a path that starts at the root."""
SPARE = 200 * MEGABYTE
"""Bytes that must stay free on the disk."""


class Folder:
    """The studies, and what the page stores with them.

    Stores are the files ``NAME.db`` in the folder. Everything else is in a hidden folder that only its owner may enter.

    Parameters
    ----------
    path : path
        The folder; it is made if it does not exist.
    """

    def __init__(self, path: str | Path) -> None:
        if not str(path) or "\0" in str(path):
            raise ValueError(f"Expected a folder for the page, got {str(path)!r}.")
        try:
            self.path = Path(path).expanduser().resolve()
            if self.path.exists() and not self.path.is_dir():
                raise ValueError(f"Expected a folder for the page, got the file {path}.")
            self.private = self.path / PRIVATE
            self.path.mkdir(mode=OWNER_ONLY, parents=True, exist_ok=True)
            self.uploads, self.queue, self.logs = (self._make(name) for name in ("uploads", "queue", "logs"))
        except (OSError, RuntimeError) as error:  # links in a circle, or no home
            reason = getattr(error, "strerror", None) or error
            raise ValueError(f"Expected a folder that can be written, got {path}: {reason}.") from None

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
        written: dict[Path, float] = {}
        for path in self.path.glob("*.db"):
            with suppress(OSError):  # it may be gone by now
                if _is_store(path):
                    written[path] = path.stat().st_mtime
        return {path.stem: path for path in sorted(written, key=lambda path: -written[path])}

    def find(self, study: str) -> Path | None:
        """The store of a study by its name, which may be any text; None if the folder has none."""
        names = set(os.listdir(self.path)) if study else set()
        path = self.path / f"{study}.db" if f"{study}.db" in names else None
        return path if path is not None and _is_store(path) else None

    def move_to_trash(self, study: str) -> Path | None:
        """Move the store of a study, with the journal of one that was cut short, to where removed ones lie."""
        store = self.find(study)
        if store is None:
            return None
        removed, number = self._make("removed"), 1
        while (target := removed / f"{study}{f'-{number}' if number > 1 else ''}.db").exists():
            number += 1
        for ending in ("-wal", "-shm", ""):
            with suppress(FileNotFoundError):
                store.with_name(f"{store.name}{ending}").rename(f"{target}{ending}")
        return target

    def find_removed(self, study: str) -> Path | None:
        """Where the store of a study lies that was removed last under this name, which may be any text."""
        removed = self.private / "removed"
        names = os.listdir(removed) if study and removed.is_dir() else []
        named = [removed / name for name in names if re.fullmatch(rf"{re.escape(study)}(-\d+)?\.db", name)]
        return max(named, key=lambda path: path.stat().st_ctime, default=None)

    def new_name(self, data: str) -> str:
        """A name for a new study of these data that no study, file or queued study has."""
        stem = safe_name(data).partition(".")[0] or "data"
        taken, number = self._taken_names(), 1
        while (name := f"{stem}-study" + (f"-{number}" if number > 1 else "")).casefold() in taken:
            number += 1
        return name

    def check_new_name(self, name: str) -> str:
        """A name that was given to a new study, without blanks around it; refused if it cannot be that of a file."""
        given = name.strip()
        if safe_name(given) != given:
            raise RefusedError(
                400,
                "Expected a short name of letters, digits, blanks and . _ - + ( ) for the study, that does not begin "
                f"with a point or a dash, got {clean_text(given)[:120]!r}.",
            )
        if given.casefold() in self._taken_names():
            raise RefusedError(
                409, f"There is a study or file named {given} in this folder already; choose another name."
            )
        return given

    def _taken_names(self) -> set[str]:
        """Names of stores and other files, and of what is or was in the queue, whatever the case of their letters."""
        stores = {path.stem for path in self.path.iterdir() if path.suffix == ".db"}
        return {name.casefold() for name in stores | {path.stem for path in self.queue.iterdir()}}

    def store_of(self, study: str) -> Path:
        """The file of a study that is known or about to be started."""
        return self.path / f"{study}.db"

    def check_room(self, needed: int = 0) -> None:
        """Refuse to write if the disk would be full after it."""
        free = shutil.disk_usage(self.private).free - SPARE
        if needed > free:
            raise RefusedError(
                507, f"There is not enough room on the disk ({max(free, 0) / MEGABYTE:,.0f} MB can be used)."
            )

    @property
    def is_shared(self) -> bool:
        """Whether somebody else may write into the folder."""
        facts = self.path.stat()
        return bool(facts.st_mode & 0o022) or facts.st_uid not in (os.getuid(), 0)

    # Token and messages

    def token(self, *, new: bool = False) -> str:
        """The token of this folder, which outlives the server, so that an open page finds it again."""
        file = self.private / "token"
        with suppress(OSError):
            if new:
                file.unlink()
            stored = file.read_text(encoding="ascii", errors="replace").strip()
            if TOKEN.fullmatch(stored):
                return stored
        token = secrets.token_urlsafe(32)
        write_private(file, token)
        return token

    def shown(self, text: str) -> str:
        """A message without paths: files by their names."""
        uploaded = re.sub(re.escape(str(self.uploads)) + r"/\w+/", "", text)
        named = uploaded.replace(f"{self.private}/", "").replace(f"{self.path}/", "")
        return ELSEWHERE.sub("", named)


def _is_store(path: Path) -> bool:
    """Whether a file may be the store of a study: no link, no pipe, and with a name that pages can write."""
    from holdfast.study.store import is_database

    try:
        path.stem.encode()
        return stat.S_ISREG(path.lstat().st_mode) and is_database(path)
    except (OSError, UnicodeEncodeError):
        return False


Stamp: TypeAlias = tuple[tuple[int, int, int], ...]


def stamp_file(path: Path) -> Stamp | None:
    """What changes whenever a store is written or replaced; None if that is not certain yet, or there is no store."""
    try:
        facts = [path.stat()]
    except OSError:
        return None
    with suppress(OSError):
        facts.append(path.with_name(f"{path.name}-wal").stat())
    if time.time() - max(file.st_mtime for file in facts) < SETTLE_SECONDS:
        return None
    return tuple((file.st_ino, file.st_size, file.st_mtime_ns) for file in facts)


def safe_name(name: str) -> str:
    """The last part of a file's name, as people wrote it, without anything that a system could take for more."""
    last = re.split(r"[/\\]", name)[-1]
    plain = re.sub(r"[^\w.+ ()-]", "_", last).lstrip(".-").strip()
    stem, dot, endings = plain.partition(".")
    short = stem.encode()[:100].decode(errors="ignore").strip() or "data"
    return short + (dot + endings[-20:] if endings else "")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give an empty file, only for its owner, that takes the name of another once it is written; or none is left."""
    passing = path.with_name(f".{secrets.token_hex(4)}-{path.name.lstrip('.')}")
    os.close(os.open(passing, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        yield passing
        passing.replace(path)
    except BaseException:
        passing.unlink(missing_ok=True)
        raise


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read, all of it or nothing."""
    with replacing(path) as file:
        file.write_text(text, encoding="utf-8", newline="")


def cache_file(upload: Path, kind: str, made_of: Any, ending: str) -> Path:
    """Where something is cached that was made of an upload: next to it, under a name made of all that it depends on."""
    text = json.dumps([__version__, kind, made_of], sort_keys=True)
    return upload.with_name(f".{kind}-{hashlib.sha256(text.encode()).hexdigest()[:16]}{ending}")


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


# Files that were uploaded: received piece by piece, each in a folder of its own, found by a number drawn at random


Purpose: TypeAlias = Literal["table", "selections"]
PURPOSES: tuple[Purpose, ...] = ("table", "selections")
KEY = re.compile(r"[0-9a-f]{16}")
ABOUT = ".about.json"
UNFINISHED = 3600
"""Seconds after which an upload without a record was left behind by a server that was killed."""


@dataclass(frozen=True, kw_only=True)
class Upload:
    """A file that was uploaded.

    Attributes
    ----------
    upload : str
        Its key.
    name : str
        Name of the file, as far as it is harmless.
    purpose : {"table", "selections"}
        What it is to be read as.
    size : int
        Bytes.
    time : float
        When it came, in seconds since 1970.
    """

    upload: str
    name: str
    purpose: Purpose
    size: int
    time: float


class Uploads:
    """The uploads of a folder.

    Parameters
    ----------
    folder : Folder
        Where they are stored.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder, self.root = folder, folder.uploads

    async def receive(self, name: str, purpose: Purpose, expected: int, pieces: AsyncIterator[bytes]) -> Upload:
        """Write a file as it comes; what was sent in half is removed.

        ``expected`` is the number of bytes that the sender announced, 0 if it did not.
        """
        self.folder.check_room(expected)
        key, size = secrets.token_hex(8), 0
        directory = self.root / key
        directory.mkdir(mode=OWNER_ONLY)
        file = directory / safe_name(name)
        try:
            async with await anyio.open_file(file, "xb") as out:
                file.chmod(0o600)
                async for piece in pieces:
                    size += len(piece)
                    if size % (16 * MEGABYTE) < len(piece):
                        self.folder.check_room()
                    await out.write(piece)
            if not size:
                raise RefusedError(400, "Expected a file with something in it, got an empty one.")
            upload = Upload(upload=key, name=file.name, purpose=purpose, size=size, time=time.time())
            write_record(directory / ABOUT, {"name": file.name, "purpose": purpose, "time": upload.time})
        except BaseException:
            shutil.rmtree(directory, ignore_errors=True)
            raise
        return upload

    async def store(self, name: str, purpose: Purpose, content: bytes) -> Upload:
        """Write a file whose content is at hand."""

        async def pieces() -> AsyncIterator[bytes]:
            yield content

        return await self.receive(name, purpose, len(content), pieces())

    def free_name(self, name: str) -> str:
        """A name for a file that no other upload has, whatever its ending: numbered if need be."""
        stem, dot, endings = safe_name(name).partition(".")
        taken, number = {upload.name.partition(".")[0].casefold() for upload in self.list()}, 1
        while (free := stem + (f"-{number}" if number > 1 else "")).casefold() in taken:
            number += 1
        return free + dot + endings

    def remove_unfinished(self) -> None:
        """Remove what was sent in half to a server that was killed meanwhile."""
        for directory in self.root.iterdir():
            old = time.time() - directory.stat().st_mtime > UNFINISHED
            if old and KEY.fullmatch(directory.name) and not (directory / ABOUT).exists():
                shutil.rmtree(directory, ignore_errors=True)

    def list(self, purpose: Purpose | None = None) -> list[Upload]:
        """The uploads, the newest first."""
        uploads = [self._read(directory) for directory in self.root.iterdir() if KEY.fullmatch(directory.name)]
        wanted = [upload for upload in uploads if upload is not None and purpose in (None, upload.purpose)]
        return sorted(wanted, key=lambda upload: -upload.time)

    def get(self, key: str, purpose: Purpose | None = None) -> Upload:
        """An upload by its key."""
        upload = self._read(self.root / key) if KEY.fullmatch(key) else None
        if upload is None or purpose not in (None, upload.purpose):
            raise RefusedError(404, "There is no such upload; it may have been removed. Upload the file again.")
        return upload

    def path(self, upload: Upload) -> Path:
        """The file of an upload."""
        return self.root / upload.upload / upload.name

    def remove(self, key: str) -> None:
        """Remove an upload and everything that was made of it."""
        shutil.rmtree(self.root / self.get(key).upload)

    def _read(self, directory: Path) -> Upload | None:
        record = read_record(directory / ABOUT)
        if record is None or not _is_sound(record):
            return None
        file = directory / record["name"]
        if file.parent != directory or not file.is_file():
            return None
        size = file.stat().st_size
        return Upload(
            upload=directory.name, name=record["name"], purpose=record["purpose"], size=size, time=record["time"]
        )


def _is_sound(record: dict[str, Any]) -> bool:
    named = isinstance(record.get("name"), str) and safe_name(record["name"]) == record["name"]
    return named and record.get("purpose") in PURPOSES and isinstance(record.get("time"), float)
