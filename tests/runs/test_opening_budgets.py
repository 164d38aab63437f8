"""Budgets of turbulent kinetic energy, and values on walls, where sides have openings."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import taskflow as tf
from taskflow.common.errors import BadInput
from taskflow.output import dataset
from tests.runs.going_on import go
from tests.runs.test_statistics import found, trapezoids
from tests.systems.test_openings import OUT, ROOM, room

INLET = {"name": "inlet", "side": "x_min", "box": [[0, 0.1, 0], [0, 0.4, 1]], "type": "inflow",
         "velocity": ["1 + sin(40*t)", 0, 0]}  # fmt: skip
LID = {"name": "lid", "side": "y_max", "box": [[0.3, 1, 0], [0.9, 1, 1]], "type": "wall",
       "velocity": ["sin(50*t)", 0, 0]}  # fmt: skip
RECORDED = {
    "statistics": {"every": {"steps": 1}, "budget": True},
    "output": {"precision": "double", "every": {"steps": 1}},
    "checkpoint": {"every": {"steps": 3}},
    "pressure": {"solver": "jacobi", "iterations": 7},
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "run"
    go(room(INLET, LID, OUT, **RECORDED), path)
    return path


def test_dissipation_has_the_differences_of_the_equations(whole):
    """At walls and in the inlet the velocity along the side is mirrored, in the lid about the velocity of the lid."""
    with dataset(whole / "fields.zarr") as ds:
        snapshots, weights = ds.load(), trapezoids(0.0, ds.time.values)
    h, u, v, t = 0.1, snapshots.u.values[:, 0], snapshots.v.values[:, 0], snapshots.time.values
    above = -u[:, -1:]
    above[:, :, 4:9] += 2 * np.sin(50 * t)[:, None, None]  # the faces between two cells of the lid
    u = np.concatenate([-u[:, :1], u, above], axis=1)
    v = np.concatenate([-v[..., :1], v, -v[..., -1:]], axis=2)
    u, v = (q - np.average(q, axis=0, weights=weights) for q in (u, v))
    along = (np.diff(u[:, 1:-1], axis=2) / h) ** 2 + (np.diff(v[..., 1:-1], axis=1) / h) ** 2
    edges = (np.diff(u, axis=1) / h) ** 2 + (np.diff(v, axis=2) / h) ** 2
    edges = (edges[:, 1:] + edges[:, :-1]) / 2
    squares = along + (edges[..., 1:] + edges[..., :-1]) / 2
    rate = 0.05 * np.average(squares, axis=0, weights=weights)
    measured = found(whole).mean_dissipation[-1, 0].values
    np.testing.assert_allclose(measured[:, :-1], rate[:, :-1], rtol=1e-11, atol=1e-14)  # the last column has the outlet
    assert measured[-1, 5] > 10 * measured[-1, 1] > 0


def test_energy_is_carried_through_openings_alone(whole):
    """The sum of the transport in cells is the flux through the faces of the inlet and of the outlet."""
    statistics = found(whole).isel(time=-1)
    budget = statistics.flow.kinetic_energy_budget().load()
    unknown = budget.residual.isnull().values[0]
    assert unknown[-1, 3:9].all()  # at a lid that moves in time
    assert not unknown[-1, :3].any()
    assert not unknown[:-1].any()
    flux = statistics.mean_energy_flux_x.values[0]
    through = flux[1:4, 0].sum() - flux[5:8, -1].sum()
    assert abs(through) > 1e-5
    assert float(budget.turbulent_transport.sum()) * 0.1 == pytest.approx(through, rel=1e-10)


def test_an_opening_of_a_whole_side_has_the_budget_of_the_side(tmp_path):
    inlet, outlet = ({key: value for key, value in one.items() if key not in ("name", "side", "box")}
                     for one in (INLET, OUT))  # fmt: skip
    lid = {"type": "wall", "velocity": LID["velocity"]}
    sides = {"x_min": inlet, "x_max": outlet, "y_max": lid}
    ends = {"x_min": [[0, 0, 0], [0, 1, 1]], "x_max": [[1.2, 0, 0], [1.2, 1, 1]], "y_max": [[0, 1, 0], [1.2, 1, 1]]}
    openings = [{"name": side, "side": side, "box": ends[side], **values} for side, values in sides.items()]
    go(room(boundaries={**ROOM["boundaries"], **sides}, **RECORDED), tmp_path / "side")
    go(room(*openings, **RECORDED), tmp_path / "opening")
    one, other = (found(tmp_path / name).isel(time=-1) for name in ("side", "opening"))
    for values, expected in ((other, one), *((ds.flow.kinetic_energy_budget() for ds in (other, one)),)):
        xr.testing.assert_identical(values.drop_attrs(), expected.drop_attrs())


@pytest.mark.parametrize(("stopped", "blocks"), [({}, (2, 2, 1)), ({"kill": 5}, (2, 1, 1))])
def test_the_bits_depend_neither_on_blocks_nor_on_what_broke_off(stopped, blocks, whole, tmp_path):
    case = room(INLET, LID, OUT, **RECORDED)
    if stopped:
        go(case, tmp_path / "run", **stopped)
    go(case, tmp_path / "run", blocks, resume=bool(stopped))
    xr.testing.assert_identical(found(tmp_path / "run").drop_attrs(), found(whole).drop_attrs())


def test_planes_across_a_side_with_openings_are_refused(whole):
    with pytest.raises(BadInput, match=r"axis = 'x': openings are in its ends \(inlet, out\); omit it"):
        found(whole).flow.kinetic_energy_budget("x")


@pytest.mark.parametrize(("changes", "told"), [
    ({"boundaries": {**ROOM["boundaries"], "y_min": {"type": "wall", "roughness": 1e-3}},
      "turbulence": {"model": "wale"}}, r"there are openings \(inlet\), and the edge of a rough wall has no stress"),
    ({"obstacles": [{"name": "box", "type": "box", "low": [0.4, 0.4, 0], "high": [0.6, 0.6, 1]}],
      "openings": [INLET, OUT, {"name": "fan", "obstacle": "box", "side": "x_max", "type": "inflow",
                                "velocity": [1.0, 0, 0]}]}, "openings.*obstacle.*statistics.budget"),
])  # fmt: skip
def test_what_has_no_budget_is_refused(changes, told):
    with pytest.raises(BadInput, match=told):
        tf.Case(**{**ROOM, "openings": [INLET, OUT], **RECORDED, **changes})


def test_a_plane_near_a_side_and_the_stress_of_a_wall_know_its_openings(whole):
    with dataset(whole / "fields.zarr") as ds:
        last = ds.isel(time=-1).load()
    assert last.attrs["opening_lid_type"] == "wall"
    near, below, second = (last.flow.plane(f"y={y}").u.values[0] for y in (0.99999, 0.95, 0.85))
    np.testing.assert_allclose(near[:2], 0.0, atol=1e-4)
    np.testing.assert_allclose(near[4:8], (1.5 * below - 0.5 * second)[4:8], atol=1e-3)  # its velocity is not known
    assert abs(near[4:8]).min() > 0.01
    stress = last.flow.wall_shear("y_max").shear_x.values[0]
    assert np.isnan(stress[3:9]).all()
    np.testing.assert_allclose(stress[:3], below[:3], rtol=1e-12)  # the viscosity is half the spacing
