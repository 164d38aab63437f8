"""A run that diverges says where, keeps no state that it has spoilt, and does not cry wolf."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.cases.timing.intervals import Tick
from taskflow.common.errors import RunFailed
from taskflow.output import Checkpoints, newest
from taskflow.runs.block.sanity import SANE, Diagnosis, Sanity
from taskflow.runs.block.step_watch import SHORT_STEPS, WaveWatch
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import cpu, gpu
from taskflow.systems.base.scales import Scale
from tests.cases import on_charts
from tests.runs.going_on import go

LID = {
    "x_min": "wall", "x_max": "wall", "y": "periodic", "z_min": "wall",
    "z_max": {"type": "wall", "velocity": [1.0, 0.0, 0.0]},
}  # fmt: skip
STILL = {**LID, "z_max": "wall"}
LATE = {"type": "inflow", "velocity": ["80 * maximum(t - 0.02, 0)", 0, 0]}
WARM = {"heat": {"diffusivity": 0.05, "expansion": 1.0}}
EVERYWHERE = {"x": "periodic", "y": "periodic", "z": "periodic"}
VORTICES = {"velocity": ["sin(x)*cos(z) + 0.1*sin(3*x)*cos(3*z)", 0, "-cos(x)*sin(z) - 0.1*cos(3*x)*sin(3*z)"]}


def cavity(**changes) -> Case:
    tables = {
        "grid": {"cells": [8, 3, 8], "lengths": [1.0, 0.5, 1.0], "origin": [2.0, 0.0, -1.0]},
        "fluid": {"viscosity": 0.05}, "boundaries": LID, "time": {"steps": 200, "step": 0.25},
        "pressure": {"solver": "fft"}, "monitor": {"every": {"steps": 50}}, "output": {"every": {"steps": 3}},
        "checkpoint": {"every": {"steps": 1}}, "machine": {"device": "cpu", "threads": 1},
    }  # fmt: skip
    return Case(**{**tables, **changes})


def vortices(time, viscosity=0.0, **changes) -> Case:
    grid = {"cells": [12, 1, 12], "lengths": [2 * np.pi, 1, 2 * np.pi]}
    tables = {"grid": grid, "fluid": {"viscosity": viscosity}, "boundaries": EVERYWHERE, "initial": VORTICES}
    return cavity(**{**tables, "time": time, **changes, "monitor": {"every": {"steps": 5}}, "checkpoint": {}})


def largest(path, role: str, setup: RunSetup) -> float:
    """In the newest checkpoint."""
    result, skipped = newest(Checkpoints(path / "checkpoints", ""))
    assert result is not None
    assert not skipped
    values = np.zeros(setup.grid.box.shape[::-1])
    result.fill(role, values, setup.grid.box)
    return float(np.abs(values).max())


# ------------------------------------------------------------------------------------------------ where it diverges

@pytest.mark.gpu
def test_a_run_that_diverges_on_a_gpu(tmp_path):
    """Velocity and temperature, of which the latter is looked at before a checkpoint."""
    with pytest.raises(RunFailed, match=r"at step \d+, time .*, [uvwT] is \S+ \(the case explains .*\) in cell"):
        go(cavity(heat={"diffusivity": 0.5}), tmp_path / "run", device=gpu())


@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 1, 2)])
@pytest.mark.fast("blocks1")
def test_a_run_that_diverges_says_where(tmp_path, blocks):
    setup = RunSetup(cavity(), blocks)
    with pytest.raises(RunFailed) as failed:
        go(cavity(), tmp_path / "run", blocks)
    told = re.fullmatch(
        r"the run diverged: at step (\d+), time ([\d.]+), ([uvw]) is (\S+) \(the case explains 1\) in cell"
        r" \((\d+), (\d+), (\d+)\) of block (\d+), at x = (\S+), y = (\S+), z = (\S+); give a smaller time\.step"
        r' \(now 0\.25\), or more cells, or time\.scheme = "rk3"', str(failed.value)
    )  # fmt: skip
    assert told is not None, failed.value
    step, field, cell, block = int(told[1]), told[3], tuple(map(int, told.group(5, 6, 7))), int(told[8])
    assert float(told[2]) == pytest.approx(0.25 * step)
    assert setup.partition.blocks[block].lo <= cell < setup.partition.blocks[block].hi
    for axis, place in enumerate(told.group(9, 10, 11)):
        location = setup.model.fields[field]
        assert float(place) == pytest.approx(setup.grid.coordinates(location, axis)[cell[axis]], abs=1e-5)
    assert abs(float(told[4])) > 10
    result, _ = newest(Checkpoints(tmp_path / "run" / "checkpoints", ""))
    assert result is not None
    assert result.step == step - 1
    assert all(largest(tmp_path / "run", role, setup) < SANE for role in "uvw")


def test_a_temperature_that_diverges_alone(tmp_path):
    """In a fluid at rest, where no velocity tells; it would have ended well, with numbers of 1e40."""
    walls = {**STILL, "x_min": {"type": "wall", "temperature": 2.0}}
    heat = {"diffusivity": 0.5}
    case = cavity(boundaries=walls, heat=heat, time={"steps": 60, "step": 0.02}, monitor={"every": {"steps": 10**6}})
    with pytest.raises(RunFailed, match=r"step \d+, time .*, T is \S+ \(the case explains 2\) in cell .* of block 0"):
        go(case, tmp_path / "run")
    assert largest(tmp_path / "run", "T", RunSetup(case, (1, 1, 1))) <= 2 * SANE


def test_a_number_that_is_none(tmp_path, monkeypatch):
    """Wherever it comes from."""
    real = Sanity.carries

    def spoilt(self, tick):
        values = self._shard.read("T")
        if tick.step == 2 and self._shard.block == 1:
            values[1, 2, 3] = np.nan
        self._shard.write({"T": values})
        return real(self, tick)

    monkeypatch.setattr(Sanity, "carries", spoilt)
    case = cavity(heat={"diffusivity": 0.01}, time={"steps": 5, "step": 0.01})
    with pytest.raises(RunFailed, match=r"step 2, time 0\.02, T is nan in cell \(3, 2, 5\) of block 1, at x = 2\.4375"):
        go(case, tmp_path / "run", (1, 1, 2))


@pytest.mark.parametrize("device", [cpu, pytest.param(gpu, marks=pytest.mark.gpu)])
def test_extremes(device):
    """The first value that is not finite, or else the largest, in the cells of the domain."""
    setup = RunSetup(cavity(), (1, 1, 2))

    def job(shard):
        values, result = np.zeros(shard.cells.shape[::-1]), []
        for cell, value in (((1, 2, 3), -5.0), ((3, 2, 0), 5.5), ((2, 1, 1), np.inf), ((1, 1, 1), np.nan)):
            values[cell] = value
            shard.write({"u": values})
            result.append(shard.extreme("u"))
        return result

    for block, result in enumerate(run_threads(setup.partition, job, device(), Mapper("none"))):
        k = 4 * block
        assert result[0] == ((3, 2, k + 1), -5.0)
        assert result[1] == ((0, 2, k + 3), 5.5)
        assert result[2] == ((1, 1, k + 2), np.inf)
        assert result[3][0] == (1, 1, k + 1)
        assert np.isnan(result[3][1])


# ------------------------------------------------------------------------------------------------ what to change

@pytest.mark.parametrize(("changes", "residual", "told"), [
    ({}, 0.0, "smaller time.step (now 0.25)"),
    ({"time": {"end": 1.0}, "pressure": {"iterations": 3}}, 0.3, "30% of the divergence was left: give more press"),
    ({"time": {"end": 1.0}, "pressure": {"iterations": 3}}, 0.01, "so the grid may be too coarse: give more cells"),
    ({"time": {"end": 1.0}, "pressure": {"solver": "fft"}}, 0.3, "so the grid may be too coarse: give more cells"),
    ({"time": {"end": 1.0}, "fluid": {"viscosity": 0.0}}, 0.0, "smaller time.cfl (now 0.5), or more cells, or time."),
    ({"time": {"end": 1.0, "cfl": 3.0, "scheme": "rk3"}}, 0.0, "smaller time.cfl (now 3), or more cells"),
])  # fmt: skip
def test_the_remedy_fits(changes, residual, told):
    blame, tick = Diagnosis(RunSetup(cavity(**changes), (1, 1, 1)).spec), Tick(9, 1.0, 0.02)
    if blame.watch is not None:
        blame.watch.look(Tick(9, 1.0, 0.25), 24.0, 0.0)
    blame.note({"residual": residual})
    assert told in blame(tick)


# ------------------------------------------------------------------------------------------------ what is explained

def test_scales():
    walls = {**LID, "x_min": {"type": "wall", "temperature": 3.0}, "x_max": {"type": "wall", "heat_flux": -0.5}}
    heat = {"diffusivity": 0.1, "expansion": 0.2, "reference": 1.0, "source": 0.25}
    dye = {"name": "dye", "diffusivity": 0.1, "sources": [{"point": [2.5, 0.2, -0.5], "rate": 0.01}]}
    case = cavity(boundaries=walls, heat=heat, scalars=[dye], body={"gravity": [0, 0, -5]})
    result = RunSetup(case, (1, 1, 1)).system.scales
    assert result.speed == Scale(1.0)
    assert result.lift == pytest.approx(1.0)
    assert result.carried["T"] == Scale(3.0, 0.25 + 6 * 0.5 / 0.125)
    assert result.carried["dye"].gain == pytest.approx(0.01 * 8 * 6 * 8)
    assert result.driven
    assert not RunSetup(cavity(boundaries=STILL), (1, 1, 1)).system.scales.driven
    pushed = RunSetup(cavity(boundaries=EVERYWHERE, body={"force": [3.0, 0.0, 4.0]}), (1, 1, 1)).system.scales
    assert pushed.speed == Scale(0.0, 5.0)
    assert pushed.driven


@pytest.mark.fast("changes0", "changes3", "changes6")
@pytest.mark.parametrize("changes", [
    {"boundaries": EVERYWHERE, "body": {"force": [50.0, 0.0, 0.0]}},
    {"boundaries": EVERYWHERE, "body": {"bulk_velocity": {"x": 30.0}}},
    {"boundaries": {**STILL, "x_min": LATE, "x_max": "outflow"}},
    {"boundaries": {**STILL, "x_min": {"type": "wall", "temperature": 1.0}}, **WARM, "body": {"gravity": [0, 0, -99]}},
    {"boundaries": {**STILL, "z_min": {"type": "wall", "heat_flux": 40.0}}, **WARM, "body": {"gravity": [0, 0, -9]}},
    {"boundaries": EVERYWHERE, "initial": {"velocity": ["99*sin(6.2831853*z)", 0, 0]}},
    {"scalars": [{"name": "dye", "diffusivity": 0.1, "source": 1e3}]},
])  # fmt: skip
def test_what_a_case_explains_is_sane(changes, tmp_path):
    """From rest, and quickly."""
    case = cavity(**{"time": {"steps": 40}, "checkpoint": {"every": {"steps": 5}}, **changes})
    told = go(case, tmp_path / "run", (1, 1, 2))
    assert told["ended"] == "end"
    assert not any("do not trust" in words for words in told.get("warnings", ()))


# ------------------------------------------------------------------------------------------------ energy from nothing

@pytest.mark.fast("-False2", "-True1")
@pytest.mark.parametrize(("case", "grows"), [
    (vortices({"steps": 60, "cfl": 1.2}), True),
    (vortices({"steps": 60, "cfl": 1.2}, body={"force": [1e-9, 0, 0]}), False),  # something drives it
    (vortices({"steps": 60}), False), (vortices({"steps": 60, "cfl": 1.5, "scheme": "rk3"}), False),
    pytest.param(vortices({"steps": 400}, 0.3), False, marks=pytest.mark.slow),  # down to rounding
    (vortices({"steps": 60}, 1e-4, pressure={"iterations": 1}), True),
], ids=lambda item: str(item) if isinstance(item, bool) else "")  # fmt: skip
def test_energy_that_nothing_gives(case, grows, tmp_path):
    told = go(case, tmp_path / "run").get("warnings", ())
    energy = [words for words in told if "the kinetic energy has grown from" in words]
    assert len(energy) == grows
    if grows:
        assert "though nothing drives the flow" in energy[0]
        assert ("pressure.iterations (now 1)" if case.pressure.iterations else "time.cfl (now 1.2)") in energy[0]


def test_energy_is_judged_by_the_least():
    domain = RunSetup(cavity(), (1, 1, 1)).domain
    sanity = Sanity(SimpleNamespace(scales=SimpleNamespace(driven=False), domain=domain), None, lambda _: "do this")
    result = [sanity.grows(Tick(n, 0.1 * n), energy) for n, energy in enumerate((1.0, 0.5, 0.504, 0.506, 0.9))]
    assert [words is not None for words in result] == [False, False, False, True, False]
    assert "at step 3, time 0.3, the kinetic energy has grown from 0.5 to 0.506" in str(result[3])


def test_steps_that_are_short_for_capillary_waves_alone_are_told_once():
    def look(watch, **bounds):
        return watch.look(Tick(step=7, time=0.5, bounds=bounds))

    watch = WaveWatch()
    for _ in range(SHORT_STEPS - 1):
        assert look(watch, cfl=0.2, diffusion=3.0, capillary=0.01) is None
    assert look(watch, cfl=0.05, diffusion=3.0, capillary=0.01) is None  # and from the beginning
    told = [look(watch, cfl=0.2, diffusion=np.inf, capillary=0.01) for _ in range(3 * SHORT_STEPS)]
    (words,) = filter(None, told)
    assert "steps of 0.01 follow capillary waves, where everything else would allow 0.2" in words
    assert "time.capillary, up to 1" in words
    assert not any(look(WaveWatch(), step=0.1) for _ in range(2 * SHORT_STEPS))


@pytest.mark.parametrize("time", [{"steady": 1e-6, "steps": 9}, {"step": 0.1, "steps": 9}])
def test_fluxes_explain_what_walls_of_charts_give(time):
    """Conducted through the whole grid, 10 wide, and in real time what they add to the thinnest cell."""
    walls = {"body": {"type": "wall", "heat_flux": -0.5}, "far": on_charts.CYLINDER["boundaries"]["far"]}
    dye = {"name": "dye", "diffusivity": 0.02, "boundaries": {"body": {"flux": 0.3}, "far": {"value": 2.0}}}
    system = RunSetup(on_charts.case(
        boundaries={**walls, "ends": "symmetry"}, heat={"diffusivity": 0.1, "reference": 3.0}, scalars=[dye], time=time,
    ), (1, 1, 1)).system  # fmt: skip
    gain = 6 / system.domain.thickness[0] if "step" in time else 0.0
    for name, largest, flux in (("T", 3 + 0.5 * 10 / 0.1, 0.5), ("dye", 2 + 0.3 * 10 / 0.02, 0.3)):
        scale = system.scales.carried[name]
        assert (scale.largest, scale.gain) == pytest.approx((largest, flux * gain))
