"""Measurements of the solver's kernels and of its whole step, through the same machinery as in a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from examples.papers.measuring import beside_copies, open_here
from taskflow.bench.projection.flows import Flow
from taskflow.bench.steps import Pressure
from taskflow.bench.timing import PRECISION, about, timed
from taskflow.flow import NavierStokes
from taskflow.flow.operators.projection import correct, divergence
from taskflow.flow.poisson.multigrid.solver import (
    cg_first_inner_products,
    cg_first_update,
    cg_inner_products,
    cg_update,
)
from taskflow.flow.poisson.multigrid.transfer import correct_by_coarse, restrict_residual
from taskflow.flow.poisson.operator import residual_of
from taskflow.flow.poisson.relaxation import jacobi, jacobi_twice, relax, smooth_colours_from_zero
from taskflow.flow.scalars.transport import bounded_euler, bounded_heun
from taskflow.runs.estimate.memory import MemoryEstimate
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine import Shard, run_threads
from taskflow.runtime.machine.device import Device
from taskflow.runtime.machine.kernel import Layout, compiled
from taskflow.runtime.tasks import Launch, Program, Roles, Task, record
from taskflow.systems.projection import Projection

KernelTiming = dict[str, Any]
CELLS = {"cpu": 256, "gpu": 512}
SWEEPS = 10  # Jacobi sweeps in a pass, as a step has them in a row; other kernels of pressure solvers as often
PRESSURE = (
    residual_of,
    smooth_colours_from_zero,
    relax,
    restrict_residual,
    correct_by_coarse,
    cg_first_inner_products,
    cg_first_update,
    cg_inner_products,
    cg_update,
)  # of conjugate gradients with multigrid
SCALAR = "scalars=[{name = 'c', diffusivity = 1e-3, scheme = 'koren', initial = 'x * y'}]"
CARRIED = bounded_euler, bounded_heun  # of a scalar that stays within its bounds


def measure_kernels(
    cells: int | None, precision: str | None, requested: str, settings: Sequence[str] = ()
) -> dict[str, Any]:
    """Medians for a cavity of cells^3: Jacobi's sweep in a shard and as the bare kernel, two sweeps in one pass where a
    step has them, momentum, divergence, correction, the eddy viscosity where there is one, and the whole step; then
    both stages of a scalar that stays within its bounds, and the kernels of conjugate gradients with multigrid on the
    finest level; with the copy bandwidth measured before and after, the machine and the command. `settings`
    (`table.key=VALUE`) change the case.

    Raises BadInput where the device is not usable or the memory not enough.
    """
    here, device = open_here(requested)
    size, real = cells or CELLS[device.kind], precision or PRECISION[device.kind]
    slow = f"fluid.viscosity={0.1 / size}"  # within the limits of the time step that is measured
    kinds = ("jacobi", ()), ("jacobi", (SCALAR,)), ("multigrid", ())
    flows = (Flow("cavity", Pressure(solver), settings=(slow, *settings, *more)) for solver, more in kinds)
    cavities = [RunSetup(flow.of((size, size, size), real), (1, 1, 1), device=device.kind) for flow in flows]
    for one in cavities:
        MemoryEstimate(one, [here], device.kind).check()
    setup, carrying, solving = cavities

    def measure() -> list[KernelTiming]:
        timings = run_threads(setup.partition, Measurement(setup, device), device)[0]
        for one, tasks in ((carrying, CARRIED), (solving, PRESSURE)):
            timings += run_threads(one.partition, Alone(one, tasks), device)[0]
        return timings

    return {
        **about(here, device.kind, device.threads),
        "cells": list(setup.case.grid.cells),
        "precision": setup.case.machine.precision,
        "iterations": setup.case.pressure.iterations,
        **beside_copies(device, measure),
    }


def _timing(name: str, seconds: float, samples: int, cells: int, nbytes: int) -> KernelTiming:
    """The median time of something that updates so many cells and has to move so many bytes."""
    return {"name": name, "seconds": seconds, "samples": samples, "bytes": nbytes, "cells_per_second": cells / seconds}


@dataclass(frozen=True)
class Measurement:
    """The job of the one block. The step comes first, so that kernels meet the numbers of a flow."""

    setup: RunSetup
    device: Device

    def __call__(self, shard: Shard) -> list[KernelTiming]:
        """Measure everything."""
        model = Projection.of(self.setup.system).model
        shard.run(model.start, dt=1.0)
        scalars = {"dt": 0.2 * min(self.setup.grid.spacing), "ratio": 1.0}
        shard.run(model.step, dt=scalars["dt"], ratio=0.0)
        timings = [self._program(shard, "whole step", model.step, scalars)]
        for name, program in programs(model).items():
            timings.append(self._program(shard, name, program, {}))
        return [self._bare(shard), *timings[1:], timings[0]]

    def _program(self, shard: Shard, name: str, program: Program, scalars: dict[str, float]) -> KernelTiming:
        launches, _ = record(program, shard.roles)
        repeats = SWEEPS if launches[0].task.base in (jacobi, jacobi_twice) else 1
        timing = timed(lambda: shard.run(program, **scalars), shard.synchronize, repeats)
        return _timing(name, *timing, shard.cells.volume, self.setup.step_cost.bytes_of(launches) // repeats)

    def _bare(self, shard: Shard) -> KernelTiming:
        """Two bound kernels that write into each other's field, called without anything around them."""
        instances, grid = shard.instances, Projection.of(self.setup.system).model.grid
        layout = Layout(instances.box.lo, instances.box.shape[::-1])
        launch = jacobi("p", "rhs", None, "p_new", over=shard.cells, grid=grid)
        kernel = compiled(launch.task, shard.region.fields["p"].dtype, self.device)
        p, rhs, q = (instances.array(name) for name in ("p", "rhs", "p_new"))
        calls = [kernel.bind(shard.cells, layout, fields, {"grid": grid}, {}) for fields in ((p, rhs, q), (q, rhs, p))]
        timing = timed(lambda: [call() for call in calls], self.device.synchronize, len(calls))
        nbytes = self.setup.step_cost.bytes_of([launch])
        return _timing("Jacobi sweep, bare kernel", *timing, shard.cells.volume, nbytes)


