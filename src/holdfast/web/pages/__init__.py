"""What the page offers: one module per part, each with its routes, records and tasks."""

from holdfast.web.pages import extending, home, new, plans, studies, uploads
from holdfast.web.routing import Routes

ROUTES = Routes([*home.routes, *uploads.routes, *new.routes, *plans.routes, *extending.routes, *studies.routes])
"""All routes, in the order in which an address is matched."""

__all__ = ["ROUTES"]
