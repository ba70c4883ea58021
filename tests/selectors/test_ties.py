"""Noise is never called stable by the order of its columns: no feature without information, ties drawn by the seed."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import Lasso
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from test_selectors import SELECTORS

import holdfast as hf
from eliminations import lockstep_elimination, ridge_elimination
from holdfast import selectors as of
from holdfast.kernels.elimination import Paths, elimination_sizes, orders
from holdfast.kernels.filters import SPARE
from holdfast.kernels.svm import svm_elimination
from holdfast.resampling import Samples
from holdfast.selection import FewerFeaturesWarning, Selection, best_columns, tie_ranks
from holdfast.selectors.base import tied
from holdfast.selectors.elastic_net import exchange_copies
from holdfast.selectors.wrapping import ResamplingWrapper

pytestmark = pytest.mark.filterwarnings("ignore::holdfast.selection.FewerFeaturesWarning")

OF_CLASSES = [selector for selector in SELECTORS if selector.about.task != "regression"]
ORDERED = [selector for selector in OF_CLASSES if not isinstance(selector, of.RandomSelector)]
FEWER = "fewer features than asked for carry information, and only those were selected (without: {})"


def name(selector):
    return type(selector).__name__


def run(selector, X, y, perturbation=None, **how):
    perturbation = hf.Bootstrap(30, stratify=True) if perturbation is None else perturbation
    return hf.Study(selectors={"s": selector}, perturbation=perturbation).run(X, y, **how)


def unseeded(selector):
    return clone(selector).set_params(random_state=None) if "random_state" in selector.get_params() else selector


# Without information


@pytest.mark.parametrize("perturbation", [hf.Subsample(30, 0.5), hf.Subsample(30, 0.8), hf.Bootstrap(30)], ids=str)
def test_information_gain_of_noise_is_not_stable(perturbation):
    """Filled up with columns of no gain, in their order, this was 0.83, 0.91 and 0.11."""
    X, y = np.random.default_rng(0).normal(size=(100, 100)), np.arange(100) % 2
    result = run(of.InformationGain(10), X, y, perturbation)
    assert result.stability("s").value < 0.4
    assert result.preferences("s").sizes.mean() < 10
    assert FEWER.format("an information gain of 0") in result.notes["note"].tolist()
    assert len(result.notes) <= 2  # one line for all resamples, and one for ties


def test_features_that_never_enter_the_path_are_not_selected():
    X, y = np.zeros((40, 30)), np.arange(40) % 2
    X[:, [20, 25]] = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.warns(FewerFeaturesWarning, match="Only 2 of 30 features carry information; 2 instead of 10 were sel"):
        path = of.ElasticNetPath(n_features=10).fit(X, y)
    assert path.n_entered_ == 2
    assert np.flatnonzero(path.support_).tolist() == [20, 25]


def test_mrmr_does_not_prefer_a_constant_to_a_redundant_feature():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = np.column_stack([np.ones((60, 5)), y[:, None] + rng.normal(scale=0.6, size=(60, 5))])
    assert np.flatnonzero(of.MRMR(4).fit(X, y).support_).min() >= 5
    assert not run(of.MRMR(4), X, y).preferences("s").counts[:5].any()


@pytest.mark.parametrize("selector", ORDERED, ids=name)
def test_constant_data_have_no_features_and_raise_no_error(selector):
    X, y = np.full((30, 6), 3.0), np.arange(30) % 2
    if isinstance(selector, of.StabilitySelection):  # rows that are equal are drawn together: there are no halves
        with pytest.raises(ValueError, match="Expected at least 4 different rows"):
            clone(selector).fit(X, y)
        return
    if isinstance(selector, of.EnsembleSelector):
        selector = clone(selector).set_params(resampling=hf.Bootstrap(3, stratify=True))
    assert not clone(selector).fit(X, y).support_.any()
    result = run(selector, X, y, hf.Bootstrap(3, stratify=True))
    assert result.preferences("s").sizes.tolist() == [0, 0, 0]
    if "n_features" in selector.get_params() and selector.n_features is not None:
        assert result.notes["note"].tolist() == [FEWER.format(selector.uninformative)]
        assert result.notes["runs"].tolist() == [3]


def test_as_many_classes_as_rows():
    X, y = np.random.default_rng(0).normal(size=(10, 6)), np.arange(10)
    with pytest.warns(FewerFeaturesWarning, match="Only 0 of 6 .* by AnovaF .without: an F value of 0, or undefined"):
        assert not of.AnovaF(3).fit(X, y).support_.any()


@pytest.mark.parametrize("selector", ORDERED, ids=name)
def test_a_column_that_is_constant_in_a_resample_only(selector):
    """Such columns are first here, and vary in one row that half of the resamples do not hold."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 12)), np.arange(40) % 2
    X[:, :6] = rng.normal(size=6)
    X[0, :6] = rng.normal(size=6)
    result = run(unseeded(selector), X, y, hf.Subsample(12, 0.5, stratify=True))
    splits = list(hf.Subsample(12, 0.5, stratify=True).splits(y))
    without = [at for at, split in enumerate(splits) if 0 not in split.train]
    assert without
    for at in without:
        assert not set(result.preferences("s").selected(at)) & set(range(6))


