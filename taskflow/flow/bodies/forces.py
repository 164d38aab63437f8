"""Forces, moments and heat of bodies, from what the scheme itself takes from the fluid on their faces.

The momentum equation is that of all faces, closed ones included, which then get the velocity of the body, as cut ones
get what the surface makes of them. `push` is what a step takes from the fluid so, per time; with the pressure on closed
faces it is the force on the body and on what is stored in it, whose share of what drives the fluid is taken off (see
`taskflow.systems.bodies.inertia`). So what bodies, walls and the fluid gain in a step is what drives the fluid, to
rounding, and bodies at rest and moving ones have one formula. Everything is per density of the fluid; moments are those
of the forces where they act.
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
    """A body by its number, and the point, from the grid's lowest corner, about which its moment is taken.

    A body over periodic sides has their `period`, 0 along other directions, and the place of its `middle`. `stairs` is
    1 for stair steps, in which there is no pressure. `last` is the share of the last stage in a step.
    """

    number: int
    about: Vector
    middle: Vector = (0.0, 0.0, 0.0)
    period: Vector = (0.0, 0.0, 0.0)
    stairs: int = 0
    last: float = 1.0


class BoundedTransport(Transport):
    """The transport of a quantity that is kept within its bounds: see `taskflow.flow.scalars.transport`."""

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
    """Sum what the last step took from the fluid on the faces that belong to a body, and its moment: `forces` are
    pressure, that of the last stage on closed faces, the rest, and moment, along x, y and z each.
    """


@task(kernel=KERNELS / "bodies" / "stored.cu")
def stored_lift(
    T: Read[BESIDE], solid: ReadByte, blockage: BLOCKAGE | None, owners: OWNERS,
    *, stored: Reduce["sum", 6], grid: Grid, buoyancy: Buoyancy, number: int,
) -> None:  # fmt: skip
    """Sum the lift of what is stored in the closed faces of a body and in the covered share of cut ones, and the volume
    of that, along x, y and z each: of one without a temperature of its own.
    """


@task(kernel=KERNELS / "bodies" / "closed_faces.cu")
def push_closed_faces(
    velocity: VELOCITY, p: Read[BESIDE], nu_t: Read[BESIDE] | None, T: Read[BESIDE] | None, solid: ReadByte,
    tendency: TENDENCY, push: PUSHES,
    *, ratio: Scalar, grid: Grid, fluid: Fluid, buoyancy: Buoyancy | None, stage: StagePart,
) -> None:  # fmt: skip
    """Before the momentum equation of a stage: h = H on the closed faces of stair steps, where that equation leaves
    both h and the velocity as they are, and push gains (1 + ratio/2) H - ratio/2 H_old.

    H has viscous stress, with 2 nu_t du/dn of eddies in the fluid beside the faces, n being normal (on edges nu_t is
    0), what the flow carries at edges, where the stair steps turn, the force of `fluid`, and lift.
    """


@task(kernel=KERNELS / "bodies" / "heat.cu")
def heat_from_body(
    T: Read[BESIDE], solid: ReadByte, owners: OWNERS,
    *, flux: Reduce["sum"], grid: Grid, transport: Transport, number: int,
) -> None:  # fmt: skip
    """flux = heat per time from a body into the fluid, over density and heat capacity: the sum over its faces of
    2 diffusivity (T_body - T) / h times their area.
    """


@task(kernel=KERNELS / "bodies" / "heat_immersed.cu")
def heat_from_immersed_body(
    T: Read[1], velocity: FACE_VELOCITY, T_faces: ReadShort, owner_T: ReadByte, conductance_T: Read, warm_T: Read,
    *, flux: Reduce["sum"], grid: Grid, transport: Transport, number: int,
) -> None:  # fmt: skip
    """`heat_from_body` for an immersed one: volume times the sum of diffusivity (warm_T - conductance_T T) over cells
    beside it, and of what the flow carries out of cells in it, in the velocity that there is now.
    """
