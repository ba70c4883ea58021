"""Slow, obvious definitions of every measure, written from the papers with sets and loops."""

import itertools
import math
from fractions import Fraction
from statistics import fmean as mean
from statistics import median

import numpy as np
from scipy.stats import kendalltau, rankdata

nan = math.nan


def ratio(a, b):
    return nan if b == 0 else a / b


def sets_of(preferences):
    indices, indptr = preferences.lists()
    return [set(indices[indptr[i] : indptr[i + 1]].tolist()) for i in range(preferences.n_runs)]


def ordered_pairs(items):
    return itertools.permutations(items, 2)


# Similarities of two sets


def hamming(v, w, d):
    return 1 - len(v ^ w) / d


def jaccard(v, w, d):
    return ratio(len(v & w), len(v | w))


def dice(v, w, d):
    return ratio(2 * len(v & w), len(v) + len(w))


def ochiai(v, w, d):
    return ratio(len(v & w), math.sqrt(len(v) * len(w)))


def pog(v, w, d):
    return ratio(len(v & w), len(v))


def above(v, w, d, most):
    expected = Fraction(len(v) * len(w), d)
    if isinstance(most, float):
        return ratio(float(len(v & w) - expected), most - float(expected))
    return float(ratio(len(v & w) - expected, most - expected))


def kuncheva(v, w, d):
    return above(v, w, d, Fraction(len(v)))


def lustgarten(v, w, d):
    k, m = len(v), len(w)
    return float(ratio(len(v & w) - Fraction(k * m, d), Fraction(min(k, m) - max(0, k + m - d))))


def wald(v, w, d):
    return above(v, w, d, Fraction(min(len(v), len(w))))


def npog(v, w, d):
    return above(v, w, d, Fraction(len(v)))


def kappa(v, w, d):
    return above(v, w, d, Fraction(len(v) + len(w), 2))


def unadjusted(v, w, d):
    return above(v, w, d, math.sqrt(len(v) * len(w)))


def pearson(v, w, d):
    if len(v) in (0, d) or len(w) in (0, d):
        return 1.0 if len(v) == len(w) else 0.0
    x, y = (np.array([feature in s for feature in range(d)], float) for s in (v, w))
    return float(np.corrcoef(x, y)[0, 1])


OVERLAP = [hamming, jaccard, dice, ochiai, pog, kuncheva, lustgarten, wald, npog, pearson, kappa, unadjusted]


def pairwise(similarity, preferences, *arguments):
    sets = sets_of(preferences)
    return mean(similarity(v, w, preferences.n_features, *arguments) for v, w in ordered_pairs(sets))


# Measures of all sets


def counts(preferences):
    return [sum(f in s for s in sets_of(preferences)) for f in range(preferences.n_features)]


def nogueira(preferences):
    M, d = preferences.n_runs, preferences.n_features
    p = [Fraction(h, M) for h in counts(preferences)]
    density = sum(p) / d
    if density in (0, 1):
        return nan
    variance = sum(Fraction(M, M - 1) * q * (1 - q) for q in p) / d
    return float(1 - variance / (density * (1 - density)))


def goh(preferences):
    return mean(h / preferences.n_runs for h in counts(preferences))


def davis(preferences, alpha):
    p = [h / preferences.n_runs for h in counts(preferences)]
    ever = sum(q > 0 for q in p)
    penalty = alpha * median(len(s) for s in sets_of(preferences)) / preferences.n_features
    return max(0, sum(p) / ever - penalty) if ever else nan


def krizek(preferences):
    sets = [frozenset(s) for s in sets_of(preferences)]
    shares = [sets.count(s) / len(sets) for s in set(sets)]
    return -sum(p * math.log2(p) for p in shares)


def guzman(preferences):
    M, d, sets = preferences.n_runs, preferences.n_features, sets_of(preferences)
    k = len(sets[0])
    if k in (0, d):
        return nan
    q = [[(f in s) / k for f in range(d)] for s in sets]
    center = [mean(row[f] for row in q) for f in range(d)]
    divergence = mean(sum(row[f] * math.log(row[f] / center[f]) for f in range(d) if row[f]) for row in q)
    assert len(q) == M
    return 1 - divergence / math.log(d / k)


def cw_rel(preferences):
    M, d, h = preferences.n_runs, preferences.n_features, counts(preferences)
    N = sum(h)
    D, H = N % d, N % M
    top = d * (N - D + sum(x * (x - 1) for x in h)) - N**2 + D**2
    return ratio(top, d * (H**2 + M * (N - H) - D) - N**2 + D**2)


def lausser(preferences):
    M, h = preferences.n_runs, counts(preferences)
    k = len(sets_of(preferences)[0])
    return ratio(sum(i**2 * h.count(i) for i in range(1, M + 1)), M**2 * k)


def novovicova(preferences):
    h = [x for x in counts(preferences) if x]
    return ratio(sum(x * math.log2(x) for x in h), sum(h) * math.log2(preferences.n_runs))


WHOLE = [nogueira, goh, krizek, guzman, cw_rel, lausser, novovicova]


# Sets with stand-ins


def covered(a, b, s, threshold):
    return sum(any(s[x, y] >= threshold for y in b) for x in a)


def maximum_matching(a, b, s, threshold):
    a, b = sorted(a), sorted(b)
    if not a or not b:
        return 0
    small, large = (a, b) if len(a) <= len(b) else (b, a)
    return max(
        sum(s[x, y] >= threshold for x, y in zip(small, chosen, strict=True))
        for chosen in itertools.permutations(large, len(small))
    )


def greedy_matching(a, b, s, threshold):
    edges = sorted(
        ((-s[x, y], min(x, y), max(x, y)) for x in a for y in b if s[x, y] >= threshold),
    )
    used, pairs = set(), 0
    for _, x, y in edges:
        if x not in used and y not in used:
            used |= {x, y}
            pairs += 1
    return pairs


