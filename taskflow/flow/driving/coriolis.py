"""The Coriolis force of a frame that turns with the constant angular velocity Omega: du/dt = ... - 2 Omega x u.

Each component is the mean of the four beside a face, so that the force does no work: over all faces the sum of u F is 0
to rounding, between walls too. The centrifugal force is a gradient, which the pressure takes.
"""

from collections.abc import Iterator
from typing import Any

from taskflow.flow.grid import Grid, Vector
from taskflow.flow.kernels import KERNELS
from taskflow.tasks import Launch, Read, ReadWrite, Roles, Scalar, Task, offsets, task


def _about(axis: str, a: str, b: str) -> Task:
    """The task for a frame that turns about an axis; `a` and `b` are the two that follow it."""
    beside_b = offsets(**{a: (0, 1), b: (-1, 0)})
    beside_a = offsets(**{a: (-1, 0), b: (0, 1)})

    def coriolis(
        q: Read[beside_b], r: Read[beside_a], h_q: ReadWrite, h_r: ReadWrite, q_new: ReadWrite, r_new: ReadWrite,
        *, dt: Scalar, ratio: Scalar, grid: Grid, frequency: float,
    ) -> None:  # fmt: skip
        """q_new += dt (1 + ratio/2) F_q, h_q += F_q, F_q = frequency r; likewise F_r = -frequency q.

        q and r are the velocities along the two axes that follow that of rotation; frequency = 2 Omega. After the
        momentum equation of the same stage: then h has all of H. Faces that lie on a wall keep their velocity.
        """

    coriolis.__name__ = f"coriolis_{axis}"
    return task(kernel=KERNELS / "driving" / "coriolis.cu")(coriolis)


coriolis_x, coriolis_y, coriolis_z = _about("x", "y", "z"), _about("y", "z", "x"), _about("z", "x", "y")
TASKS = (coriolis_x, coriolis_y, coriolis_z)


def coriolis(f: Roles, rotation: Vector, **stage: Any) -> Iterator[Launch]:
    """A launch for each component of the frame's angular velocity; `stage` says over which cells, dt, ratio, grid."""
    for axis, (about, speed) in enumerate(zip(TASKS, rotation, strict=True)):
        if speed != 0:
            q, r = ("uvw"[(axis + n) % 3] for n in (1, 2))
            fields = (f[q], f[r], f[f"h_{q}"], f[f"h_{r}"], f[f"{q}_new"], f[f"{r}_new"])
            yield about(*fields, frequency=2 * speed, **stage)


def geostrophic_force(rotation: Vector, wind: Vector) -> Vector:
    """2 Omega x wind: minus the gradient of the pressure that holds a steady wind against the Coriolis force."""
    (a, b, c), (u, v, w) = rotation, wind
    return 2 * (b * w - c * v), 2 * (c * u - a * w), 2 * (a * v - b * u)
