"""Names for selectors that were given without one."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.selectors.catalog import SELECTORS
from holdfast.study.candidates import Candidates


def name_selectors(selectors: Any) -> dict[str, Any]:
    """Return selectors by name: a mapping as it is, a list or a single selector named after their classes.

    A selector has the name that the command line knows it by, or its class's name in snake_case; ``_2``, ``_3``, … tell
    selectors of one name apart. Of a pipeline, the last step that selects gives the name.

    Parameters
    ----------
    selectors : mapping, iterable, estimator or Candidates
        What a study is to compare.

    Returns
    -------
    dict
        From name to estimator or Candidates.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest
    >>> from holdfast.selectors import AnovaF
    >>> from holdfast.study.naming import name_selectors
    >>> list(name_selectors([AnovaF(), SelectKBest(k=5), SelectKBest(k=10)]))
    ['anova', 'select_k_best', 'select_k_best_2']
    """
    if isinstance(selectors, Mapping):
        return {str(name): selector for name, selector in selectors.items()}
    if isinstance(selectors, (Candidates, str)) or hasattr(selectors, "fit") or not isinstance(selectors, Iterable):
        selectors = [selectors]
    named: dict[str, Any] = {}
    for selector in selectors:
        name = first = _name_selector(selector.selector if isinstance(selector, Candidates) else selector)
        number = 1
        while name in named:
            number += 1
            name = f"{first}_{number}"
        named[name] = selector
    return named


def _name_selector(selector: Any) -> str:
    if hasattr(selector, "steps"):
        steps = [step for _, step in selector.steps if step is not None and step != "passthrough"]
        selecting = [step for step in steps if hasattr(step, "get_support")] or steps
        return _name_selector(selecting[-1])
    return _registered_name(type(selector)) or _snake_case(type(selector).__name__)


def _registered_name(kind: type) -> str | None:
    return next((name for name, record in SELECTORS.items() if kind in record.classes), None)


def _snake_case(name: str) -> str:
    """``SelectKBest`` → ``select_k_best``, ``RFECV`` → ``rfecv``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
