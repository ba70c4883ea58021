"""Progress as it happens: one look at a store serves everybody who watches it."""

import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

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
    _all: tuple[float, dict[str, StudyState]] | None = None
    _all_lock: anyio.Lock = field(default_factory=anyio.Lock)

    async def state(self, study: str) -> StudyState:
        """How far a study has come, at most a second ago."""
        async with self._locks.setdefault(study, anyio.Lock()):
            seen = self._seen.get(study)
            if seen is not None and time.monotonic() - seen[0] < EVERY:
                return seen[1]
            state = await anyio.to_thread.run_sync(self.launcher.state, study)
            self._seen[study] = time.monotonic(), state
            return state

    async def states(self) -> dict[str, StudyState]:
        """How far all studies have come, at most a second ago."""
        async with self._all_lock:
            if self._all is None or time.monotonic() - self._all[0] >= EVERY:
                states = await anyio.to_thread.run_sync(self.launcher.states)
                self._all = time.monotonic(), states
            return self._all[1]

    async def follow_all(self) -> AsyncIterator[str]:
        """How far all studies have come, as server-sent events, and which there are, whenever that changes."""
        sent, last = time.monotonic(), await self.states()
        yield "retry: 2000\n\n"
        for state in filter(lambda state: state.active, last.values()):
            yield _event("progress", to_plain(state))
        while True:
            await anyio.sleep(EVERY)
            states = await self.states()
            changed = [state for study, state in states.items() if state != last.get(study)]
            if set(states) != set(last):
                yield _event("studies", {"studies": list(states)})
            for state in changed:
                yield _event("progress", to_plain(state))
            if changed or time.monotonic() - sent > HEARTBEAT:
                yield ": still here\n\n"
                sent = time.monotonic()
            last = states

    async def follow(self, study: str) -> AsyncIterator[str]:
        """How far a study has come, as server-sent events, whenever that changes; ends with the study."""
        sent, last = 0.0, None
        while True:
            state = await self.state(study)
            if state != last:
                yield _event("progress", to_plain(state))
                sent, last = time.monotonic(), state
            elif time.monotonic() - sent > HEARTBEAT:
                yield ": still here\n\n"
                sent = time.monotonic()
            if not state.active:
                return
            await anyio.sleep(EVERY)


def _event(kind: str, data: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps(data)}\n\n"
