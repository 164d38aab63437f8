"""Openings in the faces of bodies: balances, the flow of a domain that begins there, blocks, refusals."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import taskflow as tf
from taskflow.cases import Case
from taskflow.common.errors import BadInput
from taskflow.flow.bodies import flags
from taskflow.runs.state.setup import RunSetup
from tests import flows
from tests.flows import Flow
from tests.systems.test_openings import CARRIED, OUT, ROOM, passed, room

HEATER = {"name": "heater", "type": "box", "low": [0, 0, 0], "high": [0.3, 1, 1]}
STAND = {"name": "stand", "type": "box", "low": [0.5, 0.4, 0], "high": [0.8, 0.7, 1]}
PROFILE = ["4*y*(1 - y)", 0, 0]
WARM = {"temperature": 1.0, "scalars": {"smoke": 1.0, "dust": 0.5}}
GRILLE = {"name": "grille", "obstacle": "heater", "side": "x_max", "type": "inflow", "velocity": PROFILE}
SLOT = {"name": "slot", "obstacle": "stand", "side": "y_max", "box": [[0.6, 0.7, 0], [0.8, 0.7, 1]], "type": "inflow",
        "velocity": [0, "0.5 + t", 0]}  # fmt: skip
BACK = {**SLOT, "name": "back", "side": "x_min", "box": None, "velocity": [-0.2, 0, 0]}
HEAT = {"heat": {"diffusivity": 0.2, "scheme": "koren"}, "scalars": CARRIED}


def compute(case: Case, *blocks: tuple[int, int, int]) -> Flow:
    """Return the flow of a case that `check` accepts."""
    RunSetup(case, (1, 1, 1)).system.check()
    return flows.compute(case, *blocks)


def test_what_enters_from_bodies_leaves():
    flow = compute(room(SLOT, {**BACK, "temperature": 2.0}, OUT, obstacles=[STAND], **HEAT))
    through = {name: opening["volume_flux"] for name, opening in passed(flow).items()}
    assert through["slot"] == pytest.approx(-0.2 * (0.5 + flow.tick.time), rel=1e-12)
    assert through["back"] == pytest.approx(-0.2 * 0.3, rel=1e-12)
    assert abs(sum(through.values())) < 1e-12
    assert flow.scalars["divergence"] < 1e-10
    assert 0.9 < flow["T"][0, 5, 4] < flow["T"][0, 5, 5] == 2.0, "warm air leaves at the back"


def differences(n: int) -> dict[str, float]:
    """The mean differences of a flow out of a body that fills one end of a room, and out of a side there."""
    time = {"step": 0.01 / n**2, "steps": 20 * n**2}
    cells = {"cells": [12 * n, 10 * n, 1], "lengths": [1.2, 1.0, 1.0]}
    body = compute(room({**GRILLE, **WARM}, OUT, obstacles=[HEATER], grid=cells, time=time, **HEAT))
    cells = {"cells": [9 * n, 10 * n, 1], "lengths": [0.9, 1.0, 1.0], "origin": [0.3, 0, 0]}
    whole = {"name": "inlet", "side": "x_min", "where": "1", "type": "inflow", "velocity": PROFILE, **WARM}
    side = compute(room(whole, OUT, grid=cells, time=time, **HEAT))
    return {name: float(abs(body[name][..., 3 * n :] - side[name]).mean()) for name in ("u", "v", "T", "smoke")}


def test_a_room_that_begins_at_a_body_has_the_flow_of_its_side_with_first_order():
    """The normal velocity is on the face, other values half a cell behind it."""
    coarse, fine = differences(1), differences(2)
    print(coarse, fine)
    for name, error in fine.items():
        assert error < 0.65 * coarse[name] < 0.05, name


def test_a_uniform_temperature_stays_uniform_on_cells_of_all_widths():
    stretched = {"grid.stretching": {"x": {"tanh": 1.5}, "y": {"tanh": 1.0}}}
    warm = {"heat": {"diffusivity": 0.05, "scheme": "central", "reference": 2.0}}
    flow = compute(room(SLOT, BACK, OUT, obstacles=[STAND], **warm).replace(**stretched))
    np.testing.assert_allclose(flow["T"], 2.0, rtol=1e-10)
    through = passed(flow)
    assert all(opening["mean_T"] == pytest.approx(2.0, rel=1e-10) for opening in through.values())
    assert abs(sum(opening["volume_flux"] for opening in through.values())) < 1e-12


def test_plug_flow_from_a_body_is_exact():
    slip = {**ROOM["boundaries"], "y_min": "slip", "y_max": "slip", "x_max": "outflow"}
    plug = {**GRILLE, "velocity": [1.0, 0, 0]}
    flow = compute(room(plug, boundaries=slip, obstacles=[HEATER]))
    np.testing.assert_allclose(flow["u"][..., 3:], 1.0, rtol=1e-12)
    assert (flow["u"][..., :3] == 0).all()
    assert flow.setup.model.obstacles.measured(flow.scalars) == {}, "the body has no force in the log"


@pytest.mark.parametrize("blocks", [(4, 1, 1), (2, 2, 1)])
def test_bits_do_not_depend_on_blocks(blocks):
    """Also where blocks end at the face of the body: it is face 3 of 12."""
    more = {"turbulence": {"model": "smagorinsky"}, "pressure": {"solver": "jacobi", "iterations": 7}}
    case = room({**GRILLE, **WARM}, SLOT, BACK, OUT, obstacles=[HEATER, STAND], **HEAT, **more)
    one, many = compute(case), compute(case, blocks)
    for name in ("u", "v", "p", "T", "smoke", "dust", "nu_t"):
        assert np.array_equal(one[name], many[name]), name
    assert abs(one["v"]).max() > 0.4


def test_fluxes_balance():
    """With Adams-Bashforth's method: integral_new - integral = -dt (3 F - F_old) / 2, F being the sum of all fluxes."""
    flow = compute(room({**SLOT, "scalars": {"smoke": 1.0}}, BACK, OUT, obstacles=[STAND], scalars=CARRIED[:1]))
    monitor = flow.setup.measures.monitor
    states = [(monitor.integrals(s)["integral_smoke"], passed(flow, s)) for s in flow.history]
    net = [sum(opening["flux_smoke"] for opening in through.values()) for _, through in states]
    for n in range(2, 6):
        change = states[n + 1][0] - states[n][0]
        assert change == pytest.approx(-0.01 * (1.5 * net[n] - 0.5 * net[n - 1]), abs=1e-12)
        assert change > 1e-4


