"""Water that breaks against walls, edges and corners, with closed and open tops: no gas is faster than ten times what
falls through the height of the column.
"""

from __future__ import annotations

import numpy as np
import pytest

import taskflow as tf

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]
AT_WALL = "minimum(0.4 - x, 0.6 - z)"
AT_EDGE = "minimum(minimum(0.5 - x, 0.5 - y), 0.6 - z)"
OPEN = {"type": "outflow", "pressure": 0}
BLOCK = [{"type": "box", "low": [0.6, 0.35, 0.0], "high": [0.75, 0.65, 0.2]}]
DAMS = {  # the column, the top, gravity and obstacles
    "wall": (AT_WALL, "wall", [0, 0, -9.81], []),
    "wall, open": (AT_WALL, OPEN, [0, 0, -9.81], []),
    "edge": (AT_EDGE, "wall", [0, 0, -9.81], []),
    "edge, open": (AT_EDGE, OPEN, [0, 0, -9.81], []),
    "corner": (AT_EDGE, "wall", [3.0, 2.0, -9.0], []),
    "block, open": (AT_WALL, OPEN, [0, 0, -9.81], BLOCK),
}


@pytest.mark.parametrize("cells", [12, 16, *(pytest.param(n, marks=pytest.mark.gpu) for n in (64, 96))])
@pytest.mark.parametrize("dam", DAMS)
@pytest.mark.parametrize("method", ["levelset", "vof"])
def test_a_dam_breaks_to_its_end(tmp_path, method, dam, cells):
    """Water and air in a unit box, 1.5 s. The speed is that by the Courant number: the sum of three components."""
    water, top, gravity, obstacles = DAMS[dam]
    sides = {f"{axis}_{end}": "wall" for axis in "xyz" for end in ("min", "max")} | {"z_max": top}
    case = tf.Case(
        grid={"cells": [cells] * 3, "lengths": [1.0] * 3}, boundaries=sides, body={"gravity": gravity},
        two_phase={
            "density": [1000, 1], "viscosity": [1e-3, 1.8e-5], "surface_tension": 0.07, "initial": water,
            "method": method,
        },
        obstacles=obstacles, time={"end": 1.5}, monitor={"every": {"steps": 1}}, output={"every": 1.5},
        machine={"threads": 1} if cells < 64 else {"device": "gpu"},
    )  # fmt: skip
    log = tf.run(case, tmp_path / "run", progress=lambda _: None).log()
    fastest = max(line["cfl"] / line["dt"] / cells for line in log[1:])
    assert fastest <= 10 * np.sqrt(2 * np.linalg.norm(gravity) * 0.6)
    assert max(abs(line["volume_change"]) for line in log) <= 1e-10
