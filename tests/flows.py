"""Flows computed in this process, without Dask and without files: what the tests of the physics share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from taskflow.cases import Case
from taskflow.cases.timing.intervals import Tick
from taskflow.cases.timing.schedule import Clock
from taskflow.cases.timing.steady import SteadyWatch
from taskflow.flow import Monitor
from taskflow.flow.grid.metrics import Grid
from taskflow.flow.measures.sums import Conduction, heat_flux
from taskflow.flow.model import VELOCITY
from taskflow.runs.block.pace import Pace
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine.device import Device, cpu
from taskflow.runtime.machine.shard import Shard
from taskflow.runtime.machine.threads import run_threads
from taskflow.runtime.machine.trace.mapper import Mapper
from taskflow.runtime.machine.trace.staging import Staging
from taskflow.runtime.regions import Box, Location, Triple
from taskflow.runtime.tasks import Launch, Program
from taskflow.systems.bodies import Movement
from taskflow.systems.initial.fields import InitialFields

DATA = Path(__file__).parent / "data"
GHIA = Path(__file__).parents[1] / "examples" / "data"


@dataclass(frozen=True, eq=False)
class Flow:
    """The state at the end of a run.

    `fields` are arrays [z, y, x] of all cells, and of one layer beyond walls (`padded`), by role. `scalars` are those
    of the last monitor, and of `after`. `history` has the monitor's at each of its ticks.
    """

    setup: RunSetup
    padded: dict[str, np.ndarray]
    scalars: dict[str, float]
    tick: Tick
    history: list[dict[str, float]]

    def __getitem__(self, name: str) -> np.ndarray:
        """The field in all cells: of a velocity the low face of each, without the high wall."""
        box, grown = self.setup.grid.box, self.setup.partition.region.bounds
        return self.padded[name][box.slices(grown.lo)]

    def location(self, name: str) -> Location:
        """Where the values of a field live in their cells."""
        return self.setup.model.fields[name]

    def points(self, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x, y, z of a field's values, as arrays that broadcast."""
        return self.setup.grid.points(self.location(name), self.setup.grid.box)

    @property
    def steady(self) -> bool:
        """Whether it got steady before its end."""
        return not self.setup.case.clock().over(self.tick)


def compute(
    case: Case,
    blocks: Triple = (1, 1, 1),
    *,
    overlap: str = "auto",
    staging: Staging = "device",
    threads: int = 1,
    after: Program | None = None,
    garbage: float | None = None,
    device: Device | None = None,
    clock: Clock | Lengths | None = None,
    planned: str | None = None,
) -> Flow:
    """Run a case to its end, or to its steady state, on blocks that are threads.

    `after` is a program for the final state. `garbage` fills every field before the initial ones are written.
    `device` is the CPU with so many threads if not given. `clock` leads the run in place of the case's own.
    `planned` is the kind of device that the case is set up for, by default the one it runs on.
    """
    setup = RunSetup(case, blocks, device=planned or (device.kind if device else "cpu"))
    job = partial(_run, setup, after, garbage, clock or setup.clock, setup.monitor)  # not made by each block
    shares = run_threads(setup.partition, job, device or cpu(threads), Mapper(overlap, staging=staging))
    bounds = setup.partition.region.bounds
    padded = {name: np.full(bounds.shape[::-1], np.nan) for name in setup.model.fields}
    for share in shares:
        for name, (box, values) in share.parts.items():
            padded[name][box.slices(bounds.lo)] = values
    first = shares[0]
    for share in shares:  # what blocks fold they have alike
        assert share.scalars == first.scalars
        assert share.tick == first.tick
    return Flow(setup, padded, first.scalars, first.tick, first.history)


@dataclass(frozen=True)
class Lengths:
    """A clock for steps of given lengths."""

    lengths: tuple[float, ...]

    def start(self) -> Tick:
        """The initial state, and the last one where there are no steps."""
        return Tick(finished=not self.lengths)

    def advance(self, now: Tick, *_: float) -> Tick:
        """One of the steps further."""
        dt, last = self.lengths[now.step], now.step + 1 == len(self.lengths)
        ratio = dt / now.dt if now.step else 0.0
        return Tick(now.step + 1, now.time + dt, dt, ratio, output=last, monitor=last, finished=last)


@dataclass(frozen=True, eq=False)
class _Share:
    """What a block knows at the end."""

    parts: dict
    scalars: dict[str, float]
    tick: Tick
    history: list[dict[str, float]]


def flags(setup: RunSetup, box: Box | None = None) -> dict[str, np.ndarray]:
    """What is known of bodies in the cells of a box, by default all, by role."""
    assert setup.system.masks is not None
    cells = box or setup.grid.box
    kinds = {**setup.model.flags, **dict.fromkeys(setup.model.surfaces, "f8")}
    result = {name: np.zeros(cells.shape[::-1], kinds[name]) for name in setup.system.masks.roles}
    for part, values in setup.system.masks.parts(cells):
        for name, item in values.items():
            assert item.dtype == kinds[name]
            result[name][part.slices(cells.lo)] = item
    return result


