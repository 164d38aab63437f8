"""Outflows into the faces of bodies: balances, plug flow, Poiseuille flow, blocks, refusals."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import taskflow as tf
from taskflow.common.errors import BadInput
from taskflow.flow.bodies.flags import ITSELF
from taskflow.runs.state.setup import RunSetup
from tests.flows import flags, norms, orders
from tests.systems.test_body_openings import BACK, HEAT, SLOT, STAND, compute
from tests.systems.test_openings import CARRIED, LOW, OUT, ROOM, passed, room

WALL = {"name": "end", "type": "box", "low": [0.9, 0, 0], "high": [1.2, 1, 1]}
DRAIN = {"name": "drain", "obstacle": "stand", "side": "y_max", "type": "outflow"}
END = {"name": "duct", "obstacle": "end", "side": "x_min", "type": "outflow"}
FAN = {**DRAIN, "name": "fan", "side": "x_max", "velocity": ["-0.3 - t", 0, 0]}
SLIP = {**ROOM["boundaries"], "y_min": "slip", "y_max": "slip"}


@pytest.mark.parametrize("side", ["x_min", "x_max", "y_min", "y_max"])
def test_what_enters_leaves_through_a_body(side):
    inlet = {**LOW, "velocity": ["1 + sin(9*t)", 0, 0], "temperature": 1.0, "scalars": {"smoke": 1.0}}
    flow = compute(room(inlet, {**DRAIN, "side": side}, obstacles=[STAND], **HEAT))
    through = {name: opening["volume_flux"] for name, opening in passed(flow).items()}
    assert through["drain"] == pytest.approx(0.3 * (1 + np.sin(9 * flow.tick.time)), rel=1e-12)
    assert abs(sum(through.values())) < 1e-12
    assert flow.scalars["divergence"] < 1e-10


def test_a_fan_draws_what_is_given_and_an_outflow_takes_the_rest():
    flow = compute(room({**LOW, "temperature": 1.0}, FAN, OUT, obstacles=[STAND], **HEAT))
    through = {name: opening["volume_flux"] for name, opening in passed(flow).items()}
    assert through["fan"] == pytest.approx(0.3 * (0.3 + flow.tick.time), rel=1e-12)
    assert "fan in x_max of stand: fluid leaves at 0.3 on average" in "".join(flow.setup.inflows.described())
    assert abs(sum(through.values())) < 1e-12
    assert flow.scalars["divergence"] < 1e-10


def test_a_fan_and_convection_take_all():
    """Two faces of one body: the fan sets its share, convection the rest."""
    flow = compute(room(LOW, FAN, {**DRAIN, "side": "x_min"}, obstacles=[{**STAND, "low": [0.3, 0.4, 0]}]))
    through = {name: opening["volume_flux"] for name, opening in passed(flow).items()}
    assert through["drain"] == pytest.approx(0.3 - 0.3 * (0.3 + flow.tick.time), rel=1e-12)
    assert abs(sum(through.values())) < 1e-12


def test_plug_flow_drawn_into_a_body_is_exact():
    slip = {**SLIP, "x_min": {"type": "inflow", "velocity": ["1 + t", 0, 0]}}
    flow = compute(room({**END, "velocity": ["1 + t", 0, 0]}, boundaries=slip, obstacles=[WALL]))
    np.testing.assert_allclose(flow["u"][..., :10], 1 + flow.tick.time, rtol=1e-12)


def test_plug_flow_into_a_body_is_exact():
    """And what it carries is that of a domain that ends there."""
    inlet = {"type": "inflow", "velocity": [1.0, 0, 0], "temperature": "sin(9*t)"}
    tables = {"heat": {"diffusivity": 0.02}, "time": {"step": 0.02, "steps": 30}}
    body = compute(room(END, boundaries={**SLIP, "x_min": inlet}, obstacles=[WALL], **tables))
    np.testing.assert_allclose(body["u"][..., :10], 1.0, rtol=1e-12)
    assert (body["u"][..., 10:] == 0).all()
    grid = {"cells": [9, 10, 1], "lengths": [0.9, 1.0, 1.0]}
    side = compute(room(boundaries={**SLIP, "x_min": inlet, "x_max": "outflow"}, grid=grid, **tables))
    np.testing.assert_allclose(body["T"][..., :9], side["T"], atol=1e-12)
    assert np.ptp(side["T"]) > 0.5
    monitor = passed(body)["duct"]
    assert monitor["flux_T"] == pytest.approx(monitor["mean_T"], abs=0.02), "u is 1, and little heat is conducted"


def poiseuille(n: int) -> float:
    """The root of the mean square error of u in a channel that ends at a body, with n cells across."""
    developed = ["4*y*(1 - y)", 0, 0]
    case = room(
        END, boundaries={**ROOM["boundaries"], "x_min": {"type": "inflow", "velocity": developed}}, obstacles=[WALL],
        grid={"cells": [12 * n // 10, n, 1], "lengths": [1.2, 1.0, 1.0]}, initial={"velocity": developed},
        time={"step": 2 / n**2, "steps": n**2 // 5}, pressure={"tolerance": 1e-8},
    )  # fmt: skip
    u = compute(case)["u"][0, :, : 9 * n // 10 + 1]
    y = (np.arange(n) + 0.5) / n
    return norms(u - (4 * y * (1 - y))[:, None])[0]


def test_poiseuille_flow_into_a_body_is_of_second_order():
    errors = [poiseuille(n) for n in (20, 40)]
    assert orders(errors, (20, 40))[0] > 1.9
    assert errors[-1] < 2.5e-4


def test_a_uniform_temperature_stays_uniform_on_cells_of_all_widths():
    stretched = {"grid.stretching": {"x": {"tanh": 1.5}, "y": {"tanh": 1.0}}}
    smoky = [{**scalar, "initial": "1"} for scalar in CARRIED]
    tables = {"heat": {"diffusivity": 0.05, "scheme": "central", "reference": 2.0}, "scalars": smoky}
    low = {**LOW, "scalars": {"smoke": 1.0, "dust": 1.0}}
    flow = compute(room(low, DRAIN, {**FAN, "side": "y_min", "velocity": [0, 0.2, 0]},
                        obstacles=[{**STAND, "low": [0.5, 0.2, 0]}], **tables).replace(**stretched))  # fmt: skip
    fluid = flags(flow.setup)["solid"] & ITSELF == 0
    for name, value in (("T", 2.0), ("smoke", 1.0), ("dust", 1.0)):
        np.testing.assert_allclose(flow[name][fluid], value, rtol=1e-10)
    assert abs(sum(opening["volume_flux"] for opening in passed(flow).values())) < 1e-12


def test_fluxes_balance():
    """With Adams-Bashforth's method: change = -dt (3 F - F_old) / 2, F being the sum of all fluxes out of the fluid."""
    smoke = [{**CARRIED[0], "initial": "x"}]
    case = room({**LOW, "scalars": {"smoke": 1.0}}, DRAIN, obstacles=[STAND], scalars=smoke)
    amounts, net = [], []
    for steps in (4, 5):
        flow = compute(case.replace(**{"time.steps": steps}))
        fluid = flags(flow.setup)["solid"] & ITSELF == 0
        amounts.append(float(flow["smoke"][fluid].sum()) * flow.setup.grid.volume)
        net += [sum(one["flux_smoke"] for one in passed(flow, s).values()) for s in flow.history[-2:]]
    change = amounts[1] - amounts[0]
    assert change == pytest.approx(-0.01 * (1.5 * net[2] - 0.5 * net[0]), abs=1e-12)
    assert abs(change) > 1e-4


