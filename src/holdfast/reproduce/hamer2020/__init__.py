"""Hamer and Dupont (2020): joint optimization of predictive performance and selection stability.

Table 1 and Figures 1 and 2 on five of the six microarrays; ``chin`` (118 × 22215) is not available to us, and
``chiaretti`` was rebuilt from another source. The figures have no printed numbers: what is checked are the claims of
the text, data set by data set.

Readings: the penalty is squared, so that λ = 1 / (2 C); a fifth of the features still in is dropped at a time, never
below k; columns are standardized in every split for the models, never for the criterion. Algorithm 1 has no
intercept: the verdicts on it come first, those with an intercept after. λ, λ_f, ε, N and λ_v are not printed: the
grids are ours. λ_v counts in units of the largest signal-to-noise ratio per largest variance.
"""

from holdfast.reproduce.hamer2020 import table1, figure1, figure2  # noqa: I001  in the paper's order

__all__ = ["figure1", "figure2", "table1"]
