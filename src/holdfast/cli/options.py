"""Options that several commands share, and all options of a study, which commands that run one take at once."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer


def complete(kind: str) -> Callable[[str], list[str]]:
    """Return a completion for the shell: the names of a kind of thing."""

    def names(incomplete: str) -> list[str]:
        from holdfast.cli.records import known_names

        return [name for name in known_names(kind) if name.startswith(incomplete)]

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

# All options of a study, by what they are about

READING = {
    "ignore": Ignore, "accept": Accept, "index": Index, "groups": Groups, "missing": Missing,
    "categorical": Categorical, "task": PredictionTask, "transpose": Transpose, "target_file": TargetFile, "sep": Sep,
    "decimal": Decimal, "encoding": Encoding, "sheet": Sheet,
}  # fmt: skip
"""How to read a file: parameters of :func:`holdfast.read_table`."""
DATA = {"data": Data, "target": Target, "select": Select, "keep": Keep, **READING}
RESAMPLING = {"perturb": Perturb, "resamples": Resamples}
SCORING = {"estimator": Estimator, "score": Score, "fast_models": FastModels}
KEEPING = {"store": Store, "no_store": NoStore, "time_limit": TimeLimit}
COMPUTING = {"seed": Seed, "jobs": Jobs, "device": Device}
OF_STUDY = {*DATA, *RESAMPLING, *SCORING, *KEEPING, *COMPUTING, "until", "cap", "replicability"}
FIRST, LAST = ("data", "target", "select"), ("allow", "level", "quiet", "as_json")


def takes_study(*groups: dict[str, Any], leave_out: tuple[str, ...] = ()) -> Callable[[Any], Any]:
    """Add options of a study to a command, which is given those that were typed as ``typed``, its first argument."""
    every = {name: option for group in (DATA, *groups, COMPUTING) for name, option in group.items()}

    def add(command: Callable[..., None]) -> Callable[..., None]:
        own = dict(list(inspect.signature(command).parameters.items())[1:])
        given = {name: parameter.replace(kind=parameter.KEYWORD_ONLY) for name, parameter in own.items()}
        for name, option in every.items():
            if name not in own and name not in leave_out:
                usual = False if option is NoStore else None
                given[name] = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=usual, annotation=option)
        order = sorted(given, key=lambda name: (name not in FIRST, name in LAST))

        def run(**values: Any) -> None:
            from holdfast.io.files import as_path

            typed = {name: value for name, value in values.items() if name in OF_STUDY and value not in (None, [], ())}
            paths = {name: str(as_path(value)) for name, value in typed.items() if isinstance(value, Path)}
            command({**typed, **paths}, **{name: values[name] for name in own})

        run.__name__, run.__doc__, run.__module__ = command.__name__, command.__doc__, command.__module__
        run.__signature__ = inspect.Signature([given[name] for name in order])  # type: ignore[attr-defined]
        run.__annotations__ = {name: given[name].annotation for name in order}
        return run

    return add