@pytest.mark.parametrize("selector", [of.FTest(3), of.RReliefF(3), of.MRMR(3), of.HybridRFE(3)], ids=name)
def test_next_to_numbers_constant_columns_are_never_selected_and_copies_are_drawn(selector):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 12)), rng.normal(size=40)
    X[:, :6] = rng.normal(size=6)
    X[0, :6] = rng.normal(size=6)
    splits = list(hf.Subsample(12, 0.5).splits(y, stratified=False))
    for split in splits:
        if 0 not in split.train:
            rows = split.train
            assert not clone(selector).fit(X[rows], y[rows]).support_[:6].any()
    with pytest.warns(FewerFeaturesWarning):
        assert not clone(selector).fit(np.full((30, 6), 3.0), y[:30]).support_.any()
    copies = np.tile(y[:, None] + rng.normal(size=(40, 1)), (1, 6))
    if not isinstance(selector, of.MRMR):  # whose second choice is not a copy of the first
        assert np.flatnonzero(clone(selector).fit(copies, y).support_).tolist() == [0, 1, 2]
    drawn = {tuple(clone(selector).set_params(random_state=seed).fit(copies, y).support_) for seed in range(12)}
    assert len(drawn) > 3


def test_forced_features_tell_the_criterion_something():
    X, y = np.random.default_rng(2).normal(size=(40, 8)), np.arange(40) % 2
    X[:, :3] = 1.0
    fitted = of.HybridRFE(6, n_forced=6).fit(X, y)
    assert fitted.forced_.tolist() == [3, 4, 5, 6, 7]
    assert np.flatnonzero(fitted.support_).tolist() == [3, 4, 5, 6, 7]
    assert fitted.model_.columns.tolist() == [3, 4, 5, 6, 7]


def test_a_hybrid_elimination_without_features_predicts_by_the_odds():
    y = np.r_[np.zeros(30), np.ones(10)]
    fitted = of.HybridRFE(3).fit(np.ones((40, 4)), y)
    assert fitted.predict_proba(np.ones((1, 4)))[0].tolist() == pytest.approx([0.75, 0.25])
    assert of.ElasticNetCV(random_state=0).fit(np.ones((40, 4)), y).predict_proba(np.ones((1, 4)))[0] == pytest.approx(
        [0.75, 0.25]
    )


def test_the_documentation_tells_every_rule():
    page = (Path(__file__).parents[2] / "docs" / "selectors.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[^|]*`) \| ([^|]*) \|$", page, re.MULTILINE)
    told = {known: rule for names, rule in rows for known in re.findall(r"`(\w+)`", names)}
    for selector in ORDERED:
        assert told[name(selector)] == selector.uninformative


# Ties


