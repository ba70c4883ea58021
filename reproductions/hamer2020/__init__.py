"""Hamer and Dupont (2020): joint optimization of predictive performance and selection stability.

The paper forces the features that vary most, or have the best signal-to-noise ratio, into a recursive feature
elimination (RFE), so that accuracy and stability can be traded against each other, and shows this as Pareto curves on
six microarrays. Repeated are Table 1 and Figures 1 and 2 on five of them; ``chin`` (118 × 22215) is not available to
us, and ``chiaretti`` was rebuilt from another source. The figures have no printed numbers, so that the claims of the
text are judged, data set by data set.

Readings: the penalty is squared, so that λ = 1 / (2 C); a fifth of the features still in is dropped at a time, never
below k; models have no intercept, as in Algorithm 1, and see standardized columns, on which the paper is silent (the
criterion never does). Two other readings are shown next to it, beyond the paper: with an intercept, and without
standardization, as Algorithm 1 is printed. λ_v counts in units of the largest signal-to-noise ratio per largest
variance.

Beyond the paper: how much of the gain is of features that models use, which the authors asked in their next paper
(JMLR 22, 2021).

λ, λ_f, ε, N and λ_v are not printed: the grids are ours. λ and λ_f were chosen after 60 resamples of the classic RFE,
λ_v after 20 resamples of the criteria alone, on all five data sets. An earlier run had no N below 4, and fewer λ for
the hybrids than for the classic RFE; now both have the same λ, and N = 1, 2, 3. ε was 0.1 at first; 0.3 and 0.6 were
added when 0.1 had turned out worse than none on alon.
"""

from reproductions.hamer2020 import table1, figure1, figure2, used  # noqa: I001  in the paper's order

__all__ = ["figure1", "figure2", "table1", "used"]
