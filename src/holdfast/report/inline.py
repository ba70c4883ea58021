"""The report inside a notebook: a card with the verdict, and the whole page below it."""

import html
from dataclasses import dataclass
from pathlib import Path

from holdfast.report.render import Format, render, write_report
from holdfast.report.summary import Summary

HEIGHT = 640
"""Pixels of the page; a reader can pull its lower edge."""


@dataclass(frozen=True)
class InlineReport:
    """A report that a notebook shows: its card, and the page in a frame that is shut off from the notebook.

    The frame may run the scripts of the page and save files, and nothing else: it cannot read the notebook, its cookies
    or other pages. Where frames are blocked, as in notebooks that are not trusted, the card remains.

    Attributes
    ----------
    summary : Summary
        What the report says.

    See Also
    --------
    holdfast.StudyResult.report : Makes it.
    write_report : Writes a report into a file.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> result = hf.Study(selectors=[hf.selectors.AnovaF(2)], perturbation=hf.Bootstrap(20)).run(X, y)
    >>> report = result.report()
    >>> print(repr(report).splitlines()[0])
    anova: Stable; whether it carries information was not tested.
    """

    summary: Summary

    def save(self, path: str | Path, *, format: Format | None = None) -> Path:
        """Write the report into a file.

        Parameters
        ----------
        path : path
            File to write.
        format : {"html", "md", "json"}, optional
            By default the ending of the file decides.

        Returns
        -------
        Path
            The file.
        """
        return write_report(self.summary, path, format=format)

    def _repr_html_(self) -> str:
        card = self.summary._repr_html_()
        try:
            page = render(self.summary)
        except ImportError as error:
            return f"{card}<p>{html.escape(str(error))}</p>"
        name = html.escape(self.summary.title)
        return (
            f'{card}<iframe title="{name}" sandbox="allow-scripts allow-downloads allow-popups" '
            f'style="width:100%;height:{HEIGHT}px;border:1px solid #88888866;border-radius:8px;resize:vertical" '
            f'srcdoc="{html.escape(page)}"></iframe>'
        )

    def __repr__(self) -> str:
        return f'{self.summary!r}\nA notebook shows the whole report; .save("report.html") writes it into a file.'
