"""Linear models of selectors: many at once predict as each alone, to the last bit."""

import numpy as np
import pytest

from holdfast.kernels.linear import linear_values
from holdfast.selectors.models import LinearClassifier, LinearRegressor, block_decisions, decide

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 200))


def model(n_columns, n_outputs):
    columns = np.sort(RNG.permutation(200)[:n_columns])
    coef, intercept = RNG.normal(size=(n_outputs, n_columns)), RNG.normal(size=n_outputs)
    if n_outputs == 1 and n_columns % 2:
        return LinearRegressor(columns, coef, intercept)
    return LinearClassifier(columns, coef, intercept, np.arange(max(2, n_outputs)))


MODELS = [model(size, outputs) for size in (0, 1, 5, 20, 200) for outputs in (1, 3)]
TESTS = [np.sort(RNG.permutation(30)[:size]) for size in (1, 7, 30, 0, 12, 30, 3, 1, 2, 9)]


@pytest.mark.parametrize("outputs", [1, 3])
def test_a_block_is_its_models_one_by_one(outputs):
    chosen = [(model, rows) for model, rows in zip(MODELS, TESTS, strict=True) if len(model.coef) == outputs]
    chosen += [(chosen[-2][0], chosen[-1][1]), *chosen]  # also models that share their rows with the one before
    models, tests = zip(*chosen, strict=True)
    block = block_decisions(models, X, tests)
    assert block.shape == (sum(rows.size for rows in tests), 3)[: 1 if outputs == 1 else 2]
    for model, rows, values in zip(
        models, tests, np.split(block, np.cumsum([t.size for t in tests])[:-1]), strict=True
    ):
        assert values.tobytes() == model.values(X[rows]).tobytes()
        expected = X[rows][:, model.columns] @ model.coef.T + model.intercept
        np.testing.assert_allclose(values.reshape(expected.shape), expected, atol=1e-12)
        if isinstance(model, LinearClassifier):
            assert model.classes_[decide(values)].tolist() == model.predict(X[rows]).tolist()


@pytest.mark.parametrize("order", ["C", "F"])
def test_values_do_not_depend_on_the_layout_of_the_data(order):
    data = np.array(X, order=order)
    values = linear_values(data, [3, 4], [0, 2], [1, 5], [0, 2], [2.0, -1.0], [0.5])
    assert values.tolist() == [0.5 + 2 * X[row, 1] - X[row, 5] for row in (3, 4)]
