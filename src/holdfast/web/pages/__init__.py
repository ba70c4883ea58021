"""What the page offers: one module per part, each with its routes, records and tasks."""

from holdfast.web.pages import beside, home, profile, studies, tradeoff, uploads
from holdfast.web.routing import Routes

ROUTES = Routes([*home.routes, *uploads.routes, *studies.routes, *tradeoff.routes, *beside.routes, *profile.routes])
"""All routes, in the order in which an address is matched."""

__all__ = ["ROUTES"]
