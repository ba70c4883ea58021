"""Everything with a name is declared once: command line, studies, reports and docs read the records."""

import inspect
import json
import os
import re
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectKBest, SelectorMixin
from sklearn.metrics import balanced_accuracy_score, make_scorer
from sklearn.naive_bayes import GaussianNB
from typer.testing import CliRunner

import holdfast as hf
from holdfast.cli import app, records
from holdfast.cli.records import HOMES, registry
from holdfast.declared import About, Registry, describe_parameters, did_you_mean, is_about
from holdfast.models import MODELS, SCORES, Model, Score
from holdfast.references import REFERENCES, Publication
from holdfast.report import render, summarize
from holdfast.resampling import PERTURBATIONS, Perturbation
from holdfast.resampling.split import split_of_rows
from holdfast.selectors import SELECTORS, NamedSelector
from holdfast.selectors.base import Selector, Serves
from holdfast.study.plan import describe
from holdfast.study.store import read_meta
from holdfast.tradeoff.rules import RULES, Decision, rule

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :8]
KINDS = sorted(HOMES)
DOCS = Path(__file__).parents[2] / "docs"


def cli(*arguments):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "400"})
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


@pytest.fixture
def own():
    """One of each kind, registered as a user would, and forgotten afterwards."""
    REFERENCES.add(Publication(key="own2026", text="Own (2026). A rule.", bibtex="@misc{own2026, title = {A rule}}"))

    @rule("cheapest", summary="Fewest features.", methods="as the one with the fewest features", reference="own2026")
    def cheapest(points):
        chosen = points.frame["size"].idxmin()
        return Decision(chosen, f"{chosen} selects the fewest features.", {})

    @PERTURBATIONS.add
    @dataclass(frozen=True)
    class LeaveSomeOut(Perturbation):
        """Leave some rows out."""

        about = About(
            name="leave-some-out",
            summary="Leave some rows out.",
            methods="{n} data sets without some of the rows",
            caution="These resamples are nearly the data themselves.",
            reference="own2026",
        )
        n_splits: int = 10
        random_state: int | None = field(default=None, repr=False)

        def make_split(self, index, samples, seed):
            left_out = np.random.default_rng([seed, index]).integers(samples.n, size=samples.n // 5)
            rows = np.setdiff1d(np.arange(samples.n), left_out)
            return split_of_rows(f"without {index}", index, samples, seed, rows)

    @SELECTORS.add
    class FirstColumns(SelectorMixin, BaseEstimator):
        """Select the first columns.

        Parameters
        ----------
        n_features : int
            How many.
        """

        about = About(
            name="first_columns", summary="The first columns.", methods="the order of columns", reference="own2026"
        )

        def __init__(self, n_features=3):
            self.n_features = n_features

        def fit(self, X, y):
            self.n_features_in_ = X.shape[1]
            return self

        def _get_support_mask(self):
            return np.arange(self.n_features_in_) < self.n_features

    SCORES.add(
        Score(
            about=About(name="fairness", summary="Balanced accuracy again.", methods="fairness to classes"),
            scorer=make_scorer(balanced_accuracy_score),
        )
    )
    MODELS.add(Model(about=About(name="bayes", summary="Naive Bayes.", methods="naive Bayes"), make=GaussianNB))
    yield
    for known, name in (
        (RULES, "cheapest"), (PERTURBATIONS, "leave-some-out"), (SELECTORS, "first_columns"), (SCORES, "fairness"),
        (MODELS, "bayes"), (REFERENCES, "own2026"),
    ):  # fmt: skip
        known.remove(name)


def test_one_s_own_are_in_the_help_and_in_the_lists(own):
    text = cli("study", "--help")
    for name in ("first_columns", "leave-some-out", "fairness", "bayes"):
        assert name in text
    assert "cheapest" in cli("choose", "--help")
    assert "Fewest features." in cli("rules")
    (shown,) = json.loads(cli("selectors", "first-columns", "--json"))["selectors"]
    assert shown["parameters"] == {"n_features": {"default": 3, "meaning": "How many."}}
    assert "leave-some-out" not in cli("choose", "--help")


def test_one_s_own_run_in_a_study_and_are_told_in_its_report(own, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X.assign(ill=Y).to_csv("data.csv", index=False)
    cli(
        "study", "data.csv", "--target", "ill", "-s", "first-columns:k=2|4", "--perturb", "leave_some_out", "-n", 6,
        "--estimator", "bayes", "--score", "fairness", "--store", "s.db", "--quiet",
    )  # fmt: skip
    result = hf.load_study("s.db")
    assert result.metrics == ["fairness"]
    assert result.choose("cheapest").candidate == "first-columns(n_features=2)"
    summary = summarize(result, rule="cheapest")
    assert "6 data sets without some of the rows" in summary.method.paragraph
    assert "The selector was first-columns (the order of columns; 2 or 4 features)." in summary.method.paragraph
    assert "fairness to classes" in summary.method.paragraph
    assert "chosen as the one with the fewest features" in summary.method.paragraph
    assert "These resamples are nearly the data themselves." in summary.verdict.cautions
    cited = {reference.key: reference.used for reference in summary.references if reference.used}
    assert cited["own2026"] == "the rule of the choice"
    assert "Own (2026). A rule." in render(summary, "md")
    assert "cheapest" in cli("choose", "s.db", "--rule", "cheapest")


def test_a_report_speaks_of_what_ran_even_where_it_is_not_registered(own, tmp_path):
    store = tmp_path / "s.db"
    selector, perturbation = SELECTORS["first_columns"].make(2), PERTURBATIONS["leave-some-out"](4)
    hf.Study(selectors={"first": selector}, perturbation=perturbation, estimator=GaussianNB()).run(X, Y, store=store)
    SELECTORS.remove("first_columns")
    PERTURBATIONS.remove("leave-some-out")
    try:
        paragraph = summarize(hf.load_study(store)).method.paragraph
        assert "4 data sets without some of the rows" in paragraph
    finally:
        SELECTORS.add(type(selector))
        PERTURBATIONS.add(type(perturbation))


def test_installed_packages_register_what_they_offer_before_names_are_looked_up(monkeypatch):
    about = About(name="plugged", summary="From a package.", methods="a package's filter", needs=("classes",))
    offered = SimpleNamespace(load=lambda: SELECTORS.add(NamedSelector(about=about, make=SELECTORS["anova"].make)))
    monkeypatch.setattr(records, "entry_points", lambda group: [offered] if group == "holdfast" else [])
    records.load_plugins.cache_clear()
    try:
        found = json.loads(
            cli("study", "breast_cancer", "-s", "plugged:k=2", "-n", 3, "--no-store", "--json", "--quiet")
        )
        assert [row["candidate"] for row in found["candidates"]] == ["plugged"]
    finally:
        SELECTORS.remove("plugged")
        records.load_plugins.cache_clear()


@pytest.mark.parametrize("kind", KINDS)
def test_every_record_is_complete(kind):
    known = registry(kind)
    for name, about in known.abouts().items():
        assert about.name == name
        assert about.summary, name
        assert is_about(json.loads(json.dumps(about.to_dict())))
        assert About.from_dict(about.to_dict()) == about
        assert about.reference is None or about.reference in REFERENCES, name
        if kind != "measures":
            assert about.methods, name


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("measures", "scores")])
def test_every_parameter_says_what_it_means(kind):
    for name, thing in registry(kind).items():
        parameters = describe_parameters(thing) if isinstance(thing, type) else thing.parameters
        for parameter, facts in parameters.items():
            if kind != "models" or thing.make is not GaussianNB:
                assert facts.meaning, (name, parameter)


