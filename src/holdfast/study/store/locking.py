"""One writer of a store at a time: a lock in a file beside it, and who holds it."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from holdfast.study.store.store import LockedStoreError, UnwritableStoreError

A_MOMENT = 0.001
LOOKS = 100
LOCKED_BYTE = 4096


@contextmanager
def only_writer(real: Path, path: Path) -> Iterator[None]:
    """Hold the right to write: a lock that ends with the process, however that ends."""
    place = _lock_file(real)
    handle = _take_lock(place, path)
    try:
        yield
    finally:
        with suppress(OSError):
            place.unlink()
        os.close(handle)


def _lock_file(real: Path) -> Path:
    return real.with_name(real.name + ".holdfast-lock")


def _take_lock(place: Path, path: Path) -> int:
    while True:
        try:
            handle = os.open(place, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise UnwritableStoreError(
                f"Expected a store that can be written, got {path}: {error.strerror or error}; give a path in a folder "
                "that can be written."
            ) from None
        if _lock(handle):
            if _is_at(handle, place):
                with suppress(OSError):  # the number only serves those who ask who writes
                    os.truncate(handle, 0)
                    os.write(handle, f"{os.getpid()}\n".encode())
                return handle
        elif _is_locked(handle):
            holder = _read_number(handle)
            os.close(handle)
            raise LockedStoreError(
                f"Another process ({holder or 'number unknown'}) is writing {path}, and a store has one writer at a "
                "time; wait for it, or read with hf.load_study() (holdfast show) meanwhile."
            )
        os.close(handle)  # its last holder took the file away, or somebody looked at the lock: try again
        time.sleep(A_MOMENT)


def find_holder(real: Path) -> int | None:
    """The number of the process that holds the right to write; None if none does.

    This only looks: the lock is shared for a moment, and a writer that starts just then waits for that moment.
    """
    place, number = _lock_file(real), None
    for _ in range(LOOKS):
        try:
            handle = os.open(place, os.O_RDONLY)
        except OSError:
            return None
        try:
            locked, is_there = _is_locked(handle), _is_at(handle, place)
            number = _read_number(handle) if locked else None
        finally:
            os.close(handle)
        if (is_there and not locked) or (number is not None and _is_alive(number)):
            break
        time.sleep(A_MOMENT)  # a new writer has not left its number yet
    return number


def holds_lock(real: Path, process: int) -> bool:
    """Whether it is a process of this machine, and of this user, that holds the right to write.

    A folder may be shared by machines: then the number in the lock file is that of a process elsewhere.
    """
    handles = Path(f"/proc/{process}/fd")
    if not Path("/proc/self/fd").is_dir():
        return _is_alive(process)
    try:
        lock = _lock_file(real).stat()
        return any(_is_open_at(handle, lock) for handle in handles.iterdir())
    except OSError:
        return False


def _is_open_at(handle: Path, file: os.stat_result) -> bool:
    try:
        return os.path.samestat(handle.stat(), file)
    except OSError:  # closed meanwhile
        return False


def _read_number(handle: int) -> int | None:
    """The number of the process that left it in a lock file."""
    text = os.read(handle, 20).strip()
    return int(text) if text.isdigit() else None


def _is_alive(process: int) -> bool:
    """Whether a process runs, here; a lock file of one that was killed keeps its number until another takes it."""
    if os.name == "nt":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True


def _is_at(handle: int, place: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), place.stat())
    except FileNotFoundError:
        return False


def _lock(handle: int) -> bool:
    """Take the lock for oneself, if it is free."""
    try:
        if os.name == "nt":
            _lock_byte(handle)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_locked(handle: int) -> bool:
    """Whether a writer holds the lock; those who look do not see each other."""
    try:
        if os.name == "nt":
            _lock_byte(handle)
            _lock_byte(handle, unlock=True)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
            fcntl.flock(handle, fcntl.LOCK_UN)
    except OSError:
        return True
    return False


def _lock_byte(handle: int, *, unlock: bool = False) -> None:
    """Windows locks bytes, and nobody else can read them: one behind the number."""
    import msvcrt

    os.lseek(handle, LOCKED_BYTE, os.SEEK_SET)
    try:
        msvcrt.locking(handle, msvcrt.LK_UNLCK if unlock else msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    finally:
        os.lseek(handle, 0, os.SEEK_SET)
