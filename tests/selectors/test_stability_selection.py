"""Stability selection: its error bounds, what it counts, and what it refuses."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectFromModel, SelectKBest, f_classif
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import holdfast as hf
from holdfast import selectors as of
from holdfast.resampling import Samples
from holdfast.resampling.split import rng_of
from holdfast.selectors.base import Preference, Selector
from holdfast.selectors.stability_selection import (
    BOUNDS,
    SelectionCounts,
    expected_false,
    integrate_path,
    largest_q,
    largest_tail,
    on_grid,
    take_first,
    threshold_for,
    unimodal_factor,
)
from holdfast.selectors.wrapping import INNER

# The bounds


def worst_unimodal(mean, least, n):
    """The largest P(X >= least) of a unimodal law on 0, ..., n with this mean or less, by linear programming."""
    places, best = np.arange(n + 1), 0.0
    for mode in range(n + 1):
        steps = (np.eye(n + 1)[:-1] - np.eye(n + 1)[1:]) * np.where(places[:-1] < mode, 1, -1)[:, None]
        found = linprog(
            -(places >= least).astype(float),
            A_ub=np.vstack([steps, places]),
            b_ub=np.r_[np.zeros(n), mean],
            A_eq=np.ones((1, n + 1)),
            b_eq=[1],
        )
        best = max(best, -found.fun if found.status == 0 else 0)
    return best


@pytest.mark.parametrize("n_pairs", [5, 8])
@pytest.mark.parametrize("theta", [0.1, 0.4, 0.57])
def test_the_unimodal_factor_is_the_worst_case(n_pairs, theta):
    tried = 0
    for both in range(1, n_pairs + 1):
        factor = unimodal_factor((1 + both / n_pairs) / 2, theta, n_pairs)
        if math.isfinite(factor):
            tried += 1
            assert factor * theta**2 == pytest.approx(worst_unimodal(theta**2 * n_pairs, both, n_pairs), abs=1e-9)
    assert tried >= n_pairs // 2


def worst_r_concave(mean, least, n, power, rng):
    """The largest tail that a search from many starts finds among laws whose power -1/power is convex."""
    best = 0.0
    for last in range(least, n + 1):
        places = np.arange(last + 1)
        bends = np.maximum(places - np.arange(last)[:, None], 0)  # a line from 0, bent upwards at 1, 2, ...

        def law(bent, bends=bends):
            weights = (1 + bent @ bends) ** -power
            return weights / weights.sum()

        for _ in range(8):
            found = minimize(
                lambda bent: -law(bent)[least:].sum(),
                rng.exponential(1, last) * (np.arange(last) < 1 + rng.integers(last)),
                constraints={"type": "ineq", "fun": lambda bent, places=places: mean - places @ law(bent)},
                bounds=[(-0.9 / last, 50)] + [(0, 500)] * (last - 1),
                method="SLSQP",
                options={"maxiter": 200},
            ).x
            if places @ law(found) <= mean + 1e-7:
                best = max(best, law(found)[least:].sum())
    return best


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("power", [2.0, 4.0])
@pytest.mark.parametrize(("n", "mean", "least"), [(5, 0.3, 2), (5, 0.8, 3), (4, 1.4, 3), (6, 0.5, 6)])
def test_no_r_concave_law_has_a_larger_tail(n, mean, least, power):
    best = worst_r_concave(mean, least, n, power, np.random.default_rng(2))
    ours = largest_tail(mean, least, n, power)
    assert best <= ours + 1e-6
    assert best >= 0.98 * ours  # the search finds nearly as much


def test_a_tail_is_trivial_where_a_law_need_not_fall_and_none_without_a_mean():
    assert largest_tail(1.0, 2, 10, 2.0) == 1
    assert largest_tail(0.0, 1, 10, 2.0) == 0


def test_the_bounds_known_from_elsewhere():
    # R's stabs prints these for 9 features: cutoff 0.75, PFER 1 gives q 2 and 0.454; q 3 of 10, PFER 1 gives 0.95
    assert expected_false(0.75, 2, 9, bound="unimodal", n_pairs=50) == pytest.approx(0.4535, abs=5e-5)
    assert largest_q(0.75, 1, 9, bound="unimodal", n_pairs=50) == 2
    assert threshold_for(3, 1, 10, bound="mb", n_pairs=0) == pytest.approx(0.95)
    assert expected_false(0.9, 50, 1000, bound="mb", n_pairs=0) == pytest.approx(3.125)
    assert expected_false(0.9, 50, 1000, bound="unimodal", n_pairs=50) == pytest.approx(2.5 * 4 * 0.11 / 1.02)


@pytest.mark.parametrize("bound", BOUNDS)
def test_bounds_fall_with_the_threshold_rise_with_q_and_assumptions_help(bound):
    thresholds = np.arange(52, 101, 8) / 100
    values = [expected_false(one, 8, 100, bound=bound, n_pairs=50) for one in thresholds]
    assert (np.diff(values) < 0).all()
    assert (np.diff([expected_false(0.7, q, 100, bound=bound, n_pairs=50) for q in (1, 3, 10, 40, 100)]) > 0).all()
    assert all(
        value <= expected_false(one, 8, 100, bound="mb", n_pairs=50)
        for one, value in zip(thresholds, values, strict=True)
    )


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize(("q", "pfer", "d"), [(5, 1.0, 200), (20, 2.0, 1000)])
def test_any_two_give_the_third(bound, q, pfer, d):
    threshold = threshold_for(q, pfer, d, bound=bound, n_pairs=25)
    assert expected_false(threshold, q, d, bound=bound, n_pairs=25) <= pfer * (1 + 1e-9)
    if bound != "mb":
        below = expected_false(threshold - 0.02, q, d, bound=bound, n_pairs=25)
        assert math.isnan(below) or below > pfer
    largest = largest_q(threshold, pfer, d, bound=bound, n_pairs=25)
    assert largest >= q
    assert expected_false(threshold, largest + 1, d, bound=bound, n_pairs=25) > pfer


def test_a_threshold_between_two_shares_is_the_next_share():
    assert on_grid(0.7, 5) == 0.7
    assert on_grid(0.701, 5) == 0.8
    assert math.isnan(expected_false(0.5, 5, 100, bound="mb", n_pairs=50))
    assert expected_false(0.45, 5, 100, bound="r-concave", n_pairs=50) < 5


def test_what_no_choice_can_reach_is_told():
    with pytest.raises(ValueError, match="even a threshold of 1 gives 4"):
        threshold_for(20, 1, 100, bound="mb", n_pairs=50)
    with pytest.raises(ValueError, match="even q=1 gives"):
        largest_q(0.6, 0.01, 100, bound="mb", n_pairs=50)
    with pytest.raises(ValueError, match="no bound holds for so low a threshold"):
        largest_q(0.4, 1, 100, bound="unimodal", n_pairs=50)


# The selector


def data(seed=0, n=60, d=20, informative=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, d)) + np.where(np.arange(d) < informative, 1.5 * y[:, None], 0), y


def stable(base=None, **given):
    base = of.AnovaF() if base is None else base
    return of.StabilitySelection(base, random_state=0, **{"threshold": 0.7, "q": 4, **given})


def test_probabilities_are_shares_of_halves():
    X, y = data()
    fitted = stable(n_resamples=20, bound="mb").fit(X, y)
    assert fitted.selection_probabilities_.sum() == pytest.approx(4)
    assert np.allclose(fitted.selection_probabilities_ * 40, np.round(fitted.selection_probabilities_ * 40))
    assert fitted.support_.tolist() == (fitted.selection_probabilities_ >= 0.7).tolist()
    assert fitted.support_[:3].all()
    assert (fitted.threshold_, fitted.q_) == (0.7, 4)
    assert fitted.error_bound_ == fitted.pfer_ == pytest.approx(16 / (0.4 * 20))
    assert fitted.error_bound_reason_ == ""


def test_a_probability_equal_to_the_threshold_suffices():
    X, y = data()
    fitted = stable(n_resamples=5).fit(X, y)
    for share in np.unique(fitted.selection_probabilities_):
        if share > 0:
            again = stable(n_resamples=5, threshold=float(share)).fit(X, y)
            assert again.support_.tolist() == (fitted.selection_probabilities_ >= share).tolist()


@pytest.mark.parametrize("bound", BOUNDS)
def test_bounds_hold_on_noise(bound):
    """The mean number of features selected from pure noise stays below the bound."""
    rng, false = np.random.default_rng(1), []
    for _ in range(40):
        X, y = rng.normal(size=(30, 40)), np.arange(30) % 2
        fitted = of.StabilitySelection(of.AnovaF(), threshold=0.6, q=8, n_resamples=10, bound=bound, random_state=0)
        false.append(fitted.fit(X, y).support_.sum())
    assert np.mean(false) <= fitted.error_bound_
    assert np.mean(false) > 0  # the test could fail


def test_ties_do_not_favour_low_columns():
    """Fayyad and Irani's rule finds no cut in noise: all features tie, and none may be selected."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 30)), np.arange(40) % 2
    assert stable(of.InformationGain(), n_resamples=10).fit(X, y).selection_probabilities_.max() < 0.7
    same = np.repeat(data()[0][:, :1], 4, axis=1)
    both = np.c_[same, rng.normal(size=(60, 6))]
    shares = stable(q=2, n_resamples=40).fit(both, np.arange(60) % 2).selection_probabilities_
    assert (np.abs(shares[:4] - 0.5) < 0.2).all()


