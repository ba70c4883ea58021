"""Numbers as printed in Gulgezen, Cataltepe and Yu (2009), Section 5.3: mean ranks with their standard deviations."""

PAPER = "gulgezen2009"
ALPHAS = (0, 0.25, 0.5, 0.75, 1)
RATIOS = (0.1, 0.25, 0.5, 0.75)
QUARTER = 0.25

Row = tuple[tuple[float, float], ...]
"""Rank and standard deviation for each of the alphas."""


def _row(text: str) -> Row:
    """Read a row as it is printed: "1.7 0.9, 1.8 0.8, …"."""
    return tuple((float(rank), float(sd)) for rank, sd in (cell.split() for cell in text.split(",")))


# Table 3: stability on Musk (version 1)
MUSK_STABILITY = {
    0.1: _row("1.7 0.9, 1.8 0.8, 2.7 0.8, 3.9 0.7, 4.7 0.8"),
    0.25: _row("1.9 0.8, 1.4 0.6, 2.7 0.6, 4 0.4, 4.8 0.8"),
    0.5: _row("1.7 0.7, 1.5 0.6, 2.8 0.5, 4.1 0.5, 4.8 0.7"),
    0.75: _row("1.4 0.7, 1.8 0.6, 2.9 0.6, 4.1 0.6, 4.7 0.7"),
}
# Table 4: accuracy on Musk (version 1)
MUSK_ACCURACY = {
    0.1: _row("4.2 1.1, 1.3 0.6, 1.9 0.6, 3.3 0.8, 4.1 0.7"),
    0.25: _row("4.3 1, 1.1 0.3, 2 0.4, 3.3 0.5, 4.2 0.8"),
    0.5: _row("4.5 0.8, 1.1 0.4, 1.9 0.3, 3.3 0.7, 4.1 0.7"),
    0.75: _row("4.9 0.4, 1.1 0.4, 2 0.5, 3.2 0.7, 3.7 0.6"),
}
# Table 5: stability on Multi-features
MFEAT_STABILITY = {
    0.1: _row("3.3 1.8, 4.4 0.6, 2.4 0.6, 2.2 0.8, 2.7 1.5"),
    0.25: _row("3.4 1.9, 4.5 0.5, 2.8 0.6, 2.2 0.7, 2.1 1.3"),
    0.5: _row("3.3 1.8, 4.5 0.5, 3.2 0.6, 2.1 0.8, 1.9 0.9"),
    0.75: _row("3.2 1.8, 4.5 0.5, 3.3 0.6, 2.1 0.8, 1.9 1"),
}
# Table 6: accuracy on Multi-features
MFEAT_ACCURACY = {
    0.1: _row("4.8 0.7, 3.9 0.4, 2.4 0.9, 1.8 0.6, 1.7 0.8"),
    0.25: _row("4.7 0.7, 3.8 0.7, 1.9 0.9, 2.1 0.6, 2.1 0.9"),
    0.5: _row("4.6 1, 3.6 0.7, 1.9 0.9, 2.1 0.8, 2.1 1"),
    0.75: _row("4.7 0.7, 3.4 1, 1.8 0.9, 2 0.7, 2.2 1"),
}
# Table 7: stability at r = 0.25
STABILITY_AT_QUARTER = {
    "ionosphere": _row("3.5 1.2, 3 0.9, 3.4 1.1, 3 1.9, 1.4 0.6"),
    "sonar": _row("2.2 0.8, 1.7 0.8, 2.6 1.2, 4.2 0.8, 4 1.4"),
    "parkinsons": _row("2.5 1.1, 2.2 1.1, 3 1.4, 3.6 1.3, 2.7 1.9"),
    "musk1": _row("1.9 0.8, 1.4 0.6, 2.7 0.6, 4 0.4, 4.8 0.8"),
    "gtzan5_librosa": _row("3.7 1.1, 4.5 0.9, 3.2 0.7, 1.8 0.8, 1.4 0.5"),
    "mfeat": _row("3.4 1.9, 4.5 0.5, 2.8 0.6, 2.2 0.7, 2.1 1.3"),
    "optdigits_train": _row("2.9 1.5, 4.4 1, 2.4 1, 2.3 1.1, 2 1"),
    "wine": _row("3.7 1.3, 4.1 1.4, 2.5 1, 1.4 0.5, 1.8 0.9"),
}
# Table 8: accuracy at r = 0.25
ACCURACY_AT_QUARTER = {
    "ionosphere": _row("2.7 1.9, 3.2 1.2, 3.5 1.2, 3.1 1.1, 1.9 1"),
    "sonar": _row("3.1 1.9, 1.8 0.7, 2.5 1.2, 3.7 1, 3.7 1"),
    "parkinsons": _row("3.6 1.6, 2.2 1.2, 2.9 1.4, 3.2 1, 2.4 1.3"),
    "musk1": _row("4.3 1, 1.1 0.3, 2 0.4, 3.3 0.5, 4.2 0.8"),
    "gtzan5_librosa": _row("4.8 0.6, 3.9 0.7, 2.9 0.4, 1.7 0.6, 1.4 0.5"),
    "mfeat": _row("4.7 0.7, 3.8 0.7, 1.9 0.9, 2.1 0.6, 2.1 0.9"),
    "optdigits_train": _row("4.4 0.9, 3.8 1, 2 0.9, 2 0.9, 1.7 0.8"),
    "wine": _row("2.5 1.4, 4.3 1.3, 3.1 1.3, 1.8 0.7, 2.2 0.7"),
}
# Table 2, and the names of the sets there; Parkinsons has 22 features beside name and class
TITLES = {
    "ionosphere": "Ionosphere",
    "sonar": "Sonar",
    "parkinsons": "Parkinsons",
    "musk1": "Musk (version 1)",
    "gtzan5_librosa": "Audio genre (57 other features)",
    "mfeat": "Multi-features digits",
    "optdigits_train": "Handwritten digits",
    "wine": "Wine",
}
SIZES = {  # features, rows, classes
    "ionosphere": (34, 351, 2), "sonar": (60, 208, 2), "parkinsons": (23, 195, 2), "musk1": (166, 476, 2),
    "gtzan5_librosa": (50, 500, 5), "mfeat": (649, 2000, 10), "optdigits_train": (64, 3823, 10), "wine": (13, 178, 3),
}  # fmt: skip
# Section 5.3, below Table 6: the most stable alpha is above 0.5 on these sets, below 0.5 on the others
PREFERS_RELEVANCE = ("ionosphere", "gtzan5_librosa", "mfeat", "optdigits_train", "wine")
