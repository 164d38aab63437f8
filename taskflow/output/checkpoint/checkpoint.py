"""Checkpoints on disk: pieces of fields in one file per block, and a manifest that says what is where.

    checkpoints/step-000000200/block-00000.bin ...      values, one piece after the other
    checkpoints/step-000000200/manifest.json            the state besides fields; of each file size, CRC-32C and pieces

A checkpoint is written under a hidden name that no other run uses, forced to the disk and then renamed: it is there
completely or not at all. Later damage to its files shows in their sizes and checksums.

The manifest is JSON with a checksum of itself. Whoever forges a manifest can make its checksum, too, so nothing in it
is used but values of known types and ranges: no name leads out of the folder, no type is one of objects, no piece lies
beyond its file.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from taskflow.output.disk.damage import PIECE, Damaged, crc32c, file_size
from taskflow.output.disk.disk import on_disk, sync_folder, write_synced
from taskflow.output.log import plain
from taskflow.runtime.regions import Box, Field, triple

FORMAT = 4  # of the state: 4 has checksums of the store and of the log
MANIFEST = "manifest.json"
MOST = 2**28  # bytes of a manifest that is read
FARTHEST = 2**31  # cells from the origin
READERS = 8  # files that are verified at the same time
DTYPES = frozenset(("<f4", "<f8"))  # of fields, as a run has them
BLOCK, CRC, ROLE = re.compile(r"block-\d{5,9}\.bin"), re.compile("[0-9a-f]{8}"), re.compile(r"[^\x00-\x1f]{1,200}")
NAME = re.compile(r"step-(\d+)")

Values = tuple[str, Box, np.ndarray]  # a role, cells, and an array [z, y, x] of them


class Checkpoints:
    """The folder of a run's checkpoints. `token` tells the drafts of this run from those of others."""

    def __init__(self, path: Path, token: str) -> None:
        self.path, self._token = path, token

    def write(self, step: int, block: int, values: Iterable[Values], state: Mapping[str, Any] | None = None) -> None:
        """Write a block's part of the checkpoint of a step, one array after the other; one of the blocks also gives the
        state besides fields.

        Raises RunFailed where the disk is full.
        """
        draft, name = self._draft(step), f"block-{block:05}"
        with on_disk(f"checkpoint of step {step} in {self.path}"):
            draft.mkdir(parents=True, exist_ok=True)
            about = {"name": f"{name}.bin", "bytes": 0, "crc32c": f"{0:08x}", "pieces": []}
            write_synced(draft / f"{name}.bin", _parts(values, about))
            part = {"file": about, **({"state": plain(state)} if state else {})}
            write_synced(draft / f"{name}.json", [json.dumps(part).encode()])

    def commit(self, step: int, keep: int) -> None:
        """Turn what all blocks have written of a step into a checkpoint, and drop all but the newest `keep`.

        Does nothing where a run that has died since did so already. Raises RunFailed where it fails.
        """
        draft, final = self._draft(step), self.path / f"step-{step:09}"
        if not draft.exists():
            return
        with on_disk(f"checkpoint of step {step} in {self.path}"):
            parts = [json.loads(path.read_bytes()) for path in sorted(draft.glob("block-*.json"))]
            state = next(part["state"] for part in parts if "state" in part)
            body = {"format": FORMAT, "step": step, "state": state, "files": [part["file"] for part in parts]}
            write_synced(draft / MANIFEST, [sealed(body)])
            sync_folder(draft)
            self._drop(final)
            draft.rename(final)
            sync_folder(self.path)
            for path in final.glob("block-*.json"):  # only now: until it is renamed anybody can do all of this again
                path.unlink()
            for old in self.paths()[keep:]:
                self._drop(old)

    def paths(self) -> list[Path]:
        """Return the folders of all checkpoints, whole or not, the newest first."""
        paths = [path for path in self.path.glob("step-*") if NAME.fullmatch(path.name)]
        return sorted(paths, key=_step, reverse=True)

    def clear(self, after: int) -> None:
        """Drop the checkpoints of later steps, and the drafts of runs that ended early."""
        with on_disk(f"{self.path}"):
            for path in self.paths():
                if _step(path) > after:
                    self._drop(path)
            for path in self.path.glob(".step-*"):
                shutil.rmtree(path)

    def abandon(self) -> None:
        """Drop what this run has written and not committed, because another block or the disk has failed."""
        for path in self.path.glob(f".step-*.{self._token}"):
            shutil.rmtree(path, ignore_errors=True)

    def _draft(self, step: int) -> Path:
        return self.path / f".step-{step:09}.{self._token}"

    def _drop(self, path: Path) -> None:
        """Remove a checkpoint; it is renamed first, so that nobody takes a part of it for a checkpoint."""
        if path.exists():
            shutil.rmtree(path.rename(self.path / f".{path.name}.old.{self._token}"))


def _step(path: Path) -> int:
    return int(path.name.removeprefix("step-"))


