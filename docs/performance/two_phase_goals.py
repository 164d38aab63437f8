"""The goals of the benchmark of two phases, what results reach of them, and what was measured in each, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from docs.performance.table import digits, results_of, rows_of, share
from taskflow.bench.tables import Result, decided

SEED = (256, 256, 128)  # cells of the benchmark of Zaspel and Griebel (2011)
Row = dict[str, Any]
CUBE = (512, 512, 512)
SINGLE = "pressure.precision=single"


def pressure(result: Result) -> str:
    """The solver, with the settings of it."""
    return ", ".join([result["pressure"], *(f"`{setting}`" for setting in result["settings"] if _of_solver(setting))])


def changed(result: Result, row: Row) -> str:
    """The other settings of the case, and those of the row."""
    settings = [setting for setting in result["settings"] if not _of_solver(setting)]
    return ", ".join(f"`{setting}`" for setting in (*row.get("settings", ()), *settings))


def told(result: Result) -> str:
    """With what it was measured."""
    return ", ".join(filter(None, (pressure(result), changed(result, {}), result["precision"])))


def _of_solver(setting: str) -> bool:
    return setting.startswith("pressure.")


def overlap(row: Row) -> str:
    """How messages are overlapped, where there are any."""
    return "" if row["blocks"] == 1 else f"{row['name']}{decided(row)}"


def in_order(labels: tuple[str, ...]) -> Any:
    """Machines in their order, and small grids before large ones."""
    return labels[0], prod(int(n) for n in labels[1].split(" x ")), labels[2:]


@dataclass(frozen=True)
class BubbleGoal:
    """A bound on a number that is written so; `least`: it is to be at least that."""

    bound: float
    form: Callable[[float], str]
    least: bool = True


STEP, REST = "512^3: whole step, of copy", "512^3: all but the pressure"


MEMORY, MEMORY_SINGLE = "512^3: memory per cell", "512^3: memory per cell, levels in single precision"


LOOP, CG = "256 x 256 x 128: 20 steps", "256 x 256 x 128: a step with cg over one with multigrid"


CORES = "two cores, 128^3: whole step, of copy"


LARGEST = "largest cube that was run, levels in single precision"


SCALED = {
    "weak-128": "two GPUs, 256 x 256 x 128 each",
    "weak-256": "two GPUs, 256^3 each",
    "weak-512": "two GPUs, 512^3 each",
    "strong-256": "two GPUs share 256^3: speedup",
    "strong-512": "two GPUs share 512^3: speedup",
}


GOALS: Mapping[str, BubbleGoal] = {
    STEP: BubbleGoal(0.7, share),
    REST: BubbleGoal(57, lambda ms: f"{digits(ms)} ms", least=False),
    LOOP: BubbleGoal(0.35, lambda seconds: f"{digits(seconds)} s", least=False),
    CG: BubbleGoal(5, digits),
    CORES: BubbleGoal(0.5, share),
    MEMORY: BubbleGoal(305, "{:.0f} B".format, least=False),
    MEMORY_SINGLE: BubbleGoal(285, "{:.0f} B".format, least=False),
    LARGEST: BubbleGoal(768, "{:.0f}^3".format),
    SCALED["weak-128"]: BubbleGoal(0.8, share),
    SCALED["weak-256"]: BubbleGoal(0.92, share),
    SCALED["weak-512"]: BubbleGoal(0.96, share),
    SCALED["strong-256"]: BubbleGoal(1.5, digits),
    SCALED["strong-512"]: BubbleGoal(1.85, digits),
}


def reached(results: Sequence[Result]) -> Iterator[tuple[Result, str, float]]:
    """Results that have to do with a goal, its name, and the value."""
    for result, row in rows_of(results, "two-phase step"):
        if row["blocks"] == 1 and result["precision"] == "double" and not changed(result, row):
            cells, single = tuple(row["cells"]), SINGLE in result["settings"]
            if cells == CUBE and result["gpu"]:
                yield result, MEMORY_SINGLE if single else MEMORY, row["memory"]
            if cells == CUBE and result["gpu"] and not single:
                yield result, STEP, row["share_of_copy"]
                yield result, REST, 1e3 * row["rest_seconds"]
            if cells == SEED and result["gpu"]:
                yield result, LOOP, row["seconds"] * row["steps"]
            if cells == (128, 128, 128) and result["threads"] == 2:
                yield result, CORES, row["share_of_copy"]
    for result in results_of(results, "two-phase sizes"):
        if result["gpu"] and result["precision"] == "double" and SINGLE in result["settings"]:
            yield result, LARGEST, max(row["cells"][0] for row in result["results"])
    for result in results_of(results, "two-phase pressure"):
        seconds = {row["method"]: row["seconds"] for row in result["results"] if tuple(row["cells"]) == SEED}
        if {"cg", "multigrid"} <= seconds.keys():
            yield result, CG, seconds["cg"] / seconds["multigrid"]
    for result in results_of(results, "two-phase scaling"):
        two = [row for row in result["results"] if row["blocks"] == 2 and result["gpu"]]
        for shape in dict.fromkeys(row["shape"] for row in two):
            alike = [row for row in two if row["shape"] == shape]
            name, value = ("speedup" if shape.startswith("strong") else "efficiency"), SCALED[shape]
            yield result, value, max(row[name] for row in alike)
