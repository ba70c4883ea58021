"""What the page offers: one module per part, each with its routes, records and tasks."""

from holdfast.web.pages import compare, home, measure, studies, uploads
from holdfast.web.routing import Routes

ROUTES = Routes([*home.routes, *uploads.routes, *measure.routes, *compare.routes, *studies.routes])
"""All routes, in the order in which an address is matched."""

__all__ = ["ROUTES"]
