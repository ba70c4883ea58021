"""The tables of a study as files, for spreadsheets and for papers: CSV, Parquet and LaTeX.

Functions of ``self`` are methods of :class:`~holdfast.study.tables.StudyTables`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd

from holdfast.declared import About
from holdfast.inference.designs import UNKNOWN, RunsByBlock
from holdfast.io.files import as_path, missing_package, pyarrow_parquet
from holdfast.io.selections import protect_formula, read_exported
from holdfast.measures import Measure, find_measure
from holdfast.preferences import Kind
from holdfast.resampling import PERTURBATIONS
from holdfast.text import escape_latex, format_interval, format_number, format_score

if TYPE_CHECKING:
    from holdfast.study.tables import StudyTables

TableFormat: TypeAlias = Literal["csv", "csv2", "xlsx", "parquet"]
NOT_IN_EXCEL = r"[\x00-\x08\x0b\x0c\x0e-\x1f]"


def export(self: "StudyTables", folder: str | Path, format: TableFormat = "parquet") -> list[Path]:
    """Write all tables as files into a folder and return their paths.

    Parameters
    ----------
    folder : path
        Folder to write into; it is made if it is not there.
    format : {"parquet", "csv", "csv2", "xlsx"}
        Format of the files; ``"csv2"`` is CSV with decimal commas and semicolons, for spreadsheets in much of Europe.
        In CSV and Excel, texts that a spreadsheet would run as a formula begin with a quote.

    Returns
    -------
    list of Path
        The tables ``summary``, ``selections``, ``features``, ``scores``, ``predictions``, ``failures`` and
        ``splits``, with the row numbers of every split. ``features`` has what ``holdfast features --csv`` writes, for
        each candidate, then the features that none selected. :func:`holdfast.read_preferences` and ``holdfast
        measure`` read ``selections``.

    Raises
    ------
    ValueError
        If there is no such format, or a table has more rows than a sheet of Excel.

    See Also
    --------
    to_latex : The candidates as a table for a paper.
    """
    folder = as_path(folder, "the path of a folder")
    if format not in get_args(TableFormat):
        raise ValueError(f"Expected format= to be one of {', '.join(get_args(TableFormat))}, got {format!r}.")
    if format == "parquet":
        pyarrow_parquet(folder)
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, table in _make_tables(self).items():
        files.append(folder / f"{name}.{'csv' if format == 'csv2' else format}")
        write_table(table, files[-1], format)
    return files


def write_table(table: pd.DataFrame, path: str | Path, format: TableFormat) -> None:
    """Write a table for other programs; in spreadsheets, no text is a formula."""
    if format == "parquet":
        table.to_parquet(path, index=False)
        return
    table = protect(table)
    if format == "csv":
        table.to_csv(path, index=False)
    elif format == "csv2":
        table.to_csv(
            path, index=False, sep=";", decimal=",", encoding="utf-8-sig"
        )  # without a mark, Excel takes Latin-1
    elif len(table) >= 2**20:
        raise ValueError(f"Expected fewer than {2**20:,} rows for {path}, as Excel has, got {len(table):,}; write CSV.")
    else:
        try:
            table.replace(NOT_IN_EXCEL, " ", regex=True).to_excel(path, index=False, engine="openpyxl")
        except ImportError:
            raise missing_package("openpyxl", "writing Excel files") from None


def _make_tables(study: "StudyTables") -> dict[str, pd.DataFrame]:
    as_text = {"truth": str, "predicted": str} if study.classes else {}
    selections = [list_selections(study, name) for name in study.finished]
    predictions = [study.predictions(name).assign(candidate=name).astype(as_text) for name in study.finished]
    return {
        "summary": study.summary().reset_index(),
        "selections": pd.concat(selections, ignore_index=True) if selections else pd.DataFrame(),
        "features": study.tabulate_features(),
        "scores": study.scores,
        "predictions": pd.concat(predictions, ignore_index=True) if predictions else pd.DataFrame(),
        "failures": study.failures,
        "splits": study.splits.reset_index(),
    }


def protect(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table for CSV: lists as text, and texts and names that a spreadsheet would run as a formula marked."""
    table = table.map(lambda cell: " ".join(map(str, cell)) if isinstance(cell, (np.ndarray, list)) else cell)
    table = table.map(lambda cell: "; ".join(map(str, cell)) if isinstance(cell, tuple) else cell)  # names
    texts = [name for name in table.columns if not pd.api.types.is_numeric_dtype(table[name])]
    protected = {
        name: table[name].map(lambda cell: protect_formula(cell) if isinstance(cell, str) else cell) for name in texts
    }
    return table.assign(**protected).rename(columns=lambda name: protect_formula(str(name)))