def copied(seed=0, n=40, n_copies=8):
    """A column that tells most of the classes, several times, before others that tell little."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, n_copies + 6))
    X[:, :n_copies] = 5 * (y + rng.normal(scale=0.15, size=n))[:, None]
    return X, y


TAKES_SOME = [
    of.Variance(3),
    of.AnovaF(3),
    of.Golub(3),
    of.GolubVariance(3),
    of.InformationGain(3),
    of.SymmetricalUncertaintyFilter(3),
    of.ReliefF(3),
    of.MRMR(1),
    of.MRMR(1, scheme="miq"),
    of.LinearSVMWeights(3),
    of.SVMRFE(3),
    of.HybridRFE(3),
    of.HybridRFE(3, n_forced=2, criterion="golub"),
    of.HybridRFE(3, n_forced=2, criterion=np.ones(14), complement="independent"),
    of.ElasticNetPath(n_features=1),
    of.ElasticNetPath(0.2),
    of.ElasticNetPath(n_features=3, l1_ratio=0.3),
    of.ElasticNetCV(3),
    of.EnsembleSelector(of.AnovaF(), 3, n_resamples=3),
    of.GroupedSelector(of.AnovaF(1)),
    of.StabilitySelection(of.AnovaF(), threshold=0.3, q=3, n_resamples=5),
]


@pytest.mark.parametrize("selector", TAKES_SOME, ids=str)
def test_copies_share_their_places_at_random(selector):
    X, y = copied()
    counts = run(selector, X, y).preferences("s").counts[:8]
    expected = counts.mean()
    assert counts.min() > 0
    assert counts.max() - expected < 4.5 * np.sqrt(expected)  # eight copies: beyond 4.5 deviations one time in 10⁴


def freshly_permuted(selector, X, y, perturbation):
    """What the lowest columns are if every resample has its columns in another order."""
    runs = []
    for split in perturbation.splits(y):
        columns = np.random.default_rng(split.seed).permutation(X.shape[1])
        fitted = clone(selector)
        if "ties" in fitted.get_params():
            fitted.set_params(ties="lowest")
        if "random_state" in fitted.get_params():
            fitted.set_params(random_state=split.seed)
        train, labels = split.data(X, y)
        runs.append(columns[np.flatnonzero(fitted.fit(train[:, columns], labels).get_support())])
    return hf.Preferences.from_sets(runs, n_features=X.shape[1])


@pytest.mark.parametrize("selector", [unseeded(selector) for selector in ORDERED], ids=name)
def test_the_order_of_columns_never_makes_noise_stable(selector):
    """Constant columns first, then copies of noise, 0/1 noise, and noise with ties."""
    rng = np.random.default_rng(4)
    y = np.arange(40) % 2
    binary = rng.integers(0, 2, (40, 12)).astype(float)
    X = np.column_stack([np.ones((40, 6)), np.repeat(binary[:, :3], 6, axis=1), binary, rng.normal(size=(40, 4))])
    perturbation = hf.Bootstrap(30, stratify=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hf.UndefinedStabilityWarning)
        ours = run(selector, X, y, perturbation).stability("s").value
        fair = hf.stability(freshly_permuted(selector, X, y, perturbation)).value
    by_value = (ResamplingWrapper, of.ElasticNetCV)  # rows are drawn by their values, so others with other columns
    assert abs(ours - fair) < (0.07 if isinstance(selector, by_value) else 0.035)


@pytest.mark.parametrize("selector", TAKES_SOME[:14], ids=str)
def test_the_lowest_columns_on_request_and_in_a_plain_fit(selector):
    X, y = copied(1)
    size = selector.n_features
    assert np.flatnonzero(clone(selector).fit(X, y).support_).tolist() == list(range(size))
    lowest = clone(selector).set_params(ties="lowest")
    assert run(lowest, X, y, hf.Bootstrap(4, stratify=True)).preferences("s").counts[:size].tolist() == [4] * size
    drawn = {tuple(clone(selector).set_params(random_state=s).fit(X, y).support_) for s in range(12)}
    assert len(drawn) > 3
    assert len({tuple(clone(selector).set_params(ties="random").fit(X, y).support_) for _ in range(12)}) > 1


@pytest.mark.parametrize("selector", TAKES_SOME, ids=str)
def test_draws_depend_on_the_split_alone(selector):
    X, y = copied(2)
    together = run(selector, X, y, hf.Bootstrap(6, stratify=True))
    assert run(selector, X, y, hf.Bootstrap(6, stratify=True), n_jobs=2).preferences("s") == together.preferences("s")
    for at in (1, 4):
        split = hf.Bootstrap(6, stratify=True).make_split(at, Samples.of(len(y), y), 0)
        own = {key: split.seed for key in selector.get_params() if key.split("__")[-1] == "random_state"}
        alone = clone(selector).set_params(**own).fit(*split.data(X, y))
        assert np.flatnonzero(alone.support_).tolist() == together.preferences("s").selected(at)


# Estimators of scikit-learn, cut by the study


@pytest.mark.parametrize("noise", [1e-4, 1e-5, 1e-10])
@pytest.mark.parametrize(
    "selector", [of.AnovaF(5), of.Golub(5), of.GolubVariance(5, lambda_v=1e-3), of.Variance(5)], ids=name
)
def test_a_near_copy_of_the_target_does_not_make_the_others_tie(selector, noise):
    """An F value of 1e13 made ties of all others when rounding counted relative to the largest weight."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = rng.normal(size=(120, 40))
    X[:, 20:24] += np.outer(y, [2.0, 2.5, 3.0, 3.5])
    X[:, 30] = 5 * y / noise + rng.normal(size=120)
    splits = list(hf.Bootstrap(8, stratify=True).splits(y))
    batch = selector.refit_many(selector.prepare(X, y, [{}]), X, y, splits, [{}])
    for split, (selection,) in zip(splits, batch, strict=True):
        single = clone(selector).set_params(random_state=split.seed).fit(X[split.train], y[split.train])
        assert selection.values.tolist() == np.flatnonzero(single.support_).tolist() == [20, 21, 22, 23, 30]
        assert selection.note == ""


