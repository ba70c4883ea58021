"""Measures of stability: the table :data:`MEASURES`, and the parts that measures consist of.

A measure is a formula (``formulas``, or ``redundancy`` where similar features stand in for each other), a form that
evaluates it for all runs (``forms``), and its facts (``measures.toml``, put together by ``catalog``). Begin with a
formula and the entry of the same name in ``catalog``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
