"""What the pages ask about files of selections: the questions of the readers, with a page for each answer."""

from dataclasses import dataclass
from typing import Any

from holdfast.io.questions import Question
from holdfast.serialization import from_plain
from holdfast.web.addresses import list_changes, make_address
from holdfast.web.selections.reading import plain_sentence
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
    names = ("kind", "n_features", "top", "transpose", "candidate", "layout")
    return {name: getattr(query, name) for name in names if hasattr(query, name)}


def read_question(site: Site, error: TaskError, query: Any) -> tuple[Question | None, str]:
    """Return what a task asked, if an option of the page answers it, or why the task could not answer."""
    question = None if error.question is None else from_plain(Question, dict(error.question))
    if question is not None and not hasattr(query, question.option):
        return None, question.sentence.rpartition(". ")[0] + "."
    return question, "" if question else site.folder.shown(plain_sentence(str(error)))


def list_answers(address: str, query: Any, question: Question | None) -> tuple[Answer, ...]:
    """Return the answers to a question, each with the page that it leads to."""
    if question is None:
        return ()
    others = [(name, value) for name, value in list_changes(query) if name != question.option]
    return tuple(
        Answer(label=label, address=make_address(address, [*others, (question.option, value)]))
        for value, label in question.choices
    )
