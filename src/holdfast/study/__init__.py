"""Studies: selectors on resamples of a data set, scored on held-out rows, and stored.

Begin with ``study`` (:class:`Study`, what a user writes) and follow a call of ``run``: ``running`` finds the fits that
are missing, ``engines`` sends blocks of them to processes, ``work`` runs one block with ``families`` (selecting) and
``scoring``, ``store/`` writes it. What was stored is read by ``tables``, measured by ``stabilities``, written to files
by ``exports``; ``plan`` says what results depend on.
"""

from typing import Any

import lazy_loader

_find_name, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    """Import what is asked for; the result of a study, which imports this package, too."""
    if name == "StudyResult":
        from holdfast.result import StudyResult

        return StudyResult
    return _find_name(name)
