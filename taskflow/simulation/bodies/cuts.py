"""What kernels know of immersed bodies: found by each block for its own cells, once, before a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from taskflow.flow.grid import FACES, Point
from taskflow.flow.obstacles import cuts
from taskflow.flow.obstacles.flags import ITSELF, NEIGHBOURS, moved
from taskflow.regions import Box
from taskflow.simulation.bodies.masks import Masks, Part
from taskflow.simulation.bodies.solids import PIECE, pieces

Numbers = dict[Point, np.ndarray]  # by the location of points in cells
PIECES = 4  # in one go: every shape is looked at in every piece that it reaches
LAYERS = 2  # around cells, of which the shapes are known


class Surfaces(NamedTuple):
    """Of points outside of bodies, beside one: how far its surface is as a share of the `step` to the next point, and
    the extent of the volume around the point in that direction.
    """

    share: np.ndarray
    step: np.ndarray
    extent: np.ndarray


@dataclass(frozen=True, eq=False)
class ImmersedMasks(Masks):
    """The flags of cells and faces of immersed bodies, and how far away surfaces are: see `ImmersedObstacles`."""

    def parts(self, box: Box) -> Iterator[Part]:
        """See `Masks.parts`."""
        points: tuple[Point, ...] = (*FACES, "corner", *(("c",) if self._warm else ()))
        for piece in pieces(box, cells=PIECES * PIECE):
            around, numbers = piece.grow(LAYERS), {}
            for at in points:
                numbers[at] = self.solids.numbers_around(piece, at, LAYERS)
            for part in self.solids.together(piece, LAYERS):
                view = part.grow(LAYERS).slices(around.lo)
                yield part, self._cut(part, {at: each[view] for at, each in numbers.items()})

    @property
    def _warm(self) -> bool:
        """Whether there is a temperature."""
        return "T_faces" in self.roles

    def _cut(self, part: Box, wide: Numbers) -> dict[str, np.ndarray]:
        """The roles in a part, from the shapes that have its points and those of `LAYERS` around it."""
        beside = cuts.near(np.any([wide[at] != 0 for at in FACES], axis=0))
        numbers: Numbers = {at: moved(each) for at, each in wide.items()}
        closed = [numbers[at] != 0 for at in FACES]
        found = {"solid": cuts.solid_bits(closed, self._on_walls(part), beside)}
        found |= {**self._stick(part, numbers), **self._cover(part, closed, wide["corner"])}
        if "edges" in self.roles:
            found |= {"faces": cuts.face_bits(closed), "edges": cuts.edge_bits(closed)}
        if "owner_x" in self.roles:
            found |= {f"owner_{at[1]}": cuts.owners(self._bodies(numbers[at])) for at in FACES}
        shut = (found["solid"] & ITSELF) > 0
        if self._warm:
            found["T_faces"] = cuts.heat_bits(closed, shut, np.isfinite(self._held(numbers["c"])))
        if "scalar_faces" in self.roles:
            found["scalar_faces"] = cuts.heat_bits(closed, shut, np.zeros_like(closed[0]))
        if "bond_T" in self.roles:
            found |= self._bonds(part, numbers["c"])
        return {name: values for name, values in found.items() if name in self.roles}

    def _stick(self, part: Box, numbers: Numbers) -> dict[str, np.ndarray]:
        """Of each component the sum over neighbours inside of (1 / share - 1) / (step extent): `cuts.stick`."""
        found: Numbers = {at: np.zeros(part.shape[::-1]) for at in FACES}
        for axis, side in NEIGHBOURS:
            cut: Numbers = {at: cuts.cut(numbers[at] != 0, axis, side) for at in FACES}
            for at, surfaces in self._surfaces(part, numbers, cut, axis, side).items():
                found[at][cut[at]] += cuts.stick(*surfaces)
        return {f"stick_{at[1]}": values for at, values in found.items()}

    def _cover(self, part: Box, closed: list[np.ndarray], corners: np.ndarray) -> dict[str, np.ndarray]:
        """`cuts.cover` of the open shares of faces that are cut; `corners` [z, y, x] are the numbers of the shapes that
        have the low corners of cells, with `LAYERS` around them.
        """
        inside, edges = moved(corners != 0), [self._edges(part, corners, axis) for axis in range(3)]
        found = {}
        for axis, each in enumerate(closed):
            faces = np.nonzero(np.logical_or.reduce([cuts.cut(each, *step) for step in NEIGHBOURS]))
            cover = np.zeros(part.shape[::-1])
            cover[faces] = cuts.cover(1 - cuts.covered_share(inside, edges, axis, faces))
            found[f"cover_{'xyz'[axis]}"] = cover
        return found

    def _edges(self, part: Box, corners: np.ndarray, axis: int) -> np.ndarray:
        """How much of the edges from low corners of cells to the next along an axis lies in bodies, as a share. Those
        from the last corner are not looked at.
        """
        wide, inside = part.grow(1), corners != 0
        found = (moved(inside) & moved(inside, (axis, 1))).astype(float)
        rising, falling = (cuts.cut(inside, axis, side) for side in (1, -1))
        np.moveaxis(falling, 2 - axis, 0)[0] = False
        for side, open_ in ((1, rising), (-1, falling)):
            shares = self._surfaces(wide, {"corner": corners}, {"corner": open_}, axis, side)["corner"].share
            found[open_ if side > 0 else np.roll(open_, -1, 2 - axis)] = 1 - shares
        return found

    def _bonds(self, part: Box, numbers: np.ndarray) -> dict[str, np.ndarray]:
        """Of cells beside bodies with temperatures: what these weigh, with and without them; whose they are."""
        bond, warm = np.zeros(part.shape[::-1]), np.zeros(part.shape[::-1])
        held = self._held(numbers)
        warm_bodies = np.where(np.isfinite(held), self._bodies(numbers), np.uint8(0))
        for axis, side in NEIGHBOURS:
            cut = cuts.cut(np.isfinite(held), axis, side)
            each = cuts.bond(*self._surfaces(part, {"c": numbers}, {"c": cut}, axis, side)["c"])
            bond[cut] += each
            warm[cut] += each * moved(held, (axis, side))[cut]
        return {"bond_T": bond, "warm_T": warm, "owner_T": cuts.owners(warm_bodies)}

    def _surfaces(self, part: Box, numbers: Numbers, cut: Numbers, axis: int, side: int) -> dict[Point, Surfaces]:
        """What is known of the surfaces to this side of those points at each location that a mask of the part's cells
        has.
        """
        grid, start, stop = self.solids.grid, part.lo[axis], part.hi[axis]
        points, owners, steps, extents = [], [], [], []
        for at, mask in cut.items():
            cells = np.stack(np.nonzero(mask)[::-1], axis=1)
            steps.append(grid.distances(at, axis, start + min(side, 0), stop + min(side, 0))[cells[:, axis]])
            extents.append(grid.extents(at, axis, start, stop)[cells[:, axis]])
            cells += np.array(part.lo)
            cells[:, axis] += side
            np.remainder(cells, grid.cells, out=cells, where=grid.periodic)
            points.append(np.stack([self._places[at][n][cells[:, n]] for n in range(3)], axis=1))
            owners.append(moved(numbers[at], (axis, side))[mask])
        ways = side * np.concatenate(steps)
        shares = self.solids.shares(np.concatenate(points), np.concatenate(owners), axis, ways)
        each = np.split(shares, np.cumsum([len(found) for found in points])[:-1])
        return dict(zip(cut, map(Surfaces, each, steps, extents), strict=True))

    @cached_property
    def _places(self) -> dict[Point, list[np.ndarray]]:
        """Along each axis the coordinates of points in all cells, and in one more."""
        grid = self.solids.grid
        points: tuple[Point, ...] = (*FACES, "c", "corner")
        return {at: [grid.coordinates(at, n, 0, grid.cells[n] + 1) for n in range(3)] for at in points}

    def _on_walls(self, part: Box) -> list[np.ndarray]:
        """For each axis: which low faces of the cells of a part, and of one layer around it, lie on walls."""
        found, wide, grid = [], part.grow(1), self.solids.grid
        for axis, periodic in enumerate(grid.periodic):
            index = np.arange(wide.lo[axis], wide.hi[axis])
            walls = np.isin(index, (0, grid.cells[axis])) & (not periodic)
            shape = [1, 1, 1]
            shape[2 - axis] = -1
            found.append(np.broadcast_to(walls.reshape(shape), wide.shape[::-1]))
        return found
