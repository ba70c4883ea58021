"""Measures by name, their correction for chance, and their properties as a table."""

import html
from collections.abc import Iterable
from dataclasses import fields, replace

import numpy as np
import pandas as pd

from holdfast.declared import Registry
from holdfast.measures.catalog import ROWS
from holdfast.measures.record import Measure, Properties


class MeasureTable(Registry[Measure]):
    """Measures by name: a mapping that prints as a table and takes measures of your own.

    Parameters
    ----------
    measures : iterable of Measure
        The measures to begin with.

    See Also
    --------
    Measure : A measure and the facts about it.
    properties : Which properties each measure has.

    Examples
    --------
    >>> from holdfast import MEASURES
    >>> MEASURES["nogueira"].properties.bounded
    'yes'
    >>> MEASURES["jacard"]
    Traceback (most recent call last):
    ...
    KeyError: "Expected the name of a measure, got 'jacard'; did you mean 'jaccard'? holdfast.MEASURES lists them."
    """

    def __init__(self, measures: Iterable[Measure]):
        super().__init__("measure", measures, where="holdfast.MEASURES")

    def add(self, thing: Measure) -> Measure:
        """Register a measure of your own, so that its name works wherever a measure is named.

        Parameters
        ----------
        thing : Measure
            A measure with a new name.

        Returns
        -------
        Measure
            The same measure.

        Raises
        ------
        ValueError
            If it is not a measure, or its name is taken.

        Examples
        --------
        >>> from dataclasses import replace
        >>> import holdfast as hf
        >>> _ = hf.MEASURES.add(replace(hf.MEASURES["jaccard"], name="tanimoto"))
        >>> round(hf.stability([[1, 1, 0], [1, 0, 1]], "tanimoto").value, 3)
        0.333
        >>> hf.MEASURES.remove("tanimoto")
        """
        if not isinstance(thing, Measure):
            raise ValueError(f"Expected a Measure to register, got {thing!r}.")
        return super().add(thing)

    def to_frame(self) -> pd.DataFrame:
        """Return the facts about all measures, one row each.

        Returns
        -------
        DataFrame
            Kind, range, direction, summary, when it is undefined, parameters and reference of each measure.
        """
        return pd.DataFrame([_row(measure) for measure in self.values()]).set_index("measure")

    def __repr__(self) -> str:
        return self.to_frame()[["kind", "range", "summary"]].to_string(max_colwidth=None)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{name}</td><td>{measure.kind}</td><td>{html.escape(measure.summary)}</td></tr>"
            for name, measure in self.items()
        )
        return f"<table><tr><th>measure</th><th>kind</th><th>what it is</th></tr>{rows}</table>"


def _row(measure: Measure) -> dict[str, object]:
    low, high = measure.range
    return {
        "measure": measure.name,
        "kind": measure.kind,
        "range": f"[{low:g}, {high:g}]",
        "better": "higher" if measure.higher_is_better else "lower",
        "summary": measure.summary,
        "undefined": measure.undefined,
        "parameters": ", ".join(f"{name}={value}" for name, value in measure.parameters.items()),
        "reference": measure.reference,
    }


MEASURES = MeasureTable(ROWS)
"""All measures by name; ``MEASURES.add(measure)`` registers one of your own."""


def find_measure(measure: str | Measure) -> Measure:
    """Return the measure of this name; a :class:`Measure` is returned unchanged.

    Parameters
    ----------
    measure : str or Measure
        Name of a measure, or a measure.

    Returns
    -------
    Measure
        The measure.

    Raises
    ------
    ValueError
        If there is no measure of this name.
    """
    if isinstance(measure, Measure):
        return measure
    if not isinstance(measure, str):
        raise ValueError(f"Expected the name of a measure or a Measure, got {measure!r}.")
    try:
        return MEASURES[measure]
    except KeyError as error:
        raise ValueError(error.args[0]) from None


def corrected(measure: str | Measure) -> Measure:
    """Correct a measure of subsets for chance: 0 for random selections, 1 for a perfectly stable one.

    A pairwise measure is corrected pair by pair with its expectation for two random sets of these sizes, other measures
    once with their expectation for as many random sets as there are runs. The expectation is exact where that is
    possible; else it is simulated, and the estimate's ``chance_error`` is the standard error that this adds. A measure
    that is corrected exactly already is returned unchanged.

    Parameters
    ----------
    measure : str or Measure
        Name of a measure of subsets, or a measure of your own.

    Returns
    -------
    Measure
        The corrected measure.

    Raises
    ------
    ValueError
        If it is a measure of rankings or weights.

    See Also
    --------
    stability : Its argument ``corrected=True`` does the same.
    MEASURES : All measures by name.

    Examples
    --------
    >>> import holdfast as hf
    >>> runs = [[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]]
    >>> round(hf.stability(runs, hf.corrected("jaccard")).value, 3)
    0.273
    """
    plain = find_measure(measure)
    if plain.kind != "subset":
        raise ValueError(
            f"Expected a measure of subsets to correct for chance, got {plain.name}, a measure of {plain.kind}s; "
            "cut the runs with .top(k) and use a measure of subsets."
        )
    if plain.properties.chance == "yes":
        return plain
    return replace(
        plain,
        name=f"corrected {plain.name}",
        form=plain.form.corrected(plain),
        summary=f"{plain.summary}; corrected for chance",
        range=(-np.inf, 1),
        best=1.0,
        higher_is_better=True,
        properties=replace(plain.properties, chance="yes", bounded="no"),
        published=None,
        validated=False,
        methods=f"{plain.methods}, corrected for chance",
    )


def properties() -> pd.DataFrame:
    """Tabulate the properties of all measures, as they hold and as published.

    Columns named ``…, published`` hold the ticks of Table 2 of the 2018 paper (for ``pearson`` of the 2016 one); they
    are empty where nothing was published. Where the two differ, a test of holdfast shows the counter-example.

    Returns
    -------
    DataFrame
        One row per measure, two columns per property.

    See Also
    --------
    Properties : The properties of one measure.
    """
    rows = []
    for measure in MEASURES.values():
        row: dict[str, object] = {"measure": measure.name, "kind": measure.kind}
        for item in fields(Properties):
            row[item.name] = getattr(measure.properties, item.name)
            row[f"{item.name}, published"] = getattr(measure.published, item.name, None)
        rows.append(row)
    return pd.DataFrame(rows).set_index("measure")
