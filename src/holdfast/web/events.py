"""Progress as it happens: one look at a store serves everybody who watches it."""

import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import anyio
import anyio.to_thread

from holdfast.serialization import to_plain
from holdfast.web.guard import RefusedError
from holdfast.web.launcher import Launcher, StudyState

EVERY = 1.0
"""Seconds between two looks at the studies."""
A_LOOK = 0.5
"""Seconds between two looks of a stream at what was seen."""
HEARTBEAT = 15
"""Seconds after which something is sent, so that a broken connection is noticed."""
RETRY = "retry: 1000\n\n"
"""How many milliseconds a browser waits before it connects again."""


@dataclass(eq=False)
class Watch:
    """Looks at the studies of a folder, at most once a second, whoever asks, and when something was asked of one.

    Attributes
    ----------
    launcher : Launcher
        Knows what studies are doing.
    """

    launcher: Launcher
    _seen: dict[str, StudyState] = field(default_factory=dict)
    _looked: tuple[float, int] | None = None
    _lock: anyio.Lock = field(default_factory=anyio.Lock)
    _closed: bool = False

    async def states(self) -> dict[str, StudyState]:
        """How far every study has come, at most a second ago."""
        async with self._lock:
            now, changes = time.monotonic(), self.launcher.changes
            if self._looked is None or now - self._looked[0] >= EVERY or changes != self._looked[1]:
                self._seen = await anyio.to_thread.run_sync(self.launcher.states, abandon_on_cancel=True)
                self._looked = time.monotonic(), changes
            return self._seen

    async def state(self, study: str) -> StudyState:
        """How far a study has come, at most a second ago."""
        state = (await self.states()).get(study)
        if state is None:
            raise RefusedError(404, "There is no such study in this folder.")
        return state

    def close(self) -> None:
        """End all streams, as the server is about to end; browsers connect again when it is back."""
        self._closed = True

    async def follow(self, study: str | None = None) -> AsyncIterator[str]:
        """How far a study, or every study, has come, as server-sent events, whenever that changes.

        The stream of one study ends with it; that of all ends when the client leaves, or the server, and tells too
        which studies there are, when that changes.
        """
        yield RETRY
        sent, last = time.monotonic(), dict[str, StudyState]()
        while not self._closed:
            states = await self.states()
            wanted = states if study is None else {name: state for name, state in states.items() if name == study}
            for name, state in wanted.items():
                if state != last.get(name):
                    yield f"event: progress\ndata: {json.dumps(to_plain(state))}\n\n"
                    sent = time.monotonic()
            if study is None and last and set(last) != set(wanted):
                yield f"event: studies\ndata: {json.dumps({'studies': list(wanted)})}\n\n"
            last = wanted
            if study is not None and not any(state.active for state in wanted.values()):
                return
            if time.monotonic() - sent > HEARTBEAT:
                yield ": still here\n\n"
                sent = time.monotonic()
            await anyio.sleep(A_LOOK)
