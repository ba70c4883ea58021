"""Whether the tests catch one-line defects, planted in a copy of the tree: ``python tests/defects.py [NAME ...]``.

A guard for large changes that are to keep behaviour: what the tests caught before they must catch after. The defects
stand in ``defects.toml``; a line is found by its text, so that it may move. The checkout itself is never changed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
DEFECTS = Path(__file__).with_name("defects.toml")
LEFT_OUT = shutil.ignore_patterns(".git", ".venv*", ".*_cache", ".hypothesis", "_build", "_generated", "build", "dist")
LIMIT = 600.0
"""Seconds after which tests are ended; a defect that lets them run for ever is caught."""


class NotPlantedError(Exception):
    """The line of a defect does not stand exactly once in the tree, or its tests do not run."""


@dataclass(frozen=True)
class Defect:
    """A line's text, the text that makes it wrong, and the tests that must notice."""

    name: str
    old: str
    new: str
    tests: tuple[str, ...]
    only: str = ""

    def find(self, source: Path) -> Path:
        """The one file in which the line stands."""
        times = {path: path.read_text(encoding="utf-8").count(self.old) for path in sorted(source.rglob("*.py"))}
        found = [path for path, count in times.items() for _ in range(count)]
        if len(found) != 1:
            raise NotPlantedError(f"its line stands {len(found)} times in {source.name}: {self.old}")
        return found[0]


@dataclass
class Copy:
    """A copy of the tree, with the times of its files, so that compiled kernels stay valid."""

    root: Path
    sound: dict[tuple[tuple[str, ...], str], str] = field(default_factory=dict)

    def check(self, defect: Defect, *, trust: bool) -> str:
        """Return the test that caught a defect, or nothing; the file is as before afterwards."""
        path = defect.find(self.root / "src")
        files = [self._test_file(name) for name in defect.tests]
        if not trust:
            self._require_sound(defect, files)
        text, times = path.read_text(encoding="utf-8"), path.stat()
        path.write_text(text.replace(defect.old, defect.new), encoding="utf-8")
        try:
            return self._first_failure(files, defect.only)
        finally:
            path.write_text(text, encoding="utf-8")
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def _test_file(self, name: str) -> str:
        found = list((self.root / "tests").rglob(name))
        if len(found) != 1:
            raise NotPlantedError(f"there are {len(found)} files {name} below tests/")
        return str(found[0])

    def _require_sound(self, defect: Defect, files: list[str]) -> None:
        """Tests that fail by themselves catch nothing; each set of them is tried once."""
        key = (defect.tests, defect.only)
        if key not in self.sound:
            self.sound[key] = self._first_failure(files, defect.only)
        if self.sound[key]:
            raise NotPlantedError(f"fails without it: {self.sound[key]}")

    def _first_failure(self, files: list[str], only: str) -> str:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-n", "0", "--tb=no", "-rfE"]
        command += [*files, *(["-k", only] if only else [])]
        search = os.pathsep.join(filter(None, [str(self.root / "src"), os.environ.get("PYTHONPATH")]))
        # a file that is written twice within a second looks like the one that Python has compiled
        own = {"PYTHONPATH": search, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
        try:
            done = subprocess.run(
                command, cwd=self.root, env={**os.environ, **own}, capture_output=True, text=True, timeout=LIMIT
            )
        except subprocess.TimeoutExpired:
            return f"no end after {LIMIT:g} seconds"
        if done.returncode not in (0, 1, 2):  # 2: a file could not be imported, which nobody overlooks
            raise NotPlantedError(f"its tests do not run: {(done.stdout + done.stderr).strip().splitlines()[-1]}")
        failed = re.search(r"^(?:FAILED|ERROR) (?:tests/)?(\S+)", done.stdout, re.MULTILINE)
        return "" if done.returncode == 0 else failed[1] if failed else "a test that ended the process"


def read_defects() -> dict[str, Defect]:
    """All defects, by name."""
    rows = tomllib.loads(DEFECTS.read_text(encoding="utf-8"))["defect"]
    return {row["name"]: Defect(**{**row, "tests": tuple(row["tests"])}) for row in rows}


def try_defect(copy: Copy, defect: Defect, *, trust: bool) -> bool:
    """Plant a defect, print and return whether it was caught."""
    begin = time.perf_counter()
    try:
        test = copy.check(defect, trust=trust)
        outcome = f"caught by {test}" if test else f"NOT CAUGHT by {', '.join(defect.tests)}"
    except NotPlantedError as error:
        test, outcome = "", f"CANNOT BE PLANTED: {error}"
    print(f"{time.perf_counter() - begin:6.1f} s  {defect.name}: {outcome}", flush=True)
    return bool(test)


def show_files(defects: dict[str, Defect]) -> int:
    """Print the file that holds the line of each defect; return 1 if a line is missing or there twice."""
    lost = 0
    for defect in defects.values():
        try:
            file = str(defect.find(ROOT / "src").relative_to(ROOT / "src"))
        except NotPlantedError as error:
            file, lost = f"CANNOT BE PLANTED: {error}", 1
        print(f"{defect.name}: {file}")
    return lost


def main() -> int:
    """Try the defects of these names, or all; return 1 if one is missed."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="which defects to plant (all)")
    parser.add_argument("--list", action="store_true", help="only print the files that hold their lines")
    parser.add_argument("--trust", action="store_true", help="do not try first whether the tests pass without a defect")
    chosen, defects = parser.parse_args(), read_defects()
    unknown = [name for name in chosen.names if name not in defects]
    if unknown:
        parser.error(f"Expected names of defects (--list), got {unknown[0]}.")
    if chosen.list:
        return show_files(defects)
    names = chosen.names or list(defects)
    with tempfile.TemporaryDirectory(prefix="holdfast-defects-") as folder:
        copy = Copy(Path(shutil.copytree(ROOT, Path(folder) / "holdfast", ignore=LEFT_OUT)))
        missed = [name for name in names if not try_defect(copy, defects[name], trust=chosen.trust)]
    print(f"{len(names) - len(missed)} of {len(names)} defects caught.")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