def test_inflows_may_meet_at_an_edge_of_a_body():
    corner = {**SLOT, "box": None}
    flow = compute(room(corner, {**BACK, "side": "x_max", "velocity": [0.2, 0, 0]}, OUT, obstacles=[STAND]))
    assert abs(sum(opening["volume_flux"] for opening in passed(flow).values())) < 1e-12
    assert flow.scalars["divergence"] < 1e-10


def test_the_flags_of_a_body_are_not_those_of_its_opening():
    """Of cells (x, y): the body fills x < 1, and cells with y = 1 and 2 of its face are open."""
    solid = np.zeros((3, 6, 4), bool)  # with a layer around two by four cells
    solid[:, :, :2] = True
    passes = np.zeros(solid.shape, bool)
    passes[:, 2:4, 2] = True
    masks = {"faces": flags.face_bits(solid), "T_faces": flags.heat_bits(solid, np.zeros_like(solid)),
             "edges": flags.edge_bits(solid)}  # fmt: skip
    before = {name: values.copy() for name, values in masks.items()}
    flags.opened(masks, passes, 0, -1)
    column = (0, slice(None), 1)  # the cells next to the body
    assert masks["T_faces"][column].tolist() == [1, 0, 0, 1]
    west_of_v, west_of_w = 1 << 4, 1 << 8  # the lower neighbour along x of faces across y and z
    for name in ("faces", "edges"):
        assert (before[name][column] & west_of_v > 0).tolist() == [True] * 4
        assert (masks[name][column] & west_of_v > 0).tolist() == [True, True, False, True], "edges are walls"
        assert (masks[name][column] & west_of_w > 0).tolist() == [True, False, False, True]
        masks[name][column] |= before[name][column] & (west_of_v | west_of_w)
        assert np.array_equal(masks[name], before[name]), "no other flag changes"


