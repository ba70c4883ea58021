"""
Importances against chance
==========================

Importances of features, by permutation, by SHAP, or of a forest, differ from fit to fit. Are the five largest the
same, and more so than if the target meant nothing? :meth:`holdfast.Preferences.from_weights` takes the values of
any explainer.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.inspection import permutation_importance

import holdfast as hf

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
rng = np.random.default_rng(0)


def importances(target):
    """The permutation importances on the rows that a bootstrap sample left out."""
    rows = []
    for run in range(10):
        train = rng.integers(0, len(target), len(target))
        test = np.setdiff1d(np.arange(len(target)), train)
        forest = RandomForestClassifier(20, max_depth=6, random_state=run).fit(
            X.iloc[train], target[train]
        )
        explained = permutation_importance(
            forest, X.iloc[test], target[test], n_repeats=2, random_state=run
        )
        rows.append(np.clip(explained.importances_mean, 0, None))
    return hf.Preferences.from_weights(rows, features=X.columns)


real, shuffled = importances(y.to_numpy()), importances(rng.permutation(y))

# %%
# Three measures of the same weights: all values, their order, and the five best. The baseline is the same procedure
# on a shuffled target.

compared = {"target": real, "shuffled target": shuffled}
best = {
    name: hf.stability(runs.top(5, ties="random")) for name, runs in compared.items()
}
for name, runs in compared.items():
    values = hf.stability(runs, "weight_correlation").value
    ranks = hf.stability(runs.to_ranking(), "spearman").value
    five = best[name].value
    print(f"{name:16} values {values:.2f}, ranks {ranks:.2f}, five best {five:.2f}")

# %%
chart = hf.plots.plot_forest(best)
