"""Summaries as JSON that names its form: written, checked when read, and described by a schema."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from holdfast.result_base import ResultMixin
from holdfast.serialization import from_plain, json_schema


class VersionedSummary(ResultMixin):
    """A summary whose JSON names its form and version; a subclass gives both, and a title for the schema."""

    schema: ClassVar[str]
    schema_title: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON: undefined numbers are None, and ``schema`` names the form.

        Returns
        -------
        dict
            What :meth:`from_dict` reads and :meth:`json_schema` describes.
        """
        return {"schema": self.schema, **super().to_dict()}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Return the summary that :meth:`to_dict` wrote, with every value checked.

        Parameters
        ----------
        record : dict
            What :meth:`to_dict` returned, or a JSON reader read.

        Returns
        -------
        Summary
            The same summary.

        Raises
        ------
        ValueError
            If it has another schema, or a value of the wrong type; the message names its place.
        """
        fields = dict(record)
        schema = fields.pop("schema", None)
        if schema != cls.schema:
            raise ValueError(f"Expected a summary with the schema {cls.schema!r}, got {schema!r}.")
        return from_plain(cls, fields)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of :meth:`to_dict`, with a description of every field.

        Returns
        -------
        dict
            A JSON Schema, draft 2020-12.
        """
        return json_schema(cls, title=cls.schema_title, schema=cls.schema)
