"""Reading what comes from outside: tables, selections, fitted estimators.

==================================  ==============================================================================
what people have                    what becomes of it
==================================  ==============================================================================
a file with a table                 ``loading`` reads it as it is: text (``dialect``, ``delimited``), ``excel``,
                                    ``h5ad``, ``r_files``; ``table`` makes features, target and groups of it, as
                                    ``options`` say, with a ``record`` of every change: :func:`read_table`
columns that are no features        ``doubts``: row numbers, identifiers, the target or a group in other words
selections made elsewhere           ``selections``: :func:`read_preferences`, and :func:`write_preferences` back
a file that nobody has looked at    ``inspection``: what it holds, what is likely meant (``guessing``) and what is to
                                    be decided (``questions``)
a fitted estimator of any make      ``estimators``: which features it selected, ranked or weighted
==================================  ==============================================================================

A table becomes the data of a study in :mod:`holdfast.study.data`; arrays are checked below, in :mod:`holdfast.checks`.
The public names stand in ``__init__.pyi``; each is imported when it is first used: the command line reads ``options``
for its help, which cannot wait for pandas.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
