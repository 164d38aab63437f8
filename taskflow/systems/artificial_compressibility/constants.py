"""Fields that no program writes: cell metrics, kinds and velocities of sides, cell corners, swept volumes, and a
non-uniform force.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from taskflow.cases.tables.charts.sides import ChartSides, out_of_plane, unbalanced
from taskflow.cases.tables.motion import placed
from taskflow.cases.tables.physics import Forcing
from taskflow.cases.tables.timed import Timed, Value, Values
from taskflow.common.errors import BadInput, named
from taskflow.common.hexahedra import cell_volumes, centres
from taskflow.flow.bodies.cut_cells import WALL
from taskflow.flow.boundaries.collocated import outward
from taskflow.flow.boundaries.condition import Side
from taskflow.flow.grid.curvilinear import VALUES, metrics, mirrored
from taskflow.flow.models.artificial_compressibility import eddies
from taskflow.flow.models.artificial_compressibility.eddies import FILTER
from taskflow.flow.models.artificial_compressibility.flow_on_charts import SINGLE
from taskflow.flow.models.artificial_compressibility.model import ArtificialCompressibility
from taskflow.geometry.grids import faces
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Box, Field, triple
from taskflow.runtime.tasks import frame
from taskflow.systems.artificial_compressibility.bodies import APERTURE, FLUID, OWNER, SURFACES, WALLS, ChartBodies
from taskflow.systems.artificial_compressibility.boundaries import patch_of, velocities
from taskflow.systems.artificial_compressibility.domain import ChartDomain
from taskflow.systems.artificial_compressibility.moment import BEGINNING, TimeLevels
from taskflow.systems.bodies.solids import pieces

KINDS, METRICS, CORNERS, VELOCITY, SWEPT = "sides", "metrics", ("x", "y", "z"), ("u_s", "v_s", "w_s"), "swept"
FORCE = ("f_x", "f_y", "f_z")
SLAB = 1 << 18  # cells whose constants are computed together: little memory compared with their fields
STAYING = (KINDS, FILTER)  # where a grid moves: volumes do not change


@dataclass(frozen=True, eq=False)
class MetricFields:
    """The constant fields of a model. Tables of `sides`, by name, give the velocities of varying sides, and `body` the
    force on the fluid. Lengths and times are in the `unit` of the model. Time-dependent fields are rewritten before
    each step. `instead` has values set by the user, by key. Picklable.
    """

    domain: ChartDomain
    sides: tuple[Side, ...]
    tables: ChartSides
    body: Forcing
    fields: tuple[Field, ...]
    unit: float = 1.0
    instead: Mapping[str, Value] = field(default_factory=dict)
    bodies: ChartBodies | None = None

    def following(self, instead: Mapping[str, Value]) -> MetricFields:
        """Return the same fields with the values `instead`, by key, which may change later."""
        return replace(self, instead=instead)

    @property
    def varies(self) -> bool:
        """True if any field is rewritten before each step."""
        return self.domain.motion is not None or self._moving is not None or bool(self.keys)

    @property
    def _moving(self) -> ChartBodies | None:
        """The bodies, or None if all are at rest."""
        return self.bodies if self.bodies and self.bodies.moving else None

    @property
    def keys(self) -> dict[str, Value]:
        """The time-dependent values of the case, by key."""
        tables = self.tables.sides.items()
        vectors = {f"{self.tables.place(name)}.velocity": table.vector for name, table in tables}
        vectors["body.force"] = self.body.vector
        parts = ((f"{key}[{n}]", part) for key, vector in vectors.items() for n, part in enumerate(vector, start=1))
        return {key: part for key, part in parts if isinstance(part, Timed) and part.varies}

    def check(self, times: list[float]) -> None:
        """Raise BadInput if a set value is not finite, moves a wall out of its plane, or gives an unbalanced inflow."""
        grid, motion, sides = self.domain.grid, self.domain.motion, self._now
        for time in times:
            for name, side in sides.sides.items():
                if side.kind.solid and (words := out_of_plane(grid, name, side, time)):
                    raise BadInput(f"{sides.place(name)}.velocity: at time {time:g}: {words}")
                for patch in grid.sides.get(name, ()) if side.changes else ():
                    x, y, z = faces(placed(grid, motion, time), patch)[0]
                    with named(f"{sides.place(name)}.velocity"):
                        side.at(x, y, z, time)
            if words := unbalanced(grid, sides, motion, time):
                raise BadInput(f"boundaries: at time {time:g}: {words}")
            for chart in grid.charts if self._body.changes else ():
                x, y, z = centres(self.domain.moved(chart.vertices, time))
                self._body.at(x, y, z, time)

    @property
    def _now(self) -> ChartSides:
        """The tables of sides, with the values set by the user."""
        changing = {name: table for name, table in self.tables.sides.items() if table.changes}
        vectors = {name: self._set(f"{self.tables.place(name)}.velocity", t.vector) for name, t in changing.items()}
        set_now = {name: table.model_copy(update={"velocity": vectors[name]}) for name, table in changing.items()}
        return self.tables.replaced(set_now)

    @property
    def _body(self) -> Forcing:
        return self.body.model_copy(update={"force": self._set("body.force", self.body.vector)})

    def _set(self, key: str, vector: Values) -> tuple[Any, ...]:
        return tuple(self.instead.get(f"{key}[{n}]", part) for n, part in enumerate(vector, start=1))

    def fill(self, shard: Shard) -> None:
        """Write the fields of a block, in all cells in its memory."""
        self._write(shard, [field.name for field in self.fields], BEGINNING)

    def begin(self, shard: Shard, time: float) -> dict[str, float]:
        """Return no scalars: `fill` writes the initial values."""
        return {}

    def advance(self, shard: Shard, time: float, dt: float, last: float) -> dict[str, float]:
        """Write the time-dependent fields at the end of a step from `time` to time + dt, after a step of `last`."""
        if names := self.changing:
            self._write(shard, names, TimeLevels(time + dt, dt, last))
        return {}

    @property
    def changing(self) -> list[str]:
        names = [field.name for field in self.fields]
        if self.domain.motion is not None:
            return [name for name in names if name not in STAYING]
        sides = list(VELOCITY) if any(table.changes for table in self.tables.sides.values()) else []
        surfaces = [name for name in names if name.removesuffix(SINGLE) in SURFACES] if self._moving else []
        return [*sides, *(FORCE if self.body.changes else ()), *surfaces]

    def _write(self, shard: Shard, names: list[str], moment: TimeLevels) -> None:
        own, sides = [name for name in names if name not in VELOCITY], VELOCITY[0] in names

        def parts() -> Iterator[tuple[Box, dict[str, np.ndarray]]]:
            for piece in shard.partition.pieces_of(shard.block):
                memory = shard.partition.memory[piece]
                for slab in pieces(memory, cells=SLAB) if own else ():
                    yield slab, self.values(slab, moment, own)
                if sides:
                    yield memory, self.velocities(memory, moment)

        shard.write_parts(names, parts())

    def values(self, box: Box, moment: TimeLevels, names: Collection[str]) -> dict[str, np.ndarray]:
        """Return some of the fields in the cells of a box, except velocities of sides."""
        at_rest = self.domain.at_rest(box)
        x, y, z = self.domain.moved(at_rest, moment.time)
        values: dict[str, np.ndarray] = {}
        for name in names:
            if name == METRICS:
                values[METRICS] = metrics((x, y, z))
                self._mirror(values[METRICS], box, moment.time)
                values[METRICS][:, :, :-1] /= self.unit**2
                values[METRICS][:, :, -1] /= self.unit**3
            elif name == SWEPT and self.domain.motion is not None:
                values[SWEPT] = moment.swept(self.domain.motion, at_rest) / self.unit**2
            elif name == FILTER:
                values[FILTER] = np.cbrt(cell_volumes((x, y, z)) / self.unit**3) ** 2
            elif name in CORNERS:
                values[name] = (x, y, z)[CORNERS.index(name)][:-1, :-1, :-1] / self.unit
        if self.bodies:
            values |= self.bodies.at(moment.time).fields(box, names, self.unit)
        values |= {name: values[name.removesuffix(SINGLE)] for name in names if name.endswith(SINGLE)}
        if KINDS in names:
            values[KINDS] = np.zeros(box.shape[::-1], np.uint8)
        for side in self.sides if KINDS in names else ():
            for patch in side.patches:
                if common := patch.ghosts & box:
                    values[KINDS][common.slices(box.lo)] = side.flux_code
        return values | (self.forces(box, np.stack((x, y, z)), moment.time) if FORCE[0] in names else {})

    def _mirror(self, metrics: np.ndarray, box: Box, time: float) -> None:
        """Mirror areas of ghost cells at sides with prescribed flux, which then passes also if lines are oblique."""
        for side in self.sides:
            for patch in () if side.kind.enters else side.patches:
                axis, high = frame(patch.face)
                behind = triple(int(a != axis) for a in range(3))
                if not (cells := patch.ghosts.expand((0, 0, 0), behind) & box):
                    continue
                inward = triple(-step for step in outward(patch.face))
                around = cells.expand(behind, (0, 0, 0))
                around |= around.shift(inward)
                areas = mirrored(self.domain.moved(self.domain.at_rest(around), time), axis, high)
                for other, area in areas.items():
                    metrics[cells.slices(box.lo)][:, :, 3 * other : 3 * other + 3] = area

    def forces(self, box: Box, vertices: np.ndarray, time: float) -> dict[str, np.ndarray]:
        """Return the force at the centres of cells between these vertices, and 0 outside the charts."""
        values, body = {name: np.zeros(box.shape[::-1]) for name in FORCE}, self._body
        for chart in self.domain.atlas.charts:
            if common := chart & box:
                inside = common.slices(box.lo)
                x, y, z = (part[inside] for part in centres(vertices))
                for name, component in zip(FORCE, body.at(x, y, z, time), strict=True):
                    values[name][inside] = component * self.unit
        return values

    def velocities(self, box: Box, moment: TimeLevels) -> dict[str, np.ndarray]:
        """Return the velocities of varying sides, in the adjacent ghost cells."""
        dtype = next(field.dtype for field in self.fields if field.name == VELOCITY[0])
        values, tables = {name: np.zeros(box.shape[::-1], dtype) for name in VELOCITY}, self._now
        for side in self.sides:
            if not side.varying:
                continue
            for border, velocity in velocities(side.name, tables, self.domain, moment):
                ghosts = patch_of(border).ghosts
                if common := ghosts & box:
                    for name, component in zip(VELOCITY, velocity, strict=True):
                        values[name][common.slices(box.lo)] = component[common.slices(ghosts.lo)]
        return values


def constant_fields(model: ArtificialCompressibility, dtype: str, *, corners: bool) -> tuple[Field, ...]:
    """Return the constant fields of a model:

    - kinds of sides, velocities of varying sides
    - metrics of non-uniform cells, corners for moments, swept volumes, the filter width
    - a force given by formulas
    - surfaces of bodies, and the body of each cell
    - metrics and swept volumes also in single precision, if the model has `mixed_precision`
    """
    varying = VELOCITY if any(side.varying for side in model.sides) else ()
    names = [*(CORNERS if corners else ()), *varying, *(FORCE if model.body_force else ())]
    names += eddies.constants(model.turbulence)
    fields = [Field(KINDS, "u1", constant=True), *(Field(name, dtype, constant=True) for name in names)]
    if model.bodies:
        fields.append(Field(OWNER, "u1", constant=True))
    extra = [(METRICS, VALUES)] * (model.spacing is None) + [(SWEPT, 3)] * model.moves
    extra += [(APERTURE, 3), (WALLS, WALL), (FLUID, 1)] * model.bodies
    fields += [Field(name, dtype, values=values, constant=True) for name, values in extra]
    rounded = extra if model.mixed_precision else []
    return (*fields, *(Field(name + SINGLE, "f4", values=values, constant=True) for name, values in rounded))
