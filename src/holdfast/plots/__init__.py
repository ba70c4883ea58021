"""Plots of stability, each as a pair: ``*_data()`` returns tidy frames, ``plot_*()`` draws them as an Altair chart.

Titles state the finding in words. A notebook shows the chart, Altair can change it, and :func:`save` writes it to a
file. Drawing needs ``pip install 'holdfast[app]'``; the data functions do not. In each module ``plot_*()`` is
``draw_*(*_data())``: the drawing half takes the data from anywhere, as a report does from its summary.
"""

import importlib.util
from typing import Any

import lazy_loader

_find_name, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    """Import what is asked for: a name of ``__init__.pyi``, or a module of pictures."""
    module = f"{__name__}.{name}"
    is_module = name not in __all__ and importlib.util.find_spec(module) is not None
    return importlib.import_module(module) if is_module else _find_name(name)
