"""Stability on resamples beside what another study of the same population selects, on real data.

``OMP_NUM_THREADS=1 python tests/validity/new_studies.py --write`` draws two studies that share no row from large data
sets, again and again, asks the first one how far the second will agree, and writes docs/tables/new_studies.md (20
minutes on one core; without --write it prints the tables). What was computed is kept in build/new_studies;
--fresh computes it anew. --quick is a look at two data sets. Real data are read from HOLDFAST_DATA.
"""

import argparse
import itertools
import os
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.model_selection import train_test_split

import holdfast as hf

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "docs" / "tables" / "new_studies.md"
HEADER = "<!-- Written by `OMP_NUM_THREADS=1 python tests/validity/new_studies.py --write`; do not edit. -->"
CLEAR = 0.05
"""Difference of two selectors' agreements in new studies from which their order counts."""
BINS = (0, 0.2, 0.4, 0.6, 0.8, 1.0)
SELECTORS = {
    "F test": lambda size: hf.selectors.AnovaF(size),
    "mRMR": lambda size: hf.selectors.MRMR(size),
    "lasso": lambda size: hf.selectors.ElasticNetPath(n_features=size),
    "hybrid RFE": lambda size: hf.selectors.HybridRFE(size),
    "forest": lambda size: hf.Candidates(RandomForestClassifier(50), sizes=[size]),
}
FOR_NUMBERS = {
    "F test": lambda size: SelectKBest(f_regression, k=size),
    "lasso": SELECTORS["lasso"],
    "forest": lambda size: hf.Candidates(RandomForestRegressor(50), sizes=[size]),
}
ESTIMATES = {
    "folds": ("ten folds", "truth"),
    "bootstrap": ("bootstrap", "truth"),
    "half": ("halves, of studies of half the size", "truth_half"),
    "full": ("extrapolated from halves", "truth"),
}
"""Columns that may be read as agreement with a new study: their names in tables, and what they are compared with."""


@dataclass(frozen=True)
class Source:
    """A large data set, of which each study gets ``n_rows`` rows."""

    name: str
    n_rows: int = 100
    size: int = 10
    selectors: tuple[str, ...] = ("F test", "mRMR", "lasso")


SOURCES = (
    Source("spambase", selectors=("F test", "mRMR", "lasso", "hybrid RFE", "forest")),
    Source("madelon", selectors=("F test", "mRMR", "lasso", "hybrid RFE")),
    Source("mfeat", n_rows=200),
    Source("optdigits_train", n_rows=200),
    Source("gtzan5_librosa"),
    Source("ovarian_8_7_02", selectors=("F test", "mRMR", "lasso", "hybrid RFE")),
    Source("boston", size=5, selectors=("F test", "lasso", "forest")),
)  # musk1 and parkinsons have several rows of one molecule or subject, and the files do not say which
FITTED_ON = ("madelon", "gtzan5_librosa", "ovarian_8_7_02")
"""Among the data to which the constants of replicability were fitted."""
QUICK = (Source("spambase"), Source("boston", size=5, selectors=("F test", "lasso")))
MICROARRAYS = ("alon", "borovecki", "singh", "gravier", "chiaretti")
LISTS = (("F test", 10), ("mRMR", 10), ("lasso", 10), ("hybrid RFE", 10), ("F test", 50))


# Data and selections


def load_rows(name):
    """A data set in which no two rows are equal: features, target."""
    X, y = hf.datasets.load(name)
    different = ~pd.DataFrame(X).duplicated().to_numpy()
    return np.asarray(X, dtype=float)[different], np.asarray(y)[different]


def make_selectors(y, names, size):
    known = FOR_NUMBERS if np.issubdtype(y.dtype, np.floating) else SELECTORS
    return {name: known[name](size) for name in names}


def draw_studies(y, n_rows, pairs, seed):
    """Rows of pairs of studies that share none; classes as in the source."""
    strata = None if np.issubdtype(y.dtype, np.floating) else y
    sizes = {"train_size": n_rows, "test_size": n_rows, "stratify": strata}
    return [train_test_split(np.arange(len(y)), random_state=seed + place, **sizes) for place in range(pairs)]


def select_on(X, y, selectors, samples, seed=0):
    """What each selector selects on each sample of rows: samples × features."""
    splits = hf.resampling.GivenSplits([(np.sort(rows), np.array([], dtype=int)) for rows in samples])
    result = hf.Study(selectors=selectors, perturbation=splits, random_state=seed).run(X, y, on_error="raise")
    return {
        name: result.preferences(candidate).to_sparse().toarray().astype(bool)
        for name, candidate in zip(selectors, result.candidates, strict=True)
    }


