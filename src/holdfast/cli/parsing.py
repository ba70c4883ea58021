"""What texts of the command line mean: ``name:param=value,param=value``, numbers, lists of values."""

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.measures import Measure


def parse_named(text: str, what: str) -> tuple[str, dict[str, Any]]:
    """Read ``name`` or ``name:param=value,param=value``; ``a|b`` are several values."""
    name, _, rest = text.partition(":")
    parameters = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"Expected NAME:param=value,param=value for a {what}, got {text!r}.")
        values = [literal(part.strip()) for part in value.split("|")]
        parameters[key.strip()] = values if len(values) > 1 else values[0]
    return name.strip(), parameters


def parse_measure(text: str) -> "Measure":
    """Read a measure with its parameters."""
    from holdfast.measures import find_measure

    name, parameters = parse_named(text, "measure")
    measure = find_measure(name)
    for key, value in parameters.items():
        default = measure.parameters.get(key, "")
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number and not isinstance(default, str) and value is not default:
            raise ValueError(f"Expected a number for {key} of {measure.name}, got {value!r}.")
    return measure.bind(**parameters)


def parse_rule(text: str) -> tuple[str, dict[str, Any]]:
    """Read a rule with its parameters; both are checked."""
    from holdfast.cli.records import registry

    name, parameters = parse_named(text, "rule")
    rule = registry("rules").find(name)
    rule.check(parameters)
    return rule.about.name, parameters


def as_options(text: str) -> str:
    """A message about parameters of :func:`holdfast.read_table`, with the options of the command in their place."""
    text = re.sub(r"\b(ignore|accept)=\[([^\]]+)\]", _repeat_option, text).replace("transpose=True", "--transpose")
    names = (
        "accept|categorical|decimal|encoding|groups|ignore|index|missing|sep|sheet|target_file|target|task|transpose"
    )

    def as_option(match: "re.Match[str]") -> str:
        return f"--{match[1].replace('_', '-')}" + (f" {match[2]}" if match[2] else "")

    return re.sub(rf"\b({names})=([\w'\"])?", as_option, text)


def _repeat_option(match: "re.Match[str]") -> str:
    return " ".join(f"--{match[1]} {name}" for name in match[2].split(", "))


def literal(text: str) -> Any:
    """A number, true, false or none if it reads like one, else the text."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return {"true": True, "false": False, "none": None}.get(text.lower(), text)
