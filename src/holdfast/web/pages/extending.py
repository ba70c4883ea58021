"""Adding resamples or selectors to a study."""

import os
from dataclasses import dataclass

from holdfast.web.guard import RefusedError
from holdfast.web.launcher import StudyState
from holdfast.web.planning import growing, starting
from holdfast.web.planning.offers import Offer
from holdfast.web.planning.plans import Part
from holdfast.web.routing import Routes
from holdfast.web.site import Site

routes = Routes()
MORE = 50
"""Resamples to add if nothing is said; of repeated folds, one repetition."""


@dataclass(frozen=True, kw_only=True)
class ExtendPage:
    """What can be added to a study.

    Attributes
    ----------
    state : StudyState
        What it is doing.
    why_not : str
        Why nothing can be added; empty if something can.
    unit : str
        What its resamples are counted in, in words.
    number : int
        How many there are to be now.
    more : int
        How many to add, to begin with; 0 if there cannot be more.
    selectors : tuple of Offer
        Selectors that it does not have.
    sizes : str
        Numbers of features that its selectors are cut to.
    cores, most_cores : int
        Number of cores to begin with, and that there are.
    """

    state: StudyState
    why_not: str = ""
    unit: str = ""
    number: int = 0
    more: int = 0
    selectors: tuple[Offer, ...] = ()
    sizes: str = ""
    cores: int = 1
    most_cores: int = 1


@dataclass(frozen=True, kw_only=True)
class ExtendRequest:
    """What is to be added to a study.

    Attributes
    ----------
    resamples : int
        How many resamples (pairs, or repetitions of folds) to add.
    selectors : tuple of Part
        Selectors to add; they are fitted to all resamples.
    sizes : str
        Numbers of features that these select, such as ``5, 10, 20``; empty if each has its own.
    cores : int
        Number of processes.
    """

    resamples: int = 0
    selectors: tuple[Part, ...] = ()
    sizes: str = ""
    cores: int = 1


@routes.page("/studies/{study}/extend", "extend_page.html.j2")
def show_extension(site: Site, study: str) -> ExtendPage:
    """Show what can be added to a study."""
    state = site.launcher.state(study)
    try:
        growth = growing.read_growth(site, study)
    except RefusedError as refusal:
        return ExtendPage(state=state, why_not=refusal.sentence)
    return ExtendPage(
        state=state,
        unit=growth.grows.removeprefix("n_").replace("splits", "resamples").replace("repeats", "repetitions"),
        number=growth.number,
        more=0 if not growth.grows else 1 if growth.grows == "n_repeats" else MORE,
        selectors=tuple(growth.selectors),
        sizes=growth.sizes,
        cores=starting.usual_cores(),
        most_cores=os.cpu_count() or 1,
    )


@routes.action("POST", "/studies/{study}/extend", status=202)
def extend_study(site: Site, study: str, body: ExtendRequest) -> StudyState:
    """Add resamples or selectors to a study, and go on with it; what it found stays."""
    return growing.grow(
        site, study, resamples=body.resamples, selectors=body.selectors, sizes=body.sizes, cores=body.cores
    )