def test_weights_tie_by_their_own_size_and_up_to_a_rounding():
    weights = np.array([1e13, 3.0, 3.0 + 1e-12, 2.0, 3e-12, 1e-12, -1.0, np.inf])
    assert best_columns(weights, 7).order.tolist() == [7, 0, 1, 2, 3, 4, 5]
    assert best_columns(weights, 7).ties.tolist() == [False, False, True, False, False, False, False]
    assert best_columns(weights, 7, rounding=1e-11).ties.tolist() == [False, False, True, False, False, True, False]
    assert tied(weights)[:6].tolist() == [1e13, 3.0 + 1e-12, 3.0 + 1e-12, 2.0, 3e-12, 1e-12]
    assert tied(weights, 1e-11)[5] == 3e-12


def test_a_study_cuts_others_by_the_seed_and_not_among_features_without_weight():
    X, y = copied()
    top = run(hf.Candidates(SelectKBest(f_classif, k="all"), sizes=3), X, y)
    counts = top.preferences("s").counts[:8]
    assert counts.sum() == 90
    assert counts.max() < 22
    assert top.notes["note"].tolist() == ["the cut falls among tied features, and some of them were drawn at random"]
    sparse = run(hf.Candidates(Lasso(0.2), sizes=5), X, y.astype(float), hf.Subsample(8, 0.6))
    assert sparse.preferences("s").sizes.max() < 5
    assert sparse.notes["note"].tolist() == [FEWER.format("a weight of 0")]
    X[:, 8:10] = 1.0
    forest = run(hf.Candidates(RandomForestClassifier(5), sizes=14), X, y, hf.Bootstrap(4))
    assert not forest.preferences("s").counts[8:10].any()


