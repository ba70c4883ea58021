"""Publications to cite, by their BibTeX key; those that measures come from are in ``measures/publications.py``."""

from dataclasses import dataclass

from holdfast.declared import About, Registry


@dataclass(frozen=True, kw_only=True)
class Publication:
    """A publication.

    Attributes
    ----------
    key : str
        BibTeX key.
    text : str
        Authors, year, title and place in one line.
    link : str
        Address; empty if there is none.
    bibtex : str
        BibTeX entry.
    """

    key: str
    text: str
    bibtex: str
    link: str = ""

    @property
    def short(self) -> str:
        """Authors and year, as in ``Kuncheva (2007)``."""
        return self.text.partition(").")[0] + ")"

    @property
    def about(self) -> About:
        """The key and the line."""
        return About(name=self.key, summary=self.text)


REFERENCES: Registry[Publication] = Registry("reference")
"""All publications by key. ``REFERENCES.add(Publication(key=…, text=…, bibtex=…))`` adds one of your own."""


def _add(key: str, text: str, link: str, bibtex: str) -> None:
    REFERENCES.add(Publication(key=key, text=text, link=link, bibtex=bibtex))


_add(
    "nogueira2018",
    "Nogueira, Sechidis and Brown (2018). On the stability of feature selection algorithms. JMLR 18(174).",
    "https://jmlr.org/papers/v18/17-514.html",
    r"""@article{nogueira2018,
  author  = {Nogueira, Sarah and Sechidis, Konstantinos and Brown, Gavin},
  title   = {On the Stability of Feature Selection Algorithms},
  journal = {Journal of Machine Learning Research},
  volume  = {18},
  number  = {174},
  pages   = {1--54},
  year    = {2018},
  url     = {https://jmlr.org/papers/v18/17-514.html}
}""",
)

_add(
    "nogueira2016",
    "Nogueira and Brown (2016). Measuring the stability of feature selection. ECML PKDD.",
    "https://doi.org/10.1007/978-3-319-46227-1_28",
    r"""@inproceedings{nogueira2016,
  author    = {Nogueira, Sarah and Brown, Gavin},
  title     = {Measuring the Stability of Feature Selection},
  booktitle = {Machine Learning and Knowledge Discovery in Databases (ECML PKDD 2016)},
  series    = {Lecture Notes in Computer Science},
  volume    = {9852},
  pages     = {442--457},
  publisher = {Springer},
  year      = {2016},
  doi       = {10.1007/978-3-319-46227-1_28}
}""",
)

_add(
    "kalousis2005",
    "Kalousis, Prados and Hilario (2005). Stability of feature selection algorithms. ICDM.",
    "https://doi.org/10.1109/ICDM.2005.135",
    r"""@inproceedings{kalousis2005,
  author    = {Kalousis, Alexandros and Prados, Julien and Hilario, Melanie},
  title     = {Stability of Feature Selection Algorithms},
  booktitle = {Fifth IEEE International Conference on Data Mining (ICDM 2005)},
  pages     = {218--225},
  publisher = {IEEE},
  year      = {2005},
  doi       = {10.1109/ICDM.2005.135}
}""",
)

_add(
    "hamer2020",
    "Hamer and Dupont (2020). Joint optimization of predictive performance and selection stability. ESANN.",
    "",
    r"""@inproceedings{hamer2020,
  author    = {Hamer, Victor and Dupont, Pierre},
  title     = {Joint Optimization of Predictive Performance and Selection Stability},
  booktitle = {European Symposium on Artificial Neural Networks (ESANN 2020)},
  year      = {2020}
}""",
)

