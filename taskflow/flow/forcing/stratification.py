"""A background temperature of constant gradient: T is the departure from it, and dT/dt = ... - u . gradient.

With buoyancy, a fluid at rest that is displaced along gravity oscillates with the frequency of Brunt and Vaisala, N^2 =
-expansion gravity . gradient. The velocity in a cell is the mean of its faces, as the temperature on a face is that of
its cells: so what buoyancy takes from |T|^2 the velocity gains, to rounding.
"""

from collections.abc import Iterator
from typing import Any

from taskflow.flow.grid import Vector
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.tasks import Axis, Launch, Read, ReadWrite, Roles, Scalar, facing, task


@task(kernel=KERNELS / "forcing" / "stratification.cu")
def stratify(
    q: Read[facing(n=(0, 1))], h_T: ReadWrite, T_new: ReadWrite,
    *, along: Axis, dt: Scalar, ratio: Scalar, gradient: float,
) -> None:  # fmt: skip
    """T_new += dt (1 + ratio/2) F, h_T += F, F = -q gradient, in cells; q is the velocity along an axis, on faces.

    After the heat equation of the same stage: then h_T has all of H.
    """


def stratification(f: Roles, gradient: Vector, **stage: Any) -> Iterator[Launch]:
    """A launch for each component of the gradient; `stage` says over which cells, dt and ratio."""
    for axis, velocity, slope in zip("xyz", (f.u, f.v, f.w), gradient, strict=True):
        if slope != 0:
            yield stratify(velocity, f.h_T, f.T_new, along=axis, gradient=slope, **stage)


def buoyancy_frequency(expansion: float, gravity: Vector, gradient: Vector) -> float:
    """sqrt|expansion gravity . gradient|: how fast a stable layer oscillates, or an unstable one grows."""
    return abs(expansion * sum(g * slope for g, slope in zip(gravity, gradient, strict=True))) ** 0.5
