"""Uploads: files as they are, sent as the body of a request."""

from dataclasses import dataclass

from starlette.requests import Request

from holdfast.web.guard import RefusedError
from holdfast.web.routing import Routes
from holdfast.web.site import Site
from holdfast.web.uploads import Purpose, Upload

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


@dataclass(frozen=True, kw_only=True)
class UploadList:
    """Files that were uploaded.

    Attributes
    ----------
    uploads : tuple of Upload
        The files, the newest first.
    """

    uploads: tuple[Upload, ...]


@routes.action("PUT", "/uploads", status=201)
async def receive_upload(site: Site, query: UploadQuery, request: Request) -> Upload:
    """Upload a file: its content is the body of the request."""
    if not query.name:
        raise RefusedError(400, "Expected the name of the file (?name=patients.csv), got none.")
    announced = request.headers.get("content-length", "0")
    name = site.uploads.free_name(query.name) if query.numbered else query.name
    return await site.uploads.receive(name, query.purpose, int(announced), aiter(request.stream()))


@routes.data("/uploads")
def list_uploads(site: Site) -> UploadList:
    """List the files that were uploaded."""
    return UploadList(uploads=tuple(site.uploads.list()))


@routes.action("DELETE", "/uploads/{upload}")
def remove_upload(site: Site, upload: str) -> UploadList:
    """Remove a file that was uploaded; studies that use it cannot be resumed afterwards."""
    site.uploads.remove(upload)
    return UploadList(uploads=tuple(site.uploads.list()))
