"""Vortices carried through a periodic box converge to the exact solution with order 2, in space and time together."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pytest

from taskflow.cases import Case
from tests.flows import VELOCITY, Flow, compute, norms, orders
from tests.validation.vortices import TAU, Beltrami, Exact, Numerics, TaylorGreen, periodic_case

PLANES = [(0, 1), (0, 2), (1, 2)]
SWEEPS = 0.1  # per cell of n^2: twice as many change the errors by less than 0.6 %
ORDER = 0.1  # how far from 2 an observed order may be
SOLVERS = {
    "fft": {"solver": "fft"},
    "multigrid": {"solver": "multigrid", "tolerance": 1e-8, "outer": "none"},
    "gradients": {"solver": "multigrid", "tolerance": 1e-8},
}
SCHEMES = {"ab2": 2, "rk3": 3}  # and their orders
FAST = [("fft", "ab2"), ("fft", "rk3")]
PAIRS = [
    pytest.param(*pair, marks=() if pair in FAST else pytest.mark.slow)
    for pair in product(SOLVERS, SCHEMES)
]


def plane_case(exact: TaylorGreen, n: int, by: Numerics | None = None) -> Case:
    """n cells along the first axis, 3n/2 along the second, one across: three spacings; steps as long as n is small."""
    cells = [1, 1, 1]
    cells[exact.first], cells[exact.second] = n, 3 * n // 2
    return periodic_case(exact, tuple(cells), 2 * n, 1.0, by or Numerics.sweeps(round(SWEEPS * n * n)))


def middle(flow: Flow) -> float:
    """The time that the pressure belongs to: the middle of the last stage of the last step."""
    return flow.tick.time - flow.tick.dt * flow.setup.model.scheme.stages[-1].share / 2


def velocity_errors(flow: Flow, exact: Exact) -> dict[str, tuple[float, float]]:
    """Root mean square and maximum of the error of each component that flows."""
    names = [name for name in VELOCITY if exact.velocity("uvw".index(name), 0.0, *flow.points(name)).any()]
    time = flow.tick.time
    return {q: norms(flow[q] - exact.velocity("uvw".index(q), time, *flow.points(q))) for q in names}


def pressure_errors(flow: Flow, exact: Exact, time: float) -> tuple[float, float]:
    """Those of the pressure, whose mean nobody knows."""
    error = flow["p"] - exact.pressure(time, *flow.points("p"))
    return norms(error - error.mean())


def assert_orders(exact: Exact, flows: dict[int, Flow]) -> dict[str, list[float]]:
    """Order 2 of velocity and of the pressure at the time that it belongs to, in both norms."""
    cells, result = list(flows), {}
    errors = [velocity_errors(flow, exact) for flow in flows.values()]
    pressures = [pressure_errors(flow, exact, middle(flow)) for flow in flows.values()]
    for norm, name in enumerate(("L2", "max")):
        for q in errors[0]:
            result[f"{q} {name}"] = orders([error[q][norm] for error in errors], cells)
        result[f"p {name}"] = orders([error[norm] for error in pressures], cells)
    print(cells, {name: [f"{order:.3f}" for order in values] for name, values in result.items()})
    for name, values in result.items():
        assert values == pytest.approx([2.0] * len(values), abs=ORDER), name
    return result


@pytest.mark.slow
@pytest.mark.parametrize("plane", PLANES[1:2], ids=["xz"])  # the others on finer grids
def test_taylor_green_is_of_order_2(plane):
    exact = TaylorGreen(0.02, *plane)
    flows = {n: compute(plane_case(exact, n)) for n in (16, 32, 64)}
    assert_orders(exact, flows)
    finest = flows[64]
    across = "uvw"[3 - sum(plane)]
    assert not finest[across].any()
    for q, (_, largest) in velocity_errors(finest, exact).items():
        assert largest < 2.5e-3, q  # measured 1.9e-3; of speeds up to 2
    late = pressure_errors(finest, exact, finest.tick.time)[0]
    assert (
        late > 2 * pressure_errors(finest, exact, middle(finest))[0]
    )  # the pressure belongs to the middle of the step: at its end it is of order 1


@pytest.mark.slow
@pytest.mark.parametrize("plane", PLANES, ids=["xy", "xz", "yz"])
def test_taylor_green_is_of_order_2_on_finer_grids(plane):
    exact = TaylorGreen(0.02, *plane)
    assert_orders(exact, {n: compute(plane_case(exact, n)) for n in (32, 64, 128)})


@pytest.mark.slow
def test_beltrami_flow_is_of_order_2():
    """In three dimensions, where no term of the convection is zero."""
    exact, flows = Beltrami(0.05), {}
    for n in (12, 24, 32):
        cells = n, n + n // 4, n + n // 2
        flows[n] = compute(periodic_case(exact, cells, n, 0.5, Numerics.sweeps(10 * n)))
    assert_orders(exact, flows)


@pytest.mark.parametrize(("solver", "scheme"), PAIRS)
@pytest.mark.fast("fft-rk3")
def test_any_solver_and_scheme_are_of_order_2_in_space(solver, scheme):
    """Both flows, one of them on two blocks."""
    by = Numerics(SOLVERS[solver], scheme)
    plane, space = TaylorGreen(0.02, 0, 2), Beltrami(0.05)
    assert_orders(plane, {n: compute(plane_case(plane, n, by), (1, 1, 2)) for n in (16, 32)})
    assert_orders(space, {n: compute(periodic_case(space, (n, n + n // 4, n + n // 2), n, 0.5, by)) for n in (12, 24)})


@pytest.mark.parametrize(("solver", "scheme"), PAIRS)
@pytest.mark.fast("fft-ab2")
def test_order_in_time(solver, scheme):
    """On one grid, against far shorter steps of the scheme of third order."""
    exact, pressure = TaylorGreen(0.02, 0, 2), {**SOLVERS[solver]}
    if "tolerance" in pressure:
        pressure["tolerance"] = 1e-12

    def flow(steps: int, scheme: str) -> Flow:
        return compute(periodic_case(exact, (8, 1, 12), steps, 1.0, Numerics(pressure, scheme)))

    result, finest = [flow(steps, scheme) for steps in (20, 40)], flow(200, "rk3")
    for q in ("u", "w"):
        observed = orders([norms(item[q] - finest[q])[0] for item in result], [20, 40])
        assert observed == pytest.approx([SCHEMES[scheme]], abs=ORDER), q


def test_temperature_carried_by_a_uniform_flow_is_of_order_2():
    """T = 2 + sin X cos Y sin Z exp(-3 diffusivity t), in a flow along all three axes."""
    mean, diffusivity, end, errors = (0.9, -0.6, 0.7), 0.03, 1.0, []

    def exact(time, *points):
        X, Y, Z = (p - U * time for p, U in zip(points, mean, strict=True))
        return 2 + np.sin(X) * np.cos(Y) * np.sin(Z) * np.exp(-3 * diffusivity * time)

    for n in (8, 16, 32):
        case = Case(
            grid={"cells": [n, n + n // 4, n + n // 2], "lengths": [TAU, TAU, TAU]},
            fluid={"viscosity": 0.01},
            heat={"diffusivity": diffusivity},
            boundaries={"x": "periodic", "y": "periodic", "z": "periodic"},
            initial={"velocity": mean, "temperature": partial(exact, 0.0)},
            time={"end": end, "step": end / n},
            pressure={"iterations": 1},
        )
        flow = compute(case)
        errors.append(norms(flow["T"] - exact(end, *flow.points("T"))))
    for values in zip(*errors, strict=True):
        assert orders(values, [8, 16, 32])[1] == pytest.approx(2.0, abs=ORDER)
    assert errors[-1][1] < 0.02


@pytest.mark.slow
def test_energy_decays_as_viscosity_takes_it():
    """Re = 100, 64 x 96 cells: the energy of the vortices at t = 1 is exact to 1e-4, and their momentum to rounding."""
    exact = TaylorGreen(0.01, 0, 2)
    flow = compute(plane_case(exact, 64))
    mean = exact.energy(np.inf)
    energies = [line["energy"] - mean for line in flow.history]
    assert energies[-1] == pytest.approx(exact.energy(1.0) - mean, rel=1e-4)
    assert all(np.diff(energies) < 0)
    for q, U in (("u", 1.0), ("v", 0.0), ("w", 0.5)):
        assert flow[q].mean() == pytest.approx(U, abs=1e-12)
