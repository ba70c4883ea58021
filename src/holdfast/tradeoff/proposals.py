"""Settings proposed by Optuna, which learns from those before. Optuna is imported here and nowhere else."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

Setting = dict[str, Any]
Values: TypeAlias = tuple[float, float]
BATCH = 8


def propose_by_optuna(
    space: Any, n_candidates: int, evaluate: Callable[[Sequence[Setting]], list[Values]], random_state: int
) -> list[dict[str, list[Any]]]:
    """Let Optuna propose settings, batch by batch, and report their scores and stabilities to it.

    ``evaluate`` takes all settings so far and returns score and stability of each, ``nan`` where there is none.
    """
    optuna = _optuna()
    distributions = _distributions(optuna, space)
    with _silence(optuna):
        search = optuna.create_study(
            directions=["maximize", "maximize"], sampler=optuna.samplers.TPESampler(seed=random_state)
        )
        known: dict[str, Setting] = {}
        for _ in range(4 * n_candidates):  # a small space gives the same settings again and again
            wanted = min(BATCH, n_candidates - len(known))
            if wanted <= 0:
                break
            trials = [search.ask(distributions) for _ in range(max(wanted, 2 - len(known)))]
            known |= {repr(trial.params): dict(trial.params) for trial in trials}
            if len(known) > 1:
                values = dict(zip(known, evaluate(list(known.values())), strict=True))
                _report_values(optuna, search, trials, values)
    return [{name: [value] for name, value in setting.items()} for setting in known.values()]


def _report_values(optuna: Any, search: Any, trials: Sequence[Any], values: Mapping[str, Values]) -> None:
    for trial in trials:
        objectives = values[repr(trial.params)]
        if any(math.isnan(value) for value in objectives):
            search.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            search.tell(trial, list(objectives))


def _distributions(optuna: Any, space: Any) -> dict[str, Any]:
    """Optuna's distributions; lists of values are choices."""
    if not isinstance(space, Mapping) or not space:
        raise ValueError(f"Expected a mapping from parameter to values for sampler='optuna', got {space!r}.")
    known = optuna.distributions.BaseDistribution
    return {
        name: values if isinstance(values, known) else optuna.distributions.CategoricalDistribution(list(values))
        for name, values in space.items()
    }


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise ValueError(
            "sampler='optuna' needs Optuna: pip install 'holdfast[search]', or use sampler='random'."
        ) from None
    return optuna


@contextmanager
def _silence(optuna: Any) -> Iterator[None]:
    """Keep Optuna from writing to stderr meanwhile."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
