"""What the page offers: one module per part, each with its routes, records and tasks."""

from holdfast.web.pages import explore, feature, features, home, studies, uploads
from holdfast.web.routing import Routes

ROUTES = Routes([*home.routes, *explore.routes, *features.routes, *feature.routes, *uploads.routes, *studies.routes])
"""All routes, in the order in which an address is matched."""

__all__ = ["ROUTES"]