def _run(
    setup: RunSetup, after: Program | None, garbage: float | None, clock: Clock | Lengths, monitor: Monitor,
    shard: Shard,
) -> _Share:
    """The run loop of `runs.block.job` without output."""
    model = setup.model
    owned, history = setup.partition.owned[shard.block], []
    if garbage is not None:
        box = shard.cells.grow(shard.region.ghost)
        shard.write({name: np.full(box.shape[::-1], garbage) for name in model.fields}, box)
    InitialFields(setup.grid.points, setup.system.initial, Path(), setup.system.noise).fill(shard)
    if setup.system.masks is not None:
        setup.system.masks.fill(shard)
    movement = Movement(setup.system.moving, shard) if setup.system.moving else None
    if movement is not None:
        movement.begin(0.0)
    shard.run(model.start, dt=1.0, **setup.inflows.begin(shard, 0.0), **setup.system.timed.begin(0.0))
    settling = SteadyWatch(setup.steady_criterion, shard) if setup.steady_criterion else None
    if settling is not None:
        settling.begin(0.0)
    pace = Pace(setup.clock.limit, setup.system.outlook.onset)
    tick, program = clock.start(), model.step if setup.particles else setup.step
    while True:
        if tick.monitor:
            shard.run(monitor)
            history.append(_numbers(monitor, shard, tick))
        if tick.finished:
            break
        rate = shard.scalars["rate"]
        before, tick = tick, clock.advance(tick, rate, model.diffusive_rates(shard.scalars), pace.longest(tick, rate))
        pace.previous = rate
        numbers = setup.inflows.advance(shard, before.time, tick.dt)
        numbers |= setup.system.timed.advance(before.time, tick.dt, tick.ratio)
        numbers |= movement.advance(tick.time) if movement is not None else {}
        shard.run(program, **model.scalars(tick.dt, tick.ratio), **model.stage_times(before.time, tick.dt), **numbers)
        if settling is not None and settling.look(before, tick):
            tick = tick.last()
    if after is not None:
        shard.run(after)
    parts = {name: (owned, shard.read(name, owned)) for name in model.fields}
    return _Share(parts, dict(shard.scalars), tick, history)


def _numbers(monitor: Monitor, shard: Shard, tick: Tick) -> dict[str, float]:
    result = {**shard.scalars, "time": tick.time, "step": tick.step}
    result["change"] = monitor.change(result, tick.dt)
    result["energy"] /= shard.region.cells.volume
    return result


def plane_heat_flux(
    temperature: str, normal: str, flux: str, axis: int, plane: int, grid: Grid, diffusivity: float
) -> Launch:
    """The total heat flux along `axis` through the faces number `plane` (0 is the low wall, n the high one) into the
    scalar `flux`.

    `normal` is the velocity along the axis. Times the mean area of a face it is heat per time / (density heat
    capacity). It is the very flux of the heat equation: in a steady state without source all planes have the same.
    """
    faces = Box.of(grid.cells).layer(axis, 0, plane, plane + 1)
    spacing = grid.distance(axis, plane)
    conduction = Conduction(diffusivity / spacing, 1 / spacing, 1.0)
    numbers = {"flux": flux, "face": conduction, "grid": grid}
    return heat_flux(temperature, normal, None, over=faces, along="xyz"[axis], **numbers)


def orders(errors: Sequence[float], cells: Sequence[float]) -> list[float]:
    """Observed orders of accuracy between neighbouring grids."""
    pairs = zip(pairwise(errors), pairwise(cells), strict=True)
    return [float(np.log(coarse / fine) / np.log(n_fine / n_coarse)) for (coarse, fine), (n_coarse, n_fine) in pairs]


def norms(error: np.ndarray) -> tuple[float, float]:
    """Root of the mean square, and the maximum."""
    return float(np.sqrt(np.mean(error**2))), float(np.abs(error).max())


def interpolate(places: np.ndarray, values: np.ndarray, expected: np.ndarray, points: int = 4) -> np.ndarray:
    """Values at wanted places, by the polynomial through the nearest points: of a higher order than the solution."""
    result = []
    for place in np.atleast_1d(expected):
        first = int(np.clip(np.searchsorted(places, place) - points // 2, 0, len(places) - points))
        near = slice(first, first + points)
        scale = places[near] - place
        result.append(np.linalg.solve(np.vander(scale / np.ptp(scale)), values[near])[-1])
    return np.array(result)


def extremum(places: np.ndarray, values: np.ndarray, sign: int) -> tuple[float, float]:
    """Place and value of the maximum (sign 1) or minimum (-1), of the polynomial through five points around it."""
    fine = np.linspace(-1.0, 1.0, 4001)
    top = int(np.clip(np.argmax(sign * values), 2, len(values) - 3))
    near, width = slice(top - 2, top + 3), places[top + 1] - places[top]
    curve = np.polyval(np.polyfit((places[near] - places[top]) / width, values[near], 4), fine)
    best = int(np.argmax(sign * curve))
    return float(places[top] + width * fine[best]), float(curve[best])


__all__ = [
    "DATA", "GHIA", "VELOCITY", "Flow", "Lengths", "compute", "extremum", "interpolate", "norms", "orders",
    "plane_heat_flux",
]  # fmt: skip
