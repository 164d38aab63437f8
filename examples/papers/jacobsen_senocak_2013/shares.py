"""The shares of computation, copies and messages in the solution for the pressure: figure 8, equations 5 and 6."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from examples.papers.jacobsen_senocak_2013.scaling import measure_growth
from examples.papers.measuring import Halos, Solve
from taskflow.bench.projection.flows import Flow
from taskflow.bench.projection.step import StepTiming, WarmUp
from taskflow.bench.scaling import Growth
from taskflow.bench.timing import PassJob, TimingConditions, rehearse
from taskflow.runtime.machine import Control, Shard
from taskflow.runtime.machine.trace.mapper import Overlap
from taskflow.runtime.profile import Timeline, profiled, summarise
from taskflow.runtime.regions import Triple
from taskflow.systems.base.step_cost import StepCost

PASSES = 20  # solutions of which a profile is made
PAPER = {"copy": 1816e6, "communication": 406e6}  # bytes per second on 64 GPUs, growth in three dimensions


@dataclass(frozen=True)
class SolveProfile:
    """The job of a block: a profile of solutions for the pressure from p = 0, after each was rehearsed."""

    begin: WarmUp
    solve: Solve

    def __call__(self, shard: Shard, control: Control) -> Timeline:
        """Return the timeline of this block."""
        self.begin(shard)
        rehearse(shard, lambda: shard.run(self.solve))
        with profiled(shard) as profiler:
            for _ in range(PASSES):
                shard.run(self.solve)
                profiler.step()
        return profiler.timeline


@dataclass(frozen=True)
class ShareTiming(StepTiming):
    """Times solutions for the pressure of a flow on the processes of a team, and divides the time."""

    def measure(self, name: str, cells: Triple, blocks: Triple, overlap: Overlap) -> dict[str, Any]:
        """Return a row of a table, for `cells` in total.

        `shares` are of the time in which a profile was made. `sent` are the bytes of messages of the busiest block in a
        solution, as `taskflow check` counts them, and `rates` those bytes over the time of copies or of communication.

        Raises BadInput if memory is insufficient.
        """
        setup, begin = self.begun(cells, blocks)
        solve = Solve(begin.model)
        row, _ = self.timed(name, setup.partition, PassJob(begin, solve, seconds=self.conditions.seconds), overlap)
        timelines, _ = self.run(setup.partition, SolveProfile(begin, solve), overlap)
        summary = summarise(timelines)
        sent = max(StepCost(solve, setup.partition).traffic)
        spent = {kind: summary["shares"][kind] * row["seconds"] for kind in PAPER}
        rates = {kind: sent.nbytes / time if sent.nbytes and time else None for kind, time in spent.items()}
        shares = {"shares": summary["shares"], "messages": sent.messages, "sent": sent.nbytes, "rates": rates}
        return {**row, "cells": list(cells), **shares}


def measure_shares(
    device: str, growth: Growth, conditions: TimingConditions, flow: Flow, workers: int | None, halos: Halos
) -> dict[str, Any]:
    """Return a row per shape and number of blocks. Raises as `measure_cavity` does."""
    rows = measure_growth(ShareTiming, device, growth, conditions, flow, workers, halos)
    return {**rows, "halos": halos, "paper": PAPER}
