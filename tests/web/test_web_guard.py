"""What every request must pass: token, host, origin, size and time; and the headers of every answer."""

import contextlib
import json
import logging
import socket
import threading
import time
from dataclasses import dataclass

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.web import connections, guard
from holdfast.web.connections import PageServer, configure
from holdfast.web.folder import safe_name
from holdfast.web.guard import HEADERS, MEGABYTE, Guard, RefusedError
from serving import TOKEN, open_client, wait_for

HOST = "127.0.0.1:8730"
COOKIE = {"cookie": f"holdfast-8730={TOKEN}"}
BEARER = {"authorization": f"Bearer {TOKEN}"}
OWN = {"origin": f"http://{HOST}"}


async def echo(scope, receive, send):
    """An application that answers with its address, or does as its address says."""
    if scope["type"] == "lifespan":
        for kind in ("startup", "shutdown"):
            assert (await receive())["type"] == f"lifespan.{kind}"
            await send({"type": f"lifespan.{kind}.complete"})
        return
    if scope["path"] == "/fail":
        raise RuntimeError("/home/somebody/secret")
    while (message := await receive())["type"] == "http.request" and message["more_body"]:
        pass
    if message["type"] == "http.disconnect":
        return
    body = b"x" * 20_000_000 if scope["path"] == "/large" else scope["path"].encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


def guarded(app=echo, **options):
    usual = {"token": TOKEN, "hosts": {"localhost"}, "cookie": "holdfast-8730", "most_bytes": MEGABYTE}
    return Guard(app, **(usual | options))


def ask(headers=(), path="/", method="GET", query="", body=(b"",), app=None):
    """What the guard answers: the status, the headers and the body."""
    given = [*(headers.items() if isinstance(headers, dict) else headers)]
    if "host" not in dict(given):
        given.append(("host", HOST))
    scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": query.encode(),
        "scheme": "http", "headers": [(name.encode(), text.encode("latin-1")) for name, text in given],
    }  # fmt: skip
    pieces, sent = list(body), []

    async def receive():
        return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

    async def send(message):
        sent.append(message)

    anyio.run(app or guarded(), scope, receive, send)
    answered = {name.decode(): text.decode() for name, text in sent[0]["headers"]}
    return sent[0]["status"], answered, b"".join(message.get("body", b"") for message in sent[1:])


# The token


@pytest.mark.parametrize("headers", [COOKIE, BEARER, {"authorization": f"token  {TOKEN}"}], ids=str)
def test_the_token_opens_the_page(headers):
    assert ask(headers)[0] == 200


WRONG = ["", TOKEN[:-1], TOKEN + "t", TOKEN.upper(), "é", "\x00"]


@pytest.mark.parametrize("token", WRONG)
@pytest.mark.parametrize("path", ["/", "/api/v1/studies", "/static/0/page.css", "/nowhere"])
def test_without_the_token_nothing_is_answered(token, path):
    for headers in ({}, {"cookie": f"holdfast-8730={token}"}, {"authorization": f"Bearer {token}"}):
        status, answered, body = ask(headers, path, query=f"token={token[:0]}x")
        assert status == 401
        assert answered["www-authenticate"].startswith("Bearer")
        assert TOKEN.encode() not in body
        assert (b'"error"' in body) == path.startswith("/api/")


def test_the_cookie_of_another_port_or_an_odd_cookie_beside_it_does_not_lock_out():
    assert ask({"cookie": f"holdfast-9999={TOKEN}"})[0] == 401
    assert ask({"cookie": f'a[b]="{{x; y={{}}; holdfast-8730=forged; holdfast-8730={TOKEN}; ='})[0] == 200
    assert ask([("cookie", "x=1"), ("cookie", f"holdfast-8730={TOKEN}")])[0] == 200


def test_the_token_leaves_the_address_and_becomes_a_cookie():
    status, answered, body = ask(path="/studies/a b", query=f"size=3&token={TOKEN}&name=%3Cb%3E")
    assert status == 303
    assert answered["location"] == "/studies/a b?size=3&name=%3Cb%3E"
    assert answered["set-cookie"] == f"holdfast-8730={TOKEN}; Path=/; HttpOnly; SameSite=Lax"
    assert not body


@pytest.mark.parametrize("path", ["//evil.example", "///evil.example/a", "/\\evil.example", "/\\/evil", "\\\\evil"])
def test_the_address_with_a_token_leads_nowhere_else(path):
    _, answered, _ = ask(path=path, query=f"token={TOKEN}")
    assert answered["location"][0] == "/"
    assert answered["location"][1] not in "/\\"


