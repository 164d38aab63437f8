"""What runs and simulations offer alike: series, forces, pictures; derived fields and pictures around bodies."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import taskflow as tf
from taskflow.common.derived_names import WORDS
from taskflow.common.errors import BadInput
from taskflow.plots.look import Look
from taskflow.plots.pixels import PixelPlane
from taskflow.plots.snapshots import plane_through
from taskflow.systems.bodies.given import given_bodies

CASE = tf.Case(
    title="Block", grid={"cells": [24, 1, 16], "lengths": [3.0, 0.5, 2.0]}, fluid={"viscosity": 0.05},
    boundaries={"x_min": {"type": "inflow", "velocity": [1.0, 0.0, 0.0]}, "x_max": "outflow", "y": "periodic",
                "z_min": "slip", "z_max": "slip"},
    obstacles=[{"name": "pier", "type": "cylinder", "axis": "y", "centre": [1.0, 0.0, 1.0], "radius": 0.3}],
    time={"steps": 12}, monitor={"every": {"steps": 1}, "fields": ["vorticity_y", "kinetic_energy"]},
    output={"fields": ["u", "v", "w", "p", *WORDS], "precision": "double"},
)  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A simulation that was looked at on its way, and the run that it became."""
    path = tmp_path_factory.mktemp("run") / "run"
    with tf.Simulation(CASE, path) as simulation:
        simulation.step(10)
        assert simulation.dt > 0
        assert not simulation.ended
        early = simulation.forces("pier", {"velocity": 1.0, "length": 0.6})
        assert isinstance(simulation.plot("vorticity_y"), Figure)
        simulation.run()
        assert simulation.ended
    return tf.Run.open(path), early


@pytest.mark.slow
def test_a_simulation_has_the_forces_of_its_run(run):
    run, early = run
    late = run.forces("pier", {"velocity": 1.0, "length": 0.6})
    assert early.sizes["time"] == 10  # the line of the present step follows when the run goes on
    np.testing.assert_array_equal(early["drag"], late["drag"][:10])
    force = late["force"].sel(axis="x")
    np.testing.assert_allclose(late["drag"], force / (0.5 * 0.6 * 0.5))
    assert run.dt == run.log()[-1]["dt"]
    assert run.to_pandas()["kinetic_energy"].iloc[-1] == run.log()[-1]["kinetic_energy"]
    assert "mean_vorticity_y" in run.series()
    with pytest.raises(BadInput, match="no such body in the log; choose one of pier"):
        run.forces("wing")


def test_derived_fields_of_a_run_are_those_of_its_snapshots(run):
    """Away from boundaries; in a body they are 0 in the run, and NaN later."""
    ds = run[0].dataset().isel(time=-1)
    inside = {"x_c": slice(1, -1), "z_c": slice(1, -1)}
    for name in WORDS:
        recorded = ds[name].isel(inside)
        again = ds.drop_vars(name).flow.field(name).isel(inside)
        solid = ds["solid"].isel(inside).values.astype(bool)
        scale = float(abs(recorded).max())
        known = np.where(solid, 0.0, again.transpose(*recorded.dims).values)
        expected = np.where(solid, 0.0, recorded.values)
        np.testing.assert_allclose(known, expected, rtol=0, atol=1e-12 * scale, err_msg=name)
        if name != "speed":
            assert (recorded.values[solid] == 0).all()


def test_an_isosurface_of_a_derived_field_has_its_area(tmp_path):
    """In a shear flow between walls the speed is 0.4 on a plane, up to the sides."""
    case = tf.Case(
        grid={"cells": [6, 4, 8], "lengths": [1.5, 0.8, 1.0]}, fluid={"viscosity": 0.1},
        time={"steps": 1, "step": 1e-3},
        boundaries={"x": "periodic", "y_min": "slip", "y_max": "slip", "z_min": "wall",
                    "z_max": {"type": "wall", "velocity": [1.0, 0.0, 0.0]}},
        initial={"velocity": ["z", 0.0, 0.0]}, output={"fields": ["p"]},
        isosurfaces=[{"name": "fast", "field": "speed", "value": 0.4, "every": {"steps": 1}}],
    )  # fmt: skip
    np.testing.assert_allclose(tf.run(case, tmp_path / "run").dataset("fast")["area"], 1.5 * 0.8, rtol=1e-12)


def test_bodies_are_drawn_as_given(run):
    """A circle of the true radius. Where the record has other bodies, its cells are drawn."""
    ds = run[0].dataset().isel(time=-1)
    plane = plane_through(ds, None, inside=given_bodies(ds.attrs))
    assert isinstance(plane, PixelPlane)
    x, z = np.linspace(0.0, 3.0, 601), np.linspace(0.0, 2.0, 401)
    exact = (x - 1.0) ** 2 + (z[:, None] - 1.0) ** 2 < 0.3**2
    np.testing.assert_array_equal(plane._in_bodies(x, z), exact)
    assert plane.chosen(None) == "vorticity_y"
    for inside, smooth in ((plane.inside, True), (lambda *_: np.ones((1, 1, 1), bool), False), (None, False)):
        axes = plane_through(ds, None, inside=inside and (lambda t, x, y, z, of=inside: np.broadcast_to(
            of(t, x, y, z), (z.size, y.size, x.size)))).panel(Look())[1]  # fmt: skip
        kinds = {type(drawn).__name__ for drawn in axes.collections}
        assert ("QuadContourSet" in kinds, "QuadMesh" in kinds) == (smooth, not smooth)
    assert given_bodies({}) is None
    assert given_bodies({"case": "obstacles = 1"}) is None