def agreement(first, second):
    return float(np.corrcoef(first, second)[0, 1])


def mean_agreement(selections):
    """Over pairs of studies: 1a, 1b, 2a, 2b, …"""
    return float(np.mean([agreement(*pair) for pair in zip(selections[::2], selections[1::2], strict=True)]))


# Two studies of one population


def ask_study(X, y, selectors, seed, n_pairs=50, n_resamples=50):
    """What one study says of its own selections: name of the selector → stabilities, replicability, frequencies."""
    folds, drawn, halved = (
        hf.Study(selectors=selectors, perturbation=perturbation, random_state=seed).run(X, y, on_error="raise")
        for perturbation in (
            hf.resampling.Folds(10), hf.resampling.Bootstrap(n_resamples), hf.resampling.SplitHalves(n_pairs)
        )
    )  # fmt: skip
    return {
        name: (
            folds.stability(candidate),
            drawn.stability(candidate),
            halved.replicability(candidate, X=X),
            drawn.preferences(candidate).frequency,
        )
        for name, candidate in zip(selectors, halved.candidates, strict=True)
    }


def compare_studies(X, y, selectors, n_rows, repeats, seed=0, **options):
    """Each study's claims beside what the other one selected: a frame of studies, and one of their features."""
    pairs = draw_studies(y, n_rows, repeats, seed)
    others = select_on(X, y, selectors, [other for _, other in pairs], seed=seed + 1)
    studies, features = [], []
    for repeat, (mine, _) in enumerate(pairs):
        for name, (folds, drawn, found, frequency) in ask_study(X[mine], y[mine], selectors, repeat, **options).items():
            columns, other = found.frame["column"].to_numpy(), others[name][repeat]
            selected = np.isin(np.arange(X.shape[1]), columns)
            came_back = other[columns]
            studies.append(
                {
                    "selector": name, "repeat": repeat, "folds": folds.value, "bootstrap": drawn.value,
                    **_ends("folds", folds.ci()), **_ends("bootstrap", drawn.ci()),
                    "half": found.half_agreement, **_ends("half", found.half_interval),
                    "full": found.agreement, **_ends("full", found.interval), "size": found.n_selected,
                    "expected": found.expected, "came_back": came_back.sum(), "actual": agreement(selected, other),
                }
            )  # fmt: skip
            features.append(
                found.frame[["column", "probability", "frequency"]].assign(
                    selector=name, repeat=repeat, bootstrap=frequency[columns], came_back=came_back.astype(int)
                )
            )
    return pd.DataFrame(studies), pd.concat(features, ignore_index=True)


def _ends(name, interval):
    return {f"{name}_low": interval.low, f"{name}_high": interval.high}


