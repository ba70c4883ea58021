"""Tables of what is said of new studies, from the data sets of :mod:`replication`; and the promises they must keep."""

import numpy as np
import pandas as pd
from populations import EVERY

CELL = ["kind", "task", "selector", "n"]
LEAST_AT_HALF = 0.90
"""Coverage of the 95 % interval at half the size, in every cell of 100 rows or more."""
MEAN_AT_FULL = 0.94
"""Coverage of the 95 % interval at the full size, on average over cells."""
MAX_ON_NOISE, CALIBRATED, SAID_AT_MOST = 0.15, 0.1, 0.7
"""What features selected in noise are given on average; by how much said and true may differ, up to what is said."""


def cells(sets):
    """One row per cell: bias, coverage and width at half the size and at the full size."""
    known = sets[sets.half.notna() & sets.truth_half.notna()]
    oracle = 2 * 1.96 * known.groupby(CELL).half.std()
    rows = known.assign(
        half_covered=known.truth_half.between(known.half_low, known.half_high),
        half_width=known.half_high - known.half_low,
        half_error=known.half - known.truth_half,
        covered=known.truth.between(known.low, known.high),
        width=known.high - known.low,
        error=known.value - known.truth,
        squared=(known.value - known.truth) ** 2,
    )
    means = ["truth_half", "half", "half_covered", "half_width", "half_error", "truth", "value", "covered", "width"]
    found = rows.groupby(CELL)[[*means, "error", "squared", "said", "came back", "raw"]].mean()
    found["sets"] = rows.groupby(CELL).size()
    found["standard_error"] = rows.groupby(CELL).half_error.std() / np.sqrt(found.sets)
    found["relative_width"] = found.half_width / oracle
    found = found[found.sets >= 0.5 * sets.groupby(CELL).size().reindex(found.index)]
    found = found.reset_index()
    return found.assign(held_out=found.kind.map(lambda name: EVERY[name].held_out))


def filters(found):
    """Cells of the filters on two classes, which there are at every size."""
    return found[found.selector.str.startswith("filter") & (found.task == "two classes")]


def by_rows(found):
    """How intervals cover by the number of rows, on kinds that were seen before and on those that were not."""
    rows = []
    for (held_out, n), part in filters(found).groupby(["held_out", "n"]):
        rows.append({
            "kinds": "held out" if held_out else "other", "rows": n, "cells": len(part),
            "n/2: mean": percent(part.half_covered.mean()), "least": percent(part.half_covered.min()),
            "cells below 90": int((part.half_covered < LEAST_AT_HALF).sum()),
            "width / oracle": f"{part.relative_width.median():.2f}",
            "n: mean": percent(part.covered.mean()), "least ": percent(part.covered.min()),
            "cells below 90 ": int((part.covered < 0.9).sum()), "width": f"{part.width.mean():.2f}",
            "RMSE": f"{part.squared.mean() ** 0.5:.2f}", "bias": f"{part.error.mean():+.2f}",
        })  # fmt: skip
    return pd.DataFrame(rows)


def by_kind(found):
    """The cell that is covered least for each kind of data, from 100 rows on."""
    rows = []
    for kind, part in filters(found).query("n >= 100").groupby("kind", sort=False):
        part = part.set_index(["selector", "n"])
        half, full = part.half_covered.idxmin(), part.covered.idxmin()
        rows.append({
            "kind": kind + (" (held out)" if part.held_out.iloc[0] else ""),
            "n/2: least": percent(part.half_covered.min()), "where": f"{half[0]}, {half[1]} rows",
            "n: least": percent(part.covered.min()), "where ": f"{full[0]}, {full[1]} rows",
            "said → true there": f"{part.value[full]:.2f} → {part.truth[full]:.2f}",
        })  # fmt: skip
    return pd.DataFrame(rows)


def by_selector(found):
    """Agreement of two studies of half the size, said and true, with 100 rows."""
    at_100 = found[(found.n == 100) & (found.kind != "pure noise")]
    rows = []
    for (task, selector), part in at_100.groupby(["task", "selector"], sort=False):
        bias = part.half_error.mean()
        error = np.sqrt((part.standard_error**2).mean() / len(part))
        rows.append({
            "task": task, "selector": selector, "kinds": len(part), "said at n/2": f"{part.half.mean():.3f}",
            "true": f"{part.truth_half.mean():.3f}", "bias": f"{bias:+.3f} ± {error:.3f}",
            "covered": percent(part.half_covered.mean()), "said at n": f"{part.value.mean():.2f}",
            "true ": f"{part.truth.mean():.2f}", "covered ": percent(part.covered.mean()),
        })  # fmt: skip
    return pd.DataFrame(rows)


