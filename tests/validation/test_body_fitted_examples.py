"""Short versions of the examples on body-fitted cells, each does what its page says to look at."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import taskflow as tf
from taskflow.accessor.flow import opened
from taskflow.output import read_log
from tests.runs.going_on import go
from tests.validation.moving_bodies import against_duetsch
from tests.validation.real_time import Forces, frequency

EXAMPLES = Path(__file__).parents[2] / "examples"
ECCENTRIC = {"torque": 29.404734, "force": 47.570322}  # over viscosity, see `creeping`


def short(folder: Path, name: str, *settings: str) -> dict:
    """The bodies of the last line of the log of an example with other settings, which has become steady."""
    assert go(tf.Case.load(EXAMPLES / f"{name}.toml", settings), folder / "run")["ended"] == "steady"
    return read_log(folder / "run" / "log.jsonl")[-1]["bodies"]


def creeping(inner: float, outer: float, apart: float, order: int = 24) -> dict[str, float]:
    """Torque and force, over viscosity and length, on a cylinder whose surface turns at speed 1 in another one at rest.

    Stokes flow: biharmonic stream functions r^q cos(k t) about its axis, and ln r, r ln r cos t, by least squares on
    both circles; the torque is 4 pi times the coefficient of ln r, the force 4 pi times that of r ln r cos t.
    """
    angle = 2 * np.pi * (np.arange(16 * order) + 0.5) / (16 * order)

    def velocities(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Radial and azimuthal ones of all terms [place, term]."""
        r, t = np.hypot(x, y), np.arctan2(y, x)
        terms = [(np.log(r), 1 / r, 0), (r * np.log(r), np.log(r) + 1, 1), (r**2, 2 * r, 0)]
        powers = [(q, 1) for q in (-1, 1, 3)] + [(q, k) for k in range(2, order) for q in (k, -k, k + 2, 2 - k)]
        for q, k in powers:
            scaled = (r / (outer + apart if q > 0 else inner)) ** q
            terms.append((scaled, q * scaled / r, k))
        radial = [-k * f / r * np.sin(k * t) for f, _, k in terms]
        return np.concatenate([np.array(radial).T, np.array([-slope * np.cos(k * t) for _, slope, k in terms]).T])

    x, y = np.cos(angle), np.sin(angle)
    both = np.concatenate([velocities(inner * x, inner * y), velocities(apart + outer * x, outer * y)])
    values = np.repeat([0.0, 1.0, 0.0, 0.0], angle.size)
    terms, *_ = np.linalg.lstsq(both, values, rcond=1e-15)
    assert np.abs(both @ terms - values).max() < 1e-9
    return {"torque": -4 * np.pi * float(terms[0]), "force": 4 * np.pi * float(terms[1])}


@pytest.mark.slow
def test_the_creeping_flow_of_the_page():
    """Between concentric cylinders and in a thin gap (A. Sommerfeld 1904) it is what is known."""
    assert creeping(1.0, 2.0, 0.0)["torque"] == pytest.approx(4 * np.pi * 4 / 3, rel=1e-12)
    thin, lubrication = creeping(0.99, 1.0, 0.005), 4 * np.pi / (2.25 * 0.75**0.5) / 0.01 * 0.99**2
    assert thin["torque"] == pytest.approx(1.5 * lubrication, rel=0.015)
    assert thin["force"] == pytest.approx(1.5 * lubrication / 0.01, rel=0.015)
    assert creeping(1.0, 1.5, 0.25) == pytest.approx(ECCENTRIC, rel=1e-6)


@pytest.mark.slow
def test_bearing(tmp_path):
    """Torque and load of the page, on the grid of the example; S6: what the shaft gives, the bearing takes."""
    bodies = short(tmp_path, "bearing", "time.steady=1e-10")
    shaft, bearing = bodies["shaft"], bodies["bearing"]
    assert -shaft["moment"][2] / 10 == pytest.approx(ECCENTRIC["torque"], rel=0.005)
    assert -shaft["force"][1] / 10 == pytest.approx(ECCENTRIC["force"], rel=0.01)
    for one, other in zip(shaft["force"], bearing["force"], strict=True):
        assert other == pytest.approx(-one, rel=0, abs=1e-8 * abs(shaft["force"][1]))
    assert bearing["moment"][2] == pytest.approx(-shaft["moment"][2], rel=0.002)


@pytest.mark.slow
def test_round_pipe(tmp_path):
    """The flux of Hagen and Poiseuille."""
    short(tmp_path, "round_pipe", "grid.cells=[6, 6, 4]", "time.steady=1e-3")
    last = opened(tmp_path / "run" / "fields.zarr").isel(time=-1)
    volumes = last.flow.volumes()
    charts = [(chart["w"], volumes[f"charts/{name}/volume"]) for name, chart in last["charts"].children.items()]
    flux = sum(float((w * volume).sum()) for w, volume in charts) / 0.25
    assert flux == pytest.approx(np.pi / 2, rel=0.04)


@pytest.mark.slow
def test_cylinder_body_fitted(tmp_path):
    """The drag, to what few cells resolve, and no lift."""
    body = short(tmp_path, "cylinder_body_fitted", "grid.cells=[32, 24, 1]", "time.steady=1e-3")["body"]
    assert 2 * body["force"][0] == pytest.approx(1.498, rel=0.08)
    assert abs(body["force"][1]) < 1e-12


