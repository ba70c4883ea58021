"""The tables and figures of five papers, repeated, with the published numbers next to ours and a verdict on each claim.

One package per paper, named by its key in :data:`holdfast.references.REFERENCES`: ``kalousis2005``, ``gulgezen2009``,
``nogueira2016``, ``nogueira2018``, ``hamer2020``; its docstring says what cannot be done again. ``redundancy`` is what
the two papers of Nogueira share. An experiment is a function over the public API that is given a workbench and returns
an outcome:

- ``experiments``: what an experiment is, and all of them by name
- ``records``: outcomes: checks with their verdict, tables, pictures, notes
- ``workbench``: what an experiment works with: how much to do, data sets, studies that go on where they were stopped
- ``running``: experiments one after the other; what is finished is kept
- ``kept``: finished outcomes in a folder
- ``pages``: a page per paper, and one of all verdicts
"""

from reproductions.experiments import EXPERIMENTS, Experiment
from reproductions.records import Check, Outcome, Picture, Table
from reproductions.running import reproduce
from reproductions.workbench import Workbench

__all__ = ["EXPERIMENTS", "Check", "Experiment", "Outcome", "Picture", "Table", "Workbench", "reproduce"]
