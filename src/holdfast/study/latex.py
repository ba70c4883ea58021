"""A study's table of candidates in LaTeX, ready for a paper, with a caption that says how intervals were made."""

import math
from typing import TYPE_CHECKING, Any

import pandas as pd

from holdfast.measures import Measure, find_measure
from holdfast.study.summary import describe_resamples
from holdfast.text import escape_latex

if TYPE_CHECKING:
    from holdfast.study.stabilities import StudyStabilities

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
