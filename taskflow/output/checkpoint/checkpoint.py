"""Checkpoints on disk: pieces of fields in one file per host, and a manifest that lists them.

    checkpoints/step-000000200/block-00000.bin ...      values, piece after piece, named after a host's first block
    checkpoints/step-000000200/manifest.json            the rest of the state, and size, CRC-32C and pieces of each file

A checkpoint is written under a unique hidden name, forced to disk and then renamed, so it is complete or absent. Later
damage to its files shows in their sizes and checksums.

The manifest is JSON with its own checksum. A forged manifest can have a valid checksum, so only values of known types
and ranges are used: names stay inside the folder, types are numeric, and pieces stay inside their file.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import count, pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from taskflow.output.disk.damage import PIECE, Damaged, crc32c, file_size
from taskflow.output.disk.disk import locked, on_disk, replacing, sync_folder, write_parts, write_synced
from taskflow.output.log import plain
from taskflow.runtime.regions import Box, Field, triple

FORMAT = 4  # of the state: version 4 has checksums of the store and the log
MANIFEST = "manifest.json"
MOST = 2**28  # bytes of a manifest that is read
FARTHEST = 2**31  # cells from the origin
READERS = 8  # files verified concurrently
TOGETHER = 64  # blocks that write one file at most: each writes the list of pieces again
DTYPES = frozenset(("<f4", "<f8"))  # of fields, as a run has them
BLOCK, CRC, ROLE = re.compile(r"block-\d{5,9}\.bin"), re.compile("[0-9a-f]{8}"), re.compile(r"[^\x00-\x1f]{1,200}")
NAME = re.compile(r"step-(\d+)")

Values = tuple[str, Box, np.ndarray]  # a role, cells, and an array [z, y, x] of them


class Checkpoints:
    """Folder of a run's checkpoints. `token` distinguishes the drafts of this run from others. Up to `TOGETHER` blocks
    of a host write one file. `hosts`: the host of each block, by default a different one for each.
    """

    def __init__(self, path: Path, token: str, hosts: Sequence[int] = ()) -> None:
        self.path, self._token, self._first = path, token, first_blocks(hosts)

    def write(self, step: int, block: int, values: Iterable[Values], state: Mapping[str, Any] | None = None) -> None:
        """Write a block's part of the checkpoint of a step, array after array. One block also passes the rest of the
        state.

        Another block of the host waits and appends its part. The last one waits until the file is on disk. Raises
        RunFailed if the disk is full.
        """
        first, draft = self._first[block] if self._first else block, self._draft(step)
        data, about = (draft / f"block-{first:05}.{kind}" for kind in ("bin", "json"))
        with on_disk(f"checkpoint of step {step} in {self.path}"):
            draft.mkdir(parents=True, exist_ok=True)
            with locked(data) if self._first else nullcontext():
                part = json.loads(about.read_bytes()) if about.exists() else {}
                if block in part.get("blocks", [block]):  # the first one, or all write again
                    part = {"blocks": [], "file": {"name": data.name, "bytes": 0, "crc32c": f"{0:08x}", "pieces": []}}
                write_parts(data, _parts(values, part["file"]), part["file"]["bytes"])
                part["blocks"].append(block)
                if len(part["blocks"]) == max(1, self._first.count(first)):
                    sync_folder(data)
                with replacing(about) as new:
                    new.write_text(json.dumps({**part, **({"state": plain(state)} if state else {})}))

    def commit(self, step: int, keep: int) -> None:
        """Turn the parts of all blocks for a step into a checkpoint, and delete all but the newest `keep`.

        Does nothing if an earlier, interrupted run already did so. Raises RunFailed on failure.
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
            for path in final.glob("block-*.json"):  # only now: before the renaming all of this can be repeated
                path.unlink()
            for old in self.paths()[keep:]:
                self._drop(old)

    def paths(self) -> list[Path]:
        """Return the folders of all checkpoints, complete or not, the newest first."""
        return sorted((path for path in self.path.glob("step-*") if NAME.fullmatch(path.name)), key=_step, reverse=True)

    def clear(self, after: int) -> None:
        """Delete the checkpoints of later steps, and the drafts of interrupted runs."""
        with on_disk(f"{self.path}"):
            for path in self.paths():
                if _step(path) > after:
                    self._drop(path)
            for path in self.path.glob(".step-*"):
                shutil.rmtree(path)

    def abandon(self) -> None:
        """Delete uncommitted files of this run, after another block or the disk has failed."""
        for path in self.path.glob(f".step-*.{self._token}"):
            shutil.rmtree(path, ignore_errors=True)

    def _draft(self, step: int) -> Path:
        return self.path / f".step-{step:09}.{self._token}"

    def _drop(self, path: Path) -> None:
        """Remove a checkpoint, renamed first so that no process takes a part of it for a checkpoint."""
        if path.exists():
            shutil.rmtree(path.rename(self.path / f".{path.name}.old.{self._token}"))


