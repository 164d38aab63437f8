"""Runs on charts: the same bits for any blocks and after any break; how a march ends; what its log and store have."""

import json

import numpy as np
import pytest

import taskflow as tf
from taskflow.common.errors import RunFailed
from taskflow.geometry.grids import SHAPES, shape
from taskflow.output import read_log, tree
from taskflow.output.store.metadata import moment
from taskflow.runs.directory.record import Record
from taskflow.runs.state.restart import newest_restart
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import cpu
from tests.cases.on_charts import CYLINDER, LID, TURNED, WING, case
from tests.geometry.grids.test_shapes import SMALL
from tests.runs.going_on import go

SAVED = {"checkpoint__every": {"steps": 4}}


def contents(path):
    """All snapshots and their places by their names, and the log without what the clock on the wall says."""
    result = tree(path / "fields.zarr").load()
    fields = {f"{n}/{name}": ds[name].values for n, ds in result["charts"].children.items() for name in ds.variables}
    return {"time": result.time.values, **fields}, [
        {key: value for key, value in line.items() if key != "wall"} for line in read_log(path / "log.jsonl")
    ]


def assert_same_run(path, other):
    """Two runs have left the same snapshots and numbers, to the bit."""
    (fields, log), (expected, lines) = contents(path), contents(other)
    assert fields.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(fields[name], values, err_msg=name)
    assert log == lines


@pytest.mark.slow
@pytest.mark.parametrize(("tables", "cuts"), [
    (CYLINDER, {"1": [2, 1, 1], "2": [1, 2, 1]}), (WING, {"2": [2, 1, 1], "3": [1, 2, 1]}), (LID, {"2": [1, 2, 2]}),
    (TURNED, {"4": [1, 1, 2]}),
])  # fmt: skip
def test_runs_have_the_same_bits_for_any_blocks_and_go_on_after_a_break(tmp_path, tables, cuts):
    go(case(tables), tmp_path / "whole")
    go(case(tables, machine__cuts=cuts), tmp_path / "cut", (1, 1, 3))
    assert_same_run(tmp_path / "cut", tmp_path / "whole")
    broken = tmp_path / "broken"
    go(case(tables, **SAVED), broken, (1, 1, 2), kill=9)
    assert newest_restart(broken, case(tables, **SAVED))[0].tick.step == 8
    go(case(tables, **SAVED), broken, (1, 1, 1), resume=True)
    assert_same_run(broken, tmp_path / "whole")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name != "c-grid" else ()) for name in SHAPES]
)
def test_a_uniform_flow_stays_as_it_is(tmp_path, name):
    """On every grid by formula, with the stream on all sides but those of two dimensions."""
    grid = {"shape": name, **SMALL[name]}
    planar = grid["cells"][2] == 1
    stream = [0.8, 0.6, 0.0 if planar else 0.3]
    far = {"type": "far-field", "velocity": stream}
    sides = dict.fromkeys(shape(name, SMALL[name]).grid().sides, far)
    if planar:
        sides |= {side: "symmetry" for side in ("ends", "z_min", "z_max") if side in sides}
    go(case({**CYLINDER, "grid": grid, "boundaries": sides, "initial": {"velocity": stream}}), tmp_path / "run")
    charts = tree(tmp_path / "run" / "fields.zarr")["charts"].children.values()
    for chart in charts:
        assert chart.sizes["time"] > 1
        for field, value in zip("puvw", [0.0, *stream], strict=True):
            np.testing.assert_allclose(chart[field].values, value, atol=1e-12, err_msg=field)