@dataclass(frozen=True)
class Alone:
    """The job of the one block for some kernels: of each the largest launch of a step, alone. What it computes is of no
    matter; scalars of 1 keep it finite.
    """

    setup: RunSetup
    tasks: tuple[Task, ...]

    def __call__(self, shard: Shard) -> list[KernelTiming]:
        """Measure everything."""
        largest: dict[str, Launch] = {}
        for launch in self.setup.step_cost.launches:
            name = launch.task.name
            most = largest[name].over.volume if name in largest else 0
            if launch.task.base in self.tasks and launch.over.volume > most:
                largest[name] = launch
        return [self._launch(shard, launch) for launch in largest.values()]

    def _launch(self, shard: Shard, launch: Launch) -> KernelTiming:
        def program(_: Roles) -> Iterator[Launch]:
            yield from [launch] * SWEEPS

        scalars = dict.fromkeys(launch.scalars.values(), 1.0)
        timing = timed(lambda: shard.run(program, **scalars), shard.synchronize, SWEEPS)
        return _timing(launch.task.name, *timing, shard.cells.volume, self.setup.step_cost.bytes_of([launch]))


def programs(model: NavierStokes) -> dict[str, Program]:
    """Parts of the step as programs of their own, by the name under which they are reported."""
    over, grid = model.staggered.box, model.grid

    def sweeps(f: Roles) -> Iterator[Launch]:
        for _ in range(SWEEPS):
            yield jacobi(f.p, f.rhs, None, f.p_new, over=over, grid=grid)
            f.swap("p", "p_new")

    def pairs(f: Roles) -> Iterator[Launch]:
        for _ in range(SWEEPS):
            yield jacobi_twice(f.p, f.rhs, None, f.p_new, over=over, grid=grid, near=None)
            f.swap("p", "p_new")

    def predict(f: Roles) -> Iterator[Launch]:
        yield next(model.prediction(f, model.scheme.names[0]))

    def diverge(f: Roles) -> Iterator[Launch]:
        yield divergence((f.u, f.v, f.w), f.rhs, over=over, dt="dt", grid=grid)

    def project(f: Roles) -> Iterator[Launch]:
        yield correct((f.u_new, f.v_new, f.w_new), f.p, None, over=over, dt="dt", grid=grid)

    def stir(f: Roles) -> Iterator[Launch]:
        yield next(launch for launch in model.update_derived_fields(f, (f.u, f.v, f.w), -1) if launch.over == over)

    blocked = {"two Jacobi sweeps in a pass": pairs} if model.ghost > 1 else {}
    eddies = {"eddy viscosity": stir} if model.turbulence else {}
    always = {"momentum": predict, "divergence": diverge, "correction": project}
    return {"Jacobi sweep": sweeps, **blocked, **always, **eddies}
