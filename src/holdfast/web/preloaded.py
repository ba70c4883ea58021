"""What is loaded before workers are forked: tasks, modules that are imported late, and compiled kernels.

Only the process from which workers are forked imports this module: it measures the example, so that no worker has to
load what that takes.
"""

import contextlib
from importlib.resources import as_file, files

from holdfast.web.tasks import TASKS


def load_kernels() -> None:
    """Measure the example once; whatever goes wrong here, a worker will say."""
    options = {"level": 0.95, "undefined": "nan", "half_width": 0.05}
    with contextlib.suppress(Exception), as_file(files("holdfast.datasets") / "example.csv") as path:
        for measure, top in (("jaccard", 10), ("nogueira", 10), ("spearman", None), ("weight_correlation", None)):
            TASKS["measure_selections"](path=str(path), reading={"top": top}, measure=measure, **options)


load_kernels()
