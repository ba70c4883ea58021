"""What a new study would find: how many of the selected features it would select too, and how sure that is.

- ``running``: halves of the rows are fitted, with a control and cautions, and answers stored with the study
- ``result``: the answer in numbers and words, and how it is estimated from what halves selected
- ``sites``: a new study at as many other sites, and at the same sites
- ``lists``: a list of one's own, name by name and as a whole
- ``agreements``: the statistics behind it
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
