"""The space, the fluid and what acts on it: [grid], [fluid], [heat], [body]."""

from typing import Annotated

from pydantic import Field

from taskflow.errors import BadInput
from taskflow.simulation.case.table import NonNegative, Number, Table, Vector, WholeVector, reads
from taskflow.simulation.values import positive, three

SMALLEST, LARGEST = 1e-100, 1e100


def _length(value: object) -> float:
    length = positive(value)
    if not SMALLEST <= length <= LARGEST:
        raise BadInput(f"give a number between {SMALLEST:g} and {LARGEST:g}")
    return length


class Grid(Table):
    """A box of `cells` equal cells, `lengths` long, whose corner is `origin`."""

    cells: WholeVector = Field(description="give three whole numbers >= 1, in the order x, y, z")
    lengths: Annotated[tuple[float, float, float], reads(three(_length, "three numbers > 0"))] = Field(
        description="give three numbers > 0, in the order x, y, z"
    )
    origin: Vector = (0.0, 0.0, 0.0)


class Fluid(Table):
    """`viscosity` is kinematic."""

    viscosity: NonNegative = Field(description="give the kinematic viscosity, a number >= 0")


class Heat(Table):
    """Temperature T, with `diffusivity` and a `source`; force = -expansion (T - reference) gravity."""

    diffusivity: NonNegative = Field(description="give the thermal diffusivity, a number >= 0")
    expansion: Number = 0.0
    reference: Number = 0.0
    source: Number = 0.0


class Body(Table):
    """Accelerations of the whole fluid: `gravity` acts through temperature, `force` everywhere alike."""

    gravity: Vector = (0.0, 0.0, 0.0)
    force: Vector = (0.0, 0.0, 0.0)
