"""What holdfast does, recorded: files with expectations, and the functions that make them again.

``test_guards.py`` compares. ``HOLDFAST_WRITE_GUARDS=1 pytest tests/project/test_guards.py`` writes the text files anew,
so an intended change is a diff to review. The two stores are never written by a test: they stand for the files that
users have (``python tests/guards/record_store.py`` made them).
"""
