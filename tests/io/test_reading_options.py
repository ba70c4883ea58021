"""Every option of reading a table is declared once, in holdfast.io.options: all who offer it agree with that."""

import inspect
import json
import os
import re
import tomllib
from dataclasses import fields
from html import escape
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
import typer

import holdfast as hf
from holdfast.cli import app
from holdfast.cli.options import as_options
from holdfast.io import questions
from holdfast.io.options import DEFAULTS, OF_FILE, OPTIONS, ReadOptions
from holdfast.io.questions import FIELDS, QUESTIONS, REFUSALS
from holdfast.options import check_options
from holdfast.web.tables import TableQuery
from serving import open_client, upload

OFFERED = {name: option for name, option in OPTIONS.items() if option.in_commands}
COMMANDS = typer.main.get_command(app).commands
ROOT = Path(__file__).parents[2]
NO_VALUE = {"target": inspect.Parameter.empty}


def test_choices_are_those_of_the_types():
    hints = get_type_hints(ReadOptions)
    for name, option in OPTIONS.items():
        words = [word for word in get_args(hints[name]) if isinstance(word, str)]
        inner = [word for part in get_args(hints[name]) for word in get_args(part)]
        assert option.choices == tuple(words or inner), name
        assert option.help.endswith("."), name


def test_signature_and_docstring_of_read_table_have_every_option():
    parameters = dict(inspect.signature(hf.read_table).parameters)
    del parameters["path"]
    assert {name: parameter.default for name, parameter in parameters.items()} == {**DEFAULTS, **NO_VALUE}
    documented = inspect.getdoc(hf.read_table)
    for name in OPTIONS:
        assert re.search(rf"^(\w+, )*{name}(, \w+)* : ", documented, re.MULTILINE), name


def test_inspect_table_takes_every_option_and_no_other(tmp_path):
    (tmp_path / "d.csv").write_text("a,y\n1.5,u\n2.5,v\n3.5,u\n4.5,v\n")
    given = {**DEFAULTS, "target": "y", "sep": ","}
    assert hf.io.inspect_table(tmp_path / "d.csv", **given).record.features == 1
    with pytest.raises(TypeError, match="options of read_table, got 'sepp'"):
        hf.io.inspect_table(tmp_path / "d.csv", sepp=",")


@pytest.mark.parametrize(
    ("command", "left_out"),
    [("study", ()), ("tradeoff", ()), ("nested", ()), ("replicate", ()), ("benchmark", ("target_file",))],
)
def test_commands_have_every_option(command, left_out):
    found = {parameter.name: parameter for parameter in COMMANDS[command].params}
    assert not set(left_out) & set(found)
    assert "drop_constant" not in found
    for name, option in OFFERED.items():
        if name not in left_out and (command, name) != ("benchmark", "target"):
            parameter = found[name]
            assert parameter.opts == [f"--{name.replace('_', '-')}"]
            assert (parameter.help, parameter.metavar) == (option.help, option.metavar or None)
            assert (parameter.multiple, parameter.is_flag) == (option.kind == "columns", option.kind == "flag")


def test_configuration_files_take_every_option():
    values = {"columns": ["a", "b"], "flag": True}
    lines = [f"{name} = {json.dumps(values.get(option.kind, 'a'))}" for name, option in OFFERED.items()]
    text = "\n".join(lines)
    assert set(check_options(tomllib.loads(text), "study.toml")) == set(OFFERED)
    with pytest.raises(ValueError, match="got 'drop_constant'"):
        check_options({"drop_constant": True}, "study.toml")


def test_messages_name_the_options_of_commands():
    for name, option in OFFERED.items():
        typed = f"--{name.replace('_', '-')}"
        assert as_options(f"pass {name}= here") == f"pass {typed} here"
        assert as_options(f"pass {name}='x'") == f"pass {typed} 'x'"
        if option.kind == "flag":
            assert as_options(f"pass {name}=True") == f"pass {typed}"
        if option.kind == "columns":
            assert as_options(f"with {name}=['a', 'b']") == f"with {typed} 'a' {typed} 'b'"
    assert as_options("drop_constant=True") == "drop_constant=True"


def test_messages_name_the_options_of_a_study():
    said = {
        "give adjust=False.": "give --adjust no.", "set n_jobs=1, or": "set --jobs 1, or",
        "for sample_weight=, got": "for --weights, got", "take device='cpu'.": "take --device 'cpu'.",
        "fast_models='identical'": "--fast-models identical", "give estimator=.": "give --estimator.",
    }  # fmt: skip
    assert {text: as_options(text) for text in said} == said


