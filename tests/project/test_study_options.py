"""Every option of a study is declared once, in holdfast.options: what lacks an option, a field or a line is named here.

Whoever leaves one of them out on purpose says why, in one of the tables of exceptions.
"""

import inspect
import json
import os
import re
import tomllib
from dataclasses import fields
from html import escape
from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

import pytest
import typer

import holdfast as hf
from holdfast.cli import app, records
from holdfast.cli.running import settle
from holdfast.io.options import ReadOptions
from holdfast.options import DEFAULTS, GROUPS, OPTIONS, FormOptions, StudyOptions, check_options, set_parameters
from holdfast.web.forms import available_parts
from holdfast.web.plans import Part, Plan, plan_options
from serving import open_client

ROOT = Path(__file__).parents[2]
COMMANDS = typer.main.get_command(app).commands
DECLARED = {known.name: known for known in fields(StudyOptions)}
IN_PYTHON_ONLY = {
    "prefilter": "describes what was done before the data were in a file",
    "X": "the data", "y": "the data", "groups": "an option of reading a table",
    "sites": "an option of reading a table", "sample_weight": "an option of reading a table",
    "treat_as_feature": "an option of reading a table",
    "target": "an option of reading a table", "layer": "--sheet, an option of reading a table",
    "progress": "drawn unless --quiet",
    "on_error": "a command records failures, and prints the most common one",
    "keep_predictions": "a store of a command has all that a report may show",
    "retry_failures": "a failed fit fails again; with a longer --time-limit, `holdfast study` is run anew",
    "only": "for searches, which fit some candidates",
    "command": "what the command line stores for `holdfast resume`",
    "unsuitable": "for benchmarks, where a selector may suit some data sets only",
}  # fmt: skip
"""Fields of Study, and parameters of Study.run, that no option sets, with the reason."""
SETS_NOTHING = {
    "data": "the data", "replicability": "a second step, after the study", "shuffles": "a part of that second step",
}  # fmt: skip
"""Options that set no field and no parameter of a study, with the reason."""
OTHER_FIELDS = {
    "data": "a page of its own, before the plan",
    "select": "`selectors` and `sizes` of the plan",
    "perturb": "`perturbation` of the plan",
    "resamples": "a parameter of the perturbation",
    "estimator": "`model` of the plan",
    "score": "`scores` of the plan",
    "jobs": "`cores` of the plan, at most as many as there are",
    "store": "the page stores each study in its folder", "no_store": "the page stores each study in its folder",
    "until": "a study of the page grows by a button", "cap": "a study of the page grows by a button",
    "replicability": "always estimated", "shuffles": "as many as by default",
    "fast_models": "for comparisons with scikit-learn, on the command line",
    "device": "a matter of the machine, on the command line",
}  # fmt: skip
"""Options that have no field of their name in the form of a plan, with the reason or what stands for them."""
GROUPS_OF = {
    "study": GROUPS,
    "tradeoff": [group for group in GROUPS if group != "extent"],
    "nested": ["table", "task", "reading", "resampling", "scoring", "computing"],
    "replicate": ["table", "task", "shuffling", "reading", "computing"],
    "benchmark": ["task", "reading", "resampling", "scoring", "limits", "computing"],
}
"""Which options a command has; what is in no group of a command, it has not."""
LEFT_OUT = {"benchmark": {"target_file": "a target for each table is in it"}}
OTHER_WORDS = {
    "nested": {"data": "or a store"},
    "replicate": {"data": "or a store"},
    "benchmark": {"target": "in files without :TARGET", "no_store": "of a folder"},
}
"""Options that a command describes in other words, with the reason."""


def flags(name):
    return OPTIONS[name].flags or (f"--{name.replace('_', '-')}",)


def test_every_parameter_of_a_study_has_an_option():
    run = set(inspect.signature(hf.Study.run).parameters) - {"self"}
    expected = {known.name for known in fields(hf.Study)} | run
    set_by_options = {option.sets for option in OPTIONS.values() if option.sets}
    assert not set_by_options & IN_PYTHON_ONLY.keys()
    assert set_by_options | IN_PYTHON_ONLY.keys() == expected, (
        "declare an option in holdfast/options.py, or say why not"
    )
    assert {name for name in DECLARED if not OPTIONS[name].sets} == SETS_NOTHING.keys()


def test_types_and_choices_are_those_of_the_declaration():
    hints = get_type_hints(StudyOptions)
    types = {"whole number": int, "number": float, "flag": bool, "texts": tuple[str, ...], "file": str, "text": str}
    for name, option in OPTIONS.items():
        assert option.help.endswith("."), name
        assert option.group in GROUPS, name
        assert not option.registry or option.registry in records.HOMES, name
        assert len(option.values) in (0, len(option.choices)), name
        if name in DECLARED:
            parts = [part for part in get_args(hints[name]) if part is not type(None)]
            is_optional = type(None) in get_args(hints[name])
            type_ = parts[0] if is_optional else hints[name]
            if get_origin(type_) is Literal:
                assert (option.kind, option.choices) == ("choice", get_args(type_)), name
            else:
                assert type_ == types[option.kind], name
            assert is_optional == (DECLARED[name].default is None), name


def test_the_defaults_of_a_command_are_those_of_python():
    study = settle({"data": "breast_cancer"}).make_study("classification")
    for known in fields(hf.Study):
        if known.name not in ("selectors", "perturbation", "task", "covariates"):
            assert getattr(study, known.name) == known.default, known.name
    assert (study.perturbation, tuple(study.covariates)) == (hf.Bootstrap(), ())
    run = inspect.signature(hf.Study.run).parameters
    for name, value in set_parameters(DEFAULTS, run.keys() - {"n_jobs"}).items():
        assert value == run[name].default, name
    assert DEFAULTS["jobs"] == 1  # in Python None, which leaves it to joblib


