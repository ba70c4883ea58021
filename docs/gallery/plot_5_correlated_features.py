"""
Correlated features: unstable, or exchangeable?
===============================================

If three genes of a pathway carry the same information, a selector takes now one and now another. By name the
selection is unstable; what it stands for is not. A measure that counts stand-ins tells the two apart.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectFromModel

import holdfast as hf

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
trees = SelectFromModel(RandomForestClassifier(20, max_depth=4), threshold=-np.inf, max_features=6)
study = hf.Study({"forest": trees, "anova": hf.selectors.AnovaF(6)}, hf.Bootstrap(30))
result = study.run(X, y)
for name in result.candidates:
    by_name, with_stand_ins = result.stability(name, "unadjusted"), result.stability(name, "intersection_mean", X=X)
    print(f"{name}: {by_name.value:.2f} by name, {with_stand_ins.value:.2f} with stand-ins")

# %%
# The table names the stand-ins of each feature: those that were selected instead of it and are correlated with it.

result.features("forest", X=X).frame[["feature", "frequency", "stand_ins", "with_stand_ins"]].head(6)

# %%
chart = hf.plots.plot_selection_map(result, "forest", X=X)
