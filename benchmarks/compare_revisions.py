"""Compare the speed of two revisions: ``python -m benchmarks.compare_revisions OLD [name ...]``.

Every benchmark is run by both trees in turn, each time in a process of its own with that tree's ``benchmarks`` and
``src``. For each line the medians of our figures are compared; the exit code is 1 if one has grown by more
than 5 %, or if a line of the old tree is missing. Peers are timed as well, as the results are checked against them.
"""

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
MOST = 1.05
"""How many times the old figure the new one may be."""
LIST = "import json; from benchmarks.__main__ import BENCHMARKS; print(json.dumps(list(BENCHMARKS)))"
RUN = """
import json, sys
from benchmarks.__main__ import BENCHMARKS
rows = [(f"{row.what} [{row.unit}]", row.ours) for row in BENCHMARKS[sys.argv[1]]()]
print(json.dumps(rows))
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run benchmarks of two trees by turns and print what has changed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.compare_revisions", description="Compare the speed of two revisions."
    )
    parser.add_argument("old", help="a revision, or the folder of a tree")
    parser.add_argument("names", nargs="*", metavar="name", help="benchmarks, as of python -m benchmarks (all of OLD)")
    parser.add_argument("--new", default=str(ROOT), help="a revision, or the folder of a tree (this one)")
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="how often each tree runs each (5)")
    chosen = parser.parse_args(arguments)
    with ExitStack() as stack:
        trees = [stack.enter_context(open_tree(given)) for given in (chosen.old, chosen.new)]
        for tree in trees:
            call(tree, "-m", "holdfast.kernels")  # compiled before anything is timed
        known = json.loads(call(trees[0], "-c", LIST))
        unknown = [name for name in chosen.names if name not in known]
        if unknown:
            parser.error(f"Expected names out of {', '.join(known)}, got {unknown[0]}.")
        slower = [run_by_turns(trees, name, chosen.repeats) for name in chosen.names or known]
    return int(any(slower))


@contextmanager
def open_tree(given: str) -> Iterator[Path]:
    """The folder of a tree; that of a revision is a copy, taken away afterwards."""
    if Path(given, "src", "holdfast").is_dir():
        yield Path(given).resolve()
        return
    packed = subprocess.run(["git", "archive", given], cwd=ROOT, check=True, capture_output=True).stdout
    with tempfile.TemporaryDirectory(prefix="holdfast-revision-") as folder:
        with tarfile.open(fileobj=BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
        yield Path(folder)


def run_by_turns(trees: Sequence[Path], name: str, repeats: int) -> bool:
    """Run one benchmark alternately in both trees, print its lines, and return whether one is slower or missing."""
    old, new = figures = defaultdict(list), defaultdict(list)
    for turn in range(repeats):
        print(f"{name}, {turn + 1} of {repeats} …", file=sys.stderr, flush=True)
        for tree, found in list(zip(trees, figures, strict=True))[:: -1 if turn % 2 else 1]:
            for what, ours in json.loads(call(tree, "-c", RUN, name)):
                found[what].append(ours)
    slower = False
    for what, before in old.items():
        ratio = median(new[what]) / median(before) if what in new else float("nan")
        slower |= not ratio <= MOST
        result = (
            "MISSING" if what not in new else f"{median(new[what]):.4g}, {ratio:.3f}" + (" SLOWER" * (ratio > MOST))
        )
        print(f"{what}: {median(before):.4g} → {result}", flush=True)
    return slower


def call(tree: Path, *arguments: str) -> str:
    """The last line that Python prints, with the packages of a tree."""
    search = os.pathsep.join([str(tree / "src"), str(tree)])
    done = subprocess.run(
        [sys.executable, *arguments], cwd=tree, env={**os.environ, "PYTHONPATH": search}, stdout=subprocess.PIPE,
        text=True, check=True,
    )  # fmt: skip
    return (done.stdout.strip().splitlines() or [""])[-1]


if __name__ == "__main__":
    sys.exit(main())
