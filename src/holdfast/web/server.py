"""Running the page: where it listens, what it prints, and that there is one for a folder.

The address is printed, and connections wait, before what the page needs is imported, which takes seconds.
"""

import errno
import fcntl
import html
import logging
import os
import socket
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from holdfast.web.folder import Folder, read_record, write_private, write_record
from holdfast.web.guard import MEGABYTE

MAX_UPLOADED = 200 * MEGABYTE
PORT = 8730
MAX_PORTS = 50
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
    most_uploaded: int = MAX_UPLOADED,
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
    with _private_files(), _only_server(root := Folder(folder)) as announce, listen(host, port) as listening:
        number = listening.getsockname()[1]
        token = root.token(new=new_token)
        address = f"http://{_shown_host(host)}:{number}/?token={token}"
        announce(address)
        for line in _greeting(address, root, host):
            say(line)
        _run(
            root, listening, say, open_page=partial(_open_page, root, address) if open_browser else None,
            token=token, host=host, port=number, most_uploaded=most_uploaded, at_once=at_once,
        )  # fmt: skip


@contextmanager
def _private_files() -> Iterator[None]:
    """Make stores, uploads and logs the owner's only, those of studies too; the umask of the caller is restored."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def _run(
    folder: Folder,
    listening: socket.socket,
    say: Callable[[str], None],
    *,
    open_page: Callable[[], None] | None,
    **options: Any,
) -> None:
    """Answer requests until a signal comes."""
    from holdfast.web import create_app, worker
    from holdfast.web.connections import PageServer, configure

    app = create_app(folder.path, **options)
    starlette: Any = app.app
    with _log_to(say):
        PageServer(configure(app), begun=open_page, ending=starlette.state.site.watch.close).run(sockets=[listening])
        worker.stop_all()


@contextmanager
def _log_to(say: Callable[[str], None]) -> Iterator[None]:
    """Print what is logged: warnings of the page; of the server below it errors only, as anybody can send nonsense."""
    handlers = {"holdfast.web": _LineHandler(say, logging.WARNING), "uvicorn.error": _LineHandler(say, logging.ERROR)}
    for name, handler in handlers.items():
        logging.getLogger(name).addHandler(handler)
    try:
        yield
    finally:
        for name, handler in handlers.items():
            logging.getLogger(name).removeHandler(handler)


class _LineHandler(logging.Handler):
    """Prints what is logged, with the characters that could command a terminal made visible."""

    def __init__(self, say: Callable[[str], None], level: int) -> None:
        super().__init__(level)
        self.say = say

    def emit(self, record: logging.LogRecord) -> None:
        self.say(self.format(record))


def listen(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens; without a port, at the first one that is free."""
    try:
        family, kind, protocol, _, (name, _, *more) = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no name of a host"
        raise ValueError(f"Expected an address of this machine as --host, got {host!r}: {reason}.") from None
    for number in range(PORT, PORT + MAX_PORTS) if port is None else [port]:
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((name, number, *more))
            listening.listen(100)
        except OSError as error:
            listening.close()
            if error.errno != errno.EADDRINUSE:
                reason = os.strerror(error.errno or 0)
                raise ValueError(
                    f"Expected to listen at port {number} of {host}, got: {reason}; give another --port or --host."
                ) from None
            continue
        return listening
    where = f"port {port}" if port is not None else f"a port from {PORT} to {PORT + MAX_PORTS - 1}"
    raise ValueError(f"Expected {where} of {host} to be free, but other programs use it; give another --port.")


def _shown_host(host: str) -> str:
    return {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, f"[{host}]" if ":" in host else host)


def _greeting(address: str, folder: Folder, host: str) -> Iterator[str]:
    yield f"The page of {folder.path} is open at"
    yield f"  {address}"
    if host not in LOOPBACK:
        yield f"holdfast: warning: it can be reached from other machines ({host}), without encryption."
    if folder.is_shared:
        yield f"holdfast: warning: others may write into {folder.path}; a folder of your own keeps its studies yours."
    yield "Ctrl-C closes it; studies that run go on, and are there when it is opened again."


def _open_page(folder: Folder, address: str) -> None:
    """Open a browser through a file that leads on: all users of a machine see the arguments of its programs."""
    file, link = folder.private / "open.html", html.escape(address)
    head = f'<meta charset="utf-8"><title>holdfast</title><meta http-equiv="refresh" content="0; url={link}">'
    write_private(file, f'<!doctype html>{head}<p><a href="{link}">Open the page</a></p>')
    with suppress(webbrowser.Error):
        webbrowser.open(file.as_uri())


@contextmanager
def _only_server(folder: Folder) -> Iterator[Callable[[str], None]]:
    """Hold the right to serve a folder; gives a function that says to others at which address."""
    record = folder.private / "server.json"
    handle = os.open(folder.private / "server.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            address = str((read_record(record) or {}).get("address", ""))
            raise AlreadyServedError(folder.path, address) from None
        try:
            yield lambda address: write_record(record, {"address": address, "pid": os.getpid()})
        finally:
            record.unlink(missing_ok=True)
            (folder.private / "open.html").unlink(missing_ok=True)
    finally:
        os.close(handle)
