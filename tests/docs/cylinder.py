"""A run on charts for pages that read one: potential flow round a cylinder, as `python -m tests.docs.cylinder FOLDER`.

A reader has computed it; here it is written, for a page takes seconds.
"""

import json
import sys
from pathlib import Path

import numpy as np

from taskflow.geometry.grids import shape
from tests.output.on_charts import filled

CASE = 'title = "Cylinder"\n\n[grid]\nfile = "cylinder.xyz"\n\n[time]\nsteady = 1e-8\nsteps = 2000\n'


def u(x, y, z):
    return 1 - 0.25 * (x**2 - y**2) / (x**2 + y**2) ** 2


def v(x, y, z):
    return -0.5 * x * y / (x**2 + y**2) ** 2


def write(run: Path) -> None:
    """Write what the page reads: case, log, report and store."""
    fields = {"u": u, "v": v, "w": lambda x, y, z: 0 * x, "p": lambda *x: (1 - u(*x) ** 2 - v(*x) ** 2) / 2}
    about = {"title": "Cylinder", "viscosity": 0.025, "reference_speed": 1.0}
    about |= {"boundary_body": "wall", "boundary_body_velocity": np.zeros(3)}
    grid = shape("o-grid", {"cells": (48, 24, 1), "far": 10.0}).grid()
    filled(run / "fields.zarr", grid, fields, about, times=(0.0, 1000.0))
    (run / "case.toml").write_text(CASE)
    (run / "report.json").write_text(json.dumps({"ended": "steady", "time": 1000.0, "steps": 1000}))
    steps = range(0, 1001, 50)
    lines = [{"step": n, "time": float(n), "residual_p": 0.1 * 0.99**n, "residual_u": 0.99**n} for n in steps]
    (run / "log.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
