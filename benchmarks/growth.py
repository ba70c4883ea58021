"""How the time and memory of a study grow: ``python -m benchmarks.growth [--write]``.

A study of ANOVA F with logistic regression on random data, of which one size at a time is doubled four times. Each
point is a process of its own: CPU seconds of the faster of two runs, on one thread, and the most memory that the
process held beyond what its imports take. A law a + b·x^p is fitted to the five points of each size.
"""

import argparse
import multiprocessing
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import nnls
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import holdfast as hf
from holdfast.study.memory import peak_bytes

BASE = {"rows": 200, "features": 4_000, "resamples": 100, "candidates": 1}
TIMES = [1, 2, 4, 8, 16]
PROMISED = {"rows": 1, "features": 1, "resamples": 1, "candidates": 1}
"""Exponents of the algorithm: every resample goes through the table once, and every candidate is scored on each."""
DOCS = Path(__file__).parents[1] / "docs"
BEGIN, END = "<!-- written by python -m benchmarks.growth --write -->", "<!-- end of what is written -->"


class Law(NamedTuple):
    """A part that does not grow, a factor, and an exponent: a + b·x^p, with x in multiples of the smallest size."""

    fixed: float
    factor: float
    exponent: float


def main() -> None:
    """Measure all points, print the laws, and draw them if they are to be written."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__.partition(":")[0])
    parser.add_argument("--write", action="store_true", help="write the table and the picture into docs")
    chosen = parser.parse_args()
    measure({"rows": 50, "features": 50, "resamples": 3, "candidates": 1})  # kernels are read, for all processes
    sizes = [(name, times) for name in BASE for times in TIMES]
    with multiprocessing.get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        measured = pool.map(measure, [{**BASE, name: BASE[name] * times} for name, times in sizes], chunksize=1)
    points = pd.DataFrame(
        [{"size": name, "times": times, **of} for (name, times), of in zip(sizes, measured, strict=True)]
    )
    laws = {
        (name, what): fit_law(part["times"].to_numpy(float), part[what].to_numpy(float))
        for name, part in points.groupby("size", sort=False)
        for what in ("seconds", "megabytes")
    }
    text = "\n".join(_lines(points, laws))
    print(text)
    if chosen.write:
        page = DOCS / "scale.md"
        before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
        page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")
        draw(points).save(str(DOCS / "growth.svg"))


def measure(sizes: dict[str, int]) -> dict[str, float]:
    """CPU seconds and memory of one study of these sizes."""
    y, before = np.arange(sizes["rows"]) % 2, peak_bytes()
    X = np.random.default_rng(0).normal(size=(sizes["rows"], sizes["features"]))
    X[:, :20] += 0.5 * y[:, None]
    selectors = {"anova": hf.Candidates(hf.selectors.AnovaF(), sizes=list(range(5, 5 + sizes["candidates"])))}
    study = hf.Study(selectors, hf.Bootstrap(sizes["resamples"]), estimator=LogisticRegression())
    seconds = list[float]()
    with threadpool_limits(1):
        for _ in range(2):
            begun = process_time()
            study.run(X, y)
            seconds.append(process_time() - begun)
    return {"seconds": min(seconds), "megabytes": (peak_bytes() - before) / 1e6}


def fit_law(x: NDArray[np.float64], y: NDArray[np.float64]) -> Law:
    """Fit a + b·x^p, neither a nor b below 0, by least squares of relative errors."""
    fits = []
    for exponent in np.arange(0.3, 2.51, 0.02):
        terms = np.column_stack([np.ones(x.size), x**exponent]) / y[:, None]
        (fixed, factor), error = nnls(terms, np.ones(x.size))
        fits.append((error, Law(float(fixed), float(factor), float(exponent))))
    return min(fits, key=lambda fit: fit[0])[1]


def _lines(points: pd.DataFrame, laws: dict[Any, Law]) -> list[str]:
    lines = [
        "| grows | from … to | CPU seconds | law | MB beyond the imports | law | promised exponent |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, part in points.groupby("size", sort=False):
        seconds, memory = (", ".join(f"{value:.3g}" for value in part[what]) for what in ("seconds", "megabytes"))
        first, second = (
            f"{law.fixed:.2g} + {law.factor:.2g} x^{law.exponent:.2f}"
            for law in (laws[name, "seconds"], laws[name, "megabytes"])
        )
        span = f"{BASE[str(name)]:,} … {BASE[str(name)] * TIMES[-1]:,}"
        lines.append(f"| {name} | {span} | {seconds} | {first} | {memory} | {second} | {PROMISED[str(name)]} |")
    return lines


def draw(points: pd.DataFrame) -> Any:
    """Draw time and memory over each size, on logarithmic scales."""
    import altair as alt

    long = points.melt(["size", "times"], ["seconds", "megabytes"], var_name="what")
    base = alt.Chart(long).encode(
        x=alt.X("times:Q", scale=alt.Scale(type="log", base=2), title="times the smallest size"),
        y=alt.Y("value:Q", scale=alt.Scale(type="log"), title=None),
        color=alt.Color("size:N", title=None, sort=list(BASE)),
    )
    panel = alt.layer(base.mark_line(), base.mark_point(filled=True)).properties(width=260, height=220)
    return panel.facet(column=alt.Column("what:N", title=None, sort=["seconds", "megabytes"])).resolve_scale(
        y="independent"
    )


if __name__ == "__main__":
    main()
