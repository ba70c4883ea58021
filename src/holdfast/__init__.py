"""holdfast measures how stable a feature selection is, and how certain that is.

Begin with :func:`stability` if you have the selections of several runs, or with :class:`Study` to let holdfast fit
selectors to resamples of a table; docs/architecture.md shows what each subpackage is for. The public names are listed
in ``__init__.pyi`` alone; each is imported when it is first used, since scikit-learn and pandas take a second to
import.
"""

import logging

import lazy_loader

__version__ = "0.2.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

logging.getLogger(__name__).addHandler(logging.NullHandler())  # silent unless the user wants to hear