def test_the_first_features():
    worse = np.array([1.0, 2, 2, 2, 5, 5])
    assert sorted(take_first(worse, 4, 0)) == [0, 1, 2, 3]
    assert sorted(take_first(worse, 5, 0)) == [0, 1, 2, 3]
    assert take_first(worse, 6, 0).tolist() == [0, 1, 2, 3, 4, 5]
    assert {tuple(sorted(take_first(worse, 2, seed))) for seed in range(30)} == {(0, 1), (0, 2), (0, 3)}
    assert take_first(np.array([np.inf, 0, np.inf]), None, 0).tolist() == [1]


@pytest.mark.parametrize(
    "base",
    [
        of.MRMR(),
        of.RandomSelector(),
        of.ReliefF(n_neighbors=3),
        RandomForestClassifier(5),
        SelectKBest(f_classif, k=1),
        make_pipeline(StandardScaler(), LogisticRegression()),
        SelectFromModel(RandomForestClassifier(5), max_features=4, threshold=-np.inf),
    ],
    ids=lambda one: type(one).__name__,
)
def test_any_base_with_an_order_or_small_sets(base):
    X, y = data()
    fitted = stable(base, n_resamples=3).fit(X, y)
    assert fitted.selection_probabilities_.sum() <= 4 + 1e-9
    again = clone(fitted).fit(X, y)
    assert again.selection_probabilities_.tolist() == fitted.selection_probabilities_.tolist()


