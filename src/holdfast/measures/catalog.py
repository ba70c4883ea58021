"""The catalog of measures: every fact about a measure stands here and nowhere else."""

import html
from collections.abc import Iterable
from dataclasses import fields, replace
from functools import partial

import numpy as np
import pandas as pd

from holdfast.declared import Registry
from holdfast.measures import formulas, redundancy
from holdfast.measures.forms import DRAWS, REQUIRED, FeatureSum, Measure, OverlapPairs, Properties, RowPairs, Whole
from holdfast.measures.redundancy import AdjustedStandIns, MatchedPairs, StandInCovariance, StandInPairs

_INF = np.inf
_THRESHOLDED = {"similarity": REQUIRED, "threshold": 0.9}
_EMPTY_PAIR = "two empty sets"


def _published(ticks: str) -> Properties:
    """Read a row of the 2018 paper's Table 2: fully defined, monotone, bounded, maximum, corrected for chance."""
    return Properties(*("yes" if tick == "✓" else "no" for tick in ticks))


_index = partial(Measure, range=(0, 1), published=_published("✓✓✓✓-"))
_ranking = partial(Measure, kind="ranking", range=(-1, 1), properties=Properties("yes", None, "yes", "yes", "yes"))
_with_stand_ins = partial(Measure, similarity="correlation", parameters=_THRESHOLDED)

