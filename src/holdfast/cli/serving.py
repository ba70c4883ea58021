"""The command that opens the page: serve."""

import os
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli.app import START, app
from holdfast.cli.terminal import say


@app.command(rich_help_panel=START)
def serve(
    folder: Annotated[Path, typer.Argument(help="Where studies are read and written; it is made if missing.")] = Path(
        "."
    ),
    port: Annotated[
        int | None, typer.Option(metavar="PORT", min=0, max=65535, help="Port (default: the first free one from 8730).")
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="HOST", help="Address to listen at; the default is reached from this machine only.")
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser too.")] = True,
    studies: Annotated[int, typer.Option(metavar="N", min=1, help="How many studies run at a time; others wait.")] = 1,
    upload_limit: Annotated[int, typer.Option(metavar="MB", min=1, help="Size of the largest upload.")] = 200,
    new_token: Annotated[
        bool, typer.Option("--new-token", help="Replace the token in the address; open pages must be opened again.")
    ] = False,
) -> None:
    """Open a page in the browser: measure selections, run and watch studies, choose, look at features.

    The page is for you alone: it listens on this machine only, and its address holds a token that every request
    needs. Studies run in processes of their own; closing the page or this command loses nothing.

    **Examples**

    `holdfast serve`

    `holdfast serve studies --port 8800 --no-browser`
    """
    missing = [name for name in ("anyio", "starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise ValueError(f"The page needs {', '.join(missing)}: pip install 'holdfast[app]'")
    from holdfast.web.guard import MEGABYTE
    from holdfast.web.server import serve as serve_folder

    serve_folder(
        folder, host=host, port=port, open_browser=browser, most_uploaded=upload_limit * MEGABYTE, at_once=studies,
        new_token=new_token, say=say,
    )  # fmt: skip
    _leave()


def _leave() -> None:
    """End at once, also while threads still prepare or work out what nobody waits for any more."""
    others = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
    if any(not thread.daemon for thread in others):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
