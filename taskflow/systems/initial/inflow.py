"""Inflow values, and wall values that depend on position, over time: each block evaluates them on its own faces, and
all blocks together the total inflow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from math import ceil, log2

import numpy as np

from taskflow.cases.tables.timed import Timed, Value
from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput, named
from taskflow.flow import StaggeredGrid
from taskflow.flow.boundaries.box_side import BoxSide
from taskflow.flow.boundaries.inflow import values
from taskflow.flow.boundaries.open_boundaries import OpenBoundaries
from taskflow.flow.boundaries.openings import all_conditions, openings, parts
from taskflow.flow.model import VELOCITY
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import frame
from taskflow.systems.initial.side_profiles import EvenFunction, SideProfile, on_inflow, on_wall

FINEST = 2.0**-20  # times the largest speed: the scalar sum_bound
ROUNDING = 64  # roundings of a sum of all that enters may be left where nothing leaves
KEYS = {"T": "temperature", "f": "phase"}


@dataclass(frozen=True)
class Inflows:
    """The profiles of u, v, w and, with heat, T, or with two phases f, by the key of a side or an opening; empty
    without inflows. `walls` are profiles on walls that depend on position. `instead` has values set by the user, by
    key.
    """

    grid: StaggeredGrid
    profiles: Mapping[str, Mapping[str, SideProfile]]
    openings: OpenBoundaries
    dtype: str
    walls: Mapping[str, Mapping[str, SideProfile]] = field(default_factory=dict)
    instead: Mapping[str, Value] = field(default_factory=dict)

    @cached_property
    def sides(self) -> dict[str, BoxSide]:
        return {side.key: side for side, _ in parts(self.openings.boundaries, self.grid.constants)}

    def following(self, instead: Mapping[str, Value]) -> Inflows:
        """Return the same inflows with the values `instead`, by key, which may change later."""
        return replace(self, instead=instead)

    @property
    def keys(self) -> dict[str, Value]:
        """The time-dependent values of the case, by key."""
        every = ((key, name, profile) for key, side in self.all_profiles.items() for name, profile in side.items())
        values = ((k, name, p.function if isinstance(p, EvenFunction) else p) for k, name, p in every if p.varies)
        return {_key(self.sides[key].place, name): value for key, name, value in values if isinstance(value, Timed)}

    @property
    def all_profiles(self) -> dict[str, Mapping[str, SideProfile]]:
        return {**self.profiles, **self.walls}

    @property
    def varies(self) -> bool:
        """True if any value changes in time."""
        return any(profile.varies for side in self.all_profiles.values() for profile in side.values())

    def begin(self, shard: Shard, time: float) -> dict[str, float]:
        """Write the values at the time of a first or restored state. Return the scalars that the first step needs."""
        return self._written(shard, [time] * len(self.openings.endings))

    def advance(self, shard: Shard, time: float, dt: float, last: float = 0.0) -> dict[str, float]:
        """Write the values at the ends of the stages of a step to time + dt. Return its scalars. `last` is not used."""
        return self._written(shard, [time + dt * end for end in self.openings.scheme.ends]) if self.varies else {}

    def at(self, key: str, name: str, time: float, cells: Box) -> np.ndarray:
        """Return the values [z, y, x] of a quantity on the faces of a side in these cells, in double precision."""
        side = self.sides[key]
        axis, high = frame(side.face)
        ends = [start + length for start, length in zip(self.grid.origin, self.grid.lengths, strict=True)]
        x, y, z = (self.grid.coordinates(VELOCITY.get(name, "c"), a, cells.lo[a], cells.hi[a]) for a in range(3))
        x, y, z = map(np.minimum, (x, y, z), ends)  # rounding may not take the last one out of the domain
        end = ends[axis] if high else self.grid.origin[axis]
        edge = self.grid.faces(axis)[[side.plane]] if side.in_body else np.array([end])
        x, y, z = (edge if a == axis else places for a, places in enumerate((x, y, z)))
        profile, value = self.all_profiles[key][name], self.instead.get(_key(side.place, name))
        if value is not None:
            profile = on_wall(value) if key in self.walls else on_inflow(value)
        with named(f"{side.place}.{KEYS.get(name, 'velocity')}"):
            return profile(x[None, None, :], y[None, :, None], z[:, None, None], time)

    def all_at(self, key: str, name: str, time: float, most: int | None = None) -> np.ndarray:
        """Return all values of a quantity on the faces of a side, at most this number along each direction of a box."""
        found = []
        for box in self.sides[key].values(name):
            some = tuple(slice(None, None, max(1, -(-count // (most or count)))) for count in box.shape[::-1])
            found.append(self.at(key, name, time, box)[some].ravel())
        return np.concatenate(found) if found else np.zeros(1)

    def described(self) -> Iterator[str]:
        drawn = {side.key for side, one in parts(self.openings.boundaries, self.grid.constants) if one.draws}
        for key in self.profiles:
            way, sign = ("leaves", -1.0) if key in drawn else ("enters", 1.0)
            speeds = np.concatenate([sign * part.ravel() + 0.0 for part in self.inward(key, 0.0)])  # not -0
            often = " at first, and changes in time" if self.varies else ""
            mean, most, name = speeds.mean(), speeds.max(), self.sides[key].title
            yield f"{name}: fluid {way} at {mean:.4g} on average, {most:.4g} at most{often}"

    def check(self, times: list[float]) -> None:
        """Raise BadInput if a value is not finite at one of these times, or the inflow cannot leave."""
        for time in times if self.varies else times[:1]:
            for key, profiles in self.all_profiles.items():
                for name in profiles:
                    entering = self.all_at(key, name, time)
                    if name == "f" and not 0 <= entering.min() <= entering.max() <= 1:
                        extremes = f"values from {entering.min():g} to {entering.max():g} at time {time:g}"
                        where = f"{self.sides[key].place}.phase"
                        raise BadInput(f"{where}: {extremes}; a share of phase 1 is between 0 and 1")
            self._flow(time)

    def fastest(self, times: list[float]) -> list[np.ndarray]:
        """Return the largest inflow |u|, |v|, |w| on each side."""
        fastest = []
        for key, profiles in self.profiles.items():
            each = [(time, box) for time in times for box in self.sides[key].faces]
            along = [[np.abs(self.at(key, name, *one)).max() for one in each if name in profiles] for name in VELOCITY]
            fastest.append(np.array([max(speeds, default=0.0) for speeds in along]))
        return fastest

    def _written(self, shard: Shard, times: list[float]) -> dict[str, float]:
        moments = dict(zip(self.openings.endings, times, strict=True))
        for key, profiles in self.all_profiles.items():
            own = shard.partition.homes[values(key, next(iter(profiles)), next(iter(moments)))].blocks[shard.block]
            mine = [(name, cells) for name in profiles for box in self.sides[key].values(name) if (cells := box & own)]
            entering = (  # nothing, where the block is not at the side
                (cells, {values(key, name, ending): self.at(key, name, time, cells)})
                for (name, cells), (ending, time) in product(mine, moments.items())
            )
            shard.write_parts([values(key, *one) for one in product(profiles, moments)], entering)
        if not self.profiles:
            return {}
        flows = [self._flow(time) for time in times]
        largest = max(speed for _, speed in flows) * self.grid.constants.unevenness
        bound = FINEST * 2.0 ** ceil(log2(largest)) if largest > 0 else FINEST
        return {**dict(zip(self.openings.speeds, (mean for mean, _ in flows), strict=True)), "sum_bound": bound}

    def inward(self, key: str, time: float) -> list[np.ndarray]:
        """Return the inward normal velocities in each box of an inflow, as in its fields, in double precision."""
        side = self.sides[key]
        sign = -1.0 if frame(side.face)[1] else 1.0
        normal = (self.at(key, "uvw"[side.axis], time, box) for box in side.faces)
        return [values.astype(self.dtype).astype(np.float64) * sign for values in normal]

    def _entering(self, key: str, time: float) -> tuple[float, float, float]:
        """Return the volume per time that enters, the same without signs, and the largest speed."""
        side, net, gross, largest = self.sides[key], 0.0, 0.0, 0.0
        area, shares = self.grid.area(side.axis), self.grid.area_shares(side.axis)
        for inward, box in zip(self.inward(key, time), side.faces, strict=True):
            ends = zip(box.lo[::-1], box.hi[::-1], shares.shape, strict=True)
            own = shares[tuple(slice(None) if count == 1 else slice(lo, hi) for lo, hi, count in ends)]
            net += float((own * inward).sum()) * area
            gross += float((own * np.abs(inward)).sum()) * area
            largest = max(largest, float(np.abs(inward).max()))
        return net, gross, largest

    def _flow(self, time: float) -> tuple[float, float]:
        """Return the mean outward speed at convective outflows, and the largest speed through open sides."""
        entering = {key: self._entering(key, time) for key in self.profiles}
        net, gross = (sum((flow[n] for flow in entering.values()), 0.0) for n in range(2))
        largest = max((speed for _, _, speed in entering.values()), default=0.0)
        for side, condition in parts(self.openings.boundaries, self.grid.constants):
            if condition.balances:
                mean = net / (self.grid.area(side.axis) * side.count)
                return mean, max(largest, abs(mean))
        rounding = ROUNDING * float(np.finfo(self.dtype).eps) * gross
        held = any(side.fixes_pressure for _, side in all_conditions(self.openings.boundaries))
        if not held and abs(net) > rounding:
            when = f" at time {time:g}" if self.varies else ""
            raise BadInput(
                f"{self._named(entering)}: {net:g} (volume per time) more enters than leaves{when}, and no side lets it"
                ' out; give a side type = "outflow"'
            )
        return 0.0, largest

    def _named(self, entering: Mapping[str, tuple[float, float, float]]) -> str:
        """Return the inflows with the volumes that enter, if openings are among them."""
        if not openings(self.openings.boundaries):
            return "boundaries"
        return ", ".join(f"{self.sides[key].title} lets {net:.6g} in" for key, (net, _, _) in entering.items())


def _key(place: str, name: str) -> str:
    return f"{place}.{KEYS[name] if name in KEYS else f'velocity[{1 + [*VELOCITY].index(name)}]'}"
