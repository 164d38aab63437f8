"""Sound in a periodic box, d2u/dt2 = Laplacian(u), with a stencil of eighth order: four ghost layers.

After P. Micikevicius, 3D finite difference computation on GPUs using CUDA, GPGPU-2 (2009): centred differences of
eighth order in space, second order in time. A plane wave along the diagonal shows the order, a larger box the rate.

    python examples/wave8.py [CELLS PER SIDE [STEPS [SCHEDULER FILE]]]
"""

import sys
from math import log, pi, sqrt

import numpy as np

import taskflow as tf


@tf.task(kernel="""
FN real six(In u, Index c, Index X, Index Y, Index Z) {
  return u[c - X] + u[c + X] + u[c - Y] + u[c + Y] + u[c - Z] + u[c + Z];
}

TASK advance(Range range, In u, InOut u_next, real r) {
  STRIDES(range)
  for_cells(range, CELL(c) {
    const real laplacian = real(-205.0 / 24) * u[c] + real(8.0 / 5) * six(u, c, X, Y, Z)
                           - real(1.0 / 5) * six(u, c, 2 * X, 2 * Y, 2 * Z)
                           + real(8.0 / 315) * six(u, c, 3 * X, 3 * Y, 3 * Z)
                           - real(1.0 / 560) * six(u, c, 4 * X, 4 * Y, 4 * Z);
    u_next[c] = 2 * u[c] - u_next[c] + r * laplacian;
  });
}
""")
def advance(u: tf.Read[4], u_next: tf.ReadWrite, *, r: float) -> None:
    """u_next, which holds u a step ago, becomes u a step ahead; r = (dt / spacing)^2"""


def wave(n: int, t: float):
    """The plane wave sin(2 pi (x + y + z - sqrt(3) t)) at time t, as a function of the cells of a unit box."""
    return lambda i, j, k: np.sin(2 * pi * ((i + j + k) / n - sqrt(3) * t))


def solve(n: int, dt: float, steps: int, dtype: str, **where) -> tuple[float, float]:
    """The largest error of the plane wave after some steps, and cells computed per second."""
    box = tf.region((n, n, n), ["u", "u_next"], dtype=dtype, ghost=4, periodic="xyz")

    def step(f):
        yield advance(f.u, f.u_next, over=box.cells, r=(dt * n) ** 2)
        f.swap("u", "u_next")

    with tf.distribute(box, **where) as blocks:
        blocks.fill(u=wave(n, 0), u_next=wave(n, -dt))
        ran = blocks.run(step, times=steps)
        exact = wave(n, steps * dt)(*np.ogrid[:n, :n, :n])
        return float(np.abs(blocks.read("u") - exact).max()), ran.rate


def main(n: int = 128, steps: int = 100, scheduler_file: str | None = None) -> None:
    print("cells   steps       error   order")  # dt shrinks as h^4: so errors in time stay the smaller ones
    before = None
    for cells, count in ((12, 1000), (16, 3160), (24, 16000)):
        error, _ = solve(cells, 0.16 / count, count, "f8", scheduler_file=scheduler_file)
        order = f"{log(before[1] / error) / log(cells / before[0]):8.2f}" if before else ""
        print(f"{cells:5d}{count:8d}{error:12.2e}{order}")
        before = cells, error
    error, rate = solve(n, 0.4 / n, steps, "f4", scheduler_file=scheduler_file)
    print(f"{n}^3 cells in single precision, {steps} steps: {rate / 1e9:.2f} Gcell/s, error {error:.1e}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])
