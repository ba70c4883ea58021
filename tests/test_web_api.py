"""Everything under /api/v1: described as it is, and asked with random and hostile input."""

import json
import shutil

import jsonschema
import pytest

import holdfast as hf
from holdfast.datasets import load
from holdfast.selectors import AnovaF
from holdfast.web import rendering
from holdfast.web.app import create_app
from holdfast.web.openapi import describe_api
from holdfast.web.pages import ROUTES
from holdfast.web.routing import API, Routes
from serving import TOKEN, open_client, upload

BEARER = {"authorization": f"Bearer {TOKEN}"}
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


def test_every_route_is_described_and_every_reference_leads_somewhere(client):
    described = client.get("/api/v1/openapi.json").json()
    listed = {(path, method) for path, methods in described["paths"].items() for method in methods}
    assert {(API + route.path, route.method.lower()) for route in ROUTES} <= listed
    names = set(described["components"]["schemas"])
    assert set(_references(described)) <= {f"#/components/schemas/{name}" for name in names}
    for methods in described["paths"].values():
        for facts in methods.values():
            assert facts["summary"].endswith(".")
    for schema in described["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def _references(value):
    if isinstance(value, dict):
        yield from ([value["$ref"]] if "$ref" in value else [])
        for item in value.values():
            yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)


def test_names_of_functions_and_records_are_used_once():
    identifiers = [route.answer.__name__ for route in ROUTES]
    assert len(identifiers) == len(set(identifiers))
    assert len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)


def test_two_records_of_one_name_are_noticed():
    routes = Routes()
    for place in range(2):
        routes.data(f"/{place}")(_make_answer(place))
    with pytest.raises(ValueError, match="Record"):
        describe_api(routes)


def _make_answer(place):
    from dataclasses import make_dataclass

    record = make_dataclass("Record", [(f"field_{place}", int)], frozen=True)

    def answer(site):
        return record(place)

    answer.__annotations__ = {"return": record}
    return answer


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
    """Everything that pages load beside the chart bundle."""
    assert sum(len(content) for _, content in rendering.own_files().values()) < 100_000


# Random and hostile input for every route, from its description


EXAMPLES = 30
HEADERS = {**BEARER, "host": "127.0.0.1"}


@pytest.fixture(scope="module")
def described(folder):
    """The description of the page, with a study and uploads that are there."""
    import schemathesis

    app = create_app(folder, token=TOKEN, warm=False)
    app.app.state.site.watch.close()  # else the stream of all studies does not end
    with open_client(folder) as client:
        table = upload(client, b"a,b,target\n1,0,x\n0,1,y\n1,1,x\n0,0,y\n", "table.csv")
        selections = upload(client, b"a,b,c\n1,0,1\n1,1,0\n1,0,0\n", "runs.csv", "selections")
    known = {"study": ["cancer-study"], "upload": [table, selections]}
    return schemathesis.openapi.from_asgi("/api/v1/openapi.json", app, headers=HEADERS), known


@pytest.mark.fuzz
def test_the_description_is_valid(described):
    described[0].validate()


@pytest.mark.fuzz
@pytest.mark.parametrize("mode", ["positive", "negative"])
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_no_input_breaks_a_route(described, route, mode, monkeypatch):
    from hypothesis import HealthCheck, Phase, assume, given, settings
    from hypothesis import strategies as st
    from schemathesis import GenerationMode
    from schemathesis.checks import content_type_conformance, not_a_server_error, response_schema_conformance

    monkeypatch.setattr("holdfast.web.launcher._spawn", _spawn_nothing)
    schema, known = described
    operation = schema[API + route.path][route.method]
    names = [name for name in known if f"{{{name}}}" in route.path]
    keys = st.fixed_dictionaries({name: st.sampled_from([*known[name], None]) for name in names})

    @given(case=operation.as_strategy(generation_mode=GenerationMode(mode)), keys=keys)
    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    def check(case, keys):
        assume(route.method != "DELETE" or not any(keys.values()))
        for name, key in keys.items():
            if key is not None:
                case.path_parameters[name] = key
        answer = case.call(headers=HEADERS)
        case.validate_response(answer, checks=[not_a_server_error])
        if answer.status_code >= 400:
            assert answer.json()["error"]
        else:
            case.validate_response(answer, checks=[content_type_conformance, response_schema_conformance])

    check()


def _spawn_nothing(arguments, log):
    raise OSError(0, "studies are not started in this test")