@pytest.mark.parametrize("record", SELECTORS.values(), ids=lambda record: record.about.name)
def test_what_a_selector_needs_is_what_its_tags_say(record):
    if inspect.isclass(record.make) and issubclass(record.make, Selector):
        tags = record.make().__sklearn_tags__()
        two = tags.classifier_tags is not None and not tags.classifier_tags.multi_class
        assert ("two classes" in record.about.needs) == two
        assert (record.about.task == "classification") <= record.make.needs_classes


@pytest.mark.parametrize("record", SELECTORS.values(), ids=lambda record: record.about.name)
def test_what_a_selector_needs_follows_from_what_it_serves(record):
    serves, tasks = record.serves, record.about.tasks
    assert record.about.needs == serves.needs
    assert bool(serves.two_classes) == bool(serves.more_classes) == ("classification" in tasks)
    assert bool(serves.numbers) == ("regression" in tasks or bool(serves.numbers_by))
    assert serves.numbers_by in ("", *record.parameters)
    assert bool(serves.survival) == ("survival" in tasks)


def test_names_are_found_however_hyphens_are_written_and_hints_help():
    assert RULES["one_se"] is RULES["one-se"]
    assert "one_se" in RULES
    with pytest.raises(
        ValueError, match=r"Expected a rule \(accuracy, one-se, .*\), got 'one-es'; did you mean 'one-se'\?"
    ):
        RULES.find("one-es")
    assert (
        did_you_mean("Charge", ["sex", "Charge=A long name", "Charge=B, as long"])
        == "; did you mean 'Charge=A long name'?"
    )
    assert did_you_mean("", ["age"]) == did_you_mean("zz", ["age"]) == "."
    with pytest.raises(KeyError, match=r"Expected the name of a rule, got 'best'\. holdfast.tradeoff.RULES lists them"):
        RULES["best"]
    with pytest.raises(ValueError, match="Expected a new name for a rule, got 'one-se', which is taken"):
        RULES.add(RULES["one_se"])
    assert repr(Registry("rule", [RULES["knee"]])) == f"knee  {RULES['knee'].about.summary}"


