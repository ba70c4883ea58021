"""JSON in and out: one way to write what is undefined, exact round trips, and schemas that fit."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

import holdfast
from holdfast.cli import app
from holdfast.cli.terminal import FORMS
from holdfast.serialization import from_plain, json_schema, to_json, to_plain


@dataclass(frozen=True)
class Inner:
    """A part.

    Attributes
    ----------
    name : str
        What it is called.
    value, error : float
        A number and
        its error.
    """

    name: str
    value: float
    error: float = math.nan


@dataclass(frozen=True)
class Outer:
    """A whole."""

    kind: Literal["a", "b"]
    parts: tuple[Inner, ...]
    pair: tuple[str, int]
    main: Inner | None
    settings: Mapping[str, Any]
    right: bool


WHOLE = Outer("a", (Inner("x", 0.1 + 0.2), Inner("y", math.nan)), ("n", 3), None, {"deep": [1, {"er": None}]}, True)


def test_a_record_comes_back_as_it_was():
    text = to_json(WHOLE)
    found = from_plain(Outer, json.loads(text))
    assert (found.parts[0].name, found.parts[0].value) == ("x", 0.1 + 0.2)
    assert math.isnan(found.parts[0].error)
    assert math.isnan(found.parts[1].value)
    assert to_json(found) == text


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float64("nan"), np.float32("inf")])
def test_what_is_no_number_is_null(value):
    assert to_json({"value": value, "list": [value, 1.5], "array": np.array([value, 2.0])}) == (
        '{\n  "value": null,\n  "list": [null, 1.5],\n  "array": [null, 2.0]\n}'
    )


def test_values_of_numpy_are_plain():
    plain = to_plain({"n": np.int64(3), "yes": np.bool_(True), 4: np.arange(2), "text": "é\ud800"})
    assert plain == {"n": 3, "yes": True, "4": [0, 1], "text": "é\ud800"}
    assert json.loads(to_json(plain)) == plain
    assert to_json(plain).isascii()


@pytest.mark.parametrize("value", [{}, [], {"a": {}}, [[]], [{"a": 1}, []], "x", None, {"a": [[1, 2], [3]]}])
def test_the_text_means_what_json_means(value):
    assert json.loads(to_json(value)) == value


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": "c"}, "Expected one of 'a', 'b' at Outer.kind, got \"c\""),
        ({"pair": ["n"]}, r"Expected an array of 2 at Outer.pair"),
        ({"pair": ["n", "3"]}, r"Expected a JSON integer at Outer.pair\[1\]"),
        ({"parts": [{"name": "x", "value": True}]}, r"Expected a number or null at Outer.parts\[0\].value, got true"),
        ({"parts": [{"name": "x"}]}, r"Outer.parts\[0\] lacks value"),
        ({"more": 1}, "Outer has unknown entries: more"),
        ({"settings": []}, "Expected an object at Outer.settings"),
    ],
)
def test_wrong_records_are_refused_with_their_place(change, words):
    with pytest.raises(ValueError, match=words):
        from_plain(Outer, {**to_plain(WHOLE), **change})


def test_the_schema_describes_and_fits():
    schema = json_schema(Outer, title="whole", schema="whole/1")
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    right = {"schema": "whole/1", **to_plain(WHOLE)}
    validator.validate(right)
    assert schema["$defs"]["Inner"]["properties"]["error"]["description"] == "A number and its error."
    for wrong in ({"schema": "whole/2"}, {"kind": "c"}, {"pair": ["n"]}, {"main": 3}, {"more": 1}, {"right": None}):
        assert not validator.is_valid({**right, **wrong})


def test_commands_write_json_in_one_place_only():
    for path in sorted((Path(holdfast.__file__).parent / "cli").glob("*.py")):
        assert "json.dumps" not in path.read_text(encoding="utf-8"), f"{path.name}: use print_json"


def test_an_undefined_stability_is_null_on_the_command_line(tmp_path):
    (tmp_path / "runs.csv").write_text("a,b\n1,1\n1,1\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["measure", str(tmp_path / "runs.csv"), "--json"])
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout, parse_constant=pytest.fail)
    assert '"value": null' in done.stdout, record


def test_every_form_that_commands_print_is_documented():
    page = (Path(__file__).parents[2] / "docs" / "json.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `holdfast\.(\w+)/1` \|", page, flags=re.MULTILINE))
    assert documented == {*FORMS, "summary"}


def test_a_schema_describes_inherited_fields_as_their_base_does():
    @dataclass(frozen=True, kw_only=True)
    class Base:
        """A base.

        Attributes
        ----------
        level : float
            Level of intervals.
        """

        level: float = 0.95

    @dataclass(frozen=True, kw_only=True)
    class Record(Base):
        """A record.

        Attributes
        ----------
        name : str
            Its name.
        """

        name: str

    described = json_schema(Record, title="Record")["properties"]
    assert {name: facts["description"] for name, facts in described.items()} == {
        "level": "Level of intervals.",
        "name": "Its name.",
    }
