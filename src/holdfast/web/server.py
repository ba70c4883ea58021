"""Running the page: where it listens, what it prints, and that there is one for a folder."""

import fcntl
import logging
import os
import socket
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from holdfast.web.app import MOST_UPLOADED, create_app
from holdfast.web.folder import Folder, read_record, write_record

PORT = 8730
MOST_PORTS = 50
LOOPBACK = ("127.0.0.1", "::1", "localhost")


class AlreadyServedError(ValueError):
    """Another server has the page of this folder open; ``address`` is where."""

    def __init__(self, folder: Path, address: str) -> None:
        super().__init__(f"The page of {folder} is open already: {address or 'by another process'}")
        self.address = address


def serve(
    folder: str | Path = ".",
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    open_browser: bool = True,
    most_uploaded: int = MOST_UPLOADED,
    at_once: int = 1,
    new_token: bool = False,
    say: Callable[[str], None] = print,
) -> None:
    """Open the page of a folder, until Ctrl-C.

    Parameters
    ----------
    folder : path
        Where studies are read and written.
    host, port : str, int
        Where to listen; by default on this machine only, at the first port from 8730 on that is free.
    open_browser : bool
        Whether to open a browser too.
    most_uploaded, at_once : int
        As for :func:`create_app`.
    new_token : bool
        Whether the token that the folder keeps is to be replaced.
    say : callable
        What to do with lines for the person who started it.

    Raises
    ------
    ValueError
        If the folder or the address cannot be used.

    See Also
    --------
    create_app : The application, for another server.

    Examples
    --------
    >>> from holdfast.web import serve
    >>> serve("studies", open_browser=False)  # doctest: +SKIP
    """
    import uvicorn

    os.umask(0o077)  # stores, uploads and logs are the owner's only, those of studies too
    place = Folder(folder)
    listening = listen(host, port)
    with listening, _only_server(place) as announce:
        number = listening.getsockname()[1]
        token = place.token(new=new_token)
        app = create_app(place.path, token=token, host=host, port=number, most_uploaded=most_uploaded, at_once=at_once)
        address = f"http://{_shown_host(host)}:{number}/?token={token}"
        announce(address)
        for line in _greeting(address, place.path, host):
            say(line)
        logging.getLogger("holdfast.web").addHandler(logging.StreamHandler())
        server = uvicorn.Server(_configure(app))
        if open_browser:
            _open_later(server, address)
        server.run(sockets=[listening])


def _configure(app: Any) -> Any:
    import uvicorn

    return uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, ws="none", limit_concurrency=200,
        timeout_keep_alive=30, timeout_graceful_shutdown=2, lifespan="on", h11_max_incomplete_event_size=64_000,
    )  # fmt: skip


def listen(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens; without a port, at the first one that is free."""
    ports = range(PORT, PORT + MOST_PORTS) if port is None else [port]
    for number in ports:
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0]
            listening = socket.socket(family, kind, protocol)
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            continue
        listening.listen(100)
        return listening
    where = f"port {ports[0]}" if len(ports) == 1 else f"a port from {ports[0]} to {ports[-1]}"
    raise ValueError(f"Expected {where} of {host} to be free, got: {reason}; give another --port or --host.")


def _shown_host(host: str) -> str:
    return {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, f"[{host}]" if ":" in host else host)


def _greeting(address: str, folder: Path, host: str) -> Iterator[str]:
    yield f"The page of {folder} is open at"
    yield f"  {address}"
    if host not in LOOPBACK:
        yield f"holdfast: warning: it can be reached from other machines ({host}), without encryption."
    elif folder.stat().st_mode & 0o022:
        yield f"holdfast: warning: others may write into {folder}; chmod go-w keeps its studies yours."
    yield "Ctrl-C closes it; studies that run go on, and are there when it is opened again."


def _open_later(server: Any, address: str) -> None:
    """Open a browser once the server answers."""
    started = server.startup

    async def startup(*arguments: Any, **options: Any) -> None:
        await started(*arguments, **options)
        if server.started:
            webbrowser.open(address)

    server.startup = startup


@contextmanager
def _only_server(folder: Folder) -> Iterator[Callable[[str], None]]:
    """Hold the right to serve a folder; gives a function that says to others at which address."""
    place = folder.private / "server.json"
    handle = os.open(folder.private / "server.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            address = str((read_record(place) or {}).get("address", ""))
            raise AlreadyServedError(folder.path, address) from None
        yield lambda address: write_record(place, {"address": address, "pid": os.getpid()})
        place.unlink(missing_ok=True)
    finally:
        os.close(handle)
