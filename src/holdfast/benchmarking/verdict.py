"""The verdict of a benchmark: what was shown over data sets, in words that its tests warrant."""

import math
from dataclasses import dataclass

from holdfast.inference.rank_comparisons import RankComparisons
from holdfast.inference.rank_tests import FEW, FriedmanTest
from holdfast.results import ResultMixin

MOST_NAMED = 4


@dataclass(frozen=True, kw_only=True)
class BenchmarkVerdict(ResultMixin):
    """What was shown about differences of candidates over data sets.

    Attributes
    ----------
    what : str
        What was compared: ``stability``, or the name of the score.
    shown : bool
        Whether a difference was shown.
    headline : str
        The answer in a sentence.
    sentences : tuple of str
        Which candidates differ, and how much the test could have shown.
    """

    what: str
    shown: bool
    headline: str
    sentences: tuple[str, ...]

    def __repr__(self) -> str:
        return "\n".join([self.headline, *self.sentences])


def make_verdict(what: str, test: FriedmanTest, pairs: RankComparisons) -> BenchmarkVerdict:
    """Put the tests over data sets into words: pairs are named only where the test of all candidates finds something.

    Two candidates are compared by Wilcoxon's test alone, as Demšar (2006) recommends.
    """
    if test.reason is not None:
        headline = f"Nothing can be said about differences in {what} over data sets: {test.reason}."
        return BenchmarkVerdict(what=what, shown=False, headline=headline, sentences=tuple(filter(None, [test.note])))
    k, n, alpha = len(test.candidates), test.n_datasets, 1 - pairs.level
    p_value, name, smallest = test.p_value, "Friedman's test", test.smallest_p
    if k == 2:
        p_value, name = float(pairs.pairs["p_corrected"].iloc[0]), "Wilcoxon's signed-rank test"
        smallest = pairs.smallest_p
    among = f"{'between' if k == 2 else 'among'} {k} candidates over {n} data sets ({name}, {format_p(p_value)})"
    shown = p_value <= alpha
    if shown:
        headline = f"There are differences in {what} {among}."
        sentences = [_describe_ranks(test), _describe_pairs(what, pairs, test)]
    else:
        headline = f"No difference in {what} was shown {among}."
        sentences = [_describe_power(n, smallest, alpha)]
    sentences.append(test.note)
    return BenchmarkVerdict(what=what, shown=shown, headline=headline, sentences=tuple(filter(None, sentences)))


def format_p(p_value: float) -> str:
    """Format a p-value: p = 0.21, p < 0.001."""
    if math.isnan(p_value):
        return "p undefined"
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"


def _describe_power(n: int, smallest: float, alpha: float) -> str:
    if smallest > alpha:
        return (
            f"With {n} data sets none could have been shown: even if all of them ranked the candidates alike, p would "
            f"be {smallest:.2g}."
        )
    few = f"{n} data sets are few: only large and consistent differences can be shown. " if n < FEW else ""
    return f"{few}That no difference was shown does not mean that there is none."


def _describe_ranks(test: FriedmanTest) -> str:
    order = list(test.to_frame()["mean_rank"].items())
    named = ", ".join(f"{name} {rank:.2f}" for name, rank in order[:MOST_NAMED])
    more = f" and {len(order) - MOST_NAMED} others behind" if len(order) > MOST_NAMED else ""
    return f"Mean ranks, 1 is best: {named}{more}."


def _describe_reach(pairs: RankComparisons) -> str:
    needed = math.ceil(1 + math.log2(len(pairs.pairs) / (1 - pairs.level)))
    return (
        f"; with {pairs.n_datasets} data sets none could, because the smallest possible p of {len(pairs.pairs)} pairs "
        f"is {pairs.smallest_p:.2g} ({needed} data sets are needed)"
    )


def _describe_pairs(what: str, pairs: RankComparisons, test: FriedmanTest) -> str:
    ranks = dict(zip(test.candidates, test.mean_ranks, strict=True))
    different = sorted(pairs.different, key=lambda pair: (ranks[pair[0]], ranks[pair[1]]))
    if not different:
        could = _describe_reach(pairs) if pairs.smallest_p > 1 - pairs.level else ""
        return f"Which of them differ was not shown: no pair does after Holm's correction{could}."
    better = different[0][0]
    others = [worse for name, worse in different if name == better]
    named = ", ".join(others[:MOST_NAMED]) + (
        f" and {len(others) - MOST_NAMED} others" if len(others) > MOST_NAMED else ""
    )
    verb = "is more stable than" if what == "stability" else f"has a better {what} than"
    rest = f"; {len(different)} of {len(pairs.pairs)} pairs differ in all" if len(different) > len(others) else ""
    return f"{better} {verb} {named} (exact Wilcoxon signed-rank tests, Holm's correction){rest}."
