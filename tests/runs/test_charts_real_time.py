"""Real time on charts: the same bits for any blocks and after any break, sides that change in time, steps that miss."""

from __future__ import annotations

import pickle
import tomllib
from itertools import product

import numpy as np
import pytest

from taskflow.analysis.charts.export import export_charts
from taskflow.cases import Case
from taskflow.cases.tables.motion import GridMotion
from taskflow.common.errors import BadInput, RunFailed
from taskflow.common.hexahedra import cell_volumes, centres, swept_rates, swept_volumes
from taskflow.output import read_log, tree
from taskflow.output.store.rigid_motion import RATES
from taskflow.runs.state.restart import newest_restart
from taskflow.runs.state.setup import RunSetup
from taskflow.systems.artificial_compressibility.moment import TimeLevels
from tests.cases.on_charts import CYLINDER, LID, TURNED, case, changed
from tests.flow.charts import distorted, lattice
from tests.runs.going_on import go
from tests.runs.test_charts_run import assert_same_run, contents

EVERY = {"output__every": {"steps": 2}, "monitor__every": {"steps": 1}}
SHEDDING = changed(
    CYLINDER, time={"steps": 4, "step": 0.2}, method__march="rk5", method__compressibility=10.0,
    boundaries__body={"type": "wall", "velocity": ["-y*sin(t)", "x*sin(t)", 0.0]}, **EVERY,
)  # fmt: skip
WARM = changed(
    LID, time={"end": 0.3, "cfl": 2.0}, method={"type": "artificial-compressibility"}, output__every=0.15,
    monitor__every={"steps": 1},
)  # fmt: skip
PITCHING = changed(
    SHEDDING, boundaries__body="wall", method__compressibility=40.0, method__march="rk4",
    motion={"angle": {"z": "0.5*sin(4*t)"}, "centre": [0.2, 0.0, 0.0], "displacement": [0.1, "0.2*sin(3*t)", 0.0]},
)  # fmt: skip
SLIDING = changed(
    TURNED, time={"steps": 4, "step": 0.1}, initial={"velocity": [0.3, 0.0, 0.0]}, **EVERY,
    boundaries__y_max={"type": "wall", "velocity": ["cos(t)", 0.0, 0.0]},
)  # fmt: skip


def assert_blocks_and_a_break(folder, tables, cuts) -> None:
    """A run has the same bits whole, on blocks of charts that are cut, and gone on with on other blocks."""
    tables = changed(tables, method__inner={"iterations": 10})  # too few: bits are to be the same all the way
    go(case(tables), folder / "whole")
    go(case(tables, machine__cuts=cuts), folder / "cut", (1, 1, 3))
    assert_same_run(folder / "cut", folder / "whole")
    saved, broken = case(tables, checkpoint__every={"steps": 2}), folder / "broken"
    go(saved, broken, (1, 1, 2), kill=3)
    assert newest_restart(broken, saved)[0].tick.step == 2
    go(saved, broken, (1, 1, 1), resume=True)
    assert_same_run(broken, folder / "whole")


@pytest.mark.slow
@pytest.mark.parametrize(("tables", "cuts"), [
    (SHEDDING, {"1": [2, 1, 1], "2": [1, 2, 1]}), (PITCHING, {"1": [2, 1, 1], "2": [1, 2, 1]}),
    (WARM, {"2": [1, 2, 2]}), (SLIDING, {"4": [1, 1, 2]}),
    (changed(SHEDDING, method__march="implicit"), {"1": [2, 1, 1]}),
    (changed(PITCHING, method__march="implicit"), {"1": [2, 1, 1]}),
    (changed(WARM, method__march="implicit", grid__cells=[10, 12, 6]), {"2": [1, 2, 1]}),
])  # fmt: skip
def test_real_time_has_the_same_bits_for_any_blocks_and_goes_on_after_a_break(tmp_path, tables, cuts):
    assert_blocks_and_a_break(tmp_path, tables, cuts)


def test_checkpoints_hold_two_levels():
    """And no more: what they add to a step is found anew."""
    setup = RunSetup(case(SHEDDING, method__march="rk4"), (1, 1, 2))
    levels = {name for name in setup.carried if setup.carried[name]}
    assert levels == {name for q in "puvw" for name in (q, f"old_{q}")}


