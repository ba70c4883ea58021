"""holdfast tells which selected features hold fast: the stability of feature selection, measured.

The public names stand in ``__init__.pyi``; each is imported when it is first used, since scikit-learn and pandas take a
second to import.
"""

import logging

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

logging.getLogger(__name__).addHandler(logging.NullHandler())  # silent unless the user wants to hear
