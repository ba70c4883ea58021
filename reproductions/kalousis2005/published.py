"""What the paper prints of the ovarian spectra."""

from typing import NamedTuple

PAPER = "kalousis2005"
METHODS = ("IG", "ReliefF", "SVMONE", "SVMRFE")
OVARIAN = "ovarian_8_7_02"
MICROARRAYS = ("alon", "gravier", "singh", "chiaretti", "borovecki")

TABLE_2: dict[str, dict[str, float]] = {
    "IG": {"S_W": 0.9553, "S_R": 0.9467, "S_S": 0.0293},
    "ReliefF": {"S_W": 0.9697, "S_R": 0.9537, "S_S": 0.7295},
    "SVMONE": {"S_W": 0.9379, "S_R": 0.8476, "S_S": 0.4562},
    "SVMRFE": {"S_R": 0.8386, "S_S": 0.4680},
}
"""Table 2, row ovarian; S_S of the best ten features."""


class Ties(NamedTuple):
    """S_R of information gain (Table 2, Section 4) with average ranks, share of zeros, S_R with random ties."""

    average: float
    zero_share: float
    at_random: float


TIES = {
    "ovarian": Ties(0.9467, 0.3507, 0.9109),
    "prostate": Ties(0.7819, 0.8563, 0.4074),
    "stroke": Ties(0.7939, 0.9125, 0.2044),
}
"""Table 2 and Section 4, all three data sets."""


class Gain(NamedTuple):
    """S_S of information gain: of ten features in Table 2, and by number of features in Table 3."""

    top_ten: float
    by_size: dict[int, float]


GAIN = {
    "ovarian": Gain(0.0293, {10: 0.01, 20: 0.06, 30: 0.09, 40: 0.12, 50: 0.16}),
    "prostate": Gain(0.0091, {10: 0.01, 20: 0.01, 30: 0.02, 40: 0.03, 50: 0.04}),
    "stroke": Gain(0.0268, {10: 0.02, 20: 0.05, 30: 0.09, 40: 0.12, 50: 0.16}),
}
"""Tables 2 and 3, all three data sets."""
OVERLAPS = (
    (0.7295, 8.43), (0.5529, 7.12), (0.3410, 5.08), (0.0293, 0.56), (0.0091, 0.18), (0.0268, 0.52),
    (0.4562, 6.26), (0.5243, 6.87), (0.2721, 4.27), (0.4680, 6.37), (0.4484, 6.19), (0.1678, 2.87),
)  # fmt: skip
"""S_S in Table 2, and how many of ten features that is in Section 4."""


def implied(average: float, zero_share: float) -> float:
    """What S_R with average ranks implies for random ties, if this share of the features is tied."""
    return average * (1 - zero_share**3)


class Cell(NamedTuple):
    """A cell of Table 3: error in percent, S_S, and whether it is in italics (not significantly above the best)."""

    error: float
    stability: float
    italic: bool


def _row(*cells: tuple[float, float, bool]) -> dict[str, Cell]:
    return {method: Cell(*cell) for method, cell in zip(METHODS, cells, strict=True)}


TABLE_3: dict[int, dict[str, Cell]] = {
    10: _row((10.28, 0.01, False), (10.28, 0.72, False), (7.12, 0.59, False), (1.19, 0.46, True)),
    20: _row((5.56, 0.06, False), (5.93, 0.69, False), (3.96, 0.58, True), (1.19, 0.47, True)),
    30: _row((4.75, 0.09, False), (1.59, 0.69, True), (1.19, 0.56, True), (0.40, 0.45, True)),
    40: _row((3.17, 0.12, False), (1.59, 0.69, True), (0.40, 0.56, True), (0.40, 0.44, True)),
    50: _row((2.77, 0.16, True), (1.59, 0.70, True), (0.40, 0.58, True), (0.40, 0.44, True)),
}
"""Table 3, second block (ovarian; the blocks have no names, see their S_S for ten features)."""


def published_choice(n: int) -> str:
    """The most stable method among those in italics: what the paper's scenario chooses for so many features."""
    italic = {method: cell.stability for method, cell in TABLE_3[n].items() if cell.italic}
    return max(italic, key=lambda method: italic[method])
