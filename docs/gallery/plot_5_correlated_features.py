"""
Correlated features: unstable, or exchangeable?
===============================================

If three genes of a pathway carry the same information, a selector takes now one and now another. By name the
selection is unstable; what it stands for is not. A measure that counts stand-ins tells the two apart.
"""

from sklearn.datasets import load_breast_cancer

import holdfast as hf

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
selectors = {"mrmr": hf.selectors.MRMR(6), "anova": hf.selectors.AnovaF(6)}
result = hf.Study(selectors, hf.Bootstrap(30)).run(X, y)
for name in result.candidates:
    by_name = result.stability(name, "unadjusted")
    with_others = result.stability(name, "intersection_mean", X=X)
    print(
        f"{name}: {by_name.value:.2f} by name, {with_others.value:.2f} with stand-ins"
    )

# %%
# Of features that carry the same information, mRMR takes one only. The table names the stand-ins of each feature:
# those that were selected instead of it and are correlated with it.

result.features("mrmr", X=X).frame[
    ["feature", "frequency", "stand_ins", "with_stand_ins"]
].head(6)

# %%
chart = hf.plots.plot_selection_map(result, "mrmr", X=X)
