"""Nogueira and Brown (2016): which measures of stability behave, and how stability helps to choose a penalty.

The paper asks for four properties of a measure of stability, finds that none of ten has them all, and proposes the
correlation of selections (sections 1 to 4). It then shows on simulated data that the penalty of a lasso can be chosen
by error and stability together, with fewer irrelevant features (section 5). Repeated are the worked examples and
theorems by exact arithmetic, the figures, and the lasso on 20 data sets at each redundancy, where the paper has one,
which is not published.

Readings: the error is minus the log-likelihood, summed over the rows that a bootstrap sample left out (a mean would be
far from the printed 0.30); λ is that of glmnet and lassoglm, per row, on standardized columns; neighboring λ have
bootstrap samples of their own, as all have in the paper. Of Table 1 those marks are judged that follow from the text
and the definitions, as the table is damaged in the text that we have. The frequencies of scenario 2 of Figure 3 are
drawn, not printed.

Thresholds were set before this run, but after an earlier one with shared bootstrap samples; what half and twice of each
would say stands next to it.
"""

from reproductions.nogueira2016 import measures, lasso  # noqa: I001  in the paper's order

__all__ = ["lasso", "measures"]
