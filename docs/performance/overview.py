"""The tables of docs/performance.md: kernels, steps, pressure solvers, several GPUs, and CPUs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from docs.performance.table import ReportTable, flow, of_copies, results_of, rows_of, share, shown, small
from examples.papers.jacobsen_senocak_2013.convergence import levels
from taskflow.bench.tables import Result, arranged
from taskflow.common.units import times

DECADES = (3, 5, 7)  # residuals down to 10 to minus these
METHODS = {"truncated": "multigrid, truncated", "amalgamated": "multigrid", "cg": "conjugate gradients", "fft": "FFT"}


def _timed(row: Mapping[str, Any], unit: float, name: str) -> dict[str, str]:
    """The columns that all tables have: milliseconds, cells per second of a block, share of the copy bandwidth."""
    rate = row["cells_per_second_per_block"] if "cells_per_second_per_block" in row else row["cells_per_second"]
    return {
        "ms": shown(row["seconds"], 1e3),
        name: shown(rate, 1 / unit),
        **of_copies(row),
    }


def kernels(results: Sequence[Result]) -> ReportTable:
    """The kernels on GPUs: results of `kernels`, in single and double precision."""
    table = ReportTable("kernel", "cells")
    of_gpus = results_of(results, "kernels", gpu=True)
    for result in sorted(of_gpus, key=lambda result: str(result["precision"]), reverse=True):
        for row in result["results"]:
            if row["name"] != "whole step":
                columns = {f"{result['precision']}: {k}": v for k, v in _timed(row, 1e9, "Gcell/s").items()}
                table.put((row["name"], times(result["cells"])), columns, result, result["precision"])
    return table


def steps(results: Sequence[Result]) -> ReportTable:
    """The steps of flows on one GPU: results of `step`."""
    table = ReportTable("flow", "cells", "pressure", "precision")
    for result, row in rows_of(results, "step", gpu=True):
        if all(other["blocks"] == 1 for other in result["results"]):
            columns = {
                "bytes per cell": shown(row["bytes_per_cell"], form="{:.0f}".format),
                **_timed(row, 1e9, "10^9 cell-steps/s"),
                "iterations": shown(row["iterations"]),
                "largest divergence": shown(row["divergence"], form=small),
                "nJ per cell-step": shown(row["joules_per_cell"], 1e9, "{:.0f}".format),
            }
            table.put((flow(result), times(row["cells"]), result["pressure"], result["precision"]), columns, result)
    return table


def solvers(results: Sequence[Result]) -> ReportTable:
    """The pressure solvers on GPUs: results of `cavity --study pressure`."""
    table = ReportTable("cells", "GPUs", "method", "precision", order=lambda row: (int(row[0].split()[0]), int(row[1])))
    names = {f"{10.0**-decade:.0e}": f"to 1e-{decade}: ms (iterations)" for decade in DECADES}
    for result, row in rows_of(results, "pressure", gpu=True):
        text, direct = shown(row["seconds"], 1e3), row["tolerance"] is None
        name = "direct: ms" if direct else names.get(f"{row['tolerance']:.0e}")
        if name is not None:
            text += "" if direct else f" ({shown(row['iterations'])})"
            columns = {**dict.fromkeys([*names.values(), "direct: ms"], ""), name: text}
            method = METHODS.get(row["method"], row["method"]) + levels(row)
            table.put((times(row["cells"]), str(row["blocks"]), method, result["precision"]), columns, result, name)
    return table


def gpus(results: Sequence[Result]) -> ReportTable:
    """The same on several GPUs: of each number of blocks the fastest way to overlap, of results of `scaling`, `step`.

    Efficiencies are of weak scaling: cells per second of a GPU against one with as many cells.
    """
    labels = "measured", "precision", "growth", "cells of each GPU", "GPUs"
    table = ReportTable(*labels, order=lambda row: (row[:3], int(row[4])))
    for result in results_of(results, "scaling", "step", gpu=True):
        rows: dict[Any, Any] = {}
        for row in result["results"]:
            kind = row.get("shape"), row["blocks"], times(row["cells_per_block"])
            if kind not in rows or _mean(row["seconds"]) < _mean(rows[kind]["seconds"]):
                rows[kind] = row
        for (shape, blocks, cells), row in rows.items() if any(blocks > 1 for _, blocks, _ in rows) else ():
            efficiency = _efficiency(results, result, row) if blocks > 1 and shape != "strong" else None
            columns = {
                **_timed(row, 1e9, "10^9 cells/s each"),
                "overlap": row["overlap"] if blocks > 1 and row["overlap"] else "",
                "efficiency": shown(efficiency, form=share),
                "speedup": shown(row["speedup"]) if shape == "strong" and blocks > 1 else "",
            }
            table.put((_measured(result), result["precision"], shape or "", cells, str(blocks)), columns, result)
    return table


def _efficiency(results: Sequence[Result], result: Result, row: Mapping[str, Any]) -> float | None:
    """The efficiency that a row has, or for a step the one that follows from another result, of one block."""
    if result["benchmark"] != "step" or "efficiency" in row:
        return row["efficiency"]
    for other, alone in rows_of(results, "step", gpu=True):
        same = all(other[name] == result[name] for name in ("gpu", "case", "pressure", "precision", "settings"))
        if same and alone["blocks"] == 1 and alone["cells"] == row["cells_per_block"]:
            return float(_mean(row["cells_per_second_per_block"]) / _mean(alone["cells_per_second_per_block"]))
    return None


def cpus(results: Sequence[Result]) -> ReportTable:
    """Steps and sweeps on CPUs: results of `kernels` (its whole step), `step`, `cavity`, `sweep` and `scaling`."""
    table = ReportTable("measured", "cells", "precision", "blocks")
    for result, row in rows_of(results, "kernels", "step", "cavity", "sweep", "scaling", gpu=False):
        if result["benchmark"] == "kernels":
            if row["name"] != "whole step":
                continue
            what, cells, blocks = f"step of cavity, {result['iterations']} jacobi iterations", result["cells"], "1"
        else:
            what, cells = _measured(result), row.get("cells") or row["cells_per_block"]
            blocks = f"{row['blocks']}, {arranged(row)}" if row["blocks"] > 1 else "1"
        columns = {
            **_timed(row, 1e6, "10^6 cells/s"),
            "efficiency": shown(row.get("efficiency"), form=share) if row.get("blocks", 1) > 1 else "",
        }
        table.put((what, times(cells), result["precision"], blocks), columns, result)
    return table


def _mean(value: Any) -> float:
    return sum(value) / len(value) if isinstance(value, list) else value


def _measured(result: Result) -> str:
    """The sweep or the step that was measured, in words."""
    if result["benchmark"] in ("sweep", "scaling"):
        return f"Jacobi sweep{', two in a pass' if result['blocked'] else ''}"
    return f"step of {flow(result)}, {result['pressure']}"


TABLES: Mapping[str, Callable[[Sequence[Result]], ReportTable]] = {
    "kernels": kernels,
    "steps": steps,
    "solvers": solvers,
    "gpus": gpus,
    "cpus": cpus,
}