def test_programs_give_the_token_in_a_header_only():
    assert ask(path="/api/v1/studies", query=f"token={TOKEN}")[0] == 401
    assert ask(method="POST", query=f"token={TOKEN}", headers=OWN)[0] == 401


# Host


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost:9000", "LOCALHOST.", "[::1]:8730", "192.168.0.7:80", "localhost"]
)
def test_names_of_this_machine_are_answered(host):
    assert ask({**BEARER, "host": host})[0] == 200


FORGED = [
    "", "evil.example", "localhost.evil.example", "evil.example:8730", "evil@localhost", "localhost@evil.example",
    "localhost/evil", "localhost#", "localhost?", "localhost\\evil", "[::1", "::1", "localhost:port", "1.2.3.4.example",
    "localhost:8730:8730", "locälhost", "127.0.0.1 evil",
]  # fmt: skip


@pytest.mark.parametrize("host", FORGED)
def test_other_names_are_refused_even_with_the_token(host):
    for query in ("", f"token={TOKEN}"):
        status, answered, _ = ask({**BEARER, "host": host}, query=query)
        assert status == 403
        assert "set-cookie" not in answered


@pytest.mark.parametrize("name", ["host", "origin", "authorization", "content-length", "sec-fetch-site"])
def test_a_header_that_decides_is_refused_twice(name):
    text = {"host": HOST, "authorization": BEARER["authorization"]}.get(name, "0")
    status, _, body = ask([*BEARER.items(), ("host", HOST), *([(name, text)] * (1 if name in BEARER else 2))])
    assert status == 400
    assert name.encode() in body


# Origin


def post(headers):
    return ask({**COOKIE, **headers}, "/api/v1/studies", "POST")[0]


