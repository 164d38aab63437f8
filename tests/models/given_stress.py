"""A boundary condition of another package: a side with a given shear stress, such as wind on water.

    viscosity du/dn = stress along the side, n pointing out of the fluid; nothing flows through it.

The ghost value along the side is u + spacing stress / viscosity, with the stress over the density.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

import taskflow as tf
from taskflow.extend import (
    FLOW,
    INSIDE,
    KERNELS,
    METRICS,
    BoundaryCondition,
    BoxSide,
    CellFields,
    Condition,
    Launch,
    Side,
    Table,
    Vector,
    entry,
)

REST = (0.0, 0.0, 0.0)


class StressTable(Table):
    """The keys of a side that no other kind has."""

    stress: Vector = entry("the shear stress on the fluid, over density", remedy="give three numbers")


@dataclass(frozen=True)
class GivenStress(BoundaryCondition):
    """A closed side that drags the fluid. The component of the stress normal to it has no effect."""

    name = "stress"
    table = StressTable
    flux = "closed"

    stress: tuple[float, float, float] = REST

    @property
    def still(self) -> GivenStress:
        return replace(self, stress=REST)

    def velocity_ghosts(self, velocity: tuple[str, str, str], side: BoxSide, ending: str) -> Iterator[Launch]:
        if side.viscosity is None:
            raise tf.BadInput(f'{side.place}.type = "stress": phases differ in viscosity; give "slip"')
        for axes, over in side.tangential:
            for axis in axes:
                added = side.spacing * self.stress[axis] / side.viscosity
                yield sheared(velocity[axis], over=over, on=side.face, added=added)

    def collocated(self, side: Side, fields: CellFields, values: Condition) -> Iterator[Launch]:
        x, y, z = self.stress
        rate = (x / fields.viscosity, y / fields.viscosity, z / fields.viscosity)
        for where in side.each(StressCondition(**asdict(values), rate=rate)):
            yield beyond_stress(fields.flow, fields.T, fields.metrics, **where)


@tf.task(
    kernel="""
TASK sheared(Range range, InOut q, real added) {
  FRAME(range)
  for_cells(range, CELL(c) { q[c] = q[c + N] + added; });
}
"""
)
def sheared(q: tf.ReadWrite[INSIDE], *, on: tf.Face, added: float) -> None:
    """ghost = inside + added"""


@dataclass(frozen=True)
class StressCondition(Condition):
    """The constants of the kernel: the common ones of all sides, and the stress over the viscosity."""

    rate: tuple[float, float, float] = REST


KERNEL = f"""
#include "{KERNELS}/artificial_compressibility/beyond.h"
TASK beyond_stress(Range range, InOut p, InOut u, InOut v, InOut w OPTIONAL(T) OPTIONAL(metrics), Condition side) {{
  FRAME(range)
  for_cells(range, CELL(c) {{
    const Wall face = wall(metrics, c, side);
    const real square_area = square(face.area), spacing = face.volume * reciprocal(root(square_area));
    const Vector inside{{u[c + N], v[c + N], w[c + N]}}, rate{{side.rate[0], side.rate[1], side.rate[2]}};
    const Vector added = spacing * rate;
    const real across = (2 * dot(face.area, inside) + dot(face.area, added)) * reciprocal(square_area);
    const Vector past = plus(inside + added, -across, face.area);
    p[c] = 2 * p[c + N] - p[c + 2 * N];
    u[c] = past.x, v[c] = past.y, w[c] = past.z;
    warm(T, metrics, c, N, side);
  }});
}}
"""


@tf.task(kernel=KERNEL)
def beyond_stress(
    flow: FLOW, T: tf.ReadWrite[INSIDE] | None, metrics: METRICS, *, on: tf.Face, side: Condition
) -> None:
    """Ghost velocity: inside + spacing rate along the side, the opposite of inside across it."""