def _parts(values: Iterable[Values], about: dict[str, Any]) -> Iterator[memoryview]:
    """Yield the bytes of a block's file, array after array; its entry in the manifest gets size, checksum, pieces."""
    crc = 0
    for role, box, array in values:
        data = np.ascontiguousarray(array)
        if array.dtype.str not in DTYPES:
            raise ValueError(f"{role}: values of type {array.dtype} in a checkpoint, not of {sorted(DTYPES)}")
        piece = {"role": role, "lo": box.lo, "hi": box.hi, "dtype": array.dtype.str, "offset": about["bytes"]}
        piece |= {"values": array.shape[2]} if array.ndim == 4 else {}
        about["pieces"].append(piece)
        crc = crc32c(data, crc)
        about |= {"bytes": about["bytes"] + data.nbytes, "crc32c": f"{crc:08x}"}
        yield data.data


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that was verified: where it is, and its manifest. Picklable."""

    path: Path
    step: int
    state: dict[str, Any]
    files: list[dict[str, Any]]

    @classmethod
    def load(cls, path: Path) -> Checkpoint:
        """Read the manifest and verify every file. Raises Damaged where anything is not as it was written."""
        body = manifest(path)
        with ThreadPoolExecutor(READERS) as pool:
            for _ in pool.map(lambda file: _verify(path / file["name"], file), body["files"]):
                pass
        return cls(path, body["step"], body["state"], body["files"])

    def boxes(self, role: str) -> list[Box]:
        """Return the cells in which it has values of a field."""
        return [box for _, _, box in self._pieces(role)]

    def fill(self, role: str, array: np.ndarray, box: Box) -> None:
        """Copy its values of a field in the cells of `box` into `array`, which covers that box."""
        for file, piece, cells in self._pieces(role):
            if common := cells & box:
                shape = Field(role, values=piece.get("values", 1)).shape(cells)
                stored = np.memmap(file, piece["dtype"], "r", piece["offset"], shape)
                array[common.slices(box.lo)] = stored[common.slices(cells.lo)]

    def _pieces(self, role: str) -> Iterator[tuple[Path, dict[str, Any], Box]]:
        for file in self.files:
            for piece in file["pieces"]:
                if piece["role"] == role:
                    yield self.path / file["name"], piece, Box(triple(piece["lo"]), triple(piece["hi"]))


def newest(
    checkpoints: Checkpoints, check: Callable[[Checkpoint], None] | None = None
) -> tuple[Checkpoint | None, list[str]]:
    """Return the newest checkpoint that is whole, if any, and what is wrong with the newer ones. `check` raises Damaged
    for one that is whole, but counts on other files that are not.
    """
    skipped: list[str] = []
    for path in checkpoints.paths():
        try:
            checkpoint = Checkpoint.load(path)
            if check is not None:
                check(checkpoint)
            return checkpoint, skipped
        except Damaged as error:
            skipped.append(str(error))
    return None, skipped


def _verify(path: Path, file: Mapping[str, Any]) -> None:
    """Compare a file with its entry in the manifest. Raises Damaged where size or checksum differ."""
    crc, size = 0, file_size(path)
    if size != file["bytes"]:
        raise Damaged(f"{path}: {size} bytes where {file['bytes']} were written")
    try:
        with path.open("rb") as opened:
            while part := opened.read(PIECE):
                crc = crc32c(part, crc)
    except OSError as error:
        raise Damaged(f"{path}: {error.strerror or error}") from None
    if f"{crc:08x}" != file["crc32c"]:
        raise Damaged(f"{path}: its checksum is not that of what was written")


def sealed(body: Mapping[str, Any]) -> bytes:
    """Return the text of a manifest."""
    return json.dumps({"crc32c": _crc(body), "body": body}, indent=1).encode()


def manifest(folder: Path) -> dict[str, Any]:
    """Return the body of the manifest in the folder of a checkpoint: `step`, `state` and `files`.

    Raises Damaged where it is not, to the byte, what was sealed, and where any of it is not what a run writes. The
    content of the state is for the caller to check.
    """
    path = folder / MANIFEST
    if file_size(path) > MOST:
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
    """Return the part of a body that is not of the kind that a run writes, if there is one."""
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
        corners, dtype = (piece.get("lo"), piece.get("hi")), piece.get("dtype")
        if not all(isinstance(at, list) and len(at) == 3 and all(_whole(n, -FARTHEST) for n in at) for at in corners):
            return "a box"
        shape = [high - low for low, high in zip(*corners, strict=True)]
        if min(shape) <= 0 or not _matches(ROLE, piece.get("role")):
            return "a box, a role or a type"
        if not isinstance(dtype, str) or dtype not in DTYPES:
            return "a box, a role or a type"
        if not _whole(piece.get("offset")) or piece["offset"] != end:
            return "a place"
        if not _whole(piece.get("values", 1), 1):
            return "a number of values"
        end += prod(shape) * piece.get("values", 1) * np.dtype(dtype).itemsize
    return None if end == size else "its size"


def _whole(value: object, least: int = 0) -> bool:
    """Return whether a value is a whole number of a size that occurs."""
    return type(value) is int and least <= value < 2**62


def _matches(pattern: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _crc(body: object) -> str:
    return f"{crc32c(json.dumps(body).encode()):08x}"