_add(
    "gulgezen2009",
    "Gulgezen, Cataltepe and Yu (2009). Stable and accurate feature selection. ECML PKDD.",
    "https://doi.org/10.1007/978-3-642-04180-8_47",
    r"""@inproceedings{gulgezen2009,
  author    = {Gulgezen, Gokhan and Cataltepe, Zehra and Yu, Lei},
  title     = {Stable and Accurate Feature Selection},
  booktitle = {Machine Learning and Knowledge Discovery in Databases (ECML PKDD 2009)},
  series    = {Lecture Notes in Computer Science},
  volume    = {5781},
  pages     = {455--468},
  publisher = {Springer},
  year      = {2009},
  doi       = {10.1007/978-3-642-04180-8_47}
}""",
)

_add(
    "nadeau2003",
    "Nadeau and Bengio (2003). Inference for the generalization error. Machine Learning 52.",
    "https://doi.org/10.1023/A:1024068626366",
    r"""@article{nadeau2003,
  author  = {Nadeau, Claude and Bengio, Yoshua},
  title   = {Inference for the Generalization Error},
  journal = {Machine Learning},
  volume  = {52},
  pages   = {239--281},
  year    = {2003},
  doi     = {10.1023/A:1024068626366}
}""",
)

_add(
    "benjamini2005",
    "Benjamini and Yekutieli (2005). False discovery rate-adjusted multiple confidence intervals for selected "
    "parameters. Journal of the American Statistical Association 100.",
    "https://doi.org/10.1198/016214504000001907",
    r"""@article{benjamini2005,
  author  = {Benjamini, Yoav and Yekutieli, Daniel},
  title   = {False Discovery Rate-Adjusted Multiple Confidence Intervals for Selected Parameters},
  journal = {Journal of the American Statistical Association},
  volume  = {100},
  pages   = {71--81},
  year    = {2005},
  doi     = {10.1198/016214504000001907}
}""",
)

_add(
    "breiman1984",
    "Breiman, Friedman, Olshen and Stone (1984). Classification and regression trees. Wadsworth.",
    "",
    r"""@book{breiman1984,
  author    = {Breiman, Leo and Friedman, Jerome H. and Olshen, Richard A. and Stone, Charles J.},
  title     = {Classification and Regression Trees},
  publisher = {Wadsworth},
  year      = {1984}
}""",
)

_add(
    "meinshausen2010",
    "Meinshausen and Bühlmann (2010). Stability selection. JRSS B 72(4).",
    "https://doi.org/10.1111/j.1467-9868.2010.00740.x",
    r"""@article{meinshausen2010,
  author  = {Meinshausen, Nicolai and B{\"u}hlmann, Peter},
  title   = {Stability Selection},
  journal = {Journal of the Royal Statistical Society: Series B},
  volume  = {72},
  number  = {4},
  pages   = {417--473},
  year    = {2010},
  doi     = {10.1111/j.1467-9868.2010.00740.x}
}""",
)

_add(
    "shah2013",
    "Shah and Samworth (2013). Variable selection with error control: another look at stability selection. "
    "JRSS B 75(1).",
    "https://doi.org/10.1111/j.1467-9868.2011.01034.x",
    r"""@article{shah2013,
  author  = {Shah, Rajen D. and Samworth, Richard J.},
  title   = {Variable Selection with Error Control: Another Look at Stability Selection},
  journal = {Journal of the Royal Statistical Society: Series B},
  volume  = {75},
  number  = {1},
  pages   = {55--80},
  year    = {2013},
  doi     = {10.1111/j.1467-9868.2011.01034.x}
}""",
)

_add(
    "golub1999",
    "Golub et al. (1999). Molecular classification of cancer. Science 286.",
    "https://doi.org/10.1126/science.286.5439.531",
    r"""@article{golub1999,
  author  = {Golub, Todd R. and Slonim, Donna K. and Tamayo, Pablo and others},
  title   = {Molecular Classification of Cancer: Class Discovery and Class Prediction by Gene Expression Monitoring},
  journal = {Science},
  volume  = {286},
  pages   = {531--537},
  year    = {1999},
  doi     = {10.1126/science.286.5439.531}
}""",
)

