"""The first page with the studies of the folder, and a study's own page: how far it has come, and what it found."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import StreamingResponse

from holdfast.benchmarking.running import LIST
from holdfast.report.building import describe_replication
from holdfast.report.pictures import draw_figures
from holdfast.report.verdict import make_verdict
from holdfast.web import results
from holdfast.web.guard import RefusedError
from holdfast.web.launcher import StudyState
from holdfast.web.pages.features import find_columns
from holdfast.web.pages.files import list_files
from holdfast.web.rendering import Page
from holdfast.web.routing import Routes, study_address
from holdfast.web.site import Site

routes = Routes()


@dataclass(frozen=True, kw_only=True)
class HomeQuery:
    """What the first page reports.

    Attributes
    ----------
    removed : str
        Name of a study that was just removed.
    """

    removed: str = ""


@routes.page("/", "home.html.j2")
def show_home(site: Site, query: HomeQuery) -> Page:
    """List the studies of the folder, with what each is about."""
    trash = site.folder.find_removed(query.removed)
    return Page(
        folder=site.folder.path.name,
        studies=tuple(
            {"state": state, "overview": site.overviews.get(study)} for study, state in site.launcher.states().items()
        ),
        at_once=site.launcher.at_once,
        benchmark=(site.folder.path / LIST).is_file(),
        removed="" if trash is None else str(trash.relative_to(site.folder.path)),
    )


@routes.data("/studies")
def list_studies(site: Site) -> dict[str, Any]:
    """List the studies of the folder, with how far each has come."""
    return {"studies": list(site.launcher.states().values())}


@routes.data("/events")
async def follow_studies(site: Site) -> StreamingResponse:
    """Return how far all studies have come, and which there are, as server-sent events."""
    return StreamingResponse(site.watch.follow(), media_type="text/event-stream")


# One study


AT_ONCE = 0.1
"""Seconds that a page may wait for results; with more to wait, it comes without and its script asks for them."""


@dataclass(frozen=True, kw_only=True)
class StudyQuery(results.ResultQuery):
    """How the results of a study are to be shown.

    Attributes
    ----------
    complete : bool
        Whether to wait for the results however long they take; the page's script and programs always wait.
    """

    complete: bool = False


def list_figures(page: Page) -> Mapping[str, str]:
    """Return the figures that were drawn of the results."""
    return {} if page.results is None else page.results["figures"]


def name_parts(page: Page) -> Mapping[str, Any]:
    """Name what the templates of a report say, and where the pages of features are."""
    if page.results is None:
        return {}
    summary, study = page.results["summary"], page.state.study
    parts = {**results.named_parts(summary), "on_page": True}
    features = summary.features
    if features is None:
        return parts
    named = {name for row in features.shown for name in (row.feature, *row.stand_ins)}
    columns = {
        name: column
        for name, column in zip(features.table.feature, page.results["columns"], strict=True)
        if name in named
    }
    return parts | {
        "feature_addresses": address_features(study, summary.candidate, columns),
        "feature_page": study_address(study, "features/PLACE", (("candidate", summary.candidate or ""),)),
        "feature_places": page.results["columns"],
    }


def address_features(study: str, candidate: str | None, columns: Mapping[str, int]) -> dict[str, str]:
    """Return the addresses of the pages of features, by their names."""
    chosen = (("candidate", candidate or ""),)
    return {name: study_address(study, f"features/{column}", chosen) for name, column in columns.items()}


def find_details(snapshot: results.Snapshot, study: str, query: results.ResultQuery) -> dict[str, Any]:
    """Return the whole report of a study."""
    summary = results.summary_of(snapshot, query)
    shown = () if summary.features is None else summary.features.table.feature
    return {"summary": summary, "figures": results.drawn_figures(summary), "columns": find_columns(snapshot, shown)}


@routes.page("/studies/{study}/details", "study_details.html.j2", draw=list_figures, parts=name_parts)
async def show_details(site: Site, study: str, query: StudyQuery, request: Request) -> Page:
    """Show all that the report of a study says."""
    return await _show_study(site, study, query, request, find_details)


MAX_LISTED = 10
"""Features on the overview."""
ENOUGH_RESAMPLES = 10
"""Resamples before which nothing is said of a study that still runs."""


def find_overview(snapshot: results.Snapshot, study: str, query: results.ResultQuery) -> dict[str, Any]:
    """Return the answers to the three questions of an overview, and the most frequent features."""
    findings = results.findings_of(snapshot, query)
    figures = snapshot.remember(  # score against stability; with one candidate, which resamples selected which features
        ("picture", *query.arguments.items()),
        lambda _: draw_figures(findings, ["front"]) or draw_figures(findings, ["map"]),
    )
    shown = () if findings.features is None else findings.features.shown[:MAX_LISTED]
    names = [row.feature for row in shown]
    columns = dict(zip(names, find_columns(snapshot, names), strict=True))
    metric, score = findings.tradeoff.metric, None
    for row in findings.candidates:
        if row.reported:
            score = next((score for score in row.scores if metric in (None, score.metric)), None)
    return {
        "findings": findings, "figures": figures, "verdict": make_verdict(findings), "shown": shown, "score": score,
        "replication": describe_replication(findings.replicability),
        "addresses": address_features(study, findings.candidate, columns),
        "too_early": findings.stability.n_runs < ENOUGH_RESAMPLES,
    }  # fmt: skip


@routes.page("/studies/{study}", "study.html.j2", draw=list_figures)
async def show_study(site: Site, study: str, query: StudyQuery, request: Request) -> Page:
    """Show whether the selection of a study holds, how many features come back and how well they predict."""
    return await _show_study(site, study, query, request, find_overview)


async def _show_study(
    site: Site, study: str, query: StudyQuery, request: Request, find: Callable[..., dict[str, Any]]
) -> Page:
    """Show what a study found so far; without its results, which the page then asks for, if they take too long."""
    state = await anyio.to_thread.run_sync(site.launcher.state, study, limiter=site.threads)
    overview = await anyio.to_thread.run_sync(site.overviews.get, study, limiter=site.threads)
    answer: dict[str, Any] | str | None = None
    wait = query.complete or request.headers.get("sec-fetch-mode") != "navigate"
    with anyio.move_on_after(None if wait else AT_ONCE):
        answer = await anyio.to_thread.run_sync(
            _find_results, site, state, query, find, limiter=site.threads, abandon_on_cancel=True
        )
    shown = answer if isinstance(answer, dict) else None
    return Page(
        state=state,
        overview=overview,
        results=shown,
        missing=answer if isinstance(answer, str) else "",
        pending=answer is None,
        files=list_files(study, query) if state.done and (shown or answer is None) else (),
        address=study_address(study, "details" if find is find_details else "").rstrip("/"),
        details=study_address(study, "details", query.pairs),
        report=study_address(study, "report", query.pairs),
        chosen=bool(query.pairs),
    )


def _find_results(
    site: Site, state: StudyState, query: results.ResultQuery, find: Callable[..., dict[str, Any]]
) -> dict[str, Any] | str:
    """Work out what a study found; a sentence if it found nothing."""
    if state.state == "unreadable":
        return "This study cannot be read, so there is nothing to show."
    if not state.done and state.active:
        return "There are no results yet; they appear here as soon as the first fits have ended."
    if not state.done:
        return "This study has no results: it ended before its first fit."
    try:
        snapshot = site.results.get(state.study)
    except RefusedError as error:
        return error.sentence
    except ValueError as error:  # what it holds is damaged
        return site.folder.shown(str(error))
    return {
        "fits": snapshot.progress.done, "planned": snapshot.progress.total, "every": snapshot.every,
        "options": results.list_options(snapshot, query), **find(snapshot, state.study, query),
    }  # fmt: skip


@routes.data("/studies/{study}/state")
async def read_state(site: Site, study: str) -> StudyState:
    """Return how far a study has come, without reading its results."""
    return await site.watch.state(study)


@routes.data("/studies/{study}/events")
async def follow_study(site: Site, study: str) -> StreamingResponse:
    """Return how far a study has come, as server-sent events, until it ends."""
    await site.watch.state(study)
    return StreamingResponse(site.watch.follow(study), media_type="text/event-stream")


@routes.action("POST", "/studies/{study}/stop")
def stop_study(site: Site, study: str) -> StudyState:
    """Stop a study, or take it out of the queue; what is finished stays, and it can be resumed."""
    return site.launcher.stop(study)


@routes.action("POST", "/studies/{study}/resume", status=202)
def resume_study(site: Site, study: str) -> StudyState:
    """Go on with a study that was stopped."""
    return site.launcher.resume(study)


@routes.action("DELETE", "/studies/{study}")
def remove_study(site: Site, study: str) -> dict[str, Any]:
    """Remove a study: its store is moved to ``place``, from where it can be moved back, not deleted."""
    trash = site.launcher.remove(study)
    return {"study": study, "place": None if trash is None else str(trash.relative_to(site.folder.path))}