@pytest.mark.parametrize("command", GROUPS_OF)
def test_a_command_has_all_options_of_its_groups(command):
    found = {parameter.name: parameter for parameter in COMMANDS[command].params}
    left_out, other_words = LEFT_OUT.get(command, {}), OTHER_WORDS.get(command, {})
    for name, option in OPTIONS.items():
        if name in other_words:
            assert name in found
            assert found[name].help != option.help
        elif option.group not in GROUPS_OF[command] or name in left_out:
            assert name not in found, name
        else:
            assert name in found, f"{command} lacks {name}"
            parameter = found[name]
            assert parameter.help == option.help, name
            if option.group != "table":
                typed = (
                    "/".join([*parameter.opts, *parameter.secondary_opts]) if option.kind == "flag" else parameter.opts
                )
                assert typed == (flags(name)[0] if option.kind == "flag" else list(flags(name))), name
                assert parameter.metavar == (option.metavar or None), name
                assert parameter.multiple == (option.kind in ("columns", "texts")), name


def test_no_other_command_runs_a_study():
    assert {command for command, made in COMMANDS.items() if "seed" in {one.name for one in made.params}} == {
        *GROUPS_OF
    }


EXAMPLES = {"columns": ["a", "b"], "texts": ["a", "b"], "flag": True, "whole number": 3, "number": 0.5}


def test_configuration_files_take_every_option_and_check_its_type():
    values = {name: EXAMPLES.get(option.kind, "a") for name, option in OPTIONS.items() if option.in_files}
    text = "\n".join(f"{name} = {json.dumps(value)}" for name, value in values.items())
    assert check_options(tomllib.loads(text), "study.toml") == values
    for name, option in OPTIONS.items():
        wrong = {"flag": "yes", "whole number": 0.5, "number": True}.get(option.kind, 7)
        with pytest.raises(ValueError, match=f"{name} in study.toml" if option.in_files else f"got '{name}'"):
            check_options({name: wrong}, "study.toml")
    assert check_options({"until": 1, "select": "anova"}, "x") == {"until": 1, "select": ["anova"]}
    assert check_options({"select": {"mine": "anova"}}, "x") == {"select": {"mine": "anova"}}


def test_a_word_that_is_no_choice_is_refused():
    with pytest.raises(ValueError, match="Expected --fast-models all, identical or none, got 'some'"):
        set_parameters({"fast_models": "some"}, ["fast_models"])
    assert set_parameters({"fast_models": "none", "seed": 3, "jobs": 2}, ["fast_models", "random_state"]) == {
        "fast_models": False, "random_state": 3,
    }  # fmt: skip


def test_the_page_has_a_field_for_every_option(tmp_path):
    in_form = [known.name for known in fields(FormOptions)]
    assert {*in_form} | OTHER_FIELDS.keys() == DECLARED.keys(), "move the option to FormOptions, or say why not"
    assert not {*in_form} & OTHER_FIELDS.keys()
    assert [name for name, option in OPTIONS.items() if option.label] == [name for name in OPTIONS if name in in_form]
    plan = Plan(selectors=(Part(name="anova"),), perturbation=Part(name="bootstrap"))
    offers = available_parts("classification", 2)
    for known in fields(FormOptions):
        assert plan_options(plan, offers)[known.name] == known.default
    with open_client(tmp_path) as client:
        text = client.get("/data/known/breast_cancer/plan").text
        for name in in_form:
            option, id_ = OPTIONS[name], name.replace("_", "-")
            field = text.partition(f'<label for="{id_}">{escape(option.label)}</label>')[2].partition("</div>")[0]
            assert re.match(rf'\s*<(input|select) id="{id_}" name="{name}" data-option', field), name
            assert option.hint in field
            assert DECLARED[name].default is None or f'value="{DECLARED[name].default}"' in field or option.choices
            assert re.findall(r"<option[^>]*>([^<]*)<", field) == list(option.choices)


def doc_table():
    """The table of docs/cli.md."""
    rows = ["| option | default | what it is for | in Python |", "|---|---|---|---|"]
    study = {known.name for known in fields(hf.Study)}
    for name, option in OPTIONS.items():
        if name in DECLARED and option.group != "table":
            default = DEFAULTS.get(name, [])
            shown = "" if isinstance(default, (list, bool)) else f"`{default}`"
            text = re.sub(r"\{(\w+)\}", r"`holdfast \1`", option.help).replace("|", "\\|").replace("*", "\\*")
            called = "Study" if option.sets in study else "run"
            python = f"`{called}({option.sets}=)`" if option.sets else ""
            rows.append(f"| {', '.join(f'`{flag}`' for flag in flags(name))} | {shown} | {text} | {python} |")
    return "\n".join(rows)


def test_the_table_of_the_documentation_is_the_declaration():
    page = ROOT / "docs" / "cli.md"
    text = page.read_text(encoding="utf-8")
    pattern = r"(<!-- study options -->\n\n).*?(\n\n<!-- end -->)"
    expected, times = re.subn(pattern, lambda found: found[1] + doc_table() + found[2], text, flags=re.DOTALL)
    assert times == 1
    if os.environ.get("HOLDFAST_WRITE_DOCS"):
        page.write_text(expected, encoding="utf-8")
    assert expected == page.read_text(encoding="utf-8"), (
        "run HOLDFAST_WRITE_DOCS=1 pytest tests/project/test_study_options.py"
    )


def test_reading_and_a_study_share_no_name():
    assert not {known.name for known in fields(ReadOptions)} & DECLARED.keys()
