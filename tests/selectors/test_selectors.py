"""Every selector: scikit-learn's own checks, weights as repeated rows, batches as single fits."""

from inspect import signature

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

import holdfast as hf
from holdfast import selectors as of
from holdfast.resampling import Samples
from holdfast.selectors.wrapping import deal_folds
from holdfast.study.named import named_selectors
from holdfast.targets import Target

pytestmark = pytest.mark.filterwarnings("ignore::holdfast.selection.FewerFeaturesWarning")
SETTINGS = {  # of selectors that need more than a number of features, or that are tried with several settings
    of.Golub: [{}, {"multi_class": "rest"}],
    of.GolubVariance: [{"lambda_v": 0.5}, {"lambda_v": 0.5, "units": "largest"}],
    of.HybridRFE: [{"n_forced": 1}, {"multi_class": "rest"}],
    of.MRMR: [{}, {"relevance": "f"}],
    of.ElasticNetPath: [{}, {"penalty_strength": 0.1, "n_features": None, "l1_ratio": 0.5}],
    of.ElasticNetCV: [{"cv": 3, "random_state": 0}, {"cv": 3, "copies": "apart", "random_state": 0}],
    of.RandomSelector: [{"random_state": 0}],
    of.StabilitySelection: [
        {"base": of.AnovaF(), "threshold": 0.6, "q": 2, "resampling": hf.ComplementaryPairs(5, stratify=True)}
    ],
    of.EnsembleSelector: [{"base": of.AnovaF(), "n_resamples": 5}],
    of.GroupedSelector: [{"base": of.AnovaF(2)}],
    of.Prefiltered: [{"base": of.AnovaF(2), "filter": of.Variance(6), "n_features": None}],
}


def registered_selectors():
    """Every registered selector of holdfast for classes, with two features where it takes a number of them."""
    for record in of.SELECTORS.values():
        for kind in record.classes:
            if issubclass(kind, of.Selector) and "classification" in record.about.tasks:
                size = {"n_features": 2} if "n_features" in signature(kind).parameters else {}
                yield from (kind(**{**size, **settings}) for settings in SETTINGS.get(kind, [{}]))


SELECTORS = list(registered_selectors())
ONE_OF_EACH = list({type(one): one for one in reversed(SELECTORS)}.values())[::-1]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:No features were selected")
@parametrize_with_checks([one for one in SELECTORS if one not in ONE_OF_EACH])
def test_scikit_learn_s_checks_raise_nothing_with_other_settings(estimator, check):
    test_scikit_learn_s_checks_raise_nothing(estimator, check)


@pytest.mark.filterwarnings("ignore:No features were selected")
@parametrize_with_checks(ONE_OF_EACH)
def test_scikit_learn_s_checks_raise_nothing(estimator, check):
    before = str(estimator.get_params())
    check(estimator)  # raises AssertionError where the contract is broken
    assert str(estimator.get_params()) == before, "a check, or a fit in it, changed the parameters"