@pytest.mark.parametrize("blocks", [(4, 1, 1), (2, 2, 1)])
def test_bits_do_not_depend_on_blocks(blocks):
    more = {"turbulence": {"model": "smagorinsky"}, "pressure": {"solver": "jacobi", "iterations": 7}}
    fan = {**FAN, "side": "y_min", "velocity": [0, "x + t", 0]}
    low = {**LOW, "temperature": "y"}
    bodies = [{**STAND, "low": [0.5, 0.3, 0]}, {**WALL, "low": [0.2, 0.8, 0], "high": [0.4, 0.9, 1]}]
    drain = {**DRAIN, "side": "x_max", "obstacle": "end"}
    case = room({**SLOT, "temperature": 1.0}, low, fan, drain, obstacles=bodies, **HEAT, **more)
    one, many = compute(case), compute(case, blocks)
    for name in ("u", "v", "p", "T", "smoke", "dust", "nu_t"):
        assert np.array_equal(one[name], many[name]), name
    assert abs(one["v"]).max() > 0.4


@pytest.mark.slow
def test_a_run_goes_on_to_the_bit(tmp_path):
    kept = {"checkpoint": {"every": {"steps": 3}}, "output": {"precision": "double"}}
    case = room(LOW, FAN, {**DRAIN, "side": "x_min"}, obstacles=[{**STAND, "low": [0.3, 0.4, 0]}], **HEAT, **kept)
    tf.run(case, output=tmp_path / "whole")
    tf.run(case.replace(**{"time.steps": 3}), output=tmp_path / "half")
    tf.run(case, output=tmp_path / "half", resume=True)
    one, two = (xr.open_zarr(tmp_path / name / "fields.zarr").isel(time=-1) for name in ("whole", "half"))
    for name in ("u", "v", "p", "T", "smoke", "dust"):
        np.testing.assert_array_equal(one[name], two[name])
    assert float(abs(one.u).max()) > 0


