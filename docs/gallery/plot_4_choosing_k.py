"""
How many features?
==================

A filter ranks the features; where to cut is up to you. Along the ranking, accuracy rises and then stays, and at
some size the features that enter do so almost at random.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.neighbors import KNeighborsClassifier

import holdfast as hf

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
sizes = [1, 2, 3, 5, 7, 10, 14]
study = hf.Study(
    {"anova": hf.Candidates(hf.selectors.AnovaF(), sizes=sizes)},
    hf.Bootstrap(50),
    estimator=KNeighborsClassifier(5),
)
result = study.run(X, y)
print(result.choose("one-se").reason)

# %%
chart = hf.plots.plot_profile(result.profile("anova"))