def test_a_selector_in_a_pipeline_keeps_signs_and_what_carries_information():
    X, y = copied(n_copies=1)
    X[:, 3] = 1.0
    pipeline = make_pipeline(StandardScaler(), of.ReliefF(7))
    cut = run(hf.Candidates(pipeline, sizes=7), X, y, hf.Bootstrap(3, stratify=True)).preferences("s")
    plain = run(of.ReliefF(7), X, y, hf.Bootstrap(3, stratify=True)).preferences("s")
    assert cut == plain
    assert cut.counts[3] == 0
    assert cut.sizes.tolist() == [6, 6, 6]


def test_a_cut():
    weights = Selection("weighting", np.array([0.0, 2, 2, 2, 0, 1]), informative=np.array([0, 1, 1, 1, 0, 1], bool))
    assert weights.top(2).values.tolist() == [1, 2]
    assert weights.top(2).note == "the cut falls among tied features, and the lowest columns were taken"
    assert {tuple(weights.top(2, random_state=seed).values) for seed in range(30)} == {(1, 2), (1, 3), (2, 3)}
    assert weights.top(4).note == ""
    assert weights.top(6).values.tolist() == [1, 2, 3, 5]
    assert weights.top(6, rule="a gain of 0").note == FEWER.format("a gain of 0")
    assert weights.top(0).values.tolist() == []
    assert tie_ranks(5, None).tolist() == [0, 1, 2, 3, 4]
    assert tie_ranks(50, 3).tolist() == tie_ranks(50, 3).tolist() != tie_ranks(50, 4).tolist()


# Eliminations, step by step


def sorted_in_full(weights, k, informative, seed):
    """The definition: all columns in the order of their ranks, sorted by weight, and the first informative ones."""
    by_rank = np.argsort(tie_ranks(weights.size, seed))
    order = by_rank[np.argsort(-weights[by_rank], kind="stable")]
    order = order[informative[order]]
    return order[:k].tolist(), 0 < k < order.size and weights[order[k - 1]] == weights[order[k]]


@pytest.mark.parametrize("n_columns", [1, 6, SPARE + 12, 300])
@pytest.mark.parametrize("undefined", [[], [np.nan], [np.nan, np.inf, -np.inf]], ids=str)
def test_the_best_columns_are_those_of_a_full_sort(n_columns, undefined):
    rng = np.random.default_rng(n_columns)
    for trial in range(60):
        weights = rng.integers(-2, 2 + trial, n_columns) + rng.choice([0, 1e-13], n_columns)
        weights = np.where(rng.random(n_columns) < 0.2, rng.choice([0.0, *undefined], n_columns), weights)
        informative = rng.random(n_columns) < rng.choice([0.05, 0.5, 1.0])
        k, seed = int(rng.integers(0, n_columns + 2)), rng.choice([None, trial])
        best = best_columns(weights, k, informative, seed)
        assert (best.order.tolist(), best.ties_at_cut) == sorted_in_full(tied(weights), k, informative, seed)
        exact = tied(weights)
        best = best_columns(exact, k, informative, seed, tolerance=0.0)
        assert (best.order.tolist(), best.ties_at_cut) == sorted_in_full(exact, k, informative, seed)


def lockstep(X, y, counts, sizes, tie_ranks=None, xp="numpy"):
    (paths,) = lockstep_elimination(X, y, counts, sizes, tie_ranks=tie_ranks, xp=xp)
    return Paths(*paths)


def lockstep_on_torch(X, y, counts, sizes, tie_ranks=None):
    pytest.importorskip("torch", reason="torch is not installed")
    return lockstep(X, y, counts, sizes, tie_ranks, xp="torch")


