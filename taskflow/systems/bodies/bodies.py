"""The bodies of a case: their shapes on the grid, those with measured forces, and the flags of their cells."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from taskflow.cases import Case
from taskflow.common.caching import cached_property
from taskflow.flow import StaggeredGrid
from taskflow.flow.bodies import Body, ImmersedObstacles, MovingObstacles, Obstacles
from taskflow.flow.model import VELOCITY
from taskflow.geometry import ImplicitShape, Shape
from taskflow.runtime.regions import Box, hull, triple
from taskflow.systems.bodies.images import continued, is_over, over_sides
from taskflow.systems.bodies.immersed_masks import ImmersedMasks
from taskflow.systems.bodies.inertia import BodyForce, MovingBody, RigidMass
from taskflow.systems.bodies.masks import BodyOpening, Masks
from taskflow.systems.bodies.moving import REACH, MovingBodies
from taskflow.systems.bodies.openings import openings_of, unmeasured
from taskflow.systems.bodies.shapes import shapes
from taskflow.systems.bodies.solids import Solids, bounded
from taskflow.systems.bodies.volumes import Volumes, volumes

MOMENTS = 200  # of a run, at which it is looked where bodies are


@dataclass(frozen=True, eq=False)
class Bodies:
    """The obstacles of a case on its grid. Motions of `steered` runs may change. BadInput if a file is unreadable."""

    case: Case
    grid: StaggeredGrid
    steered: bool = False

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """Their shapes as given, without periodic images."""
        return shapes(self.case)

    @cached_property
    def solids(self) -> Solids:
        """Their shapes at the start of the run, with periodic images."""
        if self.moving:
            return self.moving.solids(0.0)
        whole = tuple(continued(shape, self.grid) for shape in self.shapes)
        return Solids(self.grid, whole, over_sides(self.shapes, self.grid))

    @cached_property
    def volumes(self) -> Volumes:
        """The initial volume of each obstacle in the domain, and its centre."""
        return volumes(self.solids, self.shapes)

    @cached_property
    def moving(self) -> MovingBodies | None:
        """The bodies, or None if all are at rest."""
        by_name = {
            obstacle.name: obstacle.motion.rigid(f"obstacles[{number}].motion")
            for number, obstacle in enumerate(self.case.obstacles, start=1)
            if obstacle.motion
        }
        motions = tuple(by_name.get(obstacle.name) for obstacle in self.case.obstacles)
        if not by_name:
            return None
        at_rest = [
            bounded(shape, self.grid) if motion is not None and isinstance(shape, ImplicitShape) else shape
            for shape, motion in zip(self.shapes, motions, strict=True)
        ]
        case, owners, temperatures = self.case, self._owners, self._temperatures
        spread = case.fluid.viscosity, case.heat.diffusivity if case.heat else 0.0
        return MovingBodies(self.grid, tuple(at_rest), motions, *spread, owners=owners, temperatures=temperatures)

    @cached_property
    def path(self) -> tuple[float, ...]:
        """Moments of the run, dense enough to resolve the paths of bodies; only the first if the end is unknown."""
        end = self.case.end_time
        return tuple(end * n / MOMENTS for n in range(MOMENTS + 1)) if end else (0.0,)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of bodies with measured forces: those whose faces are all closed and at rest, without other
        temperatures than their own.
        """
        opened = unmeasured(self.case)
        names = dict.fromkeys(obstacle.name for obstacle in self.case.obstacles if obstacle.name not in opened)
        return tuple(name for name in names if name)

    @cached_property
    def followed(self) -> tuple[Body, ...]:
        return tuple(self._body(name) for name in self.names)

    @cached_property
    def driven(self) -> dict[str, BodyForce | MovingBody]:
        """The named bodies whose force has more contributions than the last step on their faces."""
        moving, driven = self.moving, dict[str, BodyForce | MovingBody]()
        for name in self.names:
            parts, about = self._parts(name), np.array(self._about(name))
            motion, lift = moving.motions[parts[0]] if moving else None, self._lift(parts)
            if motion is not None:
                assert moving is not None
                made = tuple(moving.shapes[n] for n in parts)
                driven[name] = MovingBody(about, lift, RigidMass.of(made, self.grid), self.grid, made, motion)
            elif self._acts:
                size, centre = (values[parts] for values in self.volumes)
                whole = float(size.sum())
                driven[name] = BodyForce(about, lift, whole, size @ centre / whole if whole else about)
        return driven

    @property
    def _acts(self) -> bool:
        """True if a force acts on all fluid, stored in bodies, too."""
        body, heat = self.case.body, self.case.heat
        lifted = heat is not None and heat.expansion != 0 and any(body.gravity)
        driven = any(part != 0.0 for part in (*body.force, *body.geostrophic_wind))
        forced = any(table.on in VELOCITY for table in self.case.forcing)
        return lifted or driven or forced or body.bulk_velocity is not None

    def _lift(self, parts: list[int]) -> np.ndarray:
        """Return the acceleration of fluid at the common temperature of obstacles; 0 if not given."""
        heat, (temperature, *others) = self.case.heat, {self.case.obstacles[n].temperature for n in parts}
        if heat is None or temperature is None or others:
            return np.zeros(3)
        return -heat.expansion * (temperature - heat.reference) * np.array(self.case.body.gravity)

    @cached_property
    def near(self) -> Box:
        """The cells around all bodies, with adjacent ones. The other cells are independent of bodies."""
        if self.moving:
            travelled = self._travelled(range(len(self.case.obstacles)))
            return hull([*travelled, self._beside(hull(self.solids.boxes), REACH)])
        return self._beside(hull(self.solids.boxes), 2 if self._immersed else 1)

    def _travelled(self, parts: Iterable[int]) -> Iterator[Box]:
        """Yield the cells that moving obstacles, numbered from 0, may change, as sampled at the moments of the path
        (`Surroundings.follow` checks each step); all cells if the end of the run is unknown, or it is steered.
        """
        moving = self.moving
        assert moving is not None
        chosen = replace(moving, motions=tuple(m if n in parts else None for n, m in enumerate(moving.motions)))
        if not chosen.numbers:
            return
        yield from chosen.reach(0.0)
        if len(self.path) == 1 or self.steered:
            yield self.grid.box
            return
        for before, time in pairwise(self.path):
            between = math.ceil(chosen.spacings(before, time))
            for box in (*chosen.reach(before), *chosen.reach(time)):
                yield box.grow(between) & self.grid.box

    def masks(self, roles: tuple[str, ...]) -> Masks | None:
        """Return the masks that fill the fields of these roles, or None if some bodies move."""
        if self.moving:
            return None
        kind = ImmersedMasks if self._immersed else Masks
        return kind(self.solids, roles, self._owners, self._temperatures, openings=tuple(self.openings.values()))

    @cached_property
    def openings(self) -> dict[str, BodyOpening]:
        """The openings in faces of bodies, by name."""
        return openings_of(self.case, self.grid)

    @property
    def _owners(self) -> tuple[int, ...]:
        numbers = {name: n for n, name in enumerate(self.names, start=1)}
        return tuple(numbers.get(obstacle.name or "", 0) for obstacle in self.case.obstacles)

    @property
    def _temperatures(self) -> tuple[float, ...]:
        temperatures = (obstacle.temperature for obstacle in self.case.obstacles)
        return tuple(np.nan if T is None else T for T in temperatures)

    def obstacles(self, forced: int) -> Obstacles:
        """Return the bodies of the model, in which a projection forces the velocity `forced` times."""
        if not self._immersed:
            return Obstacles(self.followed, forced, fluid=self._fluid)
        isothermal = any(obstacle.temperature is not None for obstacle in self.case.obstacles)
        kind = MovingObstacles if self.moving else ImmersedObstacles
        return kind(self.followed, forced, near=self.near, isothermal=isothermal, fluid=self._fluid)

    @property
    def _fluid(self) -> float:
        """The fluid share of the domain; 1 if not needed."""
        return 1 - float(self.volumes[0].sum()) / math.prod(self.grid.lengths) if self.case.body.bulk_velocity else 1.0

    @property
    def _immersed(self) -> bool:
        return self.case.bodies.treatment == "immersed"

    def _body(self, name: str) -> Body:
        parts = self._parts(name)
        around = hull(self.solids.boxes[n] for n in parts)
        about = triple(a - b for a, b in zip(self._about(name), self.grid.origin, strict=True))
        heated = any(self.case.obstacles[n].temperature is not None for n in parts)
        cells = self._beside(around, 2 if self._immersed else 1)
        if self.moving:
            cells = hull([*self._travelled(parts), self._beside(around, REACH)])
            return Body(name, cells, about, heated)
        (low, high), lengths = self._ends(parts), np.array(self.grid.lengths)
        over = self._over(parts) & (high - low <= lengths)
        middle = np.where(over, [low, high], self.grid.origin).mean(axis=0) - self.grid.origin
        return Body(name, cells, about, heated, triple(middle.tolist()), triple(np.where(over, lengths, 0.0).tolist()))

    def _ends(self, parts: list[int]) -> np.ndarray:
        ends = np.array([(self.moving or self).shapes[n].bounds for n in parts])
        return np.array([ends[:, 0].min(axis=0), ends[:, 1].max(axis=0)])

    def _over(self, parts: list[int]) -> np.ndarray:
        """Return the periodic directions along which an obstacle at rest crosses a side."""
        return np.any([is_over(self.shapes[n], self.grid) for n in parts], axis=0)

    def _parts(self, name: str) -> list[int]:
        """Return the numbers, from 0, of the obstacles that form one body."""
        return [n for n, obstacle in enumerate(self.case.obstacles) if obstacle.name == name]

    def _about(self, name: str) -> tuple[float, float, float]:
        """Return the reference point of a body's moment, at rest."""
        parts = self._parts(name)
        points = (self.case.obstacles[n].moment_about for n in parts)
        point = next((point for point in points if point is not None), None)
        if point is not None:
            return point
        moving, domain = self.moving, np.array([self.grid.origin, np.add(self.grid.origin, self.grid.lengths)])
        box = self._ends(parts)
        if moving is not None and moving.motions[parts[0]] is not None:
            return triple(np.where(np.isfinite(box), box, domain).mean(axis=0).tolist())
        return triple(np.where(self._over(parts), box, np.clip(box, *domain)).mean(axis=0).tolist())

    def _beside(self, cells: Box, layers: int = 1) -> Box:
        grown, domain = cells.grow(layers), self.grid.box
        ends = zip(self.grid.periodic, grown.lo, grown.hi, domain.hi, strict=True)
        round_trip = [periodic and (lo < 0 or hi > n) for periodic, lo, hi, n in ends]
        lo = triple(0 if all_of_it else n for all_of_it, n in zip(round_trip, grown.lo, strict=True))
        hi = triple(n if all_of_it else m for all_of_it, n, m in zip(round_trip, domain.hi, grown.hi, strict=True))
        return Box(lo, hi) & domain
