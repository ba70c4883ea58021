"""How sure a choice is: in how many redraws each candidate is chosen, and which candidates cannot be told apart."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.tradeoff.points import Points
from holdfast.tradeoff.redraws import Redraws, redraw
from holdfast.tradeoff.rules import Rule

TOGETHER = 0.95
"""Share of the redraws that candidates which cannot be told apart make up together."""
MANY_DRAWS, FEW_DRAWS = 1000, 200
"""Redraws for rules that choose in all of them at once, and for others."""
REDRAWS = "redrawn resamples of this data set"
COLUMNS = ("family", "probability", "alternative")


def choose_in_redraws(
    points: Points, rule: Rule, parameters: Mapping[str, Any], n_draws: int | None = None
) -> tuple[Redraws, NDArray[np.int64]]:
    """Redraw the resamples and apply a rule to each redraw.

    Parameters
    ----------
    points : Points
        The candidates.
    rule : Rule
        How one is chosen.
    parameters : mapping from str to object
        Parameters of the rule.
    n_draws : int, optional
        Number of redraws; by default 1000 for rules that choose in all of them at once, 200 for others.

    Returns
    -------
    (Redraws, ndarray of int)
        The redraws, and the place of the candidate chosen in each; -1 where the rule chooses none.
    """
    usual = FEW_DRAWS if rule.many is None else MANY_DRAWS
    redraws = redraw(points, usual if n_draws is None else n_draws)
    if rule.many is not None:
        return redraws, rule.many(redraws, **parameters)
    return redraws, np.array([_choose_once(redraws, draw, rule, parameters) for draw in range(len(redraws))])


def _choose_once(redraws: Redraws, draw: int, rule: Rule, parameters: Mapping[str, Any]) -> int:
    points = redraws.points_of(draw)
    try:
        return points.names.index(rule(points, **parameters).candidate)
    except ValueError:  # no candidate of this draw is as the rule asks for
        return -1


def tabulate_choices(points: Points, chosen: str, places: NDArray[np.int64]) -> pd.DataFrame:
    """Return in which share of the redraws each candidate is chosen, the most frequent first.

    Parameters
    ----------
    points : Points
        The candidates.
    chosen : str
        The candidate that the rule chose on the resamples as they are.
    places : ndarray of int
        The place of the candidate chosen in each redraw; -1 for none.

    Returns
    -------
    DataFrame
        Indexed by candidate: ``family``, ``probability``, and whether it is an ``alternative``, one of those that
        cannot be told apart: the fewest that make up 95 % of the redraws with a choice, and the chosen one.
    """
    made = places[places >= 0]
    share = np.bincount(made, minlength=len(points.points)) / max(len(places), 1)
    families = [point.family for point in points.points]
    table = pd.DataFrame(dict(zip(COLUMNS, (families, share, False), strict=True)), index=pd.Index(points.names))
    table = table.rename_axis("candidate").sort_values("probability", ascending=False, kind="stable")
    before = table["probability"].cumsum() - table["probability"]
    made_up = (before / max(table["probability"].sum(), 1e-12)).round(2)  # as printed: 95 % stand alone
    needed = (made_up < TOGETHER) & (table["probability"] > 0)
    return table.assign(alternative=needed | (table.index == chosen))


def no_choices() -> pd.DataFrame:
    """The table of a choice that was not redrawn."""
    return pd.DataFrame(columns=list(COLUMNS)).rename_axis("candidate")


# In words


def describe_alternatives(table: pd.DataFrame, most: int = 3) -> str:
    """Name the candidates that cannot be told apart, settings of one family together, the most frequent family first.

    Parameters
    ----------
    table : DataFrame
        As of :func:`tabulate_choices`.
    most : int
        Families to name; the others are counted.

    Examples
    --------
    >>> import pandas as pd
    >>> from holdfast.tradeoff.alternatives import describe_alternatives
    >>> table = pd.DataFrame(
    ...     {"family": ["lasso", "lasso", "anova"], "probability": [0.5, 0.2, 0.3], "alternative": True},
    ...     index=["lasso(k=5)", "lasso(k=8)", "anova(k=5)"],
    ... )
    >>> describe_alternatives(table)
    'one of 2 settings of lasso, or anova(k=5)'
    """
    listed = table[table["alternative"].astype(bool)]
    total = listed.groupby("family", sort=False)["probability"].sum().sort_values(ascending=False, kind="stable")
    groups = {str(family): [str(name) for name in listed.index[listed["family"] == family]] for family in total.index}
    names = [name_settings(family, members) for family, members in groups.items()]
    if len(names) > most:
        names = [*names[: most - 1], f"one of {len(names) - most + 1} other selectors"]
    return join_with_or(names)


def name_settings(family: str, members: Sequence[str]) -> str:
    """Name one candidate, or count the settings of a family."""
    return members[0] if len(members) == 1 else f"one of {len(members)} settings of {family}"


def join_with_or(names: Sequence[str]) -> str:
    """Join names by or."""
    if len(names) < 2:
        return "".join(names)
    comma = "," if len(names) > 2 or any(" of " in name for name in names) else ""
    return f"{', '.join(names[:-1])}{comma} or {names[-1]}"


def describe_certainty(table: pd.DataFrame, chosen: str) -> str:
    """Say in which share of the redraws the chosen candidate is chosen, and what it cannot be told apart from.

    Parameters
    ----------
    table : DataFrame
        As of :func:`tabulate_choices`.
    chosen : str
        The candidate that the rule chose.

    Returns
    -------
    str
        One or two sentences; empty if there is no other candidate, or nothing was redrawn.
    """
    if len(table) < 2:
        return ""
    sure = f"{chosen} is chosen in {format_share(float(table['probability'][chosen]))} of {REDRAWS}."
    none = 1 - float(table["probability"].sum())
    if none > 0.005:
        sure = f"{sure} In {format_share(none)} of them no candidate is as the rule asks."
    listed = table[table["alternative"].astype(bool)]
    if len(listed) < 2:
        return sure
    names = describe_alternatives(table)
    which = "them" if len(set(listed["family"])) > 1 else "these settings"
    start = names[0].upper() if names.startswith("one of") else names[0]
    return f"{start}{names[1:]}: these data cannot tell {which} apart. {sure}"


def format_share(share: float) -> str:
    """A share of redraws in percent, never more certain than the redraws are."""
    if 0 < share < 0.005:
        return "less than 1 %"
    if 0.995 <= share < 1:
        return "more than 99 %"
    return f"{100 * share:.0f} %"
