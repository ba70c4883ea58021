"""Values as plain JSON without what differs from run to run, and where two of them differ."""

import json
import math
import re

import holdfast as hf
from holdfast.serialization import to_json

VOLATILE = {"seconds", "score_seconds", "memory", "version", "versions", "started", "ended", "bytes", "provenance"}
"""Keys whose values tell when, how fast or with what something was computed."""


def settle(value, folder=None):
    """A value as JSON reads it back, without times, versions and the names of temporary folders."""
    text = to_json(value).replace(f"holdfast {hf.__version__}", "holdfast VERSION")
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "DATE", text).replace("DATE to DATE", "DATE")
    return _without_volatile(json.loads(text if folder is None else text.replace(str(folder), "FOLDER")))


def _without_volatile(value):
    if isinstance(value, dict):
        return {key: "…" if key in VOLATILE else _without_volatile(each) for key, each in value.items()}
    return [_without_volatile(each) for each in value] if isinstance(value, list) else value


HEXADECIMAL = re.compile(r"-?(0x[01]\.[0-9a-f]+p[+-]\d+|inf)|nan")


def differences(found, expected, exact, where=""):
    """The places at which two JSON values differ, with both; floats may differ by 1e-9 unless exact."""
    if isinstance(found, dict) and isinstance(expected, dict):
        keys = list(expected) + [key for key in found if key not in expected]
        missing = "(nothing)"
        pairs = [(f"{where}/{key}", found.get(key, missing), expected.get(key, missing)) for key in keys]
    elif isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        pairs = [(f"{where}/{place}", *both) for place, both in enumerate(zip(found, expected, strict=True))]
    else:
        same = _is_same(found, expected) or (not exact and _is_close(found, expected))
        return [] if same else [f"{where}: {found!r:.200} instead of {expected!r:.200}"]
    return [line for place, one, other in pairs for line in differences(one, other, exact, place)]


def _is_same(one, other):
    return type(one) is type(other) and one == other


def _is_close(one, other):
    """Whether both are floats, written plainly or as hexadecimal texts, and almost equal."""
    if isinstance(one, str) and isinstance(other, str) and HEXADECIMAL.fullmatch(one) and HEXADECIMAL.fullmatch(other):
        one, other = float.fromhex(one), float.fromhex(other)
    are_floats = isinstance(one, float) and isinstance(other, float)
    return are_floats and (math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9) or (one != one and other != other))
