"""Catalog of real data sets: size, source, license, notes and checksum of each."""

from dataclasses import dataclass
from typing import Literal

from holdfast.declared import About, Registry

MICROARRAY = "Hamer and Dupont (2020)"
GULGEZEN = "Gulgezen et al. (2009)"
NOGUEIRA = "Nogueira et al. (2018)"
BLOCKS = "Rows stand in solid class blocks: shuffle or stratify."


@dataclass(frozen=True, kw_only=True)
class DatasetInfo:
    """Facts about a real data set: size, classes, source, license and notes.

    Attributes
    ----------
    name : str
        Its name for :func:`load`.
    n_samples, n_features : int
        Its size.
    classes : dict of str to int, or None
        Number of samples of each class; None for regression.
    used_by : str
        Papers that used it.
    source : str
        Where the values are from.
    license : str
        License as the source states it, mostly of a package and not of the data: look before you pass data on.
    notes : tuple of str
        What to know before using it.
    sha256 : str or None
        Checksum of the file; None for a data set that comes with scikit-learn.

    See Also
    --------
    load : Load a data set by name.
    listing : The facts about all data sets as a table.

    Examples
    --------
    >>> from holdfast import datasets
    >>> datasets.load("breast_cancer").info.classes
    {'benign': 357, 'malignant': 212}
    """

    name: str
    n_samples: int
    n_features: int
    classes: dict[str, int] | None
    used_by: str
    source: str
    license: str
    notes: tuple[str, ...] = ()
    sha256: str | None = None

    @property
    def about(self) -> About:
        """Name and size, as declared of everything with a name."""
        return About(name=self.name, summary=f"{self.n_samples} samples of {self.n_features} features")

    @property
    def task(self) -> Literal["classification", "regression"]:
        """What there is to predict."""
        return "regression" if self.classes is None else "classification"

    @property
    def file(self) -> str:
        """Name of the file."""
        return f"{self.name}.parquet"

    def __str__(self) -> str:
        classes = "numbers to predict"
        if self.classes is not None:
            classes = ", ".join(f"{label}: {count}" for label, count in self.classes.items())
        facts = [
            f"{self.name}: {self.n_samples} samples of {self.n_features} features ({classes}).",
            f"Used by {self.used_by}." if self.used_by else "",
            f"Source: {self.source}. License: {self.license}.",
            *self.notes,
        ]
        return " ".join(filter(None, facts))