def test_a_case_in_real_time_is_read_back_as_it_was_written():
    full = case(WARM, method__inner={"tolerance": 1e-2})
    assert RunSetup(full, (1, 1, 1)).model.real.iterations == 1000
    assert Case(**tomllib.loads(full.to_toml())) == full


@pytest.mark.slow
def test_steps_that_miss_are_warned_of_and_five_in_a_row_are_an_error(tmp_path):
    with pytest.raises(RunFailed) as error:
        go(case(SHEDDING, method__inner={"iterations": 10}, time__steps=6), tmp_path / "run")
    assert str(error.value).startswith("step 5, time 1: after 10 steps of pseudo-time the residual of continuity is ")
    assert "in the 5th step in a row; give more method.inner.iterations, shorter steps, or a larger" in str(error.value)
    told = go(case(SHEDDING, method__inner={"iterations": 10}, time__steps=3), tmp_path / "short")
    (warning,) = told["warnings"]
    assert warning.startswith("step 1, time 0.2: after 10 steps of pseudo-time the residual of continuity is ")


@pytest.mark.slow
def test_the_log_of_real_time(tmp_path):
    """Steps as long as they are asked to be, and what is marched within them."""
    told = go(case(WARM), tmp_path / "run")
    lines = read_log(tmp_path / "run" / "log.jsonl")
    assert told["ended"] == "end"
    assert lines[-1]["time"] == 0.3
    steps = [line for line in lines if line["step"]]
    assert all(line["inner"] >= 10 and line["cfl"] <= 2.0 * 1.3 for line in steps)
    assert all(line["divergence"] <= 1e-4 for line in steps)


@pytest.mark.slow
def test_steps_of_real_time_are_proved():
    from taskflow.runs.estimate.estimate import estimate

    proof = estimate(case(PITCHING, machine__blocks=2)).prove()
    proof.hold()
    assert proof.reads > 0


@pytest.mark.slow
@pytest.mark.parametrize("march", ["rk4", "implicit"])
def test_kernels_of_real_time_and_of_moving_grids_compile_for_gpus(march, tmp_path):
    from tests.nvrtc import messages
    from tests.test_gpu_texts import texts

    (tmp_path / "case.toml").write_text(case(PITCHING, method__march=march).to_toml())
    assert [told for text in texts(tmp_path / "case.toml", "double") if (told := messages(text))] == []


@pytest.mark.slow
def test_a_grid_that_is_too_fast_for_sound_ends_the_run(tmp_path):
    """With the place, and a compressibility that is large enough."""
    with pytest.raises(RunFailed) as error:
        go(case(PITCHING, method__compressibility=0.5, method__inner={"iterations": 200}), tmp_path / "run")
    told = str(error.value)
    assert "the grid moves too fast for a compressibility of 0.5 in cell (" in told
    assert "; give method.compressibility = " in told


@pytest.mark.slow
def test_moments_are_about_the_point_that_moves(tmp_path):
    """A cylinder that plunges in fluid at rest: the force passes its axis, whatever the way."""
    still = {"type": "far-field", "velocity": [0.0, 0.0, 0.0]}
    plunging = case(
        PITCHING, boundaries__far=still, initial={}, method__reference_speed=1.0, time={"steps": 3, "step": 0.1},
        motion={"displacement": [0.0, "0.5*t", 0.0]},
    )  # fmt: skip
    go(plunging, tmp_path / "run")
    acts = read_log(tmp_path / "run" / "log.jsonl")[-1]["bodies"]["body"]
    assert acts["force"][1] < -0.1
    assert abs(acts["moment"][2]) < 1e-6 * abs(acts["force"][1])