def list_selections(study: "StudyTables", candidate: str) -> pd.DataFrame:
    """One row per run and feature: 1 for a selected one, or the rank or weight of each.

    A run that selected nothing has a row without a feature. The other columns say what else stability depends on.
    """
    runs_by_block = study.runs_by_block(candidate)
    runs = runs_by_block.runs
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
        run, feature = (indices.ravel() for indices in np.indices(runs.matrix().shape))
        value = runs.matrix().ravel()
    return pd.DataFrame(
        {
            "candidate": candidate, "run": labels[run], "feature": names[feature], "value": value, "column": feature,
            "kind": runs.kind, "n_features": runs.n_features, "design": runs_by_block.design,
            "perturbation": runs_by_block.about.name, "block": np.asarray(runs_by_block.blocks, dtype=np.int64)[run],
            "fraction": np.asarray(runs_by_block.fractions, dtype=np.float64)[run],
        }
    )  # fmt: skip


def read_runs_by_block(path: Path, kind: Kind | None = None, n_features: int | None = None) -> dict[str, RunsByBlock]:
    """Read exported selections by candidate, with the design that their stability depends on."""
    return {
        name: RunsByBlock(
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


def to_latex(
    self: "StudyTables", measure: str | Measure | None = None, *, level: float = 0.95, label: str | None = None
) -> str:
    """Return the candidates as a LaTeX table (booktabs), with a caption that says how intervals were made.

    Parameters
    ----------
    measure : str or Measure, optional
        What to measure, as for :meth:`summary`.
    level : float
        Level of the intervals.
    label : str, optional
        Label to refer to the table by.

    Returns
    -------
    str
        The table; it needs the package booktabs.

    See Also
    --------
    summary : The same as a frame.
    export : All tables as files.
    """
    summary = self.summary(measure, level=level)
    metrics = [name for name in self.metrics if summary[name].notna().any()]
    header = ["Candidate", "Stability", f"{100 * level:g}\\,\\% interval", *map(escape_latex, metrics), "Size"]
    rows = [
        [
            str(name), format_number(row["stability"], 3), format_interval(row["low"], row["high"], 3),
            *(format_score(row[metric], row[f"{metric}_se"]) for metric in metrics), format_number(row["size"], 1),
        ]
        for name, row in summary.iterrows()
    ]  # fmt: skip
    caption = _caption(self, summary, measure, metrics, level)
    table = write_latex_table(header, [list(map(escape_latex, row)) for row in rows], caption, label=label)
    return f"% needs \\usepackage{{booktabs}}\n{table}\n"


def write_latex_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    caption: str,
    *,
    label: str | None = None,
    last: Sequence[str] = (),
) -> str:
    """Return a table for booktabs from texts that are LaTeX already; the last row stands below a line."""

    def line(cells: Sequence[str]) -> str:
        return f"    {' & '.join(cells)} \\\\"

    return "\n".join([
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{caption}}}",
        *([rf"  \label{{{label}}}"] if label else []),
        rf"  \begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
        r"    \toprule", line(header), r"    \midrule", *map(line, rows),
        *([r"    \midrule", line(last)] if last else []), r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ])  # fmt: skip


def _caption(
    study: "StudyTables", summary: pd.DataFrame, measure: str | Measure | None, metrics: list[str], level: float
) -> str:
    """What the columns are, and how intervals and standard errors were made."""
    data = study.plan["data"]
    used = summary["measure"].dropna()
    named = find_measure(str(used.iloc[0]).partition("(")[0]).methods if len(used) else "no measure"
    sentences = [
        f"Stability of feature selection on {escape_latex(describe_resamples(study))} ({data['n_samples']:,} samples, "
        f"{data['n_features']:,} features), measured by {escape_latex(named)}"
    ]
    sentences[0] += _describe_intervals(study, summary, measure, level)
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
    study: "StudyTables", summary: pd.DataFrame, measure: str | Measure | None, level: float
) -> str:
    with_interval = summary.index[summary["low"].notna()]
    if not len(with_interval):
        reasons = summary["reason"].dropna()
        return f"; without intervals{f': {escape_latex(str(reasons.iloc[0]))}' if len(reasons) else ''}"
    if study.stored.meta.get("until") is not None:
        how = "whose width was fixed in advance by a pilot study (Stein)"
    else:
        common = study.common_measure(None, measure)
        estimates = (common.estimate(study, str(name)) for name in with_interval)
        methods = dict.fromkeys(estimate.method for estimate in estimates)
        how = "; ".join(INTERVALS[name] for name in methods if name in INTERVALS)
    return f", with {100 * level:g}\\,\\% confidence intervals {how}"


def describe_resamples(study: "StudyTables") -> str:
    """Return how many resamples there were, and what they are; splits that only serve the score do not count."""
    measured = study.split_table[study.split_table["measured"].astype(bool)]
    counts = {"n": f"{len(measured):,}", "blocks": f"{measured['block'].nunique():,}"}
    phrase = study.records.perturbation.phrase(**study.perturbation, **counts)
    return phrase.replace("stratified by class", "stratified by event") if study.task == "survival" else phrase
