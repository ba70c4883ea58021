"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[
    Path | None,
    typer.Argument(help="CSV, TSV, Parquet, Feather or ARFF; or a known data set: breast_cancer."),
]
Target = Annotated[str | None, typer.Option(metavar="COLUMN", help="What is to be predicted.")]
Select = Annotated[
    list[str] | None,
    typer.Option("--select", "-s", metavar="NAME[:param=value,…]", help="A selector; a|b tries several values."),
]
Perturb = Annotated[
    str | None,
    typer.Option(
        metavar="NAME[:param=value,…]",
        help="bootstrap, subsample, pairs, folds, nested, noise, shrink or reseed.",
    ),
]
Resamples = Annotated[int | None, typer.Option("--resamples", "-n", metavar="N", help="Number of runs.")]
Estimator = Annotated[
    str | None,
    typer.Option(metavar="NAME[:param=value,…]", help="Model trained on the selected features and scored."),
]
Score = Annotated[list[str] | None, typer.Option(metavar="NAME", help="Score by scikit-learn's name; may be repeated.")]
PredictionTask = Annotated[
    str | None, typer.Option(metavar="classification|regression", help="What is predicted, if it is not obvious.")
]
Keep = Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="Covariate in every model, not to be chosen.")]
Ignore = Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="Column to leave out.")]
Index = Annotated[str | None, typer.Option(metavar="COLUMN", help="Names of the rows: no feature.")]
Groups = Annotated[str | None, typer.Option(metavar="COLUMN", help="Rows of one group (patient) stay together.")]
Missing = Annotated[
    str | None, typer.Option(metavar="error|impute-median|drop", help="What to do with missing values.")
]
Categorical = Annotated[
    str | None, typer.Option(metavar="error|one-hot|codes|drop", help="What to do with columns of texts.")
]
Store = Annotated[Path | None, typer.Option(metavar="FILE", help="Keep everything in this file, and resume from it.")]
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
    str | None, typer.Option("--measure", "-m", metavar="NAME[:param=value,…]", help="What to measure.")
]

# Decisions

Rule = Annotated[
    str, typer.Option("--rule", "-r", metavar="accuracy|one-se|not-worse|knee|at-least|weighted", help="How to choose.")
]
Metric = Annotated[str | None, typer.Option(metavar="NAME", help="The score to weigh; the first one if not said.")]
AtLeast = Annotated[float | None, typer.Option("--at-least", metavar="S", help="Least stability, for --rule at-least.")]
Weight = Annotated[float | None, typer.Option(metavar="W", help="Weight of the score, for --rule weighted.")]
Uncorrected = Annotated[
    bool, typer.Option("--uncorrected", help="No Holm correction in --rule not-worse, as in the 2005 paper.")
]
