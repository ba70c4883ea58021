"""A new study: a table is chosen and read, a plan is made and started; and adding to a study."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from holdfast.datasets.real import DATASETS, available
from holdfast.io.inspection import TableInspection
from holdfast.io.loading import ENDINGS
from holdfast.io.options import DEFAULTS, OPTIONS
from holdfast.selectors import SELECTORS
from holdfast.serialization import from_plain
from holdfast.study.requirements import can_adjust
from holdfast.web import plans, tables
from holdfast.web.folder import Upload
from holdfast.web.forms import FormChoices, FormPart, available_parts, describe_options
from holdfast.web.guard import RefusedError
from holdfast.web.launcher import StudyState
from holdfast.web.plans import Cost, DataChoice, ExtendRequest, StudyRequest
from holdfast.web.rendering import Page
from holdfast.web.routing import Routes, make_address
from holdfast.web.site import Site
from holdfast.web.tables import Facts, TableQuery
from holdfast.web.worker import TaskError

routes = Routes()
MAX_FOUND = 50
WORDS = {
    "error": "ask", "impute-median": "fill in the median", "drop": "leave out", "codes": "numbers for texts",
    "one-hot": "a yes/no column for each text", "classification": "classes", "regression": "numbers",
    "survival": "survival times",
    ".": "point (1.5)", ",": "comma (1,5)",
}  # fmt: skip
"""Values of options, where their names are not clear enough; a value of another option is shown as it is."""
ADDING_UP = ("ignore", "treat_as_feature")
"""Options whose values are added to earlier ones."""


@routes.page("/new", "new.html.j2")
def choose_data(site: Site) -> Page:
    """List the tables that a study can be made of."""
    known = tuple(DATASETS[name] for name in available())
    return Page(uploads=tuple(site.uploads.list("table")), known=known, endings=tuple(ENDINGS))


@routes.page("/data/known/{name}", "table.html.j2")
async def show_known(site: Site, name: str) -> Page:
    """Show a data set that needs no file."""
    table = from_plain(TableInspection, await site.run_task("inspect_known", {"name": tables.find_known(name)}))
    address = f"/data/known/{name}"
    return Page(
        name=name, address=address, is_known=True, table=table, how=describe_reading(table), plan=f"{address}/plan",
        reading=tables.AS_FOUND, said=(), passed_on=(), problem="", fields=(), others=(), may_be_sites=(),
    )  # fmt: skip


@routes.page("/data/{upload}", "table.html.j2")
async def show_table(site: Site, upload: str, query: TableQuery) -> Page:
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
    roles = () if table is None or asked == "target" else zip(table.header, table.roles, strict=True)
    others = tuple(other for other in site.uploads.list("table") if other.upload != file.upload)
    return Page(
        name=file.name, address=address, is_known=False, reading=query, said=query.pairs,
        passed_on=tuple(pair for pair in query.pairs if pair[0] != asked or asked in ADDING_UP),
        table=table, problem=problem, how="" if table is None else describe_reading(table), others=others,
        may_be_sites=[name for name, role in roles if role == "looks like sites" and name not in query.ignore],
        fields=list_fields(query, () if table is None else table.sheets, others),
        plan=make_address(f"{address}/plan", query.pairs) if ready else "",
    )  # fmt: skip


def list_fields(query: TableQuery, sheets: Sequence[str], others: Sequence[Upload]) -> list[dict[str, Any]]:
    """Return a field of the form for every option of reading a table, with its values where these are few."""
    fields = []
    for name, option in OPTIONS.items():
        values = dict.fromkeys(option.metavar.split("|") if "|" in option.metavar else ())
        choices = {value: WORDS.get(value, value) for value in values if value != DEFAULTS[name]}
        if option.kind == "flag":
            choices = {"true": "yes", "false": "no"}
        if name == "sheet" and len(sheets) > 1:
            choices = dict(zip(sheets, sheets, strict=True))
        if option.kind == "file":
            choices = {other.upload: other.name for other in others}
        if option.in_commands and (choices or option.kind != "file"):
            value = getattr(query, name)
            fields.append({
                "name": name, "kind": option.kind, "label": option.help.rstrip("."), "choices": choices,
                "default": WORDS.get(str(DEFAULTS[name]), "none" if option.kind == "file" else "as found"),
                "value": "" if value is None else str(value).lower() if isinstance(value, bool) else value,
            })  # fmt: skip
    return fields


def describe_reading(table: TableInspection) -> str:
    """Say how a table was read: its size and its format."""
    if not table.rows:
        return "It could not be read as a table yet; these are its first lines."
    size = f"{table.rows:,} rows and {table.columns:,} columns"
    is_said = not table.file_format or any(note.startswith("Read as ") for note in table.notes)
    return f"{size}." if is_said else f"{size}, read as {table.file_format}."


@dataclass(frozen=True, kw_only=True)
class ColumnQuery(TableQuery):
    """Which columns are sought, of a table that is read like this.

    Attributes
    ----------
    text : str
        Part of a name.
    """

    text: str = ""


@routes.data("/data/{upload}/columns")
async def search_columns(site: Site, upload: str, query: ColumnQuery) -> dict[str, Any]:
    """Find columns of a table by a part of their names."""
    columns = await tables.find_columns(site, tables.find_table(site, upload), query, query.text)
    return {"columns": columns[:MAX_FOUND], "total": len(columns)}


# The plan


SIZES = (1, 2, 3, 5, 10, 20, 50)
N_SIZES = 3
LARGE_SIZE, WIDE = 20, 500
"""Sizes above the first are for tables of at least the second number of features."""
MANY_ENTRIES = 5_000_000
"""Of a table with more entries, fewer resamples are made at first."""


@routes.page("/data/known/{name}/plan", "plan.html.j2")
def plan_known(site: Site, name: str) -> Page:
    """Show what a study of a known data set can be made of."""
    return _page(site, tables.known_facts(name), DataChoice(known=name), f"/data/known/{name}")


@routes.page("/data/{upload}/plan", "plan.html.j2")
async def plan_table(site: Site, upload: str, query: TableQuery) -> Page:
    """Show what a study of a table can be made of."""
    file = tables.find_table(site, upload)
    facts = tables.read_facts(await tables.inspect(site, file, query))
    back = make_address(f"/data/{file.upload}", query.pairs)
    return _page(site, facts, DataChoice(upload=file.upload, reading=query), back)


def _page(site: Site, facts: Facts, data: DataChoice, address: str) -> Page:
    offers, options = available_parts(facts.task, facts.n_classes), describe_options()
    if facts.rows * facts.features > MANY_ENTRIES:
        offers = replace(offers, perturbations=tuple(map(_with_fewer, offers.perturbations)))
    if data.reading.sites or data.reading.covariates:
        offers = _choose_adjusted(offers, facts)
        if facts.task == "survival":
            options = tuple(replace(one, default="no") if one.name == "adjust" else one for one in options)
    return Page(
        facts=facts,
        data=data,
        back=address,
        offers=offers,
        sizes=", ".join(map(str, default_sizes(facts.features))),
        cores=plans.default_cores(),
        most_cores=os.cpu_count() or 1,
        options=options,
        study=site.folder.new_name(facts.name),
    )


def default_sizes(features: int) -> list[int]:
    """Numbers of features to select that suit a table: at most half of them."""
    most = features / 2 if features >= WIDE else min(features / 2, LARGE_SIZE)
    return [size for size in SIZES if size <= max(most, 1)][-N_SIZES:]


def _choose_adjusted(offers: FormChoices, facts: Facts) -> FormChoices:
    """Choose those selectors at first that can be adjusted for sites and covariates."""
    if facts.task == "survival":
        said = "For survival times selections cannot be adjusted for sites and covariates; models have the covariates."
        return replace(offers, left_out=said)
    no = "“no” for “Adjust the selection”"
    selectors = tuple(
        replace(offer, chosen=offer.chosen and can_adjust(SELECTORS[offer.name].make, facts.n_classes))
        for offer in offers.selectors
    )
    said = f"Those that are chosen can be adjusted for sites and covariates; others may need {no}."
    return replace(offers, selectors=selectors, left_out=f"{said} {offers.left_out}")


def _with_fewer(offer: FormPart) -> FormPart:
    """The same with half as many resamples."""
    halved = [
        replace(parameter, default=str(max(int(parameter.default) // 2, 2)))
        if parameter.name == offer.grows and offer.chosen
        else parameter
        for parameter in offer.parameters
    ]
    return replace(offer, parameters=tuple(halved))


@routes.action("POST", "/cost")
async def estimate_cost(site: Site, body: StudyRequest) -> Cost:
    """Estimate what a study would cost, by two fits of each selector; nothing is stored."""
    return await plans.estimate_cost(site, body)


@routes.action("POST", "/studies", status=202)
async def start_study(site: Site, body: StudyRequest) -> StudyState:
    """Start a study, or put it into the queue; its name is in the answer."""
    return await plans.start(site, body)


# Adding to a study


MORE = 50
"""Resamples to add by default; of repeated folds, one repetition."""


@routes.page("/studies/{study}/extend", "extend_page.html.j2")
def show_extension(site: Site, study: str) -> Page:
    """Show what can be added to a study."""
    state = site.launcher.state(study)
    try:
        growth = plans.read_growth(site, study)
    except RefusedError as refusal:
        return Page(state=state, why_not=refusal.sentence)
    return Page(
        state=state,
        why_not="",
        unit=growth.grows.removeprefix("n_").replace("splits", "resamples").replace("repeats", "repetitions"),
        number=growth.number,
        more=0 if not growth.grows else 1 if growth.grows == "n_repeats" else MORE,
        selectors=tuple(growth.selectors),
        sizes=growth.sizes,
        cores=plans.default_cores(),
        most_cores=os.cpu_count() or 1,
    )


@routes.action("POST", "/studies/{study}/extend", status=202)
def extend_study(site: Site, study: str, body: ExtendRequest) -> StudyState:
    """Add resamples or selectors to a study, and go on with it; what it found stays."""
    return plans.grow(site, study, body)
