"""Reports of studies and benchmarks: one typed summary, rendered as a self-contained page, as Markdown, or as JSON.

:func:`summarize` (``building``) fills the records of ``summary`` and ``records`` from a study; ``verdict``,
``causes``, ``method``, ``features`` and ``labels`` find the words. ``rendering`` and ``pictures`` show a summary and
compute nothing; ``templates/`` has a file for each section. Begin with ``verdict`` for a sentence, with ``rendering``
for the layout.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
