"""The equation with variable coefficients: div(b grad p) = rhs, b >= 0 on cell faces.

In a cell, with b_W on its low and b_E on its high face across x, and likewise across y and z,

    (b_E (p_E - p) - b_W (p - p_W)) / dx^2 + ... - screen p = rhs

A solver of a `variable` `Operator` has three more fields in the main region: `b_x`, `b_y` and `b_z` at the low faces of
cells. If p = 0 on the last face of a direction, the ghost layer after the last cell holds b there. Values on walls are
ignored. After each change of b, `Solver.prepare` computes the data that the solver derives from it.

The term screen p >= 0 exists if p = 0 on faces inside the domain, such as openings in bodies. There b = 0, and the cell
next to the face has screen = 2 / dx^2 in the field `screen`: its half cell alone is between p and 0.

Cells without an open face (b > 0) have no equation: their p is unchanged and their rhs ignored. All other cells are
active. A disconnected part of the fluid that touches no face with p = 0 is singular: its rhs sums to 0 up to rounding,
and its p has an arbitrary constant. If all parts are singular, conjugate gradients subtract the mean over all active
cells. With several parts, the rounding errors of their sums remain and limit the tolerance that can be reached.
"""

from taskflow.flow.grid.stencils import ACROSS_X, ACROSS_Y, ACROSS_Z
from taskflow.flow.poisson.mesh import Mesh
from taskflow.runtime.regions import Box, Location, triple
from taskflow.runtime.tasks import Components, Foreign, Read

COEFFICIENTS: dict[str, Location] = {"b_x": "fx", "b_y": "fy", "b_z": "fz"}
SCREEN: dict[str, Location] = {"screen": "c"}
Faces = tuple[str, ...]  # fields with b across x, y and z, and the screen if there is one

ON_FACES = Components(b_x=Read[ACROSS_X], b_y=Read[ACROSS_Y], b_z=Read[ACROSS_Z])
"""Coefficients on the six faces of a cell."""

ON_FACES_ELSEWHERE = Components(b_x=Foreign[ACROSS_X], b_y=Foreign[ACROSS_Y], b_z=Foreign[ACROSS_Z])
"""The same coefficients in fields of another region."""


def faces_across(mesh: Mesh, axis: int) -> Box:
    """Return the cells whose low faces are all faces across an axis: one more layer if the axis is not periodic."""
    return mesh.box.expand((0, 0, 0), triple(int(a == axis and not mesh.periodic[a]) for a in range(3)))
