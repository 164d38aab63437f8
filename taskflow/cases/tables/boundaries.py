"""The six sides of the box: [boundaries]."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import ValidationInfo, field_validator

from taskflow.cases.formulas.expression import Expression
from taskflow.cases.formulas.profile_table import ProfileTable
from taskflow.cases.formulas.values import checked, saying, text, unchosen, word_or
from taskflow.cases.language.problems import CaseError, Problem, exclusive, missing, present, wrong
from taskflow.cases.language.table import NonNegative, Number, Positive, Table, Vector, entry, optional, reads, written
from taskflow.cases.tables.grid import AXES, GridTable
from taskflow.cases.tables.timed import Value, Values, of_time, three_values
from taskflow.cases.tables.timed import value as read
from taskflow.common.errors import BadInput

FACES = ("x_min", "x_max", "y_min", "y_max", "z_min", "z_max")
OPTIONS = {  # of each type
    "wall": ("velocity", "temperature", "heat_flux", "heat_transfer", "outside_temperature", "roughness"),
    "slip": (),
    "symmetry": (),
    "inflow": ("velocity", "log_law", "table", "temperature", "phase"),
    "outflow": ("pressure",),
}
CONTACT_ANGLE = "not available in this version: interfaces meet walls and bodies at 90 degrees; leave it out"
WANTED = 'give it a type, "wall", "slip", "symmetry", "inflow" or "outflow"'


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


PAIR = 'a pair of sides can only be "periodic"; give each side a type of its own'
_pair = saying(checked(text, lambda pair: pair == "periodic", PAIR), PAIR)


def _phase(value: object) -> Value:
    if not isinstance(value, str | Expression) and (isinstance(value, bool) or value not in (1, 2)):
        raise BadInput("give 1 or 2, or an expression for the share of phase 1")
    return read(value)


def options_fit(
    values: Mapping[str, Any], keys: Iterable[str], what: str, options: Mapping[str, tuple[str, ...]]
) -> Iterator[Problem]:
    """Yield the problems with `keys` of a side that are `options` of other types alone."""
    for option in present(values, *keys):
        if option not in ("type", *options[values["type"]]):
            homes = " or ".join(f'"{name}"' for name, known in options.items() if option in known)
            yield wrong(option, values[option], f"{what} has none; leave it out, or give type = {homes}")


class Boundary(Table):
    """One side, with the options of its type."""

    brief: ClassVar[str | None] = "type"
    refused: ClassVar[Mapping[str, str]] = {"contact_angle": CONTACT_ANGLE}
    type: Literal["wall", "slip", "symmetry", "inflow", "outflow"] = entry("see above", remedy=WANTED)
    velocity: Annotated[Values | None, reads(three_values)] = optional(
        "of a `wall`, in its plane: numbers, [functions of time](#values-that-change-in-time) or expressions of x, y"
        " and z. Of an `inflow`: numbers or [expressions](#initial), also of x, y and z",
        otherwise="0 at a wall",
    )
    log_law: LogLawTable | None = optional("of an `inflow`, instead of `velocity`: see [inflow](#inflow)")
    table: Annotated[ProfileTable | None, reads(ProfileTable.load)] = optional(
        "of an `inflow`, instead of `velocity`: see [inflow](#inflow)"
    )
    temperature: Annotated[Value | None, reads(read)] = optional(
        "with heat, of a `wall` or an `inflow`: a number, a [function of time](#values-that-change-in-time) or an"
        " expression of x, y and z",
        otherwise="insulated at a wall, `heat.reference` at an inflow",
    )
    heat_flux: Annotated[Value | None, reads(of_time)] = optional(
        "with heat, of a `wall`, instead of `temperature`: kinematic (flux / density / heat capacity), positive into"
        " the fluid. May [change in time](#values-that-change-in-time)",
        otherwise="0: insulated",
    )
    heat_transfer: NonNegative | None = optional(
        "with heat, of a `wall`, instead of `temperature`: kinematic heat transfer coefficient h, a velocity. The flux"
        " into the fluid is h (`outside_temperature` - T), T being its temperature on the wall"
    )
    outside_temperature: Annotated[Value | None, reads(of_time)] = optional(
        "with `heat_transfer`. May [change in time](#values-that-change-in-time)"
    )
    phase: Annotated[Value | None, reads(_phase)] = optional(
        "with two phases, of an `inflow`, where it is required: the entering phase, 1 or 2, or the fraction of phase"
        " 1, an expression of x, y, z and t between 0 and 1"
    )
    pressure: Annotated[Value | Literal["advected"] | None, reads(word_or("advected", of_time))] = optional(
        "of an `outflow`, over density: a number or a [function of time](#values-that-change-in-time). See"
        " [outflow](#outflow)",
        otherwise="convective outflow",
    )
    roughness: Positive | None = optional(
        "with turbulence, of a `wall`: roughness length z_0 of the logarithmic law, at most half the spacing",
        otherwise="smooth wall",
    )

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        kind = kind_of(values)
        if kind not in OPTIONS:
            return
        yield from options_fit(values, cls.model_fields, f"{'an' if kind[0] in 'io' else 'a'} {kind} boundary", OPTIONS)
        if kind == "wall":
            yield from heat_of_wall(values)
        if kind == "inflow":
            needed = missing("velocity", "give three numbers or expressions; or a log_law, or a table")
            yield from exclusive(values, "velocity", "log_law", "table", needed=needed)

    @classmethod
    def filled(cls, values: dict[str, Any]) -> Mapping[str, Any]:
        resting = kind_of(values) == "wall" and not present(values, "velocity")
        return {**values, "velocity": (0.0, 0.0, 0.0)} if resting else values


def heat_of_wall(values: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the problems with what the table of a wall says of heat."""
    yield from exclusive(values, "temperature", "heat_flux", "heat_transfer")
    for one, other in (("heat_transfer", "outside_temperature"), ("outside_temperature", "heat_transfer")):
        if present(values, one, other) == [one]:
            yield missing(other, f"{one} is given; heat passes by heat_transfer (outside_temperature - T)")


