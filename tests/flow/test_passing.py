"""What passes through faces, against NumPy at the centres of faces, and balances of volumes."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow.passing import Passing, Side
from taskflow.regions import Box
from taskflow.simulation.case import Case
from taskflow.simulation.setup import Setup
from tests.flows import compute
from tests.simulation.test_resuming import stirred


def measured(case: Case, side: Side, blocks=(1, 1, 1)) -> dict[str, float]:
    """What passes in the final state."""
    passing = Passing(Setup(case, (1, 1, 1)).model, side)
    return dict(zip(passing.names, passing.numbers(compute(case, blocks, after=passing).scalars), strict=True))


def shifted(values: np.ndarray, axis: int, n: int = 1) -> np.ndarray:
    """Of the neighbours so many cells further along x, y or z (0, 1, 2)."""
    return np.roll(values, -n, 2 - axis)


def expected(case: Case, side: Side, viscosity: np.ndarray) -> dict[str, float]:
    """The same from all fields with a layer beyond walls."""
    flow, a = compute(case), side.axis
    grid, cells = flow.setup.grid, side.cells.slices(flow.setup.partition.region.bounds.lo)
    fields = {name: flow.padded[name] for name in ("u", "v", "w", "p", "T")}
    velocity, dx = [fields[name] for name in "uvw"], grid.spacing
    area, q = side.outward * np.prod(dx) / dx[a], velocity[a]
    found = {"volume_flux": q}
    for b in range(3):
        if b == a:
            stress = 2 * (shifted(q, a) - shifted(q, a, -1)) / (2 * dx[a])
            pressure = (fields["p"] + shifted(fields["p"], a, -1)) / 2
            found[f"momentum_flux_{'xyz'[b]}"] = q**2 + pressure - viscosity * stress
        else:
            there = (velocity[b] + shifted(velocity[b], b)) / 2
            stress = (there - shifted(there, a, -1)) / dx[a] + (shifted(q, b) - shifted(q, b, -1)) / (2 * dx[b])
            found[f"momentum_flux_{'xyz'[b]}"] = q * (there + shifted(there, a, -1)) / 2 - viscosity * stress
    T, before = fields["T"], shifted(fields["T"], a, -1)
    found["flux_T"] = q * (T + before) / 2 - 0.02 * (T - before) / dx[a]
    return {name: area * values[cells].sum() for name, values in found.items()}


@pytest.mark.parametrize("side", [
    Side(Box((3, 0, 0), (4, 5, 9)), 0), Side(Box((1, 2, 2), (5, 3, 7)), 1, -1), Side(Box((2, 1, 4), (7, 4, 5)), 2),
])  # fmt: skip
def test_it_is_what_numpy_finds(side):
    case = stirred()
    wanted = expected(case, side, 0.01)
    for name, value in measured(case, side).items():
        assert value == pytest.approx(wanted[name], rel=1e-12, abs=1e-14), name


@pytest.mark.parametrize("precision", ["double", pytest.param("single", marks=pytest.mark.slow)])
def test_the_bits_do_not_depend_on_the_blocks(precision):
    case = stirred(machine={"device": "cpu", "threads": 1, "precision": precision})
    side = Side(Box((0, 0, 4), (8, 5, 5)), 2)
    assert measured(case, side, (2, 1, 3)) == measured(case, side)


def couette(**changes) -> Case:
    """u = z between walls, on cells of different heights, with T = z."""
    tables = {
        "grid": {"cells": [4, 4, 8], "lengths": [1.0, 1.0, 1.0], "stretching": {"z": {"tanh": 1.5}}},
        "fluid": {"viscosity": 0.1},
        "heat": {"diffusivity": 0.3},
        "boundaries": {
            "x": "periodic", "y": "periodic", "z_min": {"type": "wall", "temperature": 0.0},
            "z_max": {"type": "wall", "velocity": [1.0, 0.0, 0.0], "temperature": 1.0},
        },
        "initial": {"velocity": ["z", 0, 0], "temperature": "z"},
        "time": {"steps": 1},
        "machine": {"device": "cpu", "threads": 1},
    }  # fmt: skip
    return Case(**(tables | changes))


@pytest.mark.parametrize("plane", [0, 3, 8])
def test_shear_and_conduction_are_the_same_at_all_heights(plane):
    """Where the domain ends, too: momentum -viscosity du/dz and heat -diffusivity dT/dz per area."""
    found = measured(couette(), Side(Box((0, 0, plane), (4, 4, plane + 1)), 2))
    assert found["momentum_flux_x"] == pytest.approx(-0.1, rel=1e-11)
    assert found["flux_T"] == pytest.approx(-0.3, rel=1e-11)
    assert found["volume_flux"] == 0.0


def test_eddies_carry_momentum_and_heat():
    """nu_t = (C d)^2 |du/dz| everywhere, as the shear is 1."""
    eddies = {"model": "smagorinsky", "constant": 0.2, "damping": "none", "prandtl": 0.5}
    uniform = {"cells": [4, 4, 8], "lengths": [1.0, 1.0, 1.0]}
    found = measured(couette(turbulence=eddies, grid=uniform), Side(Box((0, 0, 3), (4, 4, 4)), 2))
    nu_t = 0.2**2 * (1 / 4 / 4 / 8) ** (2 / 3)
    assert found["momentum_flux_x"] == pytest.approx(-0.1 - nu_t, rel=1e-9)
    assert found["flux_T"] == pytest.approx(-0.3 - nu_t / 0.5, rel=1e-9)


def test_an_inflow_beside_walls_reads_no_cell_that_nothing_fills():
    """Whatever memory held before."""
    walls = dict.fromkeys(("y_min", "y_max", "z_min", "z_max"), "wall")
    inflow = {"type": "inflow", "velocity": [1.0, 0.1, 0.2]}
    case = Case(
        grid={"cells": [4, 3, 3], "lengths": [1.0, 1.0, 1.0]}, fluid={"viscosity": 0.1}, time={"steps": 1},
        boundaries={"x_min": inflow, "x_max": "outflow", **walls},
    )  # fmt: skip
    passing = Passing(Setup(case, (1, 1, 1)).model, Side(Box((0, 0, 0), (1, 3, 3)), 0))
    assert np.isfinite(passing.numbers(compute(case, after=passing, garbage=np.nan).scalars)).all()
