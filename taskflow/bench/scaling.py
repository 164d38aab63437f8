"""Scaling studies: domains that grow with the number of devices (weak) or do not (strong), shaped as in the papers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from taskflow.bench.timing import TimingConditions
from taskflow.common.errors import BadInput
from taskflow.runtime.host import choose_device, look
from taskflow.runtime.machine.trace.mapper import Overlap
from taskflow.runtime.regions import Triple, triple

COUNTS = (1, 2, 4, 8)
GROWTH: dict[str, dict[int, Triple]] = {
    "2d": {1: (1024, 64, 1024), 2: (1024, 64, 1024), 4: (2048, 64, 512), 8: (2048, 64, 512)},
    "3d": {1: (416, 416, 416), 2: (832, 416, 208), 4: (416, 832, 208), 8: (832, 832, 104)},
}
NAMES = ("1d", "2d", "3d", "strong")
SCALE = {"gpu": 1, "cpu": 4}


@dataclass(frozen=True)
class Size:
    """Cells of a block: `cells`, or a named shape with every direction divided by `scale`.

    "1d": 512 x 512 x 256 cells in every slab, in a domain that grows in z. "2d": as many cells as 1024 x 64 x 1024,
    growing in x and z. "3d": as many as 416^3, growing in x, y and z. "strong": 1024 x 64 x 1024 cells shared by all
    slabs.
    """

    shape: str = "1d"
    cells: Triple | None = None
    scale: int | None = None

    def of(self, blocks: Triple, device: str) -> Triple:
        """Return the cells of each block. Raises BadInput if the shape cannot be cut or divided so."""
        if self.cells is not None:
            return self.cells
        if blocks[:2] != (1, 1):
            asked = "x".join(map(str, blocks))
            raise BadInput(f"--blocks {asked}: named shapes are cut into slabs along z; give the --cells of a block")
        scale, whole = self.scale or SCALE[device], self._whole(blocks[2])
        if any(n % scale for n in whole):
            cells = " x ".join(map(str, whole))
            raise BadInput(
                f"--scale {scale}: does not divide the {cells} cells of {self.shape!r}; give 1, 2, 4, 8, ..."
            )
        return triple(n // scale for n in whole)

    def _whole(self, slabs: int) -> Triple:
        if self.shape == "1d":
            return 512, 512, 256
        if self.shape == "strong":
            if 1024 % slabs:
                raise BadInput(f"{slabs} blocks: 1024 planes cannot be shared equally; use 1, 2, 4, 8, ...")
            return 1024, 64, 1024 // slabs
        if self.shape not in GROWTH:
            raise BadInput(f"--shape {self.shape}: unknown shape; use one of {', '.join(NAMES)}")
        if slabs not in GROWTH[self.shape]:
            raise BadInput(f"{slabs} blocks: shape {self.shape} is known for 1, 2, 4 and 8; use one of these")
        return GROWTH[self.shape][slabs]


@dataclass(frozen=True)
class Growth:
    """Domains to measure (names of shapes), numbers of blocks, and the `scale` that divides every direction."""

    shapes: tuple[str, ...] = NAMES
    counts: tuple[int, ...] | None = None
    scale: int | None = None

    def counted(self, device: str) -> tuple[int, ...]:
        """Return the numbers of blocks, including one. By default they go up to the number of GPUs, or cores."""
        here = look("this machine")
        most = len(here.gpus) if choose_device(device, [here]) == "gpu" else here.cores
        counts = self.counts or tuple(count for count in COUNTS if count <= most)
        return counts if counts[0] == 1 else (1, *counts)


class Measure(Protocol):
    """Function that measures `cells` in each of the blocks, and returns a row with the rate of a block."""

    def __call__(self, name: str, cells: Triple, blocks: Triple, overlap: Overlap, /) -> dict[str, Any]: ...


def scaled(
    growth: Growth, counts: Sequence[int], device: str, conditions: TimingConditions, measure: Measure
) -> list[dict[str, Any]]:
    """Return the rows of every shape, number of blocks and overlap, with `efficiency` and `speedup`.

    Both are relative to one block of the same shape.
    """
    cases = [(name, count) for name in growth.shapes for count in counts]
    sizes = [Size(name, None, growth.scale).of((1, 1, count), device) for name, count in cases]
    return compared(
        [
            {"shape": name, **measure(overlap, cells, (1, 1, count), overlap)}
            for (name, count), cells in zip(cases, sizes, strict=True)
            for overlap in (conditions.overlaps if count > 1 else conditions.overlaps[:1])
        ]
    )


def compared(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with `efficiency` and `speedup` relative to one block of their shape."""
    alone = {row["shape"]: row["cells_per_second_per_block"] for row in rows if row["blocks"] == 1}
    shares = [row["cells_per_second_per_block"] / alone[row["shape"]] for row in rows]
    return [
        {**row, "efficiency": share, "speedup": share * row["blocks"]} for row, share in zip(rows, shares, strict=True)
    ]
