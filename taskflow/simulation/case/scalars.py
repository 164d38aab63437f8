"""What the flow carries besides heat, and what releases it: [[scalars]], and the sources of heat."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from taskflow.errors import BadInput
from taskflow.simulation.case.initial import Profile, profile
from taskflow.simulation.case.problems import Problem, missing, present, wrong
from taskflow.simulation.case.table import NonNegative, Number, Table, Vector, listed, reads
from taskflow.simulation.expression import Expression
from taskflow.simulation.values import number, one_of, text, three

TAKEN = ("u", "v", "w", "p", "T", "rhs", "direction", "time", "grid", "solid", "faces")
# not the names of other fields
_NAME = re.compile(r"(?!(?:[hxyz]|nu|level\d+|owner|mean|cov)_)[A-Za-z][A-Za-z0-9_]*(?<!_new)(?<!_faces)")

TransportScheme = Annotated[Literal["central", "koren"], reads(one_of("central", "koren"))]


def _name(value: object) -> str:
    name = text(value)
    if name in TAKEN or not _NAME.fullmatch(name):
        raise BadInput(
            "give a name of letters, digits and underscores, other than"
            f" {', '.join(TAKEN)}, that neither begins with h_, x_, y_, z_, nu_, level0_, owner_, mean_, cov_ nor ends"
            " with _new or _faces"
        )
    return name


_corner = three(number, "three numbers")


def _box(value: object) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise BadInput("give the lowest and the highest corner, as [[0, 0, 0], [1, 1, 1]]")
    low, high = _corner(value[0]), _corner(value[1])
    if not all(a < b for a, b in zip(low, high, strict=True)):
        raise BadInput("give the lowest corner, then one that is higher in every direction")
    return low, high


class Source(Table):
    """So much is released per time (`rate`) in a `box` or around a `point`."""

    box: Annotated[tuple[Vector, Vector] | None, reads(_box)] = None
    point: Vector | None = None
    rate: Number = Field(description="give what is released per time, a number")

    @classmethod
    def conflicts(cls, given: Mapping[str, Any]) -> Iterator[Problem]:
        if len(present(given, "box", "point")) == 2:
            yield wrong("point", given["point"], "box is given as well; give one of them")
        elif not present(given, "box", "point"):
            yield missing("point", "give the place of the source, or its box")


Sources = Annotated[tuple[Source, ...], reads(listed(Source, "{ point = [x, y, z], rate = r }"))]


class ScalarFace(Table):
    """A side with a `value`, or with a `flux` into the domain."""

    value: Number | None = None
    flux: Number | None = None

    @classmethod
    def conflicts(cls, given: Mapping[str, Any]) -> Iterator[Problem]:
        if len(present(given, "value", "flux")) == 2:
            yield wrong("flux", given["flux"], "value is given as well; give one of them")


class ScalarBoundaries(Table):
    """Sides that are not named have no gradient across them."""

    x_min: ScalarFace | None = None
    x_max: ScalarFace | None = None
    y_min: ScalarFace | None = None
    y_max: ScalarFace | None = None
    z_min: ScalarFace | None = None
    z_max: ScalarFace | None = None


class PassiveScalar(Table):
    """A field `name` that the flow carries, that diffuses, and that does nothing to the flow."""

    name: Annotated[str, reads(_name)] = Field(description="give the name of its field")
    diffusivity: NonNegative = Field(description="give the diffusivity, a number >= 0")
    source: Number = 0.0
    scheme: TransportScheme = "koren"
    initial: Annotated[Profile, reads(profile)] = Expression(0.0)
    boundaries: ScalarBoundaries = ScalarBoundaries()
    sources: Sources = ()


scalars = listed(PassiveScalar, "tables, each under [[scalars]]")
Scalars = Annotated[tuple[PassiveScalar, ...], reads(scalars)]