@pytest.mark.slow
def test_a_run_goes_on_to_the_bit(tmp_path):
    case = room(
        {**GRILLE, **WARM}, SLOT, OUT, obstacles=[HEATER, STAND], **HEAT, checkpoint={"every": {"steps": 3}},
        output={"precision": "double"},
    )  # fmt: skip
    tf.run(case, output=tmp_path / "whole")
    tf.run(case.replace(**{"time.steps": 3}), output=tmp_path / "half")
    tf.run(case, output=tmp_path / "half", resume=True)
    one, two = (xr.open_zarr(tmp_path / name / "fields.zarr").isel(time=-1) for name in ("whole", "half"))
    for name in ("u", "v", "p", "T", "smoke", "dust"):
        np.testing.assert_array_equal(one[name], two[name])
    assert float(abs(one.u).max()) > 0


@pytest.mark.parametrize(("change", "line"), [
    ({"obstacle": "oven"}, 'openings[1].obstacle = "oven": no obstacle has this name; give one of stand'),
    ({"type": "slip", "velocity": None},
     'openings[1].type = "slip": in the face of a body it is missing, in this version; give "wall", "inflow", "outf'),
    ({"velocity": [0.1, 0.5, 0]}, "fluid passes this face along y; give 0 as its other components"),
    ({"box": [[0.9, 0.7, 0], [1.0, 0.7, 1]]}, "it has the centre of no face of y_max of stand; enlarge it, or refine"),
    ({"scalars": {"smoke": "t"}}, "in the face of a body it is a number, in this version"),
    ({"temperature": 1}, "openings[1].temperature = 1.0: this case has no temperature"),
    ({"obstacle": None, "box": None}, "openings[1].box: missing"),
])  # fmt: skip
def test_what_is_wrong_is_named(change, line):
    with pytest.raises(BadInput) as error:
        room({**SLOT, **change}, OUT, obstacles=[STAND], scalars=CARRIED[:1])
    assert line in str(error.value)


@pytest.mark.parametrize(("tables", "line"), [
    ({"obstacles": [{**STAND, "type": "sphere", "centre": [0.6, 0.5, 0.5], "radius": 0.2, "low": None, "high": None}]},
     "openings are in single boxes, in this version"),
    ({"obstacles": [STAND, STAND]}, "openings are in single boxes, in this version"),
    ({"obstacles": [{**STAND, "high": [0.8, 1.0, 1]}]}, "there stand ends at the side of the domain; omit obstacle"),
    ({"bodies": {"treatment": "immersed"}}, 'together with bodies.treatment = "immersed"; give "flagged"'),
    ({"pressure": {"solver": "fft"}}, 'it ignores faces of bodies; give "multigrid"'),
    ({"openings": [SLOT, {**SLOT, "name": "twin"}, OUT]}, "openings[2].box = "),
    ({"grid": {"cells": [10**5, 10, 10**5], "lengths": [1.2, 1, 1]}}, "a side with openings at most 1e+08"),
])  # fmt: skip
def test_what_does_not_go_together(tables, line):
    with pytest.raises(BadInput) as error:
        Case(**{**room(SLOT, OUT, obstacles=[STAND]).written(), **tables})
    assert line in str(error.value)


def test_what_enters_has_to_have_room_and_a_way_out():
    lid = {"type": "box", "low": [0.5, 0.7, 0], "high": [0.8, 0.9, 1]}
    cases = room(SLOT, OUT, obstacles=[STAND, lid]), room(SLOT, obstacles=[STAND])
    covered, closed = (RunSetup(case, (1, 1, 1)) for case in cases)
    with pytest.raises(BadInput, match=r"openings\[1\]: a body is next to y_max of stand"):
        covered.system.check()
    with pytest.raises(BadInput, match=r"slot in y_max of stand lets 0.1 in.* no side lets it out"):
        closed.system.check()
