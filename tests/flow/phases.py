"""Two-phase flows computed in this process: a model, its steps as long as they may be, and the fields at the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pytest

from taskflow.flow import Fluid
from taskflow.flow.boundaries.slip import Slip
from taskflow.flow.boundaries.wall import Wall
from taskflow.flow.grid import StaggeredGrid
from taskflow.flow.models.two_phase.convection import MASS_FLUXES
from taskflow.flow.models.two_phase.level_set import LevelSet
from taskflow.flow.models.two_phase.momentum import momentum_of_phases
from taskflow.flow.models.two_phase.two_phase import TwoPhase
from taskflow.flow.models.two_phase.volume_of_fluid import VolumeOfFluid
from taskflow.flow.operators.phases import Phases
from taskflow.flow.poisson import ConjugateGradients, Cycle, Multigrid, Operator, Tolerance
from taskflow.runtime.machine.device import Device, cpu
from taskflow.runtime.machine.shard import Shard
from taskflow.runtime.machine.threads import run_threads
from taskflow.runtime.machine.trace.mapper import Mapper
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.runtime.tasks import Launch
from taskflow.systems.two_phase.shares import shares

SLIP, WALL = Slip(), Wall()
CUTS = pytest.mark.parametrize("options", [
    {"blocks": (1, 1, 2)}, {"blocks": (2, 2, 1), "threads": 2}, {"blocks": (1, 1, 3), "overlap": "full"},
    {"blocks": (2, 1, 2), "overlap": "none"}, {"threads": 3},
])  # fmt: skip


def two_phase(
    cells, lengths, phases: Phases, *, sides=None, periodic=(False, False, False), tolerance=1e-8, cycles=None,
    convection=MASS_FLUXES, vof=False, **method,
) -> TwoPhase:  # fmt: skip
    """The model on a box between `sides`, by axis, slip by default, with a volume of fluid or a level set; `method` are
    arguments of the level set.

    The pressure is solved by conjugate gradients to a tolerance, or by so many `cycles` of multigrid.
    """
    grid = StaggeredGrid(cells, lengths, periodic=periodic)
    faces = [
        f"{axis}_{end}" for axis, around in zip("xyz", periodic, strict=True) for end in ("min", "max") if not around
    ]
    boundaries = {face: (sides or {}).get(face, (sides or {}).get(face[0], SLIP)) for face in faces}
    cycle = Cycle(Operator(grid.constants, variable=True))
    solver = (
        Multigrid(cycle, Tolerance(0.0, cycles)) if cycles else ConjugateGradients(cycle, Tolerance(tolerance, 200))
    )
    interface = LevelSet(grid.constants, boundaries=boundaries, convection=convection, **method)
    if vof:
        interface = VolumeOfFluid(grid.constants, phases, boundaries)
    about = {"phases": phases, "interface": interface, "pressure": solver}
    return TwoPhase(grid, Fluid(phases.kinematic_viscosity), boundaries, **about)


def momentum_along(axis: int, faces: str | None = None, **where) -> Launch:
    """The launch of the momentum equation along an axis, on fields of the usual names."""
    others = [other for other in range(3) if other != axis]
    velocity, mass = ((group[axis], *(group[other] for other in others)) for group in ("uvw", ("m_x", "m_y", "m_z")))
    q = "uvw"[axis]
    fields = (*velocity, f"{q}_old"), mass, ("f", "f_new"), "kappa", "fall", faces, f"h_{q}", f"{q}_new"
    return momentum_of_phases(*fields, along="xyz"[axis], dt="dt", ratio="ratio", **where)


@dataclass
class History:
    """The times after steps, and what `look(fields)` gave then."""

    times: list[float] = field(default_factory=list)
    values: list = field(default_factory=list)


@dataclass
class Phased:
    """The fields at the end, [z, y, x], the time, the number of steps and what was seen on the way."""

    fields: dict[str, np.ndarray]
    time: float
    steps: int
    scalars: dict[str, float]
    history: History
    own: Box


def compute(
    model: TwoPhase, phi: Callable, *, velocity=(0.0, 0.0, 0.0), end=np.inf, steps=10**9, cfl=0.3, diffusion=0.2,
    fixed=None, blocks=(1, 1, 1), dtype="f8", threads=1, overlap="auto", look: Callable | None = None, every=1,
    names=("f", "p"), after=None, device: Device | None = None,
) -> Phased:  # fmt: skip
    """Run from the initial phi(x, y, z), positive in phase 1, and a velocity (numbers or functions).

    `names` are recorded, with the velocity and phi; `after` is a program for the final state; `device` is the CPU with
    so many threads if not given.
    """
    fields = FieldSpace([Field(name, dtype, place) for name, place in model.fields.items()])
    main = Partition(
        Region(Box.of(model.grid.cells), fields, model.staggered.periodic, model.ghost), blocks, redundant=1
    )
    partition = Partition(main.region, blocks, beside=model.partitions(main), redundant=1)
    limit = model.step_limit(fixed, cfl, diffusion)
    job = partial(_run, model, phi, velocity, limit, end, steps, look, every, names, after)
    shares = run_threads(partition, job, device or cpu(threads), Mapper(overlap))
    whole = {}
    for name in shares[0].fields:
        whole[name] = np.full(model.staggered.box.shape[::-1], np.nan)
        for share in shares:
            whole[name][share.own.slices((0, 0, 0))] = share.fields[name]
    return Phased(whole, shares[0].time, shares[0].steps, shares[0].scalars, shares[0].history, model.staggered.box)


def initial_interface(model: TwoPhase, phi: Callable, own: Box) -> dict[str, np.ndarray]:
    """The initial field of an interface where phi(x, y, z) is 0: phi itself, or the shares where it is positive."""
    grid = model.staggered
    places = grid.points("c", own)
    if "phi" in model.fields:
        return {"phi": phi(*places) + np.zeros(own.shape[::-1])}
    divided = tuple(axis for axis in range(3) if grid.cells[axis] > 1)
    return {"f": shares(phi, places, grid.spacing, divided) + np.zeros(own.shape[::-1])}


def _run(model, phi, velocity, limit, end, steps, look, every, names, after, shard: Shard) -> Phased:
    grid, own = model.staggered, shard.cells
    initial = initial_interface(model, phi, own)
    for name, value in zip("uvw", velocity, strict=True):
        points = grid.points(model.fields[name], own)
        initial[name] = (value(*points) if callable(value) else value) + np.zeros(own.shape[::-1])
    shard.write(initial)
    shard.run(model.start, dt=1.0)
    time, dt, count, history = 0.0, 0.0, 0, History()
    while count < steps and time < end * (1 - 1e-12):
        longest = limit.longest(shard.scalars["rate"], model.diffusive_rates(shard.scalars))
        left = end - time
        length = left / np.ceil(left / longest) if np.isfinite(left) else longest
        shard.run(model.step, **model.scalars(length, length / dt if dt else 0.0))
        time, dt, count = time + length, length, count + 1
        if look is not None and count % every == 0:
            history.times.append(time)
            history.values.append(look(shard, time, length))
    if after is not None:
        shard.run(after)
    known = [name for name in ("phi", "u", "v", "w") if name in model.fields]
    values = {name: shard.read(name) for name in dict.fromkeys((*names, *known))}
    return Phased(values, time, count, dict(shard.scalars.items()), history, own)


def heights(phi: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Where phase 1 ends in each column of a flow in the plane of x and z, seen from below."""
    phi = phi[:, 0, :]
    row = np.argmax((phi[:-1] > 0) & (phi[1:] <= 0), axis=0)
    above, below = (np.take_along_axis(phi, row[None] + k, axis=0)[0] for k in (0, 1))
    return z[row] + (z[1] - z[0]) * above / (above - below)


def assert_the_same_bits(model: TwoPhase, dtype: str, options: dict) -> None:
    """Of a droplet that falls for four steps in the box of the model, with and without these options."""
    drop = lambda x, y, z: 0.15 - np.sqrt((x - 0.3) ** 2 + (y - 0.2) ** 2 + (z - 0.35) ** 2)  # noqa: E731
    alone, cut = (compute(model, drop, steps=4, dtype=dtype, **how) for how in ({}, options))
    for name, values in alone.fields.items():
        np.testing.assert_array_equal(cut.fields[name], values, err_msg=name)


def box_of_a_droplet(phases: Phases, **options) -> TwoPhase:
    """The model on few cells, between slip sides, walls and periodic sides, with cycles of a fixed number."""
    sides = {"periodic": (False, True, False), "sides": {"z": WALL}}
    return two_phase((12, 8, 14), (0.6, 0.4, 0.7), phases, cycles=3, **sides, **options)
