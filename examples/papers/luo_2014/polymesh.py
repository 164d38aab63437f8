"""A grid of charts as OpenFOAM's `polyMesh`: points, faces by their points, and the cells on both sides of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import numpy as np

from taskflow.common.errors import BadInput
from taskflow.geometry.grids import SIDES, Chart, MultiBlockGrid, Patch
from taskflow.geometry.grids.multiblock.grid import corners, oriented
from taskflow.runtime.regions import Box

HEADER = "FoamFile\n{{\n    version 2.0;\n    format ascii;\n    class {kind};\n    object {name};\n}}\n"


def write_foam(path: Path, kind: str, text: str) -> None:
    """Write a file of OpenFOAM in its class `kind`."""
    path.write_text(f"{HEADER.format(kind=kind, name=path.name)}{text}\n", encoding="ascii")


def listed(entries: Iterable[str]) -> str:
    """The entries as a list of OpenFOAM, behind their number."""
    lines = list(entries)
    return "\n".join([str(len(lines)), "(", *lines, ")"])


def vectors(values: np.ndarray) -> str:
    """Vectors [n, xyz] as such a list, with all their digits."""
    return listed(f"({x:.17g} {y:.17g} {z:.17g})" for x, y, z in values.tolist())


@dataclass(frozen=True, eq=False)
class PolyMesh:
    """Points [n, xyz]; faces [n, 4] by their points, which go round a vector that points from the `owner` [n] to the
    `neighbour`, a cell with a higher number, or outwards. The first faces alone have neighbours. Behind them are those
    of the `patches`, as many of each as its number says.

    Cells have the order of the charts, and in a chart the index i is the fastest. Faces inside are in the order of
    their owners, those of one owner in that of its neighbours; faces of a patch in that of its name in the grid.
    """

    points: np.ndarray
    faces: np.ndarray
    owner: np.ndarray
    neighbour: np.ndarray
    patches: Mapping[str, int]

    @classmethod
    def of(cls, grid: MultiBlockGrid) -> PolyMesh:
        """The mesh of a grid, whose points at one place are made one. Raises BadInput where a seam is periodic."""
        if any(any(seam.translation) for seam in grid.seams):
            raise BadInput("grid: it is periodic, for which no faces are written; give one without periodic seams")
        numbers = _Numbers(grid)
        faces, owner, neighbour = (np.concatenate(column) for column in zip(*numbers.inside(), strict=True))
        swapped = owner > neighbour
        faces[swapped] = faces[swapped, ::-1]
        owner, neighbour = np.minimum(owner, neighbour), np.maximum(owner, neighbour)
        order = np.lexsort((neighbour, owner))
        sides = {name: [numbers.outwards(patch) for patch in patches] for name, patches in grid.sides.items()}
        outside = [part for parts in sides.values() for part in parts]
        return cls(
            numbers.points,
            np.concatenate([faces[order], *(faces for faces, _ in outside)]),
            np.concatenate([owner[order], *(cells for _, cells in outside)]),
            neighbour[order],
            {name: sum(len(cells) for _, cells in parts) for name, parts in sides.items()},
        )

    def write(self, folder: Path, kinds: Mapping[str, str]) -> None:
        """Write the five files of the mesh into a folder that is made. `kinds` are those of patches, by their names."""
        folder.mkdir(parents=True)
        write_foam(folder / "points", "vectorField", vectors(self.points))
        write_foam(folder / "faces", "faceList", listed(f"4({a} {b} {c} {d})" for a, b, c, d in self.faces.tolist()))
        write_foam(folder / "owner", "labelList", listed(map(str, self.owner.tolist())))
        write_foam(folder / "neighbour", "labelList", listed(map(str, self.neighbour.tolist())))
        starts = accumulate(self.patches.values(), initial=len(self.neighbour))
        patches = (
            f"{name} {{ type {kinds[name]}; nFaces {size}; startFace {start}; }}"
            for (name, size), start in zip(self.patches.items(), starts, strict=False)
        )
        write_foam(folder / "boundary", "polyBoundaryMesh", listed(patches))


class _Numbers:
    """The numbers of points and cells of a grid."""

    def __init__(self, grid: MultiBlockGrid) -> None:
        self.grid, shapes = grid, [chart.vertices.shape[1:] for chart in grid.charts]
        every = np.concatenate([chart.vertices.reshape(3, -1) for chart in grid.charts], axis=1).T
        self.points, place = np.unique(every, axis=0, return_inverse=True)
        ends = np.cumsum([chart.vertices[0].size for chart in grid.charts])
        parts = np.split(place.ravel(), ends[:-1])
        self.corners = [Chart(part.reshape(1, *shape)) for part, shape in zip(parts, shapes, strict=True)]
        first = np.cumsum([0, *(chart.box.volume for chart in grid.charts)]).tolist()
        self.cells = [
            low + np.arange(chart.box.volume).reshape(chart.box.shape[::-1])
            for low, chart in zip(first, grid.charts, strict=False)
        ]

    def outwards(self, patch: Patch) -> tuple[np.ndarray, np.ndarray]:
        """The faces [n, 4] of a patch, that go round a vector out of its cells, and these cells [n]."""
        around = corners(self.corners[patch.chart], patch)
        faces = np.stack([corner.ravel() for corner in (around if patch.end else around[::-1])], axis=1)
        return faces, self._within(patch.chart, patch.cells).ravel()

    def inside(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield faces [n, 4] and the cells [n] on both sides, from the first to the second."""
        for number, chart in enumerate(self.grid.charts):
            for axis in range(3):
                for layer in range(chart.cells[axis] - 1):
                    cells = chart.box.layer(axis, 0, layer, layer + 1)
                    beyond = self._within(number, chart.box.layer(axis, 0, layer + 1, layer + 2))
                    yield *self.outwards(Patch(number, SIDES[2 * axis + 1], cells)), beyond.ravel()
        for seam in self.grid.seams:
            image = seam.turn(seam.one.cells.layer(seam.one.axis, seam.one.end, -1, 0))
            yield *self.outwards(seam.one), oriented(seam.turn, self._within(seam.other.chart, image)).ravel()

    def _within(self, chart: int, box: Box) -> np.ndarray:
        return self.cells[chart][box.slices((0, 0, 0))]
