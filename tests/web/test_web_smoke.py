"""The page in a browser, in short: it opens, paints at once, asks nobody else, and loses its token from the address."""

import shutil

import pytest

import holdfast as hf
from holdfast.datasets import load
from holdfast.selectors import AnovaF
from holdfast.web.pages import ROUTES
from serving import open_page, start_server

pytestmark = [pytest.mark.browser, pytest.mark.smoke]
FIRST_PAINT = "performance.getEntriesByType('paint').find(entry => entry.name === 'first-contentful-paint')?.startTime"
PAGES = [route.path for route in ROUTES if route.template is not None and route.method == "GET"]
PLAIN = [path for path in PAGES if "{" not in path]
OF_STUDY = [path for path in PAGES if path.count("{") == path.count("{study}") == 1]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("smoke")
    data = load("breast_cancer")
    study = hf.Study(selectors={"anova": hf.Candidates(AnovaF(), sizes=[2, 4])}, perturbation=hf.Bootstrap(10))
    store = folder / "<b>odd & name.db"
    study.run(data.X, data.y, store=folder / "study.db", progress=False)
    shutil.move(folder / "study.db", store)
    with start_server(folder) as (address, _):
        yield address


def test_every_page_opens_without_errors_and_asks_nobody_else(browser, address):
    base, _, token = address.partition("/?token=")
    with open_page(browser, address) as page:
        assert page.url == f"{base}/"
        (cookie,) = page.context.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"], cookie["value"]) == (True, "Lax", token)
        assert page.evaluate("document.cookie") == ""
        for path in [*PLAIN, *(path.replace("{study}", "%3Cb%3Eodd%20%26%20name") for path in OF_STUDY)]:
            assert page.goto(base + path).ok, path
            page.wait_for_load_state("networkidle")
            assert page.locator("h1").count() == 1, path
            assert token not in page.content()
            assert page.locator("h1 b").count() == 0


def test_the_first_page_is_painted_at_once(browser, address):
    """The least of some loads, each by a browser that has kept nothing: other programs may be busy now and then."""
    times = []
    for _ in range(5):
        page = browser.new_context().new_page()
        page.goto(address)
        times.append(page.wait_for_function(FIRST_PAINT).json_value())
        page.context.close()
    print(f"first paint after {min(times):.0f} ms (of {', '.join(f'{time:.0f}' for time in times)})")
    assert min(times) > 0


def test_without_the_token_there_is_a_form_for_it(browser, address):
    base, _, token = address.partition("/?token=")
    page = browser.new_page()
    assert page.goto(base).status == 401
    page.get_by_label("Token").fill(token)
    page.get_by_role("button").click()
    page.wait_for_selector("main h1:has-text('hold fast')")
    assert page.url == f"{base}/"


def test_another_port_of_this_machine_cannot_ask_for_anything(browser, address):
    """Its requests bring the cookie, as cookies and sites know no ports; where they come from is what counts."""
    import http.server
    import threading

    class Other(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(b"<h1>another server</h1>")

        def log_message(self, *_):
            pass

    base, _, _ = address.partition("/?token=")
    tries = f"""async () => {{
      const tell = promise => promise.then(answer => answer.type + answer.status, () => "refused");
      const path = "{base}/api/v1/studies";
      return [
        await tell(fetch(path, {{credentials: "include"}})),
        await tell(fetch(path, {{credentials: "include", mode: "no-cors"}})),
        await tell(fetch(path + "/x/stop", {{credentials: "include", mode: "no-cors", method: "POST"}})),
      ];
    }}"""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        page = browser.new_page()
        page.goto(address)
        answered = []
        page.on("response", lambda response: answered.append(response.status))
        page.goto(f"http://127.0.0.1:{other.server_port}/")
        assert page.evaluate(tries) == ["refused", "refused", "refused"]
        assert set(answered[1:]) <= {403}
        other.shutdown()
