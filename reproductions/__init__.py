"""The tables and figures of five papers, repeated, with the published numbers next to ours and a verdict on each claim.

One package per paper, named by its key in :data:`holdfast.references.REFERENCES`: ``kalousis2005``, ``gulgezen2009``,
``nogueira2016``, ``nogueira2018``, ``hamer2020``; its docstring says what cannot be done again. ``redundancy`` and
``enumeration`` are what the two papers of Nogueira share. An experiment is a function over the public API that is given
a workbench and returns an outcome (:mod:`reproductions.experiments` shows one in ten lines):

- ``experiments``: what an experiment is, and all of them by name
- ``records``: claims with evidence, rule and verdict; tables, pictures, outcomes. ``words.toml``: what "slightly" means
- ``workbench``: what an experiment is given: how much to do, the seed, data sets, studies that continue
- ``exhibits``: the tables and figures of the papers (``exhibits.toml``), and the verdict on each
- ``running``: experiments one after the other, for one seed or several
- ``stored``: finished outcomes in a folder; outcomes over several seeds, and which verdicts a seed changes
- ``pages``: a page for each paper, and one of all tables and figures
"""

from reproductions.experiments import EXPERIMENTS, Experiment
from reproductions.records import Claim, Evidence, Outcome, Picture, Rule, Table
from reproductions.running import reproduce
from reproductions.workbench import Workbench

__all__ = [
    "EXPERIMENTS", "Claim", "Evidence", "Experiment", "Outcome", "Picture", "Rule", "Table", "Workbench", "reproduce"
]  # fmt: skip
