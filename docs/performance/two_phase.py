"""The tables and figures of P. Zaspel and M. Griebel (2011), made of results of `two-phase`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

from docs.performance.table import ReportTable, of_copies, results_of, rows_of, share, shown
from examples.papers.zaspel_griebel_2011.tables import of_copy, tolerance
from taskflow.bench.tables import Result, arranged, where
from taskflow.common.units import times

SEED = (256, 256, 128)  # cells of the benchmark
XEON, C2050 = 54828.0, 372827.0  # cells times steps per second: 20 steps in 51 minutes, and 6.8 times as fast
PEAKS = {"NVIDIA H200": (34.0, 4.8), "NVIDIA H100 80GB HBM3": (34.0, 3.35)}  # TFLOPS (double), TB/s: data sheets
SMALL = 0.01  # share of a step that a task has to take to be listed

Row = dict[str, Any]


def pressure(result: Result) -> str:
    """Return the solver and its settings."""
    return ", ".join([result["pressure"], *(f"`{setting}`" for setting in result["settings"] if _of_solver(setting))])


def interface(result: Result) -> str:
    """Return how the interface is followed."""
    return {"vof": "volume of fluid", "levelset": "level set"}[result.get("method", "levelset")]


def changed(result: Result, row: Row) -> str:
    """Return the other settings of the case and of the row."""
    settings = [setting for setting in result["settings"] if not _of_solver(setting)]
    return ", ".join(f"`{setting}`" for setting in (*row.get("settings", ()), *settings))


def settings_of(result: Result) -> str:
    """Return how the interface is followed, the solver, the changed settings and the precision."""
    return ", ".join(filter(None, (interface(result), pressure(result), changed(result, {}), result["precision"])))


def _of_solver(setting: str) -> bool:
    return setting.startswith("pressure.")


def overlap(row: Row) -> str:
    """Return how messages are overlapped; nothing for one block."""
    return "" if row["blocks"] == 1 else arranged(row)


def in_order(labels: tuple[str, ...]) -> Any:
    """Return a key that sorts by machine, then by the number of cells."""
    return labels[0], prod(int(n) for n in labels[1].split(" x ")), labels[2:]


def bubble_machines(results: Sequence[Result]) -> ReportTable:
    """Table 1: what machines can do at the most, and what they did in the benchmark, on one block as the case is."""
    table = ReportTable("machine", "cells", "interface", "pressure", order=in_order)
    for result, row in rows_of(results, "two-phase step"):
        if row["blocks"] == 1 and result["precision"] == "double" and not changed(result, row):
            peak = PEAKS.get(str(result["gpu"]), (None, None))
            rate = row["cells_per_second_per_block"]
            seed = tuple(row["cells"]) == SEED
            columns = {
                "peak: TFLOPS": shown(peak[0]),
                "reached: TFLOPS": shown(row["flops"], 1e-12),
                "peak: TB/s": shown(peak[1]),
                "copied: TB/s": shown(result["copy_bandwidth"], 1e-12),
                "10^6 cell-steps/s": shown(rate, 1e-6),
                "of the six-core Xeon": f"{shown(rate / XEON)} x" if seed else "",
                "of the C2050": f"{shown(rate / C2050)} x" if seed else "",
            }
            table.put((where(result), times(row["cells"]), interface(result), pressure(result)), columns, result)
    return table


def bubble_steps(results: Sequence[Result]) -> ReportTable:
    """The whole step, and all of it but the pressure: the fastest overlap of each scheme of `--study step`."""
    table = ReportTable("machine", "cells", "interface", "blocks", "pressure", "changed", "precision", order=in_order)
    for result, row in _fastest(results):
        columns = {
            "ms": shown(row["seconds"], 1e3),
            "10^6 cell-steps/s": shown(row["cells_per_second_per_block"] * row["blocks"], 1e-6),
            "bytes per cell": shown(row["bytes_per_cell"], form="{:.0f}".format),
            **of_copies(row),
            "iterations": shown(row["iterations"]),
            "launches": shown(row["launches"], form="{:.0f}".format),
            "without pressure: ms": shown(row["rest_seconds"], 1e3),
            "of copy ": shown(row["rest_share_of_copy"], form=share),
            "launches ": f"{row['rest_launches']:.0f} + {row['rest_layers']:.0f}",
            "memory per cell": f"{row['memory']:.0f} B",
        }
        labels = interface(result), str(row["blocks"]), pressure(result), changed(result, row), result["precision"]
        table.put((where(result), times(row["cells"]), *labels), columns, result)
    return table


def _fastest(results: Sequence[Result]) -> Iterator[tuple[Result, Row]]:
    for result in results_of(results, "two-phase step"):
        best: dict[str, Row] = {}
        for row in sorted(result["results"], key=lambda row: row["seconds"]):
            best.setdefault(changed(result, row), row)
        yield from ((result, row) for row in best.values())


def bubble_sizes(results: Sequence[Result]) -> ReportTable:
    """Figure 3: the rate of cubes of all sizes, and what a dollar buys."""
    table = ReportTable("machine", "pressure", "cells", order=lambda row: (*row[:2], int(row[2].split()[0])))
    for result, row in rows_of(results, "two-phase sizes"):
        columns = {
            "ms": shown(row["seconds"], 1e3),
            "10^6 cell-steps/s": shown(row["cells_per_second_per_block"] * row["blocks"], 1e-6),
            **of_copies(row),
            "iterations": shown(row["iterations"]),
            "nJ per cell-step": shown(row["joules_per_cell"], 1e9),
            "10^9 cell-steps per dollar": shown(row["cells_per_dollar"], 1e-9),
        }
        table.put((where(result), settings_of(result), times(row["cells"])), columns, result)
    return table


def bubble_pressure(results: Sequence[Result]) -> ReportTable:
    """Figure 4: solvers of the pressure equation."""
    table = ReportTable("machine", "cells", "tolerance", "method", order=lambda row: row[:3])
    for result, row in rows_of(results, "two-phase pressure"):
        columns = {
            "step: ms": shown(row["seconds"], 1e3),
            "step: iterations": shown(row["iterations"]),
            "from p = 0: ms": shown(row["solve_seconds"], 1e3),
            "from p = 0: iterations": shown(row["solve_iterations"]),
            "an iteration: ms": shown(row["solve_seconds"] / max(row["solve_iterations"], 1), 1e3),
        }
        labels = where(result), times(row["cells"]), tolerance(result), row["method"]
        table.put(labels, columns, result)
    return table


def bubble_parts(results: Sequence[Result]) -> ReportTable:
    """Figure 5: the parts of a step."""
    table = ReportTable("machine", "cells", "blocks", "overlap", "solver", order=in_order)
    for result, row in rows_of(results, "two-phase shares"):
        columns = {"ms": shown(row["seconds"], 1e3), **{name: share(value) for name, value in row["parts"].items()}}
        labels = where(result), times(row["cells"]), str(row["blocks"]), overlap(row), settings_of(result)
        table.put(labels, columns, result)
    return table


def bubble_tasks(results: Sequence[Result]) -> ReportTable:
    """Figure 5, task by task: those that take a hundredth of a step on one block."""
    table = ReportTable("machine", "cells", "interface", "task", "part", order=lambda row: row[:3])
    for result, row in rows_of(results, "two-phase shares"):
        for task in row["tasks"] if row["blocks"] == 1 else ():
            if task["share"] >= SMALL:
                columns = {
                    "share": share(task["share"]),
                    "ms": shown(task["share"] * row["seconds"], 1e3),
                    "launches": shown(task["launches"]),
                    "bytes per cell": shown(task["bytes_per_cell"], form="{:.0f}".format),
                    "of copy": shown(of_copy(row, task), form=share),
                }
                labels = where(result), times(row["cells"]), interface(result), task["name"], task["part"]
                table.put(labels, columns, result)
    return table


def bubble_scaling(results: Sequence[Result]) -> ReportTable:
    """Figures 6 to 9: weak and strong scaling, a row for each overlap."""
    labels = "machine", "interface", "growth", "cells of each block", "blocks", "overlap"
    table = ReportTable(*labels, order=lambda row: (row[:3], int(row[4])))
    for result, row in rows_of(results, "two-phase scaling"):
        strong, alone = row["shape"].startswith("strong"), row["blocks"] == 1
        columns = {
            "ms": shown(row["seconds"], 1e3),
            "iterations": shown(row["iterations"]),
            "weak efficiency": "" if alone or strong else share(row["efficiency"]),
            "speedup": shown(row["speedup"]) if strong and not alone else "",
            **of_copies(row),
        }
        place = where(result), interface(result), row["shape"].split("-")[0], times(row["cells_per_block"])
        table.put((*place, str(row["blocks"]), overlap(row)), columns, result)
    return table


def bubble_energy(results: Sequence[Result]) -> ReportTable:
    """Figure 10: the energy of all steps and of what comes before them."""
    table = ReportTable("machine", "cells", "interface", "pressure", "changed", "stated power", order=in_order)
    for result, row in rows_of(results, "two-phase step"):
        if row["joules_per_cell"] is not None and row["blocks"] == 1:
            counted = "" if result["gpu"] else f"{result['watts']:g} W"
            columns = {
                "J": shown(row["joules_per_cell"] * prod(row["cells"]) * row["steps"]),
                "nJ per cell-step": shown(row["joules_per_cell"], 1e9),
                "s for the first state": shown(row["initialisation_seconds"]),
                "s for all steps": shown(row["seconds"] * row["steps"]),
            }
            labels = interface(result), pressure(result), changed(result, row), counted
            table.put((where(result), times(row["cells"]), *labels), columns, result)
    return table


TABLES: Mapping[str, Callable[[Sequence[Result]], ReportTable]] = {
    one.__name__: one
    for one in (
        bubble_machines, bubble_steps, bubble_sizes, bubble_pressure, bubble_parts, bubble_tasks,
        bubble_scaling, bubble_energy,
    )
}  # fmt: skip
