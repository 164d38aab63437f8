"""Files for the process that draws pictures during a run: parts of fields per block, and a list of all pictures.

Parts are written atomically. A picture is drawn as soon as all its parts exist.
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
Piece = tuple[Corner, Mapping[str, np.ndarray]]
Numbers = Mapping[str, float]  # of a state, its time among them
Boxes = Mapping[str, Sequence[np.ndarray]]  # of a state: fields [z, y, x] of all boxes, by role


@dataclass(frozen=True)
class PictureOrder:
    """Appearance and input of a picture, as stored in the list of pictures.

    `fields` has descriptions by name. The first field is drawn on a plane across `axis` at a `position`, or colours the
    surface on which the second has a `value`. They are, or are derived from, the fields `roles` in the cells of
    `boxes`, each with first cell and shape [z, y, x]: one box of a Cartesian grid, or all charts. `parts`: number of
    parts. `view`: direction from the domain to the eye. Other values belong to `Look`.
    """

    name: str
    fields: Mapping[str, str]
    roles: tuple[str, ...]
    boxes: tuple[tuple[Corner, Corner], ...]
    parts: int
    axis: int | None = None
    position: float = 0.0
    value: float = 0.0
    view: tuple[float, float, float] = (1.0, -1.0, 1.0)
    range: tuple[float, float] | None = None
    log: bool = False
    cmap: str | None = None
    size: tuple[int, int] | None = None


@dataclass(frozen=True)
class Drawable:
    """State of a picture with all its parts."""

    name: str
    step: int
    files: tuple[Path, ...]

    def fields(self, order: PictureOrder) -> tuple[dict[str, float], dict[str, list[np.ndarray]]]:
        """Return the numbers of the state, with its time, and the fields [z, y, x] of all boxes in single precision."""
        fields = {role: [np.full(shape, np.nan, dtype="f4") for _, shape in order.boxes] for role in order.roles}
        about: dict[str, float] = {}
        for file in self.files:
            with np.load(file) as part:
                about = dict(zip(part["names"].tolist(), part["numbers"].tolist(), strict=True))
                for n, low in enumerate(part["low"]):
                    for role, boxes in fields.items():
                        values = part[f"{role}.{n}"]
                        box, place = _place(order, low, values.shape)
                        boxes[box][place] = values
        return about, fields

    def drop(self) -> None:
        """Remove the parts."""
        for file in self.files:
            file.unlink()


def _place(order: PictureOrder, low: np.ndarray, shape: Corner) -> tuple[int, tuple[slice, ...]]:
    """Return the number of the box that contains cells with the first cell `low`, and their position in it."""
    for n, (first, size) in enumerate(order.boxes):
        begin = [int(a) - b for a, b in zip(low, first, strict=True)]
        if all(a >= 0 and a + count <= most for a, count, most in zip(begin, shape, size, strict=True)):
            return n, tuple(slice(a, a + count) for a, count in zip(begin, shape, strict=True))
    raise ValueError(f"{order.name}: there is no box with cells from {low} on")


def begin_pictures(directory: Path, orders: Sequence[PictureOrder]) -> None:
    """Create the folder of a run's pictures, without parts, with the list of pictures to draw. Raises OSError."""
    parts = directory / PICTURES / PARTS
    shutil.rmtree(parts, ignore_errors=True)
    parts.mkdir(parents=True)
    (parts / LIST).write_text(json.dumps([asdict(order) for order in orders]), encoding="utf-8")


def listed(directory: Path) -> list[PictureOrder]:
    orders: list[dict[str, Any]] = json.loads((directory / PICTURES / PARTS / LIST).read_text(encoding="utf-8"))
    return [PictureOrder(**{key: _tuples(value) for key, value in order.items()}) for order in orders]


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def write_part(
    directory: Path, name: str, step: int, block: int, about: Mapping[str, float], pieces: Sequence[Piece]
) -> None:
    """Write the part of a block: numbers of the state, and pieces (first cell, values [z, y, x]). Raises OSError."""
    path = directory / PICTURES / PARTS / f"{name}.{step}.{block}.npz"
    draft = path.with_suffix(".draft")
    values: dict[str, Any] = {
        f"{role}.{n}": np.asarray(array, "f4") for n, (_, held) in enumerate(pieces) for role, array in held.items()
    }
    values |= {"names": [*about], "numbers": [*about.values()], "low": [low for low, _ in pieces]}
    with draft.open("wb") as file:
        np.savez(file, **values)
    draft.rename(path)


def undrawn(directory: Path, name: str, block: int) -> int:
    """Return the number of a block's parts that wait for other parts, or to be drawn."""
    with os.scandir(directory / PICTURES / PARTS) as files:
        matches = (_PART.fullmatch(file.name) for file in files)
        return sum(1 for part in matches if part and part["name"] == name and int(part["block"]) == block)


def drawable(directory: Path, orders: Sequence[PictureOrder]) -> list[Drawable]:
    """Return all states with all parts, the earliest first."""
    files: dict[tuple[str, int], list[Path]] = {}
    for path in (directory / PICTURES / PARTS).iterdir():
        if part := _PART.fullmatch(path.name):
            files.setdefault((part["name"], int(part["step"])), []).append(path)
    needed = {order.name: order.parts for order in orders}
    whole = [key for key, parts in files.items() if len(parts) == needed.get(key[0])]
    return [Drawable(name, step, tuple(files[name, step])) for name, step in sorted(whole, key=lambda key: key[1])]


def end_pictures(directory: Path) -> None:
    """Delete the remaining parts."""
    shutil.rmtree(directory / PICTURES / PARTS, ignore_errors=True)
