"""Gulgezen, Cataltepe and Yu (2009): how relevance and redundancy in mRMR trade stability for accuracy.

The paper draws ten bootstrap samples of a data set, selects features on each and on parts of it, and measures how
similar the selections are, and how well 3 nearest neighbors predict the rows that were not drawn. It compares two
criteria of mRMR, the difference MID and the quotient MIQ, and weights α of relevance against redundancy in MID, which
are ranked at every number of features.

Not available are the authors' 50 audio features: the same five genres of music stand in with 57 other features
(``gtzan5_librosa``), of which the same results cannot be expected. Curves are in the paper as pictures alone, so that
ours stand next to them without numbers to compare; mean ranks are compared by their distance. Intervals are quantiles
over the ten bootstrap samples drawn again, or Student's over the ten.

Readings of what the paper leaves open: bins lie between minimum and maximum over all rows; the first feature is the
most relevant one whatever α is; equal criteria go to the lowest column; a feature that is constant in a sample may be
chosen, as the definition has it, and shares nothing, not even with itself; similarities for the matching are those on
the bootstrap sample; settings that tie share the best of their ranks, which gives the printed totals of ranks; the
3-nearest-neighbor classifier is trained on the rows of the part, with values as they are (nine other readings are
tried at the end).
"""

from reproductions.gulgezen2009 import criteria, table2, ranks, readings  # noqa: I001  the paper's order

__all__ = ["criteria", "ranks", "readings", "table2"]