@pytest.mark.parametrize(("openings", "line"), [
    (({**DRAIN, "temperature": 1.0}, LOW), "an outflow opening has none"),
    ((DRAIN,), "nothing enters that could leave; give an inflow"),
    (({**FAN, "velocity": [0.3, 0, 0]}, LOW), "an outflow leads into the body; give the x component the other sign"),
    (({**FAN, "velocity": [-0.3, 0.1, 0]}, LOW), "fluid passes this face along x; give 0 as its other components"),
    (({**FAN, "temperature": 1.0}, LOW), "an outflow opening has none"),
    (({**FAN, "pressure": 0}, LOW), "it is of a side of the domain; in the face of a body give velocity"),
    (({**OUT, "pressure": None, "velocity": [1, 0, 0]}, LOW), "an outflow opening has none; omit it, or give type ="),
    ((DRAIN, {**DRAIN, "name": "twin", "side": "y_min"}, LOW), "their pressures set the flow through each"),
    ((DRAIN, OUT, LOW), "their pressures set the flow through each"),
])  # fmt: skip
def test_what_is_wrong_is_named(openings, line):
    with pytest.raises(BadInput) as error:
        room(*openings, obstacles=[STAND], **HEAT)
    assert line in str(error.value)


def test_what_is_drawn_has_to_enter():
    setup = RunSetup(room(FAN, LOW, obstacles=[STAND]), (1, 1, 1))
    with pytest.raises(BadInput, match=r"fan in x_max of stand lets -0.09 in, low in x_min lets 0.3 in: 0.21 .* more"):
        setup.system.check()


def test_fluid_leaves_through_insulated_bodies():
    with pytest.raises(BadInput, match=r"openings\[1\].obstacle = .* fluid leaves only through insulated bodies"):
        room(DRAIN, LOW, obstacles=[{**STAND, "temperature": 1.0}], heat={"diffusivity": 0.1})


def test_openings_do_not_share_cells_of_a_body():
    setup = RunSetup(room(DRAIN, BACK, obstacles=[STAND]), (1, 1, 1))
    with pytest.raises(BadInput, match=r"openings\[1\]: its values and those of back are in the same cells of stand"):
        setup.system.check()
