"""Everything that the page offers, asked for with random and hostile input."""

import json
import re
import shutil

import pytest
from starlette.routing import Match

import holdfast as hf
from holdfast.datasets import load
from holdfast.selectors import AnovaF
from holdfast.serialization import to_plain
from holdfast.web import rendering
from holdfast.web.pages import ROUTES
from holdfast.web.routing import API, Routes, list_changes
from serving import open_client, upload

HOSTILE = [
    "", " ", "\x00", "..", "../../etc/passwd", "%2e%2e", "<script>alert(1)</script>", "'; DROP TABLE meta; --", "null",
    "nan", "inf", "-inf", "1e400", "9" * 400, "-1", "0", "true", "\ud800", "é" * 2000, "a" * 5000, "holdfast.web.tasks",
    "os:system", "/etc/passwd", "file:///etc/passwd", "{{7*7}}", "${HOME}", "\u202e", "\r\nSet-Cookie: a=b", "[]", "{}",
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a study; its uploads are made by the tests."""
    place = tmp_path_factory.mktemp("api")
    data = load("breast_cancer")
    study = hf.Study(selectors={"anova": hf.Candidates(AnovaF(), sizes=[2, 4])}, perturbation=hf.Bootstrap(6))
    study.run(data.X, data.y, store=place / "cancer-study.db", progress=False)
    return place


@pytest.fixture
def client(folder, tmp_path):
    shutil.copy(folder / "cancer-study.db", tmp_path)
    with open_client(tmp_path) as client:
        yield client


def is_refusal(answer):
    """Whether an answer is one sentence in JSON, without a traceback or a path."""
    assert answer.headers["content-type"] == "application/json"
    text = answer.json()["error"]
    assert "Traceback" not in text
    assert "/work" not in text
    return bool(text)


def test_addresses_are_used_once_and_every_route_says_what_it_does():
    assert len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)
    for route in ROUTES:
        assert route.answer.__doc__.partition("\n")[0].endswith(".")


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_an_address_is_answered_by_its_own_route(client, route):
    """Whatever stands in for the names, no route before it takes the address."""
    path = ("" if route.template else API) + re.sub(r"{\w+}", "anything", route.path)
    scope = {"type": "http", "path": path, "method": route.method}
    matched = next(made for made in client.app.app.routes if made.matches(scope)[0] == Match.FULL)
    assert matched.path == ("" if route.template else API) + route.path


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_and_queries_are_one_sentence(client, text):
    from urllib.parse import quote

    name = quote(text.encode(errors="replace"), safe="").replace(".", "%2E")  # else the client itself goes up a folder
    for path in ("/studies/{}", "/studies/{}/state", "/studies/{}/events", "/uploads/{}"):
        answer = client.get(f"/api/v1{path.format(name)}")
        assert answer.status_code in (404, 405)
        assert is_refusal(answer)
    answer = client.put("/api/v1/uploads", params={"name": name, "purpose": name}, content=b"1")
    assert answer.status_code == 400
    assert is_refusal(answer)


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", 400), (b"\xff", 400), (b"[" * 100_000, 400), (b"NaN", 400), (b'{"a": ' * 500 + b"1" + b"}" * 500, 400),
        (b"[]", 400), (b"null", 400), (b"9" * 5000, 400), (b'{"\\ud800": 1}', 400), (b" " * 2_100_000, 413),
    ],
)  # fmt: skip
def test_bodies_that_are_no_record_are_one_sentence(tmp_path, content, status, monkeypatch):
    from dataclasses import dataclass

    @dataclass(frozen=True, kw_only=True)
    class Body:
        number: float = 0.0

    def answer(site, body):
        return Body(number=body.number)

    answer.__annotations__ = {"body": Body, "return": Body}
    routes = Routes([*ROUTES])
    routes.action("POST", "/echo")(answer)
    monkeypatch.setattr("holdfast.web.app.ROUTES", routes)
    with open_client(tmp_path) as client:
        refused = client.post("/api/v1/echo", content=content, headers={"content-type": "application/json"})
        assert refused.status_code == status
        assert is_refusal(refused)
        for number in ("1e400", "9" * 400, "Infinity", "true", '"1"'):
            content = f'{{"number": {number}}}'.encode()
            assert (
                client.post("/api/v1/echo", content=content, headers={"content-type": "application/json"}).status_code
                == 400
            )
        assert client.post("/api/v1/echo", json={"number": 2}).json() == {"number": 2.0}
        assert client.post("/api/v1/echo", content=b"{}").status_code == 415


def test_a_stream_of_events_is_announced_but_not_sent_to_who_asks_for_its_head(client):
    answer = client.head("/api/v1/studies/cancer-study/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.text == ""
    events = client.get("/api/v1/studies/cancer-study/events").text
    assert events.startswith("retry: ")
    (data,) = [line for line in events.splitlines() if line.startswith("data: ")]
    assert json.loads(data.removeprefix("data: "))["state"] == "finished"


def test_the_stream_of_all_studies_tells_of_each_and_ends_with_the_server(client):
    watch = client.app.app.state.site.watch

    async def follow():
        seen = []
        async for event in watch.follow():
            seen.append(event)
            if "cancer-study" in event:
                watch.close()
        return seen

    seen = client.portal.call(follow)
    assert len([event for event in seen if "progress" in event]) == 1


def test_page_code_is_small():
    """Everything that pages load in addition to the chart bundle."""
    assert sum(len(content) for _, content in rendering.page_files().values()) < 100_000


# Random and hostile input for every route, from the types of its arguments


EXAMPLES = 30


@pytest.fixture(scope="module")
def offered(folder):
    """A client of a page with a study and uploads, and how these are named in addresses."""
    with open_client(folder) as client:
        client.app.app.state.site.watch.close()  # else the stream of all studies does not end
        table = upload(client, b"a,b,target\n1,0,x\n0,1,y\n1,1,x\n0,0,y\n", "table.csv")
        selections = upload(client, b"a,b,c\n1,0,1\n1,1,0\n1,0,0\n", "runs.csv", "selections")
        yield client, {"study": ["cancer-study"], "upload": [table, selections], "name": ["breast_cancer"]}


@pytest.mark.fuzz
@pytest.mark.parametrize("mode", ["right", "hostile"])
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_no_input_breaks_a_route(offered, route, mode, monkeypatch):
    """Requests whose values have the right types, and requests in which they have not, are answered in a sentence."""
    from urllib.parse import quote

    from hypothesis import HealthCheck, Phase, assume, given, settings
    from hypothesis import strategies as st

    monkeypatch.setattr("holdfast.web.launcher._spawn", _spawn_nothing)
    client, known = offered
    texts = st.sampled_from(HOSTILE) | st.text(max_size=20)
    names = re.findall(r"{(\w+)}", route.path)
    keys = st.fixed_dictionaries(
        {name: st.sampled_from([*known.get(name, ["1"]), None]) | texts.filter(bool) for name in names}
    )
    query, body = (
        st.none()
        if kind not in route.hints
        else st.builds(to_plain if kind == "body" else list_changes, _records(route, kind))
        for kind in ("query", "body")
    )
    if mode == "hostile":
        named = st.sampled_from([*getattr(route.hints.get("query"), "__dataclass_fields__", ()), "other"])
        query, body = st.lists(st.tuples(named, texts), max_size=4), _json(st, texts)

    @given(keys=keys, query=query, body=body)
    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    def check(keys, query, body):
        assume(route.method != "DELETE" or not set(keys.values()) & {"cancer-study", *known["upload"]})
        path = route.path.format(
            **{name: quote((key or "missing").encode(errors="replace"), safe="") for name, key in keys.items()}
        )
        sent = (
            {"content": json.dumps(body), "headers": {"content-type": "application/json"}}
            if "body" in route.hints
            else {}
        )
        if route.method == "PUT":
            sent = {"content": json.dumps(body)}
        asked = [(name, str(text).encode(errors="replace")) for name, text in query or ()]
        answer = client.request(route.method, (API if route.template is None else "") + path, params=asked, **sent)
        assert answer.status_code < 500, answer.text
        if answer.status_code >= 400 and route.template is None:
            assert answer.json()["error"]

    check()


def _records(route, kind):
    """Records of the type of an argument, of values that may be far from what makes sense."""
    from hypothesis import strategies as st

    return st.from_type(route.hints[kind])


def _json(st, texts):
    leaves = st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | texts
    names = st.sampled_from(["data", "plan", "selectors", "perturbation", "name", "parameters", "resamples"]) | texts
    return st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3))


def _spawn_nothing(arguments, log):
    raise OSError(0, "studies are not started in this test")