@pytest.mark.slow
def test_naca0012(tmp_path):
    """No lift and no moment about the quarter chord, of a grid that is symmetric; the drag of the page."""
    body = short(tmp_path, "naca0012", "grid.cells=[64, 20, 1]", "grid.first=5e-3")["body"]
    assert 2 * body["force"][0] == pytest.approx(0.12038, rel=1e-3)
    assert abs(2 * body["force"][1]) < 1e-12
    assert abs(body["moment"][2]) < 1e-12


@pytest.mark.slow
def test_naca0012_pitching(tmp_path):
    """A period repeats that before it within 2 % of the largest lift, which is that of the page."""
    settings = "grid.cells=[64, 16, 1]", "grid.first=1e-2", "time.step=0.1875", "time.end=18"
    assert go(tf.Case.load(EXAMPLES / "naca0012_pitching.toml", settings), tmp_path / "run")["ended"] == "end"
    lines = read_log(tmp_path / "run" / "log.jsonl")
    lift = np.array([2 * line["bodies"]["body"]["force"][1] for line in lines])
    second, third = lift[33:65], lift[65:97]
    assert third.max() == pytest.approx(0.5452, rel=1e-3)
    assert abs(third - second).max() < 0.02 * third.max()
    incidence = 1 - np.cos(2 * np.pi * np.arange(1, 33) / 32)
    up, down = (np.interp(1.0, *q) for q in ((incidence[:16], third[:16]), (incidence[:15:-1], third[:15:-1])))
    assert up - down > 0.1  # the loop of the page, at half of the incidence


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_naca0012_shedding(tmp_path):
    """Vortices are shed on few cells, too, with 20 steps a period, less often than on those of the page."""
    settings = "grid.cells=[96, 24, 1]", "grid.first=6e-3", "time.step=0.08", "time.end=12"
    run = tf.run(tf.Case.load(EXAMPLES / "naca0012_shedding.toml", settings), tmp_path / "run")
    assert frequency(Forces.of(run), 15.0, 6.0) == pytest.approx(0.603, rel=0.01)


@pytest.mark.slow
def test_oscillating_cylinder(tmp_path):
    """The force in the second period, to what few cells and 20 steps a period resolve. Measured: 11.0 % of the peak at
    the worst phase, 6.2 % in the mean square.
    """
    settings = "grid.cells=[48, 24, 1]", "time.step=0.25", "output.every=5.0"
    assert go(tf.Case.load(EXAMPLES / "oscillating_cylinder.toml", settings), tmp_path / "run")["ended"] == "end"
    lines = read_log(tmp_path / "run" / "log.jsonl")
    rows = np.array([(line["time"], line["bodies"]["body"]["force"][0]) for line in lines])
    largest, mean = against_duetsch(rows, 1)
    assert largest < 0.12
    assert mean < 0.07


@pytest.mark.slow
def test_curved_duct(tmp_path):
    """The fast fluid is outside at the end of the bend, with the speed of the page, to what few cells resolve."""
    short(tmp_path, "curved_duct", "grid.cells=[32, 8, 8]", "grid.first=0.06", "time.steady=1e-3")
    behind = opened(tmp_path / "run" / "fields.zarr").isel(time=-1)["charts/2"]
    speed = behind["v"].values[3:5, :, 0].mean(axis=0)
    place = behind["x_c"].values[4, :, 0] - 1.8
    assert 0.85 < place[speed.argmax()] < 0.95
    assert speed.max() == pytest.approx(1.9016, rel=1e-3)
    assert speed[(place > 0.1) & (place < 0.5)].max() < 0.7


@pytest.mark.slow
def test_backward_step_inlet(tmp_path):
    """The flow comes back to the floor where Erturk has it at Re = 100, x = 2.922."""
    settings = "grid.cells=[40, 16, 1]", "grid.downstream=10", "grid.upstream=3", "fluid.viscosity=0.02"
    short(tmp_path, "backward_step_inlet", *settings, "time.steady=1e-3")
    last = opened(tmp_path / "run" / "fields.zarr").isel(time=-1)
    floor = last.flow.side("lower").sortby("x")
    x, shear = (values[floor.x.values > 0] for values in (floor.x.values, floor.shear_x.values))
    n = int(np.flatnonzero(shear < 0)[-1])
    assert np.interp(0, shear[n : n + 2], x[n : n + 2]) == pytest.approx(2.922, rel=0.05)


@pytest.mark.slow
def test_heated_cube(tmp_path):
    """What enters at the hot wall leaves at the cold one; the pressure is 0 in the centre."""
    bodies = short(tmp_path, "heated_cube", "grid.cells=[9, 9, 9]", "time.steady=1e-2", "method.cfl=0.3")
    hot, cold = (bodies[side]["heat_flux"] for side in ("x_min", "x_max"))
    assert 4.337 < -hot / (2.2535e-5 * 8.822 * 0.05) < 6.5  # from above, with the square of the spacing
    assert cold == pytest.approx(-hot, rel=1e-3)
    last = opened(tmp_path / "run" / "fields.zarr").isel(time=-1)
    assert float(last["charts/0/p"][4, 4, 4]) == 0
