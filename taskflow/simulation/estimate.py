"""What a case will cost on this machine, before anything is allocated: what `taskflow check` tells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from taskflow.cluster import cut, placed, processes, slabs, threads_per_block
from taskflow.errors import BadInput
from taskflow.flow import Wall
from taskflow.flow.navier_stokes import VELOCITY
from taskflow.host import Place, choose_device, look
from taskflow.host.inventory import transport
from taskflow.machine import Mapper, copy_bandwidth
from taskflow.machine.channel import segment_bytes
from taskflow.machine.device import open_device
from taskflow.simulation.case import Case
from taskflow.simulation.inflow.inflow import moments
from taskflow.simulation.initial.initial import largest
from taskflow.simulation.keys import as_keys
from taskflow.simulation.memory import Memory, Needs
from taskflow.simulation.moving import often
from taskflow.simulation.setup import Setup
from taskflow.simulation.start import check_start
from taskflow.tasks import TaskGraph

# What turns a lower bound into an expectation: the share of the copy bandwidth that a whole step usually reaches, the
# rounds of an iteration to a tolerance, and the seconds that a launch and a message cost however small they are.
SHARE = 0.65
LAUNCH = {"cpu": 15e-6, "gpu": 10e-6}
ROUNDS = 5.0
MESSAGE = {"local": 15e-6, "peer": 10e-6, "ucx": 15e-6, "actor": 2e-3}


MOST_STEPS = 1e15  # of a run: at a microsecond each they take 30 years
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Estimate:
    """A case on this machine: what was chosen where the case says auto, and what a step costs.

    `needs` has what blocks need, at the place of each; `steps` are those that the run will probably take; `bandwidth`
    is the copy bandwidth of all their devices together, in bytes per second, measured now.
    """

    needs: Needs
    threads: int
    steps: Steps
    bandwidth: float

    @property
    def setup(self) -> Setup:
        """The case made concrete."""
        return self.needs.setup

    @property
    def device(self) -> str:
        """Where blocks compute: "cpu" or "gpu"."""
        return self.needs.device

    @property
    def places(self) -> Sequence[Place]:
        """The place of each block."""
        return self.needs.placed

    @property
    def processes(self) -> int:
        """Processes that hold blocks."""
        return len({place.worker for place in self.places})

    @property
    def memory(self) -> list[Memory]:
        """What each block needs."""
        return self.needs.blocks

    @property
    def overlap(self) -> str:
        """How transfers are overlapped with computing."""
        return Mapper(self.setup.case.machine.overlap).decide(self.setup.partition).overlap

    @property
    def channel(self) -> str:
        """What carries messages between blocks."""
        return transport(self.setup.case.machine.channel, self.processes)

    @property
    def shared(self) -> int:
        """Bytes of host memory that two neighbours share, where that carries their messages."""
        return segment_bytes() if self.channel == "peer" else 0

    @property
    def seconds_per_step(self) -> float:
        """What a step will probably take."""
        step = self.setup.stepping
        launches = sum(times * len(each) for each, times in often(step.parts, self.rounds))
        messages = max(step.traffic).messages * launches / len(step.launches)
        fixed = launches * LAUNCH[self.device] + messages * MESSAGE[self.channel]
        return step.nbytes(self.rounds) / (SHARE * self.bandwidth) + fixed

    @property
    def rounds(self) -> dict[str, float]:
        """How often a step probably repeats what it repeats until it is enough: nobody knows before."""
        return dict.fromkeys(self.setup.stepping.counted, ROUNDS)


@dataclass(frozen=True)
class Steps:
    """A number of steps, and what it rests on; `exact` where that is the case itself."""

    count: int
    basis: str
    exact: bool = False


@as_keys()
def estimate(case: Case) -> Estimate:
    """Decide as a run on this machine would, and measure the copy bandwidth.

    Raises BadInput where the case cannot run here: no compiler, no GPU, more blocks than planes, not enough memory, no
    end of steps.
    """
    here = look("this machine")
    device = choose_device(case.machine.device, [here])
    gpus = len(here.gpus) if device == "gpu" else None
    places = [replace(here, worker=f"process {n}") for n in range(processes(case.machine, case.grid.cells, gpus))]
    setup = Setup(case, cut(case.machine, case.grid.cells, slabs(places, device, embedded=True)), device=device)
    where = placed(case.machine, setup.blocks, places, embedded=True)
    needs = Needs(setup, where, device)
    needs.check()
    check_start(setup)
    threads = threads_per_block(case.machine, where)
    return Estimate(needs, threads, count_steps(setup), _bandwidth(device, where, threads))


def _bandwidth(device: str, places: list[Place], threads: int) -> float:
    """Copy bandwidth of all devices together: one GPU measured for all, or the cores that the blocks will use."""
    if device == "gpu":
        return copy_bandwidth(open_device("gpu")) * len({place.gpus[0].identity for place in places})
    return copy_bandwidth(open_device("cpu", min(places[0].cores, threads * len(places))), repeats=4)


def step_graph(case: Case) -> TaskGraph:
    """The graph of a step in the long run: of the blocks that the case gives, or of one."""
    setup = Setup(case, cut(case.machine, case.grid.cells, 1))
    mapper = Mapper(case.machine.overlap).decide(setup.partition)
    return setup.stepping.analysed(split=mapper.split).graph


def count_steps(setup: Setup) -> Steps:
    """The steps of a run whose flow is as fast as its walls, its inflows and its initial velocity, or else as diffusion
    allows.

    The speed that a flow will reach is not known before it is computed.
    """
    case, limit = setup.case, setup.case.clock().limit
    if case.time.steps is not None:
        return Steps(case.time.steps, "time.steps", exact=True)
    end = case.time.end or 0.0
    if limit.fixed is not None:
        return Steps(_counted(end, limit.fixed), f"time.step = {limit.fixed:g}", exact=True)
    rate = advective_rate(setup)
    if rate == 0 and limit.spread == 0:
        rate = sum(1 / setup.grid.narrowest(axis) for axis in range(3))
        basis = f"CFL {limit.cfl:g} at a speed of 1 along x, y and z, as nothing tells the speed"
    elif rate > 0 and limit.cfl / rate <= limit.longest(rate):
        basis = f"CFL {limit.cfl:g} at the speed of walls, inflows and initial velocity"
    elif limit.within_bounds(rate) <= limit.longest(rate):
        basis = "what bounded scalars need at the speed of walls, inflows and initial velocity"
    else:
        basis = f"diffusion number {limit.diffusion:g}; a fast flow takes more"
    return Steps(max(1, _counted(end, limit.longest(rate))), basis)


def _counted(end: float, step: float) -> int:
    """How many steps of this length lead to the end. Raises BadInput where nobody would wait for so many."""
    if not end <= MOST_STEPS * step:
        raise BadInput(
            f"time.end = {end:g}: steps of {step:.3g} lead there in more than {MOST_STEPS:.0e}; give an earlier end, or"
            " forces, speeds and diffusivities that let steps be longer"
        )
    return math.ceil(end / step * (1 - ROUNDING))


def advective_rate(setup: Setup) -> float:
    """max(|u|/dx + |v|/dy + |w|/dz), about, over walls, inflows and the initial velocity where that is a formula."""
    spacing = np.array([setup.grid.narrowest(axis) for axis in range(3)])
    speeds = [np.abs(side.velocity) for side in setup.model.boundaries.values() if isinstance(side, Wall)]
    speeds += setup.entering.fastest(moments(setup.case))
    initial = largest(setup.case, setup.grid)
    speeds.append(np.array([initial.get(name, 0.0) for name in VELOCITY]))
    return max(float((speed / spacing).sum()) for speed in speeds)
