"""Data to select features from: a file as features, target and groups; every change is told in a note."""

from holdfast.data.table import Table, read_table

__all__ = ["Table", "read_table"]
