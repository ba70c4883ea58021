"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer


def complete(kind: str) -> Callable[[str], list[str]]:
    """Return a completion for the shell: the names of a kind of thing."""

    def names(incomplete: str) -> list[str]:
        from holdfast.cli.records import registry

        return [name for name in registry(kind) if name.startswith(incomplete)]

    return names


Data = Annotated[
    Path | None,
    typer.Argument(
        help="CSV, TSV or other text, Excel, Parquet, Feather, ARFF, AnnData or R; or a known data set: breast_cancer."
    ),
]
Target = Annotated[str | None, typer.Option(metavar="COLUMN", help="What is to be predicted.")]
Select = Annotated[
    list[str] | None,
    typer.Option(
        "--select",
        "-s",
        metavar="NAME[:param=value,…]",
        help="A selector ({selectors}), or the dotted path of a class; a|b tries several values. May be repeated.",
        autocompletion=complete("selectors"),
    ),
]
Perturb = Annotated[
    str | None,
    typer.Option(
        metavar="NAME[:param=value,…]",
        help="How resamples are made: {perturbations}.",
        autocompletion=complete("perturbations"),
    ),
]
Resamples = Annotated[
    int | None,
    typer.Option(
        "--resamples",
        "-n",
        metavar="N",
        help="Number of resamples; of pairs for pairs, of bootstrap samples for nested-subsamples.",
    ),
]
Estimator = Annotated[
    str | None,
    typer.Option(
        metavar="NAME[:param=value,…]",
        help="Model trained on the selected features and scored: {models}, or the dotted path of a class.",
        autocompletion=complete("models"),
    ),
]
Score = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Score: {scores}, or another one of scikit-learn's. May be repeated.",
        autocompletion=complete("scores"),
    ),
]
FastModels = Annotated[
    str | None,
    typer.Option(
        metavar="all|identical|none",
        help="Which models holdfast fits itself, many at a time: all that it knows, only those whose predictions are "
        "identical to scikit-learn's, or none.",
    ),
]
PredictionTask = Annotated[
    str | None, typer.Option(metavar="classification|regression", help="What is predicted, if it is not obvious.")
]
Keep = Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="Covariate in every model, not to be chosen.")]
Ignore = Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="Column to leave out.")]
Accept = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Keep as a feature what looks like a row number, an identifier or the target."),
]
Index = Annotated[str | None, typer.Option(metavar="COLUMN", help="Names of the rows: no feature.")]
Groups = Annotated[str | None, typer.Option(metavar="COLUMN", help="Rows of one group (patient) stay together.")]
Missing = Annotated[
    str | None, typer.Option(metavar="error|impute-median|drop", help="What to do with missing values.")
]
Categorical = Annotated[
    str | None, typer.Option(metavar="error|one-hot|codes|drop", help="What to do with columns of texts.")
]
Transpose = Annotated[
    bool | None, typer.Option("--transpose", help="Features stand in rows, samples in columns.", show_default=False)
]
TargetFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Second table with the target, matched by names of samples.")
]
Sep = Annotated[
    str | None, typer.Option(metavar="MARK", help="What separates columns of text: ; or tab (detected by default).")
]
Decimal = Annotated[str | None, typer.Option(metavar=".|,", help="Decimal mark of text (detected by default).")]
Encoding = Annotated[
    str | None, typer.Option(metavar="NAME", help="Encoding of text, such as latin-1 (detected by default).")
]
Sheet = Annotated[str | None, typer.Option(metavar="NAME", help="Sheet of an Excel file, object of an .RData file.")]
Store = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Keep everything in this file, and resume from it (default: NAME-study.db in this folder, by the data's "
        "name).",
    ),
]
Replicate = Annotated[
    bool | None,
    typer.Option(
        "--replicability/--no-replicability",
        help="Also estimate how many of the features a new study would select, by 50 halvings (default: yes).",
    ),
]
NoStore = Annotated[bool, typer.Option("--no-store", help="Keep the study in memory only.")]
Device = Annotated[
    str | None,
    typer.Option(metavar="cpu|cuda|torch", help="Where models are fitted: on the processor, or on a GPU by torch."),
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MODULE",
        help="Import classes that a configuration file or a store names from this module too; may be repeated.",
    ),
]
TimeLimit = Annotated[float | None, typer.Option(metavar="SECONDS", help="End fits that take longer.")]
Seed = Annotated[int | None, typer.Option(metavar="N", help="Seed of all that is random.")]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", metavar="N", help="Processes; -1 for all cores.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notes on stderr.")]
StoreFile = Annotated[Path, typer.Argument(help="The study's store.")]
MeasureText = Annotated[
    str | None,
    typer.Option(
        "--measure",
        "-m",
        metavar="NAME[:param=value,…]",
        help="Measure of stability; `holdfast measures` lists them.",
        autocompletion=complete("measures"),
    ),
]

# Decisions

Rule = Annotated[
    str,
    typer.Option(
        "--rule",
        "-r",
        metavar="NAME[:param=value,…]",
        help="How one candidate is chosen: {rules}.",
        autocompletion=complete("rules"),
    ),
]
Metric = Annotated[
    str | None, typer.Option(metavar="NAME", help="The score to weigh against stability (default: the first one).")
]
