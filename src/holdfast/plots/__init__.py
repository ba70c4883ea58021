"""Plots of stability, each as a pair: ``*_data()`` returns tidy frames, ``plot_*()`` draws them as an Altair chart.

Titles state the finding in words. A notebook shows the chart, Altair can change it, and :func:`save` writes it to a
file. Drawing needs ``pip install 'holdfast[app]'``; the data functions do not. In each module ``plot_*()`` is
``draw_*(*_data())``: the drawing half takes the data from anywhere, as a report does from its summary.
"""

from holdfast.plots.comparisons import comparison_data, plot_comparisons
from holdfast.plots.convergence import convergence_data, plot_convergence
from holdfast.plots.critical_difference import (
    CriticalDifference,
    critical_difference_data,
    plot_critical_difference,
)
from holdfast.plots.effects import effect_data, plot_effects
from holdfast.plots.embed import save
from holdfast.plots.forest import forest_data, plot_forest
from holdfast.plots.frequencies import frequency_data, plot_frequencies
from holdfast.plots.mrmr_terms import mrmr_terms_data, plot_mrmr_terms
from holdfast.plots.pareto import pareto_data, plot_pareto
from holdfast.plots.profile import plot_profile, profile_data
from holdfast.plots.qq import plot_qq, qq_data
from holdfast.plots.rank_tradeoff import plot_rank_tradeoff, rank_tradeoff_data
from holdfast.plots.recovery import plot_recovery, recovery_data
from holdfast.plots.replicability import plot_replicability, replicability_data
from holdfast.plots.selection_map import SelectionMap, plot_selection_map, selection_map_data
from holdfast.plots.settings import plot_setting, setting_data
from holdfast.plots.spread import plot_spread, spread_data
from holdfast.plots.swaps import plot_swaps, swap_data
from holdfast.plots.theme import themed

__all__ = [
    "CriticalDifference",
    "SelectionMap",
    "comparison_data",
    "convergence_data",
    "critical_difference_data",
    "effect_data",
    "forest_data",
    "frequency_data",
    "mrmr_terms_data",
    "pareto_data",
    "plot_comparisons",
    "plot_convergence",
    "plot_critical_difference",
    "plot_effects",
    "plot_forest",
    "plot_frequencies",
    "plot_mrmr_terms",
    "plot_pareto",
    "plot_profile",
    "plot_qq",
    "plot_rank_tradeoff",
    "plot_recovery",
    "plot_replicability",
    "plot_selection_map",
    "plot_setting",
    "plot_spread",
    "plot_swaps",
    "profile_data",
    "qq_data",
    "rank_tradeoff_data",
    "recovery_data",
    "replicability_data",
    "save",
    "selection_map_data",
    "setting_data",
    "spread_data",
    "swap_data",
    "themed",
]
