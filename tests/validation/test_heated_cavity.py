"""Air between a hot and a cold wall against de Vahl Davis (1983), from rest and the mean temperature.

10 sweeps per step: the steady state does not depend on their number, and small grids are quicker with few.
Run times on one core: the fast tests 15 s, the slow one 4 minutes.
"""

from __future__ import annotations

import pytest

from tests.flows import orders
from tests.validation.heated import Numbers, compute_fluxes, de_vahl_davis, errors, heated, imbalance

SWEEPS = 10
STEADY = 2e-6
ALLOWED = {  # relative errors at 64^2 (measured: a third to nine tenths of it) and 128^2 (reference/README.md)
    64: {1e3: {"Nu_mean": 0.001, "u_max": 0.002, "v_max": 0.002},
         1e4: {"Nu_mean": 0.005, "u_max": 0.002, "v_max": 0.002},
         1e5: {"Nu_mean": 0.010, "u_max": 0.005, "v_max": 0.005}},
    128: {1e3: {"Nu_mean": 0.002, "u_max": 0.003, "v_max": 0.003},
          1e4: {"Nu_mean": 0.0025, "u_max": 0.003, "v_max": 0.003},
          1e5: {"Nu_mean": 0.004, "u_max": 0.003, "v_max": 0.003}},
}  # fmt: skip


def compute_numbers(n: int, Ra: float, steady: float = STEADY) -> Numbers:
    """Numbers of the steady state, which gains as much heat as it loses and carries it through the middle."""
    flow = compute_fluxes(heated(n, Ra, 3.0, SWEEPS, steady=steady))
    numbers = Numbers.of(flow)
    print(f"Ra = {Ra:g}, {n}^2: {flow.tick.step} steps to t = {flow.tick.time:.3f}; {numbers}; {errors(numbers, Ra)}")
    assert flow.tick.time < 3.0
    assert imbalance(numbers) < 1e-6
    return numbers


def order(coarse: float, medium: float, fine: float) -> float:
    """The order observed on three grids, each twice as fine as the one before."""
    return orders([abs(coarse - medium), abs(medium - fine)], [1, 2])[0]


def assert_as_de_vahl_davis(numbers: Numbers, n: int, Ra: float) -> None:
    for name, error in errors(numbers, Ra).items():
        assert error < ALLOWED[n][Ra][name], name


@pytest.mark.slow
@pytest.mark.parametrize(("Ra", "margin"), [(1e3, 0.05), (1e4, 0.05), (1e5, 0.15)])
def test_de_vahl_davis(Ra, margin):
    """Nusselt numbers converge with order 2 (16 cells hardly see the layers at the walls at Ra = 1e5), to his."""
    coarse, medium, fine = (compute_numbers(n, Ra) for n in (16, 32, 64))
    assert_as_de_vahl_davis(fine, 64, Ra)
    assert order(coarse.hot, medium.hot, fine.hot) == pytest.approx(2.0, abs=margin)
    limits = {name: value + (value - medium.tabulated[name]) / 3 for name, value in fine.tabulated.items()}
    print(limits)
    for name, value in de_vahl_davis(Ra).items():
        if name in limits:
            assert limits[name] == pytest.approx(value, rel=0.002), name


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("Ra", "margin"), [(1e3, 0.02), (1e4, 0.02), (1e5, 0.05)])
def test_de_vahl_davis_at_128(Ra, margin):
    coarse, medium, fine = (compute_numbers(n, Ra) for n in (32, 64, 128))
    assert_as_de_vahl_davis(fine, 128, Ra)
    assert order(coarse.hot, medium.hot, fine.hot) == pytest.approx(2.0, abs=margin)


def test_the_monitor_has_the_wall_fluxes():
    """What the log calls Nusselt numbers is what leaves the hot wall and arrives at the cold one."""
    flow = compute_fluxes(heated(16, 1e4, 0.5, SWEEPS))
    numbers = Numbers.of(flow)
    walls = flow.setup.monitor.nusselt(flow.scalars)
    assert walls["x_min"] == pytest.approx(numbers.hot, rel=1e-12)
    assert walls["x_max"] == pytest.approx(-numbers.cold, rel=1e-12)
