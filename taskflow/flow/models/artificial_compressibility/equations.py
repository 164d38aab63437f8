"""The equations of artificial compressibility as kernels read them: numbers, and choices that texts are compiled for.

    (1/b) dp/dtau + div u = 0,    du/dtau + div(u u) + grad p - viscosity Laplacian(u) = force + lift (T - reference)

All values live in the centres of cells. What is beyond the faces of a cell on a side of a grid is said by the field
`sides`, see `taskflow.flow.boundaries.collocated`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from types import MappingProxyType
from typing import ClassVar

from taskflow.flow.grid import Vector
from taskflow.flow.kernels import choice
from taskflow.flow.operators.momentum import Buoyancy
from taskflow.runtime.regions import triple
from taskflow.runtime.tasks import Stencil, offsets, star

Stencils = Mapping[str, Stencil]
NEAR = (-1, 1)
LINES, PLANE_LINES = star(2), offsets(x=(-2, 2)) | offsets(y=(-2, 2))
SHORT, PLANE_SHORT = star(1), offsets(x=NEAR) | offsets(y=NEAR)
PLANE_EDGES = offsets(x=NEAR, y=NEAR)
EDGES = PLANE_EDGES | offsets(y=NEAR, z=NEAR) | offsets(x=NEAR, z=NEAR)
ROUNDING = 1e-30  # of a square
DIFFUSING = ("u", "v", "w", "T", "u_d", "v_d", "w_d", "T_d")


def power_of_two(number: float) -> float:
    """The power of two nearest to a positive number: what is multiplied by it keeps its digits."""
    return 2.0 ** round(math.log2(number))


def _reads(pressure: Stencil, rest: Stencil, beside: Stencil) -> Stencils:
    """Return how a residual reads the pressure, all that diffuses, and what says where faces are; its derivative reads
    the direction, too.
    """
    pressures, places = dict.fromkeys(("p", "p_d"), pressure), dict.fromkeys(("sides", "metrics"), beside)
    return MappingProxyType({**pressures, **dict.fromkeys(DIFFUSING, rest), **places})


@dataclass(frozen=True)
class HeatTransport:
    """The diffusivity of the temperature, what lift it gives, and how much temperatures `differ`, about."""

    diffusivity: float
    buoyancy: Buoyancy | None = None
    differ: float = 1.0


@dataclass(frozen=True)
class Passive:
    """A passive scalar in the field of its name, whose values `differ` so much, about."""

    name: str
    diffusivity: float
    differ: float = 1.0


@dataclass(frozen=True)
class Reach:
    """Which cells a residual reads: along lines, and diagonal ones where cells are skewed."""


def _reach(planar: bool, uniform: bool, damped: bool) -> Reach:
    """Return what is read where charts are `planar`, one cell thick along z: what passes there leaves on the other
    side, and is left out; where cells are `uniform`, none across edges; and where central differences are `damped` in
    the pressure alone, two cells away of the pressure, one of the rest.
    """
    if not (planar or uniform or damped):
        return Reach()
    lines, short, edges = (PLANE_LINES, PLANE_SHORT, PLANE_EDGES) if planar else (LINES, SHORT, EDGES)
    beside = short if uniform else short | edges
    stencils = _reads(lines, (short if damped else lines) | beside, beside)
    name = f"{'Planar' * planar}{'Uniform' * uniform}{'Short' * damped}Reach"
    return choice(Reach, name, stencils=stencils, defines=("PLANAR",) if planar else ())()


REACHES: Mapping[tuple[bool, ...], Reach] = {key: _reach(*key) for key in product((False, True), repeat=3)}
"""By whether charts are planar, whether cells are uniform, and whether the pressure alone is damped."""


@dataclass(frozen=True)
class Scheme:
    """How values come to faces: upwind, by parabolas (kappa = 1/3)."""


class LimitedScheme(Scheme):
    """The same with van Albada's limiter."""

    defines: ClassVar[tuple[str, ...]] = ("LIMITED",)


