"""The application: all routes behind the guard, which processes the queue of studies while it runs.

When it starts, a tiny study is run and looked at, so that the first reader does not wait for imports.
"""

import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import numpy as np
from sklearn.naive_bayes import GaussianNB
from starlette.applications import Starlette
from starlette.routing import Route as StarletteRoute

import holdfast as hf
from holdfast.report.pictures import draw_figures
from holdfast.report.rendering import page_parts
from holdfast.web import rendering, worker
from holdfast.web.guard import Guard, allowed_hosts
from holdfast.web.pages import ROUTES
from holdfast.web.routing import make_handlers, make_routes
from holdfast.web.server import MAX_UPLOADED
from holdfast.web.site import Site


def create_app(
    folder: str | Path,
    *,
    token: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8730,
    most_uploaded: int = MAX_UPLOADED,
    at_once: int = 1,
    warm: bool = True,
) -> Guard:
    """Return the page of a folder as an ASGI application.

    Parameters
    ----------
    folder : path
        Where studies are read and written.
    token : str, optional
        What every request must bring; by default the one that is stored in the folder.
    host, port : str, int
        Where it will listen: only requests to this host are answered, and its cookie is named after the port.
    most_uploaded : int
        Bytes of the largest upload.
    at_once : int
        How many studies run at a time.
    warm : bool
        Whether to load charts, compile what summaries need and start the workers' parent at once rather than when they
        are first needed.

    Returns
    -------
    Guard
        The application.

    See Also
    --------
    holdfast.web.serve : Runs it.
    """
    site = Site.open(folder, at_once=at_once)
    routes = [StarletteRoute("/static/{digest}/{name}", rendering.send_static), *make_routes(site, ROUTES)]
    app = Starlette(routes=routes, lifespan=_lifespan(site, warm), exception_handlers=make_handlers(site))
    app.router.redirect_slashes = False  # an address that is not there is not another one
    app.state.site = site
    return Guard(
        app, token=token or site.folder.token(), hosts=allowed_hosts(host), cookie=f"holdfast-{port}",
        most_bytes=most_uploaded,
    )  # fmt: skip


def _lifespan(site: Site, warm: bool) -> Callable[[Any], Any]:
    """Process the queue while the server runs; studies go on when it ends."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await anyio.to_thread.run_sync(site.uploads.remove_unfinished)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(site.launcher.run)
            for prepare in (site.read_overviews, rendering.warm, worker.warm, warm_with_tiny_study) if warm else ():
                tasks.start_soon(partial(anyio.to_thread.run_sync, prepare, abandon_on_cancel=True))
            yield
            tasks.cancel_scope.cancel()

    return lifespan


# A tiny study


ROWS, FEATURES, RESAMPLES = 24, 6, 6


def warm_with_tiny_study() -> None:
    """Ask of a tiny study what pages ask of every study: modules are imported and kernels are compiled on the way."""
    rng = np.random.default_rng(0)
    target = np.arange(ROWS) % 2
    table = rng.normal(size=(ROWS, FEATURES)) + target[:, None]
    study = hf.Study(
        selectors={"anova": hf.Candidates(hf.selectors.AnovaF(), sizes=[1, 3])},
        perturbation=hf.Bootstrap(RESAMPLES),
        estimator=GaussianNB(),
    )
    with warnings.catch_warnings(action="ignore"):
        result = study.run(table, target, progress=False)
        summary = hf.report.summarize(result)
        draw_figures(summary)
        page_parts(summary)
        result.pareto()
        result.profile("anova")
        result.features()
