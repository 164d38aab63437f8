"""The six sides of the box: [boundaries]."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from taskflow.errors import BadInput
from taskflow.simulation.case.problems import CaseError, Problem, missing, present, wrong
from taskflow.simulation.case.table import Number, Table, Vector, reads
from taskflow.simulation.values import one_of

AXES = ("x", "y", "z")
FACES = ("x_min", "x_max", "y_min", "y_max", "z_min", "z_max")
OPTIONS = ("velocity", "temperature", "heat_flux")
WANTED = 'give it a type, "wall", "slip" or "symmetry"'

Kind = Literal["periodic", "wall", "slip", "symmetry"]
_type = one_of("wall", "slip", "symmetry", later=("inflow", "outflow"))


def _pair(value: object) -> str:
    if not isinstance(value, str) or value != "periodic":
        raise BadInput('a pair of sides can only be "periodic"; give each side a type of its own')
    return "periodic"


class Boundary(Table):
    """One side. A wall has a `velocity` and, with heat, a `temperature` or else a `heat_flux` into the fluid."""

    type: Annotated[Kind, reads(_type)] = Field(description=WANTED)
    velocity: Vector | None = None
    temperature: Number | None = None
    heat_flux: Number | None = None

    @classmethod
    def conflicts(cls, given: Mapping[str, Any]) -> Iterator[Problem]:
        kind = _kind(given)
        if kind in ("slip", "symmetry"):
            for option in present(given, *OPTIONS):
                message = f'a {kind} boundary has none; leave it out, or give type = "wall"'
                yield wrong(option, given[option], message)
        elif len(present(given, "temperature", "heat_flux")) == 2:
            yield wrong("heat_flux", given["heat_flux"], "temperature is given as well; give one of them")

    @model_validator(mode="before")
    @classmethod
    def _at_rest(cls, given: Any) -> Any:
        resting = _kind(given) == "wall" and not present(given, "velocity")
        return {**given, "velocity": (0.0, 0.0, 0.0)} if resting else given

    def written(self) -> Any:
        return self.type if not present(dict(self), *OPTIONS) else super().written()


Side = Boundary | None


class Boundaries(Table):
    """A pair of periodic sides, or two sides of their own, in each direction."""

    x: Annotated[Literal["periodic"] | None, reads(_pair)] = None
    x_min: Side = None
    x_max: Side = None
    y: Annotated[Literal["periodic"] | None, reads(_pair)] = None
    y_min: Side = None
    y_max: Side = None
    z: Annotated[Literal["periodic"] | None, reads(_pair)] = None
    z_min: Side = None
    z_max: Side = None

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
        if side and side.velocity and side.velocity[AXES.index(axis)] != 0:
            remedy = f"a wall moves in its own plane only; give 0 as its {axis} component"
            raise CaseError(wrong("velocity", side.velocity, remedy))
        return side


def _kind(side: Any) -> str | None:
    """The type of a side in any of the ways to give it."""
    kind = side.get("type") if isinstance(side, Mapping) else getattr(side, "type", side)
    return kind if isinstance(kind, str) else None
