"""Pressures on faces of bodies: outflows and vents there, against sides, exact solutions, balances, blocks."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import taskflow as tf
from taskflow.cases import Case
from taskflow.common.errors import BadInput
from taskflow.systems.base.pressure import choice
from tests.flows import norms, orders
from tests.systems.test_body_openings import HEAT, STAND, compute
from tests.systems.test_body_outflows import DRAIN, END, SLIP, WALL
from tests.systems.test_openings import LOW, OUT, ROOM, TUBE, passed, room

START = {"name": "start", "type": "box", "low": [0, 0, 0], "high": [0.3, 1, 1]}
FREE = {**DRAIN, "name": "free", "side": "x_max", "pressure": 0.0}
GRILLE = {"name": "grille", "obstacle": "stand", "side": "y_max", "box": [[0.5, 0.7, 0], [0.6, 0.7, 1]],
          "type": "vent", "loss": 2.0}  # fmt: skip
CG = {"solver": "cg", "tolerance": 1e-12, "max_iterations": 400}


def test_a_room_that_ends_at_a_body_has_the_flow_of_its_side():
    inlet = {"type": "inflow", "velocity": ["4*y*(1 - y)", 0, 0], "temperature": "sin(9*t)"}
    tables = {"heat": {"diffusivity": 0.02, "scheme": "central"}, "pressure": CG, "time": {"step": 0.01, "steps": 20}}
    walls = {**ROOM["boundaries"], "x_min": inlet}
    body = compute(room({**END, "pressure": "0.3 + t"}, boundaries=walls, obstacles=[WALL], **tables))
    sides = {**walls, "x_max": {"type": "outflow", "pressure": "0.3 + t"}}
    grid = {"cells": [9, 10, 1], "lengths": [0.9, 1.0, 1.0]}
    side = compute(room(boundaries=sides, grid=grid, **tables))
    for name in ("u", "v", "p", "T"):
        own = np.s_[..., : side[name].shape[-1]]
        np.testing.assert_allclose(body[name][own], side[name], atol=1e-11, err_msg=name)
    assert side["p"].mean() > 0.4
    assert np.ptp(side["T"]) > 0.1


def poiseuille(n: int) -> float:
    """The root of the mean square error of u between the faces of two bodies, with n cells across."""
    high = {"name": "high", "obstacle": "start", "side": "x_max", "type": "outflow", "pressure": 4.8}  # 8 L
    case = room(
        high, {**END, "pressure": 0.0}, obstacles=[START, WALL], fluid={"viscosity": 1.0},
        grid={"cells": [12 * n // 10, n, 1], "lengths": [1.2, 1.0, 1.0]}, time={"step": 0.1 / n**2, "steps": 5 * n**2},
        monitor={"every": {"steps": 100}}, pressure={"tolerance": 1e-8}, initial={"velocity": ["4*y*(1 - y)", 0, 0]},
    )  # fmt: skip
    u = compute(case)["u"][0, :, 3 * n // 10 : 9 * n // 10]
    y = (np.arange(n) + 0.5) / n
    return norms(u - (4 * y * (1 - y))[:, None])[0]


def test_poiseuille_flow_between_pressures_on_bodies_is_of_second_order():
    errors = [poiseuille(n) for n in (10, 20)]
    assert orders(errors, (10, 20))[0] > 1.9
    assert errors[-1] < 3e-3


@pytest.mark.parametrize("loss", [0.0, 8.0])
def test_a_vent_lets_in_what_bernoulli_and_the_loss_say(loss):
    """Between two bodies: (1 + loss) u^2 / 2 = P, and what enters has the temperature outside."""
    bodies = [{"name": name, "type": "box", "low": [low, 0, 0], "high": [low + 0.25, 1, 1]}
              for name, low in (("left", 0.0), ("right", 1.25))]  # fmt: skip
    openings = [
        {"name": "in", "obstacle": "left", "side": "x_max", "type": "vent", "loss": loss, "temperature": 5.0},
        {"name": "out", "obstacle": "right", "side": "x_min", "type": "outflow", "pressure": -0.5},
    ]
    tables = {"grid": {"cells": [12, 1, 1], "lengths": [1.5, 1.0, 1.0]}, "obstacles": bodies, "openings": openings,
              "boundaries": {**TUBE["boundaries"], "x_min": "wall", "x_max": "wall"}}  # fmt: skip
    flow = compute(Case(**{**TUBE, **tables, "heat": {"diffusivity": 0.0, "scheme": "koren"}}))
    np.testing.assert_allclose(flow["u"][..., 2:11], (1 / (1 + loss)) ** 0.5, rtol=1e-4)
    np.testing.assert_allclose(flow["T"][..., 2:10], 5.0, rtol=1e-4)


def test_a_vent_holds_back_what_leaves():
    """The pressure inside is loss u^2 / 2, and outer values stay outside."""
    body = {"name": "end", "type": "box", "low": [1.0, 0, 0], "high": [1.25, 1, 1]}
    vent = {"name": "out", "obstacle": "end", "side": "x_min", "type": "vent", "loss": 3.0, "temperature": 5.0}
    sides = {**TUBE["boundaries"], "x_min": {"type": "inflow", "velocity": [2.0, 0, 0]}, "x_max": "wall"}
    tables = {"grid": {"cells": [10, 1, 1], "lengths": [1.25, 1.0, 1.0]}, "obstacles": [body], "openings": [vent]}
    flow = compute(Case(**{**TUBE, **tables, "heat": {"diffusivity": 0.0}, "time": {"end": 2.0}, "boundaries": sides}))
    np.testing.assert_allclose(flow["p"][..., :8], 6.0, rtol=1e-6)
    np.testing.assert_allclose(flow["T"][..., :8], 0.0, atol=1e-12)


@pytest.mark.parametrize("solver", ["multigrid", "cg"])
def test_several_pressures_conserve_volume(solver):
    pressure = {**CG, "solver": solver}
    case = room(LOW, FREE, GRILLE, OUT, obstacles=[STAND], pressure=pressure, **HEAT)
    assert choice(room(LOW, FREE, obstacles=[STAND])).solver == "multigrid"
    flow = compute(case)
    through = {name: opening["volume_flux"] for name, opening in passed(flow).items()}
    assert abs(sum(through.values())) < 1e-12
    assert min(abs(part) for part in through.values()) > 1e-3
    assert flow.scalars["divergence"] < 1e-10
    assert flow.scalars["residual"] <= 1e-24 * flow.scalars["norm"]


def test_a_uniform_temperature_stays_uniform_on_cells_of_all_widths():
    stretched = {"grid.stretching": {"x": {"tanh": 1.5}, "y": {"tanh": 1.0}}}
    tables = {"heat": {"diffusivity": 0.05, "scheme": "koren", "reference": 2.0}, "pressure": CG}
    pull, slow, wide = {**FREE, "pressure": -5.0}, {**LOW, "velocity": [0.1, 0, 0]}, {**STAND, "low": [0.3, 0.4, 0]}
    grille = {**GRILLE, "box": [[0.3, 0.7, 0], [0.45, 0.7, 1]], "temperature": 2.0}
    flow = compute(room(pull, grille, slow, obstacles=[wide], **tables).replace(**stretched))
    np.testing.assert_allclose(flow["T"], 2.0, rtol=1e-10)
    through = passed(flow)
    assert abs(sum(opening["volume_flux"] for opening in through.values())) < 1e-12
    assert through["grille"]["volume_flux"] < 0 < through["free"]["volume_flux"]


@pytest.mark.parametrize("blocks", [(4, 1, 1), (2, 2, 1)])
def test_bits_do_not_depend_on_blocks(blocks):
    more = {"turbulence": {"model": "smagorinsky"}, "pressure": {"solver": "jacobi", "iterations": 7}}
    pull = {**FREE, "pressure": "-1 - t"}
    case = room({**LOW, "temperature": "y"}, pull, {**GRILLE, "temperature": 3.0, "scalars": {"smoke": 1.0}},
                {**END, "pressure": 0.1}, **HEAT, **more, obstacles=[STAND, {**WALL, "low": [1.1, 0, 0]}])  # fmt: skip
    one, many = compute(case), compute(case, blocks)
    for name in ("u", "v", "p", "T", "smoke", "dust", "nu_t"):
        assert np.array_equal(one[name], many[name]), name
    assert abs(one["v"]).max() > 0.1


@pytest.mark.slow
def test_a_run_goes_on_to_the_bit(tmp_path):
    kept = {"checkpoint": {"every": {"steps": 3}}, "output": {"precision": "double"}}
    case = room(LOW, {**FREE, "pressure": "-1 - t"}, GRILLE, obstacles=[STAND], **HEAT, **kept)
    tf.run(case, output=tmp_path / "whole")
    tf.run(case.replace(**{"time.steps": 3}), output=tmp_path / "half")
    tf.run(case, output=tmp_path / "half", resume=True)
    one, two = (xr.open_zarr(tmp_path / name / "fields.zarr").isel(time=-1) for name in ("whole", "half"))
    for name in ("u", "v", "p", "T", "smoke", "dust"):
        np.testing.assert_array_equal(one[name], two[name])
    assert float(abs(one.u).max()) > 0


def test_a_body_feels_the_pressures_of_sides():
    """A plug at rest between two pressures: the force is their difference, on an area of 1."""
    plug = {"name": "plug", "type": "box", "low": [0.5, 0, 0], "high": [0.75, 1, 1]}
    ends = {end: {"type": "outflow", "pressure": p} for end, p in (("x_min", 0.7), ("x_max", "0.2"))}
    case = Case(**{**TUBE, "boundaries": {**TUBE["boundaries"], **ends}, "obstacles": [plug],
                   "pressure": CG, "time": {"step": 0.01, "steps": 4}})  # fmt: skip
    flow = compute(case)
    assert abs(flow["u"]).max() < 1e-12
    force = flow.setup.model.obstacles.measured(flow.scalars)["plug"]["force"]
    np.testing.assert_allclose(force, [0.5, 0, 0], atol=1e-9)


def test_a_pressure_at_the_only_outlet_moves_nothing():
    """Around a body, all velocities are those of a pressure of 0."""
    tables = {"boundaries": SLIP, "obstacles": [STAND], "pressure": CG}
    one, other = (compute(room(LOW, {**OUT, "pressure": p}, **tables)) for p in (0, 0.7))
    np.testing.assert_allclose(other["u"], one["u"], atol=1e-10)
    fluid = one["p"] != 0
    np.testing.assert_allclose((other["p"] - one["p"])[fluid], 0.7, atol=1e-8)


@pytest.mark.parametrize(("openings", "tables", "line"), [
    ((LOW, {**FREE, "pressure": "advected"}), {}, 'pressure = "advected": in the face of a body it is missing'),
    ((LOW, {**GRILLE, "temperature": "t"}), {"heat": {"diffusivity": 0.1}}, "in the face of a body it is a number"),
    ((LOW, {**GRILLE, "velocity": [0, 1, 0]}), {}, "a vent opening has none"),
    ((LOW, DRAIN, FREE), {}, "their pressures set the flow through each"),
    ((LOW, {**FREE, "pressure": 1.0}), {"bodies": {"treatment": "immersed"}}, 'give "flagged"'),
    ((LOW, {**OUT, "pressure": 1.0}), {"bodies": {"treatment": "immersed"}}, "give 0"),
])  # fmt: skip
def test_what_is_wrong_is_named(openings, tables, line):
    with pytest.raises(BadInput) as error:
        room(*openings, obstacles=[STAND], **tables)
    assert line in str(error.value)


def test_vents_are_in_insulated_bodies():
    with pytest.raises(BadInput, match=r"openings\[1\].obstacle = .* fluid leaves only through insulated bodies"):
        room(GRILLE, LOW, obstacles=[{**STAND, "temperature": 1.0}], heat={"diffusivity": 0.1})
