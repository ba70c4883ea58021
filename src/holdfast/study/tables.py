"""The summary of a study: one row per candidate, or per candidate and measure."""

import math
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, logit, stdtrit

from holdfast.checks import Matrix
from holdfast.declared import About
from holdfast.inference.designs import UNKNOWN, DesignedRuns
from holdfast.inference.estimate import bind_parameters
from holdfast.inference.intervals import Interval
from holdfast.io.exported import protect_formula, read_exported
from holdfast.io.files import pyarrow_parquet
from holdfast.measures import Measure, UndefinedStabilityWarning, find_measure
from holdfast.models.scores import SCORES, UNBOUNDED, Range
from holdfast.preferences import Kind
from holdfast.resampling import PERTURBATIONS
from holdfast.study.common_measure import CommonMeasure
from holdfast.text import escape_latex

if TYPE_CHECKING:
    from holdfast.study.stabilities import StudyStabilities


def make_summary(
    result: "StudyStabilities",
    measure: str | Measure | Sequence[str | Measure] | None,
    level: float,
    fraction: float | None,
    candidates: Iterable[str] | None,
    X: Matrix | None,
    parameters: dict[str, Any],
) -> pd.DataFrame:
    """See :meth:`StudyResult.summary`."""
    result.stored.fractions(fraction)  # or a sentence that names those there are
    options = {"fraction": fraction, "X": X}
    names = result.candidates if candidates is None else [str(name) for name in candidates]
    if not names:
        raise ValueError("Expected at least one candidate, got none.")
    if measure is None or isinstance(measure, (str, Measure)):
        common = result.common_measure(names, measure)
        rows = [_make_row(result, name, common, level, {**options, **parameters}) for name in names]
        return pd.DataFrame(rows).set_index("candidate")
    measures = bind_parameters([find_measure(name) for name in measure], parameters)
    if not measures:
        raise ValueError("Expected at least one measure, got none.")
    common_measures = [result.common_measure(names, chosen) for chosen in measures]
    rows = [
        {**_make_row(result, name, common, level, options), "measure": chosen.label}
        for name in names
        for chosen, common in zip(measures, common_measures, strict=True)
    ]
    return pd.DataFrame(rows).set_index(["candidate", "measure"])


def _make_row(
    result: "StudyStabilities", name: str, common: CommonMeasure, level: float, options: dict[str, Any]
) -> dict[str, Any]:
    stored = result.stored
    number, outcomes = stored.row(name)["candidate"], stored.find_outcomes(name)
    row: dict[str, Any] = {
        "candidate": name, "family": result.family(name), "measure": None, "top": None, "stability": math.nan,
        "low": math.nan, "high": math.nan, "reason": None, "runs": 0, "size": math.nan,
    }  # fmt: skip
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedStabilityWarning)
            estimate = result.stability(name, common.measure, top=common.top_of(result.kinds.get(name)), **options)
    except ValueError as error:
        row["reason"] = str(error)
    else:
        low, high = result.interval(name, estimate, level)
        row |= {
            "measure": estimate.measure, "top": None if outcomes["kind"].iloc[0] == "subset" else common.top,
            "stability": estimate.value, "low": low, "high": high,
            "reason": estimate.note, "runs": estimate.n_runs,
            "size": math.nan if estimate.mean_size is None else estimate.mean_size,
        }  # fmt: skip
    return {
        **row,
        **_average_scores(result, name, options["fraction"]),
        "seconds": outcomes["seconds"].mean() if len(outcomes) else math.nan,
        "failures": int((stored.failures["candidate"] == number).sum()),
    }


def _average_scores(result: "StudyStabilities", candidate: str, fraction: float | None) -> dict[str, float]:
    """Each score's mean over splits, and its standard error."""
    columns = {}
    for metric in result.metrics:
        scores, splits = result.split_scores(candidate, metric, fraction=fraction)
        columns[metric] = float(scores.mean()) if len(scores) else math.nan
        columns[f"{metric}_se"] = corrected_error(np.asarray(scores, dtype=np.float64), splits)
    return columns


def corrected_error(values: NDArray[np.float64], splits: pd.DataFrame) -> float:
    """Standard error of a mean score over splits that share training rows (Nadeau and Bengio, 2003).

    The variance times 1/J + tested/trained rows.
    """
    if values.size < 2:
        return math.nan
    ratio = (splits["n_test"] / splits["n_rows"]).mean()
    return float(np.sqrt((1 / values.size + ratio) * values.var(ddof=1)))


