"""The manifest of a checkpoint: JSON with a checksum of itself, of which every part is looked at before it is believed.

Whoever writes a manifest can make its checksum, too. So nothing in it decides what is done but values of known types
and kinds: no name leads out of the folder, no type is one of objects, no piece lies beyond its file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from taskflow.output.damage import Damaged, regular, summed

FORMAT = 4  # of the state: 4 has checksums of the store and of the log
MANIFEST = "manifest.json"
MOST = 2**28  # bytes of a manifest that is read
FARTHEST = 2**31  # cells from the origin
DTYPES = frozenset(("<f4", "<f8"))  # of fields, as a run has them
BLOCK, CRC, ROLE = re.compile(r"block-\d{5,9}\.bin"), re.compile("[0-9a-f]{8}"), re.compile(r"[^\x00-\x1f]{1,200}")


def sealed(body: Mapping[str, Any]) -> bytes:
    """The text of a manifest."""
    return json.dumps({"crc32c": _crc(body), "body": body}, indent=1).encode()


def manifest(folder: Path) -> dict[str, Any]:
    """The body of the manifest in the folder of a checkpoint: `step`, `state` and `files`.

    Raises Damaged where it is not, to the byte, what was sealed, and where any of it is not what a run writes. What is
    in the state is for others to look at.
    """
    path = folder / MANIFEST
    if regular(path) > MOST:
        raise Damaged(f"{path}: it is longer than any that a run writes")
    try:
        text = path.read_bytes()
        content = json.loads(text)
        body: dict[str, Any] = content["body"]
        if content["crc32c"] != _crc(body) or sealed(body) != text:
            raise ValueError
    except OSError as error:
        raise Damaged(f"{path}: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Damaged(f"{path}: it is not as it was written") from None
    known = body.get("format") if isinstance(body, dict) else None
    if known != FORMAT:
        raise Damaged(f"{path}: format {f'{known}'[:20]}, which this version cannot read")
    if problem := _problem(body, folder.name):
        raise Damaged(f"{path}: {problem}, which is not what a run writes")
    return body


def _problem(body: Mapping[str, Any], name: str) -> str | None:
    """The part of a body that is not of the kind that a run writes, if there is one."""
    step, state, files = (body.get(key) for key in ("step", "state", "files"))
    if not _whole(step) or name != f"step-{step:09}":
        return "its step"
    if not isinstance(state, dict):
        return "its state"
    if not isinstance(files, list) or not files or not all(isinstance(file, dict) for file in files):
        return "its list of files"
    names = [file.get("name") for file in files]
    if not all(_matches(BLOCK, name) for name in names) or any(a >= b for a, b in pairwise(names)):
        return "the name of a file"
    return next((f"{file['name']}: {problem}" for file in files if (problem := _file_problem(file))), None)


def _file_problem(file: Mapping[str, Any]) -> str | None:
    size, pieces, end = file.get("bytes"), file.get("pieces"), 0
    if not _whole(size) or not _matches(CRC, file.get("crc32c")):
        return "its size or checksum"
    if not isinstance(pieces, list) or not all(isinstance(piece, dict) for piece in pieces):
        return "its pieces"
    for piece in pieces:
        corners = piece.get("lo"), piece.get("hi")
        if not all(isinstance(at, list) and len(at) == 3 and all(_whole(n, -FARTHEST) for n in at) for at in corners):
            return "a box"
        shape = [high - low for low, high in zip(*corners, strict=True)]
        if min(shape) <= 0 or not _matches(ROLE, piece.get("role")) or not _known(piece.get("dtype")):
            return "a box, a role or a type"
        if not _whole(piece.get("offset")) or piece["offset"] != end:
            return "a place"
        if not _whole(piece.get("values", 1), 1):
            return "a number of values"
        end += prod(shape) * piece.get("values", 1) * np.dtype(piece["dtype"]).itemsize
    return None if end == size else "its size"


def _whole(value: object, least: int = 0) -> bool:
    """Whether it is a whole number of a size that occurs."""
    return type(value) is int and least <= value < 2**62


def _known(dtype: object) -> bool:
    return isinstance(dtype, str) and dtype in DTYPES


def _matches(pattern: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _crc(body: object) -> str:
    return f"{summed(json.dumps(body).encode()):08x}"