def test_the_seed_of_a_base_differs_between_resamples():
    X, y = data(informative=0)
    shares = stable(of.RandomSelector(random_state=3), n_resamples=30).fit(X, y).selection_probabilities_
    assert shares.max() < 0.6


def test_the_global_random_state_is_left_alone():
    X, y = data()
    np.random.seed(5)  # noqa: NPY002
    stable(RandomForestClassifier(3), n_resamples=2).fit(X, y)
    drawn = np.random.rand()  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    assert drawn == np.random.rand()  # noqa: NPY002


def sorted_data(*given, **more):
    """Rows in the order of their values, in which they are drawn."""
    X, y = data(*given, **more)
    order = np.argsort(X[:, 0])
    return X[order], y[order]


def halves(n_rows, n_pairs, seed=0):
    """The halves that a selector of this seed draws from sorted rows."""
    start = int(rng_of(seed, INNER).integers(2**31))
    return [hf.ComplementaryPairs(n_pairs).make_split(at, Samples.of(n_rows), start) for at in range(2 * n_pairs)]


def shares_by_lambda(sets):
    """How often each feature is selected at each lambda, counted one by one (sets: halves × lambdas × features)."""
    n_halves, n_lambdas, d = sets.shape
    return [
        [sum(sets[half, at, f] for half in range(n_halves)) / n_halves for f in range(d)] for at in range(n_lambdas)
    ]


def test_a_feature_is_stable_if_one_lambda_selects_it_often_and_q_is_of_the_union():
    X, y = sorted_data()
    strengths = [0.3, 0.1, 0.03]
    fitted = stable(Lasso(), q=None, penalty_strengths={"alpha": strengths}, n_resamples=5, bound="mb").fit(X, y)
    sets = np.array([[Lasso(alpha=one).fit(*s.data(X, y)).coef_ != 0 for one in strengths] for s in halves(60, 5)])
    assert fitted.path_probabilities_.tolist() == shares_by_lambda(sets)
    assert fitted.selection_probabilities_.tolist() == np.max(shares_by_lambda(sets), axis=0).tolist()
    assert fitted.q_ == pytest.approx(sum(len(np.flatnonzero(one.any(axis=0))) for one in sets) / 10)
    assert fitted.error_bound_ == pytest.approx(fitted.q_**2 / (0.4 * 20))
    by_pfer = stable(
        Lasso(), q=None, threshold=None, pfer=9.0, penalty_strengths={"alpha": strengths}, n_resamples=5, bound="mb"
    ).fit(X, y)
    assert by_pfer.threshold_ == pytest.approx((fitted.q_**2 / (9 * 20) + 1) / 2)


