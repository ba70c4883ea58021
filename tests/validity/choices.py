"""How well the probabilities of choices are calibrated: the same study with many seeds, on several data sets.

``python tests/validity/choices.py [N_SEEDS] [NAME…]`` prints, for each rule, stated probabilities beside the frequency
with which other seeds choose, and how often alternatives hold the choice of another seed. Real data are read from
HOLDFAST_DATA.
"""

import sys
import warnings

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import holdfast as hf
from holdfast import datasets
from holdfast.selectors import MRMR, AnovaF, ReliefF

RULES = ("one-se", "not-worse", "accuracy", "knee")
BINS = (0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.001)
MICROARRAYS = ("alon", "gravier", "singh", "chiaretti")


def load(name):
    """A data set by name: features and target."""
    rng = np.random.default_rng(5)
    made = {
        "breast": lambda: load_breast_cancer(return_X_y=True),
        "wine": lambda: load_wine(return_X_y=True),
        "digits": lambda: tuple(part[:400] for part in load_digits(return_X_y=True)),
        "redundant": lambda: datasets.make_redundant(0.5, n_samples=120, n_features=100, n_relevant=8, random_state=1)[
            :2
        ],
        "blocks": lambda: datasets.make_block_correlated(n_samples=80, random_state=1)[:2],
        "noise": lambda: (rng.standard_normal((80, 200)), np.arange(80) % 2),
    }
    if name in made:
        return made[name]()
    found = datasets.load(name)
    return found.X, found.y


def run(name, X, y, seed):
    """The study of a data set with a seed."""
    wide = name in MICROARRAYS
    sizes = [5, 10, 20, 50] if wide else [2, 4, 6, 8]
    selectors = {"anova": AnovaF(), "relieff": ReliefF()} | ({} if wide else {"mrmr": MRMR()})
    study = hf.Study(
        selectors={family: hf.Candidates(selector, sizes=sizes) for family, selector in selectors.items()},
        perturbation=hf.Bootstrap(20), estimator=KNeighborsClassifier(3) if wide else GaussianNB(), random_state=seed,
    )  # fmt: skip
    return study.run(X, y)


def compare(choices, names):
    """Stated probabilities, frequencies among the other seeds, and how often alternatives hold another's choice."""
    place = np.array([names.index(choice.candidate) for choice in choices])
    own = np.eye(len(names))[place]
    others = (own.sum(axis=0) - own) / (len(choices) - 1)
    stated = np.array([choice.probabilities["probability"].reindex(names) for choice in choices])
    listed = np.array([choice.probabilities["alternative"].reindex(names) for choice in choices], dtype=bool)
    return stated.ravel(), others.ravel(), (others * listed).sum(axis=1).mean(), listed.sum(axis=1).mean()


def main(n_seeds, names):
    """Print the tables."""
    pooled = {rule: ([], []) for rule in RULES}
    for name in names:
        X, y = load(name)
        results = [run(name, X, y, seed) for seed in range(n_seeds)]
        for rule in RULES:
            choices = [result.choose(rule, n_draws=500) for result in results]
            stated, others, held, size = compare(choices, results[0].candidates)
            pooled[rule][0].append(stated)
            pooled[rule][1].append(others)
            print(f"{name}, {rule}: alternatives ({size:.1f}) hold another seed's choice in {100 * held:.0f} %")
    for rule, (stated, others) in pooled.items():
        table = pd.DataFrame({"stated": np.concatenate(stated), "others": np.concatenate(others)})
        print(rule, table.groupby(pd.cut(table["stated"], BINS, right=False), observed=True).mean().round(3), sep="\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    seeds, *given = sys.argv[1:] or ["50"]
    main(int(seeds), given or ["digits", "blocks", "noise", "gravier", "singh", "chiaretti"])
