"""The publications that measures come from, added to :data:`holdfast.references.REFERENCES`."""

from holdfast.references import REFERENCES, Publication


def _add(key: str, kind: str, text: str, **fields: str) -> None:
    """Add a publication with a BibTeX entry made of these fields."""
    width = max(map(len, fields))
    lines = "".join(f",\n  {name:<{width}} = {{{value}}}" for name, value in fields.items())
    link = f"https://doi.org/{fields['doi']}" if "doi" in fields else fields.get("url", "")
    REFERENCES.add(Publication(key=key, text=text, link=link, bibtex=f"@{kind}{{{key}{lines}\n}}"))


_add(
    "dunne2002",
    "techreport",
    "Dunne, Cunningham and Azuaje (2002). Solutions to instability problems with sequential wrapper-based approaches "
    "to feature selection. Technical report, Trinity College Dublin.",
    author="Dunne, Kevin and Cunningham, P{\\'a}draig and Azuaje, Francisco",
    title="Solutions to Instability Problems with Sequential Wrapper-based Approaches to Feature Selection",
    institution="Trinity College Dublin, School of Computer Science",
    number="TCD-CS-2002-28",
    year="2002",
)
_add(
    "yu2008",
    "inproceedings",
    "Yu, Ding and Loscalzo (2008). Stable feature selection via dense feature groups. KDD.",
    author="Yu, Lei and Ding, Chris and Loscalzo, Steven",
    title="Stable Feature Selection via Dense Feature Groups",
    booktitle="ACM SIGKDD International Conference on Knowledge Discovery and Data Mining (KDD 2008)",
    year="2008",
)
_add(
    "zucknick2008",
    "article",
    "Zucknick, Richardson and Stronach (2008). Comparing the characteristics of gene expression profiles derived by "
    "univariate and multivariate classification methods. SAGMB 7(1).",
    author="Zucknick, Manuela and Richardson, Sylvia and Stronach, Euan A.",
    title="Comparing the Characteristics of Gene Expression Profiles Derived by Univariate and Multivariate "
    "Classification Methods",
    journal="Statistical Applications in Genetics and Molecular Biology",
    volume="7",
    number="1",
    year="2008",
    doi="10.2202/1544-6115.1307",
)
_add(
    "shi2006",
    "article",
    "Shi et al. (2006). The MicroArray Quality Control (MAQC) project shows inter- and intraplatform reproducibility "
    "of gene expression measurements. Nature Biotechnology 24(9).",
    author="Shi, Leming and Reid, Laura H. and Jones, Wendell D. and others",
    title="The {MicroArray} Quality Control ({MAQC}) Project Shows Inter- and Intraplatform Reproducibility of Gene "
    "Expression Measurements",
    journal="Nature Biotechnology",
    volume="24",
    number="9",
    pages="1151--1161",
    year="2006",
)
_add(
    "kuncheva2007",
    "inproceedings",
    "Kuncheva (2007). A stability index for feature selection. Artificial Intelligence and Applications.",
    author="Kuncheva, Ludmila I.",
    title="A Stability Index for Feature Selection",
    booktitle="Artificial Intelligence and Applications (AIA 2007)",
    pages="390--395",
    year="2007",
)
_add(
    "lustgarten2009",
    "inproceedings",
    "Lustgarten, Gopalakrishnan and Visweswaran (2009). Measuring stability of feature selection in biomedical "
    "datasets. AMIA Annual Symposium.",
    author="Lustgarten, Jonathan L. and Gopalakrishnan, Vanathi and Visweswaran, Shyam",
    title="Measuring Stability of Feature Selection in Biomedical Datasets",
    booktitle="AMIA Annual Symposium Proceedings",
    pages="406--410",
    year="2009",
)
_add(
    "wald2013",
    "inproceedings",
    "Wald, Khoshgoftaar and Napolitano (2013). Stability of filter- and wrapper-based feature subset selection. ICTAI.",
    author="Wald, Randall and Khoshgoftaar, Taghi M. and Napolitano, Amri",
    title="Stability of Filter- and Wrapper-based Feature Subset Selection",
    booktitle="IEEE International Conference on Tools with Artificial Intelligence (ICTAI 2013)",
    year="2013",
    doi="10.1109/ICTAI.2013.63",
)
_add(
    "zhang2009",
    "article",
    "Zhang et al. (2009). Evaluating reproducibility of differential expression discoveries in microarray studies by "
    "considering correlated molecular changes. Bioinformatics 25(13).",
    author="Zhang, Min and Zhang, Lin and Zou, Jinfeng and others",
    title="Evaluating Reproducibility of Differential Expression Discoveries in Microarray Studies by Considering "
    "Correlated Molecular Changes",
    journal="Bioinformatics",
    volume="25",
    number="13",
    pages="1662--1668",
    year="2009",
    doi="10.1093/bioinformatics/btp295",
)
_add(
    "carletta1996",
    "article",
    "Carletta (1996). Assessing agreement on classification tasks: the kappa statistic. "
    "Computational Linguistics 22(2).",
    author="Carletta, Jean",
    title="Assessing Agreement on Classification Tasks: The Kappa Statistic",
    journal="Computational Linguistics",
    volume="22",
    number="2",
    pages="249--254",
    year="1996",
)
_add(
    "bommert2020",
    "inproceedings",
    "Bommert and Rahnenführer (2020). Adjusted measures for feature selection stability for data sets with similar "
    "features. LOD.",
    author='Bommert, Andrea and Rahnenf{\\"u}hrer, J{\\"o}rg',
    title="Adjusted Measures for Feature Selection Stability for Data Sets with Similar Features",
    booktitle="Machine Learning, Optimization, and Data Science (LOD 2020)",
    year="2020",
    url="https://arxiv.org/abs/2009.12075",
)
_add(
    "goh2016",
    "article",
    "Goh and Wong (2016). Evaluating feature-selection stability in next-generation proteomics. JBCB 14(5).",
    author="Goh, Wilson Wen Bin and Wong, Limsoon",
    title="Evaluating Feature-selection Stability in Next-generation Proteomics",
    journal="Journal of Bioinformatics and Computational Biology",
    volume="14",
    number="5",
    pages="1650029",
    year="2016",
)
_add(
    "davis2006",
    "article",
    "Davis et al. (2006). Reliable gene signatures for microarray classification: assessment of stability and "
    "performance. Bioinformatics 22(19).",
    author="Davis, Chad A. and Gerick, Fabian and Hintermair, Volker and others",
    title="Reliable Gene Signatures for Microarray Classification: Assessment of Stability and Performance",
    journal="Bioinformatics",
    volume="22",
    number="19",
    pages="2356--2363",
    year="2006",
    doi="10.1093/bioinformatics/btl400",
)
_add(
    "krizek2007",
    "inproceedings",
    "Křížek, Kittler and Hlaváč (2007). Improving stability of feature selection methods. CAIP.",
    author="K{\\v{r}}{\\'i}{\\v{z}}ek, Pavel and Kittler, Josef and Hlav{\\'a}{\\v{c}}, V{\\'a}clav",
    title="Improving Stability of Feature Selection Methods",
    booktitle="Computer Analysis of Images and Patterns (CAIP 2007)",
    series="Lecture Notes in Computer Science",
    volume="4673",
    pages="929--936",
    year="2007",
)
_add(
    "guzman2011",
    "inproceedings",
    "Guzmán-Martínez and Alaiz-Rodríguez (2011). Feature selection stability assessment based on the Jensen-Shannon "
    "divergence. ECML PKDD.",
    author="Guzm{\\'a}n-Mart{\\'i}nez, Roberto and Alaiz-Rodr{\\'i}guez, Roc{\\'i}o",
    title="Feature Selection Stability Assessment Based on the {Jensen-Shannon} Divergence",
    booktitle="Machine Learning and Knowledge Discovery in Databases (ECML PKDD 2011)",
    pages="597--612",
    year="2011",
)
_add(
    "somol2010",
    "article",
    "Somol and Novovičová (2010). Evaluating stability and comparing output of feature selectors that optimize feature "
    "subset cardinality. IEEE TPAMI 32(11).",
    author="Somol, Petr and Novovi{\\v{c}}ov{\\'a}, Jana",
    title="Evaluating Stability and Comparing Output of Feature Selectors that Optimize Feature Subset Cardinality",
    journal="IEEE Transactions on Pattern Analysis and Machine Intelligence",
    volume="32",
    number="11",
    pages="1921--1939",
    year="2010",
    doi="10.1109/TPAMI.2010.34",
)
_add(
    "lausser2013",
    "article",
    "Lausser et al. (2013). Measuring and visualizing the stability of biomarker selection techniques. "
    "Computational Statistics 28(1).",
    author='Lausser, Ludwig and M{\\"u}ssel, Christoph and Maucher, Markus and Kestler, Hans A.',
    title="Measuring and Visualizing the Stability of Biomarker Selection Techniques",
    journal="Computational Statistics",
    volume="28",
    number="1",
    pages="51--65",
    year="2013",
)
_add(
    "novovicova2009",
    "inproceedings",
    "Novovičová, Somol and Pudil (2009). A new measure of feature selection algorithms' stability. ICDM Workshops.",
    author="Novovi{\\v{c}}ov{\\'a}, Jana and Somol, Petr and Pudil, Pavel",
    title="A New Measure of Feature Selection Algorithms' Stability",
    booktitle="IEEE International Conference on Data Mining Workshops (ICDMW 2009)",
    year="2009",
    doi="10.1109/ICDMW.2009.32",
)
_add(
    "kendall1945",
    "article",
    "Kendall (1945). The treatment of ties in ranking problems. Biometrika 33(3).",
    author="Kendall, Maurice G.",
    title="The Treatment of Ties in Ranking Problems",
    journal="Biometrika",
    volume="33",
    number="3",
    pages="239--251",
    year="1945",
)
_add(
    "jurman2008",
    "article",
    "Jurman et al. (2008). Algebraic stability indicators for ranked lists in molecular profiling. "
    "Bioinformatics 24(2).",
    author="Jurman, Giuseppe and Merler, Stefano and Barla, Annalisa and others",
    title="Algebraic Stability Indicators for Ranked Lists in Molecular Profiling",
    journal="Bioinformatics",
    volume="24",
    number="2",
    pages="258--264",
    year="2008",
)
_add(
    "webber2010",
    "article",
    "Webber, Moffat and Zobel (2010). A similarity measure for indefinite rankings. ACM TOIS 28(4).",
    author="Webber, William and Moffat, Alistair and Zobel, Justin",
    title="A Similarity Measure for Indefinite Rankings",
    journal="ACM Transactions on Information Systems",
    volume="28",
    number="4",
    year="2010",
)
_add(
    "nogueira2018thesis",
    "phdthesis",
    "Nogueira (2018). Quantifying the stability of feature selection. PhD thesis, University of Manchester.",
    author="Nogueira, Sarah",
    title="Quantifying the Stability of Feature Selection",
    school="University of Manchester",
    year="2018",
)
_add(
    "yu2012",
    "article",
    "Yu, Han and Berens (2012). Stable gene selection from microarray data via sample weighting. IEEE/ACM TCBB 9(1).",
    author="Yu, Lei and Han, Yue and Berens, Michael E.",
    title="Stable Gene Selection from Microarray Data via Sample Weighting",
    journal="IEEE/ACM Transactions on Computational Biology and Bioinformatics",
    volume="9",
    number="1",
    pages="262--272",
    year="2012",
    doi="10.1109/TCBB.2011.47",
)
_add(
    "sechidis2020",
    "inproceedings",
    "Sechidis et al. (2020). On the stability of feature selection in the presence of feature correlations. ECML PKDD.",
    author="Sechidis, Konstantinos and Papangelou, Konstantinos and Nogueira, Sarah and Weatherall, James "
    "and Brown, Gavin",
    title="On the Stability of Feature Selection in the Presence of Feature Correlations",
    booktitle="Machine Learning and Knowledge Discovery in Databases (ECML PKDD 2019)",
    pages="327--342",
    publisher="Springer",
    year="2020",
    doi="10.1007/978-3-030-46150-8_20",
)