def test_copies_drawn_apart_are_those_of_repeated_rows():
    X, y = sorted_data()
    counts = np.bincount(np.random.default_rng(0).integers(0, 60, 60), minlength=60)
    rows = np.repeat(np.arange(60), counts)
    fitted = stable(copies="apart", n_resamples=5).fit(X, y, sample_weight=counts)
    best = [of.AnovaF(4).fit(*split.data(X[rows], y[rows])).support_ for split in halves(60, 5)]
    assert fitted.selection_probabilities_ == pytest.approx(np.mean(best, axis=0))
    mixed = np.random.default_rng(1).permutation(rows)
    again = clone(fitted).fit(X[mixed], y[mixed])
    assert again.selection_probabilities_.tolist() == fitted.selection_probabilities_.tolist()
    assert fitted.error_bound_reason_ == "no error bound is known for halves that share copies of rows"
    assert math.isnan(fitted.error_bound_)
    with pytest.raises(ValueError, match="Expected copies='together' where rows have groups"):
        clone(fitted).fit(X, y, groups=np.arange(60) // 2)
    with pytest.raises(
        ValueError, match="Expected threshold and q, and no pfer, as no error bound is known for halves"
    ):
        stable(copies="apart", q=None, pfer=1).fit(X, y, sample_weight=counts)


def test_without_copies_it_does_not_matter_how_they_are_drawn():
    X, y = data()
    together, apart = (stable(copies=copies, n_resamples=5).fit(X, y) for copies in ("together", "apart"))
    assert together.selection_probabilities_.tolist() == apart.selection_probabilities_.tolist()
    assert together.error_bound_ == apart.error_bound_


def test_half_of_the_halves_at_one_lambda_and_half_at_another_are_a_half():
    times = SelectionCounts.none(2, 3)
    for half in range(10):
        times.add([np.array([half % 2]), np.array([1 - half % 2, 2])])
    assert (times.counts / times.n).tolist() == [[0.5, 0.5, 0.0], [0.5, 0.5, 1.0]]
    assert times.mean_size == 3


def test_the_lasso_on_correlated_features_by_the_definition():
    """Features of one block take turns along the path: the union over lambdas takes many more."""
    rng = np.random.default_rng(1)
    blocks = rng.normal(size=(100, 6))
    X = np.sqrt(0.9) * blocks[:, np.arange(60) // 10] + np.sqrt(0.1) * rng.normal(size=(100, 60))
    y = X[:, [0, 10, 20, 30]].sum(axis=1) + rng.normal(size=100)
    order, lambdas = np.argsort(X[:, 0]), np.geomspace(1, 0.02, 8).tolist()
    X, y = X[order], y[order]
    base = of.ElasticNetPath(model="linear")
    fitted = stable(base, threshold=0.6, q=None, penalty_strengths=lambdas, n_resamples=25).fit(X, y)
    lasso = [Lasso(lam, tol=1e-9, max_iter=100_000) for lam in lambdas]
    sets = []
    for split in halves(100, 25):
        rows, target = split.data(X, y)
        scaled = StandardScaler().fit_transform(rows)
        sets.append([np.abs(clone(one).fit(scaled, target).coef_) > 1e-6 for one in lasso])
    shares = np.array(shares_by_lambda(np.array(sets)))
    assert np.abs(fitted.path_probabilities_ - shares).max() <= 0.02  # one half, where scikit-learn stops early
    assert np.flatnonzero(fitted.support_).tolist() == np.flatnonzero(shares.max(axis=0) >= 0.6).tolist()
    by_union = (np.array(sets).any(axis=1).mean(axis=0) >= 0.6).sum()
    assert fitted.support_.sum() < by_union


def test_q_and_lambdas_together_count_the_first_q_to_enter():
    X, y = sorted_data()
    strengths = [0.3, 0.1, 0.03]
    fitted = stable(Lasso(), q=3, penalty_strengths={"alpha": strengths}, n_resamples=5, bound="mb").fit(X, y)
    sets = np.array([[Lasso(alpha=one).fit(*s.data(X, y)).coef_ != 0 for one in strengths] for s in halves(60, 5)])
    for split, path in zip(halves(60, 5), sets, strict=True):
        entry = np.where(path.any(axis=0), path.argmax(axis=0), np.inf)
        path[:, np.setdiff1d(np.arange(20), take_first(entry, 3, split.seed, never=np.inf))] = False
        assert path.any(axis=0).sum() == min(3, np.isfinite(entry).sum())
    assert fitted.path_probabilities_.tolist() == shares_by_lambda(sets)
    assert fitted.path_probabilities_.sum(axis=1).max() <= 3
    assert fitted.q_ == 3


def test_places_among_the_last_to_enter_are_drawn_if_every_feature_enters():
    entry = np.array([0.0, 1, 1, 1])
    assert {tuple(sorted(take_first(entry, 2, seed, never=np.inf))) for seed in range(30)} == {(0, 1), (0, 2), (0, 3)}
    assert take_first(np.array([0.0, np.inf, np.inf, np.inf]), 2, 0, never=np.inf).tolist() == [0]


@pytest.mark.parametrize("q", [None, 3])
def test_paths_in_a_batch_equal_single_fits(q):
    X, y = data()
    selector = of.StabilitySelection(
        of.ElasticNetPath(), penalty_strengths=[0.2, 0.1, 0.05], q=q, n_resamples=5, random_state=2
    )
    settings = [{"threshold": 0.6}, {"threshold": 0.9}]
    splits = [one for perturbation in (hf.Bootstrap(3), hf.Subsample(2)) for one in perturbation.splits(y)]
    found = list(selector.refit_many(selector.prepare(X, y, settings), X, y, splits, settings))
    for split, selections in zip(splits, found, strict=True):
        for setting, selection in zip(settings, selections, strict=True):
            alone = clone(selector).set_params(**setting).fit(*split.data(X, y))
            assert selection.values.tolist() == np.flatnonzero(alone.support_).tolist()


class Path(Selector):
    """A selector by the size of class differences, with a path over ``penalty_strength`` from one fit."""

    shared_parameters = ("penalty_strength",)
    fits = 0

    def __init__(self, penalty_strength=1.0):
        self.penalty_strength = penalty_strength

    def rank(self, batch, shared):
        ranked = []
        for counts in batch.counts:
            Path.fits += 1
            rows = np.repeat(np.arange(counts.size), counts)
            means = [batch.X[rows][batch.target.values[rows] == label].mean(axis=0) for label in (0, 1)]
            gap = np.abs(means[0] - means[1])
            ranked.append([Preference("subset", np.flatnonzero(gap > one.penalty_strength)) for one in batch.selectors])
        return ranked


def test_a_path_that_one_fit_serves_is_fitted_once_for_each_resample():
    X, y = data()
    Path.fits = 0
    fitted = stable(Path(), q=None, penalty_strengths=[2.0, 1.0, 0.5], n_resamples=5).fit(X, y)
    assert Path.fits == 10
    only = stable(Path(), q=None, penalty_strengths=[0.5], n_resamples=5).fit(X, y)
    assert fitted.selection_probabilities_.tolist() == only.selection_probabilities_.tolist()


def test_elastic_net_paths_by_lambda_or_by_entry():
    X, y = sorted_data()
    lambdas = [0.2, 0.1, 0.05]
    path = stable(of.ElasticNetPath(), q=None, penalty_strengths=lambdas, n_resamples=5).fit(X, y)
    splits = halves(60, 5)
    sets = np.array([[of.ElasticNetPath(one).fit(*s.data(X, y)).support_ for one in lambdas] for s in splits])
    assert path.path_probabilities_.tolist() == shares_by_lambda(sets)
    assert path.q_ == pytest.approx(sets.any(axis=1).sum() / 10)
    entered = stable(of.ElasticNetPath(), n_resamples=5).fit(X, y)
    firsts = [of.ElasticNetPath(n_features=4).fit(X[s.rows], y[s.rows]).support_ for s in splits]
    assert entered.selection_probabilities_.tolist() == np.mean(firsts, axis=0).tolist()
    assert entered.path_probabilities_.tolist() == [entered.selection_probabilities_.tolist()]


def test_features_that_never_enter_a_path_are_not_selected():
    X, y = data(n=24)
    X[:, 1:10] = 1.0
    shares = stable(of.ElasticNetPath(), q=15, n_resamples=5).fit(X, y).selection_probabilities_
    assert shares[1:10].max() == 0


@pytest.mark.parametrize("base", [of.MRMR(), of.SVMRFE(), of.RandomSelector(), SelectKBest(f_classif)], ids=str)
def test_thresholds_and_sizes_come_from_one_set_of_fits(base):
    X, y = data()
    settings = [{"threshold": t, "q": q} for t in (0.6, 0.8) for q in (2, 5)]
    settings += [{"threshold": None, "q": 5, "pfer": 2.0}, {"threshold": None, "q": 15, "pfer": 0.1}]
    split = hf.Bootstrap(1).make_split(0, Samples.of(60), 0)
    selector = of.StabilitySelection(base, n_resamples=5, random_state=1)
    (found,) = selector.refit_many(selector.prepare(X, y, settings), X, y, [split], settings)
    for setting, selection in zip(settings[:-1], found, strict=False):
        alone = clone(selector).set_params(**setting).fit(*split.data(X, y))
        assert selection.values.tolist() == np.flatnonzero(alone.support_).tolist()
    assert "even a threshold of 1" in str(found[-1])


def test_given_two_the_third_is_set():
    X, y = data(d=100)
    by_q = stable(threshold=None, q=5, pfer=1.0, n_resamples=10, bound="mb").fit(X, y)
    assert by_q.threshold_ == pytest.approx((1 + 25 / 100) / 2)
    by_threshold = stable(threshold=0.9, q=None, pfer=1.0, n_resamples=10, bound="unimodal").fit(X, y)
    assert by_threshold.q_ == largest_q(0.9, 1, 100, bound="unimodal", n_pairs=10)
    assert by_threshold.error_bound_ <= by_threshold.pfer_ == 1.0


def test_no_bound_is_named_with_its_reason():
    X, y = data()
    bootstrapped = stable(resampling="bootstrap", n_resamples=5).fit(X, y)
    assert math.isnan(bootstrapped.error_bound_)
    assert math.isnan(bootstrapped.pfer_)
    assert bootstrapped.error_bound_reason_ == "no error bound is known for resampling by bootstrap"
    larger = stable(resampling=hf.Subsample(5, 0.6)).fit(X, y)
    assert "subsamples of more than half of the rows (36 of 60)" in larger.error_bound_reason_
    low = stable(threshold=0.4, n_resamples=5).fit(X, y)
    assert "holds only for thresholds above 1/2, not for 0.4" in low.error_bound_reason_
    for resampling in ("subsamples", hf.Subsample(5, 0.5), hf.ComplementaryPairs(5, stratify=True)):
        fitted = stable(resampling=resampling, n_resamples=5, bound="mb").fit(X, y)
        assert fitted.error_bound_ == pytest.approx(2)


def test_pairs_have_the_unimodal_bound_by_default_and_others_that_of_meinshausen_and_buehlmann():
    X, y = data()
    for resampling, bound, n_pairs in (("pairs", "unimodal", 20), ("subsamples", "mb", 0)):
        fitted = stable(resampling=resampling, n_resamples=20).fit(X, y)
        assert fitted.error_bound_ == expected_false(0.7, 4, 20, bound=bound, n_pairs=n_pairs)


# Expected false features


def test_features_are_told_from_chance_by_shuffled_targets():
    X, y = data(d=60)
    fitted = stable(n_shuffles=20, n_resamples=20).fit(X, y)
    assert (fitted.q_values_[:3] <= 0.1).all()
    assert (fitted.q_values_[3:] > 0.1).mean() > 0.9
    assert (fitted.expected_false_[:3] < 1).all()
    again = stable(n_shuffles=20, n_resamples=20).fit(X, y)
    assert again.q_values_.tolist() == fitted.q_values_.tolist()
    shuffled = np.random.default_rng(1).permutation(len(y))
    moved = stable(n_shuffles=20, n_resamples=20).fit(X[shuffled], y[shuffled])
    assert (moved.q_values_ <= 0.1).tolist() == (fitted.q_values_ <= 0.1).tolist()
    without = stable(n_resamples=20).fit(X, y)
    assert not hasattr(without, "q_values_")
    assert not hasattr(without, "expected_false_")
    assert without.selection_probabilities_.tolist() == fitted.selection_probabilities_.tolist()


def test_a_path_has_the_area_under_it_as_statistic():
    X, y = data(d=60)
    strengths = of.path_strengths(X, y, n_strengths=8)
    assert strengths == sorted(strengths, reverse=True)
    assert strengths == of.path_strengths(X, y[::-1], n_strengths=8)[:1] + strengths[1:]  # the first has no part in it
    for options in ({"n_shuffles": 20}, {"ipss": 1}, {"ipss": 2}):
        fitted = stable(of.ElasticNetPath(), q=None, penalty_strengths=strengths, **options).fit(X, y)
        area = fitted.path_probabilities_.mean(axis=0)
        assert set(np.argsort(-area)[:3]) == {0, 1, 2}
        assert fitted.q_values_[3:].min() > fitted.q_values_[:3].max()


def integrate_slowly(path, n_pairs, power):
    """The same, feature by feature, from the formulas of the paper."""
    n_strengths, d = path.shape
    total, used = 0.0, 0
    for at in range(n_strengths):
        q = path[at].sum()
        both = q**4 / d**4
        single = q**2 / d**2
        bound = d * (single if power == 1 else (n_pairs * single + n_pairs * (n_pairs - 1) * both) / n_pairs**2)
        if total + bound / n_strengths > 0.05 and used:
            break
        total, used = total + bound / n_strengths, used + 1
        if total > 0.05:
            break
    scores = [sum(max(2 * p - 1, 0) ** power for p in path[:used, f]) / n_strengths for f in range(d)]
    return [min(total / score, d) if score > 0 else d for score in scores]


@pytest.mark.parametrize("power", [1, 2])
def test_integrated_paths_are_as_published(power):
    rng = np.random.default_rng(0)
    path = np.sort(rng.beta(0.1, 5, (12, 200)), axis=0)
    path[:, :3] = np.linspace(0.5, 1, 12)[:, None]
    expected, q = integrate_path(path, 50, power)
    assert expected == pytest.approx(integrate_slowly(path, 50, power))
    assert (q[:3] < q[3:].min()).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ipss": 3}, "Expected ipss 1 or 2 with complementary pairs and without n_shuffles, got 3"),
        ({"ipss": 1, "n_shuffles": 5}, "and without n_shuffles"),
        ({"n_shuffles": 5, "resampling": "bootstrap"}, "Expected complementary pairs for n_shuffles, got bootstrap"),
        ({"n_shuffles": -1}, "n_shuffles"),
    ],
)
def test_what_cannot_be_told_from_chance_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        stable(n_resamples=5, **options).fit(*data())


