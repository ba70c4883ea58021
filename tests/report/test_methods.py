"""The methods paragraph carries the numbers of the plan: resamples, data, selectors, rule."""

import html

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import holdfast as hf
from holdfast import selectors
from holdfast.declared import About
from holdfast.io.table import make_table
from holdfast.report import render, summarize
from holdfast.study.exports import describe_resamples
from holdfast.study.plan import write_code
from holdfast.tradeoff import RULES

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(40, 6)), columns=[f"g{column}" for column in range(6)])
Y = np.repeat(["ill", "well"], [15, 25])


def run(perturbation, chosen=None, **options):
    return hf.Study(
        selectors=chosen or {"anova": selectors.AnovaF(2)}, perturbation=perturbation, random_state=3, **options
    ).run(X, Y)


def paragraph(result, **options):
    return summarize(result, **options).method.paragraph


@pytest.mark.parametrize(
    ("perturbation", "phrase"),
    [
        (hf.Bootstrap(3), "3 bootstrap samples of the data"),
        (hf.Bootstrap(3, stratify=True), "3 bootstrap samples of the data, stratified by class"),
        (hf.Subsample(3, fraction=0.625), "3 random subsamples of 62.5 % of the rows"),
        (hf.Folds(2, n_repeats=2), "the 4 training sets of 2-fold cross-validation, stratified by class"),
        (hf.NestedSubsamples(2, fractions=0.5), "2 bootstrap samples and parts of them (50 % and 100 %; 4 samples "
         "in all)"),
        (hf.Noise(2, scale=0.2, flip=0.1), "2 copies of the data with noise added (0.2 standard deviations; 10 % of "
         "the labels exchanged)"),
    ],
)  # fmt: skip
def test_resamples_are_described_with_their_parameters(perturbation, phrase):
    found = describe_resamples(run(perturbation))
    assert found == phrase


def test_a_phrase_may_name_any_parameter():
    about = About(name="a", summary="A.", methods="{n} parts ({shares:percent}){strict:if , strictly}{k:g}")
    assert about.phrase(n=3, shares=[0.1, 0.5], strict=True, k=2.0) == "3 parts (10 % and 50 %), strictly2"
    assert about.phrase(n=3, shares=0.1, strict=False, k=0.5) == "3 parts (10 %)0.5"


@pytest.mark.parametrize("methods", ["{unknown} parts", "{n:>999999999}", "{n.__class__}", "{0}", "{", "{n:percent}"])
def test_a_phrase_that_does_not_fit_stays_as_it_is(methods):
    assert About(name="a", summary="A.", methods=methods).phrase(n="3") == methods


def test_data_selectors_and_rule_are_described_with_their_numbers():
    chosen = {
        "anova": hf.Candidates(selectors.AnovaF(ties="lowest"), sizes=[2, 4]),
        "kbest": hf.Candidates(SelectKBest(), {"k": [1, 3]}),
    }
    given = {"estimator": LogisticRegression(), "covariates": ["g5"], "adjust": False}
    result = run(hf.Bootstrap(6, stratify=True), chosen, **given)
    said = paragraph(result, rule="at-least", stability=-0.5)
    assert "The data had 40 samples (15 of class ill, 25 of class well) and 5 features; the random seed was 3." in said
    assert "ANOVA F (the largest F statistics of an analysis of variance; ties lowest, 2 or 4 features)" in said
    assert "kbest (select k best; 1 or 3 features)" in said
    assert "Every model had the covariates g5." in said
    assert "among those whose stability is at least -0.5, by the lower end of its interval" in said
    assert "by a weighted sum of accuracy (25 %) and stability" in paragraph(result, rule="weighted", weight=0.25)
    assert RULES["weighted"].phrase("AUC").startswith("by a weighted sum of AUC (50 %)")


def test_what_was_done_to_the_data_is_said():
    notes = ("Filled 3 missing values with the median of the column: 'g0' (3).", "Left out 1 column: 'id'.")
    table = make_table(X, Y, "classification", target="status", notes=notes)
    result = hf.Study(selectors=[selectors.AnovaF(2)], perturbation=hf.Bootstrap(3), random_state=0).run(table)
    done = "filled 3 missing values with the median of the column: 'g0' (3); left out 1 column: 'id'"
    assert f"Preparation of the data: {done}." in paragraph(result)


def test_a_reference_is_cited_for_what_was_done_with_it():
    used = {found.key: found.used for found in summarize(run(hf.ComplementaryPairs(2))).references}
    assert used["shah2013"] == "4 random halves of the rows, in pairs that share no row"


def test_the_code_of_a_study_makes_the_same_study_again(tmp_path):
    study = hf.Study(
        {
            "best": make_pipeline(StandardScaler(), SelectKBest(f_classif, k=2)),
            "grid": hf.Candidates(selectors.HybridRFE(), {"C": [0.1, 1.0]}, sizes=[2, 3]),
            "own": selectors.Prefiltered(selectors.AnovaF(2), selectors.Variance(4)),
        },
        hf.Subsample(4, fraction=0.7), estimator=LogisticRegression(C=0.5), scoring=["accuracy", "roc_auc"],
        random_state=5,
    )  # fmt: skip
    result = study.run(X, Y, groups=np.arange(40) // 2, store=tmp_path / "s.db")
    (code,) = hf.load_study(tmp_path / "s.db").code
    assert "from sklearn.pipeline import Pipeline\n" in code
    made = {"X": X, "y": Y, "groups": np.arange(40) // 2}
    exec(code, made)
    assert made["result"].plan == result.plan
    assert made["result"].candidates == result.candidates
    assert write_code(made["study"], ["groups"]) == code
    page, text = (render(summarize(result), form) for form in ("html", "md"))
    assert f'<pre tabindex="0">{html.escape(code, quote=False)}</pre>'.replace("'", "&#39;") in page
    assert f"```python\n{code}\n```" in text


def test_code_says_where_it_does_not_know_a_value():
    splits = [(np.arange(30), np.arange(30, 40)), (np.arange(10, 40), np.arange(10))]
    result = run(splits, scoring={"own": lambda model, X, y: 1.0}, estimator=LogisticRegression())
    (code,) = result.code
    assert "scoring={'own': ...}" in code
    assert "..." in next(line for line in code.splitlines() if "perturbation=" in line)


def test_a_store_keeps_the_code_of_every_study_that_adds_to_it(tmp_path):
    for name, selector in (("f", selectors.AnovaF(2)), ("v", selectors.Variance(2)), ("f", selectors.AnovaF(2))):
        hf.Study({name: selector}, hf.Bootstrap(3)).run(X, Y, store=tmp_path / "s.db")
    codes = hf.load_study(tmp_path / "s.db").code
    assert ["Variance" in code for code in codes] == [False, True]
