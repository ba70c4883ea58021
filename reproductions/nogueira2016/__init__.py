"""Nogueira and Brown (2016), Measuring the Stability of Feature Selection.

Not done again: Table 1, whose ticks are lost in the text of the paper that was at hand (the properties of measures are
in the later paper of the authors), and scenario 2 of Figure 3, whose frequencies are drawn but not printed. Of
figures, only what the text says of them can be compared. The paper's one data set per redundancy is not published; we
draw several, and allow for their spread.

The rule for a compromise and the thresholds of what counts as similar or rising for the lasso were set before the full
run, but after a look at the first of the 20 data sets of three redundancies.
"""

from reproductions.nogueira2016 import measures  # noqa: F401, I001  the order of the paper
from reproductions.nogueira2016 import lasso  # noqa: F401
