"""What watching costs a study: the same study alone, and while fifty clients of the page follow it.

By the clock, which is what a user waits for, and in CPU time, which other programs on the machine disturb less.
"""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from benchmarks.timing import Row
from holdfast.study.store import read_progress

CLIENTS = 50
RESAMPLES = 60
TIMES = 3


class Spent(NamedTuple):
    """Seconds that a study took by the clock, and that it computed."""

    clock: float
    cpu: float


def watched_study() -> Iterator[Row]:
    alone, watched, used, asked = [], [], [], []
    with tempfile.TemporaryDirectory() as folder, _server(Path(folder)) as (server, address):
        _run(Path(folder) / "first.db")  # kernels are compiled, and files are in memory
        for place in range(TIMES):
            alone.append(_run(Path(folder) / f"alone-{place}.db"))
            before = _cpu_time(server)
            spent, answers = asyncio.run(_run_watched(Path(folder) / f"watched-{place}.db", address))
            watched.append(spent)
            used.append((_cpu_time(server) - before) / spent.clock)
            asked.append(answers)
    if min(asked) < CLIENTS:
        raise ValueError(f"Expected every one of {CLIENTS} clients to be answered, got {min(asked)} answers.")
    clients = f"{CLIENTS} clients ask for its state once a second and follow its events"
    for place, how in enumerate(("by the clock", "CPU time")):
        yield Row(
            what=f"a study with n_jobs=1 while {clients}, {how} (mutual information, {RESAMPLES} bootstraps)",
            ours=min(spent[place] for spent in watched),
            peer=min(spent[place] for spent in alone),
            peer_name="the same study alone",
            equal="as many fits",
            ratio_to_reach=1 / 1.1,
        )
    yield Row(what=f"what a server uses in a second while {clients}, CPU time", ours=min(used), equal="–", limit=0.1)


def _cpu_time(process: int) -> float:
    """Seconds that a process has computed."""
    numbers = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "holdfast", *arguments]


@contextmanager
def _server(folder: Path) -> Iterator[tuple[int, str]]:
    """A server of the folder; gives the number of its process and its address."""
    command = _command("serve", str(folder), "--port", "0", "--no-browser")
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    try:
        yield server.pid, next(found[0] for line in server.stderr if (found := re.search(r"http://\S+", line)))
    finally:
        server.terminate()
        server.wait()
        server.stderr.close()


def _start(store: Path) -> "subprocess.Popen[bytes]":
    command = _command("study", "--quiet", "-n", str(RESAMPLES), "-s", "mutual_info:k=5", "--store", str(store))
    return subprocess.Popen([*command, "breast_cancer"], stdout=subprocess.DEVNULL, env={**os.environ})


def _run(store: Path) -> Spent:
    begun, computed = time.perf_counter(), _children_time()
    _start(store).wait()
    spent = Spent(time.perf_counter() - begun, _children_time() - computed)
    _check(store)
    return spent


def _children_time() -> float:
    """Seconds that processes have computed that this one started and that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def _check(store: Path) -> None:
    progress = read_progress(store)
    if (progress.done, progress.total) != (RESAMPLES, RESAMPLES):
        raise ValueError(f"Expected {RESAMPLES} fits, got {progress.done} of {progress.total}.")


async def _run_watched(store: Path, address: str) -> tuple[Spent, int]:
    """Seconds of a study that is watched, and how many answers those who watch received."""
    begun, computed = time.perf_counter(), _children_time()
    study = _start(store)
    while not store.exists():
        await asyncio.sleep(0.01)
    clients = [asyncio.create_task(_watch(store.stem, address)) for _ in range(CLIENTS)]
    while study.poll() is None:
        await asyncio.sleep(0.005)
    spent = Spent(time.perf_counter() - begun, _children_time() - computed)
    _check(store)
    for client in clients:
        client.cancel()
    counts = await asyncio.gather(*clients, return_exceptions=True)
    return spent, sum(count for count in counts if isinstance(count, int))


async def _watch(study: str, address: str) -> int:
    """Follow the events of a study, and ask for its state once a second; return how many answers came."""
    answers = 0
    with suppress(asyncio.CancelledError):
        events = await _ask(address, f"/api/v1/studies/{study}/events")
        while True:
            state = await _ask(address, f"/api/v1/studies/{study}/state")
            answers += (await state[0].readline()).startswith(b"HTTP/1.1 200")
            state[1].close()
            with suppress(TimeoutError):
                async with asyncio.timeout(1):
                    while line := await events[0].readline():
                        answers += line.startswith(b"data:")
            await asyncio.sleep(0.05)
    return answers


async def _ask(address: str, path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    base, _, token = address.partition("/?token=")
    host, _, port = base.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(
        f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n".encode()
    )
    return reader, writer


BENCHMARKS: dict[str, Callable[[], Iterator[Row]]] = {"watched_study": watched_study}
