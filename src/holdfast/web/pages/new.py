"""A new study: a table is chosen and read, a plan is made and started; and adding to a study."""

import os
from dataclasses import dataclass, replace

from holdfast.datasets.catalog import DATASETS, DatasetInfo
from holdfast.datasets.real import available
from holdfast.io.inspection import TableInspection
from holdfast.io.loading import ENDINGS
from holdfast.serialization import from_plain
from holdfast.web import plans, tables
from holdfast.web.folder import Upload
from holdfast.web.forms import Offer, Offers, make_offers
from holdfast.web.guard import RefusedError
from holdfast.web.launcher import StudyState
from holdfast.web.plans import Cost, DataChoice, Part, StudyRequest
from holdfast.web.routing import Routes, make_address
from holdfast.web.site import Site
from holdfast.web.tables import AS_FOUND, Facts, TableQuery
from holdfast.web.worker import TaskError

routes = Routes()
MOST_FOUND = 50
ADDING_UP = ("ignore", "accept")
"""Options whose values join those that were given before."""


@dataclass(frozen=True, kw_only=True)
class KnownData:
    """A data set that needs no file.

    Attributes
    ----------
    name : str
        Its name.
    samples, features : int
        Its size.
    predicts : str
        What is predicted, in words.
    notes : str
        What to know of it.
    """

    name: str
    samples: int
    features: int
    predicts: str
    notes: str


@dataclass(frozen=True, kw_only=True)
class NewPage:
    """Where a study begins: with a table.

    Attributes
    ----------
    uploads : tuple of Upload
        Tables that were uploaded, the newest first.
    known : tuple of KnownData
        Data sets that are on this machine.
    endings : tuple of str
        Endings of files that can be read.
    """

    uploads: tuple[Upload, ...]
    known: tuple[KnownData, ...]
    endings: tuple[str, ...]


@routes.page("/new", "new.html.j2")
def choose_data(site: Site) -> NewPage:
    """List the tables that a study can be made of."""
    known = [describe_known(DATASETS[name]) for name in available()]
    return NewPage(uploads=tuple(site.uploads.list("table")), known=tuple(known), endings=tuple(ENDINGS))


def describe_known(info: DatasetInfo) -> KnownData:
    """Return what is said of a data set."""
    classes = "numbers" if info.classes is None else f"{len(info.classes)} classes"
    return KnownData(
        name=info.name, samples=info.n_samples, features=info.n_features, predicts=classes, notes=" ".join(info.notes)
    )


@dataclass(frozen=True, kw_only=True)
class TablePage:
    """A table: how it was read, and what has to be decided before a study can use it.

    Attributes
    ----------
    name : str
        Name of the file or data set.
    address : str
        Address of this page, without anything that was said.
    is_known : bool
        Whether it is a known data set, which has no options.
    reading : TableQuery
        What was said about reading it.
    said : tuple of (str, str)
        The same, as it stands in the address.
    kept : tuple of (str, str)
        What stays said when the open question is answered.
    table : TableInspection or None
        What was seen; None if nothing could be read.
    problem : str
        Why it cannot be used; empty if it can, or if a question is open.
    how : str
        How it was read, as a sentence.
    sheets : tuple of (str, str)
        Tables in the file, by their names.
    others : tuple of Upload
        Other tables that were uploaded, one of which may hold the target.
    second_tables : tuple of (str, str)
        The same by their keys, with their names.
    plan : str
        Address of the plan of a study; empty if the table cannot be used yet.
    """

    name: str
    address: str
    is_known: bool = False
    reading: TableQuery = AS_FOUND
    said: tuple[tuple[str, str], ...] = ()
    kept: tuple[tuple[str, str], ...] = ()
    table: TableInspection | None = None
    problem: str = ""
    how: str = ""
    sheets: tuple[tuple[str, str], ...] = ()
    others: tuple[Upload, ...] = ()
    second_tables: tuple[tuple[str, str], ...] = ()
    plan: str = ""


