"""Set-up shared by all tests."""

import os

from hypothesis import settings

# The same examples every time, so that a change is judged by itself; HYPOTHESIS_PROFILE=search looks for new ones.
settings.register_profile("default", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