def known_agreements(X, y, selectors, n_rows, pairs, seed=0):
    """Mean agreement of many pairs of studies: of this size, of half of it, and of this size with a shuffled target."""
    sizes = {"truth": n_rows, "truth_half": n_rows // 2}
    found = {
        what: select_on(X, y, selectors, itertools.chain(*draw_studies(y, size, pairs, seed)))
        for what, size in sizes.items()
    }
    found["shuffled"] = select_on_shuffled(X, y, selectors, n_rows, pairs, seed)
    rows = [
        {"selector": name, **{what: mean_agreement(selections[name]) for what, selections in found.items()}}
        for name in selectors
    ]
    return pd.DataFrame(rows)


def select_on_shuffled(X, y, selectors, n_rows, pairs, seed, pairs_per_shuffle=5):
    """As :func:`select_on`, for pairs of studies with a target that has nothing to do with the features."""
    parts = []
    for place in range(0, pairs, pairs_per_shuffle):
        shuffled = np.random.default_rng(seed + place).permutation(y)
        studies = draw_studies(shuffled, n_rows, pairs_per_shuffle, seed + place)
        parts.append(select_on(X, shuffled, selectors, itertools.chain(*studies), seed=seed + place))
    return {name: np.vstack([part[name] for part in parts]) for name in selectors}


def compare_source(source, repeats, pairs):
    """Frames of studies, features and known agreements of one source."""
    X, y = load_rows(source.name)
    selectors = make_selectors(y, source.selectors, source.size)
    studies, features = compare_studies(X, y, selectors, source.n_rows, repeats)
    known = known_agreements(X, y, selectors, source.n_rows, pairs)
    about = {"data": source.name, "rows": len(X), "features": X.shape[1], "n": source.n_rows}
    return studies.merge(known, on="selector").assign(**about), features.assign(data=source.name)


def ask_microarray(name, lists=LISTS, n_pairs=100):
    """What a microarray study says of its own selections; there is no other study."""
    X, y = load_rows(name)
    rows = []
    for kind, size in lists:
        asked = ask_study(X, y, make_selectors(y, [kind], size), 0, n_pairs=n_pairs, n_resamples=100)
        folds, drawn, found, _ = asked[kind]
        rows.append(
            {
                "data": name, "rows": len(X), "features": X.shape[1], "selector": kind, "size": size,
                "folds": folds.value, "bootstrap": drawn.value, "half": found.half_agreement,
                **_ends("half", found.half_interval), "full": found.agreement, **_ends("full", found.interval),
                "expected": found.expected, **_ends("expected", found.expected_interval),
                "shown": found.beyond_chance, "cautions": _shorten(found.cautions),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def _shorten(cautions):
    words = {"A half has": "few rows", "near-copies": "near-copies", "More than half": "long list"}
    return ", ".join(short for long, short in words.items() if any(long in caution for caution in cautions))


# Tables


def show(value):
    """Two decimals, and no minus before a zero."""
    return f"{round(value, 2) + 0.0:.2f}"


def show_interval(row, name):
    low, high = getattr(row, f"{name}_low"), getattr(row, f"{name}_high")
    return f"{show(getattr(row, name))} ({show(low)} to {show(high)})"


def claims_table(studies):
    """Stabilities, the estimate for new studies and what new studies did: one row per data set and selector."""
    means = studies.groupby(["data", "selector"], sort=False).mean(numeric_only=True).reset_index()
    rows = list(means.itertuples())
    return pd.DataFrame(
        {
            "data": [f"{row.data}, {row.n:.0f} of {row.rows:,.0f} rows" for row in rows],
            "selector": means["selector"],
            "ten folds": means["folds"].map(show),
            "bootstrap": means["bootstrap"].map(show),
            "halves → studies of half the size": [f"{show(row.half)} → {show(row.truth_half)}" for row in rows],
            "extrapolated": [show_interval(row, "full") for row in rows],
            "**new studies**": [f"**{show(row.truth)}**" for row in rows],
            "features expected → selected": [
                f"{row.expected:.1f} → {row.came_back:.1f} of {row.size:.0f}" for row in rows
            ],
            "target shuffled": means["shuffled"].map(show),
        }
    )


def errors(studies):
    """How far each estimate is from what new studies do: error, RMSE, coverage, order of selectors."""
    rows = []
    for name, (label, known) in ESTIMATES.items():
        difference, truth = studies[name] - studies[known], studies[known]
        inside = (studies[f"{name}_low"] <= truth) & (truth <= studies[f"{name}_high"])
        single, average, clear = ordered_rightly(studies, name, known)
        rows.append(
            {
                "estimate": label, "error": difference.mean(), "rmse": float(np.sqrt((difference**2).mean())),
                "covered": inside.mean(), "least": inside.groupby([studies["data"], studies["selector"]]).mean().min(),
                "right_in_one": single, "right_on_average": average, "clear_pairs": clear,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def ordered_rightly(studies, estimate, known="truth"):
    """Share of single studies that order two selectors as new studies do; number of pairs that averages do; of all."""
    single, average = [], []
    for _, part in studies.groupby("data", sort=False):
        table = part.pivot_table(index="repeat", columns="selector", values=estimate)
        truth = part.groupby("selector")[known].first()
        for one, other in itertools.combinations(table.columns, 2):
            difference = truth[one] - truth[other]
            if abs(difference) >= CLEAR:
                said = (table[one] - table[other]) * np.sign(difference)
                single.append(((said > 0) + (said == 0) / 2).mean())
                average.append(said.mean() > 0)
    return float(np.mean(single)) if single else np.nan, int(np.sum(average)), len(average)


def errors_table(found):
    return pd.DataFrame(
        {
            "read as agreement of new studies": found["estimate"],
            "mean error": found["error"].map("{:+.2f}".format),
            "RMSE": found["rmse"].map(show),
            "95 % interval covers": (100 * found["covered"]).map("{:.1f} %".format),
            "in the worst row": (100 * found["least"]).map("{:.0f} %".format),
            "right order of two selectors": (100 * found["right_in_one"]).map("{:.0f} %".format),
            "of their means": [f"{row.right_on_average} of {row.clear_pairs}" for row in found.itertuples()],
        }
    )


def calibration(features):
    """Stated probabilities of selected features beside how often the other study selected them."""
    bins = pd.cut(features["probability"], BINS, include_lowest=True)
    grouped = features.groupby(bins, observed=True)
    columns = ["bootstrap", "frequency", "probability", "came_back"]
    table = grouped[columns].mean().assign(number=grouped.size())
    table.index = [f"{max(place.left, 0):.1f} to {place.right:.1f}" for place in table.index]
    return pd.concat([table, features[columns].mean().to_frame("all").T.assign(number=len(features))])


def calibration_table(table):
    shown = {
        "bootstrap": "bootstrap frequency",
        "frequency": "frequency in halves",
        "probability": "stated probability",
        "came_back": "**selected by the other study**",
    }
    columns = {long: table[short].map(show) for short, long in shown.items()}
    return pd.DataFrame(
        {"stated probability is": table.index, "features": table["number"].map("{:,.0f}".format), **columns}
    )


def microarray_table(found):
    rows = list(found.itertuples())
    return pd.DataFrame(
        {
            "data": [f"{row.data}, {row.rows} × {row.features:,}" for row in rows],
            "selector": [f"{row.selector}, {row.size} features" for row in rows],
            "ten folds": found["folds"].map(show),
            "bootstrap": found["bootstrap"].map(show),
            "halves": [show_interval(row, "half") for row in rows],
            "extrapolated": [show_interval(row, "full") for row in rows],
            "of your features": [show_list(row) for row in rows],
            "cautions": found["cautions"].fillna(""),
        }
    )


def show_list(row):
    span = f"{row.expected_low:.0f} to {row.expected_high:.0f}"
    return f"{row.expected:.0f} of {row.size} ({span})" if row.shown else f"not shown ({span} of {row.size})"


def write_markdown(frame):
    cells = [list(frame.columns), ["---"] * frame.shape[1], *frame.astype(str).to_numpy().tolist()]
    return "\n".join("| " + " | ".join(row) + " |" for row in cells)


def make_page(studies, features, arrays, repeats):
    """The tables that docs/replicability.md includes one by one, each after a line with its name."""
    others = studies[~studies["data"].isin(FITTED_ON)]
    captions = {
        "claims": (f"Means over {repeats} studies of each data set and selector:", claims_table(studies)),
        "errors": (f"Over all {len(studies)} selections:", errors_table(errors(studies))),
        "held-out": (
            f"Over the {len(others)} of them on {', '.join(others['data'].unique())}:",
            errors_table(errors(others)),
        ),
        "calibration": ("Selected features, by stated probability:", calibration_table(calibration(features))),
        "microarrays": ("The microarrays, of which there is one study each:", microarray_table(arrays)),
    }
    parts = [f"<!-- {name} -->\n\n{words}\n\n{write_markdown(frame)}" for name, (words, frame) in captions.items()]
    return "\n\n".join([HEADER, *parts, "<!-- end -->"]) + "\n"


# Running


def stored(folder, name, compute):
    """Frames that were computed before, or are computed now."""
    if not any(folder.glob(f"{name}.*.csv")):
        folder.mkdir(parents=True, exist_ok=True)
        for place, frame in enumerate(compute()):
            frame.to_csv(folder / f"{name}.{place}.csv", index=False)
        print(f"{name}: done", flush=True)
    return [pd.read_csv(file) for file in sorted(folder.glob(f"{name}.*.csv"))]


def collect(folder, quick=False):
    """Frames of studies, features and microarrays, computed or read from the folder; the number of repeats."""
    repeats, pairs = (4, 20) if quick else (20, 100)
    sources, names = (QUICK, MICROARRAYS[:1]) if quick else (SOURCES, MICROARRAYS)
    found = [stored(folder, source.name, lambda s=source: compare_source(s, repeats, pairs)) for source in sources]
    studies, features = (pd.concat(frames, ignore_index=True) for frames in zip(*found, strict=True))
    arrays = pd.concat([stored(folder, name, lambda n=name: [ask_microarray(n)])[0] for name in names])
    return studies, features, arrays, repeats


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="two data sets and one microarray, a few repeats")
    options.add_argument("--write", action="store_true", help=f"write {TABLE.relative_to(ROOT)} (not with --quick)")
    options.add_argument("--fresh", action="store_true", help="compute again what is in build/ already")
    options = options.parse_args()
    if "HOLDFAST_DATA" not in os.environ:
        print("Skipped: the real data are needed, and HOLDFAST_DATA does not name their folder.")
        return
    folder = ROOT / "build" / ("new_studies_quick" if options.quick else "new_studies")
    for file in folder.glob("*.csv") if options.fresh else ():
        file.unlink()
    warnings.simplefilter("ignore")
    page = make_page(*collect(folder, options.quick))
    print(page)
    if options.write and not options.quick:
        TABLE.parent.mkdir(exist_ok=True)
        TABLE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
