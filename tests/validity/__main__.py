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
import replication_tables  # noqa: E402
import simulations  # noqa: E402
from cells import TESTS  # noqa: E402
from simulations import (  # noqa: E402
    cells_for,
    main_coverage,
    other_coverage,
    places,
    shown_rows,
    sizes_by_kind,
    sizes_of_equals,
    sizes_of_tests,
    table_4,
    two_stage,
    two_stage_cells,
)

import holdfast as hf  # noqa: E402
import replication  # noqa: E402

RUNS = (5, 10, 20, 50, 100)
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


OUT_OF_REACH = "out of reach"
LEAST, AVERAGE = 0.89, 0.94
"""What a validated 95 % interval covers at least: in each cell, and on average."""
BEFORE = {  # sizes in percent of the test that the present one replaced, at 5, 10, 20 and 50 runs
    "3% of the features lost; some runs at random": (4, 13, 41, 42),
    "1% of the features lost; some runs at random": (0, 1, 5, 41),
    "one flickering feature; some runs at random": (42, 55, 53, 18),
    "noisy scores; some runs at random": (40, 17, 8, 6),
    "3% of the features lost; some runs half different": (3, 10, 31, 22),
    "noisy scores; two noisy modes": (11, 18, 20, 10),
    "noisy scores; less noisy, some runs empty": (7, 8, 6, 5),
}
MAX_REJECTED = {5: 0.065, 10: 0.08, 20: 0.065, 50: 0.065}


