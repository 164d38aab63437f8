"""Moving and heated parts of bodies' faces: exact flows, the flow of a domain that begins there, balances, refusals."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import taskflow as tf
from taskflow.cases import Case
from taskflow.common.errors import BadInput
from taskflow.runs.state.setup import RunSetup
from tests.flows import Flow, orders
from tests.systems.test_body_openings import compute
from tests.systems.test_openings import CARRIED, DOUBLE, OUT, passed, room

FLOOR = {"name": "floor", "type": "box", "low": [0, 0, 0], "high": [1.2, 0.5, 1]}
STAND = {"name": "stand", "type": "box", "low": [0.5, 0.4, 0], "high": [0.8, 0.7, 1]}
BELT = {"name": "belt", "obstacle": "floor", "side": "y_max", "type": "wall"}
PANEL = {"name": "panel", "obstacle": "stand", "side": "y_max", "type": "wall", "temperature": 1.0}
HEAT = {"heat": {"diffusivity": 0.2, "scheme": "koren"}, "scalars": CARRIED}
SLIDING = {"velocity": ["1 + t", 0, "0.5*cos(9*t)"]}


def channel(*openings: dict, cells: int = 10, **tables) -> Case:
    """Fluid over a body that fills y < 1/2, below a wall at y = 3/2, periodic along x and z."""
    return Case(**{
        "grid": {"cells": [4, 3 * cells // 2, 1], "lengths": [1.2, 1.5, 1.0]},
        "fluid": {"viscosity": 0.05},
        "boundaries": {"x": "periodic", "y_min": "wall", "y_max": "wall", "z": "periodic"},
        "obstacles": [FLOOR],
        "openings": list(openings),
        "time": {"step": 0.01, "steps": 8},
        "pressure": {"tolerance": 1e-12},
        **DOUBLE,
        **tables,
    })  # fmt: skip


def height(flow: Flow) -> np.ndarray:
    """The height over the body of the centres of cells in the fluid."""
    y = flow.points("p")[1][0, :, 0]
    return y[y > 0.5] - 0.5


def test_couette_flow_between_a_moving_face_and_a_wall_is_exact():
    case = channel({**BELT, "velocity": [1.0, 0, -2.0]}, initial={"velocity": ["1.5 - y", 0, "2*y - 3"]})
    flow = compute(case.replace(**{"time.steps": 40}))
    y = height(flow)
    np.testing.assert_allclose(flow["u"][0, 5:, 0], 1 - y, atol=1e-13)
    np.testing.assert_allclose(flow["w"][0, 5:, 0], -2 * (1 - y), atol=1e-13)
    assert (flow["u"][:, :4] == flow["u"][0, 0, 0]).all()


@pytest.mark.parametrize("scheme", ["central", "koren"])
@pytest.mark.parametrize("panel", [
    {"temperature": 3.0}, {"heat_flux": 0.4}, {"heat_transfer": 0.4, "outside_temperature": 4.0},
])  # fmt: skip
def test_conduction_between_a_heated_face_and_a_wall_is_exact(panel, scheme):
    """T falls from 3 on the face to 1 on the wall."""
    sides = {"x": "periodic", "y_min": "wall", "z": "periodic", "y_max": {"type": "wall", "temperature": 1.0}}
    heat = {"heat": {"diffusivity": 0.2, "scheme": scheme}, "time": {"step": 0.01, "steps": 40}}
    flow = compute(channel({**BELT, **panel}, initial={"temperature": "4 - 2*y"}, boundaries=sides, **heat))
    np.testing.assert_allclose(flow["T"][0, 5:, 0], 3 - 2 * height(flow), atol=1e-12)
    belt = passed(flow)["belt"]
    assert belt["flux_T"] == pytest.approx(-0.2 * 2 * 1.2, rel=1e-11)
    assert belt["mean_T"] == pytest.approx(3.0, rel=1e-12)


def test_conduction_and_friction_are_exact_on_cells_of_all_widths():
    grid = {"cells": [4, 15, 1], "lengths": [1.2, 1.5, 1.0], "stretching": {"y": {"tanh": 0.8}}}
    case = channel({**BELT, "temperature": 3.0, "velocity": [1.0, 0, 0]}, grid=grid, heat={"diffusivity": 0.2},
                   boundaries={"x": "periodic", "y_min": "wall", "z": "periodic",
                               "y_max": {"type": "wall", "temperature": 1.0}})  # fmt: skip
    faces = RunSetup(case, (1, 1, 1)).grid.faces(1)
    (first,) = np.flatnonzero(np.diff((faces[1:] + faces[:-1]) / 2 > 0.5)) + 1
    share = f"(1.5 - y)/{float(1.5 - faces[first])!r}"
    flow = compute(case.replace(initial={"temperature": f"1 + 2*{share}", "velocity": [share, 0, 0]}))
    exact = (1.5 - flow.points("p")[1][0, first:, 0]) / (1.5 - faces[first])
    np.testing.assert_allclose(flow["T"][0, first:, 0], 1 + 2 * exact, atol=1e-12)
    np.testing.assert_allclose(flow["u"][0, first:, 0], exact, atol=1e-12)
    assert passed(flow)["belt"]["flux_T"] == pytest.approx(-0.2 * 2 / (1.5 - faces[first]) * 1.2, rel=1e-11)


def stokes(n: int) -> float:
    """The largest error of the flow between an oscillating face and a wall, on n cells between both."""
    k = np.sqrt(1j * 3 / 0.05)

    def exact(y: np.ndarray, t: float) -> np.ndarray:
        return (np.exp(3j * t) * np.sinh(k * (1 - y)) / np.sinh(k)).real

    belt = {**BELT, "velocity": ["cos(3*t)", 0, 0]}
    case = channel(belt, cells=n, time={"step": 4 / n**2, "steps": 4 * n**2 // 25})
    y = (np.arange(3 * n // 2) + 0.5) / n - 0.5
    flow = compute(case.replace(initial={"velocity": [lambda _x, at, _z: exact(at - 0.5, 0.0), 0, 0]}))
    return float(abs(flow["u"][0, n // 2 :, 0] - exact(y[n // 2 :], flow.tick.time)).max())


def test_an_oscillating_face_is_of_second_order():
    errors = [stokes(n) for n in (20, 40)]
    print(errors)
    assert min(orders(errors, (20, 40))) > 1.9
    assert errors[-1] < 5e-3


def differences(opening: dict, side: dict, tables: dict) -> dict[str, float]:
    """The largest differences of the flow over a body from that over a side there."""
    body = compute(channel({**BELT, **opening}, **tables))
    sides = {"x": "periodic", "y_min": {"type": "wall", **side}, "y_max": "wall", "z": "periodic"}
    grid = {"cells": [4, 10, 1], "lengths": [1.2, 1.0, 1.0], "origin": [0, 0.5, 0]}
    plain = compute(channel(obstacles=[], boundaries=sides, grid=grid, **tables))
    names = set(plain.padded) & {"u", "w", "T", "smoke", "dust"}
    return {name: float(abs(body[name][:, 5:] - plain[name]).max()) for name in names}


@pytest.mark.parametrize("change", [
    SLIDING, {"temperature": "1 + sin(9*t)"}, {"heat_flux": "t"}, {"heat_transfer": 2.0, "outside_temperature": "t"},
])  # fmt: skip
@pytest.mark.parametrize("scheme", ["ab2", "rk3"])
def test_values_that_change_in_time_are_those_of_a_side(change, scheme):
    tables = {"time": {"step": 0.01, "steps": 8, "scheme": scheme},
              "heat": {"diffusivity": 0.2, "scheme": "central" if scheme == "ab2" else "koren"}}  # fmt: skip
    for name, difference in differences(change, change, tables).items():
        assert difference < 1e-13, name


def test_a_face_releases_scalars_as_a_side_does():
    side = {"scalars": [{**scalar, "boundaries": {"y_min": {"value": "1 + t"}}} for scalar in CARRIED]}
    body = compute(channel({**BELT, "scalars": {"smoke": "1 + t", "dust": "1 + t"}}, scalars=CARRIED))
    grid = {"cells": [4, 10, 1], "lengths": [1.2, 1.0, 1.0], "origin": [0, 0.5, 0]}
    plain = compute(channel(obstacles=[], grid=grid, **side))
    for name in ("smoke", "dust"):
        np.testing.assert_allclose(body[name][:, 5:], plain[name], atol=1e-13)
        assert plain[name].max() > 0.1


AROUND = [{**PANEL, "name": f"on_{side}", "side": side, "temperature": warm, "scalars": {"smoke": warm}}
          for side, warm in (("x_min", 1.0), ("x_max", "1 + t"), ("y_min", 2.0), ("y_max", 0.5))]  # fmt: skip


def test_what_faces_give_is_in_the_fluid():
    """With Adams-Bashforth's method: integral_new - integral = -dt (3 F - F_old) / 2. The faces meet at edges."""
    flow = compute(room(*AROUND, obstacles=[STAND], **HEAT))
    monitor = flow.setup.measures.monitor
    states = [(monitor.integrals(s)["integral_smoke"], passed(flow, s)) for s in flow.history]
    net = [sum(opening["flux_smoke"] for opening in through.values()) for _, through in states]
    for n in range(2, 6):
        change = states[n + 1][0] - states[n][0]
        assert change == pytest.approx(-0.01 * (1.5 * net[n] - 0.5 * net[n - 1]), abs=1e-13)
        assert change > 1e-3