def describe_resamples(result: "StudyStabilities") -> str:
    """Return how many resamples there were, and what they are; splits that only serve the score do not count."""
    measured = result.split_table[result.split_table["measured"].astype(bool)]
    return result.records.perturbation.methods.format(n=len(measured), blocks=measured["block"].nunique())


def score_range(scorer: object) -> Range:
    """Return the least and the largest value of a score by scikit-learn's name of it; no bounds for any other scorer.

    Examples
    --------
    >>> from holdfast.study.tables import score_range
    >>> score_range("roc_auc"), score_range("r2")
    (Range(low=0.0, high=1.0), Range(low=-inf, high=1.0))
    """
    record = SCORES.get(scorer) if isinstance(scorer, str) else None
    return UNBOUNDED if record is None else record.range


def mean_score_interval(
    scores: "pd.Series[float] | NDArray[np.float64]", splits: pd.DataFrame, bounds: Range, level: float
) -> Interval:
    r"""Return the interval of a mean score, inside the range of the score.

    Student's interval with the standard error of Nadeau and Bengio (2003), made on the scale of
    :math:`\log\frac{x - low}{high - x}` where the score has two bounds, of :math:`\log(high - x)` where it has an upper
    one alone, and of the score itself where it has none. If every split reaches a bound of a score that has two, the
    other end is that of Wilson's interval for the number of held-out rows that so many overlapping splits are worth,
    :math:`n_{test} / (1/J + n_{test}/n_{train})`.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from holdfast.models.scores import Range
    >>> from holdfast.study.tables import mean_score_interval
    >>> splits = pd.DataFrame({"n_test": [10] * 4, "n_rows": [30] * 4})
    >>> low, high = mean_score_interval(np.array([1.0, 0.9, 1.0, 0.9]), splits, Range(0.0, 1.0), 0.95)
    >>> round(low, 3), round(high, 3)
    (0.498, 0.997)
    >>> round(mean_score_interval(np.ones(4), splits, Range(0.0, 1.0), 0.95).low, 3)
    0.629
    """
    values = np.asarray(scores, dtype=np.float64)
    if not values.size:
        return Interval(math.nan, math.nan)
    mean, error = float(values.mean()), corrected_error(values, splits)
    quantile = float(stdtrit(max(values.size - 1, 1), (1 + level) / 2))
    low, high = bounds
    if math.isnan(error) or not low <= mean <= high:  # a scorer of one's own by a known name may leave the range
        return Interval(mean - quantile * error, mean + quantile * error)
    if math.isinf(high):
        return Interval(mean - quantile * error, mean + quantile * error)
    if math.isinf(low):
        return _below(mean, error, high, quantile)
    if mean in (low, high):
        return _at_bound(mean, bounds, _effective_rows(splits), quantile)
    share = (mean - low) / (high - low)
    reach = quantile * error / (high - low) / (share * (1 - share))
    ends = expit(logit(share) + np.array([-reach, reach]))
    return Interval(*(float(end) for end in low + (high - low) * ends))


def _below(mean: float, error: float, high: float, quantile: float) -> Interval:
    """The interval of a score with an upper bound alone, by the logarithm of the distance from it."""
    distance = high - mean
    if distance == 0:
        return Interval(mean, mean)
    factor = math.exp(quantile * error / distance)
    return Interval(high - distance * factor, high - distance / factor)


def _at_bound(mean: float, bounds: Range, rows: float, quantile: float) -> Interval:
    """Wilson's interval where every held-out row was predicted rightly, or every one wrongly."""
    low, high = bounds
    open_share = quantile**2 / (rows + quantile**2)
    if mean == high:
        return Interval(high - (high - low) * open_share, high)
    return Interval(low, low + (high - low) * open_share)


def _effective_rows(splits: pd.DataFrame) -> float:
    """As many independent held-out rows as these overlapping splits are worth."""
    n_test, ratio = splits["n_test"].mean(), (splits["n_test"] / splits["n_rows"]).mean()
    return float(n_test / (1 / len(splits) + ratio))


TableFormat: TypeAlias = Literal["csv", "parquet"]
FORMATS: tuple[str, ...] = get_args(TableFormat)