def by_origin(sets):
    """Data sets with something to find, of kinds that were seen before and of those that were not."""
    real = sets[sets.kind != "pure noise"]
    held_out = real.kind.map(lambda name: EVERY[name].held_out)
    return {"other": real[~held_out], "held out": real[held_out]}


def calibration(sets):
    """Probabilities that features were given, against the share of new studies that select them."""
    parts, rows = by_origin(sets), []
    for place in range(10):
        row = {"said": f"{place / 10:.1f} to {place / 10 + 0.1:.1f}"}
        for name, part in parts.items():
            count = part[f"features {place}"].sum()
            row |= {
                f"{name}: features": f"{count:,.0f}",
                f"{name}: mean said": f"{part[f'said {place}'].sum() / count:.2f}" if count else "",
                f"{name}: true": f"{part[f'true {place}'].sum() / count:.2f}" if count else "",
            }
        rows.append(row)
    return pd.DataFrame(rows)


def on_noise(sets):
    """What is said of features that were selected in pure noise."""
    rows = []
    for selector, part in sets[sets.kind == "pure noise"].groupby("selector", sort=False):
        known = part[part.half.notna()]
        rows.append({
            "selector": selector, "data sets": len(part), "most halves empty": int(part.half.isna().sum()),
            "agreement at n/2": f"{known.half.mean():+.3f}" if len(known) else "",
            "said to be shown": percent(known["beyond chance"].astype(bool).mean()) if len(known) else "",
            "share of halves": f"{known.raw.mean():.2f}" if len(known) else "",
            "probability said": f"{known.said.mean():.2f}" if len(known) else "",
            "true": f"{known['came back'].mean():.2f}" if len(known) else "",
        })  # fmt: skip
    return pd.DataFrame(rows)


def thoroughly(usual, thorough):
    """Coverage and width at half the size without and with groups of rows left out."""
    found, again = (cells(sets).set_index(["kind", "selector", "n"]) for sets in (usual, thorough))
    rows = [
        {
            "kind": kind, "selector": selector, "rows": n, "covered": percent(found.half_covered[kind, selector, n]),
            "thorough": percent(cell.half_covered),
            "width / oracle": f"{found.relative_width[kind, selector, n]:.2f}",
            "thorough ": f"{cell.relative_width:.2f}",
        }
        for (kind, selector, n), cell in again.iterrows()
    ]  # fmt: skip
    return pd.DataFrame(rows)


def percent(share):
    return f"{100 * share:.0f}"


def broken_promises(sets):
    """What is not as promised, beyond two Monte Carlo standard errors."""
    found = cells(sets)
    large = found[found.n >= 100]
    error = np.sqrt(LEAST_AT_HALF * (1 - LEAST_AT_HALF) / large.sets)
    for _, cell in large[large.half_covered < LEAST_AT_HALF - 2 * error].iterrows():
        yield f"the interval at half the size: {cell.kind}, {cell.selector}, {cell.n} rows: {cell.half_covered:.2f}"
    if filters(found).covered.mean() < MEAN_AT_FULL:
        yield f"the interval at the full size: {filters(found).covered.mean():.3f}"
    biased = found[found.half_error.abs() > 4 * found.standard_error + 0.02]
    for _, cell in biased.iterrows():
        yield f"no bias at half the size: {cell.kind}, {cell.selector}, {cell.n} rows: {cell.half_error:+.3f}"
    noise = sets[sets.kind == "pure noise"].groupby("selector").said.mean()
    for selector, said in noise[noise > MAX_ON_NOISE].items():
        yield f"probabilities of features selected in noise: {selector}: {said:.2f}"
    for name, part in by_origin(sets).items():
        for place in range(int(10 * SAID_AT_MOST)):
            count = part[f"features {place}"].sum()
            misses = part[f"true {place}"] - part[f"said {place}"]
            miss = misses.sum() / count if count else 0.0
            error = np.sqrt(((misses - miss * part[f"features {place}"]) ** 2).sum()) / max(count, 1)
            if abs(miss) > CALIBRATED + 2 * error:
                yield f"calibrated probabilities, {name}: {miss:+.2f} from {place / 10:.1f} to {place / 10 + 0.1:.1f}"