@routes.page("/data/known/{name}", "table.html.j2")
async def show_known(site: Site, name: str) -> TablePage:
    """Show a data set that needs no file."""
    found = from_plain(TableInspection, await site.run_task("inspect_known", {"name": tables.find_known(name)}))
    address = f"/data/known/{name}"
    return TablePage(
        name=name, address=address, is_known=True, table=found, how=describe_reading(found), plan=f"{address}/plan"
    )


@routes.page("/data/{upload}", "table.html.j2")
async def show_table(site: Site, upload: str, query: TableQuery) -> TablePage:
    """Show how a table was read, and ask what it leaves open."""
    file = tables.find_table(site, upload)
    table, problem, address = None, "", f"/data/{file.upload}"
    try:
        table = await tables.inspect(site, file, query)
        problem = site.folder.shown(table.problem)
    except TaskError as error:
        problem = site.folder.shown(str(error))
    asked = "" if table is None or table.question is None else table.question.option
    ready = table is not None and table.record is not None
    others = tuple(other for other in site.uploads.list("table") if other.upload != file.upload)
    return TablePage(
        name=file.name,
        address=address,
        reading=query,
        said=query.pairs,
        kept=tuple(pair for pair in query.pairs if pair[0] != asked or asked in ADDING_UP),
        table=table,
        problem=problem,
        how="" if table is None else describe_reading(table),
        sheets=(("", "ask"), *((sheet, sheet) for sheet in ([] if table is None else table.sheets))),
        others=others,
        second_tables=(("", "none"), *((other.upload, other.name) for other in others)),
        plan=make_address(f"{address}/plan", query.pairs) if ready else "",
    )


def describe_reading(found: TableInspection) -> str:
    """Say how a table was read: its size and its format."""
    if not found.rows:
        return "It could not be read as a table yet; these are its first lines."
    size = f"{found.rows:,} rows and {found.columns:,} columns"
    is_said = not found.file_format or any(note.startswith("Read as ") for note in found.notes)
    return f"{size}." if is_said else f"{size}, read as {found.file_format}."


@dataclass(frozen=True, kw_only=True)
class ColumnQuery(TableQuery):
    """Which columns are sought, of a table that is read like this.

    Attributes
    ----------
    text : str
        Part of a name.
    """

    text: str = ""


@dataclass(frozen=True, kw_only=True)
class ColumnList:
    """Names of columns.

    Attributes
    ----------
    columns : tuple of str
        The first names that were found.
    total : int
        How many were found.
    """

    columns: tuple[str, ...]
    total: int


@routes.data("/data/{upload}/columns")
async def search_columns(site: Site, upload: str, query: ColumnQuery) -> ColumnList:
    """Find columns of a table by a part of their names."""
    found = await tables.find_columns(site, tables.find_table(site, upload), query, query.text)
    return ColumnList(columns=tuple(found[:MOST_FOUND]), total=len(found))


# The plan


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
        cores=plans.usual_cores(),
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
    return await plans.estimate_cost(site, body)


@routes.action("POST", "/studies", status=202)
async def start_study(site: Site, body: StudyRequest) -> StudyState:
    """Start a study, or put it into the queue; its name is in the answer."""
    return await plans.start(site, body)


# Adding to a study


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
        growth = plans.read_growth(site, study)
    except RefusedError as refusal:
        return ExtendPage(state=state, why_not=refusal.sentence)
    return ExtendPage(
        state=state,
        unit=growth.grows.removeprefix("n_").replace("splits", "resamples").replace("repeats", "repetitions"),
        number=growth.number,
        more=0 if not growth.grows else 1 if growth.grows == "n_repeats" else MORE,
        selectors=tuple(growth.selectors),
        sizes=growth.sizes,
        cores=plans.usual_cores(),
        most_cores=os.cpu_count() or 1,
    )


@routes.action("POST", "/studies/{study}/extend", status=202)
def extend_study(site: Site, study: str, body: ExtendRequest) -> StudyState:
    """Add resamples or selectors to a study, and go on with it; what it found stays."""
    return plans.grow(
        site, study, resamples=body.resamples, selectors=body.selectors, sizes=body.sizes, cores=body.cores
    )
