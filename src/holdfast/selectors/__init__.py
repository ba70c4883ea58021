"""Selectors that fit many resamples quickly, as scikit-learn estimators.

``base`` has :class:`Selector`: ``rank(batch, shared)`` carries single fits, batches and studies. The others are named
after their method (``filters``, ``mrmr``, ``elastic_net``, ``elimination``, ``stability_selection``), or wrap another
selector (``wrapping``, ``prefiltered``); ``catalog`` has the selectors that can be named. Begin with :class:`AnovaF`
in ``filters``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
