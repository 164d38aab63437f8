"""What blocks leave for the process that draws pictures while a run goes on: the parts of fields that each has, in
files that are there as a whole or not at all, and a list of all pictures. One is drawn once all its parts are there.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

PICTURES, PARTS, LIST = "pictures", ".parts", "pictures.json"
_PART = re.compile(r"(?P<name>[\w-]+)\.(?P<step>\d+)\.(?P<block>\d+)\.npz")
Corner = tuple[int, int, int]


@dataclass(frozen=True)
class PictureOrder:
    """How a picture looks, and what it is made of, as the file of all pictures has it.

    `fields` has the words for each field by its role; the first is drawn on a layer of cells, number `layer` across
    `axis`, or colours the surface on which the second has a `value`. `cells` is the shape [z, y, x] of all parts
    together, of which there are `parts`. `view` leads from the domain to the eye. The others are those of a `Look`.
    """

    name: str
    fields: Mapping[str, str]
    cells: Corner
    parts: int
    axis: int | None = None
    layer: int = 0
    value: float = 0.0
    view: tuple[float, float, float] = (1.0, -1.0, 1.0)
    range: tuple[float, float] | None = None
    log: bool = False
    cmap: str | None = None
    size: tuple[int, int] | None = None


@dataclass(frozen=True)
class Drawable:
    """The state of a picture of which all parts are there."""

    name: str
    step: int
    files: tuple[Path, ...]

    def fields(self, order: PictureOrder) -> tuple[float, dict[str, np.ndarray]]:
        """Return the time, and the fields [z, y, x] by role in single precision, put together of the parts."""
        fields, time = {name: np.full(order.cells, np.nan, dtype="f4") for name in order.fields}, 0.0
        for file in self.files:
            with np.load(file) as part:
                time = float(part["time"])
                for name, values in fields.items():
                    place = tuple(slice(a, a + n) for a, n in zip(part["low"], part[name].shape, strict=True))
                    values[place] = part[name]
        return time, fields

    def drop(self) -> None:
        """Remove the parts."""
        for file in self.files:
            file.unlink()


def begin_pictures(directory: Path, orders: Sequence[PictureOrder]) -> None:
    """Make the folder of a run's pictures, without parts, with the list of those to come. Raises OSError."""
    parts = directory / PICTURES / PARTS
    shutil.rmtree(parts, ignore_errors=True)
    parts.mkdir(parents=True)
    (parts / LIST).write_text(json.dumps([asdict(order) for order in orders]), encoding="utf-8")


def listed(directory: Path) -> list[PictureOrder]:
    """Return all pictures of a run."""
    orders: list[dict[str, Any]] = json.loads((directory / PICTURES / PARTS / LIST).read_text(encoding="utf-8"))
    for order in orders:
        order.update({key: tuple(value) for key, value in order.items() if isinstance(value, list)})
    return [PictureOrder(**order) for order in orders]


def write_part(
    directory: Path, name: str, step: int, block: int, time: float, low: Corner, values: Mapping[str, np.ndarray]
) -> None:
    """Write the part of a block: values [z, y, x] by field, of which the first is number `low` [z, y, x] of the whole.
    Raises OSError.
    """
    path = directory / PICTURES / PARTS / f"{name}.{step}.{block}.npz"
    draft = path.with_suffix(".draft")
    with draft.open("wb") as file:
        single: dict[str, Any] = {field: np.asarray(array, dtype="f4") for field, array in values.items()}
        np.savez(file, time=time, low=low, **single)
    draft.rename(path)


def undrawn(directory: Path, name: str, block: int) -> int:
    """Return how many parts of a block wait for the rest of a picture, or to be drawn."""
    with os.scandir(directory / PICTURES / PARTS) as files:
        matches = (_PART.fullmatch(file.name) for file in files)
        return sum(1 for part in matches if part and part["name"] == name and int(part["block"]) == block)


def drawable(directory: Path, orders: Sequence[PictureOrder]) -> list[Drawable]:
    """Return all states of which all parts are there, the earliest first."""
    files: dict[tuple[str, int], list[Path]] = {}
    for path in (directory / PICTURES / PARTS).iterdir():
        if part := _PART.fullmatch(path.name):
            files.setdefault((part["name"], int(part["step"])), []).append(path)
    needed = {order.name: order.parts for order in orders}
    whole = [key for key, parts in files.items() if len(parts) == needed.get(key[0])]
    return [Drawable(name, step, tuple(files[name, step])) for name, step in sorted(whole, key=lambda key: key[1])]


def end_pictures(directory: Path) -> None:
    """Drop what is left for drawing."""
    shutil.rmtree(directory / PICTURES / PARTS, ignore_errors=True)
