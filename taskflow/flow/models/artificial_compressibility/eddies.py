"""Eddy viscosities on charts: those of `taskflow.flow.closures`, from the velocity gradient in the centres of cells.

    grad q = sum over the faces of a cell of S (q + q_beyond) / (2 V),    Delta = V^(1/3)

Gauss' theorem with means on faces: exact for linear functions where all cells are one parallelepiped, of second order
on smooth grids. nu_t is 0 on walls, and has no gradient across other sides. In a step of real time it is that of the
velocity with which the step begins, which is extrapolated to its end from the two levels before: as exact in time as
the scheme, and what is marched within a step has one viscosity.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from taskflow.flow.boundaries.boundary import Mirror, mirror
from taskflow.flow.boundaries.condition import Side
from taskflow.flow.closures.eddy_viscosity import Smagorinsky, Turbulence, Vreman
from taskflow.flow.kernels import KERNELS
from taskflow.flow.models.artificial_compressibility.equations import PLANE_SHORT, SHORT
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Components, Launch, Read, Roles, Stencil, Write, task

TEXT = KERNELS / "artificial_compressibility" / "eddies.cu"
FILTER = "filter_square"
"""The field of squares of the filter's width, Delta^2, which no program writes."""
VELOCITY = Components(u=Read[SHORT], v=Read[SHORT], w=Read[SHORT])
METRICS = Read[SHORT] * 10


@dataclass(frozen=True)
class Around:
    """Which neighbours a gradient reads: all six."""


class AroundInPlane(Around):
    """Charts one cell thick along z: nothing changes along that."""

    defines: ClassVar[tuple[str, ...]] = ("PLANAR",)
    stencils: ClassVar[Mapping[str, Stencil]] = MappingProxyType(dict.fromkeys(("u", "v", "w", "metrics"), PLANE_SHORT))


@dataclass(frozen=True)
class Eddies:
    """The constant of a model: of Smagorinsky and WALE its square."""

    constant: float
    around: Around = Around()


@task(kernel=TEXT)
def smagorinsky_on_charts(
    velocity: VELOCITY, metrics: METRICS, filter_square: Read, nu_t: Write, *, eddies: Eddies
) -> None:
    """nu_t = constant filter_square (2 S_ij S_ij)^(1/2)."""


@task(kernel=TEXT)
def wale_on_charts(velocity: VELOCITY, metrics: METRICS, filter_square: Read, nu_t: Write, *, eddies: Eddies) -> None:
    """nu_t = constant filter_square (Sd_ij Sd_ij)^(3/2) / ((S_ij S_ij)^(5/2) + (Sd_ij Sd_ij)^(5/4))."""


@task(kernel=TEXT)
def vreman_on_charts(velocity: VELOCITY, metrics: METRICS, nu_t: Write, *, eddies: Eddies) -> None:
    """nu_t = constant (B / (alpha_ij alpha_ij))^(1/2), alpha being the gradient, and B the sum of the squares of the
    minors of (q_behind - q_before) / 2 along the lines of the grid.
    """


def eddy_viscosity(
    f: Roles, turbulence: Turbulence, *,
    cells: tuple[Box, ...], sides: tuple[Side, ...], planar: bool, unit: float = 1.0,
) -> Iterator[Launch]:  # fmt: skip
    """nu_t, with its ghost values beyond sides, of the present velocity, whose ghost values are filled. Metrics and the
    filter are in a `unit` of length, nu_t is in the units of the case.
    """
    kind, around = turbulence.model, AroundInPlane() if planar else Around()
    velocity = (f.u, f.v, f.w)
    if isinstance(kind, Vreman):
        eddies = Eddies(kind.constant * unit, around)
        yield vreman_on_charts(velocity, f.metrics, f.nu_t, over=cells, eddies=eddies)
    else:
        of_width = smagorinsky_on_charts if isinstance(kind, Smagorinsky) else wale_on_charts
        eddies = Eddies(kind.constant**2 * unit, around)
        yield of_width(velocity, f.metrics, f[FILTER], f.nu_t, over=cells, eddies=eddies)
    for side in sides:
        on_side = Mirror(side.kind.eddies, 0.0)
        for face, ghosts in side.layers.items():
            yield mirror(f.nu_t, over=ghosts, on=face, mirror=on_side)


def fields(turbulence: Turbulence | None) -> tuple[str, ...]:
    """The fields that a model has besides: nu_t."""
    return ("nu_t",) if turbulence else ()


def constants(turbulence: Turbulence | None) -> tuple[str, ...]:
    """The fields that no program writes: the filter of models that have one."""
    return (FILTER,) if turbulence and not isinstance(turbulence.model, Vreman) else ()
