"""
How stable is SelectKBest?
==========================

:class:`~sklearn.feature_selection.SelectKBest` returns five features. Would it return them again, had the sample
been a little different? It is fitted on bootstrap samples of the data, and the agreement of its selections is
measured.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectKBest

import holdfast as hf

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
result = hf.Study({"k best": SelectKBest(k=5)}, hf.Bootstrap(50)).run(X, y)
result.stability("k best")

# %%
# 1 means the same five features every time, 0 agreement as by chance. Which features come back, and which change
# places?

result.features("k best").frame[["feature", "count", "frequency", "low", "high"]]

# %%
chart = hf.plots.plot_frequencies(result, "k best")
