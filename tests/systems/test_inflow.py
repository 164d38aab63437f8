"""What enters at inflows and moves on walls: values at the places of a staggered grid, and what cannot enter."""

import numpy as np
import pytest

from taskflow import Case
from taskflow.common.errors import BadInput
from taskflow.runs.state.setup import RunSetup
from taskflow.systems.initial.side_profiles import LogProfile, largest_on_wall

CHANNEL = {
    "grid": {"cells": [8, 4, 6], "lengths": [2.0, 1.0, 1.5]},
    "fluid": {"viscosity": 0.01},
    "boundaries": {
        "x_min": {"type": "inflow", "velocity": [1.0, 0.0, 0.0]}, "x_max": "outflow", "y": "periodic",
        "z_min": "wall", "z_max": "wall",
    },
    "time": {"end": 2.0},
}


def made(**sides):
    """The case of a channel with other sides, its grid and its inflows."""
    boundaries = {name: side for name, side in {**CHANNEL["boundaries"], **sides}.items() if side is not None}
    sim = RunSetup(Case(**{**CHANNEL, "boundaries": boundaries}), (1, 1, 1))
    return sim.case, sim.grid, sim.system.inflows


def entering(inflows, name, time=0.0):
    """The values of a velocity on x_min, and the places of its points along y and z."""
    (cells,) = inflows.sides["x_min"].values(name)
    location = {"v": "fy", "w": "fz"}.get(name, "c")
    y, z = (inflows.grid.coordinates(location, a, cells.lo[a], cells.hi[a]) for a in (1, 2))
    return inflows.at("x_min", name, time, cells)[..., 0], np.minimum(y, 1.0), np.minimum(z, 1.5)[:, None]


def inflow(*velocity, **keys):
    return {"type": "inflow", "velocity": list(velocity), **keys}


def test_values_are_those_of_the_formula_at_the_points_of_each_velocity():
    """On the face itself along x; between cells along y and z, where the velocity lives there."""
    _, _, inflows = made(x_min=inflow("1 + z + x", "y*z", "t*z"))
    assert inflows.varies
    for time in (0.0, 0.5):
        for name in "uvw":
            values, y, z = entering(inflows, name, time)
            expected = {"u": 1 + z + 0 * y, "v": y * z, "w": time * z + 0 * y}[name]
            np.testing.assert_allclose(values, expected, rtol=1e-14)
            assert values.size > 20


def test_wind_over_rough_ground_follows_the_law():
    """Nothing below the ground; the speed at a height is the one given, in the direction given."""
    law = {"height": 0.5, "speed": 2.0, "roughness": 0.01, "up": "z", "ground": 0.25, "direction": [3.0, 4.0, 0.0]}
    _, _, inflows = made(x_min={"type": "inflow", "log_law": law}, y="periodic")
    u, _, z = entering(inflows, "u")
    v, _, z_of_v = entering(inflows, "v")
    expected = 2.0 * np.log1p(np.maximum(z - 0.25, 0) / 0.01) / np.log1p(0.5 / 0.01)
    np.testing.assert_allclose(u, np.broadcast_to(0.6 * expected, u.shape), rtol=1e-12)
    np.testing.assert_array_equal(z, z_of_v)
    np.testing.assert_allclose(v, np.broadcast_to(0.8 * expected, v.shape), rtol=1e-12)
    assert (u[z[:, 0] < 0.25] == 0).all()
    profile = LogProfile(0.41, 0.01, 2, 0.0, 1.0)
    np.testing.assert_allclose(profile(0.0, 0.0, np.array([-1.0, 0.0, 0.01 * (np.e - 1)])), [0, 0, 1], atol=1e-14)


def test_the_fastest_speed_of_all_times_is_found():
    _, _, inflows = made(x_min=inflow("1 + t", 0.0, "-3*t"))
    ((u, v, w),) = inflows.fastest([0.0, 0.5, 1.0])
    assert (u, v, w) == (2.0, 0.0, 3.0)


def test_fluid_that_cannot_leave_is_refused_with_its_volume_and_time():
    _, _, inflows = made(x_min=inflow(1.0, 0.0, 0.0), x_max=inflow(1.0, 0.0, 0.0))
    inflows.check([0.0])  # as much leaves as enters
    with pytest.raises(BadInput, match=r'boundaries: 0.75 \(volume per time\) more enters than leaves, .* "outflow"'):
        made(x_min=inflow(1.0, 0.0, 0.0), x_max=inflow(0.5, 0.0, 0.0))[2].check([0.0])
    _, _, inflows = made(x_min=inflow("1 + t", 0.0, 0.0), x_max=inflow(1.0, 0.0, 0.0))
    inflows.check([0.0])
    with pytest.raises(BadInput, match=r"0.75 \(volume per time\) more enters than leaves at time 0.5, and"):
        inflows.check([0.0, 0.5])
    made(x_min=inflow("1 + t", 0.0, 0.0))[2].check([0.0, 0.5])  # through the outflow


def test_a_value_that_is_not_finite_names_key_and_side():
    with pytest.raises(BadInput, match=r"boundaries.x_min.velocity"):
        made(x_min=inflow("1/z", 0.0, "1/(z - 1)"))[2].check([0.0])


def test_the_largest_speed_of_a_wall_keeps_its_sign():
    lid = {"type": "wall", "velocity": ["x - 4*y", 0.0, 0.0]}
    case, grid, inflows = made(z_max=lid)
    assert largest_on_wall("boundaries.z_max.velocity", case.boundary("z_max").velocity[0], case, grid, "z_max") == -4.0
    assert set(inflows.walls) == {"z_max"}
    assert set(inflows.walls["z_max"]) == {"u", "v"}  # none through the wall


def test_values_that_a_user_sets_take_the_place_of_those_of_the_case():
    _, _, inflows = made(x_min=inflow("1 + t", 0.0, 0.0))
    assert list(inflows.keys) == ["boundaries.x_min.velocity[1]"]
    other = inflows.following({"boundaries.x_min.velocity[1]": 7.0})
    assert (entering(other, "u", 0.5)[0] == 7.0).all()
    assert (entering(inflows, "u", 0.5)[0] == 1.5).all()
