"""
Which of my list comes back?
============================

A list from a paper, from a colleague, or from last year's analysis: how often would these features be selected
here, and which of them would a new study of this size select?
"""

from sklearn.datasets import load_breast_cancer
from sklearn.neighbors import KNeighborsClassifier

import holdfast as hf

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
study = hf.Study(
    {"anova": hf.selectors.AnovaF(8)},
    hf.Bootstrap(50),
    estimator=KNeighborsClassifier(),
)
result = study.run(X, y)
mine = ["worst radius", "mean concave points", "mean texture", "mean perimeter"]
hf.check_features(mine, result, X=X, y=y)[
    ["frequency", "low", "high", "new_study", "verdict"]
]

# %%
# The probabilities come from disjoint halves of the rows, which share no row, as new studies would not.

found = hf.replicability(hf.selectors.AnovaF(8), X, y, n_pairs=50)
print(found.sentence)

# %%
chart = hf.plots.plot_replicability(found)