Side = Boundary | None
Pair = Annotated[Literal["periodic"] | None, reads(_pair)]
ONE = "a type as text, or a table with `type` and its options"
BOTH, NEEDED = "the pair of sides is periodic", "required unless the pair is periodic"


class Boundaries(Table):
    """A pair of periodic sides, or two sides of their own, in each direction."""

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
                    yield wrong(side, values[side], f"{axis} says what both sides are; leave out {axis} or {side}")
            elif not sides:
                yield missing(low, f'and so is {high}; give each a type, or {axis} = "periodic" for the pair')
            elif len(sides) == 1 and kind_of(values[sides[0]]) != "periodic":
                yield missing(high if sides == [low] else low, WANTED)

    @property
    def periodic(self) -> tuple[bool, bool, bool]:
        """Which of x, y and z are periodic."""
        return self.x is not None, self.y is not None, self.z is not None

    @property
    def sides(self) -> dict[str, Boundary]:
        """The sides that are not periodic, by face."""
        return {face: side for face in FACES if (side := getattr(self, face))}

    def completed(self, tables: Mapping[str, Any]) -> Self:
        """With heat: walls that say nothing of it are insulated, inflows have the reference temperature."""
        heat, filled = tables.get("heat"), {}
        if heat is None:
            return self
        for face, side in self.sides.items():
            if side.type == "wall" and not present(dict(side), "temperature", "heat_flux", "heat_transfer"):
                filled[face] = side.model_copy(update={"heat_flux": 0.0})
            if side.type == "inflow" and side.temperature is None and not (side.table and "T" in side.table.names):
                filled[face] = side.model_copy(update={"temperature": heat.reference})
        return self.model_copy(update=filled)

    @field_validator(*FACES, mode="before")
    @classmethod
    def _spelled_out(cls, value: Any, info: ValidationInfo) -> Any:
        """A type alone stands for a table with this type."""
        axis = str(info.field_name)[0]
        if kind_of(value) == "periodic":
            raise ValueError(f'both sides or none; give {axis} = "periodic" in place of {axis}_min and {axis}_max')
        if isinstance(value, str):
            if value not in OPTIONS:
                raise ValueError(unchosen(value, [*OPTIONS]))
            return {"type": value}
        return value

    @field_validator(*FACES)
    @classmethod
    def _stays_in_its_plane(cls, side: Side, info: ValidationInfo) -> Side:
        axis = str(info.field_name)[0]
        normal = side.velocity[AXES.index(axis)] if side and side.type == "wall" and side.velocity else 0.0
        if side and normal != 0:
            remedy = f"a wall moves in its own plane only; give 0 as its {axis} component, or an inflow"
            raise CaseError(wrong("velocity", side.velocity, remedy))
        return side