class Witness(of.AnovaF):
    """Remembers how often each resample took each row."""

    seen: list = []  # noqa: RUF012

    def rank(self, batch, shared):
        Witness.seen.extend(batch.counts)
        return super().rank(batch, shared)


def rows_seen(selector, X, y, **more):
    Witness.seen = []
    fitted = selector.fit(X, y, **more)
    return fitted, np.array(Witness.seen)


@pytest.mark.parametrize("resampling", ["pairs", "subsamples", "bootstrap"])
@pytest.mark.parametrize(
    "wrapper", [stable, lambda base, **given: of.EnsembleSelector(base, 4, random_state=0, **given)]
)
def test_rows_of_one_group_are_drawn_together(wrapper, resampling):
    X, y = data()
    groups = np.array([f"patient {at % 20}" for at in range(60)])
    fitted, seen = rows_seen(wrapper(Witness(), resampling=resampling, n_resamples=6), X, y, groups=groups)
    for name in np.unique(groups):
        assert (seen[:, groups == name] == seen[:, groups == name][:, :1]).all()
    if resampling == "pairs":
        assert not (seen[::2] * seen[1::2]).any()
        assert (seen.sum(axis=1) == 30).all()
    shuffled = np.random.default_rng(0).permutation(60)
    again = clone(fitted).fit(X[shuffled], y[shuffled], groups=groups[shuffled])
    assert again.scores_.tolist() == fitted.scores_.tolist()


