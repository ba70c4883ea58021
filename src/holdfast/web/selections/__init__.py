"""Selections that were uploaded: how files are read, measured and compared, and what they leave open."""
