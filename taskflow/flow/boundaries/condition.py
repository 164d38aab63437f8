"""The boundary condition of a side of the domain. Each kind is a class in its own file.

A model does not ask for the name of a kind, only for its attributes and the launches that it adds to a program.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, Protocol, Self

from taskflow.common.errors import BadInput
from taskflow.flow.boundaries.boundary import AS_INSIDE, Mirror, Value, impose, mirror, mirrored
from taskflow.flow.boundaries.box_side import BoxSide
from taskflow.flow.boundaries.collocated import (
    FLUXES,
    REST,
    CellFields,
    Condition,
    PatchCells,
    beyond_scalar,
    beyond_slip,
)
from taskflow.flow.grid import Vector
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Launch

Velocity = tuple[str, str, str]  # the fields of u, v and w
NOTHING = Condition()
FluxKind = Literal["closed", "given", "open", "far"]


class GivenValues(Protocol):
    """The values of a side's table. A varying value is represented by its largest magnitude in the run."""

    @property
    def timed(self) -> Collection[str]:
        """Keys whose values change in time."""

    @property
    def placed(self) -> Collection[str]:
        """Keys whose values depend on position."""

    def number(self, key: str) -> float | None:
        """Return a number, or None if the key is absent."""

    def vector(self, key: str) -> Vector:
        """Return three numbers, zeros if the key is absent."""


@dataclass(frozen=True)
class Side:
    """A named side of a grid: its kind of condition, its values, and its patches.

    - `varying`: its velocity differs between cells, and is in the ghost cells of the fields `u_s`, `v_s`, `w_s`.
    - `scalars`: values of passive scalars by name, in the fields of a temperature.
    """

    name: str
    kind: BoundaryCondition
    patches: tuple[PatchCells, ...]
    condition: Condition = NOTHING
    varying: bool = False
    scalars: Mapping[str, Condition] = field(default_factory=dict)

    @property
    def layers(self) -> dict[str, tuple[Box, ...]]:
        """The ghost cells next to its patches, by face."""
        faces = dict.fromkeys(patch.face for patch in self.patches)
        return {face: tuple(patch.ghosts for patch in self.patches if patch.face == face) for face in faces}

    @property
    def ghosts(self) -> tuple[Box, ...]:
        return tuple(patch.ghosts for patch in self.patches)

    @property
    def speeds(self) -> tuple[str, str, str] | None:
        """The fields of its velocity, if `varying`."""
        return ("u_s", "v_s", "w_s") if self.varying else None

    @property
    def flux_code(self) -> int:
        """The value of the field `sides` in its ghost cells."""
        return FLUXES[self.kind.flux]

    def each(self, values: Condition) -> Iterator[dict[str, Any]]:
        """Yield the arguments of a launch over the ghost cells of each face."""
        for face, ghosts in self.layers.items():
            yield {"over": ghosts, "on": face, "side": values}

    @property
    def still(self) -> Side:
        """This side, with all values 0."""
        scalars = {name: condition.still for name, condition in self.scalars.items()}
        return replace(self, kind=self.kind.still, condition=self.condition.still, varying=False, scalars=scalars)


