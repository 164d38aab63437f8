"""A decaying vortex on the workers of a Dask cluster, and its energy, computed by the same workers.

    dask scheduler --scheduler-file scheduler.json &
    dask cuda worker --scheduler-file scheduler.json --device-memory-limit 0 &
    python examples/cluster.py scheduler.json /shared/vortex

All workers need the run directory under the same path.
"""

import sys
from math import pi

from dask.distributed import Client

import taskflow as tf


def main(scheduler_file: str, directory: str, n: int = 64) -> None:
    case = tf.Case(
        title="Taylor-Green vortex", grid={"cells": [n, n, n], "lengths": [2 * pi] * 3}, fluid={"viscosity": 0.01},
        boundaries={"x": "periodic", "y": "periodic", "z": "periodic"}, time={"end": 0.5}, output={"every": 0.25},
        initial={"velocity": ["cos(x)*sin(y)*cos(z)", "-sin(x)*cos(y)*cos(z)", 0]},
    )  # fmt: skip
    with Client(scheduler_file=scheduler_file) as client:
        run = tf.run(case, directory, client, force=True)
        ds = run.dataset()  # of Dask arrays: chunks are read and reduced on the workers
        energy = sum((ds[name] ** 2).mean(ds[name].dims[1:]) / 2 for name in "uvw").compute()
        print(energy.to_series().rename("energy").to_string())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:4]))
