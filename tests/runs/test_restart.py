"""A run that was broken off goes on as if it had never stopped: to the bit, no snapshot missing, none twice."""

from __future__ import annotations

import errno
import json
import random
import shutil
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import taskflow as tf
from taskflow.cases import Case
from taskflow.common.errors import BadInput, RunFailed
from taskflow.output import Checkpoint, Checkpoints, newest
from taskflow.output.checkpoint.checkpoint import Damaged
from taskflow.runs.block.checkpoints import CheckpointPolicy, CheckpointWriter
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.regions import Box
from tests.runs.going_on import Killed, assert_same_run, contents, found, go, steps

BOX = {
    "x_min": "wall", "x_max": {"type": "wall", "velocity": [0.0, 0.5, 0.2], "temperature": 1.0}, "y": "periodic",
    "z_min": {"type": "wall", "heat_flux": 0.3}, "z_max": "slip",
}  # fmt: skip
SOLVERS = {
    "jacobi": {"iterations": 7},
    "sweeps": {"solver": "jacobi", "tolerance": 1e-2},
    "fft": {"solver": "fft"},
    "multigrid": {"solver": "multigrid"},
}


def stirred(solver: str = "jacobi", **changes) -> Case:
    """A warm fluid in motion, everywhere different, for 9 steps; snapshots at some steps, lines at others."""
    tables = {
        "grid": {"cells": [8, 5, 9], "lengths": [1.0, 0.7, 1.3]},
        "fluid": {"viscosity": 0.01},
        "heat": {"diffusivity": 0.02, "expansion": 1.0, "reference": 0.3, "source": 0.1},
        "body": {"gravity": [0.1, 0.2, -1.0]},
        "boundaries": BOX,
        "initial": {"velocity": ["sin(6*x) * cos(z)", "0.3 * cos(5*y)", "x * z"], "temperature": "x + sin(7*z)"},
        "time": {"steps": 9},
        "pressure": SOLVERS[solver],
        "output": {"fields": ["u", "p"], "precision": "double", "every": {"steps": 3}},
        "monitor": {"every": {"steps": 4}},
        "checkpoint": {"every": {"steps": 4}},
        "machine": {"device": "cpu", "threads": 1},
    }
    for path, value in changes.items():
        table, _, key = path.partition("__")
        tables[table] = {**tables.get(table, {}), key: value} if key else value
    return Case(**tables)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The directory of a case that was run without a break, in one block."""

    @cache
    def run(solver: str = "jacobi", scheme: str = "ab2", blocks: tuple[int, int, int] = (1, 1, 1)) -> Path:
        path = tmp_path_factory.mktemp("whole") / "run"
        go(stirred(solver, time__scheme=scheme), path, blocks)
        return path

    return run


@pytest.fixture
def broken(tmp_path, whole):
    """A copy of a run of 9 steps with checkpoints of steps 8 and 9."""
    return Path(shutil.copytree(whole(), tmp_path / "broken"))


@pytest.mark.slow
def test_with_eddies(tmp_path):
    """The eddy viscosity, and the step that it allows, are those of a run without a break."""
    walls = {**BOX, "z_min": {"type": "wall", "roughness": 0.01, "heat_flux": 0.3}}
    case = stirred(turbulence={"model": "smagorinsky", "constant": 1.0}, boundaries=walls, time__diffusion=0.01)
    go(case, tmp_path / "whole")
    go(case, tmp_path / "run", kill=6)
    go(case, tmp_path / "run", resume=True)
    assert_same_run(tmp_path / "run", tmp_path / "whole")


@pytest.mark.parametrize(("solver", "scheme"), [
    ("jacobi", "ab2"), ("fft", "rk3"),
    *(pytest.param(solver, scheme, marks=pytest.mark.slow) for solver, scheme in [
        ("jacobi", "rk3"), ("fft", "ab2"), ("multigrid", "ab2"), ("multigrid", "rk3"), ("sweeps", "ab2"),
        ("sweeps", "rk3"),
    ]),
])  # fmt: skip
@pytest.mark.fast("fft-rk3")
def test_to_the_bit_on_the_same_blocks(solver, scheme, whole, tmp_path):
    blocks, case = (1, 1, 2), stirred(solver, time__scheme=scheme)
    go(case, tmp_path / "run", blocks, kill=6)
    assert steps(tmp_path / "run") == [4]
    go(case, tmp_path / "run", blocks, resume=True)
    assert_same_run(tmp_path / "run", whole(solver, scheme, blocks))
    assert steps(tmp_path / "run") == [9, 8]


def test_to_the_bit_on_other_hosts(whole, tmp_path):
    """Blocks share files with others after the restart, and the store is recut for them."""
    go(stirred(), tmp_path / "run", (2, 1, 2), kill=6, hosts=(0, 0, 1, 1))
    assert len(list((tmp_path / "run/checkpoints/step-000000004").glob("*.bin"))) == 2
    go(stirred(), tmp_path / "run", (2, 1, 2), resume=True, hosts=(0, 1, 0, 1))
    assert_same_run(tmp_path / "run", whole(blocks=(2, 1, 2)))
    assert steps(tmp_path / "run") == [9, 8]
    assert not list((tmp_path / "run").rglob("*.partial"))


CHANNEL = {
    "x_min": {"type": "inflow", "velocity": ["1 + 0.3 * sin(9*t) * z", 0, 0], "temperature": 1.0}, "x_max": "outflow",
    "y": "periodic", "z_min": "wall", "z_max": {"type": "wall", "temperature": 0.0},
}  # fmt: skip
SPHERE = {"type": "sphere", "centre": [0.5, 0.35, 0.6], "radius": 0.25, "name": "ball"}
MODELS = {
    "inflow": {"boundaries": CHANNEL},
    "steady inflow": {
        "boundaries": {**CHANNEL, "x_min": {"type": "inflow", "velocity": [1, 0, 0], "temperature": 1.0}},
    },
    "advected outflow": {
        "boundaries": {
            "x_min": {"type": "outflow", "pressure": "advected"},
            "x_max": {"type": "inflow", "velocity": ["-1 - z*t", 0, 0]},
            "y": "periodic", "z_min": "wall", "z_max": "slip",
        },
    },
    "bulk velocity": {
        "boundaries": {"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "wall"},
        "body__bulk_velocity": {"x": 1.0},
    },
    "rotation": {"body__rotation": [0, 0, 1.0]},
    "body": {"obstacles": [SPHERE]},
    "scalar": {"scalars": [{"name": "smoke", "diffusivity": 0.01, "initial": "x", "scheme": "koren"}]},
}


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["ab2", "rk3"])
@pytest.mark.parametrize("model", MODELS)
def test_whatever_a_model_carries_is_saved(model, scheme, tmp_path):
    """No model says what its state is: that follows from its launches."""
    case, blocks = stirred(time__scheme=scheme, **MODELS[model]), (1, 1, 2)
    go(case, tmp_path / "whole", blocks)
    go(case, tmp_path / "run", blocks, kill=6)
    go(case, tmp_path / "run", blocks, resume=True)
    assert_same_run(tmp_path / "run", tmp_path / "whole")


@pytest.mark.parametrize(("before", "after"), [
    ((1, 1, 3), (2, 1, 2)), pytest.param((1, 1, 1), (1, 1, 3), marks=pytest.mark.slow),
    pytest.param((2, 2, 2), (1, 1, 1), marks=pytest.mark.slow),
], ids=str)  # fmt: skip
def test_to_the_bit_on_other_blocks(before, after, whole, tmp_path):
    """Snapshots of before are cut anew where the blocks do not fit. Sums in the log are the same up to their order."""
    go(stirred(), tmp_path / "run", before, kill=7)
    go(stirred(), tmp_path / "run", after, resume=True)
    assert_same_run(tmp_path / "run", whole(), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["fft", "multigrid"])
@pytest.mark.parametrize(("before", "after"), [((1, 1, 1), (2, 1, 2)), ((2, 1, 2), (1, 1, 3))], ids=str)
def test_on_other_blocks_to_rounding(solver, before, after, whole, tmp_path):
    """What these solvers find depends on the blocks as far as rounding goes."""
    go(stirred(solver), tmp_path / "run", before, kill=7)
    go(stirred(solver), tmp_path / "run", after, resume=True)
    fields, expected = contents(tmp_path / "run")[0], contents(whole(solver))[0]
    for name, values in expected.items():
        np.testing.assert_allclose(fields[name], values, rtol=0, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("step", [4, pytest.param(5, marks=pytest.mark.slow)])
def test_what_is_written_because_of_a_stop_does_not_stay(step, whole, tmp_path):
    """The last snapshot and the last line of a run that is stopped, where nobody would have written them."""
    case = stirred()
    told = go(case, tmp_path / "run", stop=step)
    assert told["step"] == step + 1
    assert told["records"][""].records[-1]["time"] == told["time"]
    assert steps(tmp_path / "run")[0] == step + 1
    go(case, tmp_path / "run", resume=True)
    assert_same_run(tmp_path / "run", whole())


@pytest.mark.slow
def test_many_times(whole, tmp_path):
    case = stirred(checkpoint__every={"steps": 1})
    go(case, tmp_path / "run", kill=2)
    for step, blocks in ((4, (1, 1, 2)), (5, (2, 1, 1)), (8, (1, 1, 1))):
        go(case, tmp_path / "run", blocks, kill=step, resume=True)
    go(case, tmp_path / "run", resume=True)
    assert_same_run(tmp_path / "run", whole(), rel=1e-12)


@pytest.mark.slow
def test_of_other_faces_of_immersed_bodies_it_is_told(tmp_path, monkeypatch):
    """Velocities and what the pressure knows of bodies did not fit. A new run takes its fields, not all to the bit."""
    body = {"type": "box", "low": [0.25, 0.2, 0.3], "high": [0.5, 0.4, 0.7]}
    case, run = stirred(obstacles=[body], bodies={"treatment": "immersed"}, time={"steps": 4}), tmp_path / "run"
    monkeypatch.setattr("taskflow.runs.block.parts.CLOSING", 0)
    tf.run(case, run)
    monkeypatch.undo()
    later = case.replace(**{"time.steps": 6})
    with pytest.raises(BadInput, match=r"a version wrote it in which immersed bodies closed other faces; begin again"):
        tf.run(later, run, resume=True)
    origin = RunSetup(case.replace(initial={"source": str(run)}), (1, 1, 1), device="cpu").origin
    assert origin.checkpoint is None
    assert "closed other faces" in origin.difference
    tf.run(case, run, force=True)
    tf.run(later, run, resume=True)


def test_to_a_later_end(tmp_path):
    both = {"output__every": {"steps": 3}, "monitor__every": {"steps": 3}}  # due at the earlier end, too
    go(stirred(**both), tmp_path / "whole")
    go(stirred(**both, time__steps=6), tmp_path / "run")
    go(stirred(**both), tmp_path / "run", resume=True)
    assert_same_run(tmp_path / "run", tmp_path / "whole")
    assert "steps = 9" in (tmp_path / "run" / "case.toml").read_text()


def test_the_clock_on_the_wall(tmp_path):
    go(stirred(checkpoint={"every": {"minutes": 1e-9}, "keep": 100}), tmp_path / "run")
    assert steps(tmp_path / "run") == [9, 8, 7, 6, 5, 4, 3, 2, 1]


def test_in_simulation_time_no_step_is_cut(tmp_path, whole):
    go(stirred(checkpoint={"every": 0.11, "keep": 100}), tmp_path / "run")
    assert_same_run(tmp_path / "run", whole())
    assert 2 <= len(steps(tmp_path / "run")) < 9


@pytest.mark.parametrize(("values", "kept"), [
    ({"keep": 0}, []), ({}, [9]),
    ({"every": {"steps": 4}, "keep": 1}, [9]), ({"every": {"steps": 4}, "keep": 3}, [9, 8, 4]),
])  # fmt: skip
@pytest.mark.fast("values0-kept0", "values3-kept3")
def test_the_newest_stay(values, kept, tmp_path):
    """One is written at the end in any case, unless none is to be kept."""
    go(stirred(checkpoint=values), tmp_path / "run")
    assert steps(tmp_path / "run") == kept
    assert len(list((tmp_path / "run").glob("checkpoints/.*"))) == 0


# ----------------------------------------------------------------------------------------------------- damage

def flip(path: Path, where: float) -> None:
    """Change one bit."""
    data = bytearray(path.read_bytes())
    data[int(where * (len(data) - 1))] ^= 0x20
    path.write_bytes(data)


DAMAGES = {
    **{f"flip {where}": lambda path, where=where: flip(path, where) for where in (0.0, 0.3, 0.7, 1.0)},
    "truncate": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "empty": lambda path: path.write_bytes(b""),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"\0"),
    "delete": Path.unlink,
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("file", ["manifest.json", "block-00000.bin"])
def test_damage_is_recognised_and_named(file, damage, broken):
    last = broken / "checkpoints" / "step-000000009"
    DAMAGES[damage](last / file)
    with pytest.raises(Damaged, match=file):
        Checkpoint.load(last)
    result, skipped = newest(Checkpoints(broken / "checkpoints", ""))
    assert result.step == 8
    assert [file in reason for reason in skipped] == [True]


@pytest.mark.slow
def test_damage_to_any_file_of_many_blocks(tmp_path):
    """Bits anywhere, pieces torn out, files gone or exchanged: never loaded."""
    go(stirred(), tmp_path / "run", (2, 2, 2))
    chance, folder = random.Random(0), tmp_path / "run" / "checkpoints"
    last, other = folder / "step-000000009", folder / "step-000000008"
    files = sorted(path.name for path in last.iterdir())
    assert len(files) == 9
    tears = [
        *DAMAGES.values(), *[lambda path: flip(path, chance.random())] * 20,
        lambda path: shutil.copy(other / path.name, path),  # as it was in another checkpoint
        lambda path: shutil.copy(last / files[files.index(path.name) - 1], path),  # that of another block
        lambda path: path.write_bytes(path.read_bytes()[1:] + b"\0"),
        lambda path: path.write_bytes(bytes(path.stat().st_size)),
    ]  # fmt: skip
    for name in files:
        sound = (last / name).read_bytes()
        for tear in tears:
            tear(last / name)
            with pytest.raises(Damaged, match=r"block|manifest"):
                Checkpoint.load(last)
            (last / name).write_bytes(sound)
    assert Checkpoint.load(last).step == 9


def test_damage_is_gone_around(broken, whole):
    flip(broken / "checkpoints" / "step-000000009" / "block-00000.bin", 0.5)
    go(stirred(), broken, resume=True)
    assert_same_run(broken, whole())
    assert steps(broken) == [9, 8]
    assert newest(Checkpoints(broken / "checkpoints", ""))[1] == []


@pytest.mark.slow
def test_every_bit_of_a_manifest_counts(broken):
    path = broken / "checkpoints" / "step-000000009" / "manifest.json"
    text = path.read_bytes()
    for bit in range(0, 8 * len(text), 3):
        data = bytearray(text)
        data[bit // 8] ^= 1 << bit % 8
        path.write_bytes(data)
        with pytest.raises(Damaged):
            Checkpoint.load(path.parent)


def test_where_none_is_whole(broken):
    for path in (broken / "checkpoints").glob("step-*/manifest.json"):
        path.unlink()
    before = (broken / "log.jsonl").read_bytes()
    with pytest.raises(BadInput, match=r"no whole checkpoint .*\n.*step-000000009/manifest.json"):
        go(stirred(), broken, resume=True)
    assert (broken / "log.jsonl").read_bytes() == before


def test_with_fewer_snapshots_than_there_were(broken, tmp_path):
    shutil.rmtree(broken / "fields.zarr")
    go(stirred(time__steps=1), tmp_path / "short")
    shutil.move(tmp_path / "short" / "fields.zarr", broken / "fields.zarr")
    with pytest.raises(BadInput, match="2 snapshots, where 4 were written"):
        go(stirred(time__steps=12), broken, resume=True)


def test_what_a_kill_amid_a_checkpoint_leaves_is_none(tmp_path, whole, monkeypatch):
    """The blocks have written theirs, nobody has committed; the next run removes it."""
    with monkeypatch.context() as patched:
        patched.setattr(Checkpoints, "commit", lambda *_: None)
        go(stirred(), tmp_path / "run", (1, 1, 2), kill=7)
    drafts = list((tmp_path / "run" / "checkpoints").iterdir())
    assert [path.name.startswith(".step-000000004.") for path in drafts] == [True]
    with pytest.raises(BadInput, match="no checkpoint"):
        go(stirred(), tmp_path / "run", resume=True)
    with monkeypatch.context() as patched:
        rename = Path.rename
        patched.setattr(Path, "rename", lambda path, to: None if "step-000000008" in str(to) else rename(path, to))
        go(stirred(), tmp_path / "other", (1, 1, 2), kill=9)
    go(stirred(), tmp_path / "other", (1, 1, 2), resume=True)
    assert_same_run(tmp_path / "other", whole(blocks=(1, 1, 2)))
    assert all(not path.name.startswith(".") for path in (tmp_path / "other" / "checkpoints").iterdir())


@pytest.mark.parametrize("name", ["rename", "unlink", "open"])
def test_whoever_commits_may_die_at_any_moment(name, tmp_path, monkeypatch):
    """Another one does it again, without knowing how far it was; and a third has nothing left to do."""
    usual, deaths, left = getattr(Path, name), 0, 0

    def mortal(*arguments, **options):
        nonlocal left
        left -= 1
        if left == 0:
            raise Killed
        return usual(*arguments, **options)

    for deaths in range(1, 20):
        folder = Checkpoints(tmp_path / str(deaths), "run")
        for block in range(3):
            values = [("u", Box((0, 0, block), (2, 2, block + 1)), np.full((1, 2, 2), 1.0 + block))]
            folder.write(8, block, values, {"time": 1.0} if block == 0 else None)
        left = deaths
        with monkeypatch.context() as patched:
            patched.setattr(Path, name, mortal)
            try:
                folder.commit(8, 2)
            except Killed:
                pass
            else:
                break
        folder.commit(8, 2)
        folder.commit(8, 2)
        result, values = Checkpoint.load(folder.path / "step-000000008"), np.zeros((3, 2, 2))
        result.fill("u", values, Box.of((2, 2, 3)))
        assert values[:, 0, 0].tolist() == [1, 2, 3]
    assert deaths > 1


@pytest.mark.parametrize("when", ["data", "manifest", "data of block 1"])
def test_a_full_disk(when, tmp_path, whole, monkeypatch):
    """A named error; what was committed before can be read, and gone on from."""
    from taskflow.output.checkpoint import checkpoint

    write, synced = checkpoint.write_parts, checkpoint.write_synced

    def full(path, *parts):
        manifest = path.name == "manifest.json"
        named = path.name == "block-00001.bin" if "1" in when else manifest == (when == "manifest")
        if "step-000000008" in str(path) and named:
            path.write_bytes(b"half")
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        (synced if manifest else write)(path, *parts)

    with monkeypatch.context() as patched:
        patched.setattr(checkpoint, "write_parts", full)
        patched.setattr(checkpoint, "write_synced", full)
        with pytest.raises(RunFailed, match=r"checkpoint of step 8 in .*: No space left on device"):
            go(stirred(), tmp_path / "run", (1, 1, 2))
    assert [path.name for path in (tmp_path / "run" / "checkpoints").iterdir()] == ["step-000000004"]
    go(stirred(), tmp_path / "run", (1, 1, 2), resume=True)
    assert_same_run(tmp_path / "run", whole(blocks=(1, 1, 2)))


def test_a_full_disk_amid_a_shard_of_two_blocks(tmp_path, whole, monkeypatch):
    """The block whose chunks do not fit reports why. No draft stays, and the run is resumed with the same bits."""
    from taskflow.output.store import packing

    fill, calls = packing._fill, []

    def full(file, index, chunks):
        calls.append(file.name)
        fill(file, index, chunks)
        if len(calls) == 12:  # of 4 for each snapshot
            raise OSError(errno.ENOSPC, "No space left on device", file.name)

    with monkeypatch.context() as patched:
        patched.setattr(packing, "_fill", full)
        with pytest.raises(RunFailed, match=r"snapshot 2 in .*: No space left on device"):
            go(stirred(), tmp_path / "run", (1, 1, 2), hosts=(0, 0))
    assert not list((tmp_path / "run").rglob("*.partial"))
    assert found(tmp_path / "run").sizes["time"] == 2
    go(stirred(), tmp_path / "run", (1, 1, 2), resume=True, hosts=(0, 0))
    assert_same_run(tmp_path / "run", whole(blocks=(1, 1, 2)))


def test_a_slow_disk_is_no_lost_block(tmp_path, monkeypatch):
    """One block waits for it, and the others for that block: longer than for a message."""
    write, setup = Checkpoints.write, RunSetup(stirred(), (1, 1, 2))
    keeping = CheckpointPolicy.of(setup, tmp_path, "run-1")

    def slow(checkpoints, step, block, *more):
        time.sleep(0.8 * block)
        write(checkpoints, step, block, *more)

    def job(shard):
        saving = CheckpointWriter(keeping, shard)
        for step in range(2):
            saving.take(step, {}, {"time": 0.0})
        assert saving.writer.close()
        shard.meet(60.0)

    monkeypatch.setattr(Checkpoints, "write", slow)
    run_threads(setup.partition, job, cpu(), Mapper("none"), patience=0.4)
    assert len(list(keeping.folder.glob(".step-*/block-*.bin"))) == 4


def test_a_state_that_is_not_finite_is_no_checkpoint(tmp_path):
    case = stirred(time={"steps": 400, "step": 2.0}, checkpoint={"every": {"steps": 1}}, monitor__every={"steps": 300})
    with pytest.raises(RunFailed, match="diverged"):
        go(case, tmp_path / "run")
    result, _ = newest(Checkpoints(tmp_path / "run" / "checkpoints", ""))
    values = np.zeros((9, 5, 8))
    result.fill("u", values, RunSetup(case, (1, 1, 1)).grid.box)
    assert np.isfinite(values).all()


# ------------------------------------------------------------------------------------------------- what may change

@pytest.mark.parametrize(("changes", "told"), [
    ({"fluid__viscosity": 0.02}, "fluid.viscosity = 0.02; it was 0.01 when this run began"),
    ({"time__scheme": "rk3"}, 'time.scheme = "rk3"; it was "ab2"'),
    ({"grid__cells": [8, 5, 10]}, "grid.cells = [8, 5, 10]; it was [8, 5, 9]"),
    ({"boundaries": {**BOX, "z_max": "wall"}}, "boundaries.z_max"),
    ({"pressure": {"iterations": 8}}, "pressure.iterations = 8; it was 7"),
    ({"heat__source": 0.2}, "heat.source = 0.2; it was 0.1"),
    ({"output__fields": ["u"]}, 'output.fields = ["u"]; it was ["u", "p"]'),
    ({"output__precision": "single"}, 'output.precision = "single"; it was "double"'),
    ({"output__compression": "zstd"}, 'output.compression = "zstd"; it was "lz4"'),
    ({"machine__precision": "single"}, 'machine.precision = "single"; it was "double"'),
    ({"body__force": [1, 0, 0]}, "body.force = [1.0, 0.0, 0.0]; it was [0.0, 0.0, 0.0]"),
])  # fmt: skip
def test_a_changed_key_is_refused_by_name(changes, told, broken):
    before = (broken / "case.toml").read_text()
    with pytest.raises(BadInput) as refused:
        go(stirred(**changes), broken, resume=True)
    assert str(refused.value).startswith(told)
    assert (broken / "case.toml").read_text() == before


def test_what_may_change(broken):
    """How long, what is told, how it is computed."""
    case = stirred(
        title="another title", time={"steps": 12, "cfl": 0.3}, output__every={"steps": 5}, monitor__every={"steps": 1},
        checkpoint={"keep": 1}, machine={"device": "cpu", "threads": 2, "overlap": "full"},
    )  # fmt: skip
    assert go(case, broken, resume=True)["step"] == 12
    assert steps(broken) == [12]


def test_the_state_is_what_a_step_reads_and_does_not_make():
    """With FFT the last pressure is not read; nobody reads what a buffer held in the cells of the grid."""
    for solver in SOLVERS:
        setup = RunSetup(stirred(solver, boundaries=dict.fromkeys("xyz", "periodic")), (1, 1, 2))
        expected = {"u", "v", "w", "T", "h_u", "h_v", "h_w", "h_T"} | ({"p"} if solver != "fft" else set())
        assert setup.carried == dict.fromkeys(expected, (setup.grid.box,))


def test_a_manifest_is_json_that_names_every_file(broken):
    last = broken / "checkpoints" / "step-000000009"
    body = json.loads((last / "manifest.json").read_text())["body"]
    assert {file["name"] for file in body["files"]} == {path.name for path in last.iterdir()} - {"manifest.json"}
    assert body["state"]["records"] == {"": 4}


def test_of_bodies_that_ended_at_periodic_sides_it_is_told(tmp_path, monkeypatch):
    """They close more faces now. Runs of bodies inside of the domain are resumed."""
    inside = {"type": "box", "low": [0.25, 0.2, 0.3], "high": [0.5, 0.4, 0.7]}
    over = {**inside, "low": [-0.25, 0.2, 0.3], "high": [0.25, 0.4, 0.7]}
    for body, words in ((inside, ""), (over, "bodies at rest ended at periodic sides; begin again")):
        sides = dict.fromkeys("xyz", "periodic")
        case = stirred(obstacles=[body], time={"steps": 2}, boundaries=sides)
        run = tmp_path / f"run{len(words)}"
        with monkeypatch.context() as patch:
            patch.setattr("taskflow.runs.block.parts.CLOSING", 1)
            tf.run(case, run)
        later = case.replace(**{"time.steps": 3})
        if words:
            with pytest.raises(BadInput, match=words):
                tf.run(later, run, resume=True)
        else:
            tf.run(later, run, resume=True)