_add(
    "guyon2002",
    "Guyon, Weston, Barnhill and Vapnik (2002). Gene selection for cancer classification using support vector "
    "machines. Machine Learning 46.",
    "https://doi.org/10.1023/A:1012487302797",
    r"""@article{guyon2002,
  author  = {Guyon, Isabelle and Weston, Jason and Barnhill, Stephen and Vapnik, Vladimir},
  title   = {Gene Selection for Cancer Classification using Support Vector Machines},
  journal = {Machine Learning},
  volume  = {46},
  pages   = {389--422},
  year    = {2002},
  doi     = {10.1023/A:1012487302797}
}""",
)

_add(
    "kononenko1994",
    "Kononenko (1994). Estimating attributes: analysis and extensions of RELIEF. ECML.",
    "https://doi.org/10.1007/3-540-57868-4_57",
    r"""@inproceedings{kononenko1994,
  author    = {Kononenko, Igor},
  title     = {Estimating Attributes: Analysis and Extensions of {RELIEF}},
  booktitle = {Machine Learning: ECML-94},
  pages     = {171--182},
  publisher = {Springer},
  year      = {1994},
  doi       = {10.1007/3-540-57868-4_57}
}""",
)

_add(
    "peng2005",
    "Peng, Long and Ding (2005). Feature selection based on mutual information. IEEE TPAMI 27(8).",
    "https://doi.org/10.1109/TPAMI.2005.159",
    r"""@article{peng2005,
  author  = {Peng, Hanchuan and Long, Fuhui and Ding, Chris},
  title   = {Feature Selection Based on Mutual Information: Criteria of Max-Dependency,
             Max-Relevance, and Min-Redundancy},
  journal = {IEEE Transactions on Pattern Analysis and Machine Intelligence},
  volume  = {27},
  number  = {8},
  pages   = {1226--1238},
  year    = {2005},
  doi     = {10.1109/TPAMI.2005.159}
}""",
)

_add(
    "tibshirani1996",
    "Tibshirani (1996). Regression shrinkage and selection via the lasso. JRSS B 58(1).",
    "https://doi.org/10.1111/j.2517-6161.1996.tb02080.x",
    r"""@article{tibshirani1996,
  author  = {Tibshirani, Robert},
  title   = {Regression Shrinkage and Selection via the Lasso},
  journal = {Journal of the Royal Statistical Society: Series B},
  volume  = {58},
  number  = {1},
  pages   = {267--288},
  year    = {1996},
  doi     = {10.1111/j.2517-6161.1996.tb02080.x}
}""",
)

_add(
    "breiman2001",
    "Breiman (2001). Random forests. Machine Learning 45.",
    "https://doi.org/10.1023/A:1010933404324",
    r"""@article{breiman2001,
  author  = {Breiman, Leo},
  title   = {Random Forests},
  journal = {Machine Learning},
  volume  = {45},
  pages   = {5--32},
  year    = {2001},
  doi     = {10.1023/A:1010933404324}
}""",
)

_add(
    "demsar2006",
    "Demšar (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7.",
    "https://jmlr.org/papers/v7/demsar06a.html",
    r"""@article{demsar2006,
  author  = {Dem{\v{s}}ar, Janez},
  title   = {Statistical Comparisons of Classifiers over Multiple Data Sets},
  journal = {Journal of Machine Learning Research},
  volume  = {7},
  pages   = {1--30},
  year    = {2006},
  url     = {https://jmlr.org/papers/v7/demsar06a.html}
}""",
)

_add(
    "friedman1937",
    "Friedman (1937). The use of ranks to avoid the assumption of normality implicit in the analysis of variance. "
    "JASA 32(200).",
    "https://doi.org/10.1080/01621459.1937.10503522",
    r"""@article{friedman1937,
  author  = {Friedman, Milton},
  title   = {The Use of Ranks to Avoid the Assumption of Normality Implicit in the Analysis of Variance},
  journal = {Journal of the American Statistical Association},
  volume  = {32},
  number  = {200},
  pages   = {675--701},
  year    = {1937},
  doi     = {10.1080/01621459.1937.10503522}
}""",
)