def data(seed=0, n=40, d=12, n_classes=2):
    """Classes that some features separate, with ties, a constant and a repeated column."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, d)) + np.where(np.arange(d) < 4, y[:, None] * 0.8, 0)
    X[:, 5], X[:, 7] = 1.0, X[:, 2]
    X[:, 9] = np.round(X[:, 9])
    return X, np.array(["a", "b", "c"])[y]


def target_for(selector, y):
    """Classes, or numbers near their codes for selectors of numbers."""
    if selector.about.task != "regression":
        return y
    return np.unique(y, return_inverse=True)[1] + np.random.default_rng(0).normal(size=len(y))


def settings_of(selector):
    """Settings that one fit serves."""
    if isinstance(selector, of.ElasticNetCV):
        return [{"rule": rule} for rule in ("min", "1se")]
    if getattr(selector, "penalty_strength", None) is not None:
        return [{"penalty_strength": lam} for lam in (0.3, 0.05, 0.1)]
    name = {of.StabilitySelection: "q", of.GroupedSelector: "base__n_features"}.get(type(selector), "n_features")
    return [{name: size} for size in (1, 3, 5)]


def one_by_one(selector, setting, split, X, y):
    """What a clone, fitted to the rows of a split, selects."""
    fitted = clone(selector).set_params(**setting)
    if "random_state" in fitted.get_params() and fitted.random_state is None:
        fitted.set_params(random_state=split.seed)
    return np.flatnonzero(fitted.fit(*split.data(X, y)).get_support()).tolist()


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("perturbation", [hf.Bootstrap(6), hf.Subsample(4, 0.6)], ids=str)
def test_many_fits_equal_single_ones(selector, perturbation):
    X, y = data()
    y, settings = target_for(selector, y), settings_of(selector)
    splits = [perturbation.make_split(index, Samples.of(len(y)), 3) for index in range(perturbation.get_n_splits())]
    found = list(selector.refit_many(selector.prepare(X, y, settings), X, y, splits, settings))
    for split, selections in zip(splits, found, strict=True):
        for setting, selection in zip(settings, selections, strict=True):
            assert selection.values.tolist() == one_by_one(selector, setting, split, X, y)


def test_many_fits_take_a_random_state_that_is_no_number():
    X, y = data()
    selector = of.RandomSelector(3, random_state=np.random.RandomState(4))
    splits = list(hf.Bootstrap(3).splits(y))
    found = selector.refit_many(selector.prepare(X, y, [{}]), X, y, splits, [{}])
    for split, (selection,) in zip(splits, found, strict=True):
        assert selection.values.tolist() == one_by_one(selector, {}, split, X, y)


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda one: type(one).__name__)
def test_a_study_is_the_same_batched_or_not(selector):
    X, y = data(1)
    y, settings = target_for(selector, y), settings_of(selector)
    grid = {name: [setting[name] for setting in settings] for name in settings[0]}
    study = hf.Study(selectors={"s": hf.Candidates(selector, grid)}, perturbation=hf.Bootstrap(5))
    result = study.run(X, y)
    for candidate, setting in zip(result.candidates, settings, strict=True):
        for run in range(5):
            strata = None if selector.about.task == "regression" else y
            split = hf.Bootstrap(5).make_split(run, Samples.of(len(y), strata), 0)
            assert result.preferences(candidate).selected(run) == one_by_one(selector, setting, split, X, y)


@pytest.mark.parametrize("selector", [of.MRMR(3), of.SVMRFE(3), of.HybridRFE(3)], ids=lambda one: type(one).__name__)
def test_ranks_count_from_one(selector):
    fitted = clone(selector).fit(*data())
    assert sorted(fitted.ranking_[fitted.get_support()]) == [1, 2, 3]
    assert fitted.ranking_.max() <= 12


def test_a_refit_leaves_nothing_of_an_earlier_fit():
    X, y = data()
    for selector, changed in (
        (of.ElasticNetPath(0.1), {"penalty_strength": None, "n_features": 2}),
        (of.ElasticNetPath(0.1), {"model": "linear"}),
        (of.ElasticNetCV(3, random_state=0), {"model": "linear"}),
    ):
        numbers = np.arange(40.0) + X[:, 0]
        selector.fit(X, y).set_params(**changed).fit(X, y if "n_features" in changed else numbers)
        fresh = clone(selector).fit(X, y if "n_features" in changed else numbers)
        assert set(vars(selector)) == set(vars(fresh))


def test_top_is_served_by_one_fit():
    X, y = data(1)
    tops, sizes = (
        hf.Study(selectors={"s": candidates}, perturbation=hf.Bootstrap(5)).run(X, y)
        for candidates in (
            hf.Candidates(of.SVMRFE(), sizes=[2, 4]),
            hf.Candidates(of.SVMRFE(), {"n_features": [2, 4]}),
        )
    )
    assert tops.candidates == ["s(size=2)", "s(size=4)"]
    for one, two in zip(tops.candidates, sizes.candidates, strict=True):
        assert tops.preferences(one) == sizes.preferences(two)


MORE = [one for one in SELECTORS if one.about.task != "regression"]


@pytest.mark.parametrize("selector", MORE, ids=lambda one: type(one).__name__)
def test_more_classes_and_resamples_that_miss_one(selector):
    X, y = data(5, n=21, n_classes=3)
    y[:2] = "d"  # often missing from a resample
    splits = [hf.Bootstrap(8).make_split(index, Samples.of(len(y)), 0) for index in range(8)]
    assert {len(set(y[split.train])) for split in splits} == {3, 4}
    found = list(selector.refit_many(selector.prepare(X, y, [{}]), X, y, splits, [{}]))
    for split, (selection,) in zip(splits, found, strict=True):
        assert selection.values.tolist() == one_by_one(selector, {}, split, X, y)


def test_one_class_fails_that_resample_alone():
    X, y = data(6, n=10)
    splits = [hf.Bootstrap(40).make_split(index, Samples.of(10), 0) for index in range(40)]
    splits[3] = hf.resampling.Split(index=3, label="one class", rows=np.flatnonzero(y == "a"), seed=0)
    selector = of.SVMRFE(2)
    found = [one for (one,) in selector.refit_many(selector.prepare(X, y, [{}]), X, y, splits, [{}])]
    assert str(found[3]) == "Expected two classes or more to tell apart, got 1 class."
    assert sum(isinstance(one, Exception) for one in found) == 1


def test_alphas_of_mrmr_share_one_fit_and_equal_their_own():
    X, y = data(2)
    settings = [{"alpha": alpha, "n_features": size} for alpha in (0.2, 0.5, 0.9) for size in (2, 6)]
    selector = of.MRMR(scheme="mid_alpha")
    splits = [hf.Bootstrap(3).make_split(index, Samples.of(len(y)), 0) for index in range(3)]
    found = list(selector.refit_many(selector.prepare(X, y, settings), X, y, splits, settings))
    for split, selections in zip(splits, found, strict=True):
        for setting, selection in zip(settings, selections, strict=True):
            assert selection.values.tolist() == one_by_one(selector, setting, split, X, y)


@pytest.mark.parametrize(
    "selector", [of.ReliefF(3, ranges="full"), of.MRMR(3, bins="full"), of.SymmetricalUncertaintyFilter(3, bins="full")]
)
def test_what_is_learned_on_the_full_data_is_shared(selector):
    X, y = data(3)
    split = hf.Subsample(1, 0.5).make_split(0, Samples.of(len(y)), 0)
    (found,) = selector.refit_many(selector.prepare(X, y, [{}]), X, y, [split], [{}])
    weighted = clone(selector).fit(X, y, sample_weight=split.weights(len(y)))
    assert found[0].values.tolist() == np.flatnonzero(weighted.get_support()).tolist()


def test_mrmr_chooses_constants_if_asked_to():
    X, y = data(2)
    X[:, 1] = 7.0
    order = of.MRMR(X.shape[1], relevant_only=False).fit(X, y).order_.tolist()
    assert sorted(order) == list(range(X.shape[1]))
    assert order.index(1) < len(order) - 1  # it shares nothing, so that it comes before features that share much
    with pytest.warns(hf.selection.FewerFeaturesWarning):
        assert 1 not in of.MRMR(X.shape[1]).fit(X, y).order_


def test_scores_along_an_order_use_the_bins_of_the_fit():
    X, y = data(3)
    X[0, :4] = 50  # far out, and left out
    counts = np.r_[0, np.ones(len(y) - 1, int)]
    for bins in ("full", "split"):
        mrmr = of.MRMR(3, bins=bins).fit(X, y, sample_weight=counts)
        relevance, redundancy = mrmr.score_path(X, y, mrmr.order_, sample_weight=counts)
        assert relevance.tolist() == mrmr.relevance_.tolist()
        assert redundancy.tolist() == mrmr.redundancy_.tolist()


def test_ties_go_to_the_lowest_column_or_are_drawn():
    X = np.tile(np.repeat([0.0, 1.0], 10)[:, None], (1, 8))
    y = np.repeat([0, 1], 10)
    assert np.flatnonzero(of.AnovaF(3).fit(X, y).get_support()).tolist() == [0, 1, 2]
    drawn = {
        tuple(np.flatnonzero(of.Variance(3, ties="random", random_state=s).fit(X, y).get_support())) for s in range(20)
    }
    assert len(drawn) > 5


def test_random_choice_has_no_stability():
    X, y = data(4, d=30)
    study = hf.Study(
        selectors={"any": of.RandomSelector(5), "size": of.RandomSelector(None)}, perturbation=hf.Bootstrap(200)
    )
    result = study.run(X, y)
    assert abs(result.stability("any").value) < 0.02
    assert abs(result.stability("size").value) < 0.05
    assert len(set(result.preferences("size").sizes)) > 20


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X, y: of.AnovaF(-1).fit(X, y), "Expected n_features to be a whole number of at least 0, got -1"),
        (lambda X, y: of.AnovaF(ties="last").fit(X, y), "Expected ties='auto', 'random' or 'lowest', got 'last'"),
        (
            lambda X, y: of.AnovaF().fit(X, y, sample_weight=np.full(len(y), 0.5)),
            "Expected whole numbers as sample_weight",
        ),
        (
            lambda X, y: of.AnovaF().fit(X, np.full(len(y), "a")),
            "Expected two classes or more to tell apart, got 1 class",
        ),
        (
            lambda X, y: of.Golub(multi_class="ovo").fit(X, y),
            "Expected multi_class='pairwise' or 'rest', got 'ovo'",
        ),
        (lambda X, y: of.GolubVariance(lambda_v=-1).fit(X, y), "Expected lambda_v to be 0 or more, got -1"),
        (lambda X, y: of.GolubVariance(units="sd").fit(X, y), "Expected units='data' or 'largest', got 'sd'"),
        (lambda X, y: of.MRMR(scheme="mid_alpha", alpha=2).fit(X, y), "Expected alpha from 0 to 1, got 2"),
        (lambda X, y: of.MRMR(bins="all").fit(X, y), "Expected bins='split' or 'full', got 'all'"),
        (lambda X, y: of.MRMR(n_bins=None).fit(X, y), "Expected codes, whole numbers from 0 to 255"),
        *[
            (
                lambda X, y, make=make, n_bins=n_bins: make(n_bins=n_bins).fit(X, y),
                f"Expected n_bins to be a whole number from 2 to 256, got {n_bins!r}",
            )
            for make in (of.MRMR, of.SymmetricalUncertaintyFilter)
            for n_bins in (0, -3, 1, 2.5, 257, 300, True)
        ],
        (lambda X, y: of.ReliefF(n_neighbors=0).fit(X, y), "Expected n_neighbors to be a whole number of at least 1"),
    ],
)
def test_bad_input_is_told_in_one_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make(*data())


@pytest.mark.parametrize(
    "how",
    [
        pytest.param({"time_limit": 600}, marks=pytest.mark.slow),
        {"grown": True},
        {"only": ["s(n_neighbors=5, ranges=full)"]},
    ],
    ids=str,
)
def test_what_is_shared_belongs_to_its_setting_whichever_settings_run(how, tmp_path, caplog):
    X, y = data(7, n=60)
    grid = {"n_neighbors": [3, 5], "ranges": ["full", "split"]}

    def run(grid, **options):
        study = hf.Study(selectors={"s": hf.Candidates(of.ReliefF(3), grid)}, perturbation=hf.Subsample(12, 0.4))
        return study.run(X * np.arange(1, 13), y, **options)

    whole, store = run(grid), tmp_path / "s.db"
    if how.pop("grown", False):
        run({"n_neighbors": [5], "ranges": ["split", "full"]}, store=store)
    found = run(grid, store=store, **how)
    for candidate in how.get("only", whole.candidates):
        assert found.preferences(candidate) == whole.preferences(candidate)
    assert not caplog.records  # nothing fell back to single fits


def test_a_cut_among_ties_is_noted():
    X = np.tile(np.repeat([0.0, 1.0], 10)[:, None], (1, 8))
    study = hf.Study(selectors={"anova": of.AnovaF(3)}, perturbation=hf.Bootstrap(4, stratify=True))
    notes = study.run(X, np.repeat([0, 1], 10)).notes
    assert notes["note"].tolist() == ["the cut falls among tied features, and some of them were drawn at random"]
    assert notes["runs"].tolist() == [4]


def test_folds_inside_a_split_keep_groups_together():
    X, y = data(8)
    groups, selector = np.repeat(np.arange(10), 4), of.ElasticNetCV(3, random_state=0)
    target = Target.of(np.repeat(y[:10], 4), classes=True)
    splits = deal_folds(groups, target, np.ones(40, np.int64), 3, "together", 0)
    held_out = np.array([split.held_out for split in splits]).reshape(3, 10, 4)
    assert (held_out == held_out[:, :, :1]).all()
    assert (held_out.sum(axis=0) == 1).all()
    labels = np.array([f"patient {group}" for group in groups])
    assert (
        selector.fit(X, y, groups=labels).penalty_strength_
        == clone(selector).fit(X, y, groups=groups).penalty_strength_
    )
    study = hf.Study(selectors={"s": selector}, perturbation=hf.Subsample(3, 0.7))
    result = study.run(X, y, groups=groups)
    for run, split in enumerate(hf.Subsample(3, 0.7).splits(y, groups)):
        alone = clone(selector).fit(*split.data(X, y), groups=groups[split.train])
        assert result.preferences("s").selected(run) == np.flatnonzero(alone.support_).tolist()


def bootstrap_counts(seed, n):
    return np.bincount(np.random.default_rng(seed).integers(0, n, n), minlength=n)


def deal_copies_one_by_one(X, codes, counts, n_folds, seed):
    """Rows repeated in the order of target and values, and the fold of each: an oracle without counts."""
    by_value = sorted(range(len(X)), key=lambda row: (codes[row], *X[row]))
    repeated = [row for row in by_value for _ in range(counts[row])]
    rng, deck = np.random.default_rng(seed), []
    for code in sorted({codes[row] for row in repeated}):
        deck += list(rng.permutation([place for place, row in enumerate(repeated) if codes[row] == code]))
    folds = np.empty(len(repeated), int)
    for turn, place in enumerate(deck):
        folds[place] = turn % n_folds
    return np.array(repeated), folds


@pytest.mark.parametrize("numbers", [False, True], ids=["classes", "numbers"])
def test_copies_dealt_apart_are_those_of_repeated_rows(numbers):
    for seed in range(3):
        X, y = data(seed, n=50)
        codes = np.unique(y, return_inverse=True)[1]
        y = X[:, 0] - X[:, 3] + np.random.default_rng(seed).normal(size=50) if numbers else y
        counts = bootstrap_counts(seed, 50)
        rows, folds = deal_copies_one_by_one(
            X if not numbers else np.column_stack([y, X]), np.zeros(50) if numbers else codes, counts, 5, seed
        )
        splits = [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(5)]
        slow = of.ElasticNetCV(splits, rule="min", random_state=seed).fit(X[rows], y[rows])
        apart = of.ElasticNetCV(5, copies="apart", rule="min", random_state=seed).fit(X, y, sample_weight=counts)
        assert apart.penalty_strength_ == pytest.approx(slow.penalty_strength_, rel=1e-6)
        assert (apart.support_ == slow.support_).all()


def test_copies_apart_depend_on_neither_the_order_of_rows_nor_how_they_are_given():
    X, y = data(3, n=50)
    counts, rng = bootstrap_counts(5, 50), np.random.default_rng(0)
    selector = of.ElasticNetCV(5, copies="apart", random_state=1)
    plain = clone(selector).fit(X, y, sample_weight=counts)
    rows = rng.permutation(np.repeat(np.arange(50), counts))
    repeated = clone(selector).fit(X[rows], y[rows])
    some = np.minimum(counts, 1)
    twice = rng.permutation(100)  # each row twice, with a part of its count
    spread = clone(selector).fit(
        np.r_[X, X][twice], np.r_[y, y][twice], sample_weight=np.r_[some, counts - some][twice]
    )
    for other in (repeated, spread):
        assert other.penalty_strength_ == pytest.approx(plain.penalty_strength_, rel=1e-6)
        assert (other.support_ == plain.support_).all()


def test_without_copies_it_does_not_matter_how_they_are_dealt():
    X, y = data(4)
    together, apart = (of.ElasticNetCV(4, copies=copies, random_state=0).fit(X, y) for copies in ("together", "apart"))
    assert together.penalty_strength_ == apart.penalty_strength_


def test_copies_dealt_apart_in_a_study_and_by_name():
    X, y = data(6, n=60)
    selector = of.ElasticNetCV(5)
    study = hf.Study(
        selectors={"s": hf.Candidates(selector, {"copies": ["together", "apart"]})}, perturbation=hf.Bootstrap(6)
    )
    result = study.run(X, y)
    assert result.preferences("s(copies=apart)").sizes.sum() > result.preferences("s(copies=together)").sizes.sum()
    for run, split in enumerate(hf.Bootstrap(6).splits(y)):
        alone = of.ElasticNetCV(5, copies="apart", random_state=split.seed).fit(*split.data(X, y))
        assert result.preferences("s(copies=apart)").selected(run) == np.flatnonzero(alone.support_).tolist()
    (named,) = named_selectors("s", "lasso_cv", {"copies": "apart"}, "classification").values()
    assert named.selector.copies == "apart"
    with pytest.raises(ValueError, match="Expected copies='together' or 'apart', got 'aside'"):
        of.ElasticNetCV(5, copies="aside").fit(X, y)
    with pytest.raises(ValueError, match="Expected copies='together' where rows have groups"):
        of.ElasticNetCV(5, copies="apart").fit(X, y, groups=np.arange(60) // 2)


@pytest.mark.parametrize("drop", [np.inf, np.nan, 0, -0.5, 2.5])
@pytest.mark.parametrize("selector", [of.SVMRFE(2), of.HybridRFE(2)], ids=lambda one: type(one).__name__)
def test_a_wrong_drop_is_told_in_one_sentence(selector, drop):
    with pytest.raises(ValueError, match="Expected drop to be a share of the features below 1, or a whole number of"):
        clone(selector).set_params(drop=drop).fit(*data())


def test_the_variance_takes_any_target():
    X, y = data(9)
    numbers = np.random.default_rng(0).normal(size=40)
    best = np.argsort(-X.var(axis=0, ddof=1))[:3]
    for target in (y, numbers, np.zeros(40)):
        fitted = of.Variance(3).fit(X, target)
        assert fitted.scores_ == pytest.approx(X.var(axis=0, ddof=1))
        assert set(np.flatnonzero(fitted.get_support())) == set(best)
    study = hf.Study(selectors={"variance": of.Variance(3)}, perturbation=hf.Bootstrap(5))
    assert study.run(X, numbers).preferences("variance").sizes.tolist() == [3] * 5


def test_k_is_the_number_of_features_or_is_refused():
    (lasso,) = named_selectors("lasso", "lasso", {"k": 5}, "classification").values()
    assert lasso.selector.n_features == 5
    with pytest.raises(ValueError, match=r"k is short for n_features, .* which lasso_cv does not have"):
        named_selectors("lasso", "lasso_cv", {"k": 5}, "classification")
    (chosen,) = named_selectors("lasso", "lasso_cv", {"cv": 5}, "classification").values()
    assert chosen.selector.cv == 5


def test_folds_may_be_those_of_a_splitter_where_rows_are_not_resampled():
    X, y = data(n=45)
    splits = list(StratifiedKFold(3).split(X, y))
    by_splitter, by_list = (of.ElasticNetCV(cv, random_state=0).fit(X, y) for cv in (StratifiedKFold(3), splits))
    assert by_splitter.penalty_strength_ == by_list.penalty_strength_
    with pytest.raises(ValueError, match="Where rows are resampled, cv is a number of folds"):
        hf.Study(selectors={"lasso": of.ElasticNetCV(splits)}, perturbation=hf.Bootstrap(3)).run(X, y)
    with pytest.raises(ValueError, match="Expected cv to be a whole number of at least 2, or a splitter, got 1"):
        of.ElasticNetCV(1).fit(X, y)


SERVE_NUMBERS = [
    of.Variance(3), of.FTest(3), of.RReliefF(3), of.RReliefF(3, n_neighbors=20, sigma=5.0, ranges="full"), of.MRMR(3),
    of.MRMR(3, scheme="miq", relevance="f"), of.MRMR(3, target_bins=3), of.InformationGain(3, target_bins=3),
    of.SymmetricalUncertaintyFilter(3, target_bins=3), of.HybridRFE(3, n_forced=1, criterion="correlation"),
    of.ElasticNetPath(n_features=3),
]  # fmt: skip


@pytest.mark.parametrize("selector", SERVE_NUMBERS, ids=lambda one: str(one).replace("\n", ""))
def test_numbers_are_selected_for_in_batches_and_by_counts_as_in_single_fits_of_repeated_rows(selector):
    X, _ = data(8)
    y = X[:, 0] - X[:, 3] + np.random.default_rng(1).normal(size=40)
    splits = list(hf.Bootstrap(4).splits(y, stratified=False))
    found = list(selector.refit_many(selector.prepare(X, y, [{}]), X, y, splits, [{}]))
    for split, (selection,) in zip(splits, found, strict=True):
        if not (hasattr(selector, "ranges") and selector.ranges == "full"):  # which a fit to the rows alone cannot know
            assert selection.values.tolist() == one_by_one(selector, {}, split, X, y)
        weighted = clone(selector).set_params(random_state=split.seed).fit(X, y, sample_weight=split.weights(40))
        assert selection.values.tolist() == np.flatnonzero(weighted.get_support()).tolist()
