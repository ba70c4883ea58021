"""New study: a table is uploaded or chosen, looked at, and read; questions that it leaves open are choices."""

from dataclasses import dataclass

from holdfast.datasets.catalog import DATASETS, DatasetInfo
from holdfast.datasets.real import available
from holdfast.io.inspection import TableInspection
from holdfast.io.loading import ENDINGS
from holdfast.serialization import from_plain
from holdfast.web.addresses import make_address
from holdfast.web.planning import tables
from holdfast.web.planning.tables import AS_FOUND, TableQuery
from holdfast.web.routing import Routes
from holdfast.web.site import Site
from holdfast.web.uploads import Upload
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
