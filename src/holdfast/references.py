"""Publications to cite, by their BibTeX key; ``references.bib`` next to this module holds them."""

import re
from dataclasses import dataclass
from pathlib import Path

from holdfast.declared import About, Registry


@dataclass(frozen=True, kw_only=True)
class Publication:
    """A publication.

    Attributes
    ----------
    key : str
        BibTeX key.
    text : str
        Authors, year, title and place in one line.
    link : str
        Address; empty if there is none.
    bibtex : str
        BibTeX entry.
    """

    key: str
    text: str
    bibtex: str
    link: str = ""

    @property
    def short(self) -> str:
        """Authors and year, as in ``Kuncheva (2007)``."""
        return self.text.partition(").")[0] + ")"

    @property
    def about(self) -> About:
        """The key and the line."""
        return About(name=self.key, summary=self.text)


def _parse(entry: str) -> Publication:
    """Read a BibTeX entry below a comment of one line, which is how the publication is cited in a text."""
    comment, _, bibtex = entry.partition("\n")
    fields = dict(re.findall(r"^  (\w+) *= \{(.*)\},?$", bibtex, re.MULTILINE))
    link = f"https://doi.org/{fields['doi']}" if "doi" in fields else fields.get("url", "")
    key = bibtex[bibtex.index("{") + 1 : bibtex.index(",")]
    return Publication(key=key, text=comment.removeprefix("% "), link=link, bibtex=bibtex)


_entries = Path(__file__).with_suffix(".bib").read_text(encoding="utf-8").strip().split("\n\n")
REFERENCES: Registry[Publication] = Registry("reference", map(_parse, _entries))
"""All publications by key. ``REFERENCES.add(Publication(key=…, text=…, bibtex=…))`` adds one of your own."""
