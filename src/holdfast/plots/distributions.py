"""Numbers of resamples: one dot for each, and their quantiles against those of the normal distribution."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from scipy.special import betaincinv, ndtri

from holdfast.inference.intervals import check_level
from holdfast.plots.sources import show_names
from holdfast.plots.theme import alt, finish_chart, inline_data, name_axis, text_chart, tooltips, unit_scale
from holdfast.text import clean_text, format_count, format_number, format_percent, shorten

WIDTH = 420
COUNTS = {
    "true_positives": "relevant features found", "false_negatives": "relevant features missed",
    "false_positives": "false features",
}  # fmt: skip
SCORES = {"score": "score on held-out rows", "promised": "promised score"}


def spread_data(result: Any) -> pd.DataFrame:
    """Return the numbers of a result, resample by resample.

    Parameters
    ----------
    result : Agreement, Recovery or NestedChoice
        What :func:`holdfast.inference.agreement`, ``StudyResult.recovery()`` or :func:`holdfast.nested_choice` returns.

    Returns
    -------
    DataFrame
        ``quantity``, ``resample`` and ``value``: the agreement of each pair of runs; how many relevant features each
        resample found and missed, and how many false ones it selected; or the score of the choice on the rows that each
        outer fold held out, and the score that it was chosen by.

    See Also
    --------
    plot_spread : Draws them.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast import plots
    >>> halves = [[1, 1, 0, 0], [1, 0, 1, 0]], [[1, 1, 0, 0], [1, 0, 0, 1]]
    >>> plots.spread_data(hf.inference.agreement(*halves, "jaccard")).round(2)
      quantity resample  value
    0  jaccard        1   1.00
    1  jaccard        2   0.33
    """
    if hasattr(result, "per_run"):
        labels = [str(run + 1) for run in range(len(result.per_run))]
        return pd.DataFrame({"quantity": result.measure, "resample": labels, "value": result.per_run})
    nested = hasattr(result, "folds")
    table, names = (result.folds, SCORES) if nested else (result.runs, COUNTS)
    labels = [f"outer fold {fold + 1}" for fold in range(len(table))] if nested else [str(run) for run in table.index]
    parts = [
        pd.DataFrame({"quantity": quantity, "resample": labels, "value": table[column].to_numpy(dtype=float)})
        for column, quantity in names.items()
    ]
    return pd.concat(parts, ignore_index=True)


def plot_spread(result: Any) -> "alt.LayerChart":
    """Draw a dot for each resample, and the mean of all.

    Parameters
    ----------
    result : Agreement, Recovery or NestedChoice
        As for :func:`spread_data`.

    Returns
    -------
    altair.LayerChart
        The chart: a notebook shows it, :func:`save` writes it to a file.

    See Also
    --------
    spread_data : The numbers behind it.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast import plots
    >>> halves = [[1, 1, 0, 0], [1, 0, 1, 0]], [[1, 1, 0, 0], [1, 0, 0, 1]]
    >>> print(*plots.plot_spread(hf.inference.agreement(*halves, "jaccard")).title.text)
    On average over 2 resamples: jaccard 0.67 (0.33 to 1)
    """
    return draw_spread(spread_data(result))


def draw_spread(data: pd.DataFrame) -> "alt.LayerChart":
    """Draw the spread over resamples from the data of :func:`spread_data`."""
    known = data[np.isfinite(data["value"].to_numpy(dtype=float))]
    if known.empty:
        return text_chart("There is no number to show", "it is undefined in every resample")
    names = show_names(data["quantity"])
    dots = known.assign(quantity=known["quantity"].map(names), resample=known["resample"].map(clean_text))
    x = alt.X("value:Q", title=None, scale=unit_scale(dots["value"]))
    y = name_axis("quantity:N", padding=10)
    means = dots.groupby("quantity", sort=False)["value"].mean().reset_index()
    tooltip = [alt.Tooltip("quantity:N"), alt.Tooltip("resample:N"), alt.Tooltip("value:Q", format=".3")]
    layers = [
        alt.Chart(inline_data(dots)).mark_point(filled=True, size=80, opacity=0.4).encode(x=x, y=y, tooltip=tooltip),
        alt.Chart(inline_data(means)).mark_tick(thickness=3, size=26, style="ring").encode(x=x, y=y),
    ]
    chart = alt.layer(*layers).properties(width=WIDTH, height={"step": 40})
    return finish_chart(chart, _spread_finding(dots), ["dots: resamples; lines: their means"], width=WIDTH + 120)


def _spread_finding(dots: pd.DataFrame) -> str:
    by = dots.groupby("quantity", sort=False)["value"].agg(["mean", "min", "max"])
    parts = [
        f"{name} {format_number(row['mean'])} ({row['min']:.2g} to {row['max']:.2g})" for name, row in by.iterrows()
    ]
    count = format_count(dots["resample"].nunique(), "resample")
    return f"On average over {count}: {', '.join(parts)}"


# Quantiles against the normal distribution

Reference: TypeAlias = Literal["standard", "fitted"]
SIDE = 320
MAX_POINTS = 300
SINGLE = "sample"
NAMES = {"standard": "the standard normal distribution", "fitted": "the normal distribution with its mean and spread"}


def qq_data(
    sample: Any, *, truth: float | None = None, reference: Reference = "standard", level: float = 0.95
) -> pd.DataFrame:
    """Return the quantiles of a sample with those of the normal distribution.

    Parameters
    ----------
    sample : array of numbers, sequence of StabilityEstimate, or mapping from names to these
        What may be normally distributed. An estimate counts as its distance from ``truth``, in standard errors.
    truth : float, optional
        What the estimates estimate; only for estimates.
    reference : {"standard", "fitted"}
        The normal distribution with mean 0 and standard deviation 1, or with those of the sample.
    level : float
        In what share of samples of the reference each quantile lies within the band.

    Returns
    -------
    DataFrame
        ``name``, ``normal`` (quantile of the standard normal distribution), ``value`` (of the sample), ``expected`` (of
        the reference), and the band from ``low`` to ``high``. Numbers that are not finite are left out.

    Raises
    ------
    ValueError
        If there is no such reference, or ``truth`` is missing for estimates or given for numbers.

    See Also
    --------
    plot_qq : Draws them.

    Notes
    -----
    The i-th of n sorted numbers is paired with the quantile of (i − 1/2)/n. The band is that of the i-th number alone,
    by a Beta distribution with parameters i and n + 1 − i; it is not one for all numbers at once.

    Examples
    --------
    >>> from holdfast import plots
    >>> plots.qq_data([0.3, -1.1, 1.4]).round(2)
         name  normal  value  expected   low  high
    0  sample   -0.97   -1.1     -0.97 -2.39  0.55
    1  sample    0.00    0.3      0.00 -1.31  1.31
    2  sample    0.97    1.4      0.97 -0.55  2.39
    """
    check_level(level)
    if reference not in NAMES:
        raise ValueError(f"Expected reference='standard' or 'fitted', got {reference!r}.")
    samples = sample if isinstance(sample, Mapping) else {SINGLE: sample}
    parts = [_quantiles(str(name), _numbers(values, truth), reference, level) for name, values in samples.items()]
    return pd.concat(parts, ignore_index=True)


def _numbers(values: Iterable[Any], truth: float | None) -> Any:
    """The sample, sorted; estimates as their distance from the truth in standard errors."""
    values = list(values)
    estimates = [hasattr(value, "standard_error") for value in values]
    if any(estimates) != (truth is not None) or any(estimates) != all(estimates):
        raise ValueError(
            f"Expected numbers, or estimates and the truth that they estimate, got {sum(estimates)} estimates of "
            f"{len(values)} and truth={truth}."
        )
    if truth is None:
        numbers = np.asarray(values, dtype=np.float64)
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            numbers = np.array([np.float64(value.value - truth) / value.standard_error for value in values])
    return np.sort(numbers[np.isfinite(numbers)])


def _quantiles(name: str, numbers: Any, reference: Reference, level: float) -> pd.DataFrame:
    n = numbers.size
    rank, outside = np.arange(1, n + 1), (1 - level) / 2
    center, scale = 0.0, 1.0
    if reference == "fitted" and n:
        center, scale = numbers.mean(), numbers.std(ddof=1) if n > 1 else np.nan
    normal, low, high = (
        ndtri(share)
        for share in (
            (rank - 0.5) / max(n, 1),
            betaincinv(rank, n + 1 - rank, outside),
            betaincinv(rank, n + 1 - rank, 1 - outside),
        )
    )
    return pd.DataFrame(
        {
            "name": name, "normal": normal, "value": numbers, "expected": center + scale * normal,
            "low": center + scale * low, "high": center + scale * high,
        }
    )  # fmt: skip


def plot_qq(
    sample: Any, *, truth: float | None = None, reference: Reference = "standard", level: float = 0.95
) -> "alt.LayerChart":
    """Draw the quantiles of a sample against those of the normal distribution.

    Parameters
    ----------
    sample : array of numbers, sequence of StabilityEstimate, or mapping from names to these
        As for :func:`qq_data`.
    truth : float, optional
        What the estimates estimate; only for estimates.
    reference : {"standard", "fitted"}
        The normal distribution with mean 0 and standard deviation 1, or with those of the sample.
    level : float
        Level of the band.

    Returns
    -------
    altair.LayerChart
        The chart: a notebook shows it, :func:`save` writes it to a file.

    See Also
    --------
    qq_data : The numbers behind it.

    Examples
    --------
    >>> import numpy as np
    >>> from holdfast import plots
    >>> sample = np.random.default_rng(0).normal(0.5, 1, size=200)
    >>> print(*plots.plot_qq(sample).title.text)
    10 of 200 quantiles are within the band of the standard normal distribution (mean 0.52, standard deviation 0.96)
    """
    data = qq_data(sample, truth=truth, reference=reference, level=level)
    return draw_qq(data, reference=reference, level=level)


def draw_qq(data: pd.DataFrame, *, reference: Reference, level: float) -> "alt.LayerChart":
    """Draw a QQ plot from the data of :func:`qq_data`; reference and level are for the text."""
    if data.empty:
        return text_chart("There is no number to show", "no number of the sample is finite")
    names = show_names(data["name"])
    several = len(names) > 1
    points = pd.concat([_thin(part) for _, part in data.groupby("name", sort=False)])
    points = points.assign(name=points["name"].map(names))
    base = alt.Chart(inline_data(points)).encode(
        x=alt.X(
            "normal:Q", title="quantile of the standard normal distribution", scale=alt.Scale(nice=False, padding=6)
        )
    )
    if several:
        base = base.encode(color=alt.Color("name:N", sort=None, title=None))
    y = alt.Y("value:Q", title="quantile of the sample", scale=alt.Scale(zero=False, nice=False, padding=6))
    tooltip = [
        *tooltips({"name:N": "sample"} if several else {}),
        *tooltips({"value:Q": "of the sample", "expected:Q": "expected", "low:Q": "band from", "high:Q": "to"}, ".3f"),
    ]
    layers = [
        base.mark_area(opacity=0.18, line=False).encode(y=alt.Y("low:Q"), y2="high:Q"),
        base.mark_line(strokeWidth=1.5, strokeDash=[5, 4]).encode(y=alt.Y("expected:Q")),
        base.mark_point(filled=True, size=18, opacity=0.8).encode(y=y, tooltip=tooltip),
    ]
    chart = alt.layer(*layers).properties(width=SIDE + 60, height=SIDE)
    note = (
        f"band: where each quantile lies in {format_percent(level)} of samples of {NAMES[reference]}; dashed: expected"
    )
    return finish_chart(chart, _qq_finding(data, reference), [note], width=SIDE + 160)


def _thin(part: pd.DataFrame) -> pd.DataFrame:
    """At most some hundred points, evenly spaced on the axis, so that both tails stay whole."""
    if len(part) <= MAX_POINTS:
        return part
    normal = part["normal"].to_numpy()
    wanted = np.linspace(normal[0], normal[-1], MAX_POINTS)
    return part.iloc[np.unique(np.searchsorted(normal, wanted - 1e-12).clip(0, len(part) - 1))]


def _qq_finding(data: pd.DataFrame, reference: Reference) -> str:
    parts = []
    for name, part in data.groupby("name", sort=False):
        inside = int(part["value"].between(part["low"], part["high"]).sum())
        spread = f", standard deviation {format_number(part['value'].std())}" if len(part) > 1 else ""
        inside_band = f"{inside:,} of {format_count(len(part), 'quantile')}"
        parts.append((shorten(name), inside_band, f"(mean {format_number(part['value'].mean())}{spread})"))
    if len(parts) == 1:
        _, inside_band, moments = parts[0]
        return f"{inside_band} are within the band of {NAMES[reference]} {moments}"
    several = "; ".join(f"{name} {inside_band} {moments}" for name, inside_band, moments in parts)
    return f"Within the band of {NAMES[reference]}: {several}"