@dataclass(frozen=True)
class BoundaryCondition:
    """A kind of side: the keys that it reads from a case, its effect on the flow, and its description.

    A subclass is a frozen dataclass whose fields are named as keys of the side's table. It is picklable, and blocks
    import its module. The defaults describe a closed side without friction and heat flux.
    """

    name: ClassVar[str]
    """The `type` of the side in a case."""
    keys: ClassVar[frozenset[str]] = frozenset()
    """The keys of a side's table that it reads; others are refused."""
    table: ClassVar[Any] = None
    """A `Table` with further keys, for this kind only."""
    varies: ClassVar[frozenset[Literal["time", "place"]]] = frozenset()
    """The dependences that the values of its keys may have."""
    on_boxes: ClassVar[bool] = True
    flux: ClassVar[FluxKind | None] = None
    """The fluxes through it on body-fitted grids, one of four. None: not available there."""
    permeable: ClassVar[bool] = False
    """Fluid may pass."""
    enters: ClassVar[bool] = False
    """Fluid enters with values prescribed on the faces."""
    draws: ClassVar[bool] = False
    """Fluid leaves with a normal velocity prescribed on the faces."""
    brings: ClassVar[bool] = False
    """What enters has prescribed values: temperature, scalars and, with two phases, the phase."""
    balances: ClassVar[bool] = False
    """Fluid leaves at a mean speed that balances the inflow."""
    fixes_pressure: ClassVar[bool] = False
    """The pressure is prescribed. Elliptic solvers see a Dirichlet condition, otherwise a wall."""
    solid: ClassVar[bool] = False
    """The surface of a body: it may move in its plane, has a temperature or a heat flux, and feels a force."""
    symmetric: ClassVar[bool] = False
    """A plane of symmetry: normal gradients are 0."""
    mirrors: ClassVar[bool] = False
    """The flow beyond is a mirror image, so that an interface meets the side at 90 degrees."""
    eddies: ClassVar[float] = 1.0
    """The ghost value of the eddy viscosity over the value inside: -1 if it is 0 on the side."""
    filled: ClassVar[bool] = False
    """Its ghost values at the end of a stage are filled by `Opening.ghosts`."""
    in_bodies: ClassVar[type[BoundaryCondition] | None] = None
    """The condition in the faces of bodies. None: not available there."""

    @classmethod
    def fixes_velocity(cls) -> bool:
        """Return True if the normal velocity is prescribed on the faces."""
        return cls.enters or cls.draws

    @classmethod
    def turns(cls) -> bool:
        """Return True if the direction of the flow decides, face by face, whether the prescribed values enter."""
        return cls.brings and not cls.enters

    @classmethod
    def chosen(cls, table: Mapping[str, Any]) -> type[BoundaryCondition]:
        """Return the class for the values of a side's table: this one, or one of several that share its name."""
        return cls

    @classmethod
    def of(cls, given: GivenValues) -> Self:
        """Return the condition for the values of a table. Fields are set from the keys of the same name."""
        of_key = {one.name: given.vector(one.name) if isinstance(one.default, tuple) else given.number(one.name)
                  for one in fields(cls) if one.init}  # fmt: skip
        return cls(**{name: value for name, value in of_key.items() if value is not None})

    @property
    def still(self) -> BoundaryCondition:
        """Return the condition for changes of the flow: values of its keys, such as a shear rate, are 0."""
        return self

    @property
    def drives(self) -> bool:
        """True if such values set a fluid at rest in motion."""
        return self.still != self

    @property
    def velocity(self) -> Vector:
        """The velocity of the side in its plane."""
        return REST

    @property
    def temperature(self) -> float | None:
        """The temperature of the side; None without one."""
        return None

    @property
    def heat_flux(self) -> float:
        """The kinematic heat flux into the fluid, without the part that depends on the temperature there."""
        return 0.0

    @property
    def heat_transfer(self) -> float:
        """The kinematic heat transfer coefficient, a velocity."""
        return 0.0

    @property
    def outside_temperature(self) -> float:
        """The temperature outside, of heat transfer or of fluid that enters."""
        return 0.0

    @property
    def roughness(self) -> float:
        """The roughness length z_0 of the logarithmic law; 0 for other sides."""
        return 0.0

    @property
    def contact_angle(self) -> float | None:
        """The contact angle of an interface through phase 1, in degrees. None is 90."""
        return None

    @property
    def pressure(self) -> float:
        """The prescribed pressure over density, of largest magnitude if it varies; 0 without one."""
        return 0.0

    @property
    def loss(self) -> float:
        """The loss coefficient, 0 without one."""
        return 0.0

    @property
    def described(self) -> str | None:
        """A line of `taskflow check`, or None."""
        return None

    def factor(self, side: BoxSide) -> float:
        """Return f of the ghost values of a tangential velocity: f inside + (1 - f) velocity."""
        return 1.0

    def normal(self, velocity: Velocity, side: BoxSide) -> Iterator[Launch]:
        """Set the normal velocity of a closed side to 0. Raises BadInput if the side moves out of its plane."""
        if self.permeable:
            return
        if self.velocity[side.axis] != 0:
            raise BadInput(
                f"{side.place}: velocity = {list(self.velocity)} has a component normal to the {self.name};"
                f" a {self.name} moves in its own plane: set the {side.face[0]} component to 0, or use an inflow"
            )
        yield impose(velocity[side.axis], over=side.faces, value=Value(0.0))

    def velocity_ghosts(self, velocity: Velocity, side: BoxSide, ending: str) -> Iterator[Launch]:
        """Fill the ghost values of both tangential velocities; `ending` is the suffix of a stage's scalars."""
        factor = self.factor(side)
        for axes, over in side.tangential:
            fields, values = [velocity[a] for a in axes], [(1 - factor) * self.velocity[a] for a in axes]
            yield mirrored(fields, values, factor, over=over, on=side.face)

    def temperature_mirror(self, side: BoxSide, diffusivity: float) -> Mirror:
        """Return g = factor inside + value that solves T = temperature or, with T = (g + inside) / 2 on the wall,
        diffusivity (g - inside) / spacing = heat_flux + heat_transfer (outside_temperature - T).

        Raises BadInput for a heat flux into a fluid that conducts no heat.
        """
        if self.temperature is not None:
            return Mirror(-1.0, 2 * self.temperature)
        for name in ("heat_flux", "heat_transfer"):
            if getattr(self, name) != 0 and diffusivity == 0:
                raise BadInput(
                    f"{side.place}: {name} = {getattr(self, name)} cannot enter a fluid that does not conduct"
                    f" heat (heat.diffusivity = 0); give it a diffusivity, or set {name} = 0"
                )
        if self.heat_transfer == 0:
            return Mirror(1.0, self.heat_flux * side.spacing / diffusivity if self.heat_flux else 0.0)
        conductance, half = diffusivity / side.spacing, self.heat_transfer / 2
        coming = self.heat_flux + self.heat_transfer * self.outside_temperature
        return Mirror((conductance - half) / (conductance + half), coming / (conductance + half))

    def temperature_ghosts(self, T: str, side: BoxSide, diffusivity: float, ending: str) -> Iterator[Launch]:
        """Fill the ghost temperatures."""
        yield mirror(T, over=side.ghosts, on=side.face, mirror=self.temperature_mirror(side, diffusivity))

    def share_ghosts(self, share: str, velocity: Velocity, side: BoxSide) -> Iterator[Launch]:
        """Fill the ghost shares of phase 1 with what enters, which have the values inside."""
        yield from ()

    def level_set_ghosts(self, phi: str, velocity: Velocity, side: BoxSide, beyond: float) -> Iterator[Launch]:
        """Fill the first layer of ghost values of a level set, which is +-`beyond` in what enters."""
        yield mirror(phi, over=side.layer, on=side.face, mirror=AS_INSIDE)

    def prescribed(self, face: str, names: Collection[str]) -> tuple[str, ...]:
        """Return the `names` whose values differ between faces, and are stored in a separate region."""
        return ()

    def eddy_ghosts(self, velocity: Velocity, nu_t: str, side: BoxSide, viscosity: float) -> Iterator[Launch]:
        """Fill the ghost values of the eddy viscosity."""
        yield mirror(nu_t, over=side.ghosts, on=side.face, mirror=Mirror(self.eddies, 0.0))

    def collocated(self, side: Side, fields: CellFields, values: Condition) -> Iterator[Launch]:
        """Fill the ghost cells of a side of a body-fitted grid, with one launch per face."""
        for where in side.each(values):
            yield beyond_slip(fields.flow, fields.T, fields.metrics, **where)

    def collocated_scalar(self, side: Side, scalar: str, metrics: str | None, values: Condition) -> Iterator[Launch]:
        """Fill the ghost cells of a passive scalar."""
        for where in side.each(values):
            yield beyond_scalar(scalar, metrics, **where)


Boundaries = Mapping[str, BoundaryCondition]  # by face, x_min to z_max; the faces of periodic directions are absent
