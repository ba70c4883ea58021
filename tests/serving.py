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
from pathlib import Path

from starlette.testclient import TestClient

from holdfast.web import create_app

CHROMIUM = "/usr/bin/chromium"
TOKEN = "t" * 40


@contextlib.contextmanager
def open_client(folder, **options):
    """A client of the page of a folder that brings the token with every request, and lets errors become answers."""
    app = create_app(folder, token=TOKEN, warm=False, **options)
    headers = {"authorization": f"Bearer {TOKEN}"}
    with TestClient(app, base_url="http://127.0.0.1:8730", headers=headers, raise_server_exceptions=False) as client:
        yield client


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
                process.wait(15)
        process.kill()
        process.wait()
        process.stdout.close()


def wait_for_address(process):
    seen = []
    for line in process.stdout:
        seen.append(line)
        found = re.search(r"http://\S+", line)
        if found:
            answers(found[0])
            return found[0]
    raise AssertionError("".join(seen))


def answers(address, seconds=60):
    """Wait until a server answers; it accepts connections before it does."""
    host = re.match(r"http://([^/]+)", address)[1]
    with contextlib.closing(http.client.HTTPConnection(host, timeout=seconds)) as connection:
        connection.request("GET", "/")
        connection.getresponse().read()


def wait_for(condition, seconds=60):
    """Wait until a condition gives something true, and return that."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError("it did not happen in time")


def upload(client, content, name, purpose="table"):
    """Upload a file, and return its key."""
    content = Path(content).read_bytes() if isinstance(content, Path) else content
    answer = client.put("/api/v1/uploads", params={"name": name, "purpose": purpose}, content=content)
    assert answer.status_code == 201, answer.text
    return json.loads(answer.text)["upload"]
