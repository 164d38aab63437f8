"""What the flow carries: order, bounds, integrals, sources, boundaries, and the same bits on any blocks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.runs.state.setup import RunSetup
from tests.flows import Flow, compute, orders

TAU = 2 * math.pi
SLIP = {"y": "periodic", "x_min": "slip", "x_max": "slip", "z_min": "slip", "z_max": "slip"}
HAT = "where((x - 0.5)**2 + (z - 0.7)**2 < 0.04, 1, 0)"


def vortex(time: str, precision: str = "double", **scalar) -> Case:
    """A steady vortex in a box, without viscosity: it winds up what it carries, faster in the middle."""
    return Case(
        grid={"cells": [20, 1, 20], "lengths": [1, 0.05, 1]}, fluid={"viscosity": 0}, boundaries=SLIP,
        initial={"velocity": ["sin(pi*x)*cos(pi*z)", 0, "-cos(pi*x)*sin(pi*z)"]},
        time={"end": 1.0, "scheme": time}, machine={"precision": precision},
        scalars=[{"name": "smoke", "diffusivity": 0, "initial": HAT, **scalar}],
    )  # fmt: skip


@pytest.mark.parametrize("time", ["ab2", "rk3"])
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.fast("single-rk3", "double-ab2")
def test_a_top_hat_stays_within_its_bounds_and_its_integral_is_kept(time, precision):
    flow = compute(vortex(time, precision))
    rounding = {"single": 1e-5, "double": 1e-13}[precision]
    assert flow["smoke"].min() >= -rounding
    assert flow["smoke"].max() <= 1 + rounding
    first, last = (numbers["total_smoke"] for numbers in (flow.history[0], flow.history[-1]))
    assert last == pytest.approx(first, rel=rounding)
    assert np.ptp(flow["smoke"]) > 0.9  # it is still there


def test_central_differences_do_not_stay_within_bounds():
    flow = compute(vortex("rk3", scheme="central"))
    assert flow["smoke"].min() < -0.1
    first, last = (numbers["total_smoke"] for numbers in (flow.history[0], flow.history[-1]))
    assert last == pytest.approx(first, rel=1e-13)


def wave(n: int, scheme: str, time: str) -> Flow:
    """Two waves, carried obliquely and damped by diffusion: sin(x + y) cos(x) = (sin(2x + y) + sin(y)) / 2."""
    return compute(Case(
        grid={"cells": [n, n, 1], "lengths": [TAU, TAU, TAU / n]}, fluid={"viscosity": 0},
        boundaries=dict.fromkeys("xyz", "periodic"), initial={"velocity": [1.0, 0.5, 0]},
        time={"end": 0.5, "scheme": time, "cfl": 0.3},
        scalars=[{"name": "c", "diffusivity": 0.02, "scheme": scheme, "initial": "2 + sin(x + y) * cos(x)"}],
    ))  # fmt: skip


@pytest.mark.parametrize(("scheme", "order"), [("central", 2.0), ("koren", 2.5)])
def test_the_order_for_a_smooth_profile(scheme, order):
    """In the mean: at extrema the limiter makes the scheme one of first order. Central differences are of order 2."""
    errors, kappa = [], 0.02
    for n in (16, 32, 64):
        flow = wave(n, scheme, "rk3")
        (x, y, _), t = flow.points("c"), flow.tick.time
        first, second = np.sin(2 * (x - t) + y - t / 2), np.sin(y - t / 2)
        exact = 2 + (np.exp(-5 * kappa * t) * first + np.exp(-kappa * t) * second) / 2
        errors.append(abs(flow["c"] - exact).mean())
    assert orders(errors, [1, 2, 4])[-1] > order - 0.1


def still(time: dict, **scalar) -> Case:
    """A fluid at rest between two faces along z."""
    return Case(
        grid={"cells": [4, 1, 8], "lengths": [0.5, 0.1, 2.0], "origin": [-1.0, 0.0, 3.0]}, fluid={"viscosity": 0.1},
        boundaries={"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "slip"}, time=time,
        scalars=[{"name": "c", "diffusivity": 0.1, **scalar}],
    )  # fmt: skip


@pytest.mark.parametrize("scheme", ["central", "koren"])
@pytest.mark.parametrize("time", ["ab2", "rk3"])
@pytest.mark.fast("ab2-koren", "rk3-central")
def test_what_sources_and_fluxes_give_is_there(scheme, time):
    """A box that cuts cells, points in the middle and in a corner, a source everywhere, fluxes in and out."""
    flow = compute(still(
        {"steps": 20, "step": 0.01, "scheme": time}, scheme=scheme, source=0.7,
        boundaries={"z_min": {"flux": 0.3}, "z_max": {"flux": -0.1}},
        sources=[
            {"box": [[-0.93, 0.01, 3.1], [-0.6, 0.06, 4.7]], "rate": 2.0}, {"point": [-0.9, 0.05, 4.0], "rate": -0.5},
            {"point": [-1.0, 0.0, 5.0], "rate": 0.25},
        ],
    ))  # fmt: skip
    volume, area, passed = 0.5 * 0.1 * 2.0, 0.5 * 0.1, flow.tick.time
    expected = passed * (0.7 * volume + (0.3 - 0.1) * area + 2.0 - 0.5 + 0.25)
    assert flow.setup.monitor.integrals(flow.scalars)["integral_c"] == pytest.approx(expected, rel=1e-13)


def test_a_point_is_its_own_middle():
    """What a point releases has its centre there, but for a cell cut off by the edge of the domain."""
    source = {"point": [-0.71, 0.03, 4.4], "rate": 3.0}
    flow = compute(still({"steps": 3, "step": 0.1}, diffusivity=0, sources=[source]))
    x, _, z = flow.points("c")
    assert (flow["c"] * x).sum() / flow["c"].sum() == pytest.approx(-0.71)
    assert (flow["c"] * z).sum() / flow["c"].sum() == pytest.approx(4.4)


@pytest.mark.parametrize("scheme", ["central", "koren"])
def test_values_on_faces(scheme):
    """What is linear between the values stays so, to rounding."""
    faces = {"z_min": {"value": 1.0}, "z_max": {"value": 3.0}}
    scalar = {"scheme": scheme, "diffusivity": 1.0, "boundaries": faces, "initial": "z - 2"}
    flow = compute(still({"steps": 80, "step": 0.009}, **scalar))
    _, _, z = flow.points("c")
    np.testing.assert_allclose(flow["c"], np.broadcast_to(1 + (z - 3.0), flow["c"].shape), atol=1e-12)


def test_nothing_passes_faces_that_say_nothing():
    flow = compute(still({"steps": 20, "step": 0.01}, initial="z", scheme="koren"))
    assert flow.history[-1]["total_c"] == pytest.approx(flow.history[0]["total_c"], rel=1e-13)
    assert np.ptp(flow["c"]) < np.ptp(flow.points("c")[2])


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.fast("double")
def test_bounded_heat(precision):
    """A plume in a box: warm below, cold above; nowhere warmer or colder than its walls."""
    case = Case(
        grid={"cells": [16, 1, 16], "lengths": [1, 0.1, 1]}, fluid={"viscosity": 1e-3},
        heat={"diffusivity": 1e-4, "expansion": 1.0, "scheme": "koren"}, body={"gravity": [0, 0, -1]},
        boundaries={
            "y": "periodic", "x_min": "slip", "x_max": "slip", "z_min": {"type": "wall", "temperature": 1.0},
            "z_max": {"type": "wall", "temperature": 0.0},
        },
        initial={"temperature": "where(z < 0.5 + 0.2*cos(pi*x), 1, 0)"}, time={"end": 3.0},
        machine={"precision": precision},
    )  # fmt: skip
    flow = compute(case)
    rounding = {"single": 1e-4, "double": 1e-13}[precision]
    assert flow["T"].min() >= -rounding
    assert flow["T"].max() <= 1 + rounding
    assert flow.scalars["speed"] > 0.1


@pytest.mark.parametrize("leaving", ["convective", 0, "advected"])
@pytest.mark.parametrize("time", ["ab2", "rk3"])
@pytest.mark.fast("ab2-convective", "rk3-0", "ab2-advected")
def test_what_enters_and_leaves(leaving, time):
    """A front of smoke and heat in a uniform stream: as much is there as has entered, then the domain is full of it;
    a scalar that says nothing of the inflow is washed out.
    """
    outflow = "outflow" if leaving == "convective" else {"type": "outflow", "pressure": leaving}
    case = Case(
        grid={"cells": [16, 1, 4], "lengths": [1, 0.1, 0.4]}, fluid={"viscosity": 0.01},
        heat={"diffusivity": 0, "scheme": "koren"}, initial={"velocity": [1, 0, 0]},
        boundaries={
            "x_min": {"type": "inflow", "velocity": [1, 0, 0], "temperature": 1}, "x_max": outflow, "y": "periodic",
            "z_min": "slip", "z_max": "slip",
        },
        time={"end": 2.0, "scheme": time}, monitor={"every": {"steps": 1}},
        scalars=[
            {"name": "smoke", "diffusivity": 0, "boundaries": {"x_min": {"value": 1}}},
            {"name": "dye", "diffusivity": 0.001, "initial": 0.7},
        ],
    )  # fmt: skip
    flow, volume = compute(case), 1 / 64
    for numbers in flow.history:
        if numbers["time"] < 0.6:
            assert numbers["total_smoke"] * volume == pytest.approx(numbers["time"], abs=1e-3)
    np.testing.assert_array_equal(flow["T"], flow["smoke"])
    for name, low, high in (("smoke", 0.99, 1), ("T", 0.99, 1), ("dye", 0, 0.01)):
        assert low - 1e-12 <= flow[name].min() <= flow[name].max() <= high + 1e-12


def mixed(scheme: str, precision: str = "double", **changes) -> Case:
    """Everything at once: two schemes, sources across blocks, heat that stays within bounds and moves the fluid."""
    tables = {
        "grid": {"cells": (9, 6, 7), "lengths": [1.0, 0.7, 1.3]}, "fluid": {"viscosity": 0.01},
        "heat": {"diffusivity": 0.02, "expansion": 1.0, "scheme": "koren",
                 "sources": [{"point": [0.5, 0.3, 0.6], "rate": 1}]},
        "body": {"gravity": [0.1, 0.2, -1.0]},
        "boundaries": {
            "x_min": "wall", "x_max": {"type": "wall", "velocity": [0.0, 0.5, 0.2], "temperature": 1.0},
            "y": "periodic", "z_min": {"type": "wall", "heat_flux": 0.3}, "z_max": "slip",
        },
        "initial": {"velocity": ["sin(6*x) * cos(z)", "0.3 * cos(5*y)", "x * z"], "temperature": "x + sin(7*z)"},
        "time": {"steps": 3, "step": 0.03, "scheme": scheme}, "pressure": {"iterations": 7},
        "machine": {"precision": precision},
        "scalars": [
            {"name": "smoke", "diffusivity": 0.01, "initial": "cos(5*x*z)", "boundaries": {"z_max": {"value": 1.0}},
             "sources": [{"box": [[0.1, 0.1, 0.1], [0.9, 0.5, 1.2]], "rate": 2.0}]},
            {"name": "dye", "diffusivity": 0.03, "initial": "x + y", "scheme": "central", "source": 0.3,
             "boundaries": {"z_max": {"flux": 0.4}}, "sources": [{"point": [0.4, 0.2, 1.0], "rate": 1.0}]},
        ],
    }  # fmt: skip
    return Case(**{**tables, **changes})


@pytest.mark.parametrize(("scheme", "precision", "blocks", "overlap"), [
    ("ab2", "double", (1, 1, 3), "full"), ("rk3", "double", (2, 1, 2), "comm"), ("ab2", "single", (2, 3, 1), "full"),
])  # fmt: skip
def test_blocks_and_overlap_change_no_bit(scheme, precision, blocks, overlap):
    case = mixed(scheme, precision)
    one, flow = compute(case, overlap="none"), compute(case, blocks, overlap=overlap)
    for name in one.padded:
        np.testing.assert_array_equal(flow[name], one[name], err_msg=name)
    for name in ("smoke", "dye", "T"):
        assert np.isfinite(flow[name]).all()
        assert np.ptp(flow[name]) > 0.1


@pytest.mark.parametrize("cells", [(1, 8, 8), (8, 2, 8), (1, 1, 8)])
def test_few_cells_in_a_direction(cells):
    boundaries = {"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "slip"}
    case = mixed("ab2", grid={"cells": cells, "lengths": [1.0, 0.7, 1.3]}, boundaries=boundaries)
    one, two = compute(case), compute(case, (1, 1, 2))
    for name in ("u", "v", "w", "T", "smoke", "dye"):
        assert np.isfinite(one[name]).all()
        np.testing.assert_array_equal(one[name], two[name], err_msg=name)


@pytest.mark.parametrize("blocks", [(1, 1, 1), (2, 1, 2)])
def test_memory_that_holds_nothing_valid_is_not_used(blocks):
    clean, other = (compute(mixed("ab2"), blocks, garbage=value) for value in (0.0, np.nan))
    for name in ("u", "T", "smoke", "dye"):
        np.testing.assert_array_equal(clean[name], other[name], err_msg=name)


def test_a_passive_scalar_does_nothing_to_the_flow():
    one, other = compute(mixed("ab2")), compute(mixed("ab2", scalars=[]))
    for name in ("u", "v", "w", "p", "T"):
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_what_a_step_launches():
    """Central differences take one launch per quantity, bounds two; without scalars there is nothing of them."""
    launched = [launch.task.name for launch in RunSetup(mixed("ab2"), (1, 1, 1)).step_cost.launches]
    assert [name for name in launched if name in ("transport", "bounded_euler", "bounded_heun")] == [
        "transport", "bounded_euler", "bounded_heun", "bounded_euler", "bounded_heun",
    ]  # fmt: skip
    without = {"scalars": [], "heat": None, "boundaries": SLIP, "initial": {}}
    plain = {launch.task.name for launch in RunSetup(mixed("ab2", **without), (1, 1, 1)).step_cost.launches}
    assert not plain & {"transport", "bounded_euler", "bounded_heun", "release", "total"}
    assert RunSetup(mixed("ab2", scalars=[], heat={"diffusivity": 0.1}), (1, 1, 1)).model.ghost == 1


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "time"), [
    ("central", "ab2"), ("koren", "ab2"), pytest.param("koren", "rk3", marks=pytest.mark.slow),
])  # fmt: skip
def test_bodies_let_nothing_in(scheme, time):
    """Smoke that is blown around two bodies, one of them in the source: what is in the fluid has been released there;
    solid cells keep what they had, and the bits are the same on other blocks.
    """
    case = Case(
        grid={"cells": [12, 4, 10], "lengths": [1.2, 0.4, 1.0]}, fluid={"viscosity": 0.01}, body={"force": [1, 0.2, 0]},
        boundaries={"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "slip"},
        obstacles=[
            {"type": "box", "low": [0.2, 0.1, 0.0], "high": [0.5, 0.3, 0.4]},
            {"type": "box", "low": [0.8, 0.0, 0.5], "high": [0.9, 0.4, 0.7]},
        ],
        heat={"diffusivity": 0.005, "scheme": scheme}, initial={"temperature": 0.5},
        time={"steps": 20, "step": 0.02, "scheme": time}, pressure={"solver": "multigrid", "tolerance": 1e-12},
        scalars=[{"name": "smoke", "diffusivity": 0.005, "scheme": scheme,
                  "sources": [{"box": [[0.4, 0.1, 0.1], [0.6, 0.3, 0.2]], "rate": 3.0}]}],
    )  # fmt: skip
    one, two = compute(case), compute(case, (1, 1, 2))
    solid = np.zeros((10, 4, 12), bool)
    solid[0:4, 1:3, 2:5] = solid[5:7, :, 8] = True
    assert not one["smoke"][solid].any()
    assert one["smoke"].sum() * 1e-3 == pytest.approx(20 * 0.02 * 3.0 / 2, rel=1e-12)
    np.testing.assert_allclose(one["T"], 0.5, rtol=1e-9)
    if scheme == "koren":
        assert one["smoke"].min() > -1e-12
    for name in ("smoke", "T", "u"):
        np.testing.assert_allclose(two[name], one[name], atol=1e-9, err_msg=name)
