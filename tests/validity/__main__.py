"""The long simulations: ``make validate`` runs them and writes docs/validity.md.

Coverage of intervals, size and power of tests, the 2018 paper's own check, and the two-stage rule for the number of
runs. Exit status 1 if a promise is broken.
"""

import argparse
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
sys.path.insert(0, str(Path(__file__).parent))

import pandas as pd  # noqa: E402
import simulations  # noqa: E402
from cells import TESTS, coverage_cells  # noqa: E402
from simulations import cells_for, main_coverage, other_coverage, sizes_of_tests, table_4, two_stage  # noqa: E402

import holdfast as hf  # noqa: E402

RUNS = (3, 5, 10, 20, 50, 100)
TABLE_4 = ("p uniform in [0, 1]", "p from Beta(0.5, 0.5)", "half likely, half unlikely", "p uniform in [0, 0.3]")
PAGE = Path(__file__).parents[2] / "docs" / "validity.md"


def percent(value):
    return f"{100 * value:.1f}"


def markdown(frame):
    cells = [[str(name) for name in frame.columns], ["---"] * frame.shape[1]]
    cells += [
        [f"{item:.3f}" if isinstance(item, float) else str(item) for item in row] for row in frame.to_numpy(object)
    ]
    return "\n".join("| " + " | ".join(row) + " |" for row in cells)


def by_runs(frame):
    rows = []
    for (runs, method), part in frame.groupby(["runs", "method"], sort=True):
        usual = part[part.truth <= 0.9]
        rows.append(
            {
                "runs": runs, "method": method, "cells": len(part),
                **{f"mean {level}": percent(usual[level].mean()) for level in ("90%", "95%", "99%")},
                **{f"least {level}": percent(part[level].min()) for level in ("90%", "95%", "99%")},
                "mean width (95%)": f"{usual.width.mean():.2f}",
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def by_measure(frame):
    rows = []
    for measure, part in frame[frame.runs >= 5].groupby("measure", sort=False):
        usual = part[part.truth <= 0.9]
        worst = part.loc[part["95%"].idxmin()]
        rows.append(
            {
                "measure": f"`{measure}`", "cells": len(part), "mean 95%": percent(usual["95%"].mean()),
                "least 95%": percent(part["95%"].min()), "where": f"{worst.cell}, {worst.runs} runs",
                "validated": "yes" if holds(part) else "no",
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def holds(part):
    """At least 90 % in every cell from five runs on, 94 to 98 % on average over the cells with stability up to 0.9."""
    every = part[part.runs >= 5]
    usual = every[every.truth <= 0.9]
    return bool(every["95%"].min() >= 0.9 and 0.94 <= usual["95%"].mean() <= 0.98)


def broken_promises(main, others, sizes, printed, stages):
    default, published = (main[main.method == method] for method in ("jackknife", "asymptotic"))
    if not holds(default):
        yield "the default interval of nogueira"
    for level in ("90%", "95%", "99%"):
        lost = default[level].to_numpy() < published[level].to_numpy() - 0.01
        if lost.any():
            yield f"the default {level} interval covers less than the published one in {lost.sum()} cells"
    for measure, part in others.groupby("measure"):
        if hf.MEASURES[measure].validated and not holds(part):
            yield f"the interval of {measure}, which is called validated"
    null = sizes[(sizes.difference == 0) & (sizes.runs >= 20)]
    if not null.paired.between(0.04, 0.065).all():
        yield f"the size of the paired test: {null.paired.min():.3f} to {null.paired.max():.3f}"
    asymptotic = printed[(printed.method == "asymptotic") & (printed.truth >= 0.1)]
    for level, paper in (("99%", 0.985), ("95%", 0.943), ("90%", 0.890)):
        if (asymptotic[level] - paper).abs().max() > 0.01:
            yield f"Table 4 at {level}: {asymptotic[level].min():.3f} to {asymptotic[level].max():.3f}"
    if stages.coverage.min() < 0.94:
        yield f"the two-stage rule: {stages.coverage.min():.3f}"


def page(main, others, sizes, printed, stages, replicates):
    """Fill the page's template."""
    worst = main[main.method == "jackknife"].query("runs >= 5").nsmallest(8, "95%")
    return (
        (Path(__file__).parent / "page.md")
        .read_text(encoding="utf-8")
        .format(
            replicates=f"{replicates:,}",
            n_cells=main.cell.nunique(),
            intervals=markdown(by_runs(main)),
            worst=markdown(in_percent(worst[["cell", "runs", "truth", "95%"]], "95%")),
            measures=markdown(by_measure(others)),
            tests=markdown(in_percent(sizes, *TESTS)),
            printed=markdown(
                in_percent(printed[["cell", "truth", "method", "99%", "95%", "90%"]], "99%", "95%", "90%")
            ),
            stages=markdown(in_percent(stages, "coverage")),
        )
    )


def in_percent(frame, *columns):
    return frame.assign(**{name: [percent(value) for value in frame[name]] for name in columns})


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--replicates", type=int, default=1000)
    options.add_argument("--write", action="store_true", help="write docs/validity.md")
    options.add_argument("--resume", type=Path, help="folder of an earlier run: what is there is not simulated again")
    options = options.parse_args()
    n, start = options.replicates, time.perf_counter()
    measures = ("jaccard", "pearson", "spearman", "kendall", "sechidis", "yu")
    jobs = {
        main_coverage: [(place, RUNS, n) for place in range(len(coverage_cells()))],
        other_coverage: [
            (measure, place, (5, 10, 20, 50), n) for measure in measures for place in range(len(cells_for(measure)))
        ],
        sizes_of_tests: [
            (shared, difference, runs, 5 * n if difference == 0 else n)
            for shared in (0.0, 0.5, 0.9)
            for difference in (0.0, 0.15, 0.3)
            for runs in (10, 20, 50)
        ],
        table_4: [(case, 2 * n) for case in TABLE_4],
        two_stage: [(s, h, n // 2) for s in (0.5, 0.8) for h in (0.05, 0.03)],
    }
    folder = options.resume or Path(tempfile.mkdtemp(prefix="validity-"))
    print(f"Results as they come: {folder}", flush=True)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn"), initializer=simulations.quiet) as pool:
        done = {}
        for work, items in jobs.items():
            kept = folder / f"{work.__name__}.csv"
            if not kept.exists():
                pd.concat(pool.map(work, items, chunksize=1), ignore_index=True).to_csv(kept, index=False)
            done[work] = pd.read_csv(kept)
            print(f"{work.__name__}: {len(items)} jobs, {time.perf_counter() - start:.0f} s so far", flush=True)
    text = page(*(done[work] for work in jobs), n)
    if options.write:
        PAGE.write_text(text, encoding="utf-8")
    print(text)
    broken = list(broken_promises(*done.values()))
    for promise in broken:
        print("BROKEN:", promise)
    raise SystemExit(bool(broken))


if __name__ == "__main__":
    main()