def test_copies_of_a_row_are_drawn_together_and_weights_are_copies():
    X, y = data(n=40)
    weights = np.random.default_rng(0).choice([0, 1, 2, 5], 40)
    fitted, seen = rows_seen(stable(Witness(), n_resamples=6), X, y, sample_weight=weights)
    assert (np.isin(seen, [0, 1]) | (seen == weights)).all()
    assert not (seen[::2] * seen[1::2]).any()
    copies = np.random.default_rng(1).permutation(np.repeat(np.arange(40), weights))
    repeated = clone(fitted).fit(X[copies], y[copies])
    assert repeated.selection_probabilities_.tolist() == fitted.selection_probabilities_.tolist()


def test_bounds_count_groups_not_rows():
    X, y = data()
    groups = np.repeat(np.arange(20), 3)
    assert stable(resampling=hf.Subsample(4, 0.5)).fit(X, y, groups=groups).error_bound_ == pytest.approx(2)
    more = stable(resampling=hf.Subsample(4, 0.6)).fit(X, y, groups=groups).error_bound_reason_
    assert "subsamples of more than half of the groups (12 of 20)" in more


@pytest.mark.parametrize(
    "selector",
    [
        stable(Witness(), n_resamples=3),
        of.EnsembleSelector(Witness(), 3, n_resamples=3, random_state=0),
        stable(of.EnsembleSelector(Witness(), 3, n_resamples=3), n_resamples=2),
        of.GroupedSelector(of.EnsembleSelector(Witness(), 3, n_resamples=3, random_state=0)),
    ],
    ids=["stability", "ensemble", "nested", "grouped"],
)
def test_a_study_hands_its_groups_to_selectors_that_draw_rows_again(selector):
    X, y = data()
    groups = np.repeat(np.arange(20), 3)  # each has rows of both classes
    Witness.seen = []
    result = hf.Study(selectors={"s": selector}, perturbation=hf.Subsample(3, 0.7)).run(X, y, groups=groups)
    assert len(Witness.seen) >= 9
    for counts in Witness.seen:
        assert (counts.reshape(-1, 3) == counts.reshape(-1, 3)[:, :1]).all()
    for run, split in enumerate(hf.Subsample(3, 0.7).splits(y, groups)):
        alone = clone(selector).fit(*split.data(X, y), groups=groups[split.train])
        assert result.preferences("s").selected(run) == np.flatnonzero(alone.support_).tolist()
    final = result.final_features("s", X, y, groups=groups).frame
    assert final["selected"].sum() == clone(selector).fit(X, y, groups=groups).support_.sum()


