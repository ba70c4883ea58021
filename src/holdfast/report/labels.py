"""Names for readers: what tables, figures and sentences of a report call candidates, selectors and scores.

A candidate such as ``anova(n_features=5)`` reads "ANOVA F with 5 features". Where two would read alike, they keep their
exact names; the part for the analyst lists both.
"""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from holdfast.declared import About
from holdfast.report.records import Labels
from holdfast.study.tables import StudyTables
from holdfast.text import shorten

SIZES = ("size", "n_features", "n_features_to_select", "k")
"""Parameters that are a number of features."""
PLAIN = re.compile(r"[^\n()=<>{}\[\]]{1,40}")
"""Values of settings that can be read aloud."""


def make_labels(result: StudyTables) -> Labels:
    """Return the names for readers of everything that a study names."""
    families = {name: label_family(name, result.records.selectors.get(name)) for name in result.families}
    settings = {name: label_setting(result.settings(name)) for name in result.candidates}
    numbers = _number_settings(result)
    described = {
        name: join_label(families[result.family(name)], settings[name] or numbers.get(name, ""))
        for name in result.candidates
    }
    return Labels(
        candidates=_unless_alike(described),
        families=_unless_alike(families),
        scores=_unless_alike({name: label_score(name, result.records.scores.get(name)) for name in result.metrics}),
    )


def join_label(family: str, setting: str) -> str:
    """Return the name of a candidate; a long name of its selector is cut, so that the setting can be seen."""
    return f"{shorten(family, 40)} with {setting}" if setting else family


def label_family(name: str, about: About | None) -> str:
    """Return the name of a selector for readers: that of its record, unless the user gave it another name."""
    known = "" if about is None else about.label
    if known and (copy := re.fullmatch(rf"{re.escape(about.name if about else '')}(?:_(\d+))?", name)):
        return f"{known} ({copy[1]})" if copy[1] else known
    return separate_words(name)


def label_score(name: str, about: About | None) -> str:
    """Return the name of a score for readers."""
    known = "" if about is None else about.label or about.methods
    return known if known and known != name else separate_words(name)


def label_setting(setting: Mapping[str, Any]) -> str:
    """Return a setting in words ("5 features, penalty strength 0.1"); empty if a value cannot be read aloud."""
    words = [_label_value(name.rpartition("__")[2], value) for name, value in setting.items()]
    return "" if "" in words else ", ".join(words)


def _label_value(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return f"{separate_words(name)}: {'yes' if value else 'no'}"
    text = f"{value:.6g}" if isinstance(value, float) else "none" if value is None else str(value)
    if not PLAIN.fullmatch(text):
        return ""
    if isinstance(value, int) and (name in SIZES or name.startswith("n_")):
        noun = "features" if name in SIZES else separate_words(name[2:])
        return f"{value} {noun[:-1] if value == 1 and noun.endswith('s') else noun}"
    return f"{separate_words(name)} {separate_words(text) if isinstance(value, str) else text}"


def separate_words(name: str) -> str:
    """Return an identifier as words: ``mutual_info`` → "mutual info"; any other name as it is."""
    return name.replace("_", " ").strip() if re.fullmatch(r"\w*[^\W_]\w*", name) and "_" in name else name


def class_words(name: str) -> str:
    """Return the name of a class as words: ``GradientBoostingClassifier`` → "gradient boosting classifier"."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*|[a-z0-9]+", name)
    return " ".join(part if part.isupper() and len(part) > 1 else part.lower() for part in parts) or name


def _number_settings(result: StudyTables) -> dict[str, str]:
    """Return a number for each candidate of a family, for settings that cannot be read aloud."""
    seen: Counter[str] = Counter()
    numbers = {}
    for name in result.candidates:
        if result.settings(name):
            seen[result.family(name)] += 1
            numbers[name] = f"setting {seen[result.family(name)]}"
    return numbers


def _unless_alike(labels: Mapping[str, str]) -> dict[str, str]:
    """Return labels, or the exact name where two things would be called the same."""
    names = [name for name, label in labels.items() if name != label]  # which a label must not repeat either
    shown = Counter(shorten(label, 60) for label in (*labels.values(), *names))
    return {name: label if shown[shorten(label, 60)] == 1 else name for name, label in labels.items()}
