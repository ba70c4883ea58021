"""Statistical inference: how certain a stability is, and whether two differ.

Begin with ``estimate`` (:func:`stability` and what it returns), whose intervals come from the sampling distributions
of ``intervals``. ``comparison`` tests differences, ``designs`` combines resamples that belong together (pairs, nested
folds), ``planning`` computes the number of runs, ``features`` has frequencies of single features, ``agreements``
compares two sets of runs one by one, and ``ranks`` compares candidates over several data sets.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
