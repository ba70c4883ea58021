"""A study's own page: how far it has come, what it found so far, and what can be done with it."""

from dataclasses import dataclass

from starlette.responses import StreamingResponse

from holdfast.report import Summary, summarize
from holdfast.web.guard import RefusedError
from holdfast.web.launcher import StudyState
from holdfast.web.routing import Routes
from holdfast.web.site import Site

routes = Routes()


@dataclass(frozen=True, kw_only=True)
class StudyPage:
    """A study: how far it has come, and what it found so far.

    Attributes
    ----------
    state : StudyState
        What it is doing.
    measured : int
        Number of fits behind the summary; the study may have come further.
    summary : Summary or None
        What a report would say now; None before the first results.
    """

    state: StudyState
    measured: int
    summary: Summary | None


@routes.page("/studies/{study}", "study.html.j2")
def show_study(site: Site, study: str) -> StudyPage:
    """Show what a study found so far."""
    state = site.launcher.state(study)
    try:
        snapshot = site.results.get(study)
    except RefusedError:
        return StudyPage(state=state, measured=0, summary=None)
    return StudyPage(
        state=state,
        measured=snapshot.progress.done,
        summary=snapshot.remember("summary", lambda result: summarize(result)),
    )


@routes.data("/studies/{study}/state")
async def read_state(site: Site, study: str) -> StudyState:
    """Tell how far a study has come, without reading its results."""
    return await site.watch.state(study)


@routes.data("/studies/{study}/events")
async def follow_study(site: Site, study: str) -> StreamingResponse:
    """Tell how far a study has come, as server-sent events, until it ends."""
    await site.watch.state(study)
    return StreamingResponse(site.watch.follow(study), media_type="text/event-stream")


@routes.action("POST", "/studies/{study}/stop")
def stop_study(site: Site, study: str) -> StudyState:
    """Stop a study, or take it out of the queue; what is finished stays, and it can be resumed."""
    return site.launcher.stop(study)


@routes.action("POST", "/studies/{study}/resume", status=202)
def resume_study(site: Site, study: str) -> StudyState:
    """Go on with a study that was stopped."""
    site.launcher.state(study)
    return site.launcher.submit(study, ["resume", "--quiet", "--", str(site.folder.store_of(study))])
