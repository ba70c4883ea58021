"""The first page: what can be done here, and the studies of the folder."""

from dataclasses import dataclass

from holdfast.web.launcher import StudyState
from holdfast.web.routing import Routes
from holdfast.web.site import Site

routes = Routes()


@dataclass(frozen=True, kw_only=True)
class HomePage:
    """The studies of the folder, and what they are doing.

    Attributes
    ----------
    folder : str
        Name of the folder.
    studies : tuple of StudyState
        The studies: those that are active first, then the newest.
    at_once : int
        How many run at a time.
    """

    folder: str
    studies: tuple[StudyState, ...]
    at_once: int


@routes.page("/", "home.html.j2")
def show_home(site: Site) -> HomePage:
    """List the studies of the folder."""
    states = site.launcher.states().values()
    return HomePage(folder=site.folder.path.name, studies=tuple(states), at_once=site.launcher.at_once)


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
