"""What the page offers: one module per part, each with its routes, records and tasks."""

from holdfast.web.pages import (
    beside,
    compare,
    explore,
    extending,
    feature,
    features,
    files,
    home,
    measure,
    new,
    plans,
    profile,
    studies,
    tradeoff,
    uploads,
)
from holdfast.web.routing import Routes

PARTS = (
    home, uploads, measure, compare, explore, new, plans, extending,
    studies, features, feature, files, tradeoff, beside, profile,
)  # fmt: skip
ROUTES = Routes(route for part in PARTS for route in part.routes)
"""All routes, in the order in which an address is matched."""

__all__ = ["ROUTES"]
