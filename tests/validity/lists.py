"""How many features of a list a new study selects, for lists that the selector did not choose: said, true, covered.

``OMP_NUM_THREADS=1 python tests/validity/lists.py`` prints the table of docs/validity.md (five minutes). The
interval was chosen on the kinds that are not held out; the table has those that are.
"""

import numpy as np
import pandas as pd
from populations import POPULATIONS, D

import holdfast as hf
from holdfast.replication import expect_list
from replication import SELECTORS, select, truth

SELECTOR = "filter, best 15"
HELD_OUT = [name for name, population in POPULATIONS.items() if population.held_out and population.task != "numbers"]


def make_lists(population, n, X, y, selected, probability, seed):
    """Lists of every origin: name → columns."""
    rng = np.random.default_rng([seed, 5])
    rest = np.setdiff1d(np.arange(D), selected)
    made = {"mRMR": hf.selectors.MRMR(15), "L1 path": hf.selectors.ElasticNetPath(n_features=15)}
    rivals = {f"of a rival, {name}": np.flatnonzero(select(selector, X, y)) for name, selector in made.items()}
    earlier = population.draw(n, np.random.default_rng([seed, n, 41]))
    return {
        "the selection itself": selected,
        "a third of the selection": rng.choice(selected, max(selected.size // 3, 1), replace=False),
        "half selected, half random": np.r_[selected[:8], rng.choice(rest, 8, replace=False)],
        "20 random features": rng.choice(D, 20, replace=False),
        **rivals,
        "of an earlier study": np.flatnonzero(select(SELECTORS[SELECTOR](population.task), *earlier)),
        "the 20 features that new studies select most": np.argsort(-probability)[:20],
    }


def check_lists(kind, n, n_sets, n_pairs=50, n_studies=150):
    """One row per data set and list: what is said, and what is true."""
    population, rows = POPULATIONS[kind], []
    _, probability = truth(kind, SELECTOR, n, n_studies)
    for seed in range(n_sets):
        X, y = population.draw(n, np.random.default_rng([seed, n, 37]))
        found = hf.replicability(
            SELECTORS[SELECTOR](population.task), X, y, n_pairs=n_pairs, random_state=seed, n_shuffles=0
        )
        selected = np.sort(found.frame["column"].to_numpy())
        for name, columns in make_lists(population, n, X, y, selected, probability, seed).items():
            said, true = expect_list(found, columns), float(probability[columns].sum())
            rows.append({
                "kind": kind, "n": n, "list": name, "size": columns.size, "said": said.expected, "true": true,
                "error": abs(said.expected - true), "width": said.interval.high - said.interval.low,
                "covered": said.interval.low - 1e-9 <= true <= said.interval.high + 1e-9,
            })  # fmt: skip
    return pd.DataFrame(rows)


def make_table(checked):
    """Said against true, by the origin of the list."""
    rows = []
    for name, part in checked.groupby("list", sort=False):
        rows.append({
            "list": name, "features": f"{part['size'].mean():.0f}", "said": f"{part.said.mean():.1f}",
            "true": f"{part.true.mean():.1f}", "mean error": f"{part.error.mean():.1f}",
            "width": f"{part.width.mean():.1f}", "covered": f"{100 * part.covered.mean():.0f}",
            "least, by kind": f"{100 * part.groupby('kind').covered.mean().min():.0f}",
        })  # fmt: skip
    return pd.DataFrame(rows)


if __name__ == "__main__":
    checked = pd.concat([check_lists(kind, n, 8) for kind in HELD_OUT for n in (60, 100, 200)])
    table = make_table(checked)
    print("| " + " | ".join(table.columns) + " |")
    print("|---" * len(table.columns) + "|")
    for row in table.itertuples(index=False):
        print("| " + " | ".join(row) + " |")
