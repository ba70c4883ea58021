"""Cards: what a notebook shows of a result, as one piece of HTML that needs no script, no file and no network.

A result says what its card holds (``_card()`` returns a :class:`Card`), and :func:`write_card` makes HTML of it, in
which every rule of the style begins with the card, so that nothing else on the page changes.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
