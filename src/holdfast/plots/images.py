"""Charts as images that a page can hold: SVG while it is small, else PNG, compressed."""

import base64
import json
import struct
import zlib
from typing import Any

from holdfast.plots.embed import CANVAS_FROM, vegalite_version
from holdfast.plots.theme import import_optional

SVG_UP_TO, SCALE = 40_000, 2
"""Bytes of an SVG up to which it is the image of a chart, and pixels per point of a PNG."""
PNG_HEAD = 8


def make_images(spec: dict[str, Any]) -> tuple[str, str]:
    """Return a chart as PNG, in base 64, and as the address of an image: SVG, or PNG if that would be large."""
    convert, version = import_optional("vl_convert"), vegalite_version()
    png = compress_png(convert.vegalite_to_png(spec, scale=SCALE, vl_version=version, allowed_base_urls=[]))
    coded = base64.b64encode(png).decode()
    if len(json.dumps(spec)) <= CANVAS_FROM:
        svg = str(convert.vegalite_to_svg(spec, vl_version=version, allowed_base_urls=[])).encode()
        if len(svg) <= SVG_UP_TO:
            return coded, f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
    return coded, f"data:image/png;base64,{coded}"


def compress_png(png: bytes) -> bytes:
    """Return the same PNG, its pixels packed again: the converter packs them fast, which takes four times the bytes."""
    chunks, place = [], PNG_HEAD
    while place < len(png):
        (size,) = struct.unpack_from(">I", png, place)
        chunks.append((png[place + 4 : place + 8], png[place + 8 : place + 8 + size]))
        place += 12 + size
    pixels = zlib.decompress(b"".join(data for kind, data in chunks if kind == b"IDAT"))
    others = [chunk for chunk in chunks if chunk[0] != b"IDAT"]
    packed = [*others[:-1], (b"IDAT", zlib.compress(pixels, 7)), others[-1]]
    return png[:PNG_HEAD] + b"".join(_write_chunk(kind, data) for kind, data in packed)


def _write_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
