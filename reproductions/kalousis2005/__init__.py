"""Kalousis, Prados and Hilario (2005): how stable feature selection is, of weights, ranks and subsets, in nested folds.

Of the paper's three data sets only the ovarian spectra (``ovarian_8_7_02``) are at hand; those of prostate cancer and
of stroke are not. So numbers are compared for ovarian alone, and five microarrays show whether what the paper says in
words holds on other data. The paper's own preprocessing is described in a report that we do not have: peaks are taken
by ``holdfast.datasets.spectrum_peaks`` with its usual settings, and are not the features of the paper. Table 1 (sizes
of the data) is lost in the text that we have, and so are the italics of Table 3 (errors that do not differ
significantly), but the spacing of that text still shows them.
"""

from reproductions.kalousis2005 import table2, figure1, ties, figure2, table3  # noqa: F401, I001  the paper's order
