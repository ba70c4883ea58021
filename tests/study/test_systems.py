"""What differs between operating systems, simulated on this one (docs/systems.md)."""

import errno
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

import holdfast as hf
from holdfast.study.store import LockedStoreError, find_writer, open_to_write, opening
from study_parts import X, Y

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows is simulated elsewhere")


class Windows:
    """The module ``os`` as it is on Windows, as far as locks are concerned."""

    name = "nt"

    def __getattr__(self, attribute):
        return getattr(os, attribute)


class Locks(ModuleType):
    """The module ``msvcrt``: locks of bytes, which belong to the handle that took them."""

    LK_NBLCK, LK_UNLCK = 2, 0

    def __init__(self):
        super().__init__("msvcrt")
        self.held = {}

    def locking(self, handle, mode, n_bytes):
        assert n_bytes == 1
        byte = os.fstat(handle).st_ino, os.lseek(handle, 0, os.SEEK_CUR)
        if mode == self.LK_UNLCK:
            assert self.held.pop(byte) == handle
        elif self.held.get(byte, handle) != handle or byte in self.held:
            raise OSError(errno.EACCES, "Permission denied")
        else:
            self.held[byte] = handle


@pytest.fixture
def windows(monkeypatch):
    locks = Locks()
    monkeypatch.setattr(opening, "os", Windows())
    monkeypatch.setitem(sys.modules, "msvcrt", locks)
    return locks


def test_a_store_has_one_writer_by_a_lock_of_one_byte(windows, tmp_path):
    store = tmp_path / "s.db"
    hf.Study(hf.selectors.AnovaF(2), hf.Bootstrap(4)).run(X, Y, store=store)
    windows.held.clear()  # the system lets go of what a closed handle held
    with open_to_write(store):
        ((_, place),) = windows.held
        assert place == opening.LOCKED_BYTE  # behind the number, which others can read
        assert find_writer(store) == os.getpid()
        with (
            pytest.raises(LockedStoreError, match=f"Another process \\({os.getpid()}\\) is writing"),
            open_to_write(store),
        ):
            pass
        assert len(hf.load_study(store).candidates) == 1  # readers need no lock
    assert find_writer(store) is None


def test_a_lock_that_is_let_go_can_be_taken(windows, tmp_path):
    store = tmp_path / "s.db"
    study = hf.Study(hf.selectors.AnovaF(2), hf.Bootstrap(4))
    for number in (4, 6):
        result = hf.Study(study.selectors, hf.Bootstrap(number)).run(X, Y, store=store)
        windows.held.clear()
    assert result.n_splits == 6


def test_a_process_is_looked_for_where_there_is_no_proc(monkeypatch, tmp_path):
    real = Path.is_dir
    monkeypatch.setattr(Path, "is_dir", lambda path: str(path) != "/proc/self/fd" and real(path))
    assert opening.holds_lock(tmp_path / "s.db", os.getpid())
    assert not opening.holds_lock(tmp_path / "s.db", 2**22 + 1)


def test_the_page_is_refused_in_one_sentence_where_there_is_no_fork(monkeypatch, printed_by):
    from holdfast.cli import reports

    monkeypatch.setattr(reports, "find_spec", lambda name: None if name == "resource" else object())
    error = printed_by("serve", code=2).err
    assert error.strip() == "holdfast: The page needs Linux or macOS; all other commands work on this system."
