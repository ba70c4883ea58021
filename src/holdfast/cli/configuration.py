"""What a file asks for: options in TOML, or the command that a store keeps; and which code it may name."""

import tomllib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from holdfast.cli.parsing import parse_named
from holdfast.cli.terminal import quote_path

if TYPE_CHECKING:
    from holdfast.study.trust import Trust

NAMED = {"select": "selector", "estimator": "estimator", "perturb": "perturbation"}
"""Options whose texts name code, with what they name."""
NOT_IN_FILES = ("ctx", "config", "dry_run", "quiet", "as_json", "allow", "no_store")
"""What only the command line says: no file may allow its own code."""
KINDS: dict[type, tuple[tuple[type, ...], str]] = {
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    str: ((str,), "a text"),
    Path: ((str,), "a text"),
    bool: ((bool,), "true or false"),
}


def file_options(path: Path, command: Callable[..., None]) -> dict[str, Any]:
    """Read options of a command from a TOML file; its paths are relative to its folder."""
    from holdfast.io.files import as_path

    path = as_path(path)
    try:
        options = tomllib.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        why = "tables or lists nested too deeply" if isinstance(error, RecursionError) else f"something else: {error}"
        raise ValueError(f"Expected TOML in {path}, got {why}.") from None
    options = checked_options(options, command, str(path))
    for key in ("data", "target_file", "store"):
        if key in options:
            beside = path.parent / as_path(options[key])
            if key == "store" or beside.exists():
                options[key] = str(beside)
    return options


def checked_options(options: Any, command: Callable[..., None], source: str) -> dict[str, Any]:
    """Options as a command takes them, or one sentence; a single text stands for a list of one."""
    known = {key: hint for key, hint in get_type_hints(command).items() if key not in (*NOT_IN_FILES, "return")}
    if not isinstance(options, Mapping):
        raise ValueError(f"Expected options of holdfast study in {source}, got {type(options).__name__}.")
    for key in options:
        if key not in known:
            raise ValueError(
                f"Expected options of holdfast study in {source} ({', '.join(sorted(known))}), got {key!r}."
            )
    return {key: _checked(key, value, get_args(known[key])[0], source) for key, value in options.items()}


def _checked(key: str, value: Any, kind: Any, source: str) -> Any:
    if get_origin(kind) is list:
        value = [value] if isinstance(value, str) else value
        texts = list(value.values()) if key == "select" and isinstance(value, dict) else value
        if not (isinstance(texts, list) and all(isinstance(text, str) for text in texts)):
            raise ValueError(f"Expected texts for {key} in {source}, got {value!r}.")
        return value
    types, what = KINDS[kind]
    if isinstance(value, bool) != (kind is bool) or not isinstance(value, types):
        raise ValueError(f"Expected {what} for {key} in {source}, got {value!r}.")
    return value


# Whom to trust


def trust_by_option(typed: Collection[str], allow: Collection[str] | None, source: str) -> dict[str, "Trust"]:
    """Which modules an option may name: any if it was typed, else those of holdfast and scikit-learn, and allowed ones.

    Parameters
    ----------
    typed : collection of str
        Options that stood on the command line.
    allow : collection of str, optional
        Modules that the command line allows.
    source : str
        Where the other options come from.
    """
    from holdfast.study.trust import Trust

    return {key: Trust(source, tuple(allow or ()), key in typed) for key in NAMED}


def check_trust(options: Mapping[str, Any], trust: Mapping[str, "Trust"]) -> None:
    """Raise if options name code that may not be run; nothing is imported for that."""
    from holdfast.study.trust import dotted_paths

    for key, specs in _named(options).items():
        trust[key].check(path for name, parameters in specs for path in dotted_paths(name, parameters))
        for name, parameters in specs:
            trust[key].check_memory(name, parameters)


def resume_command(options: Mapping[str, Any]) -> str:
    """The command that goes on with a study, with the modules that it has to be allowed."""
    from holdfast.study.trust import PUBLIC_CLASSES, dotted_paths

    named = [spec for specs in _named(options).values() for spec in specs]
    paths = [path for name, parameters in named for path in dotted_paths(name, parameters)]
    allowed = PUBLIC_CLASSES.missing_modules(paths)
    return " ".join(["holdfast resume", quote_path(options["store"]), *(f"--allow {module}" for module in allowed)])


def _named(options: Mapping[str, Any]) -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """Names and parameters in the options that name code."""
    texts: dict[str, Any] = {key: options.get(key) or [] for key in NAMED}
    return {key: [parse_named(text, NAMED[key]) for text in _listed(value)] for key, value in texts.items()}


def _listed(value: Any) -> list[str]:
    return list(value.values()) if isinstance(value, dict) else [value] if isinstance(value, str) else list(value)
