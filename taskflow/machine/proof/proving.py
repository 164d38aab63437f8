"""Proofs of programs: every template that their passes can need, before and after every other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from taskflow.errors import RunFailed
from taskflow.machine.mapper import Mapper
from taskflow.machine.proof.cells import Cells, Outside
from taskflow.machine.proof.execution import Broken, Execution, Hardware
from taskflow.machine.proof.order import Circle
from taskflow.machine.proof.races import races, separation
from taskflow.machine.proof.recording import Recorded, State, begin, record_pass
from taskflow.machine.proof.touched import boxes
from taskflow.machine.proof.versions import Versions
from taskflow.regions import Partition
from taskflow.tasks import Program

Programs = Mapping[Program, Iterable[str]]
"""Programs, each with the scalars to which the host gives a value before every pass."""


@dataclass
class Proof:
    """What was looked at: templates, passes in all runs of two or three, interfering pairs of steps, reads of a cell.

    `faults` is what is wrong.
    """

    templates: int = 0
    passes: int = 0
    pairs: int = 0
    reads: int = 0
    faults: list[str] = field(default_factory=list)

    def __iadd__(self, other: Proof) -> Proof:
        for name in ("templates", "passes", "pairs", "reads", "faults"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self

    def hold(self) -> None:
        """Raises RunFailed where something is wrong."""
        if self.faults:
            more = f"\n  and {len(self.faults) - 10} more" if len(self.faults) > 10 else ""
            raise RunFailed("the proof fails:\n  " + "\n  ".join(self.faults[:10]) + more)


def prove(
    partition: Partition, programs: Programs, mapper: Mapper, hardware: Hardware, *, start: Programs | None = None
) -> Proof:
    """Prove every template that passes of `programs` need, in whatever order they come, after one pass of each of
    `start`, in its order.

    Looked at is every pair of passes of which one can follow the other, and three passes that repeat themselves.
    """

    def passes(state: State, some: Programs) -> list[Pass]:
        return [Pass(record_pass(partition, p, state, mapper, hardware), state, (*s,)) for p, s in some.items()]

    state, proof = begin(partition), Proof()
    opening: list[Pass] = []
    for program, scalars in (start or {}).items():
        opening += passes(state, {program: scalars})
        state = opening[-1].recorded.after
    reached: dict[object, list[Pass]] = {}
    waiting = [state]
    while waiting:
        state = waiting.pop()
        if state.key() not in reached:
            reached[state.key()] = passes(state, programs)
            waiting += [one.recorded.after for one in reached[state.key()]]
    proof.templates = len(partition) * (len(opening) + sum(map(len, reached.values())))
    runs = [opening[n : n + 2] for n in range(len(opening) - 1)]
    for one in (*opening[-1:], *(one for found in reached.values() for one in found)):
        after = reached[one.recorded.after.key()]
        runs += [[one, other, other] if one is other else [one, other] for other in after]
    for some in runs:
        proof += examine(partition, some, hardware)
    return proof


@dataclass(frozen=True, eq=False)
class Pass:
    """A recorded pass, the state in which it begins, and the scalars to which the host gives values before it."""

    recorded: Recorded
    state: State
    scalars: tuple[str, ...]


def examine(partition: Partition, passes: Sequence[Pass], hardware: Hardware) -> Proof:
    """Look at some passes, one after the other, as all blocks do them."""
    first, last = passes[0].state, passes[-1].recorded.after
    touched = {b for one in passes for trace in one.recorded.traces for node in trace.graph.nodes for b in boxes(node)}
    touched |= {launch.over for one in passes for launch in one.recorded.launches}
    touched |= {box for valid in (*first.valid, *last.valid) for some in valid.values() for box in some}
    proof = Proof(passes=len(passes))
    try:
        execution = Execution(Cells(partition, touched), partition, hardware)
        for one in passes:
            execution.add(one.recorded.traces, one.scalars)
        execution.finish()
    except (Broken, Outside, Circle) as error:
        proof.faults.append(str(error))
        return proof
    proof.pairs, proof.faults = races(execution)
    proof.faults += separation(execution)
    versions = Versions(execution, partition, first.valid)
    proof.faults += versions.run([(one.recorded.launches, one.scalars) for one in passes])
    proof.faults += versions.left(last.valid)
    proof.reads = versions.checked
    return proof