def test_a_slow_flow_has_the_bits_of_a_fast_one(tmp_path):
    """In other units, powers of two times the first: no speed is small by itself."""
    states = []
    for speed in (1.0, 2.0**-12):
        slow = {"fluid__viscosity": 0.05 * speed, "initial__velocity": [speed, 0.0, 0.0]}
        go(case(**slow, boundaries__far__velocity=[speed, 0.0, 0.0]), tmp_path / f"{speed}")
        charts = tree(tmp_path / f"{speed}" / "fields.zarr")["charts"].children.values()
        states.append([chart[name].values / speed**n for chart in charts for name, n in (("u", 1), ("p", 2))])
    for one, other in zip(*states, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.slow
def test_a_steady_state_ends_the_run(tmp_path):
    """Which of its steps that is does not depend on a break: all residuals count that were looked at."""
    full = case(time={"steady": 0.05, "steps": 400}, output__every=None, checkpoint__every={"steps": 10})
    told = go(full, tmp_path / "whole")
    assert told["ended"] == "steady"
    assert told["step"] < 400
    lines = contents(tmp_path / "whole")[1]
    names = [name for name in lines[0] if name.startswith("residual_")]
    assert names == ["residual_continuity", "residual_momentum_x", "residual_momentum_y", "residual_momentum_z"]
    assert all(told["rates"][name.removeprefix("residual_")] <= 0.05 for name in names)
    assert told["step"] > 12
    go(full, tmp_path / "broken", kill=told["step"] - 1)
    go(full, tmp_path / "broken", (1, 1, 2), resume=True)
    assert_same_run(tmp_path / "broken", tmp_path / "whole")
    restart, _ = newest_restart(tmp_path / "whole", full)
    assert restart.tick.finished


@pytest.mark.slow
def test_a_steady_run_waits_for_its_scalars(tmp_path):
    """Between two walls in fluid at rest, where nothing else is left to be done."""
    sides = {"y_min": {"value": 1.0}, "y_max": {"value": 0.0}}
    dye = {"name": "dye", "diffusivity": 0.05, "initial": 0.5, "boundaries": sides}
    still = {
        **LID, "method": {"type": "artificial-compressibility", "reference_speed": 1.0}, "heat": None,
        "grid": {"cells": [2, 4, 2], "lengths": [1.0, 1.0, 1.0]},
        "boundaries": dict.fromkeys(("x_min", "x_max", "y_min", "y_max", "z_min", "z_max"), "wall"),
        "scalars": [dye], "time": {"steady": 1e-6, "steps": 400}, "monitor": {"every": {"steps": 10}},
        "output": {"every": None, "precision": "double"},
    }  # fmt: skip
    told = go(case(still), tmp_path / "run")
    assert told["ended"] == "steady"
    assert contents(tmp_path / "run")[1][-1]["residual_dye"] > 0
    chart = tree(tmp_path / "run" / "fields.zarr")["charts/0"]
    np.testing.assert_allclose(chart["dye"].values[-1, 0, :, 0], 1 - (np.arange(4) + 0.5) / 4, atol=1e-6)


@pytest.mark.slow
def test_a_run_that_does_not_get_steady_says_so(tmp_path):
    told = go(case(), tmp_path / "run")
    assert told["ended"] == "end"
    (warning,) = told["warnings"]
    assert "the state is not steady after time.steps: the residual of " in warning
    assert "1e-08 was required; give more steps" in warning


@pytest.mark.slow
def test_a_march_that_diverges_says_where_and_what_to_do(tmp_path):
    with pytest.raises(RunFailed) as error:
        go(case(method__cfl=15.0, time__steps=200, checkpoint__every={"steps": 1}), tmp_path / "run", (1, 1, 2))
    message = str(error.value)
    assert message.startswith("the run diverged: at step ")
    for words in ("the residual of ", " in cell (", ") of chart ", "give a smaller method.cfl (now 15)",
                  "the flow may be unsteady", "the last checkpoint is at step "):  # fmt: skip
        assert words in message


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the state is not steady")
def test_a_steady_run_has_steps_and_no_time(tmp_path):
    run = tf.run(case(CYLINDER), tmp_path / "run")
    records = run.dataset()
    assert records.coords["time"].attrs["long_name"] == "steps of pseudo-time"
    assert moment(records.attrs, float(records.coords["time"][-1])) == "step 12"
    told = {row.label: row.text for row in Record(run.directory).rows()}
    assert told["state"] == "finished after 12 steps"
    assert told["reached"] == "step 12 of at most 12 to the steady state"
    assert told["snapshots"] == "4, from step 0 to 12"
    real = tf.run(case(CYLINDER, time__steady=None, time__step=0.1, time__steps=1), tmp_path / "real")
    assert moment(real.dataset().attrs, 0.1) == "t = 0.1"
    assert Record(real.directory).state == "finished at time 0.1, after 1 step"


def test_the_log_has_forces_and_the_store_sides(tmp_path):
    go(case(LID), tmp_path / "run")
    line = contents(tmp_path / "run")[1][-1]
    assert set(line["bodies"]) == set(LID["boundaries"])
    assert all(set(acts) == {"force", "pressure_force", "moment", "heat_flux"} for acts in line["bodies"].values())
    lid = line["bodies"]["z_max"]
    assert lid["force"][0] < 0  # friction holds it back
    assert lid["pressure_force"][:2] == [0.0, 0.0]
    result = tree(tmp_path / "run" / "fields.zarr")
    assert result.attrs["viscosity"] == 0.02
    assert result.attrs["boundary_x_min"] == "wall"
    assert result.sizes["time"] == 4
    sides = json.loads(result["charts/0"].attrs["sides"])
    assert "x_min" in sides
    assert "x_max" not in sides


@pytest.mark.slow
@pytest.mark.parametrize(("tables", "blocks"), [(LID, 2), (TURNED, 2), (WING, 1), (WING, 2)])
def test_steps_are_proved(tables, blocks):
    """On 2 blocks, where there are three charts, one of these owns pieces of two."""
    from taskflow.runs.estimate.estimate import estimate

    proof = estimate(case(tables, machine__blocks=blocks)).prove()
    proof.hold()
    assert proof.reads > 0


def test_checkpoints_hold_the_state_alone():
    """No constant, and of ages only what the next step reads."""
    setup = RunSetup(case(), (1, 1, 2))
    assert set(setup.carried) == {"p", "u", "v", "w"}
    assert setup.partition.region.count == 160
    assert [sum(box.volume for box in setup.partition.cells_of(block)) for block in (0, 1)] == [80, 80]


def test_stencils_and_shares_are_told():
    setup = RunSetup(case(LID), (1, 1, 2))
    depths = setup.step_cost.depths
    assert [depths[name] for name in ("p", "u", "v", "w", "T")] == [2, 1, 1, 1, 1]
    assert [row.text for row in setup.domain.shares(setup.partition)] == [
        "block 0: 240 cells, chart 1", "block 1: 240 cells, chart 2",
    ]  # fmt: skip
    assert setup.domain.place("c", setup.domain.first[1], 0) == (
        "in cell (1, 1, 1) of chart 2, at x = 0.55, y = 0.0625, z = 0.0833333"
    )


@pytest.mark.slow
def test_pressure_and_stress_of_a_side_add_up_to_the_force_of_the_log(tmp_path):
    """To the rounding of sums, on few cells, at every snapshot."""
    go(case(CYLINDER), tmp_path / "run")
    side = tree(tmp_path / "run" / "fields.zarr").flow.side("body")
    lines = {line["step"]: line["bodies"]["body"] for line in read_log(tmp_path / "run" / "log.jsonl")}
    for time in side.time.values:
        here, acts = side.sel(time=time), lines[int(time)]
        for n, axis in enumerate("xyz"):
            pressure, stress = ((values * here.area).sum() for values in (here.p_face * here[f"normal_{axis}"],
                                                                          here[f"stress_{axis}"]))  # fmt: skip
            assert float(pressure) == pytest.approx(acts["pressure_force"][n], rel=1e-12, abs=1e-15)
            assert float(pressure + stress) == pytest.approx(acts["force"][n], rel=1e-12, abs=1e-15)


def test_constants_are_the_same_in_slabs(monkeypatch):
    """Ghost cells among them, and velocities of a wall that vary."""
    wall = {"type": "wall", "velocity": ["1 + x", 0.0, 0.0]}
    setup = RunSetup(case(TURNED, boundaries__y_max=wall), (1, 1, 2))

    def constants(shard):
        setup.system.constants.fill(shard)
        boxes = [shard.partition.memory[piece] for piece in shard.partition.pieces_of(shard.block)]
        return [shard.read(field.name, box) for field in setup.system.constants.fields for box in boxes]

    whole = run_threads(setup.partition, constants, cpu(1), Mapper("none"))
    monkeypatch.setattr("taskflow.systems.artificial_compressibility.constants.SLAB", 150)
    monkeypatch.setattr("taskflow.common.hexahedra.PART", 20)
    for values, expected in zip(run_threads(setup.partition, constants, cpu(1), Mapper("none")), whole, strict=True):
        assert len(values) > 10
        for value, other in zip(values, expected, strict=True):
            np.testing.assert_array_equal(value, other)
