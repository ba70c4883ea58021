"""Types of parameters as pages ask for them."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, Optional

import pytest

from holdfast.declared import REQUIRED
from holdfast.web.forms import as_typed, kind_of, list_values, read_types


@pytest.mark.parametrize(
    ("type_", "default", "kind"),
    [
        (int, 3, "whole number"), (int | None, None, "whole number"), (float, 0.5, "number"),
        (Optional[float], None, "number"), (tuple[float, ...], (0.5, 1.0), "number"), (bool, True, "choice"),  # noqa: UP045
        (Literal["a", "b"], "a", "choice"), (Literal["a"] | None, None, "choice"), (str, REQUIRED, "word"),
        (Any, 3, "whole number"), (Any, 0.5, "number"), (Any, "x", "word"), (Any, None, None),
        (Callable[[int], int], REQUIRED, None), (Mapping[str, float], REQUIRED, None),
    ],
)  # fmt: skip
def test_a_type_or_else_a_default_tells_what_can_be_typed(type_, default, kind):
    assert kind_of(type_, default) == kind


@pytest.mark.parametrize(
    ("type_", "values"),
    [
        (bool, {"true": True, "false": False}),
        (Literal["mid", 2], {"mid": "mid", "2": 2}),
        (Literal["holm"] | None, {"holm": "holm", "none": None}),
        (float | None, {}),
        (Literal["a"] | int, {}),
    ],
)
def test_values_to_choose_from_are_listed_by_their_texts(type_, values):
    assert list_values(type_) == values


def test_values_are_written_as_they_are_typed():
    assert [as_typed(value) for value in (REQUIRED, None, True, 0.1, (0.5, 1.0), "word")] == [
        "", "none", "true", "0.1", "0.5 1.0", "word",
    ]  # fmt: skip


def test_annotations_that_cannot_be_read_say_nothing():
    def odd(a: "NoSuchThing"): ...  # noqa: F821

    class Made:
        def __init__(self, n: int): ...

    assert read_types(odd) == {}
    assert read_types(Made)["n"] is int
