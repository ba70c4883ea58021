"""Everything that comes in from outside, in one place.

==================================  ==============================================================================
what people have                    what becomes of it
==================================  ==============================================================================
a file with a table                 ``files`` reads it as it is, ``table`` makes features, target and groups of it:
                                    :func:`read_table`, with a note for every change
selections made elsewhere           ``selections``: :func:`read_preferences`, and :func:`write_preferences` back
a fitted estimator of any make      ``estimators``: which features it selected, ranked or weighted
==================================  ==============================================================================

A table becomes the data of a study in :mod:`holdfast.study.data`; arrays are checked below, in :mod:`holdfast.checks`.
"""

from holdfast.io.selections import read_preferences, write_preferences
from holdfast.io.table import Table, read_table

__all__ = ["Table", "read_preferences", "read_table", "write_preferences"]
