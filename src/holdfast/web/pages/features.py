"""The features of a study: a table to search and sort, and a page for each of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from holdfast.report.records import Feature
from holdfast.web.addresses import list_changes, study_address
from holdfast.web.choices import NamedOption
from holdfast.web.findings.candidates import find_labels
from holdfast.web.findings.features import (
    LEVEL,
    THRESHOLD,
    VERDICTS,
    CandidateFeatures,
    Sort,
    find_features,
    find_reported,
)
from holdfast.web.guard import RefusedError
from holdfast.web.launcher import StudyState
from holdfast.web.results import Snapshot
from holdfast.web.routing import Routes
from holdfast.web.site import Site

routes = Routes()

MOST = 1000
MOST_SEARCHED = 200
SORTS = {
    "frequency": "frequency", "with-stand-ins": "frequency with stand-ins", "effect": "effect", "name": "name",
    "column": "order in the file",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class FeaturesQuery:
    """Which features are shown.

    Attributes
    ----------
    candidate : str
        Name of a candidate; by default the one that a report is about.
    sort : {"frequency", "name", "effect", "with-stand-ins", "column"}
        What they are sorted by: the most frequent or the strongest first, names and columns ascending.
    search : str
        Part of a name; features that were never selected are found, too.
    verdict : str
        Only features of which this is said.
    most : int
        How many are shown, at most 1000.
    """

    candidate: str = ""
    sort: Sort = "frequency"
    search: str = ""
    verdict: str = ""
    most: int = 50

    def address(self, study: str, place: int | None = None) -> str:
        """Where the table is shown, or one feature of it."""
        if place is None:
            return study_address(study, "features", list_changes(self))
        return study_address(study, f"features/{place}", list_changes(replace(self, most=FeaturesQuery.most)))


@dataclass(frozen=True, kw_only=True)
class FeatureFacts:
    """What holds for all features of a candidate.

    Attributes
    ----------
    n_features, n_selected, n_runs : int
        Number of features, of those ever selected, and of resamples.
    threshold, level : float
        Selection frequency that the interval of a feature must exceed, and the level of intervals.
    chance : float
        Selection frequency of a feature drawn at random.
    top : int or None
        How many of the best features of a ranking or weights count as selected; None for subsets.
    effect : str or None
        What effects are (AUC, rank correlation); None if there are none.
    no_effects, no_model_use : str or None
        Why there are no effects, and why it is not said what models do with a feature.
    model_uses : bool
        Whether it is said what models do with a feature.
    """

    n_features: int
    n_selected: int
    n_runs: int
    threshold: float
    level: float
    chance: float
    top: int | None
    effect: str | None
    no_effects: str | None
    no_model_use: str | None
    model_uses: bool
    rows_visible: bool = False


@dataclass(frozen=True, kw_only=True)
class FeatureRow:
    """A row of the table.

    Attributes
    ----------
    place : int
        Column of the feature in the data, from 0.
    feature : Feature
        What is known of it.
    """

    place: int
    feature: Feature


@dataclass(frozen=True, kw_only=True)
class StudyFeaturesPage:
    """The features of a candidate of a study.

    Attributes
    ----------
    state : StudyState
        What the study is doing.
    measured : int
        Number of fits behind what is shown.
    settings : FeaturesQuery
        Which features are shown.
    candidates : tuple of NamedOption
        The candidates of the study.
    missing : str or None
        Why nothing can be said; None if there are features.
    facts : FeatureFacts or None
        What holds for all features.
    n_found : int
        How many features the search finds.
    rows : tuple of FeatureRow
        The first of them, in order.
    """

    state: StudyState
    measured: int
    settings: FeaturesQuery
    candidates: tuple[NamedOption, ...]
    missing: str | None
    facts: FeatureFacts | None = None
    n_found: int = 0
    rows: tuple[FeatureRow, ...] = ()

    @property
    def label(self) -> str:
        """What the candidate is called."""
        return next((candidate.label for candidate in self.candidates if candidate.name == self.settings.candidate), "")

    @property
    def more(self) -> str:
        """Where more of the features are shown."""
        return replace(self.settings, most=min(self.settings.most + 100, MOST)).address(self.state.study)

    @property
    def sorts(self) -> Mapping[str, str]:
        """What can be sorted by, in words."""
        return SORTS

    @property
    def verdicts(self) -> tuple[str, ...]:
        """What may be said of a feature."""
        return VERDICTS


@routes.page("/studies/{study}/features", "study_features.html.j2")
def show_features(site: Site, study: str, query: FeaturesQuery) -> StudyFeaturesPage:
    """List the features of a candidate: how often they were selected, their effects, stand-ins and verdicts."""
    check_query(query)
    state = site.launcher.state(study)
    try:
        snapshot = site.results.get(study)
    except RefusedError as refused:
        return StudyFeaturesPage(
            state=state, measured=0, settings=query, candidates=(), missing=refused.sentence.rstrip(".")
        )
    query, names = with_candidate(snapshot, query), list_candidates(snapshot)
    measured = snapshot.progress.done
    try:
        features = find_features(snapshot, query.candidate)
    except ValueError as error:
        missing = str(error).rstrip(".")
        return StudyFeaturesPage(state=state, measured=measured, settings=query, candidates=names, missing=missing)
    order = features.arrange(query.sort, query.search.strip(), query.verdict)
    shown = order[: query.most]
    return StudyFeaturesPage(
        state=state, measured=measured, settings=query, candidates=names, missing=None, facts=list_facts(features),
        n_found=len(order),
        rows=tuple(
            FeatureRow(place=place, feature=feature)
            for place, feature in zip(shown, features.describe(shown), strict=True)
        ),
    )  # fmt: skip


def check_query(query: FeaturesQuery) -> None:
    """Refuse what cannot be searched for."""
    if not 1 <= query.most <= MOST:
        raise ValueError(f"Expected most from 1 to {MOST}, got {query.most}.")
    if len(query.search) > MOST_SEARCHED:
        raise ValueError(f"Expected a search of at most {MOST_SEARCHED} characters, got {len(query.search)}.")
    if query.verdict and query.verdict not in VERDICTS:
        raise ValueError(f"Expected verdict to be one of {', '.join(VERDICTS)}, got {query.verdict[:60]!r}.")


def with_candidate(snapshot: Snapshot, query: FeaturesQuery) -> FeaturesQuery:
    """The same query, with the reported candidate if none was asked for."""
    if not query.candidate:
        return replace(query, candidate=find_reported(snapshot))
    snapshot.result.family(query.candidate)  # raises a sentence that lists the candidates
    return query


def list_candidates(snapshot: Snapshot) -> tuple[NamedOption, ...]:
    """The candidates of a study, with what they are called."""
    labels = find_labels(snapshot)
    return tuple(NamedOption(name=name, label=labels.candidate(name)) for name in snapshot.result.candidates)


def list_facts(features: CandidateFeatures) -> FeatureFacts:
    """What holds for all features of a candidate."""
    found = features.found
    return FeatureFacts(
        n_features=found.n_features, n_selected=len(found.frame), n_runs=found.n_runs, threshold=THRESHOLD, level=LEVEL,
        chance=float(features.runs.density), top=found.top, effect=found.effect, no_effects=found.missing,
        no_model_use=found.no_model_use, model_uses=found.has_model_use,
    )  # fmt: skip
