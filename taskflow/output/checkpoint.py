"""Checkpoints on disk: pieces of fields in one file per block, and a manifest that says what is where.

    checkpoints/step-000000200/block-00000.bin ...      values, one piece after the other
    checkpoints/step-000000200/manifest.json            the state besides fields; of each file size, CRC-32C and pieces

A checkpoint is written under a hidden name that no other run uses, forced to the disk and then renamed: it is there
completely or not at all. What happens to its files later shows in their sizes and checksums.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from taskflow.output.damage import PIECE, Damaged, regular, summed
from taskflow.output.disk import on_disk, sync_folder, write_synced
from taskflow.output.log import plain
from taskflow.output.manifest import DTYPES, FORMAT, MANIFEST, manifest, sealed
from taskflow.runtime.regions import Box, Field, triple

READERS = 8  # files that are verified at the same time
_NAME = re.compile(r"step-(\d+)")

Values = tuple[str, Box, np.ndarray]  # a role, cells, and an array [z, y, x] of them


class Checkpoints:
    """The folder of a run's checkpoints. `token` tells the drafts of this run from those of others."""

    def __init__(self, path: Path, token: str) -> None:
        self.path, self._token = path, token

    def write(self, step: int, block: int, values: Iterable[Values], state: Mapping[str, Any] | None = None) -> None:
        """Write a block's part of the checkpoint of a step, one array after the other; one block gives the state
        besides fields, too.

        Raises RunFailed where the disk is full.
        """
        draft, name = self._draft(step), f"block-{block:05}"
        with on_disk(f"checkpoint of step {step} in {self.path}"):
            draft.mkdir(parents=True, exist_ok=True)
            file = _File()
            write_synced(draft / f"{name}.bin", file.parts(values))
            part = {"file": {"name": f"{name}.bin", **file.about}, **({"state": plain(state)} if state else {})}
            write_synced(draft / f"{name}.json", [json.dumps(part).encode()])

    def commit(self, step: int, keep: int) -> None:
        """Make the checkpoint of a step one, which all blocks have written, and drop all but the newest `keep`.

        Nothing happens where whoever died has done so already. Raises RunFailed where it fails.
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
        """All checkpoints, whole or not, the newest first."""
        paths = [path for path in self.path.glob("step-*") if _NAME.fullmatch(path.name)]
        return sorted(paths, key=lambda path: int(path.name.removeprefix("step-")), reverse=True)

    def clear(self, after: int) -> None:
        """Drop the checkpoints of later steps, and whatever runs that ended early have left."""
        with on_disk(f"{self.path}"):
            for path in self.paths():
                if int(path.name.removeprefix("step-")) > after:
                    self._drop(path)
            for path in self.path.glob(".step-*"):
                shutil.rmtree(path)

    def abandon(self) -> None:
        """Drop what this run has written and not committed: another block or the disk has failed."""
        for path in self.path.glob(f".step-*.{self._token}"):
            shutil.rmtree(path, ignore_errors=True)

    def _draft(self, step: int) -> Path:
        return self.path / f".step-{step:09}.{self._token}"

    def _drop(self, path: Path) -> None:
        """Remove a checkpoint, which is none from the first moment on."""
        if path.exists():
            shutil.rmtree(path.rename(self.path / f".{path.name}.old.{self._token}"))


class _File:
    """A block's file as it comes to be: its size, its checksum, and what is where."""

    def __init__(self) -> None:
        self._crc, self._size = 0, 0
        self._pieces: list[dict[str, Any]] = []

    def parts(self, values: Iterable[Values]) -> Iterator[memoryview]:
        """The bytes to write, array after array."""
        for role, box, array in values:
            data = np.ascontiguousarray(array)
            if array.dtype.str not in DTYPES:
                raise ValueError(f"{role}: values of type {array.dtype} in a checkpoint, not of {sorted(DTYPES)}")
            piece = {"role": role, "lo": box.lo, "hi": box.hi, "dtype": array.dtype.str, "offset": self._size}
            piece |= {"values": array.shape[2]} if array.ndim == 4 else {}
            self._pieces.append(piece)
            self._crc, self._size = summed(data, self._crc), self._size + data.nbytes
            yield data.data

    @property
    def about(self) -> dict[str, Any]:
        """The entry of this file in the manifest."""
        return {"bytes": self._size, "crc32c": f"{self._crc:08x}", "pieces": self._pieces}


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that was found to be whole: where it is, and its manifest. Picklable."""

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
        """The cells whose values it has."""
        return [box for _, piece, box in self._pieces(role)]

    def fill(self, role: str, array: np.ndarray, box: Box) -> None:
        """Put what it has of a field in the cells of `box` into `array`, which is theirs."""
        for file, piece, cells in self._pieces(role):
            if common := cells & box:
                shape = Field(role, values=piece.get("values", 1)).shape(cells)
                kept = np.memmap(file, piece["dtype"], "r", piece["offset"], shape)
                array[common.slices(box.lo)] = kept[common.slices(cells.lo)]

    def _pieces(self, role: str) -> Iterator[tuple[Path, dict[str, Any], Box]]:
        for file in self.files:
            for piece in file["pieces"]:
                if piece["role"] == role:
                    yield self.path / file["name"], piece, Box(triple(piece["lo"]), triple(piece["hi"]))


def newest(
    checkpoints: Checkpoints, check: Callable[[Checkpoint], None] | None = None
) -> tuple[Checkpoint | None, list[str]]:
    """The newest one that is whole, if any, and what is wrong with the newer ones. Of one that is whole itself `check`
    raises Damaged where it counts on what is not.
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
    """Raises Damaged where a file has another size or another checksum."""
    crc, size = 0, regular(path)
    if size != file["bytes"]:
        raise Damaged(f"{path}: {size} bytes where {file['bytes']} were written")
    try:
        with path.open("rb") as opened:
            while part := opened.read(PIECE):
                crc = summed(part, crc)
    except OSError as error:
        raise Damaged(f"{path}: {error.strerror or error}") from None
    if f"{crc:08x}" != file["crc32c"]:
        raise Damaged(f"{path}: its checksum is not that of what was written")