def test_a_step_of_a_pipeline_is_told_the_groups_of_a_study():
    X, y = data()
    groups = np.repeat(np.arange(20), 3)
    pipeline = make_pipeline(StandardScaler(), stable(Witness(), n_resamples=3))
    Witness.seen = []
    hf.Study(selectors={"s": pipeline}, perturbation=hf.Subsample(3, 0.7)).run(X, y, groups=groups)
    assert len(Witness.seen) == 18
    for counts in Witness.seen:
        assert (counts.reshape(-1, 3) == counts.reshape(-1, 3)[:, :1]).all()


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1, 2], r"Expected one group for each of 60 rows, got shape \(2,\)"),
        ([None, *range(59)], "Expected a group for each row, got none in row 0"),
        ([1] * 30 + [2] * 30, r"Expected at least 4 groups of rows for ComplementaryPairs\(.*\), got 2"),
    ],
)
def test_groups_that_cannot_be_kept_are_refused(groups, message):
    with pytest.raises(ValueError, match=message):
        stable(n_resamples=3).fit(*data(), groups=groups)


def test_halves_of_an_odd_number_of_rows_are_disjoint():
    X, y = data(n=31)
    assert stable(resampling="subsamples", n_resamples=4).fit(X, y).error_bound_reason_ == ""
    assert "more than half" in stable(resampling=hf.Subsample(4, 0.5)).fit(X, y).error_bound_reason_


