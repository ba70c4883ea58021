"""The plan of a study: parts from the registries, the cost before it starts, and the start."""

import os
from dataclasses import dataclass, replace

from holdfast.web.addresses import make_address
from holdfast.web.launcher import StudyState
from holdfast.web.planning import starting, tables
from holdfast.web.planning.offers import Offer, Offers, make_offers
from holdfast.web.planning.starting import Cost, DataChoice, StudyRequest
from holdfast.web.planning.tables import Facts, TableQuery
from holdfast.web.routing import Routes
from holdfast.web.site import Site

routes = Routes()
SIZES = (1, 2, 3, 5, 10, 20, 50)
N_SIZES = 3
LARGE_SIZE, WIDE = 20, 500
"""Sizes above the first are for tables of at least the second number of features."""
MANY_CELLS = 5_000_000
"""Of a table with more entries, fewer resamples are made at first."""


@dataclass(frozen=True, kw_only=True)
class PlanPage:
    """What a study of a table can be made of, with a plan to begin with.

    Attributes
    ----------
    facts : Facts
        The table.
    data : DataChoice
        The same as it is sent when the study is started.
    back : str
        Address of the table, as it was read.
    offers : Offers
        Selectors, perturbations, models and scores that serve it; the usual ones are marked.
    sizes : str
        Numbers of features to begin with.
    cores, most_cores : int
        Number of cores to begin with, and that there are.
    study : str
        What the study is called if it is given no other name.
    """

    facts: Facts
    data: DataChoice
    back: str
    offers: Offers
    sizes: str
    cores: int
    most_cores: int
    study: str

    @property
    def usual_selectors(self) -> list[Offer]:
        """Selectors that are taken if nothing is said."""
        return [offer for offer in self.offers.selectors if offer.usual]

    @property
    def other_selectors(self) -> list[Offer]:
        """Selectors that may be added."""
        return [offer for offer in self.offers.selectors if not offer.usual]

    @property
    def usual_scores(self) -> list[Offer]:
        """Scores that are taken if nothing is said."""
        return [offer for offer in self.offers.scores if offer.usual]

    @property
    def other_scores(self) -> list[Offer]:
        """Scores that may be added."""
        return [offer for offer in self.offers.scores if not offer.usual]


@routes.page("/data/known/{name}/plan", "plan.html.j2")
def plan_known(site: Site, name: str) -> PlanPage:
    """Show what a study of a known data set can be made of."""
    return _page(site, tables.known_facts(name), DataChoice(known=name), f"/data/known/{name}")


@routes.page("/data/{upload}/plan", "plan.html.j2")
async def plan_table(site: Site, upload: str, query: TableQuery) -> PlanPage:
    """Show what a study of a table can be made of."""
    file = tables.find_table(site, upload)
    facts = tables.read_facts(await tables.inspect(site, file, query))
    back = make_address(f"/data/{file.upload}", query.pairs)
    return _page(site, facts, DataChoice(upload=file.upload, reading=query), back)


def _page(site: Site, facts: Facts, data: DataChoice, address: str) -> PlanPage:
    offers = make_offers(facts.task, facts.n_classes)
    fewer = facts.rows * facts.features > MANY_CELLS
    return PlanPage(
        facts=facts,
        data=data,
        back=address,
        offers=replace(offers, perturbations=tuple(_with_fewer(offer) for offer in offers.perturbations))
        if fewer
        else offers,
        sizes=", ".join(map(str, usual_sizes(facts.features))),
        cores=starting.usual_cores(),
        most_cores=os.cpu_count() or 1,
        study=site.folder.new_name(facts.name),
    )


def usual_sizes(features: int) -> list[int]:
    """Numbers of features to select that suit a table: at most half of them."""
    most = features / 2 if features >= WIDE else min(features / 2, LARGE_SIZE)
    return [size for size in SIZES if size <= max(most, 1)][-N_SIZES:]


def _with_fewer(offer: Offer) -> Offer:
    """The same with half as many resamples."""
    halved = [
        replace(parameter, default=str(max(int(parameter.default) // 2, 2)))
        if parameter.name == offer.grows and offer.usual
        else parameter
        for parameter in offer.parameters
    ]
    return replace(offer, parameters=tuple(halved))


@routes.action("POST", "/cost")
async def estimate_cost(site: Site, body: StudyRequest) -> Cost:
    """Estimate what a study would cost, by two fits of each selector; nothing is kept."""
    return await starting.estimate_cost(site, body)


@routes.action("POST", "/studies", status=202)
async def start_study(site: Site, body: StudyRequest) -> StudyState:
    """Start a study, or put it into the queue; its name is in the answer."""
    return await starting.start(site, body)
