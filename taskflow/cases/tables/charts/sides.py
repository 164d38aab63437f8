"""Conditions on the sides of a grid of charts, by their names: [boundaries]."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import ConfigDict, Field

from taskflow.cases.formulas.expression import Expression
from taskflow.cases.formulas.values import unchosen
from taskflow.cases.language.problems import Problem, missing, present, wrong
from taskflow.cases.language.table import NonNegative, Number, Table, Vector, entry, optional, reads, written
from taskflow.cases.tables.boundaries import heat_of_wall, kind_of, options_fit
from taskflow.cases.tables.charts.grid import known_sides
from taskflow.cases.tables.initial import VectorExpression, vector_expression
from taskflow.cases.tables.motion import GridMotion, placed
from taskflow.common.errors import BadInput
from taskflow.geometry.grids import MultiBlockGrid, faces, gaps
from taskflow.runtime.regions import triple

SideType = Literal["wall", "slip", "symmetry", "inflow", "outflow", "far-field"]
OPTIONS = {  # of each type
    "wall": ("velocity", "temperature", "heat_flux", "heat_transfer", "outside_temperature", "moment_about"),
    "slip": (),
    "symmetry": (),
    "inflow": ("velocity", "profile", "temperature"),
    "outflow": ("pressure",),
    "far-field": ("velocity", "pressure", "temperature"),
}
NAMES = ", ".join(f'"{name}"' for name in OPTIONS)
GIVE_TYPE = f"give it a type, one of {NAMES}"
LATER = "not available on charts in this version; leave it out"
AT_REST = (0.0, 0.0, 0.0)
IN_PLANE = 1e-3  # of the speed of a wall: what may point out of it, where faces are flat and walls are not
BALANCED = 1e-6  # of what passes closed sides: the net flux that is rounding


class FormulaVector(ABC):
    """A vector of numbers and formulas of place and time."""

    @property
    @abstractmethod
    def vector(self) -> VectorExpression:
        """Its components."""

    @property
    def varies(self) -> bool:
        """Whether it is not the same everywhere."""
        return any(isinstance(item, Expression) for item in self.vector)

    @property
    def changes(self) -> bool:
        """Whether it changes in time."""
        return any(isinstance(item, Expression) and item.varies for item in self.vector)

    @property
    def numbers(self) -> Vector:
        """Its components where they are the same everywhere; formulas count as 0."""
        return triple(item if isinstance(item, float) else 0.0 for item in self.vector)

    def at(self, x: np.ndarray, y: np.ndarray, z: np.ndarray, t: float = 0.0) -> list[np.ndarray]:
        """Its components at points and a time. Raises BadInput where one is not finite."""
        return [item(x, y, z, t) if isinstance(item, Expression) else np.full(x.shape, item) for item in self.vector]


class ChartSide(Table, FormulaVector):
    """One side, with the options of its type."""

    brief: ClassVar[str | None] = "type"

    refused: ClassVar[Mapping[str, str]] = {
        "roughness": LATER, "log_law": f"{LATER}, and give velocity", "table": f"{LATER}, and give velocity",
        "phase": "one fluid has no phases; leave it out",
    }  # fmt: skip

    type: SideType = entry("see above", remedy=GIVE_TYPE)
    velocity: Annotated[VectorExpression | None, reads(vector_expression)] = optional(
        "of a `wall`, in its plane, and of an `inflow`: three numbers, or expressions of x, y and z, and in real time"
        " of t. Of the `far-field`: three numbers",
        otherwise="0 at a wall, otherwise required",
    )
    profile: Literal["parabolic"] | None = optional(
        "of an `inflow` through a rectangle or a disc, with `velocity`, three numbers, as the mean. Uniform across one"
        " cell and between sides that are not walls, half a parabola from a wall to a plane of symmetry",
        otherwise="as `velocity` prescribes",
    )
    pressure: Number | None = optional(
        "of an `outflow`, where it is required, and of the `far-field`", otherwise="of a `far-field` 0"
    )
    temperature: Number | None = optional(
        "with heat, of a `wall`, and of the fluid that enters at an `inflow` or from the `far-field`",
        otherwise="insulated at a wall, `heat.reference` in entering fluid",
    )
    heat_flux: Number | None = optional(
        "with heat, of a `wall`, instead of `temperature`: kinematic (flux / density / heat capacity), positive into"
        " the fluid",
        otherwise="0: insulated",
    )
    heat_transfer: NonNegative | None = optional(
        "with heat, of a `wall`, instead of `temperature`: kinematic heat transfer coefficient h, a velocity. The flux"
        " into the fluid is h (`outside_temperature` - T)"
    )
    outside_temperature: Number | None = optional("with `heat_transfer`")
    moment_about: Vector | None = optional(
        "of a `wall`: the point about which its moment is taken", otherwise="the centre of its bounding box"
    )

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        kind = kind_of(values)
        if kind not in OPTIONS:
            return
        yield from options_fit(values, cls.model_fields, f"a side of the type {kind}", OPTIONS)
        if kind in ("inflow", "far-field") and not present(values, "velocity"):
            yield missing("velocity", "give three numbers or expressions, in the order x, y, z")
        if kind == "outflow" and not present(values, "pressure"):
            yield missing("pressure", "a convective outflow is not available on charts in this version; give 0")
        if kind == "wall":
            yield from heat_of_wall(values)
        moving = values.get("velocity")
        formulas = isinstance(moving, list | tuple) and any(isinstance(item, str | Expression) for item in moving)
        if kind == "far-field" and formulas:
            why = "a free stream is the same everywhere, and one that changes in time is not available in this version"
            yield wrong("velocity", moving, f"{why}; give three numbers")
        if kind == "inflow" and formulas and present(values, "profile"):
            yield wrong("profile", values["profile"], "velocity says how it is distributed; give it as three numbers")

    @classmethod
    def filled(cls, values: dict[str, Any]) -> Mapping[str, Any]:
        """Walls that say nothing of it stand still, and the pressure far away is 0."""
        if kind_of(values) == "wall" and not present(values, "velocity"):
            return {**values, "velocity": AT_REST}
        far = kind_of(values) == "far-field" and not present(values, "pressure")
        return {**values, "pressure": 0.0} if far else values

    @property
    def vector(self) -> VectorExpression:
        return self.velocity or AT_REST

    @property
    def varies(self) -> bool:
        return self.profile is not None or super().varies


class ChartSides(Table):
    """The sides of the grid, each by its name: a type as text, or a table with `type` and its options."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, ChartSide] = Field(init=False)

    @classmethod
    def filled(cls, values: dict[str, Any]) -> Mapping[str, Any]:
        """A type alone stands for a table with this type; of other texts `conflicts` says what is wrong with them."""
        kept = {name: side for name, side in values.items() if not isinstance(side, str) or side in OPTIONS}
        return {name: {"type": side} if isinstance(side, str) else side for name, side in kept.items()}

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        for name, side in values.items():
            if kind_of(side) == "periodic":
                remedy = "what is periodic is a seam of the grid; leave it out, and give grid.periodic of a shape"
                yield wrong(name, side, f"{remedy}, or a map with the seam")
            elif isinstance(side, str) and side not in OPTIONS:
                yield wrong(name, side, unchosen(side, [*OPTIONS]))

    @property
    def sides(self) -> dict[str, ChartSide]:
        return dict(self.__pydantic_extra__ or {})

    def written(self) -> dict[str, Any]:
        return {name: side.written() for name, side in self.sides.items()}