def test_sides_that_change_in_time_are_tried_beforehand():
    velocity = ["-y*sqrt(0.5 - t)", "x*sqrt(0.5 - t)", 0.0]
    tables = changed(SHEDDING, boundaries__body={"type": "wall", "velocity": velocity})
    with pytest.raises(BadInput, match=r"boundaries.body.velocity: .* is not finite"):
        RunSetup(case(tables), (1, 1, 1)).system.check()
    through = changed(SHEDDING, boundaries__body={"type": "wall", "velocity": ["t", 0.0, 0.0]})
    with pytest.raises(BadInput, match=r"boundaries.body.velocity: at t = 0.1 a wall moves in its own plane only"):
        RunSetup(case(through), (1, 1, 1)).system.check()
    sides = {
        "x_min": {"type": "inflow", "velocity": ["1 + t", 0.0, 0.0]},
        "x_max": {"type": "inflow", "velocity": [1.0, 0.0, 0.0]},
        **dict.fromkeys(("y_min", "y_max", "z_min", "z_max"), "slip"),
    }  # fmt: skip
    grid = {"cells": [6, 5, 4], "lengths": [1.0, 1.0, 1.0]}
    with pytest.raises(BadInput, match=r"boundaries: at t = 0.1 0.1 per time enters through x_min, x_max"):
        RunSetup(case(SHEDDING, grid=grid, boundaries=sides), (1, 1, 1)).system.check()


def test_formulas_and_slices_are_tried_where_the_grid_begins():
    """And the largest speed is looked for there: of a box that begins at x = 100, up to 105."""
    inflow = {"type": "inflow", "velocity": ["1 + 0*sqrt(x - 50)", 0.0, 0.0]}
    sides = dict.fromkeys(("y_min", "y_max", "z_min", "z_max"), "wall")
    setup = RunSetup(case(
        PITCHING, motion={"displacement": ["100 + t", 0.0, 0.0]}, method__reference_speed="auto",
        initial={"velocity": ["x + 0*sqrt(x - 50)", 0.0, 0.0]}, pictures=[{"name": "slice", "x": 102.0}],
        grid={"cells": [4, 4, 4], "lengths": [5.0, 5.0, 5.0]},
        boundaries={"x_min": inflow, "x_max": {"type": "outflow", "pressure": 0.0}, **sides},
    ), (1, 1, 1))  # fmt: skip
    setup.system.check()
    assert setup.system.speed == pytest.approx(105.0)


def test_velocities_of_sides_are_those_of_the_end_of_a_step():
    constants = RunSetup(case(SHEDDING), (1, 1, 1)).system.constants
    box = constants.domain.atlas.charts[0].grow(2)
    at_rest, later = (constants.velocities(box, TimeLevels(time)) for time in (0.0, 0.5))
    assert not any(np.any(values) for values in at_rest.values())
    speed = np.hypot(later["u_s"], later["v_s"])
    assert speed.max() == pytest.approx(0.5 * np.sin(0.5), rel=0.02)


def test_a_force_by_formulas_is_that_of_the_end_of_a_step_where_cells_are_then():
    pushed = case(PITCHING, body={"force": ["x*t", 1.0, "where(x*x + y*y < 0.2, 1/z - 1/z, 0)"]})
    system = RunSetup(pushed, (1, 1, 1)).system
    constants, chart = system.constants, system.domain.atlas.charts[0]
    assert set(constants.changing) > {"f_x", "f_y", "f_z"}
    force = constants.values(chart.grow(2), TimeLevels(0.5, 0.1), ["f_x", "f_y", "f_z"])
    x, _, _ = centres(constants.domain.moved(constants.domain.at_rest(chart), 0.5))
    inside = chart.slices(chart.grow(2).lo)
    unit = system.model.unit  # of length, in which kernels have accelerations
    np.testing.assert_allclose(force["f_x"][inside], 0.5 * x * unit, rtol=0, atol=1e-14)
    assert np.all(force["f_y"][inside] == unit)
    assert sum(np.count_nonzero(part) for part in force.values()) == 2 * x.size  # none beyond the chart
    with pytest.raises(BadInput, match=r"body.force: .* is not finite"):
        RunSetup(case(SHEDDING, body={"force": ["1/(0.5 - t)", 0, 0]}), (1, 1, 1)).system.check()


