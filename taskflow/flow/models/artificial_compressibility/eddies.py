"""Eddy viscosities of `taskflow.flow.closures` on charts, from the velocity gradient in the centres of cells.

    grad q = sum over the faces of a cell of S (q + q_neighbour) / (2 V),    Delta = V^(1/3)

Gauss' theorem with means on faces is exact for linear functions on identical parallelepipeds, and of second order on
smooth grids. nu_t is 0 on walls, and has no gradient across other sides. In a physical time step nu_t is computed once,
from the starting velocity of the step, extrapolated from the two previous levels to its end: it has the order in time
of the scheme, and is constant during pseudo-time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from taskflow.flow.boundaries.boundary import Mirror, mirror
from taskflow.flow.boundaries.condition import Side
from taskflow.flow.closures.closure import Closure
from taskflow.flow.closures.eddy_viscosity import Turbulence
from taskflow.flow.kernels import KERNELS
from taskflow.flow.models.artificial_compressibility.equations import PLANE_SHORT, SHORT
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Components, Launch, Read, Roles, Stencil, Write, task

TEXT = KERNELS / "artificial_compressibility" / "eddies.cu"
FILTER = "filter_square"
"""The field of the squared filter width, Delta^2, which no program writes."""
VELOCITY = Components(u=Read[SHORT], v=Read[SHORT], w=Read[SHORT])
METRICS = Read[SHORT] * 10


@dataclass(frozen=True)
class UnitFactors:
    """Factors from the unit of length of metrics and filter to the unit of a closure, and from its viscosity to the
    case: powers of two, which are exact. A gradient reads all six neighbours.
    """

    per_length: float = 1.0
    area: float = 1.0
    viscosity: float = 1.0

    @classmethod
    def of(cls, closure: Closure, unit: float) -> UnitFactors:
        """Return the factors of a closure, which computes in the `unit` of metrics if its numbers are dimensionless."""
        return cls(viscosity=unit) if closure.dimensionless else cls(per_length=1 / unit, area=unit**2)


class UnitFactorsInPlane(UnitFactors):
    """Charts one cell thick along k, without variation along it."""

    defines: ClassVar[tuple[str, ...]] = ("PLANAR",)
    stencils: ClassVar[Mapping[str, Stencil]] = MappingProxyType(dict.fromkeys(("u", "v", "w", "metrics"), PLANE_SHORT))


@task(kernel=TEXT)
def eddies_on_charts(
    velocity: VELOCITY, metrics: METRICS, filter_square: Read | None, nu_t: Write,
    *, closure: Closure, factors: UnitFactors,
) -> None:  # fmt: skip
    """Eddy viscosity nu_t of a closure in cells; only closures with a filter read its square."""


def eddy_viscosity(
    f: Roles, turbulence: Turbulence, *,
    cells: tuple[Box, ...], sides: tuple[Side, ...], planar: bool, unit: float = 1.0,
) -> Iterator[Launch]:  # fmt: skip
    """Compute nu_t and its ghost values, in units of the case. Metrics and the filter are in a `unit` of length."""
    closure, velocity = turbulence.model, (f.u, f.v, f.w)
    factors = (UnitFactorsInPlane if planar else UnitFactors).of(closure, unit)
    width = f[FILTER] if closure.filtered else None
    yield eddies_on_charts(velocity, f.metrics, width, f.nu_t, over=cells, closure=closure, factors=factors)
    for side in sides:
        on_side = Mirror(side.kind.eddies, 0.0)
        for face, ghosts in side.layers.items():
            yield mirror(f.nu_t, over=ghosts, on=face, mirror=on_side)


def fields(turbulence: Turbulence | None) -> tuple[str, ...]:
    """Return the further fields of a model: nu_t."""
    return ("nu_t",) if turbulence else ()


def constants(turbulence: Turbulence | None) -> tuple[str, ...]:
    """Return the fields that no program writes: the filter width, if used."""
    return (FILTER,) if turbulence and turbulence.model.filtered else ()
