"""Progress as it happens: one look at a store serves everybody who watches it."""

import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import anyio
import anyio.to_thread

from holdfast.serialization import to_plain
from holdfast.web.launcher import Launcher, StudyState

EVERY = 1.0
"""Seconds between two looks at a store."""
HEARTBEAT = 15
"""Seconds after which something is sent, so that a broken connection is noticed."""


@dataclass(eq=False)
class Watch:
    """Looks at studies, at most once a second each, whoever asks.

    Attributes
    ----------
    launcher : Launcher
        Knows what studies are doing.
    """

    launcher: Launcher
    _seen: dict[str, tuple[float, StudyState]] = field(default_factory=dict)
    _locks: dict[str, anyio.Lock] = field(default_factory=dict)

    async def state(self, study: str) -> StudyState:
        """How far a study has come, at most a second ago."""
        async with self._locks.setdefault(study, anyio.Lock()):
            seen = self._seen.get(study)
            if seen is not None and time.monotonic() - seen[0] < EVERY:
                return seen[1]
            state = await anyio.to_thread.run_sync(self.launcher.state, study)
            self._seen[study] = time.monotonic(), state
            return state

    async def follow(self, study: str) -> AsyncIterator[str]:
        """How far a study has come, as server-sent events, whenever that changes; ends with the study."""
        sent, last = 0.0, None
        while True:
            state = await self.state(study)
            if state != last:
                yield f"event: progress\ndata: {json.dumps(to_plain(state))}\n\n"
                sent, last = time.monotonic(), state
            elif time.monotonic() - sent > HEARTBEAT:
                yield ": still here\n\n"
                sent = time.monotonic()
            if not state.active:
                return
            await anyio.sleep(EVERY)
