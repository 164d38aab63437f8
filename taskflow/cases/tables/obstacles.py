"""Bodies in the flow, and how they move: [[obstacles]], [bodies]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import ValidationInfo, field_validator

from taskflow.cases.formulas.expression import Expression
from taskflow.cases.formulas.motion import RigidMotion, of_time
from taskflow.cases.formulas.values import checked, number, three, tuple_of
from taskflow.cases.language.problems import Problem, missing, numbered, present, wrong
from taskflow.cases.language.table import Number, Positive, Table, Text, Vector, entry, optional, reads
from taskflow.cases.tables.initial import Profile, profile
from taskflow.cases.tables.physics import NO_HEAT, Heat
from taskflow.cases.tables.pressure import PressureTable
from taskflow.flow.bodies import MOST

SHAPES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {  # the keys that each needs, and those it may have
    "box": (("low", "high"), ()),
    "sphere": (("centre", "radius"), ()),
    "cylinder": (("centre", "radius", "axis"), ("length",)),
    "implicit": (("inside",), ()),
    "surface": (("file",), ("scale", "shift")),
    "heights": (("file",), ("variable", "extent", "interpolation")),
}
OF_SHAPES = tuple(dict.fromkeys(key for needed, other in SHAPES.values() for key in (*needed, *other)))
REMEDIES = {
    "low": "give its lowest corner, three numbers",
    "high": "give its highest corner, three numbers",
    "centre": "give its centre, three numbers",
    "radius": "give a number > 0",
    "axis": 'give "x", "y" or "z"',
    "inside": "give an expression in x, y, z that is negative inside the body",
    "file": "give the path of a file",
}
NO_OBSTACLES = "this case has no [[obstacles]]; omit it"
ANGLE = "the angle about this axis in radians; one of them"
_displacement = three(of_time, "three numbers or expressions of t")


class BodyTurn(Table):
    """The angle of a body that turns about one axis."""

    alternatives = ((("x", "y", "z"), missing("z", "give x, y or z, the angle about it in radians")),)

    x: Annotated[Expression | None, reads(of_time)] = optional(ANGLE)
    y: Annotated[Expression | None, reads(of_time)] = optional(ANGLE)
    z: Annotated[Expression | None, reads(of_time)] = optional(ANGLE)


class BodyMotion(Table):
    """The prescribed motion of a rigid body."""

    displacement: Annotated[tuple[Expression, Expression, Expression] | None, reads(_displacement)] = optional(
        "displacement from the position of the shape: numbers or [expressions](#initial) of `t`",
        otherwise="zeros",
    )
    angle: BodyTurn | None = optional(
        "one of `x`, `y`, `z`: the angle of rotation about that axis in radians, right-handed, a number or an"
        " expression of `t`",
        otherwise="0",
    )
    centre: Vector | None = optional("of `angle`: a point of the axis, before the displacement", otherwise="zeros")

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        if not present(values, "displacement", "angle"):
            yield missing("displacement", "give displacement, angle, or both")
        if present(values, "centre") and not present(values, "angle"):
            yield wrong("centre", values["centre"], "it is the centre of a turn; give angle, or omit it")

    def rigid(self, key: str) -> RigidMotion:
        """The motion, of which errors name this key."""
        still = Expression(0.0, timed=True)
        turns = {"xyz".index(name): angle for name, angle in self.angle if angle is not None} if self.angle else {}
        axis, angle = next(iter(turns.items()), (2, still))
        return RigidMotion(self.displacement or (still,) * 3, angle, axis, self.centre or (0.0, 0.0, 0.0), key)


_numbers = tuple_of(number, 4, "give four numbers: x from, x to, y from, y to")
INCREASING = "give four numbers that increase: x from, x to, y from, y to"
_extent = checked(_numbers, lambda ends: ends[0] < ends[1] and ends[2] < ends[3], INCREASING)


class BodyTreatment(Table):
    """The treatment of the surfaces of obstacles."""

    treatment: Literal["flagged", "immersed"] = entry(
        "`flagged`: stair steps of cells, first order. `immersed`: the true surface, second order, for about"
        " the same time ([method](../explanation/method.md#immersed-boundary)). With both, bodies without a"
        " temperature are insulated by stair steps. [On"
        " charts](../explanation/artificial_compressibility.md#bodies-inside-charts) `immersed` is required",
        "flagged",
    )


class BodyName(Table):
    """The first keys of a body."""

    name: Text | None = optional(
        "for the [log](run_directory.md#log-jsonl) of force, moment and, with a `temperature`, heat flux."
        " Obstacles of the same name are one body. At most 100 names",
        otherwise="no forces in the log",
    )
    type: Literal["box", "sphere", "cylinder", "implicit", "surface", "heights"] = entry(
        "the shape", remedy=f"give one of {', '.join(SHAPES)}"
    )


class ShapeTable(Table):
    """A shape by its measures. A table of this kind has a key `type`, too: one of SHAPES."""

    low: Vector | None = optional("of a `box`: its lowest corner")
    high: Vector | None = optional("of a `box`: its highest corner")
    centre: Vector | None = optional("of a `sphere` and a `cylinder`")
    radius: Positive | None = optional("of a `sphere` and a `cylinder`")
    axis: Literal["x", "y", "z"] | None = optional("of a `cylinder`")
    length: Positive | None = optional("of a `cylinder`", otherwise="endless")
    inside: Annotated[Profile | None, reads(profile)] = optional(
        "of `implicit`: an [expression](#initial) that is negative inside, in Python also a function f(x, y, z)"
    )
    file: Text | None = optional("of a `surface` and of `heights`: see below")
    scale: Positive | None = optional("of a `surface`: factor applied to its points", otherwise="1")
    shift: Vector | None = optional("of a `surface`: displacement of its points, after scaling", otherwise="zeros")
    variable: Text | None = optional(
        "of `heights` from NetCDF: name of the variable", otherwise="the only two-dimensional one"
    )
    extent: Annotated[tuple[float, float, float, float] | None, reads(_extent)] = optional(
        "of `heights` from `.npy`: x from, x to, y from, y to", otherwise="the domain"
    )
    interpolation: Literal["linear", "nearest"] | None = optional("of `heights`, between pixels", otherwise="`linear`")

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        kind = values.get("type")
        if not isinstance(kind, str) or kind not in SHAPES:
            return
        needed, other = SHAPES[kind]
        for key in needed:
            if values.get(key) is None:
                yield Problem((key,), f"missing; {REMEDIES[key]}")
        for key in present(values, *OF_SHAPES):
            if key not in (*needed, *other):
                yield wrong(key, values[key], f'type = "{kind}" has no {key}; it has {", ".join((*needed, *other))}')

    @field_validator("high")
    @classmethod
    def _above(cls, high: Vector | None, info: ValidationInfo) -> Vector | None:
        low = info.data.get("low")
        if low and high and not all(a < b for a, b in zip(low, high, strict=True)):
            raise ValueError(f"low = {list(low)} is not below it in every direction; give the larger numbers here")
        return high


class Obstacle(ShapeTable, BodyName):
    """A body."""

    temperature: Number | None = optional("with heat: of the surface", otherwise="insulated")
    moment_about: Vector | None = optional(
        "the point, of a body with a name. It moves along with the body",
        otherwise="the centre of its bounding box",
    )
    motion: BodyMotion | None = optional(
        "of a body with a name, [immersed](#bodies): its [motion](../howto/bodies.md#bodies-that-move). Of"
        " obstacles of the same name one specifies it",
        otherwise="at rest",
    )

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        yield from super().conflicts(values)
        kind = values.get("type")
        known = isinstance(kind, str) and kind in SHAPES
        if known and values.get("moment_about") is not None and values.get("name") is None:
            yield wrong("moment_about", values["moment_about"], "moments are of bodies with a name; give it one")
        if values.get("motion") is not None and values.get("name") is None:
            yield wrong("motion", values["motion"], "a moving body needs a name; give it one")


Obstacles = tuple[Obstacle, ...]


def _obstacles_have_heat(heat: Heat | None, obstacles: Obstacles) -> Iterator[Problem]:
    for key, obstacle in numbered(obstacles=obstacles):
        if heat is None and obstacle.temperature is not None:
            yield wrong((*key, "temperature"), obstacle.temperature, NO_HEAT)


def _forces_can_be_followed(obstacles: Obstacles) -> Iterator[Problem]:
    names = list(dict.fromkeys(obstacle.name for obstacle in obstacles if obstacle.name))
    if len(names) > MOST:
        remedy = f"the forces on at most {MOST} bodies are recorded; omit names, or give several parts one name"
        yield wrong(("obstacles",), f"{len(names)} names", remedy)
    points: dict[str | None, Vector] = {}
    for key, obstacle in numbered(obstacles=obstacles):
        point = obstacle.moment_about
        if point is not None and points.setdefault(obstacle.name, point) != point:
            remedy = f'another part of "{obstacle.name}" has another point; give the parts of one name one point'
            yield wrong((*key, "moment_about"), point, remedy)


def _options_are_for_obstacles(
    pressure: PressureTable, bodies: BodyTreatment, obstacles: Obstacles
) -> Iterator[Problem]:
    if obstacles:
        return
    if pressure.forcing is not None:
        yield wrong(("pressure", "forcing"), pressure.forcing, NO_OBSTACLES)
    if bodies.treatment != "flagged":
        yield wrong(("bodies", "treatment"), bodies.treatment, NO_OBSTACLES)


def _motions_are_of_immersed_bodies(bodies: BodyTreatment, obstacles: Obstacles) -> Iterator[Problem]:
    motions: dict[str | None, BodyMotion] = {}
    for key, obstacle in numbered(obstacles=obstacles):
        if obstacle.motion is None:
            continue
        at, motion = (*key, "motion"), obstacle.motion.written()
        if bodies.treatment != "immersed":
            yield wrong(at, motion, 'stair steps that move make the pressure jump; give bodies.treatment = "immersed"')
        if motions.setdefault(obstacle.name, obstacle.motion) != obstacle.motion:
            remedy = f'another part of "{obstacle.name}" moves otherwise; give the parts of one name one motion'
            yield wrong(at, motion, remedy)


def _motions_know_their_faces(pressure: PressureTable, obstacles: Obstacles) -> Iterator[Problem]:
    if pressure.solver == "fft" and any(obstacle.motion for obstacle in obstacles):
        remedy = 'it ignores faces of moving bodies; give "multigrid"'
        yield wrong(("pressure", "solver"), pressure.solver, remedy)


Obstacle.rules = (
    _obstacles_have_heat, _forces_can_be_followed, _options_are_for_obstacles, _motions_are_of_immersed_bodies,
    _motions_know_their_faces,
)  # fmt: skip
