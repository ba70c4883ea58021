"""How far a reader walks through the code for one call: ``python tests/walks.py``.

Functions of the package that a call enters, and the modules in which they stand, counted on the second call, when
everything is imported and compiled; comprehensions and lambdas are no functions. A change of module is a step from the
first entry of one function to that of the next. Reported, not tested: the figures are to think with.
"""

import io
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.neighbors import KNeighborsClassifier

import holdfast as hf
from holdfast.selectors import AnovaF, HybridRFE

SOURCE = str(Path(hf.__file__).parent) + os.sep
UNNAMED = {"<lambda>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}
FORMULA = "nogueira"


@dataclass
class Walk:
    """The functions that a call enters, in the order of their first entries."""

    entered: dict[CodeType, int] = field(default_factory=dict)
    """How many frames of the package are on the stack when a function is first entered, its own included."""

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Note a function, as ``sys.setprofile`` asks."""
        if event == "call" and is_ours(frame) and frame.f_code not in self.entered:
            self.entered[frame.f_code] = sum(1 for _ in frames(frame))

    @property
    def modules(self) -> list[str]:
        """The module of each function."""
        return [code.co_filename.removeprefix(SOURCE) for code in self.entered]

    @property
    def steps(self) -> list[tuple[str, bool]]:
        """The changes of module: where to, and whether it had been left before."""
        steps, known, last = [], set(), None
        for module in self.modules:
            if last not in (None, module):
                steps.append((module, module in known))
            known.add(module)
            last = module
        return steps

    def __str__(self) -> str:
        back = sum(left_before for _, left_before in self.steps)
        return (
            f"{len(self.entered)} functions in {len(set(self.modules))} modules, "
            f"{len(self.steps)} changes of module, {back} of them back into one already left"
        )


def is_ours(frame: FrameType) -> bool:
    """Whether a frame is a function of the package."""
    code = frame.f_code
    return code.co_filename.startswith(SOURCE) and code.co_name not in UNNAMED


def frames(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames of the package on the stack, from the innermost out."""
    while frame is not None:
        if is_ours(frame):
            yield frame
        frame = frame.f_back


def walk(call: Callable[[], Any]) -> Walk:
    """Call twice, and follow the second call."""
    found = Walk()
    call()
    sys.setprofile(found)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def walk_to_kernels(call: Callable[[], Any], start: str) -> dict[str, list[str]]:
    """Call twice; return the functions from ``start`` to each compiled loop that the second call enters.

    A compiled loop has no frame, so that the names under which modules know it are watched meanwhile.
    """
    from numba.core.dispatcher import Dispatcher

    call()
    ways: dict[str, list[str]] = {}

    def watched(loop: Any, *arguments: Any, **options: Any) -> Any:
        names = [frame.f_code.co_qualname for frame in frames(sys._getframe())]
        if start in names:
            ways.setdefault(loop.py_func.__name__, names[names.index(start) :: -1])
        return loop(*arguments, **options)

    modules = [module for name, module in list(sys.modules.items()) if name.startswith("holdfast.")]
    kept = {
        (module, name): value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, Dispatcher)
    }
    try:
        for (module, name), loop in kept.items():
            setattr(module, name, partial(watched, loop))
        call()
    finally:
        for (module, name), loop in kept.items():
            setattr(module, name, loop)
    return ways


def study_of(selector: Any) -> Callable[[], None]:
    """The run of a study of one selector with a model and a new store."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selectors = {"one": hf.Candidates(selector, sizes=[2, 5, 10])}
    study = hf.Study(selectors=selectors, perturbation=hf.Bootstrap(5), estimator=KNeighborsClassifier(3))

    def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            study.run(X, y, store=Path(folder) / "study.db")

    return run


def run_command() -> None:
    """``holdfast study FILE``, in this process."""
    from holdfast.cli import run

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    arguments = ["study", "patients.csv", "--target", "diagnosis", "-s", "anova:k=3", "--estimator", "knn", "-n", "5"]
    here, before = os.getcwd(), sys.argv
    silent = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(silent), redirect_stderr(silent):
        os.chdir(folder)
        try:
            X.iloc[:120, :8].assign(diagnosis=y.map({0: "ill", 1: "well"})).to_csv("patients.csv", index=False)
            sys.argv = ["holdfast", *arguments]
            with suppress(SystemExit):
                run()
        finally:
            sys.argv = before
            os.chdir(here)


def main() -> None:
    """Print all walks."""
    warnings.simplefilter("ignore")
    Z = np.random.default_rng(0).integers(0, 2, (20, 30))
    measured = walk(partial(hf.stability, Z))
    depths = [depth for code, depth in measured.entered.items() if code.co_name == FORMULA]
    through_io = any(module.startswith(f"io{os.sep}") for module in measured.modules)
    met = f"its formula in frame {min(depths)}; io is {'entered' if through_io else 'not entered'}"
    print(f"stability(Z): {measured}; {met}")
    print(f"Study.run, one filter, 3-NN, a store: {walk(study_of(AnovaF()))}")
    print(f"holdfast study FILE: {walk(run_command)}")
    for loop, way in walk_to_kernels(study_of(HybridRFE()), "Family.run").items():
        print(f"Family.run → {loop}: {len(way) + 1} frames ({' → '.join(way)})")


if __name__ == "__main__":
    main()