def write_tables(result: "StudyStabilities", folder: Path, format: TableFormat) -> list[Path]:
    """Write every table of a study into a folder, and return the files."""
    if format not in FORMATS:
        raise ValueError(f"Expected format='csv' or 'parquet', got {format!r}.")
    if format == "parquet":
        pyarrow_parquet(folder)
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, table in make_tables(result).items():
        files.append(folder / f"{name}.{format}")
        if format == "csv":
            _protect(table).to_csv(files[-1], index=False)
        else:
            table.to_parquet(files[-1], index=False)
    return files


def make_tables(result: "StudyStabilities") -> dict[str, pd.DataFrame]:
    """Return every table of a study by name."""
    as_text = {"truth": str, "predicted": str} if result.classes else {}
    predictions = [result.predictions(name).assign(candidate=name).astype(as_text) for name in result.finished]
    return {
        "summary": result.summary().reset_index(),
        "selections": _concatenate([list_selections(result, name) for name in result.finished]),
        "features": pd.DataFrame({"feature": list(map(str, result.feature_names))}),
        "scores": result.scores,
        "predictions": _concatenate(predictions),
        "failures": result.failures,
        "splits": result.splits.reset_index(),
    }


def _protect(table: pd.DataFrame) -> pd.DataFrame:
    """Texts that a spreadsheet would run as a formula, marked as texts; names of columns too."""
    table = table.map(lambda cell: " ".join(map(str, cell)) if isinstance(cell, (np.ndarray, list, tuple)) else cell)
    texts = [name for name in table.columns if not pd.api.types.is_numeric_dtype(table[name])]
    protected = {
        name: table[name].map(lambda cell: protect_formula(cell) if isinstance(cell, str) else cell) for name in texts
    }
    return table.assign(**protected).rename(columns=lambda name: protect_formula(str(name)))