def first_blocks(hosts: Sequence[int]) -> list[int]:
    """Return for each block the first block that writes to the same file."""
    firsts, ranks = dict[tuple[int, int], int](), defaultdict[int, Iterator[int]](count)
    return [firsts.setdefault((host, next(ranks[host]) // TOGETHER), block) for block, host in enumerate(hosts)]


def _step(path: Path) -> int:
    return int(path.name.removeprefix("step-"))


def _parts(values: Iterable[Values], about: dict[str, Any]) -> Iterator[memoryview]:
    """Yield the bytes to append to a file, array after array, and update its manifest entry: size, checksum, pieces."""
    crc = int(about["crc32c"], 16)
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
    """Verified checkpoint: its path and manifest. Picklable."""

    path: Path
    step: int
    state: dict[str, Any]
    files: list[dict[str, Any]]

    @classmethod
    def load(cls, path: Path) -> Checkpoint:
        """Read the manifest and verify every file. Raises Damaged if anything has changed."""
        body = manifest(path)
        with ThreadPoolExecutor(READERS) as pool:
            list(pool.map(lambda file: _verify(path / file["name"], file), body["files"]))
        return cls(path, body["step"], body["state"], body["files"])

    def boxes(self, role: str) -> list[Box]:
        """Return the boxes of cells with values of a field."""
        return [box for _, _, box in self._pieces(role)]

    def fill(self, role: str, array: np.ndarray, box: Box) -> None:
        """Copy values of a field in the cells of `box` into `array`, which covers that box."""
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
    """Return the newest intact checkpoint, if any, and the problems of newer ones. `check` may raise Damaged."""
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
    """Compare a file with its entry in the manifest. Raises Damaged if size or checksum differ."""
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
        raise Damaged(f"{path}: its checksum differs from the recorded one")


def sealed(body: Mapping[str, Any]) -> bytes:
    """Return the text of a manifest."""
    return json.dumps({"crc32c": _crc(body), "body": body}, indent=1).encode()


def manifest(folder: Path) -> dict[str, Any]:
    """Return the body of a checkpoint's manifest: `step`, `state` and `files`.

    Raises Damaged if it differs from the sealed text by a byte, or has values that no run writes. The caller checks the
    content of the state.
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
    """Return the part of a body that no run writes, or None."""
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
        corners, kind = (piece.get("lo"), piece.get("hi")), piece.get("dtype")
        if not all(isinstance(at, list) and len(at) == 3 and all(_whole(n, -FARTHEST) for n in at) for at in corners):
            return "a box"
        shape = [high - low for low, high in zip(*corners, strict=True)]
        if min(shape) <= 0 or not _matches(ROLE, piece.get("role")) or not isinstance(kind, str) or kind not in DTYPES:
            return "a box, a role or a type"
        if not _whole(piece.get("offset")) or piece["offset"] != end:
            return "a place"
        if not _whole(piece.get("values", 1), 1):
            return "a number of values"
        end += prod(shape) * piece.get("values", 1) * np.dtype(kind).itemsize
    return None if end == size else "its size"


def _whole(value: object, least: int = 0) -> bool:
    """Return True for an integer of plausible size."""
    return type(value) is int and least <= value < 2**62


def _matches(pattern: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _crc(body: object) -> str:
    return f"{crc32c(json.dumps(body).encode()):08x}"
