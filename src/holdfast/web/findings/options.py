"""How the results of a study are to be shown: candidate, rule with its parameters, measure, score and level."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast.plots.text import shorten
from holdfast.tradeoff import RULES
from holdfast.tradeoff.rules import Rule
from holdfast.web.addresses import Pairs, list_changes
from holdfast.web.choices import NamedOption
from holdfast.web.findings.candidates import CommonOptions, CommonQuery, check_candidate, choose_options, find_labels
from holdfast.web.findings.rule_parameters import (
    RuleParameter,
    check_names,
    describe_inputs,
    describe_rule,
    missing_parameters,
    own_parameters,
    read_parameters,
)
from holdfast.web.results import Snapshot

USUAL_RULE = "one-se"


@dataclass(frozen=True, kw_only=True)
class ResultQuery(CommonQuery):
    """How the results of a study are to be shown.

    Attributes
    ----------
    candidate : str
        The candidate to report; the chosen one by default.
    rule : str
        How a candidate is chosen.
    parameters : object
        Parameters of the rule, each under its own name; those of other rules are passed over.
    """

    candidate: str = ""
    rule: str = USUAL_RULE
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def found_rule(self) -> Rule:
        """The rule that was asked for."""
        return RULES.find(self.rule)

    @property
    def rule_texts(self) -> dict[str, str]:
        """Parameters of the rule, as they were typed."""
        texts = own_parameters(self.found_rule, self.parameters)
        check_names(self.found_rule, texts)
        return texts

    @property
    def lacking(self) -> str:
        """What the rule cannot do without and was not given, in a sentence; empty if it has all."""
        return missing_parameters(self.found_rule, self.rule_texts)

    @property
    def pairs(self) -> Pairs:
        """What differs from the usual, as it stands in an address."""
        return list_changes(replace(self, parameters=self.rule_texts), ResultQuery)

    @property
    def arguments(self) -> dict[str, Any]:
        """All of it, as :func:`holdfast.report.summarize` takes it; the usual rule while this one lacks a value."""
        rule = {} if self.lacking else {
            "rule": self.found_rule.about.name, **read_parameters(self.found_rule, self.rule_texts)
        }  # fmt: skip
        return {
            "candidate": self.candidate or None, "measure": self.measure or None, "metric": self.metric or None,
            "level": self.level, **rule,
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ResultOptions:
    """How results are shown, and how they could be shown instead.

    Attributes
    ----------
    candidate : str
        The candidate that was asked for; empty for the one that the rule chooses.
    candidates : tuple of NamedOption
        The candidates.
    rule : NamedOption
        How a candidate is chosen.
    rules : tuple of NamedOption
        All rules.
    parameters : tuple of RuleParameter
        Parameters of the rule.
    lacking : str
        What the rule lacks, in a sentence; the usual one is used meanwhile.
    common : CommonOptions
        Measure, score and level.
    """

    candidate: str
    candidates: tuple[NamedOption, ...]
    rule: NamedOption
    rules: tuple[NamedOption, ...]
    parameters: tuple[RuleParameter, ...]
    lacking: str
    common: CommonOptions


def list_options(snapshot: Snapshot, query: ResultQuery) -> ResultOptions:
    """Return how a study is shown, and how it could be shown instead; what is not possible is an error."""
    if query.candidate:
        check_candidate(snapshot.result, query.candidate)
    labels = find_labels(snapshot)
    named = {name: shorten(labels.candidate(name), 110) for name in snapshot.result.candidates}
    return ResultOptions(
        candidate=query.candidate,
        candidates=tuple(NamedOption(name=name, label=label) for name, label in named.items()),
        rule=describe_rule(query.found_rule),
        rules=tuple(map(describe_rule, RULES.values())),
        parameters=describe_inputs(query.found_rule, query.rule_texts),
        lacking=query.lacking,
        common=choose_options(snapshot, query.measure, query.metric, query.level),
    )
