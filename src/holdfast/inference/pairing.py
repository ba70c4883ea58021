"""Whether the runs of two selections are pairs: run ``i`` of both on the same resample."""

import numpy as np

from holdfast.preferences import Preferences


def sort_by_label(runs: Preferences) -> Preferences:
    """Return the runs in the order of their labels."""
    return runs if runs.labels is None else runs.take(np.argsort(np.array(runs.labels)))


def are_paired(first: Preferences | None, second: Preferences | None, paired: bool | None) -> bool:
    """Whether runs, which are sorted by their labels, are compared as pairs."""
    if first is None or second is None:
        return True
    labels = None if first.labels is None or second.labels is None else (set(first.labels), set(second.labels))
    if paired is None:
        if labels is None:
            raise ValueError(
                "The runs have no labels, so it is not known whether run i of both selections used the same resample; "
                "pass paired=True or paired=False (--paired, --independent), or label the runs."
            )
        common = labels[0] & labels[1]
        if common and labels[0] != labels[1]:
            raise ValueError(
                f"Expected run labels that are all equal or all different, got {len(common)} in common of "
                f"{first.n_runs} and {second.n_runs}; keep the common runs with .take(), or pass paired=False."
            )
        paired = bool(common)
    if paired and first.n_runs != second.n_runs:
        raise ValueError(f"Expected equally many runs to compare as pairs, got {first.n_runs} and {second.n_runs}.")
    if paired and labels and labels[0] != labels[1]:
        raise ValueError(
            f"Expected the same run labels to compare as pairs, got {min(labels[0] - labels[1])!r} on one side only; "
            "label the runs by their resample, or leave labels out."
        )
    return paired
