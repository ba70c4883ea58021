"""Everything that the routes of the page share: its folder, uploads, studies, results and workers."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from holdfast.web.folder import Folder, Uploads
from holdfast.web.launcher import Launcher, Watch
from holdfast.web.results import Overviews, Results
from holdfast.web.worker import Limits, run_task

THREADS = 6
WORKERS = 2


@dataclass(kw_only=True)
class Site:
    """What routes share.

    Attributes
    ----------
    folder : Folder
        Where studies and uploads lie.
    uploads : Uploads
        Files that were uploaded.
    launcher : Launcher
        Starts and stops studies, as many at a time as allowed, and keeps the queue.
    results : Results
        What studies found, read from their stores and remembered.
    overviews : Overviews
        What studies are about, in a line each.
    watch : Watch
        Polls how far studies have come, for all who follow them.
    limits : Limits
        What a worker may use.
    threads : anyio.CapacityLimiter
        How many functions of routes run at a time.
    """

    folder: Folder
    uploads: Uploads
    launcher: Launcher
    results: Results
    overviews: Overviews
    watch: Watch
    limits: Limits = field(default_factory=Limits)
    threads: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(THREADS))
    workers: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(WORKERS))

    @classmethod
    def open(cls, folder: str | Path, *, at_once: int = 1) -> "Site":
        """Open the page of a folder, on which so many studies run at a time."""
        root = Folder(folder)
        launcher = Launcher(root, at_once)
        return cls(
            folder=root, uploads=Uploads(root), launcher=launcher, results=Results(root), overviews=Overviews(root),
            watch=Watch(launcher),
        )  # fmt: skip

    def read_overviews(self) -> None:
        """Count all studies and read what they are about, so that they are listed at once when they are asked for."""
        for study in self.launcher.states():
            self.overviews.get(study)

    async def run_task(self, name: str, arguments: Mapping[str, Any], *, seconds: float = math.inf) -> Any:
        """Run a task in a worker, after others that came first; see :func:`holdfast.web.worker.run_task`."""
        limits = replace(self.limits, seconds=min(seconds, self.limits.seconds))
        return await anyio.to_thread.run_sync(run_task, name, arguments, limits, limiter=self.workers)