_add(
    "imandavenport1980",
    "Iman and Davenport (1980). Approximations of the critical region of the Friedman statistic. "
    "Communications in Statistics 9(6).",
    "https://doi.org/10.1080/03610928008827904",
    r"""@article{imandavenport1980,
  author  = {Iman, Ronald L. and Davenport, James M.},
  title   = {Approximations of the Critical Region of the {Friedman} Statistic},
  journal = {Communications in Statistics -- Theory and Methods},
  volume  = {9},
  number  = {6},
  pages   = {571--595},
  year    = {1980},
  doi     = {10.1080/03610928008827904}
}""",
)

_add(
    "nemenyi1963",
    "Nemenyi (1963). Distribution-free multiple comparisons. PhD thesis, Princeton University.",
    "",
    r"""@phdthesis{nemenyi1963,
  author = {Nemenyi, Peter B.},
  title  = {Distribution-free Multiple Comparisons},
  school = {Princeton University},
  year   = {1963}
}""",
)

_add(
    "holm1979",
    "Holm (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6(2).",
    "https://www.jstor.org/stable/4615733",
    r"""@article{holm1979,
  author  = {Holm, Sture},
  title   = {A Simple Sequentially Rejective Multiple Test Procedure},
  journal = {Scandinavian Journal of Statistics},
  volume  = {6},
  number  = {2},
  pages   = {65--70},
  year    = {1979},
  url     = {https://www.jstor.org/stable/4615733}
}""",
)

_add(
    "benavoli2014",
    "Benavoli, Mangili, Corani, Zaffalon and Ruggeri (2014). A Bayesian Wilcoxon signed-rank test based on the "
    "Dirichlet process. ICML.",
    "https://proceedings.mlr.press/v32/benavoli14.html",
    r"""@inproceedings{benavoli2014,
  author    = {Benavoli, Alessio and Mangili, Francesca and Corani, Giorgio and Zaffalon, Marco and Ruggeri, Fabrizio},
  title     = {A {Bayesian} {Wilcoxon} Signed-Rank Test Based on the {Dirichlet} Process},
  booktitle = {31st International Conference on Machine Learning (ICML 2014)},
  series    = {Proceedings of Machine Learning Research},
  volume    = {32},
  number    = {2},
  pages     = {1026--1034},
  year      = {2014},
  url       = {https://proceedings.mlr.press/v32/benavoli14.html}
}""",
)

_add(
    "benavoli2016",
    "Benavoli, Corani and Mangili (2016). Should we really use post-hoc tests based on mean-ranks? JMLR 17(5).",
    "https://jmlr.org/papers/v17/benavoli16a.html",
    r"""@article{benavoli2016,
  author  = {Benavoli, Alessio and Corani, Giorgio and Mangili, Francesca},
  title   = {Should We Really Use Post-Hoc Tests Based on Mean-Ranks?},
  journal = {Journal of Machine Learning Research},
  volume  = {17},
  number  = {5},
  pages   = {1--10},
  year    = {2016},
  url     = {https://jmlr.org/papers/v17/benavoli16a.html}
}""",
)

_add(
    "benavoli2017",
    "Benavoli, Corani, Demšar and Zaffalon (2017). Time for a change: a tutorial for comparing multiple classifiers "
    "through Bayesian analysis. JMLR 18(77).",
    "https://jmlr.org/papers/v18/16-305.html",
    r"""@article{benavoli2017,
  author  = {Benavoli, Alessio and Corani, Giorgio and Dem{\v{s}}ar, Janez and Zaffalon, Marco},
  title   = {Time for a Change: a Tutorial for Comparing Multiple Classifiers Through {Bayesian} Analysis},
  journal = {Journal of Machine Learning Research},
  volume  = {18},
  number  = {77},
  pages   = {1--36},
  year    = {2017},
  url     = {https://jmlr.org/papers/v18/16-305.html}
}""",
)
