"""The server: clients that send or read too slowly are let go, so that they hinder nobody.

uvicorn waits for a request as long as it takes. Here a request must have come within some seconds, an answer must be
read on, and where there are too many connections, the one that has been idle for longest is closed.
"""

import asyncio
import logging
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from holdfast.web.guard import HEADERS

REQUEST_SECONDS = 15
"""Seconds until the head of a request must have come, and the rest of a body that nobody waits for."""
READER_SECONDS = 60
"""Seconds in which a reader must have read something."""
MAX_CONNECTIONS = 200
ENDING = signal.SIGINT, signal.SIGTERM, signal.SIGHUP


class Connection(H11Protocol):
    """A connection of which every step has an end."""

    _request_timer: asyncio.TimerHandle | None = None
    _reader_timer: asyncio.TimerHandle | None = None
    opened: float

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.opened = time.monotonic()
        self._expect_request()
        if len(self.connections) > MAX_CONNECTIONS:
            self._close_longest_idle()

    def _close_longest_idle(self) -> None:
        """Close the connection that has been asking for nothing for longest; this one if there is none."""
        idle = [other for other in self.connections if isinstance(other, Connection) and other.is_idle]
        min(idle, key=lambda other: other.opened).transport.abort()

    # Requests

    def _expect_request(self) -> None:
        if self._request_timer is None:
            self._request_timer = self.loop.call_later(REQUEST_SECONDS, self._close_if_idle)

    def _stop_expecting(self) -> None:
        if self._request_timer is not None:
            self._request_timer.cancel()
            self._request_timer = None

    def _close_if_idle(self) -> None:
        self._request_timer = None
        if self.is_idle:
            self.transport.abort()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.is_idle:
            self._expect_request()  # from the first piece on, however many follow
        else:
            self._stop_expecting()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._stop_expecting()
        if self.is_idle and self.conn.their_state is h11.SEND_BODY:
            self._expect_request()  # a refused body may be sent to its end, so that the refusal is read

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request with one sentence; the application is notified that the client is gone."""
        if not self.is_idle:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()
            return
        headers: list[tuple[str, str]] = [("content-type", "text/plain; charset=utf-8"), ("connection", "close")]
        body = b"This is no request that can be answered: its form is wrong, or its address or headers are too long.\n"
        for event in (
            h11.Response(status_code=400, headers=[*headers, *HEADERS.items()], reason=b"Bad Request"),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    # Answers

    def pause_writing(self) -> None:
        super().pause_writing()
        self._expect_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_expecting_reading()

    def _expect_reading(self, before: int | None = None) -> None:
        """Let go of a client that has read nothing of what waits for it."""
        unread = self.transport.get_write_buffer_size()
        if before is not None and unread >= before:
            self.transport.abort()
        else:
            self._reader_timer = self.loop.call_later(READER_SECONDS, self._expect_reading, unread)

    def _stop_expecting_reading(self) -> None:
        if self._reader_timer is not None:
            self._reader_timer.cancel()
            self._reader_timer = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_expecting()
        self._stop_expecting_reading()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def _unsupported_upgrade_warning(self) -> None:
        """Say nothing: a request to talk over a web socket is answered as any other."""


class PageServer(uvicorn.Server):
    """A server that ends streams of events before it waits for requests, and ends as asked rather than by a signal.

    Parameters
    ----------
    config : uvicorn.Config
        See :func:`configure`.
    begun, ending : callable
        Called once it answers, and before it stops to.
    """

    def __init__(self, config: uvicorn.Config, *, begun: Callable[[], None] | None, ending: Callable[[], None]) -> None:
        super().__init__(config)
        self.begun, self.ending = begun, ending

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and self.begun is not None:
            threading.Thread(
                target=self.begun, daemon=True
            ).start()  # a browser in the terminal comes back when it ends

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.ending()
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # what is cut off now is meant to be
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let signals close the page; one that is ignored (nohup) stays so."""
        main = threading.current_thread() is threading.main_thread()
        wanted = [number for number in ENDING if main and signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, self.handle_exit) for number in wanted}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def configure(app: Any) -> uvicorn.Config:
    """Return how the page is served."""
    return uvicorn.Config(
        app, http=Connection, ws="none", lifespan="on", log_config=None, access_log=False, server_header=False,
        proxy_headers=False, timeout_keep_alive=30, timeout_graceful_shutdown=2, h11_max_incomplete_event_size=64_000,
    )  # fmt: skip
