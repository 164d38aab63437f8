"""The report of a run: its case, machine, end and speed. Written at the start, complete at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from taskflow.common.errors import TaskflowError
from taskflow.output.log import OF
from taskflow.output.store.metadata import PSEUDO_TIME
from taskflow.runs.directory.lock import Owner
from taskflow.runs.directory.provenance import provenance
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.host import Place
from taskflow.runtime.machine import Plan
from taskflow.systems.records.fields import SNAPSHOTS

LOGGED = ("dt", "cfl", "divergence", "residual", "kinetic_energy", "bodies", "inner")


def opening(
    sim: RunSetup, plan: Plan, placed: Sequence[Place], channels: Sequence[Mapping[int, str]]
) -> dict[str, Any]:
    """Return the report before the first step. `ended` is "running"; `leader` is the process that will change it."""
    case = sim.case
    owner = Owner.this()
    return {
        **provenance(),
        "title": case.title,
        "cells": sim.domain.cells,
        "blocks": list(sim.blocks),
        "device": plan.device,
        "threads_per_block": plan.threads if plan.device == "cpu" else None,
        "precision": case.machine.precision,
        **sim.system.report,
        **({PSEUDO_TIME: True} if sim.system.pseudo_time(case) else {}),
        **({"bodies": asdict(sim.system.survey)} if sim.system.survey else {}),
        "channels": sorted({name for peers in channels for name in peers.values()}),
        "hardware": [_hardware(place) for place in placed],
        "leader": {"host": owner.host, "process": owner.process, "since": owner.since},
        "ended": "running",
    }


def _hardware(place: Place) -> dict[str, Any]:
    """Return the host and the device of a block. `gpu_id` distinguishes GPUs of the same name."""
    gpu = place.gpus[0] if place.gpus else None
    return {
        "host": place.host,
        "worker": place.worker,
        "processor": place.processor,
        "gpu": gpu and gpu.name,
        "gpu_id": gpu and gpu.identity,
    }


def broken(about: Mapping[str, Any], failure: TaskflowError) -> dict[str, Any]:
    """Return the report of a failed run, with a traceback if the failure is unexpected."""
    notes = {"traceback": "\n".join(failure.__notes__)} if hasattr(failure, "__notes__") else {}
    return {**about, "ended": "failed", "reason": str(failure), **notes}


def summary(about: Mapping[str, Any], sim: RunSetup, blocks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the report of a completed run, from its opening and the last status of its blocks.

    `t_eff` is the memory traffic of a step (as counted by `taskflow check`) over the time of the step loop, in bytes
    per second over all blocks, None if only an upper bound is known. `copy_bandwidth` is the plain copy bandwidth of
    the blocks' devices, None after short runs.
    """
    first = blocks[0]
    seconds, steps = max(block["seconds"] for block in blocks), first["step"]
    cells = sim.partition.region.count
    moved = None if sim.step_cost.bounded else sim.step_cost.nbytes(first["rounds"])
    return {
        **about,
        "overlap": first["overlap"],
        "time": first["time"],
        "steps": steps,
        "ended": first["ended"],
        **({"rates": first["rates"]} if first["rates"] else {}),
        "snapshots": len(first["records"][SNAPSHOTS].records),
        "last": {name: first[name] for name in first if name in LOGGED or name.startswith(OF)},
        "loop_seconds": seconds,
        "cell_steps_per_second": cells * steps / seconds if seconds > 0 else 0.0,
        "bytes_per_step": moved,
        "t_eff": moved and (moved * steps / seconds if seconds > 0 else 0.0),
        "copy_bandwidth": sum(block.get("copy_bandwidth", 0.0) for block in blocks) or None,
    }
