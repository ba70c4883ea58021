"""Pages for tests: in this process for requests, or as a server of its own for browsers."""

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from holdfast.serialization import to_plain
from holdfast.web import create_app, routing
from holdfast.web.folder import PRIVATE, read_record
from holdfast.web.launcher import _start_time

TOKEN = "t" * 40


@contextlib.contextmanager
def open_client(folder, **options):
    """A client of the page of a folder that brings the token with every request, and lets errors become answers."""
    app = create_app(folder, token=TOKEN, warm=False, **options)
    headers = {"authorization": f"Bearer {TOKEN}"}
    with TestClient(app, base_url="http://127.0.0.1:8730", headers=headers, raise_server_exceptions=False) as client:
        yield client


@dataclass(frozen=True)
class RenderedPage:
    """A page as it was answered, and the record that its template shows."""

    answer: Any
    record: Any

    @property
    def status_code(self):
        return self.answer.status_code

    @property
    def text(self):
        return self.answer.text

    def json(self):
        """The record as plain data, or why the page was refused."""
        if self.status_code >= 400:
            return {"error": self.record.sentence}
        return to_plain(vars(self.record))


def show(client, path, params=None, **options):
    """Ask for a page in this process: its HTML, and the record that it shows."""
    seen = []

    def render(template, page, *others, **more):
        seen.append(page)
        return routing.render_page.__wrapped__(template, page, *others, **more)

    render.__wrapped__ = routing.render_page
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(routing, "render_page", render)
        answer = client.get(path, params=params, **options)
    (record,) = seen
    return RenderedPage(answer, record)


@contextlib.contextmanager
def start_server(folder, *options):
    """A server in a process of its own; gives its address with the token, and the process."""
    command = [sys.executable, "-m", "holdfast", "serve", str(folder), "--port", "0", "--no-browser", *options]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        yield wait_for_address(process), process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(60)
        process.kill()
        process.wait()
        process.stdout.close()


def end_studies(folder):
    """Kill the processes that were started from the queues of pages in a folder."""
    for record in folder.rglob(f"{PRIVATE}/queue/*.json"):
        job = read_record(record) or {}
        if isinstance(job.get("pid"), int) and job.get("born") is not None and _start_time(job["pid"]) == job["born"]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(job["pid"], signal.SIGKILL)


def wait_for_address(process):
    seen = []
    for line in process.stdout:
        seen.append(line)
        found = re.search(r"http://\S+", line)
        if found:
            wait_until_it_answers(found[0])
            return found[0]
    raise AssertionError("".join(seen))


def wait_until_it_answers(address, seconds=600):
    """Wait until a server answers; only a failing test waits so long."""
    host = re.match(r"http://([^/]+)", address)[1]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with (
            contextlib.suppress(OSError, http.client.HTTPException),
            contextlib.closing(http.client.HTTPConnection(host, timeout=seconds)) as connection,
        ):
            connection.request("GET", "/")
            connection.getresponse().read()
            return
        time.sleep(0.1)
    raise AssertionError(f"{host} does not answer")


def wait_for(condition, seconds=600):
    """Wait until a condition gives something true, and return that; only a failing test waits so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError("it did not happen in time")


def watch(page):
    """The requests of a page in a browser and its errors, from now on."""
    asked, wrong = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    return asked, wrong


@contextlib.contextmanager
def open_page(browser, address, path="", *, width=1400, **options):
    """A page of a server in a browser; at the end nothing may have gone wrong on it, and no other host been asked.

    What went wrong is ``page.wrong``, from which a test removes what it expects.
    """
    host = address.partition("/?")[0]
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)
    context.set_default_timeout(180_000)  # a machine may be busy
    page = context.new_page()
    asked, page.wrong = watch(page)
    page.goto(address)
    if path:
        page.goto(host + path)
    yield page
    context.close()
    assert page.wrong == [], page.wrong
    assert [url for url in asked if not url.startswith((f"{host}/", "data:", "blob:"))] == []


DROP = """([selector, files]) => {
  const dropped = new DataTransfer();
  files.forEach(([name, text]) => dropped.items.add(new File([text], name)));
  document.querySelector(selector).dispatchEvent(new DragEvent("drop", {dataTransfer: dropped, bubbles: true}));
}"""


def drop(page, selector, *files):
    """Drop files, each a name and a text, on an element of a page in a browser."""
    page.locator(selector).wait_for()
    page.evaluate(DROP, [selector, files])


def upload(client, content, name, purpose="table"):
    """Upload a file, and return its key."""
    content = Path(content).read_bytes() if isinstance(content, Path) else content
    answer = client.put("/api/v1/uploads", params={"name": name, "purpose": purpose}, content=content)
    assert answer.status_code == 201, answer.text
    return json.loads(answer.text)["upload"]
