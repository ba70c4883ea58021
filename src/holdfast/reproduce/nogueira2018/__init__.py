"""Experiments."""

from holdfast.reproduce.nogueira2018 import lasso  # noqa: F401, I001  the order of the paper
from holdfast.reproduce.nogueira2018 import elastic_net  # noqa: F401
