"""What every request must pass before anything answers it: host, token, origin and size; and the headers of answers.

A page on this machine can be reached by every web site that its owner visits, and on a shared machine by every user.
So the token is asked of every request; names of hosts are checked, as a site can give its own name this machine's
address (DNS rebinding); and what changes something must come from the page itself. Browsers send a cookie to every
port of a host, and take all its ports for one site: neither the cookie nor ``SameSite`` distinguishes this page from
another server on the same machine, so ``Origin`` and ``Sec-Fetch-Site`` must.
"""

import hmac
import ipaddress
import json
import logging
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, urlencode

import anyio

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]

MEGABYTE = 1_000_000
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
BODY_SECONDS = 60
"""Seconds that a sender may wait between two pieces of a body."""
HOST = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([\w.-]+))(?::\d{1,5})?", re.ASCII)
GIVEN_ONCE = (
    "host", "origin", "authorization", "content-length", "content-type", "sec-fetch-site", "sec-fetch-mode",
    "sec-fetch-dest",
)  # fmt: skip
"""Headers that decide something, so that two of a kind are refused."""
UNEXPECTED = "Something went wrong inside holdfast; the terminal in which holdfast serve runs says what."
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
"""Headers of every answer; one that a route sets itself stays."""
LOGIN = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>holdfast</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head><body><main><h1>holdfast</h1>
<p>This page is for its owner only. Open the address that <code>holdfast serve</code> printed, or give its token:</p>
<form method="get" action="/"><label>Token <input name="token" type="password" autocomplete="off" required></label>
<button>Open</button></form></main></body></html>"""
logger = logging.getLogger("holdfast.web")


class RefusedError(Exception):
    """A request that is not answered: the status, and one sentence that says why and what to do."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


class Guard:
    """Lets requests through that come with the token, to a known host, from the page itself.

    Parameters
    ----------
    app : ASGI application
        What answers.
    token : str
        The token.
    hosts : iterable of str
        Names by which this server may be addressed, without ports; addresses in numbers are always allowed, as no
        name leads to them.
    cookie : str
        Name of the cookie: cookies are shared by all servers on one host, so each has its own.
    most_bytes : int
        Largest body.
    """

    def __init__(self, app: App, *, token: str, hosts: Iterable[str], cookie: str, most_bytes: int) -> None:
        self.app, self.token, self.cookie, self.most_bytes = app, token, cookie, most_bytes
        self.hosts = {host.lower().rstrip(".") for host in hosts}

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        answer, wants_page = _Answer(send), scope["method"] in ("GET", "HEAD") and not is_api(scope["path"])
        try:
            await self._pass(scope, receive, answer)
        except RefusedError as refusal:
            if answer.started:
                raise
            await _refuse(answer, refusal, wants_page=wants_page)
        except Exception:
            if not answer.complete:  # else it was answered, and logged, by the handlers of routes
                logger.exception("A request failed: %s %s", scope["method"], scope["path"])
            if not answer.started:
                await _refuse(answer, RefusedError(500, UNEXPECTED), wants_page=wants_page)
            elif not answer.complete:
                raise

    async def _pass(self, scope: Message, receive: Receive, answer: "_Answer") -> None:
        """Check a request and hand it on."""
        headers = _read_headers(scope["headers"])
        self._check_host(headers)
        if (address := self._signed_in(scope)) is not None:
            await _redirect(answer, address, f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Lax")
            return
        by_header = self._check_token(headers)
        self._check_origin(scope, headers, needed=not by_header)
        self._check_size(scope, headers)
        await self.app(scope, self._counted(receive), answer)

    def _check_host(self, headers: dict[str, str]) -> None:
        name = _host_name(headers.get("host", ""))
        if name not in self.hosts and not _is_address(name):
            raise RefusedError(403, "This server does not answer under that name; open the address that it printed.")

    def _signed_in(self, scope: Message) -> str | None:
        """Where to go on after an address with the right token, so that the token does not stay in the address."""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for key, value in query if key == "token"]
        if scope["method"] != "GET" or is_api(scope["path"]) or not any(map(self._is_token, given)):
            return None
        rest = urlencode([(key, value) for key, value in query if key != "token"])
        path = "/" + (scope.get("raw_path") or scope["path"].encode()).decode("latin-1").lstrip("/\\")
        return f"{path}?{rest}" if rest else path

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), self.token.encode())

    def _check_token(self, headers: dict[str, str]) -> bool:
        """Refuse a request without the token; return whether it came in a header that no other site can send."""
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() in ("bearer", "token") and self._is_token(given.strip()):
            return True
        if not any(map(self._is_token, _read_cookies(headers.get("cookie", ""), self.cookie))):
            raise RefusedError(
                401, "Open the address that holdfast serve printed: it holds the token that this page needs."
            )
        return False

    def _check_origin(self, scope: Message, headers: dict[str, str], *, needed: bool) -> None:
        """Refuse what another site, or another port of this machine, asks a browser to send."""
        origin, expected = headers.get("origin"), f"{scope.get('scheme', 'http')}://{headers['host']}"
        safe = scope["method"] in SAFE_METHODS
        site, mode = headers.get("sec-fetch-site", "none"), headers.get("sec-fetch-mode", "navigate")
        opened = safe and mode == "navigate" and headers.get("sec-fetch-dest", "document") == "document"
        foreign = site not in ("none", "same-origin") and not opened
        absent = origin is None and needed and not safe
        if foreign or absent or (origin is not None and origin.lower() != expected.lower()):
            raise RefusedError(
                403, "This request came from another site than the page itself, and was not carried out."
            )

    def _check_size(self, scope: Message, headers: dict[str, str]) -> None:
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdecimal()):
            raise RefusedError(400, "Expected a number of bytes as content-length, got something else.")
        if scope["method"] in SAFE_METHODS and (int(length[:20]) or "transfer-encoding" in headers):
            raise RefusedError(400, f"Expected no body with {scope['method']}, got one.")
        if int(length[:20]) > self.most_bytes:
            raise self._too_large()

    def _too_large(self) -> RefusedError:
        most = f"{self.most_bytes / MEGABYTE:,.0f} MB"
        return RefusedError(
            413, f"Expected at most {most}, got more; start holdfast serve with --upload-limit to allow it."
        )

    def _counted(self, receive: Receive) -> Receive:
        """Receive no more of a body than may be sent, whatever its header says, and only while it comes in time."""
        received, ended = 0, False

        async def counted() -> Message:
            nonlocal received, ended
            if ended:
                return await receive()
            try:
                with anyio.fail_after(BODY_SECONDS):
                    message = await receive()
            except TimeoutError:
                raise RefusedError(408, f"Nothing came for {BODY_SECONDS} seconds, so the request was ended.") from None
            received, ended = received + len(message.get("body", b"")), not message.get("more_body", False)
            if received > self.most_bytes:
                raise self._too_large()
            return message

        return counted


