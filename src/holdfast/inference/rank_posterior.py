"""How probable it is that one candidate is better than another over data sets, or practically equivalent to it."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from holdfast.cards.ranks import Card, draw_probabilities
from holdfast.inference.rank_comparisons import Pairs, list_pairs
from holdfast.inference.rank_tests import Blocks, Values, make_blocks
from holdfast.inference.signed_rank import N_DRAWS, signed_rank_posterior
from holdfast.results import ResultMixin


@dataclass(frozen=True, kw_only=True)
class SignedRankPosterior(ResultMixin):
    """How probable it is that one candidate is better than another, or that both are practically equivalent.

    Attributes
    ----------
    pairs : DataFrame
        One row per pair: ``first``, ``second``, and the probabilities ``first_better``, ``equivalent`` and
        ``second_better``.
    rope : float
        Differences of at most this size are practically no difference (region of practical equivalence).
    n_datasets : int
        Number of data sets with values of all candidates.
    n_draws, random_state : int
        Number of draws from the posterior, and their seed.
    reason : str or None
        Why there are no probabilities; None if there are.
    note : str
        What was left out.

    See Also
    --------
    bayesian_signed_rank : Makes it.
    RankComparisons : Tests instead of probabilities.

    Examples
    --------
    >>> import holdfast as hf
    >>> import numpy as np
    >>> import pandas as pd
    >>> accuracy = pd.DataFrame({"lasso": np.full(9, 0.9), "anova": [0.8] * 8 + [0.9]})
    >>> hf.inference.bayesian_signed_rank(accuracy, rope=0.01).pairs.round(2)
       first second  first_better  equivalent  second_better
    0  lasso  anova           1.0         0.0            0.0
    """

    pairs: pd.DataFrame = field(compare=False)
    rope: float
    n_datasets: int
    n_draws: int
    random_state: int
    reason: str | None = None
    note: str = ""

    def to_frame(self) -> pd.DataFrame:
        """Return one row per pair (see :attr:`pairs`).

        Returns
        -------
        DataFrame
            The pairs.
        """
        return self.pairs

    def _card(self) -> Card:
        return replace(super()._card(), picture=draw_probabilities(self.pairs.to_dict(orient="records")))

    def __repr__(self) -> str:
        if self.reason is not None:
            return f"Bayesian signed-rank test: undefined, {self.reason}"
        head = (
            f"Bayesian signed-rank test over {self.n_datasets} data sets; practically equivalent within ± {self.rope:g}"
        )
        table = self.pairs.to_string(index=False, float_format=lambda number: f"{number:.3f}")
        return "\n".join([head, table, *filter(None, [self.note])])


def bayesian_signed_rank(
    values: Values | Blocks,
    *,
    rope: float = 0.01,
    control: str | None = None,
    higher_is_better: bool = True,
    n_draws: int = N_DRAWS,
    random_state: int = 0,
) -> SignedRankPosterior:
    """Compute how probable it is that one candidate is better than another over data sets, or equivalent to it.

    Parameters
    ----------
    values : DataFrame or matrix
        One row per data set, one column per candidate; data sets with a missing value are left out.
    rope : float
        Half the width of the region of practical equivalence: differences of at most this size do not matter.
    control : str, optional
        Compare all others with this candidate only.
    higher_is_better : bool
        Whether larger values are better.
    n_draws, random_state : int
        Number of draws from the posterior, and their seed.

    Returns
    -------
    SignedRankPosterior
        Three probabilities for each pair.

    Raises
    ------
    ValueError
        If the region or the number of draws is negative, or there is no such control.

    See Also
    --------
    compare_ranks : Tests instead of probabilities.

    References
    ----------
    Benavoli, Mangili, Corani, Zaffalon and Ruggeri (2014); Benavoli, Corani, Demšar and Zaffalon (2017).
    """
    if not (np.isfinite(rope) and rope >= 0):
        raise ValueError(f"Expected a region of practical equivalence of at least 0, got rope={rope!r}.")
    if n_draws < 1:
        raise ValueError(f"Expected at least one draw, got n_draws={n_draws!r}.")
    blocks = values if isinstance(values, Blocks) else make_blocks(values, higher_is_better=higher_is_better)
    rows = list(_posteriors(blocks, list_pairs(blocks, control), rope, n_draws, random_state))
    columns = ["first", "second", "first_better", "equivalent", "second_better"]
    return SignedRankPosterior(
        pairs=pd.DataFrame(rows, columns=columns), rope=rope, n_datasets=len(blocks.values), n_draws=n_draws,
        random_state=random_state, reason=blocks.reason, note=blocks.note,
    )  # fmt: skip


def _posteriors(
    blocks: Blocks, pairs: Pairs, rope: float, n_draws: int, random_state: int
) -> Iterator[tuple[str, str, float, float, float]]:
    for a, b in pairs:
        differences = blocks.values[:, a] - blocks.values[:, b] if blocks.reason is None else np.empty(0)
        posterior = signed_rank_posterior(differences, rope=rope, n_draws=n_draws, random_state=random_state)
        yield (blocks.candidates[a], blocks.candidates[b], *posterior)
