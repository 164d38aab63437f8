"""The fields of immersed bodies: flags, and distances to their surfaces, computed by each block for its own cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import ClassVar, NamedTuple

import numpy as np

from taskflow.flow import StaggeredGrid
from taskflow.flow.bodies import cuts
from taskflow.flow.bodies.flags import ITSELF, NEIGHBOURS, moved
from taskflow.flow.grid import FACES, Point
from taskflow.runtime.regions import Box
from taskflow.systems.bodies.masks import AROUND, LARGE, LAYERS, POINTS, Masks, Numbers, Patch, places
from taskflow.systems.bodies.solids import pieces


class Surfaces(NamedTuple):
    """Points outside of bodies, adjacent to one: `where` they are in the raveled array of cells, the distance to its
    surface as a `share` of the `step` to the next point, and the `extent` of the volume around the point in that
    direction.
    """

    where: np.ndarray
    share: np.ndarray
    step: np.ndarray
    extent: np.ndarray


@dataclass(frozen=True, eq=False)
class ImmersedMasks(Masks):
    """Flags and distances to surfaces of immersed bodies (`ImmersedObstacles`). `reach`: layers examined around."""

    reach: ClassVar[int] = LAYERS

    def parts(self, box: Box) -> Iterator[Patch]:
        points = POINTS if self._warm else POINTS[:-1]
        for piece in pieces(box, cells=LARGE):
            around = piece.grow(self.reach)
            numbers = {at: self._numbers(piece, at) for at in points}
            for part in self.solids.together(piece, self.reach):
                view = part.grow(self.reach).slices(around.lo)
                yield part, self._cut(part, {at: values[view] for at, values in numbers.items()})

    @property
    def _warm(self) -> bool:
        return "T_faces" in self.roles

    def _numbers(self, piece: Box, at: Point) -> np.ndarray:
        """Return the shapes at points of a piece and of `reach` layers around it, surfaces included."""
        if at == "corner":
            return self.solids.numbers_around(piece, at, self.reach)
        numbers = self.solids.numbers_around(piece, at, self.reach + 3)
        for axis in range(3):
            box = piece.grow(self.reach + 2 - axis)
            wide, numbers = numbers, moved(numbers).copy()
            walls, inside = self._on_walls(box), wide != 0
            for side in (-1, 1) if inside.any() else ():
                beside = self._surfaces(box, {at: wide}, {at: inside}, axis, side)[at]
                on = np.unravel_index(beside.where[beside.share < cuts.ON_FACE], numbers.shape)
                if at in FACES:
                    on = tuple(np.array(on)[:, ~moved(walls[FACES.index(at)])[on]])
                numbers[on] = moved(wide, (axis, side))[on]
        return numbers

    def _centres(self, part: Box) -> np.ndarray:
        return self._numbers(part, "c")[part.slices(part.grow(self.reach).lo)]

    def _cut(self, part: Box, wide: Numbers) -> dict[str, np.ndarray]:
        """Return the roles in a part, from the shapes at its points and at points of `LAYERS` around it."""
        beside = cuts.near(np.any([wide[at] != 0 for at in FACES], axis=0))
        numbers: Numbers = {at: values if at == "corner" else moved(values) for at, values in wide.items()}
        closed = [numbers[at] != 0 for at in FACES]
        masks = {"solid": cuts.solid_bits(closed, self._on_walls(part), beside), **self._faces(part, numbers)}
        if "edges" in self.roles:
            masks["edges"] = cuts.edge_bits(closed)
        if "owner_x" in self.roles:
            masks |= {f"owner_{at[1]}": cuts.owners(self._bodies(wide[at]), LAYERS) for at in FACES}
        shut = (masks["solid"] & ITSELF) > 0
        if self._warm:
            masks["T_faces"] = self._heat_bits(closed, shut, np.isfinite(self._temperature(numbers["c"])))
        if "scalar_faces" in self.roles:
            masks["scalar_faces"] = self._heat_bits(closed, shut, np.zeros_like(closed[0]))
        if "conductance_T" in self.roles:
            masks |= self._conductances(part, numbers["c"])
        return {name: values for name, values in masks.items() if name in self.roles}

    def _heat_bits(self, closed: list[np.ndarray], shut: np.ndarray, isothermal: np.ndarray) -> np.ndarray:
        return cuts.heat_bits(closed, shut, isothermal)

    def _faces(self, part: Box, numbers: Numbers) -> dict[str, np.ndarray]:
        """Return `cuts.friction` of each component, summed over neighbours inside, and `cuts.blockage` of cut faces."""
        inside: Numbers = {at: numbers[at] != 0 for at in (*FACES, "corner")}
        corners, shape = moved(inside["corner"]), part.shape[::-1]
        edges = [(corners & moved(inside["corner"], (axis, 1))).astype(float) for axis in range(3)]
        friction, touched = np.zeros((3, *shape)), np.zeros((3, *shape), bool)
        for axis, side in NEIGHBOURS:
            surfaces = self._surfaces(part, numbers, inside, axis, side)
            corner = surfaces.pop("corner")
            # the edge belongs to its lower corner; an edge before the first corner wraps to the last, which is not read
            begin = corner.where if side > 0 else corner.where - edges[axis].strides[2 - axis] // edges[axis].itemsize
            edges[axis].reshape(-1)[begin] = 1 - corner.share
            for n, (at, beside) in enumerate(surfaces.items()):
                friction[n].reshape(-1)[beside.where] += self._friction(beside, part, numbers[at], at, (axis, side))
                touched[n].reshape(-1)[beside.where] = True
        masks: dict[str, np.ndarray] = {}
        for axis, name in enumerate("xyz"):
            faces, blockage = np.unravel_index(np.flatnonzero(touched[axis]), shape), np.zeros(shape)
            blockage[faces] = cuts.blockage(1 - cuts.covered_share(corners, edges, axis, faces))
            masks |= {f"friction_{name}": friction[axis], f"blockage_{name}": blockage}
        return masks

    def _friction(
        self, beside: Surfaces, part: Box, numbers: np.ndarray, at: Point, way: tuple[int, int]
    ) -> np.ndarray:
        """Return the friction by surfaces in direction `way` (axis, side) from points, in the shapes `numbers`."""
        return cuts.friction(beside.share, beside.step, beside.extent)

    def _conductances(self, part: Box, numbers: np.ndarray) -> dict[str, np.ndarray]:
        """Return the weights of adjacent bodies with temperatures, without and with these, and the owners."""
        conductance, warm = np.zeros(part.shape[::-1]), np.zeros(part.shape[::-1])
        temperature = self._temperature(numbers)
        inside = np.isfinite(temperature)
        for axis, side in NEIGHBOURS:
            beside = self._surfaces(part, {"c": numbers}, {"c": inside}, axis, side)["c"]
            conductances = self._conductance(beside, part, numbers, (axis, side))
            conductance.reshape(-1)[beside.where] += conductances
            warm.reshape(-1)[beside.where] += conductances * moved(temperature, (axis, side)).reshape(-1)[beside.where]
        owners = cuts.owners(np.where(inside, self._bodies(numbers), np.uint8(0)))
        return {"conductance_T": conductance, "warm_T": warm, "owner_T": owners}

    def _conductance(self, beside: Surfaces, part: Box, numbers: np.ndarray, way: tuple[int, int]) -> np.ndarray:
        """Return the weights of surfaces in direction `way` (axis, side) from cells, in the shapes `numbers`."""
        return cuts.conductance(beside.share, beside.step, beside.extent)

    def _surfaces(self, part: Box, numbers: Numbers, inside: Numbers, axis: int, side: int) -> dict[Point, Surfaces]:
        """Return the surfaces on this side of points that are not `inside` while the next points are, at each location.
        Both arrays have one layer more than the part, for corners two.
        """
        points, owners, steps, extents, begins, cut = [], [], [], [], [], {}
        for at, mask in inside.items():
            box = part.grow(1) if at == "corner" else part
            where = np.flatnonzero(cuts.cut(mask, axis, side))
            index = np.unravel_index(where, box.shape[::-1])
            cells = [n + lo for n, lo in zip(index[::-1], box.lo, strict=True)]
            cut[at] = tuple(cells)
            steps.append(self._step(at, axis, cells[axis], side))
            extents.append(metric(self.solids.grid)[at, axis][1][cells[axis] + AROUND])
            cells[axis] = cells[axis] + side
            points.append(np.stack([places(self.solids.grid)[at, n][cells[n] + AROUND] for n in range(3)], axis=1))
            owners.append(moved(numbers[at], (axis, side))[index])
            begins.append(where)
        ends, bodies, ways = np.concatenate(points), np.concatenate(owners), side * np.concatenate(steps)
        shares = self.solids.shares(ends, bodies, axis, ways)
        on = np.flatnonzero(shares == 1.0)
        if (on := on[self._off_walls(ends[on])]).size:
            shares[on] = self._inside(ends[on], bodies[on], axis, ways[on], self._aside(cut)[on])
        split = np.split(shares, np.cumsum([len(where) for where in begins])[:-1])
        return dict(zip(inside, map(Surfaces, begins, split, steps, extents), strict=True))

    def _step(self, at: Point, axis: int, cells: np.ndarray, side: int) -> np.ndarray:
        """Return the distances from points to the next ones on a side along an axis."""
        return metric(self.solids.grid)[at, axis][0][cells + (AROUND + min(side, 0))]

    def _aside(self, cells: dict[Point, tuple[np.ndarray, ...]]) -> np.ndarray:
        """Return the lateral offsets that `_inside` tries, [n, xyz, low and high]; 0 for corners."""
        sides = [(axis, side) for axis in range(3) for side in (-1, 1)]
        rows = [
            np.stack([(at != "corner") * cuts.ON_FACE * self._step(at, axis, some[axis], side) for axis, side in sides])
            for at, some in cells.items()
        ]
        return np.concatenate(rows, axis=1).T.reshape(-1, 3, 2)

    def _inside(
        self, ends: np.ndarray, owners: np.ndarray, axis: int, ways: np.ndarray, aside: np.ndarray
    ) -> np.ndarray:
        """Return the shares of rays that end on a surface, at points closed for that: the least share of rays slightly
        `aside`, some of which end inside the body.
        """
        grid, shares = self.solids.grid, np.ones(len(ends))
        a, b = (other for other in range(3) if other != axis)
        for by_a, by_b in product((-1, 0, 1), repeat=2):
            beside = ends.copy()
            for other, by in ((a, by_a), (b, by_b)):
                start, length = grid.origin[other], grid.lengths[other]
                at = beside[:, other] - start + by * aside[:, other, max(by, 0)]
                beside[:, other] = start + (np.mod(at, length) if grid.periodic[other] else at)
            shares = np.minimum(shares, self.solids.shares(beside, owners, axis, ways))
        return shares

    def _off_walls(self, points: np.ndarray) -> np.ndarray:
        """Return True for points [n, xyz] that are not on non-periodic sides of the domain."""
        grid, low = self.solids.grid, np.array(self.solids.grid.origin)
        high = low + grid.lengths
        return np.all((points > low) & (points < high) | np.array(grid.periodic), axis=1)

    def _on_walls(self, part: Box) -> list[np.ndarray]:
        """Return the masks, by axis, of the low faces on walls, for the cells of a part and one layer around it."""
        on_walls, wide, grid = [], part.grow(1), self.solids.grid
        for axis, periodic in enumerate(grid.periodic):
            index = np.arange(wide.lo[axis], wide.hi[axis])
            walls = np.isin(index, (0, grid.cells[axis])) & (not periodic)
            shape = [1, 1, 1]
            shape[2 - axis] = -1
            on_walls.append(np.broadcast_to(walls.reshape(shape), wide.shape[::-1]))
        return on_walls


@lru_cache(maxsize=4)
def metric(grid: StaggeredGrid) -> dict[tuple[Point, int], tuple[np.ndarray, np.ndarray]]:
    """Return distances to the next points and extents of volumes for the cells of `places`, by location and axis."""
    rows = [(axis, -AROUND, n + AROUND) for axis, n in enumerate(grid.cells)]
    return {(at, row[0]): (grid.distances(at, *row), grid.extents(at, *row)) for at, row in product(POINTS, rows)}
