"""Correlated features as one."""

import warnings

import numpy as np
import pytest
from scipy.cluster import hierarchy
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectFromModel, SelectKBest, f_classif
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import holdfast as hf
from holdfast import selectors as of
from holdfast.selection import FewerFeaturesWarning
from holdfast.selectors.wrapping import group_features
from holdfast.similarity import Correlation, SymmetricalUncertainty


def data(seed=0, n=60, copies=4, d=20, noise=0.3):
    """Sources that tell the class more and more, each measured several times."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    sources = rng.normal(size=(n, d // copies)) + y[:, None] * np.linspace(0, 2, d // copies)
    return np.repeat(sources, copies, axis=1) + noise * rng.normal(size=(n, d)), np.array(["a", "b"])[y]


def whole(similarity, threshold, linkage):
    """Labels of a clustering of all features at once, numbered by lowest column."""
    every = np.arange(similarity.n_features)
    distances = squareform(1 - similarity.block(every, every), checks=False)
    labels = hierarchy.fcluster(hierarchy.linkage(distances, method=linkage), 1 - threshold + 1e-12, "distance")
    order = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    return [order[label] for label in labels]


@pytest.mark.parametrize("linkage", ["complete", "average", "single"])
@pytest.mark.parametrize("threshold", [0.3, 0.6, 0.85, 1.0])
@pytest.mark.parametrize("kind", [Correlation, SymmetricalUncertainty])
def test_components_one_by_one_give_the_clusters_of_all(linkage, threshold, kind):
    for seed in range(3):
        X, _ = data(seed, n=25, d=24, noise=0.5 + seed / 2)
        similarity = kind(X)
        assert group_features(similarity, threshold, linkage).labels.tolist() == whole(similarity, threshold, linkage)


def test_medoids_are_most_alike_to_their_group():
    X, _ = data()
    similarity = Correlation(X)
    groups = group_features(similarity, 0.7)
    for label, chosen in enumerate(groups.representatives):
        members = np.flatnonzero(groups.labels == label)
        alike = similarity.block(members, members).mean(axis=1)
        assert members[np.argmax(alike.round(9))] == chosen
    first = group_features(similarity, 0.7, representative="first")
    assert first.representatives.tolist() == [np.flatnonzero(first.labels == one)[0] for one in range(5)]


def test_groups_are_selected():
    X, y = data()
    fitted = of.GroupedSelector(of.AnovaF(2), threshold=0.7).fit(X, y)
    assert fitted.groups_.tolist() == np.repeat(np.arange(5), 4).tolist()
    alone = of.AnovaF(2).fit(X[:, fitted.representatives_], y)
    assert fitted.group_support_.tolist() == alone.support_.tolist()
    assert np.flatnonzero(fitted.support_).tolist() == sorted(fitted.representatives_[alone.support_])
    members = clone(fitted).set_params(members=True).fit(X, y)
    assert members.support_.tolist() == np.repeat(alone.support_, 4).tolist()


def test_ranks_are_those_of_the_groups():
    X, y = data()
    fitted = of.GroupedSelector(of.AnovaF(2), threshold=0.7).fit(X, y)
    by_group = fitted.ranking_[fitted.representatives_]
    assert sorted(by_group) == [1, 2, 3, 4, 5]
    assert (np.delete(fitted.ranking_, fitted.representatives_) == 20).all()
    members = clone(fitted).set_params(members=True).fit(X, y)
    assert (members.ranking_ == 1 + 4 * (by_group - 1)[fitted.groups_]).all()


@pytest.mark.parametrize(
    "base",
    [
        of.MRMR(2),
        of.RandomSelector(2, random_state=0),
        of.StabilitySelection(of.AnovaF(), threshold=0.6, q=2, n_resamples=3, random_state=0),
        make_pipeline(StandardScaler(), SelectKBest(f_classif, k=2)),
        SelectFromModel(RandomForestClassifier(5, random_state=0), max_features=2, threshold=-np.inf),
    ],
    ids=lambda one: type(one).__name__,
)
@pytest.mark.parametrize("similarity", ["correlation", "symmetrical_uncertainty"])
def test_any_base_that_selects(base, similarity):
    X, y = data()
    fitted = of.GroupedSelector(base, threshold=0.7, similarity=similarity).fit(X, y)
    assert fitted.group_support_.sum() == fitted.support_.sum() <= 2
    assert clone(fitted).fit(X, y).support_.tolist() == fitted.support_.tolist()


def test_weights_are_repeated_rows():
    X, y = data()
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    one = of.GroupedSelector(of.MRMR(2), threshold=0.7).fit(X, y, sample_weight=weights)
    two = of.GroupedSelector(of.MRMR(2), threshold=0.7).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert one.groups_.tolist() == two.groups_.tolist()
    assert one.support_.tolist() == two.support_.tolist()


def test_groups_are_more_stable_than_features():
    X, y = data(1, n=50, d=40, noise=0.5)
    study = hf.Study(
        selectors={
            "features": of.AnovaF(4),
            "groups": of.GroupedSelector(of.AnovaF(1), threshold=0.5, linkage="average", members=True),
        },
        perturbation=hf.Subsample(12, 0.6),
    )
    result = study.run(X, y)
    assert result.stability("groups").value > result.stability("features").value


def test_sizes_are_cut_in_a_study():
    X, y = data()
    study = hf.Study(
        selectors={"g": hf.Candidates(of.GroupedSelector(of.AnovaF(), threshold=0.7), sizes=[1, 3])},
        perturbation=hf.Bootstrap(3),
    )
    result = study.run(X, y)
    assert set(result.preferences("g(size=3)").sizes) == {3}


def test_edges():
    X, y = data()
    X[:, :2] = 1.0
    with pytest.warns(FewerFeaturesWarning, match="fewer features than asked for carry information"):
        fitted = of.GroupedSelector(of.AnovaF(50), threshold=0.7).fit(X, y)
    assert fitted.groups_[:3].tolist() == [0, 1, 2]
    assert fitted.group_support_.tolist() == [group > 1 for group in range(fitted.group_support_.size)]
    apart = of.GroupedSelector(of.AnovaF(3), threshold=1.0).fit(X, y)
    assert apart.groups_.tolist() == list(range(20))
    assert apart.support_.tolist() == of.AnovaF(3).fit(X, y).support_.tolist()
    rare = np.r_[["c"], y[1:]]
    assert of.GroupedSelector(of.AnovaF(1)).fit(X, rare).support_.sum() == 1


class Watched(Correlation):
    """A similarity that remembers its largest block."""

    largest = 0

    def block(self, rows, columns):
        self.largest = max(self.largest, len(rows) * len(columns))
        return super().block(rows, columns)


def test_no_matrix_of_all_features_is_made(monkeypatch):
    monkeypatch.setattr("holdfast.selectors.wrapping.BLOCK_ENTRIES", 2000)
    alike = Watched(data(d=200)[0])
    group_features(alike, 0.9)
    assert alike.largest <= 2000


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"threshold": 0}, "Expected threshold above 0 and at most 1, got 0"),
        ({"linkage": "ward"}, "Expected linkage='complete', 'average' or 'single', got 'ward'"),
        (
            {"similarity": "cosine"},
            "Expected similarity='correlation' or 'symmetrical_uncertainty', got 'cosine'",
        ),
        ({"representative": "mean"}, "Expected representative='medoid' or 'first', got 'mean'"),
        ({"base": RandomForestClassifier(2)}, "which only orders them; wrap it, as SelectFromModel does"),
        ({"base": of.AnovaF}, "call the class to make an object of it"),
    ],
)
def test_bad_input_is_told_in_one_sentence(given, message):
    with pytest.raises(ValueError, match=message):
        of.GroupedSelector(**{"base": of.AnovaF(), **given}).fit(*data())


def test_a_fit_that_takes_minutes_says_so_before_it_begins():
    wide = np.broadcast_to(0.0, (100, 100_000))
    with pytest.warns(UserWarning, match=r"all pairs of 100,000 features, 5.0e\+09 pairs, which takes about 2 minutes"):
        of.GroupedSelector(of.AnovaF()).prepare(wide, np.arange(100) % 2, [{}])
    with pytest.warns(UserWarning, match="about 21 minutes for each fit on 100 rows, and up to 8 GB of memory"):
        of.GroupedSelector(of.AnovaF(), similarity="symmetrical_uncertainty").prepare(wide, np.arange(100) % 2, [{}])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        of.GroupedSelector(of.AnovaF()).prepare(wide[:, :5000], np.arange(100) % 2, [{}])


def test_more_linked_features_than_memory_holds_are_refused(monkeypatch):
    monkeypatch.setattr("holdfast.selectors.wrapping.MAX_LINKED", 5)
    X, y = np.random.default_rng(0).normal(size=(30, 8)), np.arange(30) % 2
    X[:, 1:7] = X[:, :1]
    with pytest.raises(ValueError, match="Expected at most 5 features to cluster together, got 7 of 8 that are linked"):
        of.GroupedSelector(of.AnovaF(2)).fit(X, y)
    chained = of.GroupedSelector(of.AnovaF(2), linkage="single", representative="first").fit(X, y)
    assert chained.groups_.tolist() == [0] * 7 + [1]
    assert chained.representatives_.tolist() == [0, 7]


def test_components_are_found_block_by_block(monkeypatch):
    X = np.random.default_rng(1).normal(size=(12, 40))
    whole = group_features(Correlation(X), 0.5, "single")
    monkeypatch.setattr("holdfast.selectors.wrapping.BLOCK_ENTRIES", 90)
    by_block = group_features(Correlation(X), 0.5, "single")
    _, component = connected_components(Correlation(X).above(0.5), directed=False)
    assert by_block.labels.tolist() == whole.labels.tolist() == numbered_by_first(component)


def numbered_by_first(component):
    """Components numbered by their lowest feature."""
    seen = list(dict.fromkeys(component.tolist()))
    return [seen.index(one) for one in component]
