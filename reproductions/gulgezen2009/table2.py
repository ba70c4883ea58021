"""Table 2: sizes of the data sets."""

import numpy as np

from reproductions.experiments import experiment
from reproductions.gulgezen2009.published import PAPER, SIZES, TITLES
from reproductions.records import Claim, Evidence, Outcome, Rule
from reproductions.workbench import Workbench


@experiment(
    PAPER, "table2", shows="Table 2", title="sizes of the data sets", data=tuple(SIZES),
    question="Are the data sets that we have those of the paper?",
)  # fmt: skip
def sizes(bench: Workbench) -> Outcome:
    """Compare features, rows and classes with those printed."""
    names = bench.available(bench.choose(tuple(SIZES), ("wine",)))
    found = {}
    for name in names:
        X, y = bench.load(name)
        found[name] = (X.shape[1], len(X), len(np.unique(y)))
    same = [name for name in names if name != "gtzan5_librosa"]
    return Outcome(
        claims=[
            compare("rows and classes", {name: (found[name][1:], SIZES[name][1:]) for name in names}, ""),
            compare("features, Audio genre left out", {name: (found[name][:1], SIZES[name][:1]) for name in same},
                    "The 23 features of Parkinsons count the name or the class."),
        ],
        protocol="Of Handwritten digits the 3,823 rows of the training part. Of Audio genre we have the same "
        "recordings with 57 other features.",
    )  # fmt: skip


def compare(what: str, sizes: dict[str, tuple[tuple[int, ...], tuple[int, ...]]], reason: str) -> Claim:
    """Compare some of the sizes with those printed."""
    other = [TITLES[name] for name, (ours, printed) in sizes.items() if ours != printed]
    shown = f"{len(sizes) - len(other)} of {len(sizes)} data sets" + (f", not {', '.join(other)}" if other else "")
    return Claim(
        claim=f"The data sets have the printed numbers of {what}.", kind="exact", exhibit="Table 2",
        printed=f"{len(sizes)} data sets", evidence=Evidence.exact(1 - len(other) / len(sizes), shown=shown),
        rule=Rule.equal(1.0, "equal numbers"), reason=reason,
    )  # fmt: skip