BELTS = [{**AROUND[0], "velocity": [0, "1 + t", 1]}, *AROUND[1:3], {**AROUND[3], "velocity": [-1.0, 0, 0]}]
BLOW = {"name": "blow", "side": "x_min", "where": "1", "type": "inflow", "velocity": [1.0, 0, 0]}


def belted(scheme: str, precision: str = "double") -> Case:
    """A body with faces that move and are warm."""
    heat = {"heat": {"diffusivity": 0.2, "scheme": scheme}, "machine": {"precision": precision, "device": "cpu"}}
    bare = [{**one, "scalars": None} for one in BELTS]
    return room(*bare, BLOW, OUT, obstacles=[STAND], **heat, pressure={"tolerance": 1e-4})


@pytest.mark.parametrize(("openings", "blocks", "more"), [
    (BELTS, (2, 2, 1), {}), (AROUND, (4, 1, 1), {"turbulence": {"model": "smagorinsky"}}),
])  # fmt: skip
def test_bits_do_not_depend_on_blocks(openings, blocks, more):
    """Also where blocks end next to a body, and with eddies around heated faces at rest."""
    jacobi = {"pressure": {"solver": "jacobi", "iterations": 7}}
    case = room(*openings, BLOW, OUT, obstacles=[STAND], **HEAT, **jacobi, **more)
    one, many = compute(case), compute(case, blocks)
    for name in ("u", "v", "w", "p", "T", "smoke", "dust"):
        assert np.array_equal(one[name], many[name]), name
    assert abs(one["T"]).max() > 0.1


