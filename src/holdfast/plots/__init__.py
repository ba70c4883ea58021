"""Plots of stability, each as a pair: ``*_data()`` returns tidy frames, ``plot_*()`` draws them as an Altair chart.

Titles state the finding in words. A notebook shows the chart, Altair can change it, and :func:`save` writes it to a
file. Drawing needs ``pip install 'holdfast[app]'``; the data functions do not. In each module ``plot_*()`` is
``draw_*(*_data())``: the drawing half takes the data from anywhere, as a report does from its summary.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
