"""Mean ranks of settings over conditions, such as numbers of features."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from holdfast.measures import Measure, find_measure
from holdfast.study.tables import StudyTables


def mean_ranks(table: pd.DataFrame, *, higher_is_better: bool = True) -> pd.DataFrame:
    """Rank settings in every row, and return mean and standard deviation of the ranks: 1 is best.

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
    DataFrame
        One row per setting: its mean ``rank``, the standard deviation ``sd`` of its ranks over the rows (``nan`` for a
        single one), and the number of rows, ``conditions``.

    Raises
    ------
    ValueError
        If every row has an undefined value.

    Examples
    --------
    >>> import holdfast as hf
    >>> import pandas as pd
    >>> hf.tradeoff.mean_ranks(pd.DataFrame({"a": [0.5, 0.9], "b": [0.5, 0.8], "c": [0.1, 0.7]})).round(2)
       rank    sd  conditions
    a   1.0  0.00           2
    b   1.5  0.71           2
    c   3.0  0.00           2
    """
    known = table.dropna().astype(float).round(12)
    if known.empty:
        raise ValueError("Expected at least one row without undefined values to rank, got none.")
    ranks = known.rank(axis=1, method="min", ascending=not higher_is_better)
    return pd.DataFrame({"rank": ranks.mean(), "sd": ranks.std(), "conditions": len(ranks)})


def ranked_settings(
    result: StudyTables,
    over: str = "size",
    *,
    of: str = "stability",
    measure: str | Measure | None = None,
    fraction: float | None = None,
    candidates: Iterable[str] | None = None,
    **parameters: Any,
) -> pd.DataFrame:
    """Rank the settings of a study over the values of one parameter, and average the ranks.

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
    candidates : iterable of str, optional
        Names of the candidates to rank; all by default.
    **parameters
        ``X`` for measures that need a similarity of features, and parameters of the measure.

    Returns
    -------
    DataFrame
        One row per setting, the best first: its mean ``rank`` (see :func:`holdfast.tradeoff.mean_ranks`), the
        standard deviation ``sd`` of its ranks, and the number of ``conditions`` it was ranked in.

    Raises
    ------
    ValueError
        If no candidate sets this parameter, or ``of`` is neither ``"stability"`` nor a score.
    """
    if of != "stability" and of not in result.metrics:
        raise ValueError(f"Expected 'stability' or a score ({', '.join(result.metrics)}), got {of!r}.")
    asked = result.candidates if candidates is None else [str(name) for name in candidates]
    values = _values(result, asked, of, measure, fraction, parameters)
    having = [name for name in asked if over in result.settings(name)]
    if not having:
        raise ValueError(f"Expected candidates that set {over!r}, got none.")
    rows = [(_other_settings(result, name, over), result.settings(name)[over], values[name]) for name in having]
    table = pd.DataFrame(rows, columns=["setting", over, "value"]).pivot_table(
        index=over, columns="setting", values="value", dropna=False, sort=False
    )
    return mean_ranks(table).rename_axis("setting").sort_values("rank", kind="stable")


def _values(
    result: StudyTables,
    candidates: Sequence[str],
    of: str,
    measure: str | Measure | None,
    fraction: float | None,
    parameters: dict[str, Any],
) -> "pd.Series[float]":
    """The stability or the mean score of each candidate; scores ask for no stability, which takes longer."""
    if of == "stability":
        chosen = None if measure is None else find_measure(measure)
        return result.summary(chosen, fraction=fraction, candidates=candidates, **parameters)["stability"]
    scores = {name: result.split_scores(name, of, fraction=fraction)[0].mean() for name in candidates}
    return pd.Series(scores, dtype=float)


def _other_settings(result: StudyTables, name: str, over: str) -> str:
    family = result.family(name)
    others = {key: value for key, value in result.settings(name).items() if key != over}
    return family if not others else f"{family}({', '.join(f'{key}={value}' for key, value in others.items())})"