def test_a_belt_round_a_body_drives_a_flow_without_a_source():
    """Four faces that move one way round: what they set in motion keeps its volume."""
    ways = {"x_min": [0, 1.0, 0], "y_max": [1.0, 0, 0], "x_max": [0, -1.0, 0], "y_min": [-1.0, 0, 0]}
    belts = [{**PANEL, "name": f"on_{side}", "side": side, "temperature": None, "velocity": way}
             for side, way in ways.items()]  # fmt: skip
    flow = compute(room(*belts, obstacles=[STAND]))
    assert flow.scalars["divergence"] < 1e-10
    assert flow["u"][0, 7, 6] > 0.05 > 0 > -0.05 > flow["u"][0, 3, 6]
    assert flow["v"][0, 5, 4] > 0.05 > 0 > -0.05 > flow["v"][0, 5, 8]


def test_the_force_on_a_heated_body_is_in_the_log():
    heat = {"heat": {"diffusivity": 0.2}}
    plain, heated = (compute(room(*some, BLOW, OUT, obstacles=[STAND], **heat)) for some in ((), (PANEL,)))
    force = plain.setup.model.obstacles.measured(plain.scalars)
    assert force["stand"]["force"][0] > 0
    assert heated.setup.model.obstacles.measured(heated.scalars) == force
    moving = compute(room({**PANEL, "velocity": [1.0, 0, 0]}, BLOW, OUT, obstacles=[STAND], **heat))
    assert moving.setup.model.obstacles.measured(moving.scalars) == {}


def test_a_face_has_its_own_temperature_in_a_body_with_another():
    """T = 1 on the body would warm the fluid of T = 0 everywhere: on its high face across y it is 0."""
    flow = compute(room({**PANEL, "temperature": 0.0}, obstacles=[{**STAND, "temperature": 1.0}],
                        heat={"diffusivity": 0.2}))  # fmt: skip
    assert 0 < flow["T"][0, 7, 6] < 0.2 * flow["T"][0, 3, 6]
    assert passed(flow)["panel"]["mean_T"] == pytest.approx(0.0, abs=1e-14)


@pytest.mark.slow
def test_a_run_goes_on_to_the_bit(tmp_path):
    case = room(*AROUND, obstacles=[STAND], **HEAT, checkpoint={"every": {"steps": 3}}, output={"precision": "double"})
    tf.run(case, output=tmp_path / "whole")
    tf.run(case.replace(**{"time.steps": 3}), output=tmp_path / "half")
    tf.run(case, output=tmp_path / "half", resume=True)
    one, two = (xr.open_zarr(tmp_path / name / "fields.zarr").isel(time=-1) for name in ("whole", "half"))
    for name in ("u", "v", "p", "T", "smoke", "dust"):
        np.testing.assert_array_equal(one[name], two[name])
    assert float(abs(one["T"]).max()) > 0


@pytest.mark.parametrize(("change", "line"), [
    ({"velocity": [0, 1.0, 0]}, "a wall moves in its own plane only; give 0 as its y component, or an inflow"),
    ({"velocity": ["x", 0, 0]}, "in the face of a body it may not change with the place; give numbers or functions"),
    ({"temperature": "x"}, "in the face of a body it may not change with the place; give numbers or functions of t"),
    ({"roughness": 0.01}, "in the face of a body give heat_flux, heat_transfer, outside_temperature, temperature, vel"),
    ({"heat_flux": 1.0}, "temperature is given as well"),
    ({"scalars": {"soot": 1.0}}, "there is no such scalar; give one of smoke, dust"),
])  # fmt: skip
def test_what_is_wrong_is_named(change, line):
    with pytest.raises(BadInput) as error:
        room({**PANEL, **change}, obstacles=[STAND], **HEAT)
    assert line in str(error.value)


def test_eddies_need_faces_at_rest():
    with pytest.raises(BadInput, match=r"openings\[1\]\.velocity = .* with turbulence a face of a body is at rest"):
        room({**PANEL, "temperature": None, "velocity": ["t", 0, 0]}, obstacles=[STAND],
             turbulence={"model": "smagorinsky"})  # fmt: skip
