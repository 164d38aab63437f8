"""The six sides of the box: [boundaries]."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import ValidationInfo, WithJsonSchema, field_validator, model_validator

from taskflow.errors import BadInput
from taskflow.simulation.case.inflow import LogLaw, Value, Values, one_value, three_values
from taskflow.simulation.case.problems import CaseError, Problem, missing, present, wrong
from taskflow.simulation.case.table import NonNegative, Number, Positive, Table, Vector, entry, reads
from taskflow.simulation.expression import Expression
from taskflow.simulation.inflow.profile_table import ProfileTable
from taskflow.simulation.values import number, one_of

AXES = ("x", "y", "z")
FACES = ("x_min", "x_max", "y_min", "y_max", "z_min", "z_max")
OPTIONS = {  # of each type
    "wall": ("velocity", "temperature", "heat_flux", "heat_transfer", "outside_temperature", "roughness"),
    "slip": (),
    "symmetry": (),
    "inflow": ("velocity", "log_law", "table", "temperature"),
    "outflow": ("pressure",),
}
PRESSURES: dict[str, Any] = {"anyOf": [{"type": "number"}, {"enum": ["advected"]}]}
GIVEN = ("velocity", "log_law", "table")  # one of them says what enters
WANTED = 'give it a type, "wall", "slip", "symmetry", "inflow" or "outflow"'

Kind = Literal["periodic", "wall", "slip", "symmetry", "inflow", "outflow"]
_type = one_of(*OPTIONS)


def _pair(value: object) -> str:
    if not isinstance(value, str) or value != "periodic":
        raise BadInput('a pair of sides can only be "periodic"; give each side a type of its own')
    return "periodic"


def _pressure(value: object) -> float | str:
    if isinstance(value, str) and value != "advected":
        raise BadInput('give 0 or "advected"')
    return value if isinstance(value, str) else number(value)


class Boundary(Table):
    """One side, with the options of its type."""

    type: Annotated[Kind, reads(_type), WithJsonSchema({"enum": [*OPTIONS]})] = entry("see above", remedy=WANTED)
    velocity: Annotated[Values | None, reads(three_values)] = entry(
        "of a `wall`: three numbers, in its plane. What enters at an `inflow`: numbers or [expressions](#initial)",
        None,
        otherwise="a wall stands still",
    )
    log_law: LogLaw | None = entry("of an `inflow`, in place of `velocity`: see [there](#inflow)", None)
    table: Annotated[ProfileTable | None, reads(ProfileTable.load)] = entry(
        "of an `inflow`, in place of `velocity`: see [there](#inflow)", None
    )
    temperature: Annotated[Value | None, reads(one_value)] = entry(
        "with heat. Of a `wall`: a number. Of an `inflow`: a number or an expression",
        None,
        otherwise="a wall is insulated; at an inflow `heat.reference`",
    )
    heat_flux: Number | None = entry(
        "with heat, of a `wall`, in place of `temperature`: kinematic (flux / density / heat capacity), positive"
        " into the fluid",
        None,
        otherwise="0: insulated",
    )
    heat_transfer: NonNegative | None = entry(
        "with heat, of a `wall`, in place of `temperature`: a kinematic heat transfer coefficient, a speed;"
        " `heat_transfer` (`outside_temperature` - T) flows into the fluid, T being its temperature on the wall",
        None,
    )
    outside_temperature: Number | None = entry("beside `heat_transfer`", None)
    pressure: Annotated[float | Literal["advected"] | None, reads(_pressure), WithJsonSchema(PRESSURES)] = entry(
        "of an `outflow`: see [there](#outflow)", None, otherwise="it is convective"
    )
    roughness: Positive | None = entry(
        "with turbulence, of a `wall`: the length z_0 of the logarithmic law of a rough wall, at most half the spacing",
        None,
        otherwise="it is smooth",
    )

    @classmethod
    def conflicts(cls, given: Mapping[str, Any]) -> Iterator[Problem]:
        kind = _kind(given)
        if kind not in OPTIONS:
            return
        for option in present(given, *cls.model_fields):
            if option not in ("type", *OPTIONS[kind]):
                homes = " or ".join(f'"{name}"' for name, options in OPTIONS.items() if option in options)
                has_none = f"{'an' if kind[0] in 'io' else 'a'} {kind} boundary has none"
                yield wrong(option, given[option], f"{has_none}; leave it out, or give type = {homes}")
        if kind in CONFLICTS:
            yield from CONFLICTS[kind](given)

    @model_validator(mode="before")
    @classmethod
    def _at_rest(cls, given: Any) -> Any:
        resting = _kind(given) == "wall" and not present(given, "velocity")
        return {**given, "velocity": (0.0, 0.0, 0.0)} if resting else given

    def written(self) -> Any:
        return super().written() if len(present(dict(self), *Boundary.model_fields)) > 1 else self.type

    @property
    def numbers(self) -> Vector:
        """The velocity of a wall."""
        x, y, z = (component if isinstance(component, float) else 0.0 for component in self.velocity or (0.0, 0.0, 0.0))
        return x, y, z


def _of_wall(given: Mapping[str, Any]) -> Iterator[Problem]:
    heat = present(given, "temperature", "heat_flux", "heat_transfer")
    for option in heat[1:]:
        yield wrong(option, given[option], f"{heat[0]} is given as well; give one of them")
    if isinstance(given.get("temperature"), str | Expression):
        yield wrong("temperature", given["temperature"], "a wall has one temperature; give a number")
    moving = given.get("velocity")
    if isinstance(moving, list | tuple) and any(isinstance(item, str | Expression) for item in moving):
        yield wrong("velocity", moving, "a wall moves as a whole; give three numbers, in the order x, y, z")
    for one, other in (("heat_transfer", "outside_temperature"), ("outside_temperature", "heat_transfer")):
        if present(given, one, other) == [one]:
            yield missing(other, f"{one} is given; heat passes by heat_transfer (outside_temperature - T)")


def _of_inflow(given: Mapping[str, Any]) -> Iterator[Problem]:
    found = present(given, *GIVEN)
    if not found:
        yield missing("velocity", "give three numbers or expressions; or a log_law, or a table")
    for option in found[1:]:
        yield wrong(option, given[option], f"{found[0]} is given as well; give one of them")


def _of_outflow(given: Mapping[str, Any]) -> Iterator[Problem]:
    pressure = given.get("pressure")
    if isinstance(pressure, int | float) and pressure != 0:
        yield wrong("pressure", pressure, "give 0, in all outflows: the pressure elsewhere is relative to it")


CONFLICTS = {"wall": _of_wall, "inflow": _of_inflow, "outflow": _of_outflow}
Side = Boundary | None
Pair = Annotated[Literal["periodic"] | None, reads(_pair)]
BOTH = "the pair of sides is periodic"
ONE = "a type as text, or a table with `type` and its options"
NEEDED = "required unless the pair is periodic"


class Boundaries(Table):
    """A pair of periodic sides, or two sides of their own, in each direction."""

    x: Pair = entry(BOTH, None)
    x_min: Side = entry(ONE, None, otherwise=NEEDED)
    x_max: Side = entry(ONE, None, otherwise=NEEDED)
    y: Pair = entry(BOTH, None)
    y_min: Side = entry(ONE, None, otherwise=NEEDED)
    y_max: Side = entry(ONE, None, otherwise=NEEDED)
    z: Pair = entry(BOTH, None)
    z_min: Side = entry(ONE, None, otherwise=NEEDED)
    z_max: Side = entry(ONE, None, otherwise=NEEDED)

    @classmethod
    def conflicts(cls, given: Mapping[str, Any]) -> Iterator[Problem]:
        for axis in AXES:
            low, high = f"{axis}_min", f"{axis}_max"
            sides = present(given, low, high)
            if given.get(axis) is not None:
                for side in sides:
                    yield wrong(side, given[side], f"{axis} says what both sides are; leave out {axis} or {side}")
            elif not sides:
                yield missing(low, f'and so is {high}; give each a type, or {axis} = "periodic" for the pair')
            elif len(sides) == 1 and _kind(given[sides[0]]) != "periodic":
                yield missing(high if sides == [low] else low, WANTED)

    @field_validator(*FACES, mode="before")
    @classmethod
    def _spelled_out(cls, value: Any, info: ValidationInfo) -> Any:
        """A type alone stands for a table with this type."""
        axis = str(info.field_name)[0]
        if _kind(value) == "periodic":
            raise ValueError(f'both sides or none; give {axis} = "periodic" in place of {axis}_min and {axis}_max')
        if isinstance(value, str):
            try:
                return {"type": _type(value)}
            except BadInput as error:
                raise ValueError(str(error)) from None
        return value

    @field_validator(*FACES)
    @classmethod
    def _stays_in_its_plane(cls, side: Side, info: ValidationInfo) -> Side:
        axis = str(info.field_name)[0]
        if side and side.type == "wall" and side.numbers[AXES.index(axis)] != 0:
            remedy = f"a wall moves in its own plane only; give 0 as its {axis} component, or an inflow"
            raise CaseError(wrong("velocity", side.velocity, remedy))
        return side


def _kind(side: Any) -> str | None:
    """The type of a side in any of the ways to give it."""
    kind = side.get("type") if isinstance(side, Mapping) else getattr(side, "type", side)
    return kind if isinstance(kind, str) else None
