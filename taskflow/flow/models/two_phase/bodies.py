"""Bodies among two phases, as stair steps of solid cells. The forces on them are true ones, as the pressure is."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from taskflow.flow.bodies import Obstacles
from taskflow.flow.bodies.forces import OWNERS, ForceTarget
from taskflow.flow.grid import Grid
from taskflow.flow.grid.stencils import AROUND_EDGES, BESIDE, WIDE_U, WIDE_V, WIDE_W, U, V, W
from taskflow.flow.kernels import KERNELS
from taskflow.flow.operators.phases import Phases
from taskflow.runtime.tasks import Components, Launch, Read, ReadByte, Reduce, Roles, task


@task(kernel=KERNELS / "two_phase" / "forces.cu")
def force_of_phases(
    velocity: Components(u=Read[WIDE_U], v=Read[WIDE_V], w=Read[WIDE_W]),
    mass: Components(m_x=Read[U], m_y=Read[V], m_z=Read[W]), f: Read[AROUND_EDGES], p: Read[BESIDE],
    solid: ReadByte, owners: OWNERS,
    *, forces: Reduce[sum, 9], grid: Grid, phases: Phases, target: ForceTarget,
) -> None:  # fmt: skip
    """The force of both phases on a body and its moment: `forces` are pressure, friction and moment, along x, y and z
    each.

    pressure = sum of p on the faces between fluid and body times their area, towards the body: p in the cell beside a
    face, and the weight of the fluid in the half cell between. friction is the rest of the momentum that reaches its
    faces: viscous stress, and at edges, where the stair steps turn, what the mass fluxes of the last step carry there.
    The pull of the interface along its line of contact is not in it.
    """


@dataclass(frozen=True)
class PhaseObstacles(Obstacles):
    """Bodies of which the solver of the pressure knows the faces."""

    _: KW_ONLY
    phases: Phases

    def force(self, f: Roles, forces: str, *, eddies: bool, **where: Any) -> Launch:
        del where["fluid"]
        velocity, mass, owners = (f.u, f.v, f.w), (f.m_x, f.m_y, f.m_z), (f.owner_x, f.owner_y, f.owner_z)
        return force_of_phases(velocity, mass, f.f, f.p, f.solid, owners, forces=forces, phases=self.phases, **where)
