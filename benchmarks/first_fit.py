"""What the first fit of each selector takes beyond its work, in a fresh process with warm caches."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator

from benchmarks.timing import Row

PROGRAM = """
import json, sys
from time import perf_counter
import numpy as np
from sklearn.base import clone
from holdfast import selectors as of

made = {
    "StabilitySelection": lambda: of.StabilitySelection(of.ElasticNetPath(), q=5, threshold=0.8, random_state=0),
    "EnsembleSelector": lambda: of.EnsembleSelector(of.MRMR(5), random_state=0),
    "GroupedSelector": lambda: of.GroupedSelector(of.AnovaF(5)),
    "Prefiltered": lambda: of.Prefiltered(of.MRMR(5), of.Variance(50)),
}
rng = np.random.default_rng(0)
y = np.arange(80) % 2
X = rng.normal(size=(80, 200)) + np.where(np.arange(200) < 5, y[:, None], 0)
selector = made.get(sys.argv[1], getattr(of, sys.argv[1]))()
if "random_state" in selector.get_params(deep=False):
    selector.set_params(random_state=0)
times, supports = [], []
for _ in range(2):
    begun = perf_counter()
    supports.append(clone(selector).fit(X, y).get_support().tolist())
    times.append(perf_counter() - begun)
assert supports[0] == supports[1]
print(json.dumps(times))
"""


def first_fit() -> Iterator[Row]:
    from holdfast import selectors

    classes = {name: getattr(selectors, name) for name in selectors.__all__ if name != "Selector"}
    names = [name for name, made in classes.items() if isinstance(made, type) and issubclass(made, selectors.Selector)]
    _times(names[0])  # reads the files of the libraries once
    first, second = zip(*map(_times, names), strict=True)
    beyond = {name: one - two for name, one, two in zip(names, first, second, strict=True)}
    worst = max(beyond, key=beyond.__getitem__)
    yield Row(
        what=f"first fit beyond its work, by the clock, the worst of {len(names)} selectors ({worst}), 80 × 200",
        ours=beyond[worst],
        peer=second[names.index(worst)],
        peer_name="its second fit",
        equal="yes",
        limit=1.0,
    )


def _times(name: str) -> tuple[float, float]:
    done = subprocess.run([sys.executable, "-c", PROGRAM, name], check=True, capture_output=True, text=True)
    first, second = json.loads(done.stdout)
    return first, second


BENCHMARKS: dict[str, Callable[[], Iterator[Row]]] = {"first_fit": first_fit}