def test_fewer_features_than_q_and_constant_features():
    X, y = data(d=5)
    X[:, 4] = 1
    fitted = stable(q=9, n_resamples=4).fit(X, y)
    assert fitted.q_ == 5
    assert stable(q=4, n_resamples=4).fit(X, y).selection_probabilities_[4] == 0


def test_a_class_of_one_row():
    X, y = data()
    three = y.copy()
    three[0] = 2
    assert stable(n_resamples=4).fit(X, three).support_.sum() > 0
    with pytest.raises(ValueError, match=r"cannot be fitted to pair 0.: .* draw within classes"):
        stable(n_resamples=4).fit(X, np.r_[1, np.zeros(59)])
    with pytest.raises(ValueError, match="got 1 class"):
        stable(resampling=hf.ComplementaryPairs(4, stratify=True)).fit(X, np.r_[1, np.zeros(59)])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"q": None}, "Expected two of threshold, q .* got 1"),
        ({"pfer": 1.0}, "Expected two of threshold, q .* got 3"),
        ({"q": 0}, "Expected q to be a whole number of at least 1, got 0"),
        (
            {"q": None, "penalty_strengths": [1.0]},
            "Expected penalty_strengths of a parameter of AnovaF, got 'penalty_strength'",
        ),
        ({"q": None, "penalty_strengths": {"a": [1], "b": [2]}}, "Expected penalty_strengths of one parameter"),
        ({"q": None, "penalty_strengths": {"n_features": []}}, "Expected at least one value in penalty_strengths"),
        ({"threshold": 1.2}, "Expected threshold above 0 and at most 1, got 1.2"),
        ({"q": None, "pfer": -1}, "Expected pfer above 0, got -1"),
        ({"bound": "best"}, "Expected bound to be 'mb', 'unimodal', 'r-concave', got 'best'"),
        ({"bound": "unimodal", "resampling": "subsamples"}, "Expected complementary pairs for the unimodal bound"),
        ({"q": None, "pfer": 1, "resampling": "bootstrap"}, "no error bound is known for resampling by bootstrap"),
        ({"resampling": "folds"}, "Expected resampling to be 'pairs', 'subsamples', 'bootstrap' or a perturbation"),
        ({"resampling": hf.Noise(3)}, "Expected resampling that draws rows"),
        ({"n_resamples": 0}, "Expected n_resamples to be a whole number of at least 1"),
        ({"base": SelectKBest}, "call the class to make an object of it"),
        ({"base": SVC()}, "SVC has no support, ranking, coefficients or importances"),
        ({"base": SelectFromModel(LogisticRegression(), threshold=-1)}, "selects no more than q=4, got 20 features"),
    ],
)
def test_bad_input_is_told_in_one_sentence(given, message):
    with pytest.raises(ValueError, match=message):
        stable(**{"n_resamples": 3, **given}).fit(*data())


def test_top_features_by_probability_in_a_study():
    X, y = data()
    study = hf.Study(
        selectors={"s": hf.Candidates(stable(n_resamples=5).set_params(random_state=None), sizes=[1, 3])},
        perturbation=hf.Subsample(4, 0.7),
    )
    result = study.run(X, y)
    assert set(result.preferences("s(size=3)").sizes) == {3}


@pytest.mark.parametrize("base", [of.ElasticNetPath(), of.ElasticNetPath(l1_ratio=0.5), of.MRMR()], ids=repr)
@pytest.mark.parametrize("q", [1, 4, 30])
def test_a_base_that_stops_at_q_selects_as_one_that_goes_on(base, q, monkeypatch):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(40, 30)), np.arange(40) % 2
    X[:, :3] += y[:, None]
    X[:, 7] = X[:, 1]
    selector = of.StabilitySelection(base, threshold=0.6, q=q, n_resamples=4, random_state=1)
    stopped = selector.fit(X, y).selection_probabilities_
    monkeypatch.setattr(type(base), "whole_order", ())
    np.testing.assert_array_equal(stopped, selector.fit(X, y).selection_probabilities_)


def test_stability_selection_of_itself_is_refused_before_any_fit(monkeypatch):
    monkeypatch.setattr(hf.selectors.ElasticNetPath, "rank", lambda *_: pytest.fail("the base was fitted"))
    once = hf.selectors.StabilitySelection(hf.selectors.ElasticNetPath(), q=2, threshold=0.6)
    twice = hf.selectors.StabilitySelection(once, q=2, threshold=0.6)
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    for run in (twice.fit, hf.Study(twice, hf.Bootstrap(5)).run):
        with pytest.raises(ValueError, match="Expected a base other than Stability Selection"):
            run(X, y)
