"""Air in a cube between a hot and a cold wall, its other walls insulated, against Tric, Labrosse & Betrouni (2000)."""

from __future__ import annotations

import pytest

from taskflow.runtime.machine.device import Device, gpu
from tests.flows import DATA
from tests.validation.cavity import table
from tests.validation.heated import Numbers, compute_fluxes, heated_cube, imbalance

STEADY = 1e-3
ALLOWED = {(16, 1e4): 0.06, (32, 1e4): 0.015, (64, 1e4): 0.01, (64, 1e5): 0.015, (96, 1e5): 0.015}  # relative


def tric(Ra: float) -> float:
    """The mean Nusselt number of the hot wall, which several sources repeat."""
    rows = [row for row in table(DATA / "heated_cube_air.csv") if float(row["Ra"]) == Ra and row["status"] == "xchk"]
    return next(float(row["value"]) for row in rows if row["author"] == "Tric2000")


def assert_as_published(n: int, Ra: float, device: Device | None = None) -> Numbers:
    flow = compute_fluxes(heated_cube(n, Ra, 3.0, steady=STEADY), device)
    numbers = Numbers.of(flow)
    error = abs(numbers.hot / tric(Ra) - 1)
    print(f"Ra = {Ra:g}, {n}^3: {flow.tick.step} steps to t = {flow.tick.time:.3f}; {numbers}; error of Nu {error:.4f}")
    assert flow.steady
    assert imbalance(numbers) < 1e-4
    assert error < ALLOWED[n, Ra]
    return numbers


@pytest.mark.parametrize("n", [16, pytest.param(32, marks=pytest.mark.slow)])
def test_few_cells(n):
    """Errors are 4.4 and 1.2 %."""
    assert_as_published(n, 1e4)


@pytest.mark.gpu
@pytest.mark.slow
@pytest.mark.parametrize(("n", "Ra"), [(64, 1e4), (64, 1e5), (96, 1e5)])
def test_on_a_gpu(n, Ra):
    assert_as_published(n, Ra, gpu())