def sides_match(charts: MultiBlockGrid, boundaries: ChartSides) -> Iterator[Problem]:
    """Every side of the grid has a boundary, and every boundary is of a side."""
    for name, side in boundaries.sides.items():
        if name not in charts.sides:
            yield wrong(("boundaries", name), side.written(), f"the grid has no such side; {known_sides(name, charts)}")
    absent = [name for name in charts.sides if name not in boundaries.sides]
    close = gaps(charts) if absent else []
    for name in absent:
        about = "".join(f"; {gap}" for gap in close if name in (gap.one, gap.other))
        yield missing(name, f"the grid has this side; {GIVE_TYPE}{about}").within(["boundaries"])


def _sides_have_room(charts: MultiBlockGrid, boundaries: ChartSides) -> Iterator[Problem]:
    for name, side in _both(charts, boundaries):
        thin = [patch for patch in charts.sides[name] if charts.charts[patch.chart].cells[patch.axis] == 1]
        if thin and side.type in ("wall", "inflow", "outflow"):
            remedy = f"chart {thin[0].chart + 1} is one cell thick there"
            remedy += '; give "symmetry" for two dimensions, or more cells'
            yield wrong(("boundaries", name), side.written(), remedy)


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


def _walls_move_in_their_planes(charts: MultiBlockGrid, boundaries: ChartSides) -> Iterator[Problem]:
    for name, side in _both(charts, boundaries):
        try:
            words = out_of_plane(charts, name, side) if side.type == "wall" else None
        except BadInput as error:
            words = str(error)
        if words:
            yield wrong(("boundaries", name, "velocity"), written(side.velocity), words)


@np.errstate(over="ignore", invalid="ignore")  # rules say which numbers are too large
def unbalanced(
    charts: MultiBlockGrid, boundaries: ChartSides, motion: GridMotion | None, t: float = 0.0
) -> str | None:  # fmt: skip
    """Say how much more enters than leaves at a time, or less, where all other sides are closed; None where that is
    nothing, or can leave. A grid that moves leaves fluid behind. Raises BadInput where a formula is not finite.
    """
    if any(side.type in ("outflow", "far-field") for side in boundaries.sides.values()):
        return None
    charts, through = placed(charts, motion, t), {}  # negative where fluid enters
    for name, side in _both(charts, boundaries):
        if side.type == "inflow":
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


ChartSides.rules = (sides_match, _sides_have_room, _walls_move_in_their_planes, _closed_sides_balance)
