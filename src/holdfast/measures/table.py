"""Measures by name, their correction for chance, and their properties as a table."""

import difflib
import html
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace

import numpy as np
import pandas as pd

from holdfast.measures.catalog import ROWS
from holdfast.measures.record import Measure, Properties


class MeasureTable(Mapping[str, Measure]):
    """Measures by name; prints as a table.

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
        self._measures = {measure.name: measure for measure in measures}

    def __getitem__(self, name: str) -> Measure:
        if name not in self._measures:
            near = difflib.get_close_matches(str(name), self._measures, n=1)
            guess = f"; did you mean {near[0]!r}?" if near else "."
            raise KeyError(f"Expected the name of a measure, got {name!r}{guess} holdfast.MEASURES lists them.")
        return self._measures[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._measures)

    def __len__(self) -> int:
        return len(self._measures)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per measure with everything that is known of it."""
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
"""All measures by name."""


def find_measure(measure: str | Measure) -> Measure:
    """Return the measure of this name, or the measure itself."""
    if isinstance(measure, Measure):
        return measure
    if not isinstance(measure, str):
        raise ValueError(f"Expected the name of a measure or a Measure, got {measure!r}.")
    try:
        return MEASURES[measure]
    except KeyError as error:
        raise ValueError(error.args[0]) from None


def corrected(measure: str | Measure) -> Measure:
    """Return a measure of subsets corrected for chance: 0 is what random choice gives, 1 a perfect selection.

    A pairwise measure is corrected pair by pair with its expectation for two random sets of these sizes, other measures
    once with their expectation for as many random sets as there are runs. The expectation is exact where that is
    possible; else it is simulated, and the estimate's ``chance_error`` tells what that may cost. A measure that is
    corrected exactly already is returned as it is.

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
            "cut the runs with .top(k) and take a measure of subsets."
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
    )


def properties() -> pd.DataFrame:
    """Return which properties each measure has, and next to each what the literature ticks.

    Columns named ``…, published`` hold the ticks of Table 2 of the 2018 paper (for ``pearson`` of the 2016 one); they
    are empty where nothing was published. Where the two differ, a test of holdfast shows the counter-example.
    """
    rows = []
    for measure in MEASURES.values():
        row: dict[str, object] = {"measure": measure.name, "kind": measure.kind}
        for item in fields(Properties):
            row[item.name] = getattr(measure.properties, item.name)
            row[f"{item.name}, published"] = getattr(measure.published, item.name, None)
        rows.append(row)
    return pd.DataFrame(rows).set_index("measure")
