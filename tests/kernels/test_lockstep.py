import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import holdfast
from eliminations import bootstraps, correlated, lockstep_elimination, lockstep_finals, ridge_elimination, standardized
from holdfast.kernels.elimination import elimination_sizes

WITHOUT_TORCH = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
LIBRARIES = ["numpy", pytest.param("torch", marks=WITHOUT_TORCH)]
SHAPES = [(40, 200), (60, 59), (30, 31), (150, 12)]
SETTINGS = {"C": [0.1, 1, 10, 1], "shrinkage": [1, 0.3, 0.01, 1]}
N_FORCED = 0, 3, 5, 4


def forced_sets(n_resamples, d):
    rng = np.random.default_rng(0)
    return np.array([rng.permuted(np.arange(d) < np.full((n_resamples, 1), N), axis=1) for N in N_FORCED])


def assert_same(found, expected, rtol=1e-6):
    np.testing.assert_array_equal(found.smallest_size, expected.smallest_size)
    np.testing.assert_array_equal(found.selected, expected.selected)
    for name in ("weight", "coef", "intercept"):
        one, other = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(one, other, atol=rtol * np.abs(other).max(), rtol=0)


# Eliminations


@pytest.mark.parametrize("scale", ["split", "full"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("xp", LIBRARIES)
def test_paths_are_those_taken_one_by_one(xp, n, d, intercept, scale):
    X, y = correlated(n, d, 0.3)
    counts, sizes, forced = bootstraps(y, 6), elimination_sizes(d, 5), forced_sets(6, d)
    shared = {"intercept": intercept, "scale": scale}
    found = lockstep_elimination(X, y, counts, sizes, forced=forced, **SETTINGS, **shared, xp=xp)
    for g, paths in enumerate(found):
        setting = {name: values[g] for name, values in SETTINGS.items()}
        assert_same(paths, ridge_elimination(X, y, counts, sizes=sizes, forced=forced[g], **setting, **shared))


@pytest.mark.parametrize(("n", "d"), [(20, 40), (60, 15)])
def test_one_feature_at_a_time(n, d):
    X, y = correlated(n, d, 0.5)
    counts, sizes = bootstraps(y, 3) * 0.7, elimination_sizes(d, 1, 1)
    found = lockstep_elimination(X, y, counts, sizes, C=[0.3, 3])
    for C, paths in zip((0.3, 3), found, strict=True):
        assert_same(paths, ridge_elimination(X, y, counts, sizes=sizes, C=C))


def test_a_few_large_steps_that_ask_for_new_gram_matrices():
    X, y = correlated(30, 200, 0.5)
    counts, sizes = bootstraps(y, 3), [200, 199, 60, 59, 20, 3]
    forced = forced_sets(3, 200)[1]
    (paths,) = lockstep_elimination(X, y, counts, sizes, forced=forced, shrinkage=0.1)
    assert_same(paths, ridge_elimination(X, y, counts, sizes=sizes, forced=forced, shrinkage=0.1))


def test_a_gram_matrix_that_shrinks_to_little_is_built_anew():
    X, y = correlated(30, 100, 0.2)
    X[:, :60] *= 1e4
    X[:, :60] -= np.outer(y, y @ X[:, :60]) / 30  # large and of no use
    sizes = elimination_sizes(100, 3)
    (paths,) = lockstep_elimination(X, y, np.ones(30), sizes, C=1e-6, scale="full")
    assert_same(paths, ridge_elimination(X, y, sizes=sizes, C=1e-6, scale="full"))


@pytest.mark.parametrize("xp", LIBRARIES)
@pytest.mark.parametrize(("n", "d"), [(30, 60), (90, 20)])
def test_of_equal_columns_the_lowest_is_kept(n, d, xp):
    X, y = correlated(n, d // 2, 0.3)
    X = np.column_stack([X, 3 - 2.5 * X])
    counts, sizes = bootstraps(y, 3), elimination_sizes(d, 4, 1)
    (paths,) = lockstep_elimination(X, y, counts, sizes, xp=xp)
    assert_same(paths, ridge_elimination(X, y, counts, sizes=sizes))


@pytest.mark.parametrize("xp", LIBRARIES)
@pytest.mark.parametrize(("n", "d"), [(30, 60), (90, 20)])
def test_constant_columns_fall_first_unless_they_are_forced(n, d, xp):
    X, y = correlated(n, d, 0.3)
    X[:, 0], X[:, 5] = 0.1, np.arange(n) == 0
    count, forced = np.minimum(np.arange(n), 1), np.stack([np.zeros(d), np.arange(d) == 5])[:, None]
    found = lockstep_elimination(X, y, count, [d, d - 2, 3], forced=forced, xp=xp)
    for g, paths in enumerate(found):
        assert_same(paths, ridge_elimination(X, y, count, sizes=[d, d - 2, 3], forced=forced[g]))


def test_with_nothing_but_constants_the_lowest_columns_are_kept():
    y = np.array([1, 1, -1, -1, -1])
    (paths,) = lockstep_elimination(np.ones((5, 7)), y, np.ones(5), [7, 3])
    np.testing.assert_array_equal(paths.selected, [[0, 1, 2]])
    assert paths.intercept[0] == pytest.approx(np.log(2 / 3))


def test_separable_data_with_little_penalty():
    X, y = correlated(30, 100, 0)
    X[:, 0] = 10 * y
    (paths,) = lockstep_elimination(X, y, np.ones(30), [100, 50], C=1e5, scale="full")
    assert_same(paths, ridge_elimination(X, y, sizes=[100, 50], C=1e5, scale="full"))


def test_a_fit_that_is_solved_before_it_begins_is_left_alone():
    X, y = correlated(30, 6, 0.3)
    X[1:, 5] = 0  # constant in the first resample: it falls, and the optimum stays where it was
    counts = np.ones((4, 30)) + bootstraps(y, 4)
    counts[0, 0] = 0
    (paths,) = lockstep_elimination(X, y, counts, [6, 5])
    assert_same(paths, ridge_elimination(X, y, counts, sizes=[6, 5]))


@pytest.mark.parametrize("xp", LIBRARIES)
def test_memory_is_nothing_to_the_result(xp):
    X, y = correlated(30, 80, 0.3)
    counts, sizes = bootstraps(y, 5), elimination_sizes(80, 5)
    options = {"forced": forced_sets(5, 80), **SETTINGS, "xp": xp}
    at_once = lockstep_elimination(X, y, counts, sizes, **options)
    for paths, alone in zip(at_once, lockstep_elimination(X, y, counts, sizes, memory=1e5, **options), strict=True):
        assert_same(paths, alone, rtol=1e-8)


def test_without_the_path_the_end_is_the_same():
    X, y = correlated(30, 80, 0.3)
    sizes = elimination_sizes(80, 5)
    (end,) = lockstep_elimination(X, y, bootstraps(y, 3), sizes, record=False)
    (path,) = lockstep_elimination(X, y, bootstraps(y, 3), sizes)
    assert end.weight.size == end.smallest_size.size == 0
    np.testing.assert_array_equal(end.selected, path.selected)
    np.testing.assert_array_equal(end.coef, path.coef)


@pytest.mark.parametrize("xp", LIBRARIES)
def test_in_single_precision_nearly_the_same_features_are_kept(xp):
    X, y = correlated(40, 200, 0.3)
    counts, sizes = bootstraps(y, 5), elimination_sizes(200, 10)
    (single,) = lockstep_elimination(X, y, counts, sizes, dtype="float32", xp=xp)
    double = ridge_elimination(X, y, counts, sizes=sizes)
    shared = [np.isin(one, other).mean() for one, other in zip(single.selected, double.selected, strict=True)]
    assert np.mean(shared) > 0.9


@pytest.mark.parametrize("d", [60, 10])
def test_a_fit_that_is_given_up_raises(d):
    X, y = correlated(30, d, 0.3)
    with pytest.raises(ArithmeticError, match=rf"resample 0 at {d} features of setting 1"):
        lockstep_elimination(X, y, np.ones(30), [d, 5], C=[1e-9, 1], max_iter=2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"counts": [[1] * 6, [1, 0, 1, 0, 1, 0]]}, "none with label -1 in resample 1"),
        ({"counts": [[1, 1, 1, 1, 1, -1]]}, "not negative"),
        ({"y": [0, 1, 0, 1, 0, 1]}, "labels −1 and 1"),
        ({"y": [1, -1]}, "n labels"),
        ({"X": np.full((6, 4), np.nan)}, "finite"),
        ({"sizes": [4, 4]}, "sizes that fall from 4"),
        ({"forced": [True, True, True, False], "sizes": [4, 2]}, "at most 2 forced"),
        ({"forced": [True]}, "got shapes"),
        ({"C": [1, 2], "shrinkage": [1, 1, 1]}, "got shapes"),
        ({"C": [1, 0]}, "positive C"),
        ({"shrinkage": 0}, "shrinkage"),
        ({"xp": "cupy"}, "numpy on the cpu"),
        ({"device": "cuda"}, "numpy on the cpu"),
    ],
)
def test_what_cannot_be_is_told(change, message):
    given = {"X": np.arange(24).reshape(6, 4) % 5, "y": [1, -1] * 3, "counts": np.ones(6), "sizes": [4, 2], **change}
    with pytest.raises(ValueError, match=message):
        lockstep_elimination(**given)