def doc_table(kind):
    """The table of a kind of thing as docs/names.md must show it."""
    rows = ["| name | what it is | needs | parameters |", "|---|---|---|---|"]
    if kind == "selectors":
        rows = ["| name | class | what it is | needs | parameters |", "|---|---|---|---|---|"]
    for name, thing in registry(kind).items():
        about = registry(kind).about(thing)
        hidden = ("random_state",)
        facts = describe_parameters(thing, hidden) if isinstance(thing, type) else getattr(thing, "parameters", {})
        parameters = ", ".join(f"`{parameter}`" for parameter in facts)
        blocks = [f"`{kind.__name__}` ({exactness})" for kind, exactness in getattr(thing, "recognized", {}).items()]
        words = f" In blocks: {', '.join(blocks)}." if blocks else ""
        summary = f"{about.summary}{words}".replace("|", "\\|")
        classes = [made.__name__ for made in getattr(thing, "classes", ()) if made.__module__.startswith("holdfast.")]
        column = f" {''.join(f'`{made}`' for made in classes)} |" if kind == "selectors" else ""
        rows.append(f"| `{name}` |{column} {summary} | {', '.join(about.needs)} | {parameters} |")
    return "\n".join(rows)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "measures"])
def test_the_documentation_s_tables_are_the_records(kind):
    page = DOCS / "names.md"
    pattern = rf"(<!-- {kind} -->\n\n).*?(\n\n<!-- end -->)"
    text = page.read_text(encoding="utf-8")
    expected = re.sub(pattern, lambda found: found[1] + doc_table(kind) + found[2], text, count=1, flags=re.DOTALL)
    if os.environ.get("HOLDFAST_WRITE_DOCS"):
        page.write_text(expected, encoding="utf-8")
    assert re.search(pattern, text, flags=re.DOTALL)
    assert expected == page.read_text(encoding="utf-8"), (
        "run HOLDFAST_WRITE_DOCS=1 pytest tests/project/test_declared.py"
    )


def test_the_documentation_says_what_every_selector_does_for_every_target():
    page = DOCS / "selectors.md"
    kinds = Serves._fields[:4]
    heads = ["selector", *(kind.replace("_", " ") for kind in kinds)]
    rows = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for name, record in SELECTORS.items():
        done = dict(zip(kinds, record.serves, strict=False))
        done["numbers"] = (
            f"with `{needed}`: {done['numbers']}" if (needed := record.serves.numbers_by) else done["numbers"]
        )
        rows.append(f"| `{name}` | {' | '.join(text or '–' for text in done.values())} |")
    pattern = r"(<!-- targets -->\n\n).*?(\n\n<!-- end -->)"
    text = page.read_text(encoding="utf-8")
    expected = re.sub(pattern, lambda found: found[1] + "\n".join(rows) + found[2], text, count=1, flags=re.DOTALL)
    if os.environ.get("HOLDFAST_WRITE_DOCS"):
        page.write_text(expected, encoding="utf-8")
    assert re.search(pattern, text, flags=re.DOTALL)
    assert expected == page.read_text(encoding="utf-8"), (
        "run HOLDFAST_WRITE_DOCS=1 pytest tests/project/test_declared.py"
    )