def by_runs(frame):
    rows = []
    for (runs, method), part in frame[frame.kind != OUT_OF_REACH].groupby(["runs", "method"], sort=True):
        usual = part[part.truth <= 0.9]
        rows.append(
            {
                "runs": runs, "method": method, "cells": len(part),
                **{f"mean {level}": percent(part[level].mean()) for level in ("90%", "95%", "99%")},
                **{f"least {level}": percent(part[level].min()) for level in ("90%", "95%", "99%")},
                "mean width (95%)": f"{usual.width.mean():.2f}",
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def by_kind(frame, column, runs, worst):
    """One row per kind: the worst cell at each number of runs."""
    rows = []
    for kind, part in frame.groupby("kind", sort=False):
        values = part[part.runs.isin(runs)].groupby("runs")[column].agg(worst)
        rows.append({"kind": kind, "cells": part.cell.nunique(), **{f"{n} runs": percent(values[n]) for n in runs}})
    return pd.DataFrame(rows)


def by_measure(frame):
    rows = []
    for measure, part in frame[frame.runs >= 5].groupby("measure", sort=False):
        worst = part.loc[part["95%"].idxmin()]
        rows.append(
            {
                "measure": f"`{measure}`", "cells": len(part), "mean 95%": percent(part["95%"].mean()),
                "least 95%": percent(part["95%"].min()), "where": f"{worst.cell}, {worst.runs} runs",
                "validated": "yes" if holds(part) else "no",
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def holds(part):
    """At least 89 % in every cell from five runs on, at least 94 % on average."""
    every = part[part.runs >= 5]["95%"]
    return bool(every.min() >= LEAST and every.mean() >= AVERAGE)


def beyond(sizes, replicates):
    """Cells in which a test rejects more often than promised, by more than two Monte Carlo standard errors."""
    most = sizes.runs.map(MAX_REJECTED)
    error = (most * (1 - most) / replicates) ** 0.5
    reachable = sizes.kind != OUT_OF_REACH
    return sizes[reachable & (sizes[["paired", "independent"]].max(axis=1) > most + 2 * error)]


def broken_promises(found, replicates):
    main, printed = found["main_coverage"], found["table_4"]
    default, published = (
        main[(main.method == method) & (main.kind != OUT_OF_REACH)] for method in ("jackknife", "asymptotic")
    )
    if not holds(default):
        yield "the default interval of nogueira"
    for level, least in (("90%", 0.78), ("95%", LEAST), ("99%", 0.978)):  # twice the nominal error, and a tenth
        lost = (default[level] < least).to_numpy() & (default[level].to_numpy() < published[level].to_numpy() - 0.02)
        if lost.any():
            yield f"the default {level} interval, which covers less than the published one in {lost.sum()} cells"
    for measure, part in found["other_coverage"].groupby("measure"):
        if hf.MEASURES[measure].validated and not holds(part):
            yield f"the interval of {measure}, which is called validated"
    for _, row in beyond(found["sizes_by_kind"], replicates).iterrows():
        yield f"the size of the test, {row.kind}, {row.cell}, {row.runs} runs: {row.paired:.3f}, {row.independent:.3f}"
    null = found["sizes_of_tests"].query("difference == 0")
    if not (null.paired <= 0.065 + 0.02 * (null.runs == 10)).all():
        yield f"the size of the paired test: {null.paired.min():.3f} to {null.paired.max():.3f}"
    asymptotic = printed[(printed.method == "asymptotic") & (printed.truth >= 0.1)]
    for level, paper in (("99%", 0.985), ("95%", 0.943), ("90%", 0.890)):
        if (asymptotic[level] - paper).abs().max() > 0.01:
            yield f"Table 4 at {level}: {asymptotic[level].min():.3f} to {asymptotic[level].max():.3f}"
    stages = found["two_stage"]
    ordinary = stages.cell.str.startswith("independent")
    if stages.coverage[ordinary].min() < AVERAGE or stages.coverage[~ordinary].min() < LEAST:
        yield f"the two-stage rule: {stages.coverage.min():.3f}"
    if found["shown_rows"].drop(columns="runs").min(axis=None) < 0.94:
        yield "the intervals of selection frequencies"
    yield from replication_tables.broken_promises(found["replicate"])


def page(found, replicates):
    """Fill the page's template."""
    main, sizes = found["main_coverage"], found["sizes_by_kind"]
    default = main[main.method == "jackknife"].query("runs >= 5")
    worst = default[default.kind != OUT_OF_REACH].nsmallest(8, "95%")
    equals = found["sizes_of_equals"].copy()
    for place, runs in enumerate((5, 10, 20, 50)):
        equals[f"{runs} runs"] = [
            f"{BEFORE[name][place]} → {100 * now:.0f}"
            for name, now in zip(equals["first; second"], equals.pop(str(runs)), strict=True)
        ]
    levels = ("99%", "95%", "90%")
    shown = found["shown_rows"]
    return (
        (Path(__file__).parent / "page.md")
        .read_text(encoding="utf-8")
        .format(
            replicates=f"{replicates:,}",
            n_cells=main.cell.nunique(),
            intervals=markdown(by_runs(main)),
            kinds=markdown(by_kind(default, "95%", (5, 10, 20, 50, 100), "min")),
            worst=markdown(in_percent(worst[["kind", "cell", "runs", "truth", "95%"]], "95%")),
            measures=markdown(by_measure(found["other_coverage"])),
            sizes=markdown(by_kind(sizes, "paired", (5, 10, 20, 50), "max")),
            sizes_independent=markdown(by_kind(sizes, "independent", (5, 10, 20, 50), "max")),
            equals=markdown(equals),
            tests=markdown(in_percent(found["sizes_of_tests"], *TESTS)),
            printed=markdown(in_percent(found["table_4"][["cell", "truth", "method", *levels]], *levels)),
            stages=markdown(in_percent(found["two_stage"], "coverage")),
            shown=markdown(in_percent(shown, *shown.columns.drop("runs"))),
            **new_studies(found),
        )
    )


def new_studies(found):
    """The tables of what is said of new studies."""
    sets = found["replicate"]
    cells = replication_tables.cells(sets)
    tables = {
        "by_rows": replication_tables.by_rows(cells),
        "by_kind": replication_tables.by_kind(cells),
        "by_selector": replication_tables.by_selector(cells),
        "calibration": replication_tables.calibration(sets),
        "on_noise": replication_tables.on_noise(sets),
        "thoroughly": replication_tables.thoroughly(sets, found["replicate_thoroughly"]),
    }
    return {f"new_{name}": markdown(table) for name, table in tables.items()}


def in_percent(frame, *columns):
    return frame.assign(**{name: [percent(value) for value in frame[name]] for name in columns})


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--replicates", type=int, default=1000)
    options.add_argument("--write", action="store_true", help="write docs/validity.md")
    options.add_argument("--resume", type=Path, help="folder with results of an earlier call, which are kept")
    options = options.parse_args()
    n, start = options.replicates, time.perf_counter()
    measures = ("jaccard", "pearson", "spearman", "kendall", "sechidis", "yu", "used_again", "shared_importance")
    jobs = {
        main_coverage: [(*cell, RUNS, n) for cell in places()],
        other_coverage: [
            (measure, place, (5, 10, 20, 50), n) for measure in measures for place in range(len(cells_for(measure)))
        ],
        sizes_by_kind: [
            (*cell, tuple(MAX_REJECTED), n) for cell in places() if cell[0] != "ordinary" or not cell[1] % 3
        ],
        sizes_of_equals: [(name, tuple(MAX_REJECTED), n) for name in BEFORE],
        sizes_of_tests: [
            (shared, difference, runs, 5 * n if difference == 0 else n)
            for shared in (0.0, 0.5, 0.9)
            for difference in (0.0, 0.15, 0.3)
            for runs in (5, 10, 20, 50)
        ],
        table_4: [(case, 2 * n) for case in TABLE_4],
        two_stage: [(cell, h, n // 2) for cell in two_stage_cells() for h in (0.05, 0.03)],
        shown_rows: [(runs, n // 2) for runs in (5, 20, 100)],
        replication.replicate: list(replication.jobs(6 * n // 100)),
        replication.replicate_thoroughly: replication.hard_jobs(6 * n // 100),
    }
    folder = options.resume or Path(tempfile.mkdtemp(prefix="validity-"))
    print(f"Results as they come: {folder}", flush=True)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn"), initializer=simulations.ignore_warnings) as pool:
        done = {}
        for work, items in jobs.items():
            results = folder / f"{work.__name__}.csv"
            if not results.exists():
                pd.concat(pool.map(work, items, chunksize=1), ignore_index=True).to_csv(results, index=False)
            done[work.__name__] = pd.read_csv(results)
            print(f"{work.__name__}: {len(items)} jobs, {time.perf_counter() - start:.0f} s so far", flush=True)
    text = page(done, n)
    if options.write:
        PAGE.write_text(text, encoding="utf-8")
    print(text)
    broken = list(broken_promises(done, n))
    for promise in broken:
        print("BROKEN:", promise)
    raise SystemExit(bool(broken))


if __name__ == "__main__":
    main()
