"""Data sets: real ones by name, and simulated ones whose truth is known.

``real`` loads the data sets of ``datasets.toml`` and verifies their checksums, ``synthetic`` makes tables with known
relevant features, ``selections`` simulates selections with a known stability, ``spectra`` turns spectra into peaks.
Begin with :func:`load` or :func:`make_redundant`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
