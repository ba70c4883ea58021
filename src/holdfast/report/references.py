"""What to cite, and why."""

from collections.abc import Mapping

from holdfast.report.records import Reference

BIBTEX = {
    "nogueira2018": """@article{nogueira2018,
  author  = {Nogueira, Sarah and Sechidis, Konstantinos and Brown, Gavin},
  title   = {On the Stability of Feature Selection Algorithms},
  journal = {Journal of Machine Learning Research},
  volume  = {18},
  number  = {174},
  pages   = {1--54},
  year    = {2018},
  url     = {https://jmlr.org/papers/v18/17-514.html}
}""",
    "nogueira2016": """@inproceedings{nogueira2016,
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
    "kalousis2005": """@inproceedings{kalousis2005,
  author    = {Kalousis, Alexandros and Prados, Julien and Hilario, Melanie},
  title     = {Stability of Feature Selection Algorithms},
  booktitle = {Fifth IEEE International Conference on Data Mining (ICDM 2005)},
  pages     = {218--225},
  publisher = {IEEE},
  year      = {2005},
  doi       = {10.1109/ICDM.2005.135}
}""",
    "hamer2020": """@inproceedings{hamer2020,
  author    = {Hamer, Victor and Dupont, Pierre},
  title     = {Joint Optimization of Predictive Performance and Selection Stability},
  booktitle = {European Symposium on Artificial Neural Networks (ESANN 2020)},
  year      = {2020}
}""",
    "gulgezen2009": """@inproceedings{gulgezen2009,
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
    "nadeau2003": """@article{nadeau2003,
  author  = {Nadeau, Claude and Bengio, Yoshua},
  title   = {Inference for the Generalization Error},
  journal = {Machine Learning},
  volume  = {52},
  pages   = {239--281},
  year    = {2003},
  doi     = {10.1023/A:1024068626366}
}""",
}

TEXTS = {
    "nogueira2018": (
        "Nogueira, Sechidis and Brown (2018). On the stability of feature selection algorithms. JMLR 18(174).",
        "https://jmlr.org/papers/v18/17-514.html",
    ),
    "nogueira2016": (
        "Nogueira and Brown (2016). Measuring the stability of feature selection. ECML PKDD.",
        "https://doi.org/10.1007/978-3-319-46227-1_28",
    ),
    "kalousis2005": (
        "Kalousis, Prados and Hilario (2005). Stability of feature selection algorithms. ICDM.",
        "https://doi.org/10.1109/ICDM.2005.135",
    ),
    "hamer2020": (
        "Hamer and Dupont (2020). Joint optimization of predictive performance and selection stability. ESANN.",
        "",
    ),
    "gulgezen2009": (
        "Gulgezen, Cataltepe and Yu (2009). Stable and accurate feature selection. ECML PKDD.",
        "https://doi.org/10.1007/978-3-642-04180-8_47",
    ),
    "nadeau2003": (
        "Nadeau and Bengio (2003). Inference for the generalization error. Machine Learning 52.",
        "https://doi.org/10.1023/A:1024068626366",
    ),
}


def references(used: Mapping[str, str]) -> tuple[Reference, ...]:
    """All references, those that this study used first, with what for."""
    order = [*used, *(key for key in TEXTS if key not in used)]
    return tuple(
        Reference(key=key, text=TEXTS[key][0], link=TEXTS[key][1], bibtex=BIBTEX[key], used=used.get(key))
        for key in order
    )