ROWS = (
    DatasetInfo(
        name="breast_cancer",
        n_samples=569,
        n_features=30,
        classes={"benign": 357, "malignant": 212},
        used_by="",
        source="scikit-learn, load_breast_cancer (UCI, Breast Cancer Wisconsin, Diagnostic)",
        license="BSD-3-Clause (package)",
    ),
    DatasetInfo(
        name="alon",
        n_samples=62,
        n_features=2000,
        classes={"n": 22, "t": 40},
        used_by=MICROARRAY,
        source="ramhiser/datamicroarray@a95f6f6, data/alon.RData",
        license="MIT (package)",
        notes=("Nine columns repeat others.",),
        sha256="b2da49357bddda8971b3c6bdbaa74bc6641d581b795615c7f93df5c70c9341f7",
    ),
    DatasetInfo(
        name="borovecki",
        n_samples=31,
        n_features=22283,
        classes={"control": 14, "symptomatic": 17},
        used_by=MICROARRAY,
        source="ramhiser/datamicroarray@a95f6f6, data/borovecki.RData",
        license="MIT (package)",
        notes=(BLOCKS,),
        sha256="1cdcc4ca373d94c695b437123c16bc2dc15d26afe473ffe325259caae6dadab4",
    ),
    DatasetInfo(
        name="singh",
        n_samples=102,
        n_features=12600,
        classes={"Normal": 50, "Tumor": 52},
        used_by=MICROARRAY,
        source="ramhiser/datamicroarray@a95f6f6, data/singh.RData",
        license="MIT (package)",
        notes=(
            BLOCKS,
            "Row 52 (counting from 0) holds fractions, all other rows whole numbers; so in the source.",
        ),
        sha256="968d65bd66742df4701488ff0cc52dc9087086cbe61b6964153d3fd1ffb7e658",
    ),
    DatasetInfo(
        name="gravier",
        n_samples=168,
        n_features=2905,
        classes={"good": 111, "poor": 57},
        used_by=MICROARRAY,
        source="ramhiser/datamicroarray@a95f6f6, data/gravier.RData",
        license="MIT (package)",
        sha256="a14600a68fd994b46bcf8b77585975070cc3c8cd7e803a0c2539c8d0d2228179",
    ),
    DatasetInfo(
        name="chiaretti",
        n_samples=111,
        n_features=12625,
        classes={"BCR/ABL": 37, "NEG": 74},
        used_by=MICROARRAY,
        source="Bioconductor ALL 1.40.0 (Debian r-bioc-all), rows with mol.biol BCR/ABL or NEG",
        license="Artistic-2.0",
        notes=("That these are the rows and labels of the paper is inferred from their number, not checked.",),
        sha256="f7efdece6148222e5fe57b42d69364ba2b913832dab843d889c97460845d8893",
    ),
    DatasetInfo(
        name="ionosphere",
        n_samples=351,
        n_features=34,
        classes={"bad": 126, "good": 225},
        used_by=GULGEZEN,
        source="cran/mlbench@a6ad5ce, data/Ionosphere.rda",
        license="GPL-2 (package)",
        notes=("Column V2 is constant, and one row repeats another.",),
        sha256="a17dea96fc36efc1789305b1a1193327b0bf8318a173fb45565ddc5a992946ee",
    ),
    DatasetInfo(
        name="sonar",
        n_samples=208,
        n_features=60,
        classes={"M": 111, "R": 97},
        used_by="Gulgezen et al. (2009) and Nogueira et al. (2018)",
        source="cran/mlbench@a6ad5ce, data/Sonar.rda",
        license="GPL-2 (package)",
        notes=(BLOCKS,),
        sha256="cfe4674e39d57a78cbae7f96f2ddf8f878bb85aa56cf46d29f67ba38065d07f2",
    ),
    DatasetInfo(
        name="parkinsons",
        n_samples=195,
        n_features=22,
        classes={"healthy": 48, "parkinsons": 147},
        used_by=GULGEZEN,
        source="peratonlabs/LUPI@5daecc1, parkinsons.data",
        license="none stated",
        notes=(
            "Several recordings per subject (32 subjects), whose ids are not in the file: plain splits of rows leak.",
        ),
        sha256="72ea5c479d8f8b53d8ce08336a9f27fe045669e3e3c6c33d91bc9493d9071746",
    ),
    DatasetInfo(
        name="musk1",
        n_samples=476,
        n_features=166,
        classes={"musk": 207, "non-musk": 269},
        used_by=GULGEZEN,
        source="cran/kernlab@d8f05c9, data/musk.rda",
        license="GPL-2 (package)",
        notes=(
            BLOCKS,
            "Several conformations per molecule (92), whose ids are not in the file: plain splits of rows leak.",
        ),
        sha256="ba7a50016d7ed85ee8d30d22118be4acf458dbc239ed99a74bc7c332e562225e",
    ),
    DatasetInfo(
        name="mfeat",
        n_samples=2000,
        n_features=649,
        classes={"0": 200, "1": 200, "2": 200, "3": 200, "4": 200, "5": 200, "6": 200, "7": 200, "8": 200, "9": 200},
        used_by=GULGEZEN,
        source="jiajunsi/RCML@c9c5ab4, data/handwritten.mat",
        license="none stated",
        notes=(BLOCKS, "Three columns and six rows repeat others."),
        sha256="4dc5d107e7d16f999b1627962a7ebb469e19a9337291f3d9c7684af9f3d40690",
    ),
    DatasetInfo(
        name="optdigits_train",
        n_samples=3823,
        n_features=64,
        classes={"0": 376, "1": 389, "2": 380, "3": 389, "4": 387, "5": 376, "6": 377, "7": 387, "8": 380, "9": 382},
        used_by=GULGEZEN,
        source="logicalapple/cs7641-Supervised-Learning@62f33c6, optdigits.tra",
        license="none stated",
        notes=("Columns block_01 and block_40 are constant.",),
        sha256="d4632ef24bab0bb8e1e7fa9f14b1057c2865218099aa705bb86deb0134cc78e2",
    ),
    DatasetInfo(
        name="wine",
        n_samples=178,
        n_features=13,
        classes={"1": 59, "2": 71, "3": 48},
        used_by=GULGEZEN,
        source="scikit-learn 1.9.1, load_wine",
        license="not looked up",
        notes=(BLOCKS,),
        sha256="16560d6b4f614435350ad559683befae91c0fcbd9f9262aaa97263475e9ee17b",
    ),
    DatasetInfo(
        name="gtzan5_librosa",
        n_samples=500,
        n_features=57,
        classes={"classical": 100, "hiphop": 100, "jazz": 100, "pop": 100, "reggae": 100},
        used_by="Gulgezen et al. (2009), with other features",
        source="madkan/Music-Genre-Classifier@8b17247, features_30_sec.csv (5 of 10 genres; filename, length dropped)",
        license="none stated",
        notes=(
            "The five genres of the paper with 57 other features, as the paper's own 50 are not to be had.",
            "Five rows repeat others.",
        ),
        sha256="4133c2918076d13167d47b6fc76c1576f7c6f93901552bfc9252f3e779d9c3ca",
    ),
    DatasetInfo(
        name="spambase",
        n_samples=4601,
        n_features=57,
        classes={"nonspam": 2788, "spam": 1813},
        used_by=NOGUEIRA,
        source="cran/kernlab@d8f05c9, data/spam.rda",
        license="GPL-2 (package)",
        notes=(BLOCKS, "394 rows repeat others."),
        sha256="e76aaa15536c20843a27a37f8f234f56a668352674d721a00c254b0b1de893e8",
    ),
    DatasetInfo(
        name="madelon",
        n_samples=2600,
        n_features=500,
        classes={"-1": 1300, "1": 1300},
        used_by=NOGUEIRA,
        source="jundongl/scikit-feature@48cffad, skfeature/data/madelon.mat",
        license="GPL-2 (repo)",
        notes=(
            "Rows 0 to 1999 are the training split of the NIPS 2003 challenge, rows 2000 to 2599 its validation split.",
        ),
        sha256="295ee1fbe31163d6afe2070ea5c6ba53bf010d226f7bbd09e297da9cd798d5c9",
    ),
    DatasetInfo(
        name="boston",
        n_samples=506,
        n_features=13,
        classes=None,
        used_by=NOGUEIRA,
        source="cran/mlbench@a6ad5ce, data/BostonHousing.rda",
        license="GPL-2 (package)",
        notes=("No longer part of scikit-learn, for what its column b assumes about people.",),
        sha256="25f76675a769bff2e3cd533bcd4f506c1dad2ef23b65e94e35cc8b867baca81c",
    ),
    DatasetInfo(
        name="ovarian_8_7_02",
        n_samples=253,
        n_features=15154,
        classes={"cancer": 162, "control": 91},
        used_by="Kalousis et al. (2005)",
        source="MsAlgorith/MS-ALGORITHM-ROI@51be8fb, raw files of OvarianDataset8-7-02",
        license="none stated",
        notes=(
            BLOCKS,
            "Raw intensities, rounded to single precision; the paper's own preprocessing is not applied.",
            "A published re-analysis reports a bias between cancer and control at low m/z that is not biological.",
        ),
        sha256="05cd598f21dd2b858237672ff5644896c93a1d71faafd987e24d70229539da26",
    ),
)

DATASETS: Registry[DatasetInfo] = Registry("data set", ROWS)
"""All real data sets by name."""
