"""What the flow carries besides heat, and what releases it: [[scalars]], and the sources of heat."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from taskflow.errors import BadInput
from taskflow.simulation.case.initial import Profile, profile
from taskflow.simulation.case.problems import Problem, missing, present, wrong
from taskflow.simulation.case.table import NonNegative, Number, Table, Vector, entry, listed, reads
from taskflow.simulation.expression import Expression
from taskflow.simulation.values import number, one_of, text, three

TAKEN = ("u", "v", "w", "p", "T", "rhs", "direction", "time", "grid", "solid", "faces")
# not the names of other fields
_NAME = re.compile(r"(?!(?:[hxyz]|nu|level\d+|owner|mean|cov|was)_)[A-Za-z][A-Za-z0-9_]*(?<!_new)(?<!_faces)")

TransportScheme = Annotated[Literal["central", "koren"], reads(one_of("central", "koren"))]


def _name(value: object) -> str:
    name = text(value)
    if name in TAKEN or not _NAME.fullmatch(name):
        raise BadInput(
            "give a name of letters, digits and underscores, other than"
            f" {', '.join(TAKEN)}, that neither begins with h_, x_, y_, z_, nu_, level0_, owner_, mean_, cov_, was_ nor"
            " ends with _new or _faces"
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


Corners = Annotated[tuple[Vector, Vector], reads(_box)]


class Source(Table):
    """What is released in a `box` or around a `point`."""

    box: Corners | None = entry("its lowest and its highest corner; what is released is spread over it", None)
    point: Vector | None = entry("in place of `box`: what is released is spread over a box of the size of a cell", None)
    rate: Number = entry(
        "what is released per time in all: concentration times volume",
        remedy="give what is released per time, a number",
    )

    @classmethod
    def conflicts(cls, given: Mapping[str, Any]) -> Iterator[Problem]:
        if len(present(given, "box", "point")) == 2:
            yield wrong("point", given["point"], "box is given as well; give one of them")
        elif not present(given, "box", "point"):
            yield missing("point", "give the place of the source, or its box")


Sources = Annotated[tuple[Source, ...], reads(listed(Source, "{ point = [x, y, z], rate = r }"))]


class ScalarFace(Table):
    """A side with a `value`, or with a `flux` into the domain."""

    value: Number | None = entry("the concentration on it", None)
    flux: Number | None = entry("what diffuses into the domain, per area and time", None)

    @classmethod
    def conflicts(cls, given: Mapping[str, Any]) -> Iterator[Problem]:
        if len(present(given, "value", "flux")) == 2:
            yield wrong("flux", given["flux"], "value is given as well; give one of them")


SIDE, UNNAMED = "what holds on this side", "0 at an inflow, elsewhere no gradient across it"


class ScalarBoundaries(Table):
    """What holds on the sides."""

    x_min: ScalarFace | None = entry(SIDE, None, otherwise=UNNAMED)
    x_max: ScalarFace | None = entry(SIDE, None, otherwise=UNNAMED)
    y_min: ScalarFace | None = entry(SIDE, None, otherwise=UNNAMED)
    y_max: ScalarFace | None = entry(SIDE, None, otherwise=UNNAMED)
    z_min: ScalarFace | None = entry(SIDE, None, otherwise=UNNAMED)
    z_max: ScalarFace | None = entry(SIDE, None, otherwise=UNNAMED)


class PassiveScalar(Table):
    """A field that the flow carries, that diffuses, and that does nothing to the flow."""

    name: Annotated[str, reads(_name)] = entry(
        "of its field, in `output.fields` and in the store: letters, digits and underscores, beginning with a"
        " letter; not one that another field has or might have (`u`, `h_c`, `c_new`)",
        remedy="give the name of its field",
    )
    diffusivity: NonNegative = entry("of the scalar", remedy="give the diffusivity, a number >= 0")
    source: Number = entry("concentration per unit time, everywhere", 0.0)
    scheme: TransportScheme = entry(
        "`koren`: upwind-biased with a limiter, stays within bounds; or `central`: second order, makes waves where c"
        " changes sharply. See [the method](../explanation/method.md#scalars)",
        "koren",
    )
    initial: Annotated[Profile, reads(profile)] = entry(
        "its values at the start, see [initial](#initial)", Expression(0.0), otherwise="0"
    )
    boundaries: ScalarBoundaries = entry("what holds on the sides", ScalarBoundaries())
    sources: Sources = entry("what releases it besides, see below", ())


scalars = listed(PassiveScalar, "tables, each under [[scalars]]")
Scalars = Annotated[tuple[PassiveScalar, ...], reads(scalars)]
