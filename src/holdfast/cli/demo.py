"""The command that shows what there is, on an embedded example."""

from holdfast.cli.app import app
from holdfast.cli.printing import console, print_estimates


@app.command()
def demo() -> None:
    """Measure an embedded example: 20 bootstraps of the breast-cancer data, features weighed by their F value."""
    from holdfast.datasets import load_example
    from holdfast.inference.agreement import kalousis
    from holdfast.inference.estimate import stability

    weights = load_example()
    best = weights.top(10)
    out = console()
    out.print(
        f"[bold]Do the ten best features of the breast-cancer data hold?[/]\n"
        f"{weights.n_runs} bootstraps, {weights.n_features} features, each run keeps its 10 best by ANOVA F.\n"
    )
    three = kalousis(weights, 10)
    print_estimates(best, [*stability(best, ["nogueira", "jaccard"]), three.ranks, three.weights], 0.95, out=out)
    out.print("\n[bold]How often each feature was kept[/]")
    order = sorted(range(best.n_features), key=lambda feature: -best.frequency[feature])
    for feature in order:
        if best.counts[feature]:
            bar = "█" * round(20 * best.frequency[feature])
            out.print(f"{best.features[feature]:>24}  {bar:<20} {best.frequency[feature]:.0%}")
