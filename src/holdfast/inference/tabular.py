"""The common face of results: plain values for JSON, a frame, and a table in notebooks."""

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import pandas as pd


def nan_as_none(record: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the record with None in place of undefined numbers, which JSON does not have."""
    return {str(key): None if isinstance(item, float) and math.isnan(item) else item for key, item in record.items()}


class Tabular:
    """A result that can be written as plain values and shown as a table."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values, ready for JSON: undefined numbers are None."""

    @abstractmethod
    def to_frame(self) -> pd.DataFrame:
        """Return the result as a frame."""

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(index=False, border=0, float_format="{:.3f}".format, na_rep="–"))