@pytest.mark.parametrize(
    "change",
    [
        {"counts": [[1] * 6, [1, 0, 1, 0, 1, 0]]},
        {"counts": [[1, 1, 1, 1, 1, -1]]},
        {"y": [0, 1, 0, 1, 0, 1]},
        {"y": [1, -1]},
        {"X": np.full((6, 4), np.nan)},
        {"X": np.full((6, 4), 1e200), "scale": "full"},
        {"sizes": [4, 4]},
        {"forced": [True, True, True, False]},
        {"tie_ranks": [0, 1]},
        {"C": 0},
        {"shrinkage": 0},
        {"scale": "none"},
    ],
)
def test_both_eliminations_refuse_in_the_same_words(change):
    given = {"X": np.arange(24).reshape(6, 4) % 5, "y": [1, -1] * 3, "counts": np.ones(6), "sizes": [4, 2], **change}
    messages = []
    for eliminate in (lockstep_elimination, ridge_elimination):
        with pytest.raises(ValueError, match="Expected") as caught:
            eliminate(**given)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


# Finals


@pytest.mark.parametrize("scale", ["split", "full"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("xp", LIBRARIES)
def test_finals_are_those_of_scikit_learn(xp, intercept, scale):
    X, y = correlated(40, 30, 0.3)
    counts, constants = bootstraps(y, 3), [0.1, 10]
    selected = np.sort(np.random.default_rng(0).random((2, 3, 30)).argsort(axis=2)[:, :, :5], axis=2)
    finals = lockstep_finals(X, y, counts, selected, constants, intercept=intercept, scale=scale, xp=xp)
    for (s, f, m), b in np.ndenumerate(finals.intercept):
        columns = selected[s, m]
        Z = standardized(X[:, columns], counts[m])[0] if scale == "split" else X[:, columns]
        model = LogisticRegression(
            C=constants[f], solver="newton-cholesky", tol=1e-11, max_iter=200, fit_intercept=intercept
        ).fit(Z, y, sample_weight=counts[m])
        np.testing.assert_allclose(finals.decision[s, f, m], model.decision_function(Z), atol=1e-6)
        np.testing.assert_allclose(X[:, columns] @ finals.coef[s, f, m] + b, finals.decision[s, f, m], atol=1e-8)
    alone = lockstep_finals(X, y, counts, selected[1], constants, intercept=intercept, scale=scale, xp=xp, memory=1e4)
    for one, other in zip(alone, finals, strict=True):
        np.testing.assert_allclose(one, other[1], atol=1e-7)


def test_finals_give_a_constant_column_no_weight():
    X, y = correlated(30, 5, 0.3)
    X[:, 2] = np.arange(30) == 0
    count = np.minimum(np.arange(30), 1)
    finals = lockstep_finals(X, y, count, [[1, 2, 3]], 1.0)
    without = lockstep_finals(X, y, count, [[1, 3]], 1.0)
    assert finals.coef[0, 0, 1] == 0
    np.testing.assert_allclose(finals.decision, without.decision, atol=1e-9)


def test_finals_that_are_given_up_raise():
    X, y = correlated(30, 5, 0.3)
    with pytest.raises(ArithmeticError, match="resample 0 at 2 features"):
        lockstep_finals(X, y, np.ones(30), [[0, 1]], 1.0, max_iter=1)
    with pytest.raises(ValueError, match="of 1 resamples, got 2"):
        lockstep_finals(X, y, np.ones(30), [[0, 1], [0, 2]], 1.0)


# Alone


@pytest.mark.parametrize("xp", LIBRARIES)
def test_the_folder_is_enough_where_nothing_but_the_library_is_installed(xp, tmp_path):
    shutil.copytree(Path(holdfast.__file__).parent / "kernels", tmp_path / "kernels")
    program = f"""
import sys
for name in ("scipy", "pandas", "numba", "sklearn", "holdfast"):
    sys.modules[name] = None
sys.path.insert(0, {str(tmp_path)!r})
import numpy as np
from kernels.libraries import library
from kernels.lockstep import Settings, run_lockstep, with_resamples
data = with_resamples([[0, 1], [1, 0], [2, 1]], [-1, 1, 1], [1, 1, 1], "split")
settings = Settings(np.ones(1), np.ones(1), np.empty((1, 1, 0), int), np.zeros(1, int))
lib = library({xp!r}, "cpu", "float64", 1e9)
print(run_lockstep(lib, data, settings, np.array([2, 1]), True, 0, None).selected[0])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[[0]]\n"