def mean_stand_in(a, b, s, threshold):
    total = 0.0
    for x in a:
        similar = [s[x, y] for y in b if s[x, y] >= threshold]
        total += mean(similar) if similar else 0.0
    return total


CREDITS = {
    "npogr": lambda v, w, s, t: len(v & w) + covered(v - w, w - v, s, t),
    "yu": lambda v, w, s, t: len(v & w) + (covered(v - w, w - v, s, t) + covered(w - v, v - w, s, t)) / 2,
    "intersection_count": lambda v, w, s, t: len(v & w) + min(covered(v - w, w - v, s, t), covered(w - v, v - w, s, t)),
    "intersection_mbm": lambda v, w, s, t: len(v & w) + maximum_matching(v - w, w - v, s, t),
    "intersection_greedy": lambda v, w, s, t: len(v & w) + greedy_matching(v - w, w - v, s, t),
    "intersection_mean": lambda v, w, s, t: (
        len(v & w) + min(mean_stand_in(v - w, w - v, s, t), mean_stand_in(w - v, v - w, s, t))
    ),
}
CEILINGS = {
    "npogr": lambda k, m: k,
    "yu": lambda k, m: (k + m) / 2,
    **{name: lambda k, m: math.sqrt(k * m) for name in CREDITS if name.startswith("intersection")},
}


def all_sets(d, k):
    return [set(chosen) for chosen in itertools.combinations(range(d), k)]


def adjusted(name, v, w, d, s, threshold, expected=None):
    credit = CREDITS[name]
    if expected is None:
        expected = mean(credit(x, y, s, threshold) for x in all_sets(d, len(v)) for y in all_sets(d, len(w)))
    ceiling = CEILINGS[name](len(v), len(w))
    return nan if abs(ceiling - expected) < 1e-9 else (credit(v, w, s, threshold) - expected) / (ceiling - expected)


def pogr(v, w, d, s, threshold):
    return ratio(len(v & w) + covered(v - w, w - v, s, threshold), len(v))


def zucknick(v, w, d, s, threshold):
    def cross(v, w):
        return ratio(sum(s[x, y] for x in v for y in w - v if s[x, y] >= threshold), len(w))

    return ratio(len(v & w) + cross(v, w) + cross(w, v), len(v | w))


def gulgezen(v, w, d, s):
    v, w = sorted(v), sorted(w)
    if not v or not w:
        return nan
    small, large = (v, w) if len(v) <= len(w) else (w, v)
    return max(
        mean(s[x, y] for x, y in zip(small, chosen, strict=True))
        for chosen in itertools.permutations(large, len(small))
    )


def sechidis(preferences, s, threshold):
    d, sets = preferences.n_features, sets_of(preferences)
    z = np.array([[f in s_ for f in range(d)] for s_ in sets], float)
    c = np.where(s >= threshold, s, 0)
    k = z.sum(1)
    off = (np.mean(k**2) - k.mean()) / (d**2 - d) - k.mean() ** 2 / d**2
    null = np.full((d, d), off)
    np.fill_diagonal(null, k.mean() / d * (1 - k.mean() / d))
    bottom = np.trace(c @ null)
    return nan if abs(bottom) < 1e-12 * d else 1 - np.trace(c @ np.cov(z.T, ddof=1)) / bottom


# Rankings


def spearman(x, y):
    return nan if np.ptp(x) == 0 or np.ptp(y) == 0 else float(np.corrcoef(x, y)[0, 1])


def kendall(x, y):
    return float(kendalltau(x, y).statistic)


def canberra_distance(x, y, k):
    x, y = ([rank if rank <= k else k + 1 for rank in row] for row in (x, y))
    return sum(abs(a - b) / (a + b) for a, b in zip(x, y, strict=True))


def canberra(x, y, k):
    orders = list(itertools.permutations(range(1, len(x) + 1)))
    expected = mean(canberra_distance(orders[0], order, k) for order in orders)
    return 1 - canberra_distance(x, y, k) / expected


def rank_biased_overlap(x, y, p):
    """Webber et al. 2010, equation 32 for complete lists; tied items enter together."""
    x, y = (rankdata(row, method="min") for row in (x, y))
    d = len(x)

    def agreement(depth):
        a, b = {i for i in range(d) if x[i] <= depth}, {i for i in range(d) if y[i] <= depth}
        return 2 * len(a & b) / (len(a) + len(b))

    return agreement(d) * p**d + (1 - p) / p * sum(agreement(t) * p**t for t in range(1, d + 1))


def rank_variance(ranks):
    d = ranks.shape[1]
    return 1 - np.var(ranks, axis=0, ddof=1).mean() / ((d**2 - 1) / 12)


# What models use


def shares(weights):
    return [[abs(weight) / sum(map(abs, row)) for weight in row] for row in weights]


def ratio_of_pairs(rows, pair):
    """The sum over pairs of what they share above chance, over that of the most that they could."""
    shared, most, chance = map(sum, zip(*(pair(x, y) for x in rows for y in rows if x is not y), strict=True))
    return (shared - chance) / (most - chance) if most - chance > 1e-12 else nan


def used_again(weights):
    def pair(x, y):
        used = [[f for f, share in enumerate(run) if share] for run in (x, y)]
        return (len(used[0]) * sum(x[f] for f in used[1]), len(used[0]), len(used[0]) * len(used[1]) / len(x))

    return ratio_of_pairs(shares(weights), pair)


def shared_importance(weights):
    def pair(x, y):
        return (sum(map(min, x, y)), 1, sum(min(a, b) for a in x for b in y) / len(x))

    return ratio_of_pairs(shares(weights), pair)
