"""Write the data and the references that ``hybrid_rfe_gpu.py`` reads, from Parquet files of the microarrays.

``python -m benchmarks.hybrid_rfe_inputs PARQUET_FOLDER OUT_FOLDER [--references 1000]``; on the machine without an
accelerator, where the whole package is installed.
"""

import argparse
import json
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.hybrid_rfe_gpu import SPEED, Data, best_features, bootstraps, load
from benchmarks.rfe import ridge_elimination

FEATURES = {"alon": 2000, "borovecki": 1000, "singh": 1250, "gravier": 2905, "chiaretti": 5000}
"""How many features of most variance are kept: Table 1 of Hamer and Dupont (2020)."""
TIMED = "alon", "gravier", "chiaretti"


def write_data(source: Path, out: Path, n_resamples: int) -> None:
    frame = pd.read_parquet(source)
    X, labels = frame.drop(columns="target").to_numpy(np.float64), frame["target"].to_numpy()
    y = np.where(labels == np.unique(labels)[-1], 1.0, -1.0)
    kept = np.sort(np.argsort(-X.var(axis=0, ddof=1), kind="stable")[: FEATURES[source.stem]])
    X, counts = X[:, kept], bootstraps(y, n_resamples)
    arrays: dict[str, Any] = {"X": X, "y": y, "counts": counts.astype(np.int16), "columns": kept}
    arrays |= {f"best_{name}": columns.astype(np.int32) for name, columns in best_features(X, y, counts).items()}
    np.savez_compressed(out, **arrays)


def write_reference(data: Data, out: Path) -> None:
    """Select with the compiled form, on every setting that is timed."""
    forced = data.forced(SPEED)
    selected = [
        ridge_elimination(
            data.X, data.y, data.counts, sizes=data.sizes, C=setting.C, forced=forced[g], shrinkage=setting.shrinkage
        ).selected
        for g, setting in enumerate(SPEED)
    ]
    np.savez_compressed(out, settings=json.dumps(SPEED), selected=np.array(selected, dtype=np.int32))


def main() -> None:
    parser = argparse.ArgumentParser(description="Write data and references for hybrid_rfe_gpu.py.")
    parser.add_argument("source", type=Path, help="folder of Parquet files")
    parser.add_argument("out", type=Path, help="folder to write to")
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--references", type=int, default=1000, help="resamples of the references; 0 for none")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    for name in FEATURES:
        write_data(chosen.source / f"{name}.parquet", chosen.out / f"{name}.npz", chosen.resamples)
        print(f"{name}.npz", flush=True)
    for name in TIMED if chosen.references else ():
        start = perf_counter()
        write_reference(load(chosen.out / f"{name}.npz", chosen.references), chosen.out / f"{name}_reference.npz")
        seconds = (perf_counter() - start) / len(SPEED) / chosen.references
        print(f"{name}_reference.npz, {1000 * seconds:.1f} ms per path", flush=True)


if __name__ == "__main__":
    main()