@pytest.mark.parametrize(
    "eliminate", [ridge_elimination, svm_elimination, lockstep, lockstep_on_torch], ids=lambda one: one.__name__
)
@pytest.mark.parametrize("n", [16, 60])
def test_turns_are_the_order_of_columns(eliminate, n):
    """An elimination by tie-break ranks is one by the lowest column of columns in the order of their ranks."""
    rng = np.random.default_rng(5)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = np.repeat(rng.normal(size=(n, 7)) + 0.3 * y[:, None], 4, axis=1)
    X[:, 5] = 0.0
    counts = np.array([rng.permutation(np.repeat([0, 1, 2], [n // 4, n - 2 * (n // 4), n // 4])) for _ in range(3)])
    counts[:, :4] += 1
    sizes, ranks = elimination_sizes(28, 3, 0.3), np.array([tie_ranks(28, seed) for seed in range(3)])
    ours = eliminate(X, y, counts, sizes=sizes, tie_ranks=ranks)
    ordered = orders(ours, ranks)
    for at, own in enumerate(ranks):
        columns = np.argsort(own)
        plain = eliminate(X[:, columns], y, counts[at : at + 1], sizes=sizes)
        assert ours.smallest_size[at][columns].tolist() == plain.smallest_size[0].tolist()
        assert ordered[at].tolist() == columns[orders(plain)[0]].tolist()
    assert (ours.smallest_size[0] != ours.smallest_size[1]).any()


def test_tie_ranks_of_other_columns_are_refused():
    X, y = copied()
    message = r"Expected tie-break ranks of 14 columns for all or each of 1 resamples, got shape"
    with pytest.raises(ValueError, match=message):
        ridge_elimination(X, 2.0 * y - 1, tie_ranks=np.arange(5))


def test_copies_up_to_shift_scale_and_sign_are_exchanged_with_their_weights():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(30, 6))
    X[:, 1], X[:, 4], X[:, 5] = 3 - 2 * X[:, 0], 0.1 * X[:, 0], 1.0
    X[:5, 4] = 0  # not drawn
    counts = np.r_[np.zeros(5, int), np.ones(25, int)]
    seen = set()
    for seed in range(60):
        exchange = exchange_copies(X, counts, seed)
        seen.add(tuple(exchange.to))
        columns, coef, intercept = exchange.weights(np.array([0, 2, 4]), np.array([1.5, -1, 2]), 0.25)
        before = X[5:][:, [0, 2, 4]] @ [1.5, -1, 2] + 0.25
        np.testing.assert_allclose(X[5:][:, columns] @ coef + intercept, before, atol=1e-12)
        assert (np.diff(columns) > 0).all()
    assert len(seen) == 6
    assert all(to[2] == 2 and to[3] == 3 and to[5] == 5 for to in seen)
    assert exchange_copies(X[:, 2:4], counts, 0) is None


def test_copies_next_to_covariates_are_exchanged():
    rng = np.random.default_rng(6)
    X, Z = (
        rng.normal(size=(30, 6)),
        np.column_stack([rng.normal(size=30), np.arange(30) % 3 == 1, np.arange(30) % 3 == 2]),
    )
    X[:, 4] = 3 - 2 * X[:, 0] + Z @ [0, 1, -4]
    X[:, 2], X[:, 5] = Z[:, 0] + 1, 2.0  # nothing is left of these
    counts = np.r_[np.zeros(5, int), rng.integers(0, 3, 25)]
    assert exchange_copies(X, counts, 0) is None
    found = [exchange_copies(X, counts, seed, Z) for seed in range(20)]
    assert {tuple(exchange.to) for exchange in found} == {(0, 1, 2, 3, 4, 5), (4, 1, 2, 3, 0, 5)}
    exchange = next(exchange for exchange in found if exchange.to[0] == 4)
    columns, coef, _ = exchange.weights(np.array([0, 1]), np.array([1.5, -1]), 0.0)
    assert columns.tolist() == [1, 4]
    np.testing.assert_allclose(coef, [-1, -0.75], rtol=1e-9)


def test_measures_of_one_size_say_why_sizes_differ():
    X, y = np.random.default_rng(0).normal(size=(100, 100)), np.arange(100) % 2
    runs = run(of.InformationGain(10), X, y, hf.Subsample(10, 0.5)).preferences("s")
    with pytest.raises(ValueError, match="A selection may be smaller because fewer features carried information"):
        hf.stability(runs, "kuncheva")
