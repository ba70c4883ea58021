"""
Which selector, over many data sets?
====================================

One data set says which selector was more stable there. Over several, ranks and tests say whether that is a rule.
"""

from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.neighbors import KNeighborsClassifier

import holdfast as hf

loaders = {
    "breast cancer": load_breast_cancer,
    "wine": load_wine,
    "iris": load_iris,
    "digits": load_digits,
}
data = {name: load(return_X_y=True, as_frame=True) for name, load in loaders.items()}
data |= {
    f"simulated {seed}": hf.datasets.make_block_correlated(120, 30, random_state=seed)[
        :2
    ]
    for seed in range(4)
}
study = hf.Study(
    {
        "anova": hf.selectors.AnovaF(3),
        "relief": hf.selectors.ReliefF(3),
        "mrmr": hf.selectors.MRMR(3),
    },
    hf.Bootstrap(10),
    estimator=KNeighborsClassifier(5),
)
result = hf.benchmark(data, study)
result.stabilities.round(2)

# %%
print(result.verdict("stability"))

# %%
chart = result.plot()