@pytest.mark.parametrize(
    "text",
    [
        "rfe:estimator=knn,task=x", "the column 'target=yes'", "/home/data=1/x.csv", "store=None", "my_target=3",
        "until=hf.TargetPrecision(…)", "hf.read_table(frame, categorical='one-hot')",
    ],
)  # fmt: skip
def test_names_and_code_in_messages_stay_as_they_are(text):
    assert as_options(text) == text


def test_the_page_offers_every_option(tmp_path):
    asked = {field.name: field for field in fields(TableQuery)}
    assert set(asked) == {*OPTIONS, "asked"}
    hints, declared = get_type_hints(TableQuery), get_type_hints(ReadOptions)
    for name, option in OFFERED.items():
        assert (asked[name].default or None) == (DEFAULTS[name] or None), name
        if option.kind == "choice":
            assert hints[name] == declared[name]
    with open_client(tmp_path) as client:
        keys = [upload(client, b"a,b\n1,x\n2,y\n", name) for name in ("one.csv", "two.csv")]
        form = client.get(f"/data/{keys[0]}", params={"drop_constant": "false"}).text.partition('id="options"')[2]
        assert set(re.findall(r'id="say-(\w+)" name="\1"', form)) == set(OFFERED)
        for name, option in OFFERED.items():
            field = form.partition(f'id="say-{name}"')[2].partition("</div>")[0]
            assert f'<label for="say-{name}">{escape(option.help.rstrip("."))}</label>' in form
            if option.kind == "choice":
                expected = {"", *option.choices} - {DEFAULTS[name]}
                assert set(re.findall(r'<option value="([^"]*)"', field)) == expected
        refused = client.get(f"/data/{keys[0]}", params={"drop_constant": "true"})
        assert "Expected options that the page offers, got drop_constant" in refused.text


def doc_table():
    """The table of docs/data.md."""
    rows = ["| option | command line | default | what it is for |", "|---|---|---|---|"]
    for name, option in OPTIONS.items():
        words = f"`{name}=`", f"`--{name.replace('_', '-')}`" if option.in_commands else ""
        default = "" if DEFAULTS[name] in ("", (), None) else f"`{DEFAULTS[name]!r}`".replace("'", '"')
        choices = ", ".join(f"`{json.dumps(word)}`" for word in option.choices)
        what = f"{option.help} One of {choices}." if choices else option.help
        rows.append(f"| {' | '.join(words)} | {default} | {what} |")
    return "\n".join(rows)


def test_the_table_of_the_documentation_is_the_declaration():
    page = ROOT / "docs" / "data.md"
    text = page.read_text(encoding="utf-8")
    pattern = r"(<!-- reading -->\n\n).*?(\n\n<!-- end -->)"
    expected, times = re.subn(pattern, lambda found: found[1] + doc_table() + found[2], text, flags=re.DOTALL)
    assert times == 1
    if os.environ.get("HOLDFAST_WRITE_DOCS"):
        page.write_text(expected, encoding="utf-8")
    assert expected == page.read_text(encoding="utf-8"), (
        "run HOLDFAST_WRITE_DOCS=1 pytest tests/io/test_reading_options.py"
    )


def test_options_of_files_are_some_of_all():
    assert set(OF_FILE) == {"sep", "decimal", "encoding", "sheet"}
    assert set(OF_FILE) < set(OPTIONS)


def test_every_question_sets_an_option_of_a_reader_and_offers_values_of_it():
    readers = {**OPTIONS, **inspect.signature(hf.read_preferences).parameters}
    asked = {name: facts for name, facts in REFUSALS.items() if "question" in facts}
    for name, facts in {**QUESTIONS, **asked}.items():
        question = {**QUESTIONS[facts.get("question", name)], **facts}
        assert question["option"] in readers, name
        assert question.get("rest", "ignore") in OPTIONS, name
        known = OPTIONS[question["option"]].choices if question["option"] in OPTIONS else ()
        if known:
            assert set(question.get("choices", ())) <= set(known), name


def test_every_refusal_is_raised_and_fills_the_gaps_of_its_question():
    sources = "".join(path.read_text(encoding="utf-8") for path in Path(questions.__file__).parent.glob("*.py"))
    for name, facts in REFUSALS.items():
        assert f'"{name}"' in sources, name
        assert set(facts) <= {"message", "question", "why", "shown", *FIELDS}, name
        assert re.fullmatch(r"Expected .*[.}?]", facts["message"]), name
