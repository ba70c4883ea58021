"""The pages: a module per subject, each with its routes, its records and what is computed for them.

Begin with ``studies``, the first page; the templates of the same names are in ``web/templates/``.
"""

from holdfast.web.pages import compare_candidates, explore, features, files, measure, new, profile, studies, tradeoff
from holdfast.web.routing import Routes

PARTS = (studies, files, measure, explore, new, features, tradeoff, compare_candidates, profile)
ROUTES = Routes(route for part in PARTS for route in part.routes)
"""All routes, in the order in which an address is matched."""

__all__ = ["ROUTES"]
