"""The command that shows what there is: a whole study on embedded data, and its report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli import options
from holdfast.cli.app import START, Json, app
from holdfast.cli.printing import notes, print_json
from holdfast.cli.studies import print_summary
from holdfast.cli.terminal import console

if TYPE_CHECKING:
    from holdfast.report import Summary
    from holdfast.study import StudyResult

TITLE = "Breast cancer: which measurements of a biopsy hold?"


@app.command(rich_help_panel=START)
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where the report goes.")] = Path(
        "holdfast-demo.html"
    ),
    resamples: Annotated[int, typer.Option("--resamples", "-n", metavar="N", help="Number of bootstraps.")] = 100,
    jobs: options.Jobs = None,
    quiet: options.Quiet = False,
    as_json: Json = False,
) -> None:
    """Run a whole study on embedded data: five selectors, 100 bootstraps, accuracy and stability, a choice, a report.

    The data are 569 biopsies of breast tumors with 30 measurements each.

    **Examples**

    `holdfast demo`

    `holdfast demo --output report.html --json`
    """
    from holdfast.datasets import load
    from holdfast.report import summarize, write_report

    data = load("breast_cancer")
    if not quiet:
        console(stderr=True).print(
            f"Do the selected features hold? Five selectors run on {resamples} bootstraps of the breast-cancer data."
        )
    with notes(quiet):
        result = _study(resamples).run(data.X, data.y, n_jobs=jobs or 1, progress=not quiet)
        summary = summarize(result, X=data.X, title=TITLE)
        write_report(summary, output)
    if as_json:
        print_json("demo", {"report": str(output), "summary": summary.to_dict()})
    else:
        _print(result, summary, output)


def _study(resamples: int) -> Any:
    """Two settings of each of five selectors, scored by logistic regression."""
    from holdfast.resampling import Bootstrap
    from holdfast.selectors import MRMR, AnovaF, ElasticNetPath, HybridRFE, ReliefF
    from holdfast.study import Candidates, Study
    from holdfast.study.named import named_estimator

    sizes = {"n_features": [5, 10]}
    return Study(
        selectors={
            "anova": Candidates(AnovaF(), sizes),
            "mrmr": Candidates(MRMR(), sizes),
            "relieff": Candidates(ReliefF(), sizes),
            "lasso": Candidates(ElasticNetPath(), sizes),
            "hybrid_rfe": Candidates(HybridRFE(criterion="golub"), {"n_features": [10], "n_forced": [0, 5]}),
        },
        perturbation=Bootstrap(resamples),
        estimator=named_estimator("linear", {}, "classification"),
        random_state=0,
    )


def _print(result: "StudyResult", summary: "Summary", output: Path) -> None:
    out = console()
    out.print(summary.verdict.headline, style="bold", soft_wrap=True)
    for sentence in summary.verdict.sentences:
        out.print(sentence, soft_wrap=True)
    out.print("")
    print_summary(result, result.summary(), summary.level)
    out.print("")
    if summary.tradeoff.reason:
        out.print(f"The choice: {summary.tradeoff.reason}", soft_wrap=True)
    if summary.features is not None:
        out.print(f"\nHow often {summary.candidate} selected each feature", style="bold")
        for feature in summary.features.shown:
            bar = "█" * round(20 * feature.frequency)
            out.print(f"{feature.feature:>24}  {bar:<20} {feature.frequency:>4.0%}  {feature.verdict}")
    out.print(f"\nThe report is in {output}: open it in a browser.", soft_wrap=True)
