"""Two substances that diffuse and react, and a picture of the pattern that they form.

    du/dt = Du Laplacian(u) - u v^2 + F (1 - u)
    dv/dt = Dv Laplacian(v) + u v^2 - (F + k) v

after J. E. Pearson, Complex patterns in a simple system, Science 261 (1993) 189-192: his square of 2.5 on 256 x 256
cells, his time step of 1, and rates from his map that make labyrinths. The plane is a box that is one cell thick.

    python examples/gray_scott.py [STEPS [PICTURE [SCHEDULER FILE]]]
"""

import sys
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

import taskflow as tf

PLANE = tf.offsets(x=(-1, 1)) | tf.offsets(y=(-1, 1))
SIDE, CELLS = 2.5, 256


@dataclass(frozen=True)
class Reaction:
    """Diffusivities over the square of the spacing, feed and kill rates: all per time step."""

    Du: float = 2e-5 * (CELLS / SIDE) ** 2
    Dv: float = 1e-5 * (CELLS / SIDE) ** 2
    F: float = 0.040
    k: float = 0.060


@tf.task(kernel="""
FN real laplacian(In q, Index c, Index X, Index Y) { return q[c - X] + q[c + X] + q[c - Y] + q[c + Y] - 4 * q[c]; }

TASK react(Range range, In u, In v, Out u_new, Out v_new, Reaction r) {
  STRIDES(range)
  for_cells(range, CELL(c) {
    const real eaten = u[c] * v[c] * v[c];
    u_new[c] = u[c] + r.Du * laplacian(u, c, X, Y) - eaten + r.F * (1 - u[c]);
    v_new[c] = v[c] + r.Dv * laplacian(v, c, X, Y) + eaten - (r.F + r.k) * v[c];
  });
}
""")
def react(u: tf.Read[PLANE], v: tf.Read[PLANE], u_new: tf.Write, v_new: tf.Write, *, r: Reaction) -> None:
    """One step of Euler's method."""


def seed(n: int) -> dict[str, np.ndarray]:
    """A square of v amid u, disturbed by one percent."""
    u, v = np.ones((1, n, n)), np.zeros((1, n, n))
    middle = np.s_[:, n // 2 - n // 25 : n // 2 + n // 25, n // 2 - n // 25 : n // 2 + n // 25]
    u[middle], v[middle] = 0.5, 0.25
    noise = 1 + 0.01 * np.random.default_rng(1).standard_normal((2, 1, n, n))
    return {"u": u * noise[0], "v": v * noise[1]}


def solve(steps: int, start: dict[str, np.ndarray], reaction: Reaction, **where) -> tuple[np.ndarray, np.ndarray]:
    """u and v after so many steps, as arrays [y, x]."""
    _, ny, nx = start["u"].shape
    plane = tf.region((nx, ny, 1), ["u", "v", "u_new", "v_new"], periodic="xyz")

    def step(f):
        yield react(f.u, f.v, f.u_new, f.v_new, over=plane.cells, r=reaction)
        f.swap("u", "u_new")
        f.swap("v", "v_new")

    with tf.distribute(plane, **where) as blocks:
        blocks.fill(**start)
        ran = blocks.run(step, times=steps)
        print(f"{blocks}: {steps} steps in {ran.seconds:.1f} s, {ran.rate / 1e9:.2f} Gcell/s")
        return blocks.read("u")[0], blocks.read("v")[0]


def main(steps: int = 10_000, picture: str = "gray_scott.png", scheduler_file: str | None = None) -> None:
    _, v = solve(steps, seed(CELLS), Reaction(), scheduler_file=scheduler_file)
    figure = Figure(figsize=(6, 5), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(v, origin="lower", extent=(0, SIDE, 0, SIDE), cmap="magma")
    figure.colorbar(image, label="v")
    axes.set(title=f"Gray-Scott after {steps} steps", xlabel="x", ylabel="y")
    figure.savefig(picture, dpi=150)
    print("picture", picture)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
