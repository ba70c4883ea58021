"""The first page: what can be done here, and the studies of the folder."""

from dataclasses import dataclass

from starlette.responses import StreamingResponse

from holdfast.benchmarking.running import LIST
from holdfast.web.launcher import StudyState
from holdfast.web.overviews import StudyOverview
from holdfast.web.routing import Routes
from holdfast.web.site import Site

routes = Routes()


@dataclass(frozen=True, kw_only=True)
class HomeQuery:
    """What to tell on the first page.

    Attributes
    ----------
    removed : str
        Name of a study that was just removed.
    """

    removed: str = ""


@dataclass(frozen=True, kw_only=True)
class ListedStudy:
    """A study of the folder.

    Attributes
    ----------
    state : StudyState
        What it is doing.
    overview : StudyOverview or None
        What it is about; None while that is not known.
    """

    state: StudyState
    overview: StudyOverview | None


@dataclass(frozen=True, kw_only=True)
class HomePage:
    """The studies of the folder, and what they are doing.

    Attributes
    ----------
    folder : str
        Name of the folder.
    studies : tuple of ListedStudy
        The studies: those that are active first, then the newest.
    at_once : int
        How many run at a time.
    benchmark : bool
        Whether the studies are the data sets of a benchmark.
    removed : str
        Where the store of a study lies that was just removed; empty if none was.
    """

    folder: str
    studies: tuple[ListedStudy, ...]
    at_once: int
    benchmark: bool
    removed: str


@routes.page("/", "home.html.j2")
def show_home(site: Site, query: HomeQuery) -> HomePage:
    """List the studies of the folder, with what each is about."""
    place = site.folder.find_removed(query.removed)
    return HomePage(
        folder=site.folder.path.name,
        studies=tuple(
            ListedStudy(state=state, overview=site.overviews.get(study))
            for study, state in site.launcher.states().items()
        ),
        at_once=site.launcher.at_once,
        benchmark=(site.folder.path / LIST).is_file(),
        removed="" if place is None else str(place.relative_to(site.folder.path)),
    )


@dataclass(frozen=True, kw_only=True)
class StudyList:
    """The studies of the folder.

    Attributes
    ----------
    studies : tuple of StudyState
        The studies: those that are active first, then the newest.
    """

    studies: tuple[StudyState, ...]


@routes.data("/studies")
def list_studies(site: Site) -> StudyList:
    """List the studies of the folder, with how far each has come."""
    return StudyList(studies=tuple(site.launcher.states().values()))


@routes.data("/events")
async def follow_studies(site: Site) -> StreamingResponse:
    """Tell how far all studies have come, and which there are, as server-sent events."""
    return StreamingResponse(site.watch.follow(), media_type="text/event-stream")
