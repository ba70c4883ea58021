"""Files: what is uploaded, as the body of a request, and what can be saved of a study."""

import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from holdfast.report import render
from holdfast.report.rendering import csv_text, page_policy
from holdfast.study.store import copy_store
from holdfast.web import rendering
from holdfast.web.folder import Purpose, Upload, safe_name
from holdfast.web.guard import RefusedError
from holdfast.web.results import ResultQuery, Snapshot, summary_of
from holdfast.web.routing import Routes, study_address
from holdfast.web.site import Site

routes = Routes()


@dataclass(frozen=True, kw_only=True)
class UploadQuery:
    """What is uploaded.

    Attributes
    ----------
    name : str
        Name of the file; its ending says how it is read.
    purpose : {"table", "selections"}
        What it is to be read as.
    numbered : bool
        Whether a number is added to a name that another upload has.
    """

    name: str = ""
    purpose: Purpose = "table"
    numbered: bool = False


@routes.action("PUT", "/uploads", status=201)
async def receive_upload(site: Site, query: UploadQuery, request: Request) -> Upload:
    """Upload a file: its content is the body of the request."""
    if not query.name:
        raise RefusedError(400, "Expected the name of the file (?name=patients.csv), got none.")
    announced = request.headers.get("content-length", "0")
    name = site.uploads.free_name(query.name) if query.numbered else query.name
    return await site.uploads.receive(name, query.purpose, int(announced), aiter(request.stream()))


@routes.data("/uploads")
def list_uploads(site: Site) -> dict[str, Any]:
    """List the files that were uploaded."""
    return {"uploads": site.uploads.list()}


@routes.action("DELETE", "/uploads/{upload}")
def remove_upload(site: Site, upload: str) -> dict[str, Any]:
    """Remove a file that was uploaded; studies that use it cannot be resumed afterwards."""
    site.uploads.remove(upload)
    return {"uploads": site.uploads.list()}


# What can be saved of a study


CHUNK = 1 << 18
EVERYTHING = 10**12
FILES = {
    "report.html": ("Report", "one page that works anywhere, for colleagues"),
    "report.md": ("Report as Markdown", "text for a repository or a wiki"),
    "report.json": ("Report as JSON", "everything that the report says, for programs"),
    "features.csv": ("Features", "how often each was selected, for a spreadsheet"),
    "candidates.tex": ("Candidates in LaTeX", "a table for a paper"),
    "tables-csv.zip": ("Tables as CSV", "selections, scores, predictions, splits, …"),
    "tables-parquet.zip": ("Tables as Parquet", "the same, for programs"),
    "study.db": ("The study itself", "with it, the study goes on elsewhere"),
}
"""What can be saved: what it is called, and what it is for."""


def list_files(study: str, query: ResultQuery) -> tuple[dict[str, str], ...]:
    """Return what can be saved of a study, as it is shown now."""
    return tuple(
        {"file": file, "label": name, "purpose": what, "address": study_address(study, f"files/{file}", query.pairs)}
        for file, (name, what) in FILES.items()
    )


@routes.page("/studies/{study}/report", "error.html.j2")
def open_report(site: Site, study: str, query: ResultQuery) -> HTMLResponse:
    """Open the report of a study by itself, apart from the page: it may do nothing but draw and save."""
    text = _render(site.results.get(study), query, "html")
    policy = f"{page_policy()}; sandbox allow-scripts allow-downloads allow-popups; frame-ancestors 'none'"
    # a sandboxed page cannot keep its opener's group as well, which the headers of other pages ask for
    return HTMLResponse(text, headers={"content-security-policy": policy, "cross-origin-opener-policy": "unsafe-none"})


@routes.page("/studies/{study}/files/{file}", "error.html.j2")
def save_file(site: Site, study: str, file: str, query: ResultQuery) -> Response:
    """Save a part of a study as a file: its report, its tables, or its store as it is now."""
    if file not in FILES:
        raise RefusedError(404, f"Expected one of {', '.join(FILES)}, got {file[:60]!r}.")
    name = safe_name(study.removesuffix("-study"))
    if file == "study.db":
        return _send_handle(_copy(site, study), f"{name}-study.db", "application/vnd.sqlite3")
    snapshot = site.results.get(study)
    if file.endswith(".zip"):
        kind = "csv" if "csv" in file else "parquet"
        return _send_handle(_zip_tables(snapshot, kind), f"{name}-{file}", "application/zip")
    content, media = _write(snapshot, query, file)
    return Response(content, media_type=media, headers=_attachment(f"{name}-{file}"))


def _write(snapshot: Snapshot, query: ResultQuery, file: str) -> tuple[str, str]:
    """The content of a file that is text, and its type."""
    if file == "candidates.tex":
        return snapshot.result.to_latex(query.measure or None, level=query.level), "application/x-tex"
    if file == "features.csv":
        features = summary_of(snapshot, query).features
        if features is None:
            raise RefusedError(404, "No fit of this study has succeeded, so there are no features to save.")
        return "\ufeff" + csv_text(features, EVERYTHING)[0], "text/csv"
    format = file.rpartition(".")[2]
    kinds = {"html": "text/html", "md": "text/markdown", "json": "application/json"}
    return _render(snapshot, query, format), kinds[format]


def _render(snapshot: Snapshot, query: ResultQuery, format: Any) -> str:
    summary = summary_of(snapshot, query)
    if format == "html":
        rendering.bundle()  # by another process, so that others are answered meanwhile
    return snapshot.remember(("report", format, *query.arguments.items()), lambda result: render(summary, format))


# Files that are too long for the memory: an open file without a name, which is gone when it is closed


def _copy(site: Site, study: str) -> IO[bytes]:
    store = site.folder.find(study)
    if store is None:
        raise RefusedError(404, "There is nothing to save of this study yet.")
    with tempfile.TemporaryDirectory(dir=site.folder.private) as folder:
        path = Path(folder) / "copy.db"
        copy_store(store, path)
        return path.open("rb")


def _zip_tables(snapshot: Snapshot, format: Any) -> IO[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        files = snapshot.result.export(folder, format)
        path = Path(folder) / "tables.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            for file in files:
                packed.write(file, file.name)
        return path.open("rb")


def _send_handle(handle: IO[bytes], name: str, media: str) -> StreamingResponse:
    size = handle.seek(0, 2)
    handle.seek(0)
    return StreamingResponse(
        _chunks(handle), media_type=media, headers={**_attachment(name), "content-length": str(size)}
    )


def _chunks(handle: IO[bytes]) -> Iterator[bytes]:
    with handle:
        while chunk := handle.read(CHUNK):
            yield chunk


def _attachment(name: str) -> dict[str, str]:
    """The header that makes a browser save an answer, under a name of any letters."""
    plain = name.encode("ascii", "replace").decode().replace("?", "_").replace('"', "_")
    return {"content-disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"}
