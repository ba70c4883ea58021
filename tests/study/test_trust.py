"""Files of strangers: what a store or a configuration file names is checked before it is imported."""

import ast
import json
import os
import pickle
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectKBest

import holdfast as hf
from holdfast.cli import run
from holdfast.study.named import PUBLIC_CLASSES, Trust, dotted_paths, find_class

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)
SOURCE = Path(hf.__file__).parent
HARM = """
import pathlib
pathlib.Path({mark!r}).touch()
from sklearn.feature_selection import SelectKBest
class Selector(SelectKBest):
    pass
def make(k=1):
    return SelectKBest(k=k)
"""


@pytest.fixture
def mark(tmp_path, monkeypatch):
    """A file that only harm makes, in the current folder; ``harm`` is a module that can be imported."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mark"
    X.iloc[:80, :5].assign(ill=Y.map({0: "yes", 1: "no"})).to_csv("patients.csv", index=False)
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "harm.py").write_text(HARM.format(mark=str(path)))
    monkeypatch.syspath_prepend(str(tmp_path / "modules"))
    yield path
    sys.modules.pop("harm", None)


@pytest.fixture
def stderr_of(printed_by):
    """What the command says on stderr."""
    return lambda *arguments, code=2: printed_by(*arguments, code=code).err


def asked(key, text):
    """Options of a study with one made to harm."""
    options = {"data": "patients.csv", "target": "ill", "select": ["anova:k=2"], "resamples": 2}
    return {**options, key: [text] if key in ("select", "score") else text}


def write_toml(options):
    lines = [f"{key} = {value!r}" for key, value in options.items()]
    Path("study.toml").write_text("\n".join(lines))
    return ["study", "--config", "study.toml"]


def write_store(options):
    """A store whose command is not the one that made it."""
    Path("study.db").unlink(missing_ok=True)
    study = hf.Study(selectors={"anova": SelectKBest(k=2)}, perturbation=hf.Bootstrap(2))
    study.run(X.iloc[:80, :5], Y[:80], store="study.db", command=options)
    return ["resume", "study.db"]


HARMFUL = [
    ("select", "os.system:command=touch mark"),
    ("select", "subprocess.getoutput:cmd=touch mark"),
    ("select", "subprocess.Popen:args=touch|mark"),
    ("select", "builtins.eval:source=open('mark' 'w')"),
    ("select", "builtins.exec:source=import harm"),
    ("select", "runpy.run_path:path_name=modules/harm.py"),
    ("select", "harm.Selector:k=1"),
    ("select", "harm.make"),
    ("select", "stability_selection:base=harm.Selector"),
    ("select", "ensemble:base=os.system"),
    ("select", "grouped:base=mrmr|harm.Selector"),
    ("select", "sklearn.feature_selection.SelectFromModel:estimator=harm.Selector"),
    ("select", "sklearn.linear_model.LogisticRegressionCV:scoring=harm.make"),
    ("select", "sklearn.pipeline.Pipeline:steps=harm.Selector|harm.Selector"),
    ("select", "sklearn.cluster.FeatureAgglomeration:memory=cache"),
    ("select", "sklearn._built_with_meson.Selector"),
    ("select", "sklearn.tests.test_common.Selector"),
    ("select", "sklearn.datasets.fetch_openml:name=iris"),
    ("select", "sklearn.datasets.clear_data_home:data_home=."),
    ("select", "holdfast.study.engines.serve"),
    ("select", "sklearn.os.system:command=touch mark"),
    ("select", "sklearn..os.system:command=touch mark"),
    ("select", "sklearnharm.Selector"),
    ("estimator", "os.system:command=touch mark"),
    ("estimator", "harm.Selector"),
    ("estimator", "svm:kernel=harm.Selector"),
    ("perturb", "harm.Selector"),
    ("perturb", "os.system:command=touch mark"),
    ("perturb", "subsample:fraction=harm.Selector"),
    ("score", "harm.make"),
    ("score", "os.system"),
]


@pytest.mark.parametrize(("key", "text"), HARMFUL)
@pytest.mark.parametrize("write", [write_toml, write_store])
def test_nothing_that_a_stranger_s_file_names_is_run(write, key, text, mark, stderr_of):
    command = write(asked(key, text))
    for more in ([], ["--dry-run"]) if write is write_toml else ([],):
        sentence = stderr_of(*command, *more)
        assert not mark.exists()
        assert "harm" not in sys.modules
        assert sentence.startswith("holdfast: Expected ")
        assert sentence.count("\n") == 1, sentence


def test_all_modules_that_have_to_be_allowed_are_named_at_once(mark, stderr_of):
    options = {**asked("estimator", "anova"), "select": ["harm.Selector", "ensemble:base=other.part.Selector"]}
    sentence = stderr_of(*write_store(options))
    assert "got 'harm.Selector', 'other.part.Selector'; nothing was imported" in sentence
    assert sentence.endswith("pass --allow harm --allow other.part.\n")


def test_code_is_checked_before_data_are_read(mark, stderr_of):
    options = {**asked("select", "harm.Selector"), "data": "nowhere.csv"}
    assert "--allow harm" in stderr_of(*write_toml(options))


@pytest.mark.parametrize("write", [write_toml, write_store])
def test_the_command_line_allows_modules_and_no_file_does(write, mark, stderr_of):
    options = asked("select", "harm.Selector:k=2")
    for refused in ("har", "harm.Selector", "harm.part", "os"):
        stderr_of(*write(options), "--allow", refused)
    sentence = stderr_of(*write({**options, "allow": ["harm"]}))
    assert "got 'allow'" in sentence
    assert not mark.exists()
    command = write(options)
    if write is write_store:  # the study in it is another one: refused after the class was made
        assert "Expected the plan of the study" in stderr_of(*command, "--allow", "harm", "--quiet")
    else:
        stderr_of(*command, "--allow", "os", "--allow", "harm", "--quiet", code=0)
    assert mark.exists()


def test_functions_of_allowed_modules_are_not_called(mark, stderr_of):
    sentence = stderr_of(*write_toml(asked("select", "os.system:command=touch mark")), "--allow", "os")
    assert "Expected a class with fit and get_params" in sentence
    assert not mark.exists()


@pytest.mark.parametrize("path", ["os.system:command=touch mark", "harm.make:k=1", "subprocess.Popen:args=ls"])
def test_who_types_a_path_may_name_any_module_but_only_classes_are_called(path, mark, stderr_of):
    arguments = ["study", "patients.csv", "--target", "ill", "-n", "2", "--quiet"]
    assert "Expected a class with fit" in stderr_of(*arguments, "-s", path)
    stderr_of(*arguments, "-s", "harm.Selector:k=2", code=0)
    assert mark.exists()


def test_what_was_typed_has_to_be_allowed_when_it_is_resumed(mark, stderr_of):
    arguments = ["study", "patients.csv", "--target", "ill", "-n", "2", "--quiet", "--store", "typed.db"]
    stderr_of(*arguments, "-s", "harm.Selector:k=2", code=0)
    assert "pass --allow harm." in stderr_of("resume", "typed.db")
    stderr_of("resume", "typed.db", "--allow", "harm", "--quiet", code=0)


def test_an_interrupted_study_says_what_to_allow(mark, monkeypatch, stderr_of):
    def stop(*_, **__):
        raise hf.study.StudyInterrupted("stopped")

    monkeypatch.setattr(hf.Study, "run", stop)
    arguments = ["study", "patients.csv", "--target", "ill", "--quiet", "--store", "my study.db"]
    sentence = stderr_of(*arguments, "-s", "harm.Selector", code=130)
    assert "(holdfast resume 'my study.db' --allow harm)" in sentence


def test_the_command_line_wins_over_a_file_with_its_own_trust(mark, stderr_of):
    command = write_toml(asked("select", "os.system:command=touch mark"))
    stderr_of(*command, "-s", "anova:k=2", "--quiet", code=0)
    estimator = write_toml(asked("estimator", "harm.Selector"))
    assert "--allow harm" in stderr_of(*estimator, "-s", "anova:k=2")


ODD = [
    ("select", 5, "Expected texts for select"),
    ("select", [["anova"]], "Expected texts for select"),
    ("select", {"a": ["anova"]}, "Expected texts for select"),
    ("score", {"a": "accuracy"}, "Expected texts for score"),
    ("estimator", ["knn"], "Expected a text for estimator"),
    ("resamples", "many", "Expected a whole number for resamples"),
    ("seed", True, "Expected a whole number for seed"),
    ("until", "0.1", "Expected a number for until"),
    ("data", 5, "Expected a text for data"),
    ("quiet", True, "Expected options of holdfast study"),
    ("usual", {}, "Expected options of holdfast study"),
]


@pytest.mark.parametrize(("key", "value", "message"), ODD)
def test_options_of_the_wrong_kind_are_one_sentence(key, value, message, mark, stderr_of):
    options = {**asked("seed", 1), key: value}
    assert message in stderr_of(*write_store(options))


@pytest.mark.parametrize("command", [5, "text", [["select", "anova"]]])
def test_a_command_that_is_no_command_is_one_sentence(command, mark, stderr_of):
    write_store({})
    with closing(sqlite3.connect("study.db")) as connection, connection:
        connection.execute("UPDATE meta SET value = ? WHERE key = 'command'", [json.dumps(command)])
    assert "holdfast: " in stderr_of("resume", "study.db")


@pytest.mark.parametrize("content", [b"select = [", b"\xff\xfe", b"a = " + b"[" * 100_000])
def test_a_configuration_that_is_no_toml_is_one_sentence(content, mark, stderr_of):
    Path("study.toml").write_bytes(content)
    sentence = stderr_of("study", "--config", "study.toml")
    assert sentence.startswith("holdfast: Expected TOML in study.toml, got ")
    assert sentence.count("\n") == 1


# Modules


def test_allowing_a_module_allows_what_is_below_it_and_nothing_beside():
    trust = Trust("a file", ("os", "mypackage.selectors"))
    allowed = ["os.system", "os.path.join", "mypackage.selectors.A", "mypackage.selectors.deep.A", "sklearn.svm.SVC"]
    refused = ["osgeo.A", "mypackage.A", "mypackage.selectorsmore.A", "sklearn._x.A", "holdfast.kernels.__main__.main"]
    assert trust.missing_modules(allowed) == []
    assert len(trust.missing_modules(refused)) == len(refused)
    for wrong in ("", "os.", ".os", "os;", "a b"):
        with pytest.raises(ValueError, match="Expected the name of a module to allow"):
            Trust("a file", (wrong,))


@given(path=st.from_regex(r"[a-z_.]{1,8}(\.[A-Za-z_]{1,6}){0,3}", fullmatch=True))
def test_no_path_of_another_package_is_taken(path):
    if path.split(".")[0] not in ("holdfast", "sklearn"):
        assert dotted_paths(path, {}) == [] or PUBLIC_CLASSES.missing_modules(dotted_paths(path, {}))
    with pytest.raises(ValueError, match="Expected"):
        find_class(path, "a selector", PUBLIC_CLASSES)


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.slow
def test_modules_that_lie_in_the_current_folder_are_not_imported(mark, jobs):
    for name in ("sklearn", "joblib", "numpy", "rich", "harm"):
        Path(f"{name}.py").write_text(HARM.format(mark=str(mark)))
    path = os.pathsep.join(filter(None, (str(SOURCE.parent), os.environ.get("PYTHONPATH"))))
    arguments = ["study", "patients.csv", "--target", "ill", "-s", "anova:k=2", "-n", "4", "-j", jobs, "--quiet"]
    for more, code in (([], 0), (["-s", "harm.Selector"], 2)):
        done = subprocess.run(
            [sys.executable, "-m", "holdfast", *arguments, *more],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
        assert not mark.exists()


# Pickles


class Harm:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_nothing_in_a_store_is_unpickled(mark, monkeypatch, capsys):
    write_store(asked("seed", 1))
    whole, bomb = Path("study.db").read_bytes(), pickle.dumps(Harm(str(mark)))
    with closing(sqlite3.connect("study.db")) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        places = [(table, row[1]) for table in tables for row in connection.execute(f"PRAGMA table_info({table})")]
    for table, column in places:
        Path("study.db").write_bytes(whole)
        with closing(sqlite3.connect("study.db")) as connection, suppress(sqlite3.IntegrityError), connection:
            connection.execute(f"UPDATE OR IGNORE {table} SET {column} = ?", [bomb])
        for command in ("show", "resume"):
            monkeypatch.setattr(sys, "argv", ["holdfast", command, "study.db"])
            with suppress(SystemExit, Exception):  # damage is another test's matter
                run()
            assert not mark.exists(), (table, column)


def test_only_processes_that_a_study_starts_exchange_pickles():
    readers = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, (ast.Import, ast.ImportFrom)) else []
            loads = isinstance(node, ast.Attribute) and node.attr in ("load_study", "loads", "read_pickle", "Unpickler")
            owner = getattr(getattr(node, "value", None), "id", "") if loads else ""
            if {"pickle", "cloudpickle", "dill", "shelve"} & set(names) or owner in ("joblib", "np", "numpy", "pickle"):
                readers.add(str(path.relative_to(SOURCE)))
    assert readers == {"study/engines.py"}
