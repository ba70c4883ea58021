"""The catalog of measures: every fact about a measure stands here, and in ``measures.toml``, and nowhere else."""

import html
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from holdfast.declared import Registry
from holdfast.measures import formulas, redundancy
from holdfast.measures.forms import (
    DRAWS,
    REQUIRED,
    FeatureSum,
    Form,
    Measure,
    OverlapPairs,
    Properties,
    RowPairs,
    Whole,
)
from holdfast.measures.redundancy import AdjustedStandIns, MatchedPairs, StandInCovariance, StandInPairs

SIMILARITY_FORMS: dict[str, Form] = {
    "gulgezen": MatchedPairs(),
    "pogr": StandInPairs(redundancy.one_way, redundancy.first_size, symmetric=False),
    "npogr": AdjustedStandIns(redundancy.one_way, redundancy.first_size, symmetric=False),
    "zucknick": StandInPairs(redundancy.cross_similarity, redundancy.union_size),
    "yu": AdjustedStandIns(redundancy.both_ways, redundancy.mean_size),
    "sechidis": StandInCovariance(),
    "intersection_mbm": AdjustedStandIns(redundancy.most_matched, redundancy.geometric_size),
    "intersection_greedy": AdjustedStandIns(redundancy.greedily_matched, redundancy.geometric_size),
    "intersection_count": AdjustedStandIns(redundancy.fewest_covered, redundancy.geometric_size),
    "intersection_mean": AdjustedStandIns(redundancy.mean_similarity, redundancy.geometric_size),
}
"""How measures of sets with similar features are computed."""


def make_form(name: str, form: str) -> Form:
    """Return the form of a measure whose formula is the function of its name."""
    formula = getattr(formulas, name)
    if form == "feature sum":
        from_overlap = getattr(formulas, f"{name}_from_overlap", None)
        return FeatureSum(getattr(formulas, f"{name}_term"), formula, from_overlap)
    if form in ("overlap", "overlap, one way"):
        return OverlapPairs(formula, symmetric=form == "overlap")
    return {"rows": RowPairs, "whole": Whole}[form](formula)


_THRESHOLDED = {"similarity": REQUIRED, "threshold": 0.9}
_SIMULATED = {**_THRESHOLDED, "draws": DRAWS}
PARAMETERS: dict[str, dict[str, Any]] = {
    "davis": {"alpha": REQUIRED},
    "spearman": {"ties": "average", "random_state": 0},
    "canberra": {"k": None},
    "rank_biased_overlap": {"p": 0.9},
    "gulgezen": {"similarity": REQUIRED},
    "shared_importance": {"similarity": None, "draws": 200},
    **dict.fromkeys(("pogr", "npogr", "zucknick", "yu", "sechidis"), _THRESHOLDED),
    **dict.fromkeys(("intersection_mbm", "intersection_greedy", "intersection_count", "intersection_mean"), _SIMULATED),
}


def _read_measures() -> Iterator[Measure]:
    """Yield every measure: its form, its parameters, and the facts of ``measures.toml`` beside this module."""
    tables = tomllib.loads(Path(__file__).with_name("measures.toml").read_text(encoding="utf-8"))
    for name, facts in tables.items():
        for part in facts.keys() & {"properties", "published"}:
            facts[part] = Properties(*(holds or None for holds in facts[part]))
        facts["range"] = tuple(facts.get("range", (-np.inf, np.inf)))
        form = make_form(name, facts.pop("form")) if "form" in facts else SIMILARITY_FORMS[name]
        yield Measure(name=name, form=form, parameters=PARAMETERS.get(name, {}), **facts)


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


MEASURES = MeasureTable(_read_measures())
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
