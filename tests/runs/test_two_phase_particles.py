"""Tracers in two phases: with which phase they go, the same to the bit on any blocks and where a run goes on."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from taskflow.common.errors import BadInput
from tests.cases.two_phases import case
from tests.runs.going_on import found, go

DYE = {
    "name": "dye", "box": [[0.0, 0.0, 0.0], [0.6, 0.4, 0.7]], "count": 60, "every": {"steps": 1}, "fields": ["f"],
}  # fmt: skip
BODY = [{"type": "box", "low": [0.2, 0.1, 0.0], "high": [0.4, 0.3, 0.1]}]


def test_particles_with_mass_are_refused():
    assert case(particles=[DYE]).particles[0].response_time is None
    with pytest.raises(BadInput, match=r"particles\[2\].response_time = 0.1: it refers to one fluid"):
        case(particles=[DYE, {**DYE, "name": "sand", "response_time": 0.1}])


@pytest.mark.slow
@pytest.mark.parametrize(("changes", "blocks"), [({}, (1, 1, 2)), ({"obstacles": BODY}, (2, 1, 2))])
def test_trajectories_have_the_same_bits_on_any_blocks(tmp_path, changes, blocks):
    """And where a run goes on from a checkpoint."""
    with_dye = case(particles=[DYE], time={"steps": 10}, checkpoint={"every": {"steps": 2}}, **changes)
    go(with_dye, tmp_path / "whole")
    go(with_dye, tmp_path / "run", blocks, kill=5)
    go(with_dye, tmp_path / "run", (1, 1, 1), resume=True)
    one, other = (found(tmp_path / name, "dye").drop_attrs() for name in ("run", "whole"))
    xr.testing.assert_identical(one, other)
    assert float(abs(other["x"] - other["x"].isel(time=0)).max()) > 1e-4
    assert bool(other["x"].isnull().any()) == bool(changes)  # some would begin in the body


@pytest.mark.slow
def test_the_flow_has_the_bits_of_one_without_particles(tmp_path):
    for name, particles in (("with", [DYE]), ("without", [])):
        go(case(particles=particles), tmp_path / name)
    xr.testing.assert_identical(found(tmp_path / "with").drop_attrs(), found(tmp_path / "without").drop_attrs())


@pytest.mark.slow
def test_tracers_go_with_their_phase(tmp_path):
    """A droplet 50 times as dense as what is around it is carried by a uniform flow, across periodic sides."""
    speed, end = np.array([0.6, 0.4, -0.7]), 0.5
    ink = {**DYE, "name": "ink", "count": None, "lattice": [2, 2, 2], "box": [[0.22, 0.12, 0.27], [0.38, 0.28, 0.43]]}
    moving = case(
        particles=[DYE, ink],
        two_phase={"surface_tension": 0.0, "initial": "0.15 - sqrt((x - 0.3)**2 + (y - 0.2)**2 + (z - 0.35)**2)"},
        initial={"velocity": speed.tolist()},
        body={"gravity": [0, 0, 0]},
    ).replace(boundaries=dict.fromkeys("xyz", "periodic"), time={"end": end})
    go(moving, tmp_path / "run")
    dye = found(tmp_path / "run", "dye")
    for axis, velocity in zip("xyz", speed, strict=True):
        length = dye[axis].attrs["period"]
        ways = dye[axis] - dye[axis].isel(time=0) - velocity * dye["time"]
        assert float(abs((ways + length / 2) % length - length / 2).max()) < 1e-6
    drop, around = found(tmp_path / "run", "ink")["f"], dye["f"].where(dye["f"].isel(time=0) < 0.1)
    assert float(drop.isel(time=0).min()) > 0.9
    assert around.isel(time=0).count() > 20
    assert float(drop.min()) > 0.8
    assert float(around.max()) < 0.2
