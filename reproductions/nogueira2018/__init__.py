"""Experiments of Nogueira, Sechidis and Brown (2018), one module for each part of the paper.

The selection probabilities behind Figures 3 to 5 are not printed, nor the second stability of Figure 5 (right), so that
its median of −3.8 cannot be compared. Figure 12 shows points without numbers: only its claims are checked.

The rule for a compromise and the thresholds of what counts as similar or rising for the lasso were set before the full
run, but after a look at the first of the 20 data sets of three redundancies.
"""

from reproductions.nogueira2018 import properties as properties  # noqa: I001
from reproductions.nogueira2018 import inference as inference
from reproductions.nogueira2018 import lasso as lasso
from reproductions.nogueira2018 import elastic_net as elastic_net
from reproductions.nogueira2018 import stability_selection as stability_selection
from reproductions.nogueira2018 import appendix as appendix
