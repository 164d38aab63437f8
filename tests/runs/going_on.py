"""Runs with all their files in this process, without Dask: begun, broken off, gone on with."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import xarray as xr

from taskflow.cases import Case
from taskflow.common.errors import RunFailed
from taskflow.output import Checkpoints, Writer, dataset, read_log
from taskflow.runs.block.checkpoints import CheckpointPolicy
from taskflow.runs.block.commands import FlowJob
from taskflow.runs.directory.directory import RunDirectory
from taskflow.runs.state.origin import check_restart
from taskflow.runs.state.restart import newest_restart
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine import Control, Shard
from taskflow.runtime.machine.device import Device, cpu
from taskflow.runtime.machine.threads import run_threads
from taskflow.runtime.machine.trace.mapper import Mapper
from taskflow.runtime.regions import Triple

PATIENCE = 600.0  # seconds: where others keep the cores busy, a block compiles for minutes while another one waits


class Killed(Exception):
    """Nothing that the program foresees."""


@dataclass(eq=False)
class Until(Control):
    """Asks for the end after some step, as a signal does, or lets the block die there, once all have come so far: one
    that dies ends the others, wherever they are.
    """

    step: int = 10**9
    dies: threading.Barrier | None = None
    told: dict[str, Any] = field(default_factory=dict)

    def report(self, **progress: Any) -> None:
        super().report(**progress)
        if progress.get("step", 0) >= self.step and "overlap" not in progress:
            self.stop = True
            if self.dies and not self.told:
                self.told = {"died": True}
                self.dies.wait()
                raise Killed


def go(
    case: Case,
    path: Path,
    blocks: Triple = (1, 1, 1),
    *,
    resume: bool = False,
    stop: int | None = None,
    kill: int | None = None,
    device: Device | None = None,
    hosts: tuple[int, ...] = (),
) -> Mapping[str, Any]:
    """What `taskflow.run` does to a directory; what block 0 said last.

    With `stop` the run is asked to end after this step; with `kill` it dies there, and nobody cleans up: all that it
    wrote by then is on the disk, so that the tests know where it goes on. No bandwidth is measured. All blocks are on
    one `device`, by default a core of the CPU. Those with the same number in `hosts` write common files.
    """
    going_on, directory = newest_restart(path, case)[0] if resume else None, RunDirectory(path)
    begun = going_on.resumed(case) if going_on else case
    setup = RunSetup(begun, blocks, device=device.kind if device else "cpu", hosts=hosts)
    keeping = CheckpointPolicy.of(setup, path, uuid.uuid4().hex)
    if going_on:
        check_restart(going_on, setup)
        going_on = directory.reopen(setup, going_on, keeping)
    else:
        directory.create(setup, force=False)
    job = FlowJob(setup.spec, directory.initial(setup), keeping, going_on)
    last = kill or stop or 10**9
    dies = threading.Barrier(len(setup.partition)) if kill else None
    controls = [Until(step=last, dies=dies) for _ in setup.partition.blocks]
    at_once = patch.object(Writer, "submit", _submit_and_wait) if kill else nullcontext()

    def done(shard: Shard) -> None:
        try:
            job(shard, controls[shard.block])
        except BaseException as error:
            if dies is not None and not isinstance(error, Killed):
                dies.abort()  # nobody waits for a block that has failed
            raise

    try:
        with at_once:
            run_threads(setup.partition, done, device or cpu(1), Mapper("none"), patience=PATIENCE)
    except Killed:
        return {}
    except RunFailed:
        directory.finish([control.progress for control in controls], keeping)
        raise
    directory.finish([control.progress for control in controls], keeping)
    return controls[0].progress


def _submit_and_wait(writer: Writer, job: Callable[[], None], submit: Any = Writer.submit) -> None:
    submit(writer, job)
    writer.drain()


def found(path: Path, group: str = "") -> xr.Dataset:
    """What a run has written in a group of its store."""
    with dataset(path / "fields.zarr", group) as ds:
        return ds.load()


def steps(path: Path) -> list[int]:
    """Of the checkpoints of a run, the last one first."""
    return [int(found.name[5:]) for found in Checkpoints(path / "checkpoints", "").paths()]


def contents(path: Path) -> tuple[dict[str, np.ndarray], list[dict[str, Any]]]:
    """All snapshots, and the log without what the clock on the wall says."""
    with dataset(path / "fields.zarr") as found:
        fields = {str(name): found[name].values for name in ("time", *found.data_vars) if name != "grid"}
    return fields, [{k: v for k, v in line.items() if k != "wall"} for line in read_log(path / "log.jsonl")]


def assert_same_run(path: Path, other: Path, rel: float = 0.0) -> None:
    """Two runs have left the same snapshots, to the bit, and the same log; sums in it may differ by `rel`."""
    (fields, log), (expected, lines) = contents(path), contents(other)
    assert fields.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(fields[name], values, err_msg=name)
    assert [line["step"] for line in log] == [line["step"] for line in lines]
    for line, desired in zip(log, lines, strict=True):
        for key, value in desired.items():
            if isinstance(value, Mapping):  # sums over the surface of bodies
                assert line[key] == value or rel
            else:
                np.testing.assert_allclose(line[key], value, rtol=rel, atol=0, err_msg=key)
