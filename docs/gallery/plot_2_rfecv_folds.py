"""
Do the folds of RFECV agree?
============================

:class:`~sklearn.feature_selection.RFECV` chooses the number of features by cross-validation and then fits all rows
again. What the folds selected on the way is kept in ``cv_results_``, and usually nobody looks at it.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import RFECV
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import holdfast as hf

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = StandardScaler().set_output(transform="pandas").fit_transform(X)
rfecv = RFECV(LogisticRegression(), cv=10).fit(X, y)
folds = hf.study.from_rfecv(rfecv)
print(rfecv.n_features_, "features;", hf.stability(folds))

# %%
# Ten folds share most of their rows: their agreement says little about new data. Half of the rows, drawn again and
# again, is a harder test of the same selector, with the number of features that was chosen.

selector = make_pipeline(
    StandardScaler(),
    RFECV(LogisticRegression(), cv=5, min_features_to_select=5, step=5),
)
result = hf.Study({"rfecv": selector}, hf.Subsample(12, fraction=0.5)).run(X, y)
print(result.stability("rfecv"))

# %%
chart = hf.plots.plot_selection_map(result, "rfecv")
