"""Proofs of programs: every template that their passes can need, before and after every possible neighbour."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError
from itertools import product

from taskflow.common.errors import RunFailed
from taskflow.common.rows import Row
from taskflow.common.units import plural
from taskflow.runtime.machine.trace.mapper import Mapper
from taskflow.runtime.proof.cells import Cells, Claims, boxes, number_cells
from taskflow.runtime.proof.checks import collisions, overwritten, races, separation
from taskflow.runtime.proof.execution import Execution
from taskflow.runtime.proof.recording import RecordedPass, Recorder, form
from taskflow.runtime.proof.timeline import Broken, Hardware
from taskflow.runtime.proof.versions import Versions
from taskflow.runtime.regions import Box, Partition
from taskflow.runtime.tasks import Compute, Derive, Node, Part, Program, Roles, Stretch, Valid, derived, plan

Programs = Mapping[Program, Iterable[str]]
"""Programs, each with the scalars that the host sets before every pass."""


@dataclass(frozen=True, eq=False)
class ProgramLayout:
    """A program for some initial roles: its stretches, the possible successors of each, and the stretches that end it.

    `after` are its final roles. The host sets `scalars` before it, and may set `derived` ones before any stretch.
    """

    after: Roles
    scalars: tuple[str, ...]
    stretches: list[Stretch] = field(default_factory=list)
    following: list[list[int]] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    derived: tuple[str, ...] = ()

    def lay(self, parts: Sequence[Part]) -> tuple[int, list[int]]:
        """Add parts in sequence, loops at least once, and return their first stretch and the possible last ones."""
        first, last = len(self.stretches), list[int]()
        for part in parts:
            if isinstance(part, Derive):
                continue
            if isinstance(part, Stretch):
                begin, end = len(self.stretches), [len(self.stretches)]
                self.stretches.append(part)
                self.following.append([])
            else:
                begin, end = self.lay(part.body)
                if not end:
                    continue
                for stretch in end:
                    self.following[stretch].append(begin)
            for stretch in last:
                self.following[stretch].append(begin)
            last = end
        return first, last


@dataclass(frozen=True)
class ReplayMoment:
    """The next stretch: number `index` of a program at a stage of the course."""

    stage: int
    layout: ProgramLayout
    index: int

    @property
    def scalars(self) -> tuple[str, ...]:
        """The scalars that the host sets before: at the start of a program, or derived from others."""
        return (*(self.layout.scalars if self.index == 0 else ()), *self.layout.derived)


class ProgramCourse:
    """A course: one pass of each program of `start`, then any number of passes of `programs`, in any order."""

    def __init__(self, programs: Programs, start: Programs) -> None:
        self._menus = [*([entry] for entry in start.items()), list(programs.items())]
        self._layouts: dict[object, ProgramLayout] = {}

    def begin(self, roles: Roles, stage: int = 0) -> list[ReplayMoment]:
        """Return the possible first moments of a run, or of a stage."""
        moments, waiting, seen = list[ReplayMoment](), [(roles, stage)], set()
        while waiting:
            roles, stage = waiting.pop()
            stage = min(stage, len(self._menus) - 1)
            if (stage, roles.key()) in seen:
                continue
            seen.add((stage, roles.key()))
            for program, scalars in self._menus[stage]:
                layout = self._lay(program, tuple(scalars), roles)
                if layout.stretches:
                    moments.append(ReplayMoment(stage, layout, 0))
                else:  # no launches: continue with its successors
                    waiting.append((layout.after, stage + 1))
        return moments

    def after(self, moment: ReplayMoment) -> list[ReplayMoment]:
        """Return the possible next moments."""
        moments = [ReplayMoment(moment.stage, moment.layout, index) for index in moment.layout.following[moment.index]]
        if moment.index in moment.layout.ends:
            moments += self.begin(moment.layout.after, moment.stage + 1)
        return moments

    def _lay(self, program: Program, scalars: tuple[str, ...], roles: Roles) -> ProgramLayout:
        key = program, scalars, roles.key()
        if key not in self._layouts:
            parts, after = plan(program, roles)
            layout = self._layouts[key] = ProgramLayout(after, scalars, derived=tuple(dict.fromkeys(derived(parts))))
            layout.ends.extend(layout.lay(parts)[1])
        return self._layouts[key]


@dataclass
class Proof:
    """Extent and faults of a proof: templates of all blocks, passes in all runs of two or three, interfering pairs of
    steps, and reads of cells.
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
        """Raises RunFailed if faults were found."""
        if self.faults:
            more = f"\n  and {len(self.faults) - 10} more" if len(self.faults) > 10 else ""
            raise RunFailed("the proof fails:\n  " + "\n  ".join(self.faults[:10]) + more)

    def row(self) -> Row:
        """Return the row of `taskflow check`. Raises RunFailed if something is wrong."""
        self.hold()
        ordered, found = f"{self.pairs:,} interfering pairs are ordered", f"{self.reads:,} reads find"
        return Row("proof", f"{plural(self.templates, 'template')}: {ordered}, {found} what the program means")