def test_tables_and_functions_of_time_are_as_expressions(tmp_path):
    """On a wall and as a force f(t), at an inflow f(x, y, z, t)."""
    (tmp_path / "ramp.csv").write_text("time,value\n0,0\n1,2\n")
    ramp = str(tmp_path / "ramp.csv")
    sides = {"x_max": {"type": "outflow", "pressure": 0.0}, **dict.fromkeys(("y_min", "z_min", "z_max"), "slip")}
    box = {"grid": {"cells": [4, 4, 4], "lengths": [1.0, 1.0, 1.0]}, "method__reference_speed": 1.0}

    def fields(push, slide, enter, through):
        inflow = {"type": "inflow", "velocity": [through, enter, 0.0]}
        lid = {"type": "wall", "velocity": [slide, 0.0, 0.0]}
        tables = changed(SHEDDING, **box, boundaries={**sides, "x_min": inflow, "y_max": lid})
        system = RunSetup(case(tables, body={"force": [push, 0.0, 0.0]}), (1, 1, 1)).system
        system.check()
        constants = pickle.loads(pickle.dumps(system.constants))
        assert set(constants.keys) == {
            "body.force[1]", "boundaries.x_min.velocity[1]", "boundaries.x_min.velocity[2]",
            "boundaries.y_max.velocity[1]",
        }  # fmt: skip
        around = constants.domain.atlas.charts[0].grow(2)
        forces = constants.values(around, TimeLevels(0.75, 0.1), ["f_x", "f_y", "f_z"])
        return {**constants.velocities(around, TimeLevels(0.75)), **forces}

    told = fields("2*t", "2*t", "y*t", "2*t")
    for other in (fields(ramp, ramp, lambda x, y, z, t: y * t, ramp),
                  fields(lambda t: 2 * t, lambda t: 2 * t, "y*t", lambda x, y, z, t: 2 * t + 0 * x)):  # fmt: skip
        for name, values in told.items():
            np.testing.assert_array_equal(other[name], values)
    assert min(told["f_x"].max(), told["v_s"].max()) > 0


