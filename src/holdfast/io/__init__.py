"""Everything that comes in from outside, in one place.

==================================  ==============================================================================
what people have                    what becomes of it
==================================  ==============================================================================
a file with a table                 ``loading`` reads it as it is: text (``dialect``, ``delimited``, ``numerals``),
                                    ``excel``, ``h5ad``, ``r_files``; ``orientation`` and ``target_file`` put samples
                                    into rows and their target beside them; ``table`` makes features, target and
                                    groups of it, with a ``record`` of every change: :func:`read_table`
columns that are no features        ``suspects``: row numbers, identifiers, the target or a group in other words
selections made elsewhere           ``selections``: :func:`read_preferences`, and :func:`write_preferences` back
a file that nobody has looked at    ``inspection``, ``selections_inspection``: what it holds, what is likely meant
                                    (``guessing``) and what is to be decided (``questions``)
a fitted estimator of any make      ``estimators``: which features it selected, ranked or weighted
==================================  ==============================================================================

A table becomes the data of a study in :mod:`holdfast.study.data`; arrays are checked below, in :mod:`holdfast.checks`.
"""

from holdfast.io.guessing import TargetGuess
from holdfast.io.inspection import SelectionsInspection, TableInspection, inspect_selections, inspect_table
from holdfast.io.questions import Question, ReadingError
from holdfast.io.selections import read_preferences, write_preferences
from holdfast.io.table import Table, read_table

__all__ = [
    "Question", "ReadingError", "SelectionsInspection", "Table", "TableInspection", "TargetGuess", "inspect_selections",
    "inspect_table", "read_preferences", "read_table", "write_preferences",
]  # fmt: skip