ROWS = (
    # Sets, pairwise
    _index(
        name="hamming",
        form=OverlapPairs(formulas.hamming),
        summary="share of features on which two runs agree, absent ones included",
        properties=Properties("yes", "yes", "yes", "yes", "no"),
        methods="the mean share of features on which two resamples agree, absent ones included",
        cite="dunne2002",
    ),
    _index(
        name="jaccard",
        form=OverlapPairs(formulas.jaccard),
        summary="shared features over features in either set",
        properties=Properties("yes", "no", "yes", "yes", "no"),
        undefined=_EMPTY_PAIR,
        validated=True,
        methods="the mean Jaccard index of two resamples",
        cite="kalousis2005",
    ),
    _index(
        name="dice",
        form=OverlapPairs(formulas.dice),
        summary="shared features over the mean size",
        properties=Properties("yes", "one size", "yes", "yes", "no"),
        undefined=_EMPTY_PAIR,
        methods="the mean Dice index of two resamples",
        cite="yu2008",
    ),
    _index(
        name="ochiai",
        form=OverlapPairs(formulas.ochiai),
        summary="shared features over the geometric mean size",
        properties=Properties("yes", "one size", "yes", "yes", "no"),
        undefined="an empty set",
        methods="the mean Ochiai index of two resamples",
        cite="zucknick2008",
    ),
    _index(
        name="pog",
        title="Percentage of overlapping features (POG)",
        form=OverlapPairs(formulas.pog, symmetric=False),
        summary="share of one run's features that the other has too",
        properties=Properties("yes", "one size", "yes", "yes", "no"),
        undefined="an empty first set",
        methods="the mean percentage of overlapping features of two resamples",
        cite="shi2006",
    ),
    Measure(
        name="kuncheva",
        form=OverlapPairs(formulas.kuncheva),
        summary="overlap above chance, for sets of one size",
        range=(-1, 1),
        properties=Properties("no", "yes", "yes", "yes", "yes"),
        published=_published("-✓✓✓✓"),
        undefined="empty or full sets",
        one_size=True,
        methods="Kuncheva's index, which is corrected for chance",
        cite="kuncheva2007",
    ),
    Measure(
        name="lustgarten",
        form=OverlapPairs(formulas.lustgarten),
        summary="overlap above chance over the range of the overlap",
        range=(-1, 1),
        best=np.nan,
        properties=Properties("yes", "one size", "yes", "no", "yes"),
        published=_published("✓✓✓-✓"),
        undefined="an empty or full set",
        methods="the measure of Lustgarten, Gopalakrishnan and Visweswaran (2009), which is corrected for chance",
        cite="lustgarten2009",
    ),
    Measure(
        name="wald",
        form=OverlapPairs(formulas.wald),
        summary="overlap above chance over the smaller size above chance",
        range=(-_INF, 1),
        properties=Properties("yes", "one size", "no", "no", "yes"),
        published=_published("✓✓--✓"),
        undefined="an empty smaller or full larger set",
        methods="the measure of Wald, Khoshgoftaar and Napolitano (2013), which is corrected for chance",
        cite="wald2013",
    ),
    Measure(
        name="npog",
        title="Normalized percentage of overlapping features (nPOG)",
        form=OverlapPairs(formulas.npog, symmetric=False),
        summary="overlap above chance over one run's size above chance",
        range=(-_INF, 1),
        properties=Properties("yes", "one size", "no", "yes", "yes"),
        published=_published("✓✓-✓✓"),
        undefined="an empty first or full second set",
        methods="the mean normalized percentage of overlapping features of two resamples, which is corrected "
        "for chance",
        cite="zhang2009",
    ),
    Measure(
        name="pearson",
        form=OverlapPairs(formulas.pearson),
        summary="correlation of two runs' 0/1 vectors",
        range=(-1, 1),
        properties=Properties("yes", "one size", "yes", "yes", "yes"),
        published=Properties("yes", None, "yes", "yes", "yes"),
        validated=True,
        methods="the mean correlation of the 0/1 selections of two resamples, which is corrected for chance",
        cite="nogueira2016",
    ),
    Measure(
        name="kappa",
        form=OverlapPairs(formulas.kappa),
        summary="Cohen's kappa of two runs",
        range=(-1, 1),
        properties=Properties("yes", "one size", "yes", "yes", "yes"),
        undefined="two empty or two full sets",
        methods="the mean of Cohen's kappa of two resamples, which is corrected for chance",
        cite="carletta1996",
    ),
    Measure(
        name="unadjusted",
        title="Overlap above chance",
        form=OverlapPairs(formulas.unadjusted),
        summary="overlap above chance over the geometric mean size above chance",
        range=(-1, 1),
        properties=Properties("yes", "one size", "yes", "yes", "yes"),
        undefined="an empty set, or two full ones",
        methods="the mean overlap of two resamples, corrected for chance",
        cite="bommert2020",
    ),
    # Sets, by frequency
    Measure(
        name="nogueira",
        form=FeatureSum(formulas.nogueira_term, formulas.nogueira, formulas.nogueira_from_overlap),
        summary="one minus the selection variance over that of random choice",
        range=(-1, 1),
        properties=Properties("yes", "yes", "yes", "yes", "one size"),
        published=_published("✓✓✓✓✓"),
        undefined="all runs empty, or all full",
        validated=True,
        methods="the measure of Nogueira, Sechidis and Brown (2018), which is corrected for chance (0: as "
        "agreement by chance, 1: all resamples select the same features)",
        cite="nogueira2018",
    ),
    Measure(
        name="goh",
        form=FeatureSum(formulas.goh_term, formulas.goh),
        summary="mean frequency over all features",
        range=(0, 1),
        properties=Properties("yes", "no", "yes", "no", "no"),
        published=_published("✓-✓--"),
        methods="the mean selection frequency of all features",
        cite="goh2016",
    ),
    Measure(
        name="davis",
        form=Whole(formulas.davis),
        summary="mean frequency of features ever selected, less a penalty for size",
        range=(0, 1),
        properties=Properties("yes", "no", "yes", "no", "no"),
        published=_published("✓-✓--"),
        undefined="all runs empty",
        no_interval="the median size does not change smoothly when a run is left out",
        parameters={"alpha": REQUIRED},
        methods="the mean frequency of selected features, less a penalty for size",
        cite="davis2006",
    ),
    Measure(
        name="krizek",
        title="Křížek",
        form=Whole(formulas.krizek),
        summary="entropy in bits of the distinct sets; lower is more stable",
        range=(0, _INF),
        best=0.0,
        higher_is_better=False,
        properties=Properties("no", "no", "no", "yes", "no"),
        published=_published("---✓-"),
        no_interval="the number of distinct sets does not settle as runs are added",
        one_size=True,
        methods="the entropy of the distinct selections, which is lower for more stable ones",
        cite="krizek2007",
    ),
    Measure(
        name="guzman",
        title="Guzmán-Martínez",
        form=FeatureSum(formulas.guzman_term, formulas.guzman),
        summary="one minus the Jensen–Shannon divergence over that of random sets",
        range=(0, 1),
        properties=Properties("no", "no", "yes", "yes", "asymptotic"),
        published=_published("--✓✓✓"),
        undefined="empty or full sets",
        one_size=True,
        methods="one minus the Jensen–Shannon divergence of the selections, relative to that of random ones",
        cite="guzman2011",
    ),
    Measure(
        name="cw_rel",
        title="Relative weighted consistency (CWrel)",
        form=FeatureSum(formulas.cw_rel_term, formulas.cw_rel),
        summary="weighted consistency between its least and most possible value",
        range=(0, 1),
        properties=Properties("yes", "yes", "yes", "no", "asymptotic"),
        published=_published("✓✓✓--"),
        undefined="none, one, all or all but one of the possible selections made",
        no_interval="its remainders jump when a run is left out",
        methods="the relative weighted consistency",
        cite="somol2010",
    ),
    Measure(
        name="lausser",
        form=FeatureSum(formulas.lausser_term, formulas.lausser),
        summary="mean squared frequency of selected features",
        range=(0, 1),
        properties=Properties("no", "yes", "yes", "yes", "no"),
        published=_published("-✓✓✓-"),
        undefined="empty sets",
        one_size=True,
        methods="the mean squared frequency of the selected features",
        cite="lausser2013",
    ),
    Measure(
        name="novovicova",
        title="Novovičová",
        form=FeatureSum(formulas.novovicova_term, formulas.novovicova),
        summary="mean log count of selected features over its largest value",
        range=(0, 1),
        properties=Properties("yes", "no", "yes", "yes", "no"),
        undefined="all runs empty",
        methods="the weighted consistency of Novovičová, Somol and Pudil (2009)",
        cite="novovicova2009",
    ),
    # Rankings
    _ranking(
        name="spearman",
        form=RowPairs(formulas.spearman),
        summary="rank correlation of two runs",
        undefined="a run that ties all features",
        parameters={"ties": "average", "random_state": 0},
        validated=True,
        methods="the mean rank correlation of two resamples",
        cite="kalousis2005",
    ),
    _ranking(
        name="kendall",
        title="Kendall's tau",
        form=RowPairs(formulas.kendall),
        summary="Kendall's tau-b of two runs",
        undefined="a run that ties all features",
        validated=True,
        methods="the mean of Kendall's tau-b of two resamples",
        cite="kendall1945",
    ),
    _ranking(
        name="canberra",
        form=RowPairs(formulas.canberra),
        summary="one minus the Canberra distance over that of random rankings",
        undefined="a single feature",
        parameters={"k": None},
        methods="one minus the mean Canberra distance of two rankings, relative to that of random ones",
        cite="jurman2008",
    ),
    _ranking(
        name="rank_biased_overlap",
        form=RowPairs(formulas.rank_biased_overlap),
        summary="agreement at every depth, the top counting most",
        range=(0, 1),
        properties=Properties("yes", None, "yes", "yes", "no"),
        parameters={"p": 0.9},
        methods="the mean rank-biased overlap of two resamples",
        cite="webber2010",
    ),
    _ranking(
        name="rank_variance",
        form=RowPairs(formulas.rank_variance),
        summary="one minus the rank variance over that of random orders",
        undefined="a single feature",
        reference="Nogueira (2018), the variance form of Spearman's correlation",
        methods="one minus the mean variance of the ranks, relative to that of random orders",
        cite="nogueira2018thesis",
    ),
    # Weights
    Measure(
        name="weight_correlation",
        form=RowPairs(formulas.weight_correlation),
        kind="weighting",
        summary="correlation of two runs' weights",
        range=(-1, 1),
        properties=Properties("yes", None, "yes", "no", "yes"),
        undefined="a run that weighs all features the same",
        methods="the mean correlation of the weights of two resamples",
        cite="kalousis2005",
    ),
    # Sets, with stand-ins
    Measure(
        name="gulgezen",
        form=MatchedPairs(),
        summary="mean similarity in the best one-to-one matching of two sets",
        range=(0, 1),
        properties=Properties("yes", "no", "yes", "no", "no"),
        undefined="an empty set",
        parameters={"similarity": REQUIRED},
        similarity="symmetrical_uncertainty",
        methods="the mean similarity of features in the best matching of two selections",
        cite="gulgezen2009",
    ),
    _with_stand_ins(
        name="pogr",
        title="Percentage of overlapping or related features (POGR)",
        form=StandInPairs(redundancy.one_way, redundancy.first_size, symmetric=False),
        summary="share of one run's features that the other has, or has a stand-in for",
        range=(0, 1),
        properties=Properties("yes", "no", "yes", "no", "no"),
        undefined="an empty first set",
        methods="the mean percentage of overlapping or similar features of two resamples",
        cite="zhang2009",
    ),
    _with_stand_ins(
        name="npogr",
        title="Normalized percentage of overlapping or related features (nPOGR)",
        form=AdjustedStandIns(redundancy.one_way, redundancy.first_size, symmetric=False),
        summary="pogr above chance",
        range=(-_INF, 1),
        properties=Properties("yes", "no", "no", "no", "yes"),
        undefined="an empty first or full second set, or features that all stand in for each other",
        methods="the mean percentage of overlapping or similar features of two resamples, corrected for chance",
        cite="zhang2009",
    ),
    _with_stand_ins(
        name="zucknick",
        form=StandInPairs(redundancy.cross_similarity, redundancy.union_size),
        summary="Jaccard's index with similarities across the sets added",
        range=(0, 1),
        properties=Properties("yes", "no", "yes", "no", "no"),
        undefined="an empty set",
        methods="the mean Jaccard index of two resamples, adjusted for similar features",
        cite="zucknick2008",
    ),
    _with_stand_ins(
        name="yu",
        form=AdjustedStandIns(redundancy.both_ways, redundancy.mean_size),
        summary="overlap with stand-ins above chance over the mean size above chance",
        range=(-_INF, 1),
        properties=Properties("yes", "no", "no", "no", "yes"),
        undefined="two empty or two full sets, or features that all stand in for each other",
        validated=True,
        methods="the mean overlap of two resamples, with similar features as stand-ins, corrected for chance",
        cite="yu2012",
    ),
    _with_stand_ins(
        name="sechidis",
        form=StandInCovariance(),
        summary="one minus the similarity-weighted covariance over that of random choice",
        range=(-_INF, _INF),
        properties=Properties("yes", "no", "no", "no", "one size"),
        undefined="all runs empty or all full, or features that all stand in for each other",
        methods="the measure of Sechidis et al. (2020), which lets similar features stand in for each other",
        cite="sechidis2020",
    ),
    *(
        _with_stand_ins(
            name=f"intersection_{name}",
            title=f"Intersection with stand-ins by {how}",
            form=AdjustedStandIns(credit, redundancy.geometric_size),
            summary=f"overlap with stand-ins above chance, stand-ins counted by {how}",
            range=(-_INF, 1),
            properties=Properties("yes", "no", "no", "no", "yes"),
            undefined="an empty set, two full ones, or features that all stand in for each other",
            parameters={**_THRESHOLDED, "draws": DRAWS},
            methods=f"the mean overlap of two resamples, with stand-ins counted by {how}, corrected for chance",
            cite="bommert2020",
        )
        for name, credit, how in (
            ("mbm", redundancy.most_matched, "a maximum matching"),
            ("greedy", redundancy.greedily_matched, "a greedy matching"),
            ("count", redundancy.fewest_covered, "the features covered"),
            ("mean", redundancy.mean_similarity, "mean similarity"),
        )
    ),
)


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
