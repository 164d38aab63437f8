"""Implicit artificial compressibility beside simpleFoam, on the same vertices and cores, by turns: how long each takes
to its own force.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from examples.papers.luo_2014 import openfoam
from examples.papers.luo_2014.goals import of_peer
from examples.papers.luo_2014.openfoam import Marched, OuterIterate
from taskflow.bench.timing import about
from taskflow.cases import Case
from taskflow.cli.files import folder
from taskflow.common.errors import BadInput, RunFailed
from taskflow.output import LOG, read_log, read_report
from taskflow.runtime.host import look
from taskflow.runtime.regions import Triple

EXAMPLES = {"section": "naca0012", "duct": "curved_duct"}
FIRST = {"section": (3.0e-3, 0, 128), "duct": (0.02, 1, 20)}  # of cells at walls, with so many along a direction
TOLERANCE, STEPS = 1e-8, 400
WITHIN = 1e-3  # of the converged force
PROGRAMS = "simpleFoam", "taskflow"


@dataclass(frozen=True)
class PeerCase:
    """A case by name, on so many cells or on those of its example, with other `settings` (`table.key=VALUE`)."""

    name: str
    cells: Triple | None = None
    settings: tuple[str, ...] = ()

    def case(self) -> Case:
        """The example, marched implicitly, with its forces after every step. The thickness of the cells at walls goes
        with that of the others. Raises BadInput where there is no such case.
        """
        thick, axis, along = FIRST[self.name]
        first = () if self.cells is None else (
            f"grid.cells={list(self.cells)}", f"grid.first={thick * along / self.cells[axis]}",
        )  # fmt: skip
        settings = (
            *first, 'method.march="implicit"', f"time.steady={TOLERANCE}", f"time.steps={STEPS}",
            f"output.every.steps={STEPS}", "monitor.every.steps=1", 'machine.device="cpu"', *self.settings,
        )  # fmt: skip
        return Case.load(folder() / f"{EXAMPLES[self.name]}.toml", settings)


def measure_simplefoam(flows: Sequence[PeerCase], counts: Sequence[int], repeats: int, most: int) -> dict[str, Any]:
    """Two rows for each case and number of cores, `repeats` runs of both programs by turns; simpleFoam makes `most`
    iterations at most. One run of ours before them does not count: it may compile.

    Raises BadInput where there are fewer cores, or no simpleFoam; RunFailed where a program fails.
    """
    here = look("this machine")
    if max(counts) > here.cores:
        raise BadInput(f"--cores {max(counts)}: this machine has {here.cores} that may be used; give fewer")
    variables, before = openfoam.environment(max(counts)), os.getloadavg()
    cases = [flow.case() for flow in flows]
    rows, build = list[dict[str, Any]](), ""
    for flow, case in zip(flows, cases, strict=True):
        for cores in counts:
            with on_cores(cores), tempfile.TemporaryDirectory(prefix="simplefoam-") as work:
                peer = Path(work) / "openfoam"
                peer.mkdir()
                openfoam.write_case(case, peer, cores, most)
                ours(case, Path(work) / "compiled")
                runs: dict[str, list[Marched]] = {name: [] for name in PROGRAMS}
                for number in range(repeats):
                    runs["simpleFoam"].append(openfoam.march(peer, cores, variables))
                    runs["taskflow"].append(ours(case, Path(work) / f"run{number}"))
            build = runs["simpleFoam"][0].build
            cells = dict(case.table("grid"))["cells"]
            of = {"case": flow.name, "cells": list(cells), "cores": cores}
            rows += compared([{**of, "program": name, **summary(some)} for name, some in runs.items()])
    return {
        **about(here, "cpu", max(counts)), "openfoam": build, "load": [before, os.getloadavg()],
        "settings": list(flows[0].settings), "repeats": repeats, "iterations": most, "results": rows,
    }  # fmt: skip


@contextmanager
def on_cores(count: int) -> Iterator[None]:
    """A while in which what begins may use so many cores alone."""
    usable = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(usable)[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, usable)


def ours(case: Case, work: Path) -> Marched:
    """A run of `taskflow run`, in a folder that is made. Raises RunFailed where it fails."""
    work.mkdir()
    file, run = work / "case.toml", work / "run"
    file.write_text(case.to_toml(), encoding="utf-8")
    command = [sys.executable, "-m", "taskflow", "run", str(file), "-o", str(run), "--quiet"]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    whole = time.perf_counter() - start
    if done.returncode:
        raise RunFailed(f"taskflow run failed with exit code {done.returncode}: {done.stderr.strip()}")
    iterates, products = list[OuterIterate](), 0
    for line in read_log(run / LOG):
        products += int(line.get("linear", 0))
        force = sum(body["force"][0] for body in line["bodies"].values())
        iterates.append(OuterIterate(line["step"], line["wall"], force, products=products))
    return Marched(iterates, read_report(run / "report.json")["ended"] == "steady", whole)


def settled(iterates: Sequence[OuterIterate]) -> OuterIterate:
    """The first iteration since which the force has been within a share of the last one."""
    last = iterates[-1].force
    away = [n for n, one in enumerate(iterates) if not abs(one.force - last) <= WITHIN * abs(last)]
    return iterates[away[-1] + 1 if away else 0]


def spread(values: Sequence[float | None]) -> dict[str, float] | None:
    """The least and the median of some values; None where one is not known."""
    some = [value for value in values if value is not None]
    return {"least": min(some), "median": median(some)} if len(some) == len(values) else None


def summary(runs: Sequence[Marched]) -> dict[str, Any]:
    """The force of several runs of one program, and what they take until it has settled, and to the end."""
    return {
        "force": runs[0].iterates[-1].force,
        "converged": runs[0].converged,
        "to_force": _part([settled(run.iterates) for run in runs]),
        "to_end": _part([run.iterates[-1] for run in runs]),
        "whole_seconds": spread([run.whole for run in runs]),
    }


def _part(ends: Sequence[OuterIterate]) -> dict[str, Any]:
    """The iterations that the first of several runs made, and the times of all."""
    return {
        "iterations": ends[0].number,
        "products": ends[0].products,
        "seconds": spread([end.seconds for end in ends]),
        "processor_seconds": spread([end.processor for end in ends]),
    }


def compared(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of both programs, with the `ratio` of simpleFoam's least time to the force, of clock or by its own count
    of processor time, to their own.
    """
    part = rows[PROGRAMS.index("simpleFoam")]["to_force"]
    theirs = min(part["seconds"]["least"], part["processor_seconds"]["least"])
    some = [{**row, "ratio": theirs / row["to_force"]["seconds"]["least"]} for row in rows]
    return [{**row, **of_peer(row)} for row in some]
