"""Plans of the page: everything registered can be taken, becomes options of holdfast study, and nothing else does."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import holdfast as hf
from holdfast.cli import app
from holdfast.cli.options import parse_named
from holdfast.declared import About
from holdfast.models import MODELS, SCORES
from holdfast.resampling import PERTURBATIONS
from holdfast.selectors import SELECTORS, NamedSelector
from holdfast.study.named import named_selectors
from holdfast.web.forms import available_parts
from holdfast.web.pages.new import default_sizes
from holdfast.web.plans import Part, Plan, plan_options, show_command, to_toml
from holdfast.web.tables import TableQuery

TASKS = ("classification", "regression")
BOOTSTRAP = Part(name="bootstrap", parameters={"n_splits": "3"})


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A small table for each task."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    target = X[:, 0] + rng.normal(scale=0.5, size=60)
    folder = tmp_path_factory.mktemp("tables")
    for task in TASKS:
        column = [f"{value:.3f}" if task == "regression" else "ab"[int(value > 0)] for value in target]
        lines = [",".join([*(f"{value:.4f}" for value in row), y]) for row, y in zip(X, column, strict=True)]
        (folder / f"{task}.csv").write_text("\n".join(["a,b,c,d,e,f,y", *lines]))
    return folder


def estimate(tables, task, plan):
    """What a plan would cost, by the command that would run it."""
    options = plan_options(plan, available_parts(task, 2 * (task == "classification")))
    (tables / "plan.toml").write_text(to_toml({"target": "y", "data": f"{task}.csv", **options}))
    done = CliRunner().invoke(app, ["study", "--dry-run", "--json", "--quiet", f"--config={tables / 'plan.toml'}"])
    assert done.exit_code == 0, (options, done.output, done.exception)
    return json.loads(done.stdout)


@pytest.mark.parametrize("task", TASKS)
def test_holdfast_study_accepts_the_defaults_of_every_selector_that_serves_the_task(tables, task):
    offers = available_parts(task, 2 * (task == "classification"))
    taken = [offer.name for offer in offers.selectors]
    installed = {name: about for name, about in SELECTORS.abouts().items() if SELECTORS[name].installed}
    assert taken == [name for name, about in installed.items() if about.task in (None, task)]
    selectors = tuple(
        Part(name=offer.name, parameters={parameter.name: parameter.default for parameter in offer.parameters})
        for offer in offers.selectors
    )
    cost = estimate(tables, task, Plan(selectors=selectors, perturbation=BOOTSTRAP, sizes="1, 2"))
    assert cost["candidates"] == 2 * len(taken)
    one_by_one = Plan(selectors=tuple(Part(name=name) for name in taken), perturbation=BOOTSTRAP)
    assert estimate(tables, task, one_by_one)["candidates"] == len(taken)


@pytest.mark.parametrize("name", [name for name, about in PERTURBATIONS.abouts().items() if "sites" not in about.needs])
def test_holdfast_study_accepts_the_defaults_of_every_perturbation(tables, name):
    (offer,) = (offer for offer in available_parts("classification", 2).perturbations if offer.name == name)
    given = {parameter.name: parameter.default for parameter in offer.parameters}
    plan = Plan(selectors=(Part(name="anova"),), perturbation=Part(name=name, parameters=given), sizes="2")
    assert estimate(tables, "classification", plan)["splits"] == PERTURBATIONS[name]().get_n_splits()


@pytest.mark.parametrize(
    ("task", "name"),
    [(task, name) for task in TASKS for name, about in MODELS.abouts().items() if about.task in (None, task)],
)
def test_holdfast_study_accepts_every_model_and_every_score(tables, task, name):
    offers = available_parts(task, 2 * (task == "classification"))
    scores = tuple(offer.name for offer in offers.scores)
    assert set(scores) == {score for score, about in SCORES.abouts().items() if about.task in (None, task)}
    (model,) = (offer for offer in offers.models if offer.name == name)
    given = {parameter.name: parameter.default for parameter in model.parameters}
    first = offers.selectors[0].name
    plan = Plan(
        selectors=(Part(name=first),), perturbation=BOOTSTRAP, sizes="2", model=Part(name=name, parameters=given),
        scores=scores if name == "linear" else scores[:1],
    )  # fmt: skip
    assert estimate(tables, task, plan)["fits"] == 3


@pytest.mark.parametrize("task", TASKS)
def test_values_that_were_changed_are_read_back_as_they_were_typed(task):
    for offer in available_parts(task, 2).selectors:
        numbers = {parameter.name: "7" for parameter in offer.parameters if "number" in parameter.kind}
        plan = Plan(selectors=(Part(name=offer.name, parameters=numbers, own_size=True),), perturbation=BOOTSTRAP)
        (text,) = plan_options(plan, available_parts(task, 2))["select"]
        name, parameters = parse_named(text, "selector")
        assert name == offer.name
        assert {key: value for key, value in parameters.items() if key in numbers} == dict.fromkeys(numbers, 7)


def test_only_what_serves_the_number_of_classes_is_offered():
    two, three = ({offer.name for offer in available_parts("classification", n).selectors} for n in (2, 3))
    assert two - three == {name for name, about in SELECTORS.abouts().items() if "two classes" in about.needs}
    usual = {n: [offer.name for offer in available_parts("classification", n).scores if offer.chosen] for n in (2, 3)}
    assert usual == {2: ["roc_auc"], 3: ["balanced_accuracy"]}


def test_a_base_that_does_not_serve_the_task_is_replaced_by_one_that_does():
    def make(task: str, resolve, base: str = "anova"):
        """Make a selector around another one.

        Parameters
        ----------
        base : str
            Name of the selector.
        """
        return resolve(base)

    SELECTORS.add(NamedSelector(about=About(name="around", summary="Around another."), make=make))
    try:
        offers = available_parts("regression", 0)
        (offer,) = (offer for offer in offers.selectors if offer.name == "around")
        base = offer.parameter("base")
        assert base.default == base.choices[0] == "f_test"
        assert "anova" not in base.choices
        plan = Plan(selectors=(Part(name="around"),), perturbation=BOOTSTRAP)
        assert plan_options(plan, offers)["select"] == ["around:base=f_test"]
    finally:
        SELECTORS.remove("around")


def test_what_is_not_offered_is_said_with_what_to_do_about_it():
    assert available_parts("classification", 3).left_out == (
        "Not offered, as they are not for classes: F test, RReliefF, Cox score, Concordance, Cox lasso and Correlation."
    )
    said = available_parts("regression", 0).left_out
    assert said.startswith("Not offered, as they are not for numbers: ANOVA F, Signal-to-noise ratio, ")
    assert said.endswith(
        "Information gain and Symmetrical uncertainty take bins of the numbers by target_bins=, on the command line or "
        "in Python."
    )


@pytest.mark.parametrize("name", ["mrmr", "hybrid_rfe", "lasso", "information_gain:target_bins=3"])
def test_whole_numbers_are_numbers_to_selectors_that_are_named_where_numbers_are_predicted(name):
    kind, _, parameter = name.partition(":")
    given = {parameter.partition("=")[0]: 3} if parameter else {}
    (candidates,) = named_selectors("s", kind, {"n_features": 2, **given}, "regression").values()
    X, y = np.random.default_rng(0).normal(size=(40, 5)), np.arange(40)
    with warnings.catch_warnings(action="ignore"):
        result = hf.Study(selectors={"s": candidates}, perturbation=hf.Bootstrap(3), task="regression").run(X, y)
    assert result.failures.empty
    with pytest.raises(ValueError, match=r"got 'information_gain', .* classification; .*target_bins=4 takes bins"):
        named_selectors("s", "information_gain", {}, "regression")


def test_a_selector_of_a_plug_in_is_offered_with_its_words_and_parameters():
    def make(n_features=10, power: float = 2.0):
        """Make a filter.

        Parameters
        ----------
        n_features : int
            Number of features to select.
        power : float
            Exponent of ``"everything"``; see :class:`~holdfast.selectors.AnovaF`.
        """
        return SELECTORS["anova"].make(n_features)

    SELECTORS.add(NamedSelector(about=About(name="plugged", summary="From a package; power=3 is wild."), make=make))
    try:
        (offer,) = (offer for offer in available_parts("regression", 0).selectors if offer.name == "plugged")
        assert (offer.label, offer.summary) == ("Plugged", "From a package.")
        power = offer.parameter("power")
        assert (power.default, power.kind) == ("2.0", "number")
        assert power.meaning == "Exponent of everything; see AnovaF."
        plan = Plan(selectors=(Part(name="plugged", parameters={"power": "3"}),), perturbation=BOOTSTRAP, sizes="4")
        assert plan_options(plan, available_parts("regression", 0))["select"] == ["plugged:power=3,sizes=4"]
    finally:
        SELECTORS.remove("plugged")


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"n_features": "os.system"}, "whole number"),
        ({"n_features": "1,random_state=5"}, "whole number"),
        ({"n_features": "10:ties=lowest"}, "whole number"),
        ({"n_features": "1.5"}, "whole number"),
        ({"n_features": "٣"}, "whole number"),
        ({"n_features": "9" * 30}, "whole number"),
        ({"ties": "sklearn.svm.SVC"}, "one of auto, random, lowest"),
        ({"ties": "auto,memory=/tmp/x"}, "one of auto, random, lowest"),
        ({"ties": "--help"}, "one of auto, random, lowest"),
        ({"memory": "/tmp/cache"}, "got 'memory'"),
        ({"random_state": "1"}, "got 'random_state'"),
        ({"sizes": "5"}, "got 'sizes'"),
        ({"keep": "weights"}, "got 'keep'"),
        ({"k": "5"}, "got 'k'"),
        ({"n_features\0": "5"}, "got 'n_features"),
    ],
)
def test_a_hostile_value_of_a_parameter_is_one_sentence(parameters, sentence):
    plan = Plan(selectors=(Part(name="anova", parameters=parameters),), perturbation=BOOTSTRAP)
    with pytest.raises(ValueError, match=sentence):
        plan_options(plan, available_parts("classification", 2))


@pytest.mark.parametrize("value", ["os.system", "a:b", "a,b", "a=b", "/etc/passwd", "é", "nan", "x" * 100, "a\nb.c"])
def test_a_word_holds_letters_digits_and_dashes_only(value):
    plan = Plan(selectors=(Part(name="hybrid_rfe", parameters={"criterion": value}),), perturbation=BOOTSTRAP)
    with pytest.raises(ValueError, match="Expected a number or a word"):
        plan_options(plan, available_parts("classification", 2))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"selectors": ()}, "at least one selector"),
        ({"selectors": (Part(name="anova"), Part(name="anova"))}, "every selector once"),
        ({"selectors": (Part(name="sklearn.feature_selection.SelectFpr"),)}, "got 'sklearn.feature_selection"),
        ({"selectors": (Part(name="anvoa"),)}, "did you mean 'anova'"),
        ({"selectors": (Part(name="correlation"),)}, "for these data"),
        ({"perturbation": Part(name="bootstrap:n_splits=5")}, "way to make resamples"),
        ({"perturbation": Part(name="bootstrap", parameters={"n_splits": "5 6"})}, "one value"),
        ({"model": Part(name="sklearn.svm.SVC")}, "a model for these data"),
        ({"model": Part(name="svm", parameters={"C": "0,5"})}, "decimals are written with a point"),
        ({"scores": ("accuracy",)}, "needs a model"),
        ({"model": Part(name="knn"), "scores": ("os.system",)}, "a score for these data"),
        ({"sizes": "5, many"}, "whole numbers of features, such as 5, 10, 20"),
        ({"sizes": "0"}, "whole numbers of features"),
        ({"sizes": " ".join(map(str, range(1, 60)))}, "at most 50"),
        ({"seed": -1}, "the seed to be from 0"),
        ({"time_limit": 0.0}, "a time limit above 0"),
        ({"time_limit": float("nan")}, "a time limit above 0"),
    ],
)
def test_a_wrong_plan_is_one_sentence(change, sentence):
    plan = {"selectors": (Part(name="anova"),), "perturbation": BOOTSTRAP, **change}
    with pytest.raises(ValueError, match=sentence):
        plan_options(Plan(**plan), available_parts("classification", 2))


def test_options_of_reading_cannot_become_others():
    options = {"target": "--store=/etc/passwd", "ignore": ("-x", "a,b"), "transpose": True, "groups": "", "sep": "|"}
    assert show_command(options, "my data.csv") == (
        "holdfast study --target=--store=/etc/passwd --ignore=-x --ignore=a,b --transpose '--sep=|' -- 'my data.csv'"
    )
    for text in ("a\0b", "\ud800", "x" * 3000):
        with pytest.raises(ValueError, match="common characters"):
            TableQuery(target=text).options()


def test_forms_are_built_once_as_long_as_the_registries_stay_the_same():
    assert available_parts("classification", 2) is available_parts("classification", 2)
    assert available_parts("classification", 2) is not available_parts("classification", 3)
    before, things = available_parts("classification", 2), {name: SELECTORS[name] for name in SELECTORS}
    known = things["relieff"]
    SELECTORS.remove("relieff")
    try:
        SELECTORS.add(replace(known, about=replace(known.about, label="Another ReliefF")))
        labels = {part.name: part.label for part in available_parts("classification", 2).selectors}
        assert labels["relieff"] == "Another ReliefF"
    finally:
        for name in things:  # in the order that documentation lists them
            SELECTORS.remove(name)
            SELECTORS.add(things[name])
    assert {part.name for part in before.selectors} == set(labels)


@pytest.mark.parametrize(
    ("features", "sizes"), [(1, [1]), (5, [1, 2]), (30, [3, 5, 10]), (100, [5, 10, 20]), (20000, [10, 20, 50])]
)
def test_sizes_to_begin_with_suit_the_number_of_features(features, sizes):
    assert default_sizes(features) == sizes


def test_options_of_a_stored_command_survive_as_toml():
    import tomllib

    options = {
        "target": 'a "quoted" \\ name\n\x7f=1\t🙂', "select": {"my own": "anova:k=2", "b": "lasso"}, "seed": 0,
        "cap": None, "until": 0.05, "transpose": True, "ignore": ["x,y", "-z"],
    }  # fmt: skip
    assert tomllib.loads(to_toml(options)) == {key: value for key, value in options.items() if value is not None}


@pytest.mark.parametrize("base", ["correlation", "rfe"])
def test_groups_are_chosen_by_a_base_whatever_it_calls_its_number_of_features(tables, base):
    plan = Plan(selectors=(Part(name="grouped", parameters={"base": base}),), perturbation=BOOTSTRAP, sizes="1, 2")
    assert estimate(tables, "regression", plan)["candidates"] == 2
