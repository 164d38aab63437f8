"""The tables of the studies of Jacobsen & Senocak, made of results of `cavity`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from docs.performance.table import ReportTable, results_of, rows_of, share, shown
from taskflow.bench.tables import Result, arranged
from taskflow.common.units import times


def campaign(results: Sequence[Result]) -> ReportTable:
    """Steps of the lid-driven cavity on more and more GPUs: results of `cavity --price`, a row for each overlap."""
    labels = "growth", "cells of each GPU", "GPUs", "overlap"
    table = ReportTable(*labels, order=lambda row: (row[0], int(row[2])))
    priced = [result for result in results_of(results, "cavity") if result["price"]]
    for result, row in rows_of(priced, "cavity"):
        alone, strong = row["blocks"] == 1, row["shape"] == "strong"
        columns = {
            "ms": shown(row["seconds"], 1e3),
            "weak efficiency": "" if alone or strong else shown(row["efficiency"], form=share),
            "speedup": shown(row["speedup"]) if strong and not alone else "",
            "TFLOPS": shown(row["flops"], 1e-12),
            "nJ per cell-step": shown(row["joules_per_cell"], 1e9, "{:.0f}".format),
            "10^12 cell-steps per dollar": shown(row["cells_per_dollar"], 1e-12),
        }
        overlap = "" if alone else arranged(row)
        table.put((row["shape"], times(row["cells_per_block"]), str(row["blocks"]), overlap), columns, result)
    return table


TABLES: Mapping[str, Callable[[Sequence[Result]], ReportTable]] = {"campaign": campaign}