def test_the_names_in_help_texts_are_those_of_the_registries():
    path = Path(records.__file__).with_name("names.toml")
    lines = ["# The names of every registry, for help texts and completions, which cannot wait until it is imported.",
             "# HOLDFAST_WRITE_DOCS=1 pytest tests/project/test_declared.py writes them anew.", ""]  # fmt: skip
    expected = "\n".join([*lines, *(f"{kind} = {json.dumps(list(registry(kind)))}" for kind in HOMES), ""])
    if os.environ.get("HOLDFAST_WRITE_DOCS"):
        path.write_text(expected, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == expected, (
        "run HOLDFAST_WRITE_DOCS=1 pytest tests/project/test_declared.py"
    )


@pytest.mark.parametrize("values", [None, {}, {"name": "a"}, {**About(name="a", summary="b").to_dict(), "needs": [1]}])
def test_what_is_no_record_is_told(values):
    assert not is_about(values)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: hf.Study(selectors=[hf.selectors.AnovaF()], perturbation="bootstrap"), r"write hf\.Bootstrap\(\)"),
        (
            lambda: hf.Study(selectors=[hf.selectors.AnovaF()], perturbation=hf.Bootstrap),
            r"got the class; write Bootstrap\(\)",
        ),
        (lambda: hf.Study(selectors=[hf.selectors.AnovaF()], perturbation="boot"), "Expected a perturbation such as"),
        (
            lambda: hf.Study(selectors=[hf.selectors.AnovaF()], estimator="knn"),
            "as estimator=, got 'knn'; the command line",
        ),
        (
            lambda: hf.Study(selectors=[hf.selectors.AnovaF()], estimator=GaussianNB),
            "make one of it by calling the class",
        ),
        (lambda: RULES["weighted"].check({"weight": "x"}), "Expected a number for weight of rule weighted, got 'x'"),
        (lambda: RULES["at-least"].decide(None, 75), "Expected a stability of at most 1, got 75"),
    ],
)
def test_a_name_or_a_class_in_the_place_of_an_object_gets_a_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# Former names


def test_parameters_and_attributes_may_be_named_as_before_for_a_version():
    with pytest.warns(FutureWarning, match=r"^keep= is now covariates=; the former name is gone in holdfast 0\.\d\.$"):
        study = hf.Study([SelectKBest(k=2)], estimator=GaussianNB(), keep=["a"])
    assert study.covariates == ["a"]
    with pytest.warns(FutureWarning, match=r"^\.keep is now \.covariates"):
        assert study.keep == ["a"]
    with pytest.raises(TypeError, match="keep"):
        hf.Study([SelectKBest(k=2)], estimator=GaussianNB(), keep=["a"], covariates=["b"])
    with pytest.warns(FutureWarning, match="keep="), pytest.raises(ValueError, match="covariates="):
        hf.optimize(SelectKBest(), {"k": [1, 2]}, X, Y, keep=["mean radius"])
    with pytest.warns(FutureWarning, match="n_halvings= is now n_pairs="), pytest.raises(ValueError, match="n_pairs"):
        hf.replicability(SelectKBest(), X, Y, n_halvings=1)


def test_split_halves_may_be_named_as_before_and_have_their_former_name_in_plans():
    with pytest.warns(FutureWarning, match=r"^resampling\.Halvings is now resampling\.SplitHalves"):
        Halvings = hf.resampling.Halvings
    with pytest.warns(FutureWarning, match="n_halvings= is now n_pairs="):
        given = Halvings(n_halvings=3)
    assert given == hf.resampling.SplitHalves(3)
    with pytest.warns(FutureWarning, match="^halvings is now split_halves"):
        assert PERTURBATIONS["halvings"] is hf.resampling.SplitHalves
    assert given.identity() == {"perturbation": "Halvings", "stratify": True}
    state = {"n_halvings": 3, "random_state": None, "stratify": True}
    assert describe(given) == {"holdfast.resampling.halvings.Halvings": state}
    with pytest.raises(AttributeError, match="Halving"):
        getattr(hf.resampling, "Halving")  # noqa: B009


def test_options_may_be_named_as_before_for_a_version_and_stores_keep_their_keys(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(
        'data = "breast_cancer"\nselect = "anova:k=2"\nestimator = "naive_bayes"\nresamples = 2\n'
        'replicability = false\nkeep = "mean radius"\nstore = "file.db"'
    )
    with pytest.warns(FutureWarning, match=r"^keep in study\.toml is now covariates"):
        cli("study", "--config", "study.toml", "--quiet")
    options = ("-s", "anova:k=2", "--estimator", "naive_bayes", "-n", 2, "--no-replicability", "--quiet")
    with pytest.warns(FutureWarning, match="^--keep is now --covariates"):
        cli("study", "breast_cancer", *options, "--keep", "mean radius", "--store", "typed.db")
    for store in ("file.db", "typed.db"):
        assert "mean radius" not in hf.load_study(store).feature_names
        with closing(sqlite3.connect(store)) as connection:
            (command,) = connection.execute("SELECT value FROM meta WHERE key = 'command'").fetchone()
        assert json.loads(command)["keep"] == ["mean radius"]
        cli("resume", store, "--quiet")


def test_a_stored_command_is_read_by_the_names_of_today(tmp_path):
    store, command = tmp_path / "s.db", {"keep": ["a"], "perturb": "halvings:n_halvings=2"}
    hf.Study([SelectKBest(k=2)], hf.resampling.SplitHalves(2)).run(X, Y, store=store, command=command)
    assert read_meta(store)["command"] == {"covariates": ["a"], "perturb": "split_halves:n_pairs=2"}