def _concatenate(tables: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def list_selections(result: "StudyStabilities", candidate: str) -> pd.DataFrame:
    """One row per run and feature: 1 for a selected one, or the rank or weight of each.

    A run that selected nothing has a row without a feature. The other columns say what stability depends on beside.
    """
    designed = result.designed(candidate)
    runs = designed.runs
    names = np.array([*map(str, runs.features), None], dtype=object)
    labels = np.array(list(map(str, runs.labels or ())), dtype=object)
    if runs.kind == "subset":
        indices, indptr = runs.lists()
        sizes = np.diff(indptr)
        run = np.repeat(np.arange(runs.n_runs), np.maximum(sizes, 1))
        feature = np.full(run.size, -1, dtype=np.int64)
        feature[np.repeat(sizes > 0, np.maximum(sizes, 1))] = indices
        value = (feature >= 0).astype(np.float64)
    else:
        run, feature = (places.ravel() for places in np.indices(runs.matrix().shape))
        value = runs.matrix().ravel()
    return pd.DataFrame(
        {
            "candidate": candidate, "run": labels[run], "feature": names[feature], "value": value, "column": feature,
            "kind": runs.kind, "n_features": runs.n_features, "design": designed.design,
            "perturbation": designed.about.name, "block": np.asarray(designed.blocks, dtype=np.int64)[run],
            "fraction": np.asarray(designed.fractions, dtype=np.float64)[run],
        }
    )  # fmt: skip


def read_designed(path: Path, kind: Kind | None = None, n_features: int | None = None) -> dict[str, DesignedRuns]:
    """Read exported selections by candidate, with the design that their stability depends on."""
    return {
        name: DesignedRuns(
            exported.runs, exported.design, exported.blocks, exported.fractions,
            _find_about(exported.perturbation, exported.design),
        )
        for name, exported in read_exported(path, kind, n_features).items()
    }  # fmt: skip


def _find_about(name: str, design: str) -> About:
    """What a perturbation says of itself; of one that is not known here, what others of its design say."""
    if name in PERTURBATIONS:
        return PERTURBATIONS[name].about
    alike = (known.about for known in PERTURBATIONS.values() if known.design == design != "runs")
    return next(alike, UNKNOWN)


INTERVALS = {
    "jackknife": "by the jackknife over resamples, with an allowance for kinds of selections that were not drawn",
    "bound": "which allow for kinds of selections that were not drawn",
    "blocks": "by Student's t over independent blocks of resamples",
    "asymptotic": "by the normal approximation",
    "bootstrap": "by the bias-corrected and accelerated bootstrap over resamples",
}


def make_latex(result: "StudyStabilities", measure: str | Measure | None, level: float, label: str | None) -> str:
    """Write the candidates of a study as a booktabs table with its caption."""
    summary = result.summary(measure, level=level)
    metrics = [name for name in result.metrics if summary[name].notna().any()]
    header = ["Candidate", "Stability", f"{100 * level:g}\\,\\% interval", *map(escape_latex, metrics), "Size"]
    rows = [_row(str(name), row, metrics) for name, row in summary.iterrows()]
    return "\n".join(
        [
            "% needs \\usepackage{booktabs}",
            "\\begin{table}",
            "  \\centering",
            f"  \\caption{{{_caption(result, summary, measure, metrics, level)}}}",
            *([f"  \\label{{{label}}}"] if label else []),
            f"  \\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
            "    \\toprule",
            f"    {' & '.join(header)} \\\\",
            "    \\midrule",
            *(f"    {' & '.join(cells)} \\\\" for cells in rows),
            "    \\bottomrule",
            "  \\end{tabular}",
            "\\end{table}",
            "",
        ]
    )


def _row(name: str, row: "pd.Series[Any]", metrics: list[str]) -> list[str]:
    interval = "--" if math.isnan(row["low"]) else f"[{_number(row['low'])}, {_number(row['high'])}]"
    scores = [_score(row[metric], row[f"{metric}_se"]) for metric in metrics]
    return [escape_latex(name), _number(row["stability"]), f"{{{interval}}}", *scores, _number(row["size"], 1)]


def _score(value: float, error: float) -> str:
    if math.isnan(value):
        return "--"
    return _number(value) + ("" if math.isnan(error) else f" $\\pm$ {_number(error)}")


def _number(value: float, digits: int = 3) -> str:
    """A number; minus is a minus sign, and what is undefined a dash."""
    if math.isnan(value):
        return "--"
    text = f"{value:.{digits}f}"
    return f"${text}$" if text.startswith("-") else text


def _caption(
    result: "StudyStabilities", summary: pd.DataFrame, measure: str | Measure | None, metrics: list[str], level: float
) -> str:
    """What the columns are, and how intervals and standard errors were made."""
    data = result.plan["data"]
    used = summary["measure"].dropna()
    named = find_measure(str(used.iloc[0]).partition("(")[0]).methods if len(used) else "no measure"
    sentences = [
        f"Stability of feature selection on {escape_latex(describe_resamples(result))} ({data['n_samples']:,} samples, "
        f"{data['n_features']:,} features), measured by {escape_latex(named)}",
    ]
    sentences[0] += _describe_intervals(result, summary, measure, level)
    tops = summary["top"].dropna().unique()
    if len(tops):
        sentences.append(f"Of rankings and weights, the best {tops[0]:.0f} features of each resample count as selected")
    if metrics:
        names = ", ".join(escape_latex(name) for name in metrics)
        sentences.append(
            f"Mean {names} on held-out rows $\\pm$ standard error, which allows for overlapping training sets "
            "(Nadeau and Bengio, 2003)"
        )
    sentences.append("Size: mean number of selected features")
    sentences.append("All figures describe the variation over resamples of this data set, not over new samples")
    return ". ".join(sentences) + "."


def _describe_intervals(
    result: "StudyStabilities", summary: pd.DataFrame, measure: str | Measure | None, level: float
) -> str:
    with_interval = summary.index[summary["low"].notna()]
    if not len(with_interval):
        reasons = summary["reason"].dropna()
        return f"; without intervals{f': {escape_latex(str(reasons.iloc[0]))}' if len(reasons) else ''}"
    if result.stored.meta.get("until") is not None:
        how = "whose width was fixed in advance by a pilot study (Stein)"
    else:
        common = result.common_measure(None, measure)
        estimates = (
            result.stability(str(name), common.measure, top=common.top_of(result.kinds.get(str(name))))
            for name in with_interval
        )
        methods = dict.fromkeys(estimate.method for estimate in estimates)
        how = "; ".join(INTERVALS[name] for name in methods if name in INTERVALS)
    return f", with {100 * level:g}\\,\\% confidence intervals {how}"
