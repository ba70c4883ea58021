"""Things to choose from, as every page lists them: options with their names, levels of intervals, measures."""

from dataclasses import dataclass

from holdfast.measures import REQUIRED, Measure

LEVELS = (0.8, 0.9, 0.95, 0.99)
"""Levels of intervals that are offered."""


@dataclass(frozen=True, kw_only=True)
class NamedOption:
    """One of several things that can be chosen.

    Attributes
    ----------
    name : str
        How it is asked for.
    label : str
        What readers call it.
    summary : str
        One line that says what it is.
    """

    name: str
    label: str
    summary: str = ""


def list_levels(asked: float) -> tuple[float, ...]:
    """Return the levels to choose from, with the one that was asked for."""
    return tuple(sorted({*LEVELS, asked}))


def needs_only_runs(measure: Measure) -> bool:
    """Whether a measure needs neither data nor values of parameters."""
    return measure.similarity is None and REQUIRED not in measure.parameters.values()
