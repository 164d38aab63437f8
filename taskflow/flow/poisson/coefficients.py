"""The equation with coefficients: div(b grad p) = rhs, b >= 0 on the faces of cells.

In a cell, with b_W on its low and b_E on its high face across x, and likewise across y and z,

    (b_E (p_E - p) - b_W (p - p_W)) / dx^2 + ... = rhs

A solver of an `Operator` that is `variable` has three more fields of the main region: `b_x`, `b_y` and `b_z` at the low
faces of cells. Where p = 0 on the last face of a direction, the boundary layer beyond the last cell holds b there. What
it is on walls does not matter. Once it is written, `Solver.prepare` makes of it what the solver needs: once where b
stays, or whenever it changes, in every step if need be.

Cells without an open face (b > 0) have no equation: their p stays as it is, their rhs counts nowhere. All others are
active. Fluid that is not connected falls into parts. Each that touches no face with p = 0 is singular: rhs has the sum
0 there, up to rounding, and p a constant of its own, whatever the iteration leaves. Conjugate gradients take off the
mean over all active cells, where no part touches such a face; what rounding leaves in one of several parts beyond that
stays there, and limits which tolerance can be reached.
"""

from taskflow.flow.grid.stencils import ACROSS_X, ACROSS_Y, ACROSS_Z
from taskflow.flow.poisson.mesh import Mesh
from taskflow.runtime.regions import Box, Location, triple
from taskflow.runtime.tasks import Components, Foreign, Read

COEFFICIENTS: dict[str, Location] = {"b_x": "fx", "b_y": "fy", "b_z": "fz"}
Faces = tuple[str, ...]  # fields with b across x, y and z

ON_FACES = Components(b_x=Read[ACROSS_X], b_y=Read[ACROSS_Y], b_z=Read[ACROSS_Z])
"""The coefficients on the six faces of a cell."""

ON_FACES_ELSEWHERE = Components(b_x=Foreign[ACROSS_X], b_y=Foreign[ACROSS_Y], b_z=Foreign[ACROSS_Z])
"""These coefficients in fields of another region."""


def faces_across(mesh: Mesh, axis: int) -> Box:
    """The cells whose low faces across an axis are all that there are: one layer more where it is not periodic."""
    return mesh.box.expand((0, 0, 0), triple(int(a == axis and not mesh.periodic[a]) for a in range(3)))
