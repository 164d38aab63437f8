"""The cost of a case on this machine, before allocation, and whether it can start: for `taskflow check`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from taskflow.cases import Case
from taskflow.cases.tables.pictures import check_libraries
from taskflow.common.caching import cached_property
from taskflow.common.rows import Row, auto, details, warning_rows
from taskflow.common.units import plural, size
from taskflow.flow.measures.statistics import SHARE
from taskflow.output import first_blocks
from taskflow.runs.directory.directory import RunDirectory
from taskflow.runs.estimate.memory import MemoryEstimate
from taskflow.runs.estimate.step_count import StepCount, count_steps, step_warnings
from taskflow.runs.state.remedies import as_keys
from taskflow.runs.state.setup import RunSetup, blocks_of
from taskflow.runtime.cluster import crowding, host_numbers, placed, processes, slabs, threads_per_block
from taskflow.runtime.host import choose_device, look
from taskflow.runtime.host.inventory import transport
from taskflow.runtime.machine import Mapper, compile_others, known_copy_bandwidth
from taskflow.runtime.machine.channel import segment_bytes
from taskflow.runtime.machine.device import open_device
from taskflow.runtime.tasks import Roles, TaskGraph
from taskflow.systems.base.step_cost import often
from taskflow.systems.bodies.movement import poses

if TYPE_CHECKING:
    from taskflow.runtime.proof import Proof

# What turns a lower bound into an expectation: the share of the copy bandwidth that a whole step usually reaches, the
# rounds of an iteration to a tolerance, and the seconds that a launch and a message cost however small they are.
COPY_SHARE = 0.65
LAUNCH = {"cpu": 15e-6, "gpu": 10e-6}
ROUNDS = 5.0
MESSAGE = {"local": 15e-6, "peer": 10e-6, "ucx": 15e-6, "actor": 2e-3}


@dataclass(frozen=True, eq=False)
class Estimate(MemoryEstimate):
    """A case on this machine: choices for auto, memory of blocks at their places, and cost of a step."""

    @cached_property
    def threads(self) -> int:
        """Cores per block on CPUs."""
        return threads_per_block(self.sim.case.machine, list(self.placed))

    @property
    def crowding(self) -> str | None:
        """A warning if threads outnumber cores."""
        return crowding(self.threads, list(self.placed)) if self.device == "cpu" else None

    @cached_property
    def steps(self) -> StepCount:
        """The estimated number of steps. Raises BadInput if it is unreasonably large."""
        return count_steps(self.sim)

    @cached_property
    def bandwidth(self) -> float:
        """Copy bandwidth of all devices together, bytes per second: of one GPU for all, or of the blocks' cores."""
        if self.device == "gpu":
            return known_copy_bandwidth(open_device("gpu")) * len({place.gpus[0].identity for place in self.placed})
        cores = min(self.placed[0].cores, self.threads * len(self.placed))
        return known_copy_bandwidth(open_device("cpu", cores))

    @property
    def processes(self) -> int:
        """Processes that hold blocks."""
        return len({place.worker for place in self.placed})

    @property
    def overlap(self) -> str:
        """The overlap of transfers and computing."""
        return Mapper(self.sim.case.machine.overlap).decide(self.sim.partition).overlap

    @property
    def channel(self) -> str:
        """The name of the channel between blocks."""
        return transport(self.sim.case.machine.channel, self.processes)

    @property
    def shared(self) -> int:
        """Bytes of host memory shared by two neighbours, if it carries their messages."""
        return segment_bytes() if self.channel == "peer" else 0

    @property
    def seconds_per_step(self) -> float:
        """The estimated time of a step, in seconds."""
        step = self.sim.step_cost
        launches = sum(times * len(repeated) for repeated, times in often(step.parts, self.iterations))
        messages = max(step.traffic).messages * launches / len(step.launches)
        fixed = launches * LAUNCH[self.device] + messages * MESSAGE[self.channel]
        return step.nbytes(self.iterations) / (COPY_SHARE * self.bandwidth) + fixed

    @property
    def iterations(self) -> dict[str, float]:
        """The estimated number of iterations of each loop to a tolerance; the actual number is not known in advance."""
        return dict.fromkeys(self.sim.step_cost.counted, ROUNDS)

    def rows(self) -> Iterator[Row]:
        """Yield rows of `taskflow check`: the case, and its cost on this machine."""
        sim, case = self.sim, self.sim.case
        given, cost, iteration = case.machine, sim.step_cost, sim.system.iteration_name
        yield from sim.domain.rows()
        where = "one process" if self.processes == 1 else f"{self.processes} processes"
        yield Row("blocks", f"{sim.domain.counted(sim.blocks)} in {where}", "detail", auto=given.blocks == "auto")
        yield from details(sim.domain.shares(sim.partition))
        yield Row("device", self._device, auto=given.device == "auto")
        yield from warning_rows([self.crowding] if self.crowding else [])
        yield from sim.system.rows(cost)
        if sim.origin is not None:
            yield sim.origin.row
        yield from super().rows()
        if len(self.placed) > 1:
            yield from details(cost.message_rows(self.iterations, iteration))
            overlap = f"overlap {self.overlap}{auto(given.overlap == 'auto')}"
            channel = f"channel {self.channel}{auto(given.channel == 'auto')}"
            shared = f", {size(self.shared)} shared by each two neighbours" if self.shared else ""
            yield Row("", f"{overlap}, {channel}{shared}", "detail")
        yield from details(cost.rows(self.iterations, iteration, self.bandwidth))
        steady = case.time.steady is not None
        yield from self.steps.rows(self.seconds_per_step, bounded=cost.bounded, steady=steady)
        yield from warning_rows((*sim.system.warnings, *step_warnings(sim)))
        if sim.steady_criterion:
            yield from sim.steady_criterion.rows()
        yield from sim.record_rows(self.iterations)
        if len(self.placed) > 1:
            snapshots, states = RunDirectory.layouts(sim)[0], len(set(first_blocks(sim.hosts)))
            saved = f", {states} for each checkpoint" if case.checkpoint.keep else ""
            count = sum(array.files for array in snapshots.arrays.values())
            yield Row("files", f"{count} for each snapshot{saved}", "detail")

    @property
    def _device(self) -> str:
        place = self.placed[0]
        if self.device == "gpu":
            return f"{plural(len({place.gpus[0].identity for place in self.placed}), 'GPU')}: {place.gpus[0].name}"
        return f"cpu, {plural(self.threads, 'core')} per block: {place.processor}"

    def prove(self) -> Proof:
        """Prove the templates of all blocks for every order of steps and monitors after the start."""
        from taskflow.runtime.proof import Hardware, Programs, prove  # which a run does without

        sim, blocks, gpu = self.sim, len(self.placed), self.device == "gpu"
        model, debug = sim.model, sim.case.machine.debug
        direct = blocks == 1 or self.channel == "peer" if gpu else blocks > 1 and self._near
        hardware = Hardware(gpu, (0,) * blocks if direct else None)
        numbers = {**model.scalars(1.0, 1.0), **model.stage_times(0.0, 1.0), **sim.system.timed.advance(0.0, 1.0)}
        numbers |= sim.particles.carrying.scalars(1.0, 1.0) if sim.particles else {}
        numbers |= poses(sim.system.moving, 0.0) if sim.system.moving and sim.system.moving.placement else {}
        computed = sim.system.computed
        moment = tuple(computed.scalars(0.0)) if computed else ()
        averaged = sim.averaged.values()
        programs: Programs = {
            sim.step: tuple(numbers), sim.monitor: moment,
            **dict.fromkeys(sim.steady_criterion.programs if sim.steady_criterion else (), ()),
            **({computed: moment} if computed else {}),
            **{one.sample: (SHARE,) for one in averaged},
            **dict.fromkeys((table.sampling for table in sim.particles.series) if sim.particles else (), ()),
        }  # fmt: skip
        start: Programs = {model.start: ("dt", *sim.system.timed.begin(0.0)), **{one.begin: () for one in averaged}}
        mapper = Mapper(sim.case.machine.overlap, debug=debug)
        return prove(sim.partition, programs, mapper, hardware, start=start)

    def compile_others(self) -> int:
        """Compile the kernels of other packages in the start and in a step; return their number."""
        sim, device = self.sim, open_device("gpu") if self.device == "gpu" else open_device("cpu", self.threads)
        roles, programs = Roles.of(tuple(sim.partition.fields)), (sim.model.start, sim.step)
        launches = [one for program in programs for one in sim.recordings.record(program, roles)[0]]
        return compile_others(launches, sim.partition, device)

    def proof_row(self) -> Row:
        """Return the row of `check --prove`. Raises RunFailed if the proof fails or a kernel does not compile."""
        compiled, row = self.compile_others(), self.prove().row()
        others = f"; {plural(compiled, 'kernel')} of other packages compiled" if compiled else ""
        return row._replace(text=f"{row.text}{others}")


@as_keys()
def estimate(case: Case) -> Estimate:
    """Choose as a run on this machine would, and measure the copy bandwidth if it is not known.

    Raises BadInput if the case cannot run here: no compiler, no GPU, more blocks than planes, not enough memory, too
    many steps.
    """
    here = look("this machine")
    device = choose_device(case.machine.device, [here])
    gpus = len(here.gpus) if device == "gpu" else None
    places = [replace(here, worker=f"process {n}") for n in range(processes(case.machine, case.grid.room, gpus))]
    blocks = blocks_of(case, slabs(places, device, embedded=True))
    where = placed(case.machine, blocks, places, embedded=True)
    sim = RunSetup(case, blocks, device=device, hosts=host_numbers(where))
    costs = Estimate(sim, where, device)
    costs.check()
    sim.system.check()
    check_libraries(case.pictures)
    _ = sim.origin, costs.steps, costs.bandwidth  # found and measured now
    return costs


def step_graph(case: Case) -> TaskGraph:
    """Return the graph of a repeated step: on the blocks of the case, or on one."""
    sim = RunSetup(case, blocks_of(case, 1))
    mapper = Mapper(case.machine.overlap).decide(sim.partition)
    return sim.step_cost.analysed(split=mapper.split).graph
