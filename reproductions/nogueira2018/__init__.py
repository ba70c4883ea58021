"""Nogueira, Sechidis and Brown (2018): a measure of stability with intervals and tests, and what it is good for.

The paper asks for five properties of a measure of stability, shows which of 15 measures has which, and proposes one
that is meant to have them all, with confidence intervals and tests (sections 3 to 5). It then uses them to choose the
penalty of a lasso and an elastic net, and to ask how stable Stability Selection is (section 6). Repeated are all its
tables and figures with results: properties by enumeration of small collections, intervals and tests by simulation, the
lasso and the elastic net on 20 data sets at each redundancy, where the paper has one, which is not published, and
Stability Selection on the four data sets of the paper.

Readings: λ is that of glmnet, per row, on standardized columns, with an intercept. The elastic net's λ = 0.05 with
stability 0.34 is read as λ = 0.16, as the caption of Figure 11 has it (0.05 is α). The selection probabilities behind
Figures 3 to 5 are not printed, nor the second stability of Figure 5. The points of Figures 6 to 8, 10 and 12 are drawn,
not printed, so that what the text says of them is judged.

Thresholds were set before this run, but after an earlier one with shared bootstrap samples; what half and twice of each
would say stands next to it.
"""

from reproductions.nogueira2018 import properties, inference, lasso, elastic_net, stability_selection, appendix  # noqa: I001

__all__ = ["appendix", "elastic_net", "inference", "lasso", "properties", "stability_selection"]
