"""The technical words of a report, each explained once in a plain sentence, and the links to these explanations."""

import re
from typing import TYPE_CHECKING

from holdfast.plots.text import clean_lines

if TYPE_CHECKING:
    from markupsafe import Markup

GLOSSARY = {
    "accuracy": "The share of held-out samples that the model predicts correctly.",
    "AUC": (
        "Area under the ROC curve: the chance that a sample of the one class gets a higher prediction than a sample of "
        "the other; 0.5 is guessing, 1 is perfect."
    ),
    "balanced accuracy": "The share of right predictions in each class, averaged over the classes.",
    "bootstrap sample": "As many samples as there are, drawn with replacement: some come twice, some not at all.",
    "candidate": "A selector with its settings: one line of the table of selectors.",
    "chance": "What would happen if features were drawn at random.",
    "consensus": "The features that enough of the resamples selected.",
    "F1 score": "The harmonic mean of precision and recall: 0 is useless, 1 is perfect.",
    "feature": "A measured variable that may be selected: a column of the data, such as a gene.",
    "front": "The candidates that no other candidate beats in both the score and the stability.",
    "guessing": "The best prediction that can be made without any feature, for example always the most common class.",
    "held-out rows": "Samples that took no part in selecting or training; scores are measured on them.",
    "interval": (
        "The range in which a value is likely to lie: a 95 % interval contains, in about 95 of 100 cases, what ever "
        "more resamples of these data would give."
    ),
    "letters": "Candidates that share a letter do not differ significantly in stability.",
    "log loss": "How far predicted probabilities are from the truth; lower is better, so it is shown with a minus.",
    "noise": "Features that carry no information about the target.",
    "R²": "The share of the target's variation that the model explains: 1 is perfect, 0 is no better than the mean.",
    "resample": (
        "A slightly changed version of the data, such as one with some samples left out; the selection is repeated on "
        "each."
    ),
    "score": "How well a model with the selected features predicts held-out samples; higher is better.",
    "selection frequency": "The share of the resamples that selected the feature.",
    "selector": "A method that picks features, such as the lasso or ReliefF.",
    "stability": (
        "How far the resamples agree on which features to select; by the usual measure 0 is agreement by chance, and 1 "
        "is complete agreement."
    ),
    "stand-in": "A feature that is selected instead of another, usually because both carry the same information.",
    "standard error": "How precisely a mean is known; twice that either way is about a 95 % interval.",
    "target": "What is to be predicted: the class, or the number, of each sample.",
    "trade-off": "That the candidate that predicts best is often not the most stable one.",
}  # fmt: skip
"""A plain sentence for each technical word of a report."""

OTHER_FORMS = {
    "frequency": "selection frequency",
    "area under the ROC curve": "AUC",
    "held-out samples": "held-out rows",
}
"""Other forms of the words than their plurals."""


class Glossary:
    """Links words of a page to their explanations, and knows which words the page used.

    A word is linked once in each part of the page, where it is first used, and in every head of a table.
    """

    def __init__(self) -> None:
        self._linked: set[tuple[str, str]] = set()
        self._words = {word.lower(): word for word in GLOSSARY} | {
            form.lower(): OTHER_FORMS[form] for form in OTHER_FORMS
        }
        longest_first = sorted(self._words, key=len, reverse=True)
        self._pattern = re.compile(
            rf"(?<![\w-])({'|'.join(map(re.escape, longest_first))})(s?)(?![\w-])", re.IGNORECASE
        )

    def explain(self, text: str, part: str) -> "Markup":
        """Return a text, escaped, with each technical word linked that this part of the page has not linked yet."""
        from markupsafe import Markup, escape

        def link(found: "re.Match[str]") -> str:
            word = self._words[found[1].lower()]
            if (part, word) in self._linked:
                return found[0]
            self._linked.add((part, word))
            return _link(word, found[0])

        return Markup(self._pattern.sub(link, str(escape(clean_lines(text)))))

    def head(self, text: str) -> "Markup":
        """Return the head of a column, with every technical word linked."""
        return self.explain(text, f"head {len(self._linked)}")

    @property
    def used(self) -> list[tuple[str, str, str]]:
        """Key, word and explanation of all words that were linked so far, in alphabetical order."""
        words = sorted({word for _, word in self._linked}, key=str.lower)
        return [(_key(word), word, GLOSSARY[word]) for word in words]


def _link(word: str, text: str) -> str:
    return f'<a class="term" href="#{_key(word)}">{text}</a>'


def _key(word: str) -> str:
    return "word-" + re.sub(r"\W+", "-", word.lower())