@pytest.mark.slow
def test_fluid_that_is_pushed_to_and_fro_goes_where_the_force_sends_it(tmp_path):
    """In a box without sides u = sin(t) for a force cos(t), with the order of the steps."""
    box = {"shape": "box", "cells": [8, 4, 4], "lengths": [1, 1, 1], "charts": [2, 1, 1], "periodic": ["x", "y", "z"]}
    apart = []
    for steps in (10, 20, 40):
        pushed = case(
            TURNED, grid=box, boundaries={}, body={"force": ["cos(t)", 0.0, "0*x"]}, method__reference_speed=1.0,
            time={"end": 1.0, "step": 1 / steps}, output__every=1.0, monitor__every={"steps": 10},
            method__inner={"tolerance": 1e-8, "iterations": 500},
        )  # fmt: skip
        go(pushed, tmp_path / f"{steps}")
        u = contents(tmp_path / f"{steps}")[0]["0/u"][-1]
        assert np.ptp(u) < 1e-12
        apart.append(abs(u.mean() - np.sin(1.0)))
    assert np.log2(apart[0] / apart[1]) == pytest.approx(2.0, abs=0.2)
    assert np.log2(apart[1] / apart[2]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("march", ["rk4", "implicit"])
def test_a_uniform_stream_stays_as_it_is_on_a_grid_that_moves(march, tmp_path):
    """V1 in motion: an o-grid that turns and plunges, with steps of one length and of several."""
    stream = {"type": "far-field", "velocity": [1.0, 0.3, 0.0]}
    sides = {"body": stream, "far": stream, "ends": "symmetry"}
    moving = case(
        PITCHING, boundaries=sides, initial={"velocity": [1.0, 0.3, 0.0]}, time={"end": 0.43, "step": 0.05},
        output__every=0.15, method__march=march,
    )  # fmt: skip
    go(moving, tmp_path / "run")
    fields, _ = contents(tmp_path / "run")
    result = tree(tmp_path / "run" / "fields.zarr").load()
    for n, chart in enumerate(RunSetup(moving, (1, 1, 1)).system.grid.charts):
        for time in result.time.values:
            places = moving.motion.moved(chart.vertices, float(time))
            stored = result[f"charts/{n}"].to_dataset().sel(time=time)
            np.testing.assert_array_equal(np.stack([stored[axis] for axis in "xyz"]), places)
    export_charts(result, tmp_path / "vtk", "fields")
    grids = [(tmp_path / "vtk" / f"fields_{n:06}" / "chart_0.vts").read_bytes() for n in range(result.sizes["time"])]
    assert len(set(grids)) == result.sizes["time"] == 4  # points of each time
    for number, (name, value) in product((0, 1), {"p": 0.0, "u": 1.0, "v": 0.3, "w": 0.0}.items()):
        assert abs(fields[f"{number}/{name}"] - value).max() < 1e-12


def test_pressures_and_stresses_on_a_wall_that_moves_are_its_force(tmp_path):
    """Those of snapshots, planes and surfaces, with steps of several lengths; a store without rates has no stress."""
    go(case(
        PITCHING, time={"end": 0.25, "step": 0.1}, output__every=0.15, method__inner={"iterations": 10},
        planes=[{"name": "wall", "side": "body", "every": {"steps": 1}}],
    ), tmp_path / "run")  # fmt: skip
    snapshots, planes = (tree(tmp_path / "run" / "fields.zarr", group) for group in ("", "wall"))
    log = {line["time"]: line["bodies"]["body"] for line in read_log(tmp_path / "run" / "log.jsonl")}
    assert set(snapshots.time.values) < set(log) == set(planes.time.values)
    for number, time in enumerate(planes.time.values):
        side = planes.isel(time=number).flow.side("body")
        friction = [float((side[f"stress_{axis}"] * side.area).sum()) for axis in "xyz"]
        np.testing.assert_allclose(friction, np.subtract(log[time]["force"], log[time]["pressure_force"]), atol=1e-12)
    last = snapshots.isel(time=-1)
    side, span = last.flow.side("body"), float(np.ptp(last["charts/0/z"].values))
    force = [float(((side.p_face * side[f"normal_{a}"] + side[f"stress_{a}"]) * side.area).sum()) for a in "xyz"]
    np.testing.assert_allclose(np.divide(force, span), log[float(last.time)]["force"], atol=1e-12)
    earlier = last.copy()
    earlier.dataset = last.to_dataset().drop_vars(RATES)
    earlier.attrs["boundary_body_velocity"] = np.zeros(3)
    assert "p_face" in earlier.flow.side("body")
    assert "stress_x" not in earlier.flow.side("body")


@pytest.mark.slow
def test_implicit_marching_solves_the_same_steps_on_a_grid_that_moves(tmp_path):
    """As explicit marching, where both leave next to nothing of the residuals."""
    tight = changed(PITCHING, method__inner={"tolerance": 1e-8, "iterations": 20000})
    for march in ("rk4", "implicit"):
        go(case(tight, method__march=march), tmp_path / march)
    (fields, log), (expected, lines) = contents(tmp_path / "implicit"), contents(tmp_path / "rk4")
    for number, name in product((0, 1), "puv"):
        np.testing.assert_allclose(fields[f"{number}/{name}"], expected[f"{number}/{name}"], rtol=0, atol=1e-5)
    for one, other in zip(log[1:], lines[1:], strict=True):
        assert one["inner"] < other["inner"] / 10
        assert one["bodies"]["body"]["force"] == pytest.approx(other["bodies"]["body"]["force"], abs=1e-4)


def test_what_faces_sweep_is_the_change_of_volumes():
    """Of a box whose vertices move anyhow; and of steps of two lengths, by the weights of the levels."""
    random = np.random.default_rng(4)
    old, new = (np.stack(distorted(lattice((4, 3, 5)))) + 0.02 * random.standard_normal((3, 6, 4, 5)) for _ in range(2))
    swept = [swept_volumes(tuple(old), tuple(new), axis) for axis in range(3)]
    change = sum(np.diff(faces, axis=2 - axis) for axis, faces in enumerate(swept))
    np.testing.assert_allclose(change, cell_volumes(tuple(new)) - cell_volumes(tuple(old)), rtol=0, atol=1e-16)


def test_rates_at_which_faces_sweep_are_those_of_a_short_step():
    """Of vertices with any velocities; and in each cell the same bits, however many cells are computed with it."""
    random = np.random.default_rng(4)
    x, u = np.stack(distorted(lattice((9, 8, 7)))), random.standard_normal((3, 8, 9, 10))
    h = 1e-3
    for axis in range(3):
        rates = swept_rates(x, u, axis)
        whole, half = (swept_volumes(x - s * u, x + s * u, axis) for s in (h / 2, h / 4))
        np.testing.assert_allclose(rates, (8 * half - whole) / (3 * h), rtol=0, atol=1e-13)  # without the cube of h
        some = np.s_[2:6, 3:9, 1:9]
        inner = tuple(slice(s.start, s.stop - (axis != 2 - n)) for n, s in enumerate(some))
        np.testing.assert_array_equal(swept_rates(x[:, *some], u[:, *some], axis), rates[inner])


def test_motions_that_jump_or_are_not_finite_are_told():
    with pytest.raises(BadInput, match=r"motion.angle.z: 'where\(t > 0.31, 0.1, 0\)' jumps at t = 0.31"):
        RunSetup(case(PITCHING, motion={"angle": {"z": "where(t > 0.31, 0.1, 0)"}}), (1, 1, 1)).system.check()
    with pytest.raises(BadInput, match=r"motion.displacement.x: 'sqrt\(0.3 - t\)' is not finite at time 0.3"):
        RunSetup(case(PITCHING, motion={"displacement": ["sqrt(0.3 - t)", 0, 0]}), (1, 1, 1)).system.check()
    motion = case(PITCHING, motion={"angle": {"z": "1/(t - 0.5)"}}).motion
    with pytest.raises(BadInput, match=r"motion.angle.z: '1/\(t - 0.5\)' is not finite at time 0.5"):
        motion.check(1.0)  # none of the moments that are tried first is that


def test_sides_balance_on_a_grid_that_moves():
    """A bend that moves along x at 0.5 leaves less of what enters behind; its speed is that of its places."""
    bend = {
        **CYLINDER, "motion": {"displacement": ["0.5*t", 0.0, 0.0]}, "time": {"step": 0.1, "end": 0.4},
        "grid": {
            "shape": "duct-bend", "cells": [16, 4, 1], "side": 1, "mean_radius": 2, "upstream": 1, "downstream": 1,
        },
        "boundaries": {
            "inlet": {"type": "inflow", "velocity": [1.5, 0.0, 0.0]}, "inner": "wall", "outer": "wall",
            "outlet": {"type": "inflow", "velocity": [0.0, 1.0, 0.0]}, "ends": "symmetry",
        },
    }  # fmt: skip
    RunSetup(case(bend), (1, 1, 1)).system.check()
    with pytest.raises(BadInput, match=r"boundaries: 0\.5 per time leaves through inlet, outlet"):
        case(bend, boundaries__inlet__velocity=[1.0, 0.0, 0.0])
    turning = {"angle": {"x": "0.5*t", "y": "sin(t)", "z": 0.8}, "displacement": ["t**2", -0.1, "cos(t)"]}
    motion, points, dt = GridMotion(**turning, centre=[0.2, 0.1, 0.4]), np.arange(6.0).reshape(3, 2), 1e-5
    way = motion.moved(points, 0.7 + dt) - motion.moved(points, 0.7 - dt)
    np.testing.assert_allclose(motion.speeds(motion.moved(points, 0.7), 0.7), way / (2 * dt), atol=1e-8)


@pytest.mark.parametrize(("angle", "axes"), [
    ({"x": "t"}, []), ({"z": "t"}, ["z"]), ({"z": 0.3}, []), ({"x": "t", "y": "t"}, ["y"]),
    ({"x": "t", "z": "pi/3"}, []), ({"y": "pi/2", "z": "t"}, []), ({"z": "pi/2", "y": "t", "x": 0.2}, ["y"]),
])  # fmt: skip
def test_which_angles_turn_a_direction_in_time(angle, axes):
    """A period along x: about x first, then about y, then about z."""
    assert list(GridMotion(angle=angle).turns(np.array([2.0, 0.0, 0.0]))) == axes