def kind_of(side: Any) -> str | None:
    """The type of a side in any of the ways to give it."""
    kind = side.get("type") if isinstance(side, Mapping) else getattr(side, "type", side)
    return kind if isinstance(kind, str) else None


def _walls_have_room(grid: GridTable, boundaries: Boundaries) -> Iterator[Problem]:
    for face, side in boundaries.sides.items():
        axis = face[0]
        if side.type in ("wall", "inflow", "outflow") and grid.cells[AXES.index(axis)] == 1:
            kind = f"{'a' if side.type == 'wall' else 'an'} {side.type}"
            remedy = f'one cell in {axis} has no room for {kind}; give {axis} = "periodic" for 2D, or more cells'
            yield wrong(("boundaries", face), side.written(), remedy)


def _outflow_is_determined(boundaries: Boundaries) -> Iterator[Problem]:
    """Convection knows how fast, but not how much leaves through which of several sides; pressure does."""
    sides = boundaries.sides
    leaving = [face for face, side in sides.items() if side.type == "outflow"]
    carried = [face for face in leaving if sides[face].pressure in (None, "advected")]
    for face in carried:
        if len(leaving) > 1:
            several = f"with {len(leaving)} outflows pressure decides how much leaves where"
            remedy = f"{several}; give all of them a pressure, such as 0"
        elif all(side.type != "inflow" for side in sides.values()):
            remedy = "nothing enters that could leave; give an inflow, or the outflow pressure = 0"
        else:
            continue
        yield wrong(("boundaries", face), sides[face].written(), remedy)


def _inflow_fits_its_side(boundaries: Boundaries) -> Iterator[Problem]:
    for face, side in boundaries.sides.items():
        key, name, inward = ("boundaries", face), face[0], -1.0 if face.endswith("max") else 1.0
        law, table = side.log_law, side.table
        if law and law.up == name:
            yield wrong((*key, "log_law", "up"), law.up, f"the wind would not blow through {face}")
        elif law and law.direction and law.direction[AXES.index(name)] * inward <= 0:
            sign = ">" if inward > 0 else "<"
            remedy = f"the wind has to blow in at {face}; give a direction with {name} {sign} 0"
            yield wrong((*key, "log_law", "direction"), law.direction, remedy)
        elif law and law.direction and law.direction[AXES.index(law.up)] != 0:
            remedy = f"the wind blows along the ground; give 0 as its {law.up} component"
            yield wrong((*key, "log_law", "direction"), law.direction, remedy)
        if table and "T" in table.names and side.temperature is not None:
            remedy = "the table has T as well; give one of them"
            yield wrong((*key, "temperature"), written(side.temperature), remedy)
        if table and name in table.axes:
            yield wrong((*key, "table"), table.source, f"{face} has one {name}; leave the column {name} out")


Boundaries.rules = (_walls_have_room, _outflow_is_determined, _inflow_fits_its_side)
