"""What to cite, and what for."""

from collections.abc import Mapping

from holdfast.references import REFERENCES
from holdfast.report.records import Reference

ALWAYS = ("nogueira2018", "nogueira2016", "kalousis2005", "hamer2020", "gulgezen2009", "nadeau2003")
"""What the methods of holdfast rest on: listed in every report, after what the study used."""


def references(used: Mapping[str, str]) -> tuple[Reference, ...]:
    """Return what this study used, with what for, then what holdfast rests on."""
    order = [key for key in (*used, *(key for key in ALWAYS if key not in used)) if key in REFERENCES]
    publications = [REFERENCES[key] for key in order]
    return tuple(
        Reference(key=found.key, text=found.text, link=found.link, bibtex=found.bibtex, used=used.get(found.key))
        for found in publications
    )
