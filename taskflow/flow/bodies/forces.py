"""Forces, moments and heat of bodies, from what the scheme itself takes through their faces.

A closed face stands still. Whatever momentum its neighbours and the pressure bring there in a step is a force on the
body that it belongs to: the balance of momentum over the body's own faces. What all bodies, walls and the fluid gain
thus adds up to rounding. Everything is per density of the fluid; moments are those of the forces where they act.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from taskflow.flow.grid import Grid, Vector
from taskflow.flow.grid.stencils import AROUND_EDGES, BESIDE, FACE_VELOCITY, U, V, W
from taskflow.flow.kernels import KERNELS
from taskflow.flow.operators.momentum import Fluid
from taskflow.flow.scalars.transport import GHOST, Transport
from taskflow.runtime.tasks import Components, Read, ReadByte, ReadShort, Reduce, Stencil, star, task


@dataclass(frozen=True)
class ForceTarget:
    """A body by its number, and the point, from the grid's lowest corner, about which its moment is taken."""

    number: int
    about: Vector


class BoundedTransport(Transport):
    """The transport of a quantity that is kept within its bounds: see `taskflow.flow.scalars.transport`."""

    defines: ClassVar[tuple[str, ...]] = ("BOUNDED",)
    stencils: ClassVar[Mapping[str, Stencil]] = MappingProxyType({"T": star(GHOST)})


VELOCITY = Components(u=Read[U], v=Read[V], w=Read[W])
OWNERS = Components(owner_x=ReadByte, owner_y=ReadByte, owner_z=ReadByte)
FRICTION = Components(friction_x=Read, friction_y=Read, friction_z=Read)
BLOCKAGE = Components(blockage_x=Read[1], blockage_y=Read[1], blockage_z=Read[1])


@task(kernel=KERNELS / "bodies" / "forces.cu")
def force_on_body(
    velocity: VELOCITY, p: Read[BESIDE], nu_t: Read[BESIDE] | None, solid: ReadByte, owners: OWNERS,
    *, forces: Reduce["sum", 9], grid: Grid, fluid: Fluid, target: ForceTarget,
) -> None:  # fmt: skip
    """The force of the fluid on a body over the fluid's density, pressure + friction, and its moment: `forces` are
    pressure, friction and moment, along x, y and z each.

    pressure = sum of p times the area of the faces between fluid and body, towards the body. friction is the rest of
    the momentum that reaches its faces: viscous stress, with 2 nu_t du/dn of eddies in the fluid beside its faces, n
    being normal (on edges nu_t is 0), and at edges, where the stair steps turn, what the flow carries there.
    """


@task(kernel=KERNELS / "bodies" / "heat.cu")
def heat_from_body(
    T: Read[BESIDE], solid: ReadByte, owners: OWNERS,
    *, flux: Reduce["sum"], grid: Grid, transport: Transport, number: int,
) -> None:  # fmt: skip
    """flux = heat per time from a body into the fluid, over density and heat capacity: the sum over its faces of
    2 diffusivity (T_body - T) / h times their area.
    """


@task(kernel=KERNELS / "bodies" / "forces_immersed.cu")
def force_on_immersed_body(
    velocity: VELOCITY, p: Read[BESIDE], nu_t: Read[AROUND_EDGES] | None, edges: ReadShort | None, solid: ReadByte,
    friction: FRICTION, blockage: BLOCKAGE, owners: OWNERS,
    *, forces: Reduce["sum", 9], grid: Grid, fluid: Fluid, target: ForceTarget,
) -> None:  # fmt: skip
    """`force_on_body` for an immersed one. pressure is that on its closed faces, friction what reaches them otherwise,
    and viscosity friction (1 + blockage) u, volume by volume, of its cut faces. On edges beside closed faces, by the
    flags in `edges`, nu_t is 0.
    """


@task(kernel=KERNELS / "bodies" / "heat_immersed.cu")
def heat_from_immersed_body(
    T: Read[1], velocity: FACE_VELOCITY, T_faces: ReadShort, owner_T: ReadByte, conductance_T: Read, warm_T: Read,
    *, flux: Reduce["sum"], grid: Grid, transport: Transport, number: int,
) -> None:  # fmt: skip
    """`heat_from_body` for an immersed one: volume times the sum of diffusivity (warm_T - conductance_T T) over cells
    beside it, and of what the flow carries out of cells in it, in the velocity that there is now.
    """
