"""The six sides of the box: [boundaries]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import ValidationInfo, field_validator

from taskflow.cases.formulas.expression import Expression
from taskflow.cases.formulas.profile_table import ProfileTable
from taskflow.cases.formulas.values import checked, saying, text
from taskflow.cases.language.problems import CaseError, Key, Problem, exclusive, missing, numbered, present, wrong
from taskflow.cases.language.table import NonNegative, Number, Positive, Table, Vector, entry, optional, reads, written
from taskflow.cases.tables.control import Time
from taskflow.cases.tables.grid import AXES, GridTable
from taskflow.cases.tables.kinds import Kind, SideTable, kind_of
from taskflow.cases.tables.timed import Value
from taskflow.cases.tables.timed import value as read
from taskflow.common.errors import BadInput

FACES = ("x_min", "x_max", "y_min", "y_max", "z_min", "z_max")


class LogLawTable(Table):
    """The wind over rough ground, (u* / 0.41) ln((s + roughness) / roughness) at the height s above it."""

    roughness: Positive = entry("roughness length", remedy="give the roughness length of the ground, a number > 0")
    friction_velocity: Positive | None = optional("u*. Alternatively `speed` and `height`")
    speed: Positive | None = optional("the wind speed at `height`")
    height: Positive | None = optional("the height above the ground at which `speed` is given")
    up: Literal["x", "y", "z"] = entry("vertical direction", "z")
    ground: Number | None = optional("position of the ground along `up`", otherwise="the lowest corner of the grid")
    direction: Vector | None = optional(
        "wind direction, with a component into the domain and none along `up`", otherwise="into the domain"
    )

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        pair = present(values, "speed", "height")
        if present(values, "friction_velocity"):
            for key in pair:
                yield wrong(key, values[key], "friction_velocity is given as well; give it, or speed and height")
        elif not pair:
            yield missing("friction_velocity", "give it, or a speed and the height above ground where it is")
        elif len(pair) == 1:
            other = "height" if pair == ["speed"] else "speed"
            yield missing(other, "give the speed, and the height above ground where it is")


PAIR = 'a pair of sides can only be "periodic"; give each side its own type'
_pair = saying(checked(text, lambda pair: pair == "periodic", PAIR), PAIR)


def _phase(value: object) -> Value:
    if not isinstance(value, str | Expression) and (isinstance(value, bool) or value not in (1, 2)):
        raise BadInput("give 1 or 2, or an expression for the share of phase 1")
    return read(value)


class Boundary(SideTable):
    """One side of a box, with the options of its type."""

    charts: ClassVar[bool] = False
    log_law: LogLawTable | None = optional("of an `inflow`, instead of `velocity`: see [inflow](#inflow)")
    table: Annotated[ProfileTable | None, reads(ProfileTable.load)] = optional(
        "of an `inflow`, instead of `velocity`: see [inflow](#inflow)"
    )
    phase: Annotated[Value | None, reads(_phase)] = optional(
        "with two phases, of an `inflow` or a `vent`: the entering phase, 1 or 2, or of an `inflow` the fraction of"
        " phase 1, an expression of x, y, z and t",
        otherwise="required of an `inflow`, the lighter phase of a `vent`",
    )
    contact_angle: Number | None = optional(
        "with two phases, of a `wall`: the contact angle of the interface through phase 1, in degrees, between 0 and"
        " 180. Only with `two_phase.method` `vof`",
        otherwise="90",
    )
    loss: NonNegative | None = optional(
        "of a `vent`: the loss coefficient", otherwise="0"
    )
    roughness: Positive | None = optional(
        "with turbulence, of a `wall`: roughness length z_0, at most half the spacing",
        otherwise="smooth wall",
    )

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        yield from super().conflicts(values)
        kind = cls.offered(values)
        if kind is not None and kind.enters and "log_law" in kind.keys:
            needed = missing("velocity", "give three numbers or expressions; or a log_law, or a table")
            yield from exclusive(values, "velocity", "log_law", "table", needed=needed)

    @classmethod
    def called(cls, kind: Kind) -> str:
        return f"{called(kind)} boundary"

    def completed(self, tables: Mapping[str, Any]) -> Self:
        """Heat: a wall without its keys is insulated, entering fluid has the reference temperature. Two phases: a vent
        without a phase lets in the lighter one, phase 2 if both have the same density.
        """
        heat, phases, kind = tables.get("heat"), tables.get("two_phase"), self.kind
        if phases is not None and "phase" in kind.keys and not kind.enters and self.phase is None:
            first, second = phases.density
            return self.model_copy(update={"phase": 1.0 if first < second else 2.0})
        if heat is None:
            return self
        ways = present(dict(self), "temperature", "heat_flux", "heat_transfer")
        if kind.solid and "heat_flux" in kind.keys and not ways:
            return self.model_copy(update={"heat_flux": 0.0})
        given = self.temperature is not None or (self.table and "T" in self.table.names)
        if kind.permeable and "temperature" in kind.keys and not given:
            return self.model_copy(update={"temperature": heat.reference})
        return self


def called(kind: Kind) -> str:
    """Return the name of a kind with its article."""
    return f"{'an' if kind.name[0] in 'aeiou' else 'a'} {kind.name}"


Side = Boundary | None
Pair = Annotated[Literal["periodic"] | None, reads(_pair)]
ONE = "a type as text, or a table with `type` and its options"
BOTH, NEEDED = "the pair of sides is periodic", "required unless the pair is periodic"


class Boundaries(Table):
    """A pair of periodic sides, or two separate sides, in each direction."""

    each: ClassVar[type[Table] | None] = Boundary

    x: Pair = optional(BOTH)
    x_min: Side = optional(ONE, otherwise=NEEDED)
    x_max: Side = optional(ONE, otherwise=NEEDED)
    y: Pair = optional(BOTH)
    y_min: Side = optional(ONE, otherwise=NEEDED)
    y_max: Side = optional(ONE, otherwise=NEEDED)
    z: Pair = optional(BOTH)
    z_min: Side = optional(ONE, otherwise=NEEDED)
    z_max: Side = optional(ONE, otherwise=NEEDED)

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        for axis in AXES:
            low, high = f"{axis}_min", f"{axis}_max"
            sides = present(values, low, high)
            if values.get(axis) is not None:
                for side in sides:
                    yield wrong(side, values[side], f"{axis} sets both sides; omit {axis} or {side}")
            elif not sides:
                yield missing(low, f'and so is {high}; give each a type, or {axis} = "periodic" for the pair')
            elif len(sides) == 1 and kind_of(values[sides[0]]) != "periodic":
                yield missing(high if sides == [low] else low, Boundary.wanted())

    @property
    def periodic(self) -> tuple[bool, bool, bool]:
        """Which of x, y and z are periodic."""
        return self.x is not None, self.y is not None, self.z is not None

    @property
    def sides(self) -> dict[str, Boundary]:
        """The sides that are not periodic, by face."""
        return {face: side for face in FACES if (side := getattr(self, face))}

    def completed(self, tables: Mapping[str, Any]) -> Self:
        """See `Boundary.completed`."""
        return self.model_copy(update={face: side.completed(tables) for face, side in self.sides.items()})

    @field_validator(*FACES, mode="before")
    @classmethod
    def _spelled_out(cls, value: Any, info: ValidationInfo) -> Any:
        """A type alone stands for a table with this type."""
        axis = str(info.field_name)[0]
        if kind_of(value) == "periodic":
            raise ValueError(f'both sides or none; give {axis} = "periodic" instead of {axis}_min and {axis}_max')
        if isinstance(value, str):
            if Boundary.offered(value) is None:
                raise ValueError(Boundary.unknown(value))
            return {"type": value}
        return value

    @field_validator(*FACES)
    @classmethod
    def _stays_in_its_plane(cls, side: Side, info: ValidationInfo) -> Side:
        if side and (problem := _leaves_its_plane(side, str(info.field_name)[0])):
            raise CaseError(problem)
        return side


def walls_have_room(grid: GridTable, boundaries: Boundaries) -> Iterator[Problem]:
    for face, side in boundaries.sides.items():
        axis = face[0]
        if not side.kind.symmetric and grid.cells[AXES.index(axis)] == 1:
            remedy = f"one cell in {axis} has no room for {called(side.kind)}"
            remedy += f'; give {axis} = "periodic" for 2D, or more cells'
            yield wrong(("boundaries", face), side.written(), remedy)


def _leaves_its_plane(side: Boundary, axis: str) -> Problem | None:
    normal = side.velocity[AXES.index(axis)] if side.kind.solid and side.velocity else 0.0
    remedy = f"{called(side.kind)} moves in its own plane only; give 0 as its {axis} component, or an inflow"
    return wrong("velocity", side.velocity, remedy) if normal != 0 else None


def walls_stay(boundaries: Boundaries) -> Iterator[Problem]:
    """Walls move in their own planes."""
    for face, side in boundaries.sides.items():
        if problem := _leaves_its_plane(side, face[0]):
            yield problem.within(("boundaries", face))


def _outflow_is_determined(boundaries: Boundaries, opened: tuple[Boundary, ...]) -> Iterator[Problem]:
    """Convection determines the speed, but not the share of each of several outflows, which pressure does. `opened` are
    openings.
    """
    sides: dict[Key, Boundary] = {("boundaries", face): side for face, side in boundaries.sides.items()}
    sides |= dict(numbered(openings=opened))
    leaving = [side for side in sides.values() if side.kind.permeable and not side.kind.fixes_velocity()]
    for key, side in sides.items():
        if not side.kind.balances:
            continue
        if len(leaving) > 1:
            several = f"with {len(leaving)} outflows their pressures set the flow through each"
            remedy = f"{several}; give all of them a pressure, such as 0"
        elif not any(side.kind.enters for side in sides.values()):
            remedy = "nothing enters that could leave; give an inflow, or the outflow pressure = 0"
        else:
            continue
        yield wrong(key, side.written(), remedy)


def values_may_vary(boundaries: Boundaries) -> Iterator[Problem]:
    for face, side in boundaries.sides.items():
        for problem in side.varying():
            yield problem.within(("boundaries", face))


def inflow_fits_its_side(boundaries: Boundaries) -> Iterator[Problem]:
    for face, side in boundaries.sides.items():
        key, name, inward = ("boundaries", face), face[0], -1.0 if face.endswith("max") else 1.0
        law, table = side.log_law, side.table
        if law and law.up == name:
            yield wrong((*key, "log_law", "up"), law.up, f"the wind would not blow through {face}")
        elif law and law.direction and law.direction[AXES.index(name)] * inward <= 0:
            sign = ">" if inward > 0 else "<"
            remedy = f"the wind has to enter at {face}; give a direction with {name} {sign} 0"
            yield wrong((*key, "log_law", "direction"), law.direction, remedy)
        elif law and law.direction and law.direction[AXES.index(law.up)] != 0:
            remedy = f"the wind blows along the ground; give 0 as its {law.up} component"
            yield wrong((*key, "log_law", "direction"), law.direction, remedy)
        if table and "T" in table.names and side.temperature is not None:
            remedy = "the table has T as well; give one of them"
            yield wrong((*key, "temperature"), written(side.temperature), remedy)
        if table and name in table.axes:
            yield wrong((*key, "table"), table.source, f"{face} has one {name}; omit the column {name}")


def _lines_end_at_walls(boundaries: Boundaries, grid: GridTable, time: Time) -> Iterator[Problem]:
    """Implicit diffusion solves along lines of cells from wall to wall."""
    for axis in time.implicit or ():
        sides = [boundaries.sides.get(f"{axis}_{end}") for end in ("min", "max")]
        if others := {"periodic" if side is None else side.type for side in sides if not side or side.kind.permeable}:
            sort = f"{axis} has sides of type {' and '.join(sorted(others))}"
            remedy = f"{sort}; give a direction between walls or slip boundaries, or omit it"
            yield wrong(("time", "implicit"), [axis], remedy)
        elif grid.cells[AXES.index(axis)] < 2:
            remedy = "there is one cell along it; give grid.cells 2 or more there, or omit it"
            yield wrong(("time", "implicit"), [axis], remedy)


Boundaries.rules = (
    walls_have_room, _outflow_is_determined, inflow_fits_its_side, values_may_vary, _lines_end_at_walls,
)  # fmt: skip
