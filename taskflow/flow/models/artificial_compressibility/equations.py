"""The equations of artificial compressibility for kernels: constants, and choices at compile time.

    (1/b) dp/dtau + div u = 0,    du/dtau + div(u u) + grad p - viscosity Laplacian(u) = force + lift (T - reference)

All values are stored in the centres of cells. The field `sides` gives the kind of each side in its ghost cells, see
`taskflow.flow.boundaries.collocated`.
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
from taskflow.flow.models.artificial_compressibility.blocks import BLOCKS, MatrixBlocks
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
    """Return the power of two nearest to a positive number. Multiplication by it is exact."""
    return 2.0 ** round(math.log2(number))


def _reads(lines: Stencil, rest: Stencil, beside: Stencil) -> Stencils:
    """Return the stencils of a residual: pressure and open shares; diffusing fields; `sides` and metrics."""
    along, places = dict.fromkeys(("p", "p_d", "aperture"), lines), dict.fromkeys(("sides", "metrics"), beside)
    return MappingProxyType({**along, **dict.fromkeys(DIFFUSING, rest), **places})


@dataclass(frozen=True)
class HeatTransport:
    """The diffusivity of the temperature, its buoyancy, and the scale of temperature differences."""

    diffusivity: float
    buoyancy: Buoyancy | None = None
    differ: float = 1.0


@dataclass(frozen=True)
class Passive:
    """A passive scalar in the field of its name. `differ` is the scale of its differences."""

    name: str
    diffusivity: float
    differ: float = 1.0


@dataclass(frozen=True)
class Reach:
    """The cells that a residual reads: along lines, and diagonal cells if the grid is skewed."""


def _reach(planar: bool, uniform: bool, damped: bool) -> Reach:
    """Return the stencils of a residual.

    - `planar`: charts are one cell thick along k. Opposite fluxes along k cancel and are omitted.
    - `uniform`: no cells across edges are read.
    - `damped`: central differences damp only the pressure, read two cells away, the rest one cell away.
    """
    if not (planar or uniform or damped):
        return Reach()
    lines, short, edges = (PLANE_LINES, PLANE_SHORT, PLANE_EDGES) if planar else (LINES, SHORT, EDGES)
    beside = short if uniform else short | edges
    stencils = _reads(lines, (short if damped else lines) | beside, beside)
    name = f"{'Planar' * planar}{'Uniform' * uniform}{'Short' * damped}Reach"
    return choice(Reach, name, stencils=stencils, defines=("PLANAR",) if planar else ())()


REACHES: Mapping[tuple[bool, ...], Reach] = {key: _reach(*key) for key in product((False, True), repeat=3)}
"""By (charts are planar, cells are uniform, only the pressure is damped)."""


@dataclass(frozen=True)
class Scheme:
    """Reconstruction on faces: upwind, by parabolas (kappa = 1/3)."""


class LimitedScheme(Scheme):
    """The same with van Albada's limiter."""

    defines: ClassVar[tuple[str, ...]] = ("LIMITED",)


class SecondScheme(Scheme):
    """Upwind, by lines (kappa = -1)."""

    defines: ClassVar[tuple[str, ...]] = ("SECOND",)


class FirstScheme(Scheme):
    """Upwind, cell values."""

    defines: ClassVar[tuple[str, ...]] = ("FIRST",)


class CentralScheme(Scheme):
    """The mean of both sides, and a fourth difference of all values (A. Jameson, W. Schmidt, E. Turkel 1981)."""

    defines: ClassVar[tuple[str, ...]] = ("CENTRAL",)


class PressureDampedScheme(Scheme):
    """The mean of both sides, and a fourth difference of the pressure (W. Xue, C. J. Roy 2020, Eq. 1)."""

    defines: ClassVar[tuple[str, ...]] = ("CENTRAL", "PRESSURE_DAMPING")


@dataclass(frozen=True)
class Steps:
    """Local steps: each cell takes `step` times its step for a CFL number of 1."""


class GlobalSteps(Steps):
    """All cells take the same step, `step`."""

    defines: ClassVar[tuple[str, ...]] = ("GLOBAL_STEPS",)


@dataclass(frozen=True)
class Numbers:
    """The constants of a stage.

    - `areas`, `volume`: of uniform cells
    - `lift` = -expansion gravity
    - `spread`: max(viscosity, diffusivity)
    - `fourth`: coefficient of fourth differences
    - `fraction`: share of the step that a stage takes
    - `fresh`: weight of the new friction and dissipation, against their values in the previous stage
    - `per_length`: inverse unit of lengths and times, which may differ from the unit of velocities
    - `speed`, `differ`: reference speed, and scale of the differences of a scalar

    Derived: inverses of b and of the volume, squared areas, and these over the volume; `pace`, a power of two near the
    speed; `least`, squares below which differences of p, velocities and a scalar are rounding errors; `per`, powers of
    two near the inverse scales of these.
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
    blocks: MatrixBlocks = BLOCKS[0]
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
    """Constants with an eddy viscosity in cells, in the units of the case. An eddy diffusivity is `share` times the
    eddy viscosity. `spread` accounts for the full stress, which diffuses twice as fast across faces. `half` is 1/2
    and `eddying` max(2, `share`), both times `per_length`.
    """

    share: float = 1.0
    half: float = field(init=False)
    eddying: float = field(init=False)
    defines: ClassVar[tuple[str, ...]] = ("EDDIES",)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "half", 0.5 * self.per_length)
        object.__setattr__(self, "eddying", max(2.0, self.share) * self.per_length)


@dataclass(frozen=True)
class ScalarNumbers(Numbers):
    """Constants with the diffusivity of a second scalar in blocks, and a power of two near the inverse of the scale of
    its differences.
    """

    scalar_diffusivity: float = 0.0
    scalar_per: float = 1.0
