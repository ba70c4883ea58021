"""Accuracy and stability together: which candidates are best compromises, which one to choose, what to report.

``points`` turns a study into points with their uncertainty, the basis of ``fronts``, ``rules`` and ``choice``.
``nested`` scores a choice on new rows, ``search`` tries settings, ``profiles`` follow stability over sizes; ``final``
and ``selected`` answer for single features, ``changes`` tests advice. Begin with :func:`choose` in ``choice``.
"""

import lazy_loader

import holdfast.tradeoff.profiles  # noqa: F401  declares the rule "knot", which RULES has from the start

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
