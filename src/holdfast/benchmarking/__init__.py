"""The same study on several data sets, and what can be concluded over all of them.

``running`` runs or resumes a study with one store for each data set; ``result`` has :class:`BenchmarkResult`, its
tests over data sets, tables and verdicts. The tests themselves are in :mod:`holdfast.inference.ranks`, the report in
:mod:`holdfast.report.benchmark`. Begin with :func:`holdfast.benchmark`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
