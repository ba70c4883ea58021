"""What the pages ask about files of selections: the questions of the readers, with a page for each answer."""

from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import urlencode

from holdfast.io.questions import Question
from holdfast.serialization import from_plain
from holdfast.web.selections import plain_sentence
from holdfast.web.site import Site
from holdfast.web.worker import TaskError


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A possible answer to a question.

    Attributes
    ----------
    label : str
        What it means.
    address : str
        The page with this answer.
    """

    label: str
    address: str


def list_reading(query: Any) -> dict[str, Any]:
    """Return the options of a query that say how to read files."""
    names = ("kind", "n_features", "top", "transpose", "candidate", "lists")
    return {name: getattr(query, name) for name in names if hasattr(query, name)}


def read_question(site: Site, error: TaskError, query: Any) -> tuple[Question | None, str]:
    """Return what a task asked, if an option of the page answers it, or why the task could not answer."""
    question = None if error.question is None else from_plain(Question, dict(error.question))
    if question is not None and not hasattr(query, question.option):
        return None, question.sentence.rpartition(". ")[0] + "."
    return question, "" if question else site.folder.shown(plain_sentence(str(error)))


def list_changes(query: Any) -> list[tuple[str, str]]:
    """Return what differs from the defaults, as it stands in an address."""
    pairs: list[tuple[str, str]] = []
    for field in fields(query):
        value = getattr(query, field.name)
        if value != field.default:
            pairs += [(field.name, _as_text(item)) for item in (value if isinstance(value, tuple) else (value,))]
    return pairs


def _as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def list_answers(address: str, query: Any, question: Question | None) -> tuple[Answer, ...]:
    """Return the answers to a question, each with the page that it leads to."""
    if question is None:
        return ()
    others = [(name, value) for name, value in list_changes(query) if name != question.option]
    return tuple(
        Answer(label=label, address=f"{address}?{urlencode([*others, (question.option, value)])}")
        for value, label in question.choices
    )
