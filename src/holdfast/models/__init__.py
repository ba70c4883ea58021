"""Models that predict from selected features, and scores of their predictions, by name.

``catalog`` has the models that can be named, ``scores`` the scores as functions of many cells, and ``recognized`` the
models of scikit-learn that are fitted many at a time, on the cells that ``block`` describes. Begin with :data:`MODELS`
and :data:`SCORES`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
