"""A boundary condition of another package: a wall at which fluid slips, with the slip length b of Navier (1823).

    u - u_wall = b du/dn    along the wall, n pointing into the fluid; nothing flows through it.

The ghost value along the wall is factor u + (1 - factor) u_wall: exact where u is linear across the wall.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import taskflow as tf
from taskflow.extend import (
    FLOW,
    INSIDE,
    KERNELS,
    METRICS,
    SPEEDS,
    BoxSide,
    CellFields,
    Condition,
    GivenValues,
    Launch,
    NonNegative,
    Side,
    Table,
    Wall,
    entry,
)


class SlipTable(Table):
    """The keys of a side that no other kind has."""

    slip_length: NonNegative = entry("where the velocity extrapolates to the wall's", remedy="give a length >= 0")


@dataclass(frozen=True)
class PartialSlip(Wall):
    """A wall with a slip length: 0 is a wall to which fluid sticks."""

    name = "partial-slip"
    keys = Wall.keys - {"roughness"}
    table = SlipTable
    varies = frozenset(("time",))

    slip_length: float = 0.0

    @classmethod
    def of(cls, given: GivenValues) -> PartialSlip:
        return super().of(given, slip_length=given.number("slip_length"))

    @property
    def described(self) -> str:
        return f"a wall with the slip length {self.slip_length:g}"

    def factor(self, side: BoxSide) -> float:
        return (2 * self.slip_length - side.spacing) / (2 * self.slip_length + side.spacing)

    def collocated(self, side: Side, fields: CellFields, values: Condition) -> Iterator[Launch]:
        slipping = SlipCondition(**asdict(values), slip=self.slip_length / fields.unit)
        for where in side.each(slipping):
            yield beyond_partial_slip(fields.flow, fields.T, fields.metrics, side.speeds, **where)


@dataclass(frozen=True)
class SlipCondition(Condition):
    """Return the constants of the kernel: the common ones of all sides, and the slip length with its unit."""

    slip: float = 0.0


KERNEL = f"""
#include "{KERNELS}/artificial_compressibility/beyond.h"
TASK beyond_partial_slip(Range range, InOut p, InOut u, InOut v, InOut w OPTIONAL(T) OPTIONAL(metrics) OPTIONAL(u_s)
                         OPTIONAL(v_s) OPTIONAL(w_s), Condition side) {{
  FRAME(range)
  for_cells(range, CELL(c) {{
    const Wall face = wall(metrics, c, side);
    const real spacing = face.volume * reciprocal(root(square(face.area)));
    const real sum = reciprocal(2 * side.slip + spacing), factor = (2 * side.slip - spacing) * sum;
    const Vector speed = prescribed(u_s, v_s, w_s, c, side), inside{{u[c + N], v[c + N], w[c + N]}};
    const Vector moved = inside - speed;
    const real across = dot(face.area, moved) * reciprocal(square(face.area));
    const Vector past = plus(factor * moved, -(1 + factor) * across, face.area);
    p[c] = 2 * p[c + N] - p[c + 2 * N];
    u[c] = speed.x + past.x, v[c] = speed.y + past.y, w[c] = speed.z + past.z;
    warm(T, metrics, c, N, side);
  }});
}}
"""


@tf.task(kernel=KERNEL)
def beyond_partial_slip(flow: FLOW, T: tf.ReadWrite[INSIDE] | None, metrics: METRICS, speeds: SPEEDS,
                        *, on: tf.Face, side: Condition) -> None:  # fmt: skip
    """Ghost velocity: factor (inside - wall) along the wall, the opposite across it."""
