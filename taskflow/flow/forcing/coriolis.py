"""The Coriolis force of a frame that turns with the angular velocity Omega: du/dt = ... - 2 Omega x u.

Each component is the mean of the four beside a face, so that the force does no work: over all faces the sum of u F is 0
to rounding, between walls too. The centrifugal force is a gradient, which the pressure takes. Euler's force,
-dOmega/dt x r, is not here: it needs to know where the axis is, and is an expression of the place.
"""

from collections.abc import Iterator
from typing import Any

from taskflow.flow.grid import Grid, Vector
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.tasks import Axis, Components, Launch, Read, ReadWrite, Roles, Scalar, facing, task


@task(kernel=KERNELS / "forcing" / "coriolis.cu")
def coriolis(
    velocity: Components(r=Read[facing(r=(0, 1), s=(-1, 0))], s=Read[facing(r=(-1, 0), s=(0, 1))]),
    tendency: Components(h_r=ReadWrite, h_s=ReadWrite), velocity_new: Components(r_new=ReadWrite, s_new=ReadWrite),
    *, about: Axis, dt: Scalar, ratio: Scalar, grid: Grid, frequency: float,
) -> None:  # fmt: skip
    """r_new += dt (1 + ratio/2) F_r, h_r += F_r, F_r = frequency s; likewise F_s = -frequency r, on faces.

    r and s are the velocities along the two axes other than that of rotation, in the order of x, y, z; frequency = 2
    Omega, and -2 Omega about y, since x, z, y are left-handed. After the momentum equation of the same stage: then h
    has all of H. Faces that lie on a wall keep their velocity.
    """


@task(kernel=KERNELS / "forcing" / "coriolis.cu")
def coriolis_timed(
    velocity: Components(r=Read[facing(r=(0, 1), s=(-1, 0))], s=Read[facing(r=(-1, 0), s=(0, 1))]),
    tendency: Components(h_r=ReadWrite, h_s=ReadWrite), velocity_new: Components(r_new=ReadWrite, s_new=ReadWrite),
    *, about: Axis, dt: Scalar, ratio: Scalar, rotation: Scalar, grid: Grid, factor: float,
) -> None:  # fmt: skip
    """The same with frequency = factor rotation, at the beginning of the stage."""


def angular_velocity(axis: int, stage: str) -> str:
    """The scalar of an angular velocity about an axis that changes in time, at the beginning of the stage whose names
    end so.
    """
    return f"rotation_{'xyz'[axis]}{stage}"


def coriolis_force(f: Roles, rotation: Vector, turned: tuple[int, ...] = (), **stage: Any) -> Iterator[Launch]:
    """A launch for each component of the frame's angular velocity, of which those about the axes `turned` change in
    time; `stage` says over which cells, dt, ratio, grid.
    """
    for axis, speed in enumerate(rotation):
        about, factor = "xyz"[axis], -2.0 if axis == 1 else 2.0
        r, s = (q for q, along in zip("uvw", "xyz", strict=True) if along != about)
        tendency, new = (f[f"h_{r}"], f[f"h_{s}"]), (f[f"{r}_new"], f[f"{s}_new"])
        if axis in turned:
            name = angular_velocity(axis, stage["dt"].removeprefix("dt"))
            yield coriolis_timed((f[r], f[s]), tendency, new, about=about, rotation=name, factor=factor, **stage)
        elif speed != 0:
            yield coriolis((f[r], f[s]), tendency, new, about=about, frequency=factor * speed, **stage)


def geostrophic_force(rotation: Vector, wind: Vector) -> Vector:
    """2 Omega x wind: minus the gradient of the pressure that holds a steady wind against the Coriolis force."""
    (a, b, c), (u, v, w) = rotation, wind
    return 2 * (b * w - c * v), 2 * (c * u - a * w), 2 * (a * v - b * u)
