"""Gulgezen, Cataltepe and Yu (2009): how relevance and redundancy in mRMR trade stability for accuracy.

Not available are the authors' 50 audio features: the same five genres of music stand in with 57 other features
(``gtzan5_librosa``), of which the same results cannot be expected. Curves are in the paper as pictures alone, so that
ours stand beside them without numbers to compare; the tables of mean ranks are compared row by row.

Readings of what the paper leaves open: bins lie between minimum and maximum over all rows; the first feature is the
most relevant one whatever alpha is; equal criteria go to the lowest column; a feature that is constant in a sample may
be chosen, as the definition has it, and shares nothing, not even with itself; similarities for the matching are those
on the bootstrap sample; settings that tie share the best of their ranks; the 3-nearest-neighbor classifier is trained
on the rows of the subsample, with values as they are (the paper speaks of bins for selection and stability only), and
scored on rows that the bootstrap did not draw.
"""

from reproductions.gulgezen2009 import criteria, ranks

__all__ = ["criteria", "ranks"]
