"""Files that were uploaded: received piece by piece, each in a folder of its own, found by a number drawn at random."""

import re
import secrets
import shutil
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import anyio

from holdfast.web.folder import OWNER_ONLY, Folder, read_record, safe_name, write_record
from holdfast.web.guard import MEGABYTE, RefusedError

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
        Where they are kept.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder, self.place = folder, folder.uploads

    async def receive(self, name: str, purpose: Purpose, expected: int, pieces: AsyncIterator[bytes]) -> Upload:
        """Write a file as it comes; what was sent in half is removed.

        ``expected`` is the number of bytes that the sender announced, 0 if it did not.
        """
        self.folder.check_room(expected)
        key, size = secrets.token_hex(8), 0
        place = self.place / key
        place.mkdir(mode=OWNER_ONLY)
        file = place / safe_name(name)
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
            write_record(place / ABOUT, {"name": file.name, "purpose": purpose, "time": upload.time})
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise
        return upload

    def free_name(self, name: str) -> str:
        """A name for a file that no other upload has, whatever its ending: numbered if need be."""
        stem, dot, endings = safe_name(name).partition(".")
        taken, number = {upload.name.partition(".")[0].casefold() for upload in self.list()}, 1
        while (free := stem + (f"-{number}" if number > 1 else "")).casefold() in taken:
            number += 1
        return free + dot + endings

    def remove_unfinished(self) -> None:
        """Remove what was sent in half to a server that was killed meanwhile."""
        for place in self.place.iterdir():
            old = time.time() - place.stat().st_mtime > UNFINISHED
            if old and KEY.fullmatch(place.name) and not (place / ABOUT).exists():
                shutil.rmtree(place, ignore_errors=True)

    def list(self, purpose: Purpose | None = None) -> list[Upload]:
        """The uploads, the newest first."""
        found = [self._read(place) for place in self.place.iterdir() if KEY.fullmatch(place.name)]
        wanted = [upload for upload in found if upload is not None and purpose in (None, upload.purpose)]
        return sorted(wanted, key=lambda upload: -upload.time)

    def get(self, key: str, purpose: Purpose | None = None) -> Upload:
        """An upload by its key."""
        upload = self._read(self.place / key) if KEY.fullmatch(key) else None
        if upload is None or purpose not in (None, upload.purpose):
            raise RefusedError(404, "There is no such upload; it may have been removed. Upload the file again.")
        return upload

    def path(self, upload: Upload) -> Path:
        """The file of an upload."""
        return self.place / upload.upload / upload.name

    def remove(self, key: str) -> None:
        """Remove an upload and everything that was made of it."""
        shutil.rmtree(self.place / self.get(key).upload)

    def _read(self, place: Path) -> Upload | None:
        record = read_record(place / ABOUT)
        if record is None or not _is_sound(record):
            return None
        file = place / record["name"]
        if file.parent != place or not file.is_file():
            return None
        size = file.stat().st_size
        return Upload(upload=place.name, name=record["name"], purpose=record["purpose"], size=size, time=record["time"])


def _is_sound(record: dict[str, Any]) -> bool:
    named = isinstance(record.get("name"), str) and safe_name(record["name"]) == record["name"]
    return named and record.get("purpose") in PURPOSES and isinstance(record.get("time"), float)
