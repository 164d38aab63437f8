"""Forces, moments and heat of bodies, from the momentum and heat that the scheme removes from the fluid at their faces.

The momentum equation is solved on all faces. Closed faces are then set to the velocity of the body, and cut faces are
corrected for the surface. `push` is the momentum per time that a step removes this way. Together with the pressure on
closed faces it is the force on the body and on the fluid stored in it, whose share of the driving forces is subtracted
(see `taskflow.systems.bodies.inertia`). The momentum gained by bodies, walls and fluid in a step thus equals the
driving up to rounding, and fixed and moving bodies share one formula. All values are per density of the fluid, and
moments are taken where the forces act.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from taskflow.flow.grid import Grid, Vector
from taskflow.flow.grid.stencils import BESIDE, FACE_VELOCITY, U, V, W
from taskflow.flow.kernels import KERNELS
from taskflow.flow.operators.momentum import TENDENCY, Buoyancy, Fluid
from taskflow.flow.scalars.transport import GHOST, Transport
from taskflow.flow.time.schemes import StagePart
from taskflow.runtime.regions import Location
from taskflow.runtime.tasks import Components, Read, ReadByte, ReadShort, ReadWrite, Reduce, Scalar, Stencil, star, task

PUSH: dict[str, Location] = {"push_x": "fx", "push_y": "fy", "push_z": "fz"}


@dataclass(frozen=True)
class ForceTarget:
    """Body by its number, and the point, relative to the lowest corner of the grid, about which its moment is taken.

    A body across periodic sides has their `period`, 0 along other directions, and the position of its `middle`.
    `stairs` is 1 for stair steps, which contain no pressure. `last` is the share of the last stage in a step.
    """

    number: int
    about: Vector
    middle: Vector = (0.0, 0.0, 0.0)
    period: Vector = (0.0, 0.0, 0.0)
    stairs: int = 0
    last: float = 1.0


class BoundedTransport(Transport):
    """Transport of a bounded quantity: see `taskflow.flow.scalars.transport`."""

    defines: ClassVar[tuple[str, ...]] = ("BOUNDED",)
    stencils: ClassVar[Mapping[str, Stencil]] = MappingProxyType({"T": star(GHOST)})


VELOCITY = Components(u=Read[U], v=Read[V], w=Read[W])
OWNERS = Components(owner_x=ReadByte, owner_y=ReadByte, owner_z=ReadByte)
BLOCKAGE = Components(blockage_x=Read, blockage_y=Read, blockage_z=Read)
PUSHES = Components(push_x=ReadWrite, push_y=ReadWrite, push_z=ReadWrite)


@task(kernel=KERNELS / "bodies" / "forces.cu")
def force_on_body(
    p: Read[BESIDE], solid: ReadByte, push: Components(push_x=Read, push_y=Read, push_z=Read), owners: OWNERS,
    *, forces: Reduce["sum", 9], grid: Grid, target: ForceTarget,
) -> None:  # fmt: skip
    """Sum the force of the last step on the faces of a body, and its moment.

    `forces` are pressure (of the last stage, on closed faces), the remainder, and the moment, each along x, y and z.
    """


@task(kernel=KERNELS / "bodies" / "stored.cu")
def stored_lift(
    T: Read[BESIDE], solid: ReadByte, blockage: BLOCKAGE | None, owners: OWNERS,
    *, stored: Reduce["sum", 6], grid: Grid, buoyancy: Buoyancy, number: int,
) -> None:  # fmt: skip
    """Sum the lift of the fluid stored in closed faces and in the covered share of cut faces, and its volume.

    Each along x, y and z, for a body without a temperature.
    """


@task(kernel=KERNELS / "bodies" / "closed_faces.cu")
def push_closed_faces(
    velocity: VELOCITY, p: Read[BESIDE], nu_t: Read[BESIDE] | None, T: Read[BESIDE] | None, solid: ReadByte,
    tendency: TENDENCY, push: PUSHES,
    *, ratio: Scalar, grid: Grid, fluid: Fluid, buoyancy: Buoyancy | None, stage: StagePart,
) -> None:  # fmt: skip
    """h = H and push += (1 + ratio/2) H - ratio/2 H_old on the closed faces of stair steps.

    Runs before the momentum equation of a stage, which changes neither h nor the velocity there. H has viscous stress,
    with eddies 2 nu_t du/dn normal to the faces in the adjacent fluid (nu_t = 0 on edges), advection at edges where the
    stair steps turn, the force of `fluid`, and lift.
    """


@task(kernel=KERNELS / "bodies" / "heat.cu")
def heat_from_body(
    T: Read[BESIDE], solid: ReadByte, owners: OWNERS,
    *, flux: Reduce["sum"], grid: Grid, transport: Transport, number: int,
) -> None:  # fmt: skip
    """flux = heat per time from a body into the fluid, over density and heat capacity.

    That is the sum over its faces of 2 diffusivity (T_body - T) / h times their area.
    """


@task(kernel=KERNELS / "bodies" / "heat_immersed.cu")
def heat_from_immersed_body(
    T: Read[1], velocity: FACE_VELOCITY, T_faces: ReadShort, owner_T: ReadByte, conductance_T: Read, warm_T: Read,
    *, flux: Reduce["sum"], grid: Grid, transport: Transport, number: int,
) -> None:  # fmt: skip
    """`heat_from_body` for an immersed body.

    flux = volume times the sum of diffusivity (warm_T - conductance_T T) over adjacent cells, plus the advective
    outflow from cells inside, with the current velocity.
    """
