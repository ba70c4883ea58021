"""Tables of a benchmark for a paper: LaTeX with booktabs, and CSV with all digits."""

import csv
import io
import math
from collections.abc import Callable, Sequence

from holdfast.benchmarking.result import format_p
from holdfast.io.exported import protect_formula
from holdfast.report.benchmark_records import BenchmarkSummary, Cell, Question
from holdfast.text import escape_latex

HEAD = "% Made by holdfast {version}; needs \\usepackage{{booktabs}}"


def benchmark_latex(summary: BenchmarkSummary) -> str:
    r"""Return tables of a benchmark for a paper: stability, score, and ranks with tests.

    Parameters
    ----------
    summary : BenchmarkSummary
        What the report says.

    Returns
    -------
    str
        LaTeX, ready for ``\input``; the best of each row is bold, and captions say how intervals were made.

    See Also
    --------
    benchmark_csv : The same numbers with all digits.
    """
    parts = [HEAD.format(version=summary.version)]
    parts.append(_values_table(summary, summary.stability, _stability, lambda cell: cell.best_stability))
    if summary.metric is not None:
        parts.append(_values_table(summary, summary.score, _score, lambda cell: cell.best_score))
    parts.append(_ranks_table(summary))
    return "\n\n".join(parts) + "\n"


Numbers = Callable[[Cell], tuple[float, float, float]]


def _stability(cell: Cell) -> tuple[float, float, float]:
    return cell.stability, cell.low, cell.high


def _score(cell: Cell) -> tuple[float, float, float]:
    return cell.score, cell.score_low, cell.score_high


def _values_table(
    summary: BenchmarkSummary, question: Question, numbers: Numbers, is_best: Callable[[Cell], bool]
) -> str:
    """Return a table of data sets × candidates, with intervals, and mean ranks below."""
    names = [row.candidate for row in summary.candidates]
    rows = []
    for dataset in summary.datasets:
        cells = [summary.cell(dataset.name, name) for name in names]
        rows.append([escape_latex(dataset.name), *(_format_cell(*numbers(cell), is_best(cell)) for cell in cells)])
    ranks = dict(zip(question.candidates, question.mean_ranks, strict=True))
    last = ["mean rank", *(_format_number(ranks.get(name, math.nan)) for name in names)]
    intervals = summary.stability_intervals if question is summary.stability else summary.score_intervals
    caption = (
        f"{intervals} The best of each row is bold; mean ranks are over {len(question.datasets)} data sets "
        f"with values of all candidates. {question.headline}"
    )
    kind = "stability" if question is summary.stability else "score"
    return _table(["data set", *map(escape_latex, names)], rows, [last], caption, f"tab:benchmark-{kind}")


def _format_cell(value: float, low: float, high: float, best: bool) -> str:
    if math.isnan(value):
        return "--"
    number = rf"\textbf{{{_format_number(value)}}}" if best else _format_number(value)
    return number if math.isnan(low) else rf"{number} {{\footnotesize[{_format_number(low)}, {_format_number(high)}]}}"


def _format_number(value: float) -> str:
    if math.isnan(value):
        return "--"
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text.replace("-", "$-$")


def _ranks_table(summary: BenchmarkSummary) -> str:
    """Return mean ranks of stability and score, how often each candidate is on the front and chosen."""
    score = [] if summary.metric is None else [f"rank, {summary.metric}"]
    header = ["candidate", "rank, stability", *score, "on the front", "chosen"]
    ranks = [
        dict(zip(question.candidates, question.mean_ranks, strict=True))
        for question in (summary.stability, summary.score)[: 1 + len(score)]
    ]
    rows = [
        [
            escape_latex(row.candidate), *(_format_number(known.get(row.candidate, math.nan)) for known in ranks),
            str(row.on_front), str(row.chosen),
        ]
        for row in summary.candidates
    ]  # fmt: skip
    tests = " ".join(
        f"{question.what}: {describe_test(question)}."
        for question in (summary.stability, summary.score)[: 1 + len(score)]
    )
    caption = (
        f"Mean ranks over data sets (1 is best), and on how many of {len(summary.datasets)} data sets a candidate is "
        f"on the front of score and stability and is chosen (rule {summary.rule}). {tests}"
    )
    return _table(list(map(escape_latex, header)), rows, [], caption, "tab:benchmark-ranks")


def describe_test(question: Question) -> str:
    """Return Friedman's test in words and numbers."""
    if question.reason is not None:
        return f"no test, because {question.reason}"
    return (
        f"Friedman's chi-square {question.chi_square:.2f} ({question.degrees} df), Iman and Davenport's F "
        f"{_format_f(question)} ({question.f_degrees[0]}, {question.f_degrees[1]} df), {format_p(question.p_value)} "
        f"by permutation, Nemenyi's critical difference {question.critical_difference:.2f}"
    )


def _format_f(question: Question) -> str:
    return "infinite" if math.isnan(question.f_statistic) else f"{question.f_statistic:.2f}"


def _table(
    header: Sequence[str], rows: Sequence[Sequence[str]], last: Sequence[Sequence[str]], caption: str, label: str
) -> str:
    def line(cells: Sequence[str]) -> str:
        return f"    {' & '.join(cells)} \\\\"

    below = ["    \\midrule", *map(line, last)] if last else []
    return "\n".join([
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{escape_latex(caption)}}}",
        rf"  \label{{{label}}}",
        rf"  \begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
        r"    \toprule", line(header), r"    \midrule", *map(line, rows), *below, r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ])  # fmt: skip


def benchmark_csv(summary: BenchmarkSummary) -> str:
    """Return every candidate on every data set as CSV, with all digits; missing numbers are empty.

    Parameters
    ----------
    summary : BenchmarkSummary
        What the report says.

    Returns
    -------
    str
        One row per data set and candidate; a name that a spreadsheet would run as a formula begins with an apostrophe.

    See Also
    --------
    benchmark_latex : Tables for a paper.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns = list(Cell.__dataclass_fields__)
    writer.writerow([*columns, "metric", "measure", "level"])
    for cell in summary.cells:
        values = [_plain(getattr(cell, name)) for name in columns]
        writer.writerow([*values, _plain(summary.metric), _plain(summary.measure), summary.level])
    return out.getvalue()


def _plain(value: object) -> object:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str):
        return protect_formula(value)
    return int(value) if isinstance(value, bool) else value
