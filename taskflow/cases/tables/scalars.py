"""Passive scalars: [[scalars]], and the sources of these and of heat."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field

from taskflow.cases.formulas.expression import Expression
from taskflow.cases.formulas.values import corners, text
from taskflow.cases.language.problems import Key, Problem, missing, names_differ, no_such_side, numbered, wrong
from taskflow.cases.language.table import NonNegative, Number, Table, Vector, entry, optional, reads, written
from taskflow.cases.tables.boundaries import FACES, Boundaries
from taskflow.cases.tables.grid import AXES, GridTable
from taskflow.cases.tables.initial import Start
from taskflow.cases.tables.timed import Value, of_time
from taskflow.common.errors import BadInput

TAKEN = (
    "u", "v", "w", "p", "T", "x", "y", "z", "rhs", "direction", "spectrum", "pivots", "planes", "rhs_blocks",
    "carry_up", "carry_down", "through", "reach", "time", "grid", "statistics", "solid", "faces", "edges",
    "conductance_T", "warm_T", "push_T", "pencils", "cut_lines",
)  # fmt: skip
"""Names that a model, a solver, a body or the store uses in any case, on any blocks."""
_SIDEWAYS = r"(?:b|body|blockage|push|friction)_[xyz]$|d[xyz](?:_f)?$"  # fields of bodies, and sizes of cells
_NAME = re.compile(
    rf"(?!(?:[hxyz]|nu|level\d+|owner|mean|cov|was|leaks)_|{_SIDEWAYS})[A-Za-z][A-Za-z0-9_]*(?<!_new)(?<!_faces)(?<!_other)"
)

TransportScheme = Literal["central", "koren"]


def scalar_name(value: object) -> str:
    """The name of a field that no other field has."""
    name = text(value)
    if name in TAKEN or not _NAME.fullmatch(name):
        raise BadInput(
            "give a name of letters, digits and underscores, other than"
            f" {', '.join(TAKEN)}, that neither begins with h_, x_, y_, z_, nu_, level0_, owner_, mean_, cov_, was_,"
            " leaks_ nor ends with _new, _faces or _other, and is not dx, dx_f, b_x, body_x, blockage_x, push_x,"
            " friction_x, nor one of these with y or z"
        )
    return name


Corners = Annotated[tuple[Vector, Vector], reads(corners(flat=False))]


class SourceTable(Table):
    """A source in a `box` or around a `point`."""

    alternatives = ((("box", "point"), missing("point", "give the place of the source, or its box")),)

    box: Corners | None = optional("lowest and highest corner. The source is spread over the box")
    point: Vector | None = optional("instead of `box`: the source is spread over a box of the size of a cell")
    rate: Annotated[Value, reads(of_time)] = entry(
        "total release per time: concentration times volume. May [change in time](#values-that-change-in-time)",
        remedy="give the amount released per time, a number",
    )


Sources = tuple[SourceTable, ...]
RELEASED = "give a list of { point = [x, y, z], rate = r }"


class ScalarFace(Table):
    """A side with a `value`, or with a `flux` into the domain."""

    alternatives = ((("value", "flux"), None),)

    value: Annotated[Value | None, reads(of_time)] = optional(
        "the concentration on it, or of the entering fluid, the same everywhere on the side. [Openings](#openings) have"
        " separate values. May [change in time](#values-that-change-in-time)"
    )
    flux: Annotated[Value | None, reads(of_time)] = optional(
        "diffusive flux into the domain, per area and time. May [change in time](#values-that-change-in-time)"
    )


SIDE, UNNAMED = "what holds on this side", "0 at an inflow, elsewhere no gradient across it"


class ScalarBoundaries(Table):
    """The conditions on the sides of a box, or of a body-fitted grid by their names."""

    each: ClassVar[type[Table] | None] = ScalarFace
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, ScalarFace] = Field(init=False)

    x_min: ScalarFace | None = optional(SIDE, otherwise=UNNAMED)
    x_max: ScalarFace | None = optional(SIDE, otherwise=UNNAMED)
    y_min: ScalarFace | None = optional(SIDE, otherwise=UNNAMED)
    y_max: ScalarFace | None = optional(SIDE, otherwise=UNNAMED)
    z_min: ScalarFace | None = optional(SIDE, otherwise=UNNAMED)
    z_max: ScalarFace | None = optional(SIDE, otherwise=UNNAMED)

    @property
    def sides(self) -> dict[str, ScalarFace]:
        """The conditions that are given, by the name of the side."""
        return {name: side for name, side in self if side is not None}


class PassiveScalar(Table):
    """A field that the flow carries, that diffuses, and that does nothing to the flow."""

    name: Annotated[str, reads(scalar_name)] = entry(
        "of its field, in `output.fields` and in the store: letters, digits and underscores, beginning with a letter."
        " Names of other fields (`u`, `h_c`, `c_new`) are reserved",
        remedy="give the name of its field",
    )
    diffusivity: NonNegative = entry("of the scalar", remedy="give the diffusivity, a number >= 0")
    source: Number = entry("concentration per unit time, everywhere", 0.0)
    scheme: TransportScheme = entry(
        "`koren`: upwind-biased with a limiter, stays within bounds. `central`: second order, oscillates where c"
        " changes sharply. See [the method](../explanation/method.md#scalars)",
        "koren",
    )
    initial: Start = entry("initial values, see [initial](#initial)", Expression(0.0), otherwise="0")
    boundaries: ScalarBoundaries = entry("boundary conditions", ScalarBoundaries())
    sources: Sources = entry("local sources, see below", (), remedy=RELEASED)


Scalars = tuple[PassiveScalar, ...]


def _names_differ(scalars: Scalars) -> Iterator[Problem]:
    return names_differ(set(), numbered(scalars=scalars), "another scalar has this name; give each its own")


def _scalars_have_faces(grid: GridTable, boundaries: Boundaries, scalars: Scalars) -> Iterator[Problem]:
    for table, scalar in numbered(scalars=scalars):
        for face, side in scalar.boundaries.sides.items():
            axis, key = face[0], (*table, "boundaries", face)
            if face not in FACES:
                yield wrong(key, side.written(), no_such_side(face, FACES))
            elif getattr(boundaries, axis) is not None:
                yield wrong(key, side.written(), f"{axis} is periodic; omit {face}")
            elif side.value is not None and grid.cells[AXES.index(axis)] == 1:
                yield wrong(key, side.written(), f"one cell in {axis} cannot have a value; omit it")
            elif side.flux and scalar.diffusivity == 0:
                remedy = "nothing diffuses without diffusivity; give one, or a source"
                yield wrong((*key, "flux"), written(side.flux), remedy)


def _sources_are_inside(grid: GridTable, scalars: Scalars) -> Iterator[Problem]:
    for key, scalar in numbered(scalars=scalars):
        yield from sources_are_inside(grid, key, scalar.sources)


def sources_are_inside(grid: GridTable, key: Key, sources: Sources) -> Iterator[Problem]:
    """Problems with the `sources` of a table that are beyond the domain."""
    for n, source in enumerate(sources, start=1):
        name = "box" if source.box else "point"
        if not grid.contains(*(source.box or (source.point or (),))):
            yield grid.beyond((*key, "sources", f"[{n}]", name), getattr(source, name))


PassiveScalar.rules = (_names_differ, _scalars_have_faces, _sources_are_inside)