class SecondScheme(Scheme):
    """Upwind, by lines (kappa = -1)."""

    defines: ClassVar[tuple[str, ...]] = ("SECOND",)


class FirstScheme(Scheme):
    """Upwind, those of the cells."""

    defines: ClassVar[tuple[str, ...]] = ("FIRST",)


class CentralScheme(Scheme):
    """The mean of both sides, and a fourth difference of all values (A. Jameson, W. Schmidt, E. Turkel 1981)."""

    defines: ClassVar[tuple[str, ...]] = ("CENTRAL",)


class PressureDampedScheme(Scheme):
    """The mean of both sides, and a fourth difference of the pressure (W. Xue, C. J. Roy 2020, Eq. 1)."""

    defines: ClassVar[tuple[str, ...]] = ("CENTRAL", "PRESSURE_DAMPING")


@dataclass(frozen=True)
class Steps:
    """How long steps are: each cell takes its own, `step` times the longest for a CFL number of 1."""


class GlobalSteps(Steps):
    """All cells take the same, `step`."""

    defines: ClassVar[tuple[str, ...]] = ("GLOBAL_STEPS",)


@dataclass(frozen=True)
class Numbers:
    """The constants of a stage. `areas` and `volume` are those of uniform cells; `lift` = -expansion gravity; `spread`
    is the larger one of viscosity and diffusivity, `fourth` the coefficient of fourth differences, `fraction` the share
    of the step that a stage takes, `fresh` the weight of what friction and scheme add now, against what they added in
    the stage before.

    Lengths and times may be in another unit than velocities: `per_length` is one over that unit. `speed` is the
    reference speed, `differ` how much the values of a scalar differ. The others follow: one over b and over the volume,
    squares of the areas, and these over the volume; `pace`, a power of two near the speed; `least`, the squares below
    which differences of p, of velocities and of a scalar are rounding, and `per`, powers of two near one over the sizes
    of these.
    """

    viscosity: float
    compressibility: float
    diffusivity: float = 0.0
    spread: float = 0.0
    reference: float = 0.0
    fourth: float = 0.0
    fraction: float = 1.0
    fresh: float = 1.0
    volume: float = 1.0
    areas: Vector = (1.0, 1.0, 1.0)
    force: Vector = (0.0, 0.0, 0.0)
    lift: Vector = (0.0, 0.0, 0.0)
    reach: Reach = Reach()
    scheme: Scheme = Scheme()
    steps: Steps = Steps()
    per_length: float = 1.0
    speed: float = 1.0
    differ: float = 1.0
    inverse_compressibility: float = field(init=False)
    inverse_volume: float = field(init=False)
    squares: Vector = field(init=False)
    conductances: Vector = field(init=False)
    pace: float = field(init=False)
    least: Vector = field(init=False)
    per: Vector = field(init=False)

    def __post_init__(self) -> None:
        x, y, z = (area * area for area in self.areas)
        sizes = self.speed * self.speed, self.speed, self.differ
        derived = {
            "inverse_compressibility": 1 / self.compressibility,
            "inverse_volume": 1 / self.volume,
            "squares": (x, y, z),
            "conductances": (x / self.volume, y / self.volume, z / self.volume),
            "pace": power_of_two(self.speed),
            "least": triple(ROUNDING * q * q for q in sizes),
            "per": triple(1 / power_of_two(q) for q in sizes),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class TurbulentNumbers(Numbers):
    """Those with an eddy viscosity in cells, in the units of the case: an eddy diffusivity is `share` times that.
    `spread` knows that friction is the whole stress then, twice as fast across faces. `half` is 1/2 and `eddying` the
    larger one of 2 and `share`, both times `per_length`.
    """

    share: float = 1.0
    half: float = field(init=False)
    eddying: float = field(init=False)
    defines: ClassVar[tuple[str, ...]] = ("EDDIES",)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "half", 0.5 * self.per_length)
        object.__setattr__(self, "eddying", max(2.0, self.share) * self.per_length)
