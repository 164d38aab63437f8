"""Conditions on the sides of a grid of charts, by their names: [boundaries]."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import ConfigDict, Field, PrivateAttr, field_validator

from taskflow.cases.formulas.values import number
from taskflow.cases.language.problems import Key, Problem, missing, no_such_side, present, shown, wrong
from taskflow.cases.language.table import Table, Vector, optional, written
from taskflow.cases.tables.kinds import SideTable, kind_of
from taskflow.cases.tables.motion import GridMotion, placed
from taskflow.cases.tables.timed import FormulaVector, Timed, Value, Values
from taskflow.common.errors import BadInput
from taskflow.geometry.grids import MultiBlockGrid, faces, gaps

AT_REST = (0.0, 0.0, 0.0)
IN_PLANE = 1e-3  # of the speed of a wall: what may point out of it, where faces are flat and walls are not
CONSTANT = ("temperature", "heat_flux", "outside_temperature", "pressure")  # in this version
BALANCED = 1e-6  # of what passes closed sides: the net flux that is rounding


class ChartSide(SideTable, FormulaVector):
    """One side of a body-fitted grid, with the options of its type."""

    charts: ClassVar[bool] = True
    profile: Literal["parabolic"] | None = optional(
        "of an `inflow` through a rectangle or a disc, with `velocity`, three numbers, as the mean. Uniform across one"
        " cell and between sides that are not walls, half a parabola from a wall to a plane of symmetry",
        otherwise="as `velocity` prescribes",
    )
    moment_about: Vector | None = optional(
        "of a `wall`: the point about which its moment is taken", otherwise="the centre of its bounding box"
    )

    @classmethod
    def as_schema(cls, made: dict[str, Any]) -> dict[str, Any]:
        for key in CONSTANT:
            made["properties"][key]["anyOf"] = [{"type": "number"}, {"type": "null"}]
        return super().as_schema(made)

    @field_validator(*CONSTANT, mode="before")
    @classmethod
    def _is_constant(cls, value: Any) -> float | None:
        try:
            return None if value is None else number(value)
        except BadInput as error:
            raise ValueError(str(error)) from None

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        yield from super().conflicts(values)
        kind = cls.offered(values)
        if kind is None:
            return
        if kind.enters and "velocity" in kind.keys and not present(values, "velocity"):
            yield missing("velocity", "give three numbers or expressions, in the order x, y, z")
        if kind.chosen(values).flux is None:
            yield missing("pressure", "give the pressure there, such as 0")
        moving = values.get("velocity")
        formulas = isinstance(moving, list | tuple) and any(isinstance(v, str | Timed) or callable(v) for v in moving)
        if kind.enters and formulas and present(values, "profile"):
            yield wrong("profile", values["profile"], "velocity already varies on the side; give it as three numbers")

    @classmethod
    def filled(cls, values: dict[str, Any]) -> Mapping[str, Any]:
        """Walls without a velocity are at rest, and the default pressure of a far field is 0."""
        kind = cls.offered(values)
        far = kind is not None and kind.flux == "far" and not present(values, "pressure")
        return {**super().filled(values), "pressure": 0.0} if far else super().filled(values)

    @property
    def released(self) -> Mapping[str, Value]:
        """Values of passive scalars by name, of an opening."""
        return {}

    @property
    def vector(self) -> Values:
        return self.velocity or AT_REST

    @property
    def enters(self) -> bool:
        return self.kind.enters

    @property
    def varies(self) -> bool:
        return self.profile is not None or super().varies


class ChartSides(Table):
    """The sides of the grid, each by its name: a type as text, or a table with `type` and its options.

    In a valid case openings in them are further sides, see `opened`.
    """

    each: ClassVar[type[Table] | None] = ChartSide
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, ChartSide] = Field(init=False)
    _openings: dict[str, ChartSide] = PrivateAttr(default_factory=dict)
    _covered: frozenset[str] = PrivateAttr(frozenset())

    @classmethod
    def filled(cls, values: dict[str, Any]) -> Mapping[str, Any]:
        """A type alone stands for a table with this type; other texts are reported by `conflicts`."""
        known = {name: side for name, side in values.items() if not isinstance(side, str) or ChartSide.offered(side)}
        return {name: {"type": side} if isinstance(side, str) else side for name, side in known.items()}

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        for name, side in values.items():
            if kind_of(side) == "periodic":
                remedy = "periodic sides are seams of the grid; omit it, and give grid.periodic of a shape"
                yield wrong(name, side, f"{remedy}, or a map with the seam")
            elif isinstance(side, str) and not ChartSide.offered(side):
                yield wrong(name, side, ChartSide.unknown(side))

    @property
    def sides(self) -> dict[str, ChartSide]:
        """The conditions of all sides of the grid with its openings, by name."""
        return {name: side for name, side in self._given.items() if name not in self._covered} | self._openings

    @property
    def _given(self) -> dict[str, ChartSide]:
        return dict(self.__pydantic_extra__ or {})

    def key(self, name: str) -> Key:
        """Return the key of the table of a side or an opening in the case."""
        numbers = {opening: n for n, opening in enumerate(self._openings, start=1)}
        return ("openings", f"[{numbers[name]}]") if name in numbers else ("boundaries", name)

    def place(self, name: str) -> str:
        """Return this key as text."""
        return ".".join(self.key(name)).replace(".[", "[")

    def opened(self, openings: Mapping[str, ChartSide], covered: Collection[str]) -> ChartSides:
        """Return these sides with openings in them, by name, which cover some sides entirely."""
        copied = self.model_copy()
        copied._openings, copied._covered = dict(openings), frozenset(covered)
        return copied

    def replaced(self, sides: Mapping[str, ChartSide]) -> ChartSides:
        """Return these sides and openings with other tables for some."""
        copied = self.model_copy(update={name: side for name, side in sides.items() if name not in self._openings})
        copied._openings = {name: sides.get(name, opening) for name, opening in self._openings.items()}
        return copied

    def completed(self, tables: Mapping[str, Any]) -> ChartSides:
        """Return these sides with the openings of a valid case."""
        return tables["boundaries"]  # see `CompressibilitySystem.derived`

    def written(self) -> dict[str, Any]:
        return {name: side.written() for name, side in self._given.items()}


def sides_match(charts: MultiBlockGrid, boundaries: ChartSides) -> Iterator[Problem]:
    """Every side of the grid has a boundary, and every boundary is of a side."""
    for name, side in boundaries.sides.items():
        if name not in charts.sides:
            yield wrong(boundaries.key(name), side.written(), no_such_side(name, charts.sides))
    absent = [name for name in charts.sides if name not in boundaries.sides]
    close, wanted = gaps(charts) if absent else [], f"give it a type, one of {', '.join(map(shown, ChartSide.kinds()))}"
    for name in absent:
        about = "".join(f"; {gap}" for gap in close if name in (gap.one, gap.other))
        yield missing(name, f"the grid has this side; {wanted}{about}").within(["boundaries"])


def _sides_have_room(charts: MultiBlockGrid, boundaries: ChartSides) -> Iterator[Problem]:
    for name, side in _both(charts, boundaries):
        thin = [patch for patch in charts.sides[name] if charts.charts[patch.chart].cells[patch.axis] == 1]
        if thin and not side.kind.symmetric and side.kind.flux != "far":
            remedy = f"chart {thin[0].chart + 1} is one cell thick there"
            remedy += '; give "symmetry" for two dimensions, or more cells'
            yield wrong(boundaries.key(name), side.written(), remedy)


@np.errstate(over="ignore", invalid="ignore")  # rules say which numbers are too large
def out_of_plane(charts: MultiBlockGrid, name: str, wall: ChartSide, t: float = 0.0) -> str | None:
    """Say how fast a wall moves out of its plane at a time, where it does. Raises BadInput where that is not finite."""
    fastest, outwards = 0.0, 0.0
    for patch in charts.sides[name]:
        (x, y, z), areas = faces(charts, patch)
        velocity = np.stack(wall.at(x, y, z, t))
        fastest = max(fastest, float(np.sqrt((velocity**2).sum(axis=0)).max()))
        normal = (velocity * areas).sum(axis=0) / np.sqrt((areas**2).sum(axis=0))
        outwards = max(outwards, float(np.abs(normal).max()))
    if not outwards > IN_PLANE * fastest:
        return None
    return f"a wall moves in its own plane only, and this points out of it by {outwards:.3g}; give an inflow"


def _values_may_vary(boundaries: ChartSides) -> Iterator[Problem]:
    for name, side in boundaries.sides.items():
        for problem in side.varying():
            yield problem.within(boundaries.key(name))


def _walls_move_in_their_planes(charts: MultiBlockGrid, boundaries: ChartSides) -> Iterator[Problem]:
    for name, side in _both(charts, boundaries):
        try:
            words = out_of_plane(charts, name, side) if side.kind.solid else None
        except BadInput as error:
            words = str(error)
        if words:
            yield wrong((*boundaries.key(name), "velocity"), written(side.velocity), words)


@np.errstate(over="ignore", invalid="ignore")  # rules say which numbers are too large
def unbalanced(
    charts: MultiBlockGrid, boundaries: ChartSides, motion: GridMotion | None, t: float = 0.0
) -> str | None:  # fmt: skip
    """Return a message about a net inflow at a time if all other sides are closed, or None if it is 0 or can leave. A
    moving grid sweeps over fluid. Raises BadInput if a formula is not finite.
    """
    if any(side.kind.fixes_pressure for side in boundaries.sides.values()):
        return None
    charts, through = placed(charts, motion, t), {}  # negative where fluid enters
    for name, side in _both(charts, boundaries):
        if side.kind.permeable:
            through[name] = 0.0
            for (x, y, z), areas in (faces(charts, patch) for patch in charts.sides[name]):
                velocity = np.stack(side.at(x, y, z, t))
                if motion is not None:
                    velocity -= motion.speeds(np.stack((x, y, z)), t)
                through[name] += float((velocity * areas).sum())
    net, most = sum(through.values()), sum(map(abs, through.values()))
    if not abs(net) > BALANCED * most:
        return None
    word = "leaves" if net > 0 else "enters"
    return f"{abs(net):.4g} per time {word} through {', '.join(through)}, and all other sides are closed"


def _closed_sides_balance(
    charts: MultiBlockGrid, boundaries: ChartSides, motion: GridMotion | None
) -> Iterator[Problem]:  # fmt: skip
    try:
        if words := unbalanced(charts, boundaries, motion):
            remedy = "give one of them as an outflow with its pressure, or velocities whose fluxes sum to 0"
            yield Problem(("boundaries",), f"{words}; {remedy}")
    except BadInput as error:
        yield Problem(("boundaries",), str(error))


def _both(charts: MultiBlockGrid, boundaries: ChartSides) -> Iterator[tuple[str, ChartSide]]:
    """The sides that the grid has."""
    return ((name, side) for name, side in boundaries.sides.items() if name in charts.sides)


ChartSides.rules = (
    sides_match, _sides_have_room, _values_may_vary, _walls_move_in_their_planes, _closed_sides_balance,
)  # fmt: skip
