"""Heat in a periodic box, dT/dt = Laplacian(T): on the cores of a laptop, on all GPUs of a machine, on a cluster.

    python examples/heat3d.py [CELLS PER SIDE [STEPS [SCHEDULER FILE]]]
"""

import sys

import numpy as np

import taskflow as tf

KERNELS = """
#define UZ 8
TASK diffuse(Range range, In T, Out T_new, real d) {
  STRIDES(range)
  for_cells(range, CELL(c) {
    T_new[c] = T[c] + d * (T[c - X] + T[c + X] + T[c - Y] + T[c + Y] + T[c - Z] + T[c + Z] - 6 * T[c]);
  });
}
TASK largest(Range range, In T, Partial peak) { reduce_cells(range, peak, MAX, CELL(c) { return magnitude(T[c]); }); }
"""


@tf.task(kernel=KERNELS)
def diffuse(T: tf.Read[1], T_new: tf.Write, *, d: float) -> None:
    """T_new = T + d (sum of the six neighbours - 6 T), with d = dt / spacing^2"""


@tf.task(kernel=KERNELS)
def largest(T: tf.Read, *, peak: tf.Reduce["max"]) -> None:
    """peak = max |T|"""


def main(n: int = 128, steps: int = 400, scheduler_file: str | None = None, d: float = 1 / 8) -> None:
    box = tf.region((n, n, n), ["T", "T_new"], dtype="f4", periodic="xyz")

    def step(f):
        yield diffuse(f.T, f.T_new, over=box.cells, d=d)
        f.swap("T", "T_new")

    exact = np.exp(-3 * (2 * np.pi / n) ** 2 * d * steps)
    with tf.distribute(box, scheduler_file=scheduler_file) as blocks:
        blocks.fill(T=lambda i, j, k: np.cos(2 * np.pi * (i + j + k) / n))
        print(f"{blocks}: {blocks.run(step, times=steps).rate / 1e9:.2f} Gcell/s")
        blocks.run(lambda f: [largest(f.T, over=box.cells, peak="peak")])
        print(f"after {steps} steps the wave has {blocks.scalars['peak']:.6f} of its height, exactly {exact:.6f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])
