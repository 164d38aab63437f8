"""The memory of the blocks of a case: for its programs, as counted by the runtime, and for its output."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise

from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.common.rows import Row
from taskflow.common.units import size
from taskflow.runs.block.savepoint import small
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.cluster import shortage
from taskflow.runtime.host import Place
from taskflow.runtime.machine.needs import BlockMemory, MemoryCount, Passes
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Program
from taskflow.systems.base.pictures import pictures_of
from taskflow.systems.records.particles import MANY

SINGLE = 4  # bytes of a number in a picture


@dataclass(frozen=True)
class Memory(BlockMemory):
    """Bytes of a block: of its programs, its output, and the state `kept` before steps that may be repeated."""

    output: int = 0
    kept: int = 0

    @property
    def stepping(self) -> int:
        """The bytes for the programs alone, as in a benchmark."""
        return super().total

    @property
    def total(self) -> int:
        return self.stepping + self.output + self.kept


@dataclass(frozen=True, eq=False)
class MemoryEstimate:
    """The memory needed by the blocks of a case at their places, on a CPU or a GPU (`device`)."""

    sim: RunSetup
    placed: Sequence[Place]
    device: str

    @cached_property
    def blocks(self) -> list[Memory]:
        """Return the memory of each block. With many blocks everything except fields is taken from a representative."""
        sample, partition = self.sim.step_cost.sample, self.sim.partition
        about = self.sim.model.start, self.then, self.sim.recordings
        passes = Passes(partition, sample.blocks, sample.known, *about)
        count = MemoryCount(partition, self.device, passes, self._direct if self._near else None)
        sampled = {
            block: Memory(**asdict(count.of(block)), output=self._output(block), kept=self._kept(block))
            for block in sample.blocks
        }
        return [replace(sampled[like], fields=partition.nbytes(block)) for block, like in enumerate(sample.like)]

    def rows(self) -> Iterator[Row]:
        """Yield rows of `taskflow check`: memory of the largest block and of all, and its parts."""
        place, gpu, most = self.placed[0], self.device == "gpu", max(self.blocks, key=lambda memory: memory.total)
        free = f"of {size(place.gpus[0].free if gpu else place.memory)} free"
        total = sum(memory.total for memory in self.blocks)
        density = f"{total / self.sim.case.grid.count:.0f} bytes per cell"
        if len(self.blocks) == 1:
            yield Row("memory", f"{size(most.total)} {free}, {density}")
        else:
            about = "" if self.sim.step_cost.sample.complete else "about "
            where = f"{about}{size(most.total)} in the largest block, {about}{size(total)} in all"
            yield Row("memory", f"{where}, {density}, {free}{' per GPU' if gpu else ''}")
        parts = {
            "fields": most.fields,
            "message buffers": most.buffers,
            "flags and what other GPUs leave there": most.board,
            "scalars": most.scalars,
            "output": most.output,
            "state kept before steps": most.kept,
        }
        yield Row("", ", ".join(f"{size(nbytes)} {name}" for name, nbytes in parts.items() if nbytes), "detail")

    def check(self) -> None:
        """Raise BadInput if the blocks need more memory than is free at their places.

        The least number of fields of the system is checked first, as finding bodies on more cells than fit would take
        very long.
        """
        cells, blocks = self.sim.case.grid.count, len(self.placed)
        least = [self.sim.system.min_fields * self.sim.value_bytes * cells // blocks] * blocks
        problem = shortage(least, self.placed, self.device)
        if problem or (problem := shortage([memory.total for memory in self.blocks], self.placed, self.device)):
            raise BadInput(
                f"{self.sim.case.grid.key_text}: {problem};"
                ' use fewer cells, machine.precision = "single", or more machines'
            )

    def _output(self, block: int) -> int:
        """Return the output bytes: two records and a checkpoint on hosts, what fits, at least a field, on GPUs."""
        if self.device == "gpu":
            return self._values(block) + self._ordered
        # the largest spectra of a field that a block gathers from all, and puts together
        gathered = max((2 * 8 * waves.averages.statistics.modes.volume for waves in self.sim.spectra), default=0)
        written = self._recorded(block) + self._saved(block) + gathered + self._pictured(block)
        return written + max(self._ordered, self._followed)

    def _pictured(self, block: int) -> int:
        """Return the bytes of pictures that may wait to be written, and of one in single precision."""
        cells, pictures = self.sim.partition.cells_of(block), pictures_of(self.sim.case, self.sim.domain)
        values = [picture.values(cells) for picture in pictures]
        waiting = sum(count * picture.most for count, picture in zip(values, pictures, strict=True))
        return self.sim.value_bytes * waiting + SINGLE * max(values, default=0)

    def _values(self, block: int, layers: Sequence[Box] | None = None) -> int:
        """Return the bytes of a field in the cells of a block, or in its part of some layers."""
        cells = self.sim.partition.cells_of(block)
        some = cells if layers is None else [piece & layer for piece in cells for layer in layers]
        return sum(box.volume for box in some) * self.sim.value_bytes

    def _recorded(self, block: int) -> int:
        """Return the bytes of the two largest successive records: snapshots, averages after them, planes."""
        case, averages, value = self.sim.case, self.sim.averages, self._values(block)
        planes = [
            len(plane.fields or case.fields) * self._values(block, self.sim.domain.layers(plane))
            for plane in case.planes
        ]
        often = [len(case.output_fields) * value, *planes]
        rarely = len(averages.statistics.written) * value if averages else 0
        return sum(sorted([*often, *often, rarely])[-2:])

    @property
    def _followed(self) -> int:
        """Return the bytes of a record of particles, or a checkpoint: sorted, being written, and as gathered from all
        blocks, each of which sends the number of rows of the fullest one.
        """
        series, tables = self.sim.particles.series if self.sim.particles else (), 2 + len(self.sim.partition)
        return sum(tables * 8 * table.table.total * (9 + len(table.fields.sampled)) for table in series)

    @property
    def _ordered(self) -> int:
        """Return the bytes for sorting the largest number of particles by cell: keys, order, and one number of each."""
        series = self.sim.particles.series if self.sim.particles else ()
        return max((5 * 8 * table.table.total for table in series if table.table.total >= MANY), default=0)

    def _saved(self, block: int) -> int:
        """Return the bytes of a block's part of a checkpoint."""
        return self._state(block) if self.sim.case.checkpoint.keep else 0

    def _kept(self, block: int) -> int:
        """Return the bytes of the state before a repeatable step. A GPU passes large states to the host."""
        sim, gpu = self.sim, self.device == "gpu"
        if sim.clock.limit.fixed is not None or (gpu and (sim.particles or not small(sim.partition, sim.carried))):
            return 0
        return self._state(block)

    def _state(self, block: int) -> int:
        """Return the bytes of a block's part of the state that determines the further run."""
        sim, homes = self.sim, self.sim.partition.homes
        owned = ((role, own) for role in sim.carried for own in homes[role].own_of(block))
        parts = ((role, box & own) for role, own in owned for box in sim.carried[role])
        return sum(part.volume * sim.partition.fields[role].nbytes for role, part in parts)

    @property
    def then(self) -> dict[Program, list[Program]]:
        """The programs that can follow each program in a run: start, monitor, then steps, each optionally followed by a
        monitor and by records. A kept reference state affects no other field.
        """
        model, monitor, step = self.sim.model, self.sim.monitor, self.sim.step
        recorded = self.sim.recorded
        first = [programs[0] for programs in recorded]
        then: dict[Program, list[Program]] = {
            model.start: [monitor],
            monitor: [step, *first],
            step: [step, monitor, *first],
        }
        if self.sim.steady_criterion is not None and self.sim.steady_criterion.programs:
            programs, after = self.sim.steady_criterion.programs, then[step]
            then |= {one: [other, *after] for one, other in pairwise(programs)}
            then |= {programs[-1]: after, step: [programs[0], *after]}
        for n, programs in enumerate(recorded):
            then |= {one: [other] for one, other in pairwise(programs)}
            then[programs[-1]] = [step, *first[n + 1 :]]
        return then

    @property
    def _near(self) -> bool:
        """Return True if blocks may access the memory of others: GPUs, or blocks that are all in one process."""
        channel = self.sim.case.machine.channel
        if self.device == "gpu":
            return len(self.placed) == 1 or channel in ("auto", "peer")
        return len({place.worker for place in self.placed}) == 1 and channel in ("auto", "local")

    def _direct(self, one: int, other: int) -> bool:
        """Return True if blocks should access each other's memory: each alone on a GPU, on one host, or on cores."""
        if self.device == "cpu":
            return True
        return self.placed[one].host == self.placed[other].host and self._alone[one] and self._alone[other]

    @cached_property
    def _alone(self) -> list[bool]:
        """Return for each block True if no other block of its process shares its GPU."""
        homes = [(place.worker, place.gpus[0].identity) for place in self.placed]
        count = Counter(homes)
        return [count[home] == 1 for home in homes]