def is_api(path: str) -> bool:
    """Whether an address answers programs, with JSON."""
    return path.startswith("/api/")


def allowed_hosts(address: str) -> set[str]:
    """Names under which a server that listens at an address may be asked."""
    names = {"localhost", address}
    if address not in ("127.0.0.1", "::1", "localhost"):
        names |= {socket.gethostname(), socket.getfqdn()}
    return names


def _host_name(host: str) -> str:
    """The name in a Host header, without its port; empty if it is no name."""
    match = HOST.fullmatch(host)
    return "" if match is None else (match[1] or match[2]).lower().rstrip(".")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _read_headers(given: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for raw_name, raw_value in given:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        if name in headers and name in GIVEN_ONCE:
            raise RefusedError(400, f"Expected the header {name} once, got it twice.")
        headers[name] = f"{headers[name]}; {value}" if name == "cookie" and name in headers else value
    return headers


def _read_cookies(header: str, name: str) -> Iterator[str]:
    """All values of a cookie; other servers of this host may have set odd ones next to it, or one of its name."""
    for part in header.split(";"):
        key, _, value = part.strip().partition("=")
        if key == name:
            yield value.strip('"')


class _Answer:
    """Sends an answer, with the headers that every answer has."""

    def __init__(self, send: Send) -> None:
        self.send, self.started, self.complete = send, False, False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            present = {name.lower() for name, _ in message.get("headers", [])}
            more = [(name.encode(), text.encode()) for name, text in HEADERS.items() if name.encode() not in present]
            message = {**message, "headers": [*message.get("headers", []), *more]}
        else:
            self.complete = not message.get("more_body", False)
        await self.send(message)


async def _redirect(send: Send, address: str, cookie: str) -> None:
    headers = [(b"location", address.encode("latin-1")), (b"set-cookie", cookie.encode())]
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


async def _refuse(send: Send, refusal: RefusedError, *, wants_page: bool) -> None:
    if refusal.status == 401 and wants_page:
        body, kind = LOGIN.encode(), b"text/html; charset=utf-8"
    elif wants_page:
        body, kind = f"{refusal.sentence}\n".encode(), b"text/plain; charset=utf-8"
    else:
        body, kind = json.dumps({"error": refusal.sentence}).encode(), b"application/json"
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
    if refusal.status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="holdfast"'))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