def test_the_page_itself_may_change_things():
    assert post(OWN) == 200
    assert post({**OWN, "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}) == 200
    assert ask(BEARER, method="DELETE")[0] == 200  # a program, which no site can make send this header


FOREIGN = [
    {}, {"origin": "null"}, {"origin": "http://127.0.0.1:9999"}, {"origin": "https://127.0.0.1:8730"},
    {"origin": "http://evil.example"}, {"origin": f"http://{HOST}.evil.example"}, {"origin": "http://localhost:8730"},
    {"origin": f"http://evil@{HOST}"}, {"origin": ""}, {"authorization": "Basic eDp5"},
    {**OWN, "sec-fetch-site": "same-site"}, {**OWN, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
]  # fmt: skip


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "TRACE", "ODD"])
def test_another_site_or_port_changes_nothing(headers, method):
    assert ask({**COOKIE, **headers}, "/api/v1/studies", method)[0] == 403


@pytest.mark.parametrize("site", ["same-site", "cross-site", "odd"])
def test_another_site_may_lead_here_but_not_read_or_embed(site):
    fetched = {**COOKIE, "sec-fetch-site": site}
    assert ask({**fetched, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"})[0] == 200
    assert ask({**fetched, "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"})[0] == 403
    for mode in ("cors", "no-cors", "websocket", "same-origin"):
        assert ask({**fetched, "sec-fetch-mode": mode})[0] == 403


# Bodies


def test_a_body_is_no_larger_than_allowed_whatever_its_header_says():
    sizes = {"content-length": str(MEGABYTE + 1)}
    assert ask({**BEARER, **sizes}, method="PUT")[0] == 413
    assert ask(BEARER, method="PUT", body=[b"x" * 600_000] * 2)[0] == 413
    assert ask({**BEARER, "content-length": "5"}, method="PUT", body=[b"x" * 600_000] * 2)[0] == 413
    assert ask(BEARER, method="PUT", body=[b"x" * 400_000] * 2)[0] == 200


@pytest.mark.parametrize("length", ["-1", "1e9", "٣", "9" * 400, "0x10", ""])
def test_a_length_that_is_none_is_refused(length):
    with contextlib.suppress(UnicodeEncodeError):
        assert ask({**BEARER, "content-length": length}, method="PUT")[0] in (400, 413)


@pytest.mark.parametrize("headers", [{"content-length": "3"}, {"transfer-encoding": "chunked"}])
def test_what_only_asks_has_no_body(headers):
    for method in ("GET", "HEAD", "OPTIONS"):
        assert ask({**BEARER, **headers}, method=method)[0] == 400


def test_a_sender_that_waits_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.01)

    async def read(scope, receive, send):
        with contextlib.suppress(RuntimeError):
            await receive()

    async def never():
        await anyio.sleep(600)

    async def call():
        scope = {"type": "http", "method": "PUT", "path": "/api/", "query_string": b""}
        headers = [(b"host", HOST.encode()), (b"authorization", BEARER["authorization"].encode())]
        await guarded(read)({**scope, "headers": headers}, never, sent.append_async)

    class Sent(list):
        async def append_async(self, message):
            self.append(message)

    sent = Sent()
    anyio.run(call)
    assert sent[0]["status"] == 408


# Answers


def test_every_answer_has_the_headers_and_no_answer_the_token():
    wrong, page = {"cookie": "holdfast-8730=x"}, "/studies"
    for headers, path, method in [
        (BEARER, "/", "GET"), (BEARER, "/", "HEAD"), (BEARER, "/fail", "GET"), (wrong, page, "GET"),
        (wrong, page, "HEAD"), ({"host": "evil.example"}, "/", "GET"), (COOKIE, "/", "POST"), (BEARER, "/", "OPTIONS"),
    ]:  # fmt: skip
        _, answered, body = ask(headers, path, method)
        assert HEADERS.items() <= answered.items()
        assert TOKEN.encode() not in body
        assert b"Traceback" not in body
        assert b"/home" not in body
    assert "unsafe" not in HEADERS["content-security-policy"]


def test_what_fails_is_one_sentence_and_logged(caplog):
    status, answered, body = ask(BEARER, "/fail")
    assert status == 500
    assert answered["content-type"].startswith("text/plain")
    assert b"went wrong" in body
    assert "/home/somebody/secret" in caplog.text
    assert json.loads(ask(BEARER, "/api/v1/x", app=guarded(refusing))[2])["error"] == "No."


async def refusing(scope, receive, send):
    raise RefusedError(418, "No.")


def test_web_sockets_are_refused():
    sent = []

    async def send(message):
        sent.append(message)

    anyio.run(guarded(), {"type": "websocket", "path": "/", "headers": []}, None, send)
    assert sent == [{"type": "websocket.close", "code": 1008}]


@given(st.text())
def test_a_harmless_name_stays_and_is_one(name):
    safe = safe_name(name)
    assert safe_name(safe) == safe
    assert not set(safe) & set('/\\\0<>"\n')
    assert safe[0] not in ".-"
    assert 0 < len(safe.encode()) < 250


# A server, and clients of all kinds


@dataclass
class Door:
    """Opens connections to a server, and knows those that are open."""

    address: tuple
    connections: set

    def __call__(self):
        return socket.create_connection(self.address, timeout=600)


@contextlib.contextmanager
def serving(app, ending=lambda: None):
    """A server in a thread; gives a function that opens connections to it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = PageServer(configure(app), begun=None, ending=ending)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        wait_for(lambda: server.started)
        try:
            yield Door(listening.getsockname(), server.server_state.connections)
        finally:
            server.should_exit = True
            thread.join(600)
            logging.getLogger("uvicorn.error").setLevel(logging.NOTSET)
            assert not thread.is_alive()


def talk(connect, request):
    """Send bytes, and return all that comes back until the server ends the connection."""
    with connect() as connection:
        connection.sendall(request)
        return read_all(connection)


def read_all(connection):
    received = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(1 << 16):
            received += piece
    return received


def is_closed_while_sending(connection, request, size):
    """Send the start of a request, and then more, piece by piece, until the server closes; a failing test gives up."""
    connection.sendall(request)
    end = time.monotonic() + 600
    with contextlib.suppress(OSError):
        while time.monotonic() < end:
            connection.sendall(b"x" * size)
            time.sleep(0.02)
        return False
    return True


def get(path="/", more="", version="HTTP/1.1"):
    lines = [f"GET {path} {version}", f"Host: {HOST}", f"Authorization: Bearer {TOKEN}", "Connection: close", more]
    return "\r\n".join(line for line in lines if line).encode() + b"\r\n\r\n"


@pytest.fixture
def connect(monkeypatch):
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 600)
    monkeypatch.setattr(connections, "READER_SECONDS", 600)
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 20)
    with serving(guarded()) as connect:
        yield connect


@pytest.mark.parametrize(
    "request_",
    [
        b"nonsense\r\n\r\n", b"GET / HTTP/x\r\n\r\n", b"GET /\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", get("/" + "a" * 200_000),
        get(more="X: " + "a" * 200_000), b"GET / HTTP/1.1\r\n\r\n",
        b"PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
    ],
)  # fmt: skip
def test_what_is_no_request_is_one_sentence(connect, request_):
    answer = talk(connect, request_)
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"content-security-policy: default-src 'none'" in answer
    assert talk(connect, get()).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("path", ["/%00", "/%2e%2e/%2e%2e/etc/passwd", "//", "/../..", "/%ff%fe", "http://evil/"])
def test_odd_addresses_reach_the_application_as_they_are(connect, path):
    assert talk(connect, get(path)).startswith(b"HTTP/1.1 200")


def test_a_web_socket_is_answered_as_any_request(connect):
    upgrade = "Upgrade: websocket\r\nSec-WebSocket-Key: eA==\r\nSec-WebSocket-Version: 13"
    request = get(more=upgrade).replace(b"Connection: close", b"Connection: upgrade, close")
    assert talk(connect, request).startswith(b"HTTP/1.1 200")


def test_chunks_that_are_none_end_the_request_quietly(connect, caplog):
    head = f"PUT / HTTP/1.1\r\nHost: {HOST}\r\nAuthorization: Bearer {TOKEN}\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert talk(connect, head.encode() + b"5\r\nabcde\r\nnonsense\r\n").startswith(b"HTTP/1.1 400")
    assert talk(connect, get()).startswith(b"HTTP/1.1 200")
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_slow_senders_are_let_go(connect, monkeypatch):
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.4)
    for request in (b"", b"GET / HT", get()[:-2]):
        assert talk(connect, request) == b""
    with connect() as connection:  # one that sends a little now and then
        assert is_closed_while_sending(connection, get()[:20], 1)


def test_a_refused_body_may_end_but_not_go_on_forever(connect, monkeypatch):
    head = f"PUT / HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: {{}}\r\n\r\n"
    with connect() as connection:
        connection.sendall(head.format(200_000).encode() + b"x" * 200_000)
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 401")
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.4)
    with connect() as connection:
        assert is_closed_while_sending(connection, head.format(10**9).encode() + b"x" * 100_000, 1000)


def test_a_client_that_does_not_read_is_let_go(connect, monkeypatch):
    monkeypatch.setattr(connections, "READER_SECONDS", 0.4)
    with connect() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(get("/large"))
        wait_for(lambda: connect.connections)
        wait_for(lambda: not connect.connections)
    monkeypatch.setattr(connections, "READER_SECONDS", 600)
    assert len(talk(connect, get("/large"))) > 20_000_000


def test_idle_connections_make_room_for_new_ones(connect):
    with contextlib.ExitStack() as stack:
        for _ in range(60):
            stack.enter_context(connect()).sendall(b"GET / HT")
        assert talk(connect, get()).startswith(b"HTTP/1.1 200")


def test_a_server_that_ends_cuts_off_what_takes_long_and_says_nothing(caplog):
    ended = []
    with serving(guarded(dawdle), ending=lambda: ended.append(True)) as connect:
        connection = connect()
        connection.sendall(get())
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")
    connection.close()
    assert ended
    assert not [record for record in caplog.records if record.levelname in ("WARNING", "ERROR")]


async def dawdle(scope, receive, send):
    if scope["type"] == "lifespan":
        await echo(scope, receive, send)
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"x", "more_body": True})
    await anyio.sleep(600)


def test_the_page_answers_in_the_same_way(tmp_path):
    """The whole page behind the guard: unknown addresses and methods, slashes, files that browsers keep."""
    with open_client(tmp_path) as client:
        style = client.get("/").text.partition('href="/static/')[2].partition('"')[0]
        kept = client.get(f"/static/{style}")
        assert "immutable" in kept.headers["cache-control"]
        for answer, status in [
            (kept, 200), (client.get("/static/0/page.css"), 404), (client.get(f"/static/{style}/../x"), 404),
            (client.get("/studies//"), 404), (client.get("/api/v1/studies/"), 404), (client.put("/"), 405),
            (client.request("TRACE", "/api/v1/studies"), 405), (client.head("/"), 200), (client.options("/"), 405),
            (client.patch("/api/v1/uploads"), 405),
        ]:  # fmt: skip
            assert answer.status_code == status
            assert set(HEADERS) <= set(answer.headers)
            assert answer.headers["content-security-policy"] == HEADERS["content-security-policy"]
            if status == 405:
                assert "GET" in answer.headers["allow"]
        assert client.get("/api/v1/nowhere").json()["error"] == "There is no such page."
