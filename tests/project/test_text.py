"""Numbers, intervals, p-values, shares, counts and names as every face writes them."""

import math

import numpy as np
import pytest

from holdfast import text

NAN = math.nan


@pytest.mark.parametrize(
    ("value", "decimals", "expected"),
    [
        (0.746, 2, "0.75"),
        (-0.746, 2, "−0.75"),
        (-0.0004, 2, "0.00"),
        (-0.0, 3, "0.000"),
        (12345.678, 1, "12,345.7"),
        (-20_000, 0, "−20,000"),
        (np.float32(0.5), 3, "0.500"),
        (np.int64(3), 2, "3.00"),
        (math.inf, 2, "inf"),
        (NAN, 2, "–"),
    ],
)
def test_a_number_has_a_real_minus_and_none_before_zero(value, decimals, expected):
    assert text.format_number(value, decimals) == expected


def test_an_interval_is_in_brackets_or_in_words():
    assert text.format_interval(-0.105, 0.81) == "[−0.10, 0.81]"
    assert text.format_interval(0.1, 0.2, 3) == "[0.100, 0.200]"
    assert text.describe_interval(-0.105, 0.81, 0.9) == "90 % interval −0.10 to 0.81"
    for ends in ((NAN, NAN), (0.5, NAN)):
        assert (text.format_interval(*ends), text.describe_interval(*ends, 0.95)) == ("–", "no interval")


def test_an_estimate_stands_with_its_interval_and_a_score_with_its_error():
    assert text.format_estimate(0.741, 0.65, 0.81) == "0.74 [0.65, 0.81]"
    assert text.format_estimate(0.741, NAN, NAN, 3) == "0.741"
    assert text.format_estimate(NAN, NAN, NAN) == "undefined"
    assert text.format_score(0.912, 0.01) == "0.912 ± 0.010"
    assert (text.format_score(-0.912, NAN), text.format_score(NAN, NAN)) == ("−0.912", "–")


@pytest.mark.parametrize(
    ("p_value", "in_words", "in_a_table"),
    [
        (0.0499, "p = 0.05", "0.05"),
        (0.0123, "p = 0.012", "0.012"),
        (0.25, "p = 0.25", "0.25"),
        (1.0, "p = 1", "1"),
        (0.001, "p = 0.001", "0.001"),
        (0.00099, "p < 0.001", "< 0.001"),
        (0.0, "p < 0.001", "< 0.001"),
        (NAN, "p undefined", "–"),
    ],
)
def test_a_p_value_is_written_one_way(p_value, in_words, in_a_table):
    assert text.format_p_value(p_value) == in_words
    assert text.format_p_value(p_value, name="") == in_a_table


def test_shares_are_in_percent():
    assert [text.format_percent(share) for share in (0.95, 0.999, 1 / 3, 0.07, 0.0, -0.25, NAN)] == [
        "95 %", "99.9 %", "33.33 %", "7 %", "0 %", "−25 %", "–",
    ]  # fmt: skip
    assert [text.format_percent(share, 0) for share in (0.004, -0.004, 0.126, 1.0)] == ["0 %", "0 %", "13 %", "100 %"]
    assert [text.format_share(share) for share in (0.0, 0.004, 0.5, 0.996, 1.0)] == [
        "0 %", "less than 1 %", "50 %", "more than 99 %", "100 %",
    ]  # fmt: skip


def test_counts_have_their_nouns():
    assert [text.format_count(n, "such entry") for n in (0, 1, 20_000)] == [
        "0 such entries", "1 such entry", "20,000 such entries",
    ]  # fmt: skip
    assert (text.pluralize(1, "resample"), text.pluralize(2, "resample")) == ("resample", "resamples")


def test_names_are_joined_and_cut():
    assert [text.join_words(list(words)) for words in ("", "a", "ab", "abc")] == ["", "a", "a and b", "a, b and c"]
    assert text.join_words(["a", "b"], ", or ") == "a, or b"
    assert text.join_names(["a", 3, "", "d"]) == "a, feature 3 and 2 others"
    assert (text.join_first("abc", 3), text.join_first("abcd", 3)) == ("a, b, c", "a, b, c, … (4 in all)")
    assert text.shorten("a" * 20 + " " + "b" * 30, 22) == "a" * 20 + "…"
    assert (text.shorten(np.int64(7)), text.shorten(" "), text.shorten("a\x1bb")) == (
        "feature 7", "(no name)", "a\ufffdb",
    )  # fmt: skip