def prove(
    partition: Partition, programs: Programs, mapper: Mapper, hardware: Hardware, *, start: Programs | None = None
) -> Proof:
    """Prove every template of passes of `programs`, in any order, after one pass of each of `start`, in order.

    Examines every two passes that can follow each other, with every overlap that the mapper may choose for each, and
    three passes that repeat themselves.
    """
    ways = mapper.ways(alone=len(partition) == 1, streams=hardware.streams)
    recorder, claims = Recorder(partition, hardware), Claims(partition)
    recorded: dict[object, tuple[list[RecordedPass], list[object]]] = {}
    proof, course = Proof(), ProgramCourse(programs, start or {})
    nothing: tuple[Valid, ...] = tuple({} for _ in partition.blocks)
    waiting = [(moment, nothing) for moment in course.begin(Roles.of(tuple(partition.fields)))]
    while waiting:
        moment, valid = waiting.pop()
        if (key := (moment, claims.numbers(valid))) in recorded:
            continue
        stretch = moment.layout.stretches[moment.index]
        passes = [recorder.record(stretch, valid, way, moment.scalars) for way in ways]
        next_ = [(other, passes[0].after) for other in course.after(moment)]
        recorded[key] = passes, [(other, claims.numbers(after)) for other, after in next_]
        waiting += next_
    runs = [run for key in recorded for run in _runs(key, recorded)]
    try:
        cells = number_cells(partition, _boxes((one for run in runs for one in run), claims))
    except Broken:
        cells = None  # each examination reports the faulty pass
    proof.templates = len({trace for passes, _ in recorded.values() for one in passes for trace in one.traces})
    forms = _forms(one for passes, _ in recorded.values() for one in passes)
    alike: dict[object, list[list[RecordedPass]]] = {}
    for run in runs:
        alike.setdefault(tuple(forms[one] for one in run), []).append(run)
    for run, *others in alike.values():
        proof += examine(partition, run, hardware, cells, others, claims)
    return proof


def _forms(passes: Iterable[RecordedPass]) -> dict[RecordedPass, int]:
    """Return a number for each pass, the same for identical passes."""
    numbers, known, forms = dict[Hashable, int](), dict[Hashable, int](), dict[RecordedPass, int]()
    for one in passes:
        key = one.launches, one.traces, one.entry, one.scalars  # recorded once, and used in several states
        if key not in known:
            known[key] = numbers.setdefault(form(one), len(numbers))
        forms[one] = known[key]
    return forms


def _runs(
    key: object, recorded: Mapping[object, tuple[list[RecordedPass], list[object]]]
) -> Iterator[list[RecordedPass]]:
    """Yield every two passes of which the second can follow the first, or three if a pass can follow itself."""
    passes, after = recorded[key]
    for follower in after:
        for one, other in product(passes, recorded[follower][0]):
            yield [one, other, other] if follower == key and one is other else [one, other]


def _boxes(passes: Iterable[RecordedPass], claims: Claims) -> set[Box]:
    """Return all boxes that some passes touch, or that are called valid before or after them."""
    every, touched = set(passes), set[Box]()
    for state in {id(state): state for one in every for state in (one.valid, one.after)}.values():
        claims.numbers(state)
    touched.update(claims.boxes())
    touched.update(box for launches in {one.launches for one in every} for launch in launches for box in launch.boxes)
    nodes = (node for trace in {trace for one in every for trace in one.traces} for node in trace.graph.nodes)
    for node in {_same(node): node for node in nodes}.values():
        touched.update(boxes(node))
    return touched


def _same(node: Node) -> Hashable:
    """Return a key, equal for nodes of several templates that touch the same boxes."""
    return (node.launch, node.box, node.partition) if isinstance(node, Compute) else node


def examine(
    partition: Partition, passes: Sequence[RecordedPass], hardware: Hardware, cells: Cells | None = None,
    others: Sequence[Sequence[RecordedPass]] = (), claims: Claims | None = None,
) -> Proof:  # fmt: skip
    """Examine consecutive passes of all blocks. `others` are runs of equal passes, which differ in the ghost cells that
    are called valid; `claims` has these as numbers. `cells` numbers the cells of these passes, and of others.
    """
    runs, claims = (passes, *others), claims or Claims(partition)
    proof = Proof(passes=len(passes) * len(runs))
    try:
        cells = cells or number_cells(partition, _boxes((one for run in runs for one in run), claims))
        execution = Execution(cells, partition, hardware, [trace for one in passes for trace in one.traces])
        for one in passes:
            execution.add(one.traces, one.scalars, one.entry)
        execution.finish()
    except (Broken, CycleError) as error:
        proof.faults.append(str(error))
        return proof
    pairs, proof.faults = races(execution)
    proof.pairs = pairs * len(runs)
    proof.faults += collisions(execution)
    proof.faults += separation(execution)
    proof.faults += overwritten(execution, partition)
    versions = Versions(execution, partition, claims)
    proof.faults += versions.run([(one.launches, one.scalars) for one in passes])
    proof.reads = versions.checked * len(runs)
    for run in runs:
        proof.faults += versions.left(run[0].valid, run[-1].after)
    return proof
