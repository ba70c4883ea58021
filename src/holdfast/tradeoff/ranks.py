"""Mean ranks of settings over conditions, such as numbers of features."""

from typing import Any

import pandas as pd

from holdfast.measures import Measure, find_measure
from holdfast.study.result import StudyResult


def mean_ranks(table: pd.DataFrame, *, higher_is_better: bool = True) -> "pd.Series[float]":
    """Rank settings in every row, and average the ranks: 1 is best.

    Settings that tie share the *best* of their ranks (1, 1, 3), as the rank tables of Gulgezen, Cataltepe and Yu (2009)
    do; a row of five that all tie adds 1 to each of them, not 3. Rank means over resamples, not each resample.

    Parameters
    ----------
    table : DataFrame
        One row per condition (number of features, data set), one column per setting. A row with an undefined value is
        left out.
    higher_is_better : bool
        Whether larger values rank first.

    Returns
    -------
    Series
        Mean rank of each setting.

    Raises
    ------
    ValueError
        If every row has an undefined value.

    Examples
    --------
    >>> import holdfast as hf
    >>> import pandas as pd
    >>> hf.tradeoff.mean_ranks(pd.DataFrame({"a": [0.5, 0.9], "b": [0.5, 0.8], "c": [0.1, 0.7]})).to_dict()
    {'a': 1.0, 'b': 1.5, 'c': 3.0}
    """
    known = table.dropna().astype(float).round(12)
    if known.empty:
        raise ValueError("Expected at least one row without undefined values to rank, got none.")
    return known.rank(axis=1, method="min", ascending=not higher_is_better).mean()


def ranked_settings(
    result: StudyResult,
    over: str = "size",
    *,
    of: str = "stability",
    measure: str | Measure | None = None,
    fraction: float | None = None,
    **parameters: Any,
) -> pd.DataFrame:
    """Rank the settings of a study over the values of one parameter, and average the ranks (see :func:`mean_ranks`).

    Parameters
    ----------
    result : StudyResult
        What a study found.
    over : str
        Parameter whose values are the conditions, such as ``size``, the number of features.
    of : str
        What is ranked: ``"stability"`` or the name of a score.
    measure : str or Measure, optional
        What to measure, as for :meth:`StudyResult.stability`.
    fraction : float, optional
        Of nested subsamples, the size to rank at; by default the mean over all smaller sizes, of stability and scores
        alike.
    **parameters
        Parameters of the measure.

    Returns
    -------
    DataFrame
        One row per setting, the best first: its ``rank``, and the number of ``conditions`` it was ranked in.

    Raises
    ------
    ValueError
        If no candidate sets this parameter, or ``of`` is neither ``"stability"`` nor a score.
    """
    if of != "stability" and of not in result.metrics:
        raise ValueError(f"Expected 'stability' or a score ({', '.join(result.metrics)}), got {of!r}.")
    chosen = None if measure is None else find_measure(measure)
    values = result.summary(chosen, fraction=fraction, **parameters)[of]
    rows = [
        (_other_settings(result, name, over), result.settings(name).get(over), values[name])
        for name in result.candidates
    ]
    rows = [row for row in rows if row[1] is not None]
    if not rows:
        raise ValueError(f"Expected candidates that set {over!r}, got none.")
    table = pd.DataFrame(rows, columns=["setting", over, "value"]).pivot_table(
        index=over, columns="setting", values="value", dropna=False, sort=False
    )
    ranks = mean_ranks(table).rename("rank").to_frame().rename_axis("setting")
    return ranks.assign(conditions=len(table.dropna())).sort_values("rank", kind="stable")


def _other_settings(result: StudyResult, name: str, over: str) -> str:
    family = result.family(name)
    others = {key: value for key, value in result.settings(name).items() if key != over}
    return family if not others else f"{family}({', '.join(f'{key}={value}' for key, value in others.items())})"
