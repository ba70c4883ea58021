"""The card of preferences: which features were selected, ranked or weighted best."""

from typing import Any

import numpy as np
import pandas as pd

from holdfast.cards import SHOWN_ROWS, Bar, Card, draw_bars

__all__ = ["Card", "make_preferences_card"]


def make_preferences_card(runs: Any) -> Card:
    """Return the card of a :class:`~holdfast.Preferences`: its most frequent or best features."""
    if runs.kind == "subset":
        best = np.argsort(-runs.counts, kind="stable")[: (runs.counts > 0).sum()]
        columns = {"count": runs.counts[best], "frequency": runs.frequency[best]}
    else:
        mean = runs.matrix().mean(axis=0)
        best = np.argsort(mean if runs.kind == "ranking" else -mean, kind="stable")
        columns = {"mean rank" if runs.kind == "ranking" else "mean weight": mean[best]}
    shown = [str(runs.features[place]) for place in best[:SHOWN_ROWS]]
    frame = pd.DataFrame({name: values[:SHOWN_ROWS] for name, values in columns.items()})
    frame.insert(0, "feature", shown)
    bars = [
        Bar(name, value, text=f"{count} of {runs.n_runs}", strong=value >= 0.5)
        for name, count, value in frame.itertuples(index=False)
    ] if runs.kind == "subset" else []  # fmt: skip
    hidden = best.size - len(shown)
    note = f"{hidden:,} more features" if hidden else ""
    kind = {"subset": "Selections", "ranking": "Rankings", "weighting": "Weights"}[runs.kind]
    return Card(title=kind, verdict=repr(runs).split(": ", 1)[1], frame=frame, picture=draw_bars(bars), note=note)
