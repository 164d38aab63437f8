"""`taskflow check`: a case in words, with what it will cost here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from pathlib import Path

from taskflow.cases import Case
from taskflow.cli.format import duration, say, several
from taskflow.common.units import size
from taskflow.flow.measures.spectra import Spectra
from taskflow.flow.measures.statistics import Statistics
from taskflow.runs.estimate.estimate import ROUNDS, Estimate, cautions, estimate
from taskflow.runs.state.setup import SimulationSetup
from taskflow.runtime.tasks import Roles, Traffic, record
from taskflow.systems.base.step_cost import table
from taskflow.systems.bodies import BodyPart, Survey
from taskflow.systems.records.statistics import TimeAverages


def check_case(path: Path, settings: Sequence[str], *, proves: bool = False) -> None:
    """Validate a case and print what it will cost. Raises BadInput where it cannot run on this machine, RunFailed where
    a proof was asked for and fails.
    """
    costs = estimate(Case.load(path, settings))
    lines = describe(costs)
    say(f"{costs.sim.case.title}: the case is valid", (*lines, ("proof", _proof(costs))) if proves else lines)


def describe(costs: Estimate) -> Iterator[tuple[str, str]]:
    """Label and text of each line."""
    case = costs.sim.case
    yield from zip(chain(["grid"], repeat("")), costs.sim.domain.described(), strict=False)
    yield "blocks", f"{_blocks(costs)}{_auto(case.machine.blocks)}"
    yield from (("", share) for share in costs.sim.domain.shares(costs.sim.partition))
    yield "device", f"{_device(costs)}{_auto(case.machine.device)}"
    if costs.crowding:
        yield "warning", costs.crowding
    yield from costs.sim.system.described()
    if costs.sim.survey:
        yield from _bodies(costs.sim.survey)
    yield from costs.sim.system.details()
    yield from costs.sim.system.stencils(costs.sim.step_cost)
    if costs.sim.origin is not None:
        yield "start", costs.sim.origin.described
    yield from zip(("memory", ""), _memory(costs), strict=True)
    if len(costs.placed) > 1:
        yield from zip(("messages", ""), _messages(costs), strict=True)
        overlap, channel = _auto(case.machine.overlap), _auto(case.machine.channel)
        shared = f", {size(costs.shared)} shared by each two neighbours" if costs.shared else ""
        yield "", f"overlap {costs.overlap}{overlap}, channel {costs.channel}{channel}{shared}"
    yield from _step(costs)
    steps, seconds = costs.steps, costs.seconds_per_step
    about = "at most some" if costs.sim.step_cost.bounded else "about"
    whole = " to ".join(duration(seconds * count) for count in steps.range)
    yield "time", f"{about} {duration(seconds)} per step, {whole} for the run (an estimate)"
    most = ", fewer if it gets steady" if case.time.steady is not None else ""
    *least, last = steps.range
    number = f"{'' if steps.exact else 'about '}{f'{least[0]} to ' if least else ''}{several(last, 'step')}"
    first = f", the first {steps.first:.3g} long" if steps.first and not steps.exact else ""
    yield "", f"{number}{first}: {steps.basis}{most}"
    yield from (("warning", caution) for caution in (*costs.sim.system.cautions, *cautions(costs.sim)))
    if costs.sim.settled:
        yield from zip((costs.sim.settled.label, ""), costs.sim.settled.described(), strict=True)
    yield "output", _output(costs)
    for averages, what in _averaged(costs.sim):
        yield "", f"{what} of {_sampling(costs, averages)}"


def _bodies(survey: Survey) -> Iterator[tuple[str, str]]:
    """Bodies: what they leave to the fluid, how narrow that gets, and what is wrong with them."""
    yield "bodies", f"{_part(survey.all)}; {survey.fluid:.2%} of the domain is fluid"
    for part in survey.parts:
        yield "", f"{part.name}: {_part(part)}"
    for warning in survey.warnings:
        yield "warning", warning


def _part(part: BodyPart) -> str:
    gap = "no gap beside it" if part.gap is None else f"smallest gap {several(part.gap, 'cell')}"
    return f"{several(part.cells, 'cell')}, volume {part.volume:.6g}, {gap}"


def _step(costs: Estimate) -> Iterator[tuple[str, str]]:
    """Label and text of each line on how much a step moves, task by task."""
    step, cells = costs.sim.step_cost, costs.sim.case.grid.count
    moved = step.nbytes(costs.rounds)
    copy = f"a copy reaches {size(costs.bandwidth)}/s (measured now)"
    most = "at most " if step.bounded else ""
    yield "step", f"moves {most}{size(moved)}, {moved / cells:.0f} bytes per cell; {copy}"
    if costs.rounds:
        rounds = (moved - step.nbytes(dict.fromkeys(costs.rounds, 0.0))) / cells / ROUNDS
        share = f"of these {rounds:.0f} bytes per cell in each {costs.sim.system.iterated}"
        yield "", f"{share}, for {ROUNDS:.0f} of them: how many it will take nobody knows before"
    yield "tasks", f"{'bytes/cell':>10}  {'times':>5}  {'task':<18}  reads -> writes"
    for row in table(step.parts, costs.rounds, step.partition):
        fields = f"{' '.join(row.reads)} -> {' '.join(row.writes)}" if row.reads or row.writes else ""
        yield "", f"{row.nbytes / cells:>10.1f}  {row.launches:>5.0f}  {row.task:<18}  {fields}".rstrip()


def _proof(costs: Estimate) -> str:
    compiled, proof = costs.compile_others(), costs.prove()
    proof.hold()
    others = f"; {several(compiled, 'kernel')} of other packages compiled" if compiled else ""
    return (
        f"{several(proof.templates, 'template')}: {proof.pairs:,} interfering pairs are ordered,"
        f" {proof.reads:,} reads find what the program means{others}"
    )


def _blocks(costs: Estimate) -> str:
    where = "one process" if costs.processes == 1 else f"{costs.processes} processes"
    return f"{costs.sim.domain.counted(costs.sim.blocks)} in {where}"


def _device(costs: Estimate) -> str:
    place = costs.placed[0]
    if costs.device == "gpu":
        return f"{several(len({place.gpus[0].identity for place in costs.placed}), 'GPU')}: {place.gpus[0].name}"
    return f"cpu, {several(costs.threads, 'core')} per block: {place.processor}"


def _memory(costs: Estimate) -> tuple[str, str]:
    """The memory of the block that needs most and of all blocks, and what it is for."""
    place, gpu, most = costs.placed[0], costs.device == "gpu", max(costs.blocks, key=lambda memory: memory.total)
    free = f"of {size(place.gpus[0].free if gpu else place.memory)} free"
    parts = {
        "fields": most.fields,
        "message buffers": most.buffers,
        "flags and what other GPUs leave there": most.board,
        "scalars": most.scalars,
        "output": most.output,
    }
    what = ", ".join(f"{size(nbytes)} {name}" for name, nbytes in parts.items() if nbytes)
    total = sum(memory.total for memory in costs.blocks)
    density = f"{total / costs.sim.case.grid.count:.0f} bytes per cell"
    if len(costs.blocks) == 1:
        return f"{size(most.total)} {free}, {density}", what
    about = "" if costs.sim.step_cost.sample.complete else "about "
    where = f"{about}{size(most.total)} in the largest block, {about}{size(total)} in all"
    return f"{where}, {density}, {free}{' per GPU' if gpu else ''}", what


def _messages(costs: Estimate) -> tuple[str, str]:
    """The messages of the busiest block, and of all. Of many blocks some are looked at; the others are like these."""
    step = costs.sim.step_cost
    sample = step.sample
    looked, about = (("", "") if sample.complete else (f" of the {len(sample.blocks)} that were looked at", "about "))
    traffic = step.traffic
    most, total = max(traffic), sum(traffic, Traffic())
    repeated = "what it repeats counted once" if step.bounded else f"with one {costs.sim.system.iterated}"
    once = f" ({repeated})" if step.bounded or costs.rounds else ""
    kinds = [f"{n:,} across {name}" for name in ("faces", "edges", "corners") if (n := getattr(total, name))]
    return (
        f"{several(most.messages, 'message')} and {size(most.nbytes)} per step{once} from the busiest block{looked}",
        f"{about}{total.messages:,} and {size(total.nbytes)} from all: {', '.join(kinds)}",
    )


def _output(costs: Estimate) -> str:
    case = costs.sim.case
    value = 8 if case.output.precision == "double" else 4
    snapshot = len(case.output_fields) * costs.sim.case.grid.count * value
    count, fields = costs.sim.clock.snapshots(), f"{', '.join(case.output_fields)} in {case.output.precision} precision"
    if count is None:
        return f"snapshots of {size(snapshot)}: {fields}"
    return f"{several(count, 'snapshot')}, at most {size(count * snapshot)}: {fields}"


def _averaged(sim: SimulationSetup) -> Iterator[tuple[TimeAverages[Statistics | Spectra], str]]:
    """All that is averaged over time, and what that is in words."""
    if sim.averages:
        yield sim.averages, "statistics"
    for waves, asked in zip(sim.spectra, sim.case.spectra, strict=True):
        yield waves.averages, f"spectra {'over shells' if asked.along == 'all' else f'along {asked.along}'}"


def _sampling(costs: Estimate, averages: TimeAverages[Statistics | Spectra]) -> str:
    """The cost of a sample, beside that of a step."""
    sim = costs.sim
    launches, _ = record(averages.statistics.sample, Roles.of(tuple(sim.partition.fields)))
    moved, step = sim.step_cost.bytes_of(launches), sim.step_cost.nbytes(costs.rounds)
    every = averages.every
    often = several(every.steps, "step") if every.steps else f"{every.time:g} of time"
    part = f", {moved / step / every.steps:.1%} of what the steps move" if every.steps else ""
    cells = sim.case.grid.count
    return (
        f"{several(len(averages.statistics.roles), 'field')}, sampled every {often}:"
        f" {moved / cells:.0f} bytes per cell and sample{part}"
    )


def _auto(value: object) -> str:
    return " (auto)" if value == "auto" else ""
