"""The tables of the page on artificial compressibility, made of results of its benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from docs.performance.table import ReportTable, digits, flow, of_copies, rows_of, share, shown
from examples.papers.luo_2014.tables import charted
from examples.papers.xue_roy_2020.tables import shared
from examples.papers.xue_roy_2020.xue_roy import paper
from taskflow.bench.tables import Result, where
from taskflow.common.units import times

COMPARED = "79x49x49", "128x128x128"  # blocks on which all orderings are listed: the paper's, and a large one
LARGE = "256x256x256", "64 x 32x32x32"  # further blocks, with the default ordering


def triangular(results: Sequence[Result]) -> ReportTable:
    """Return factors and solves by ordering, and in the rows of `tiles` the matrix and sums: `triangular`."""
    table = ReportTable("machine", "cells", "precision", "ordering", order=lambda row: row[0])
    for result, row in rows_of(results, "triangular"):
        name = row["name"]
        default = row["ordering"] in (None, "tiles")
        if charted(row) not in ((*COMPARED, *LARGE) if default else COMPARED):
            continue
        columns = {f"{name}: ms": shown(row["seconds"], 1e3)}
        if name not in ("exact sums", "plain sums"):
            columns[f"{name}: of copy"] = shown(row["share_of_copy"], form=share)
        unknowns = row.get("unknowns", 4)  # results of earlier builds lack them
        precision = row["precision"] if unknowns == 4 else f"{row['precision']}, {unknowns} unknowns"
        labels = where(result), charted(row), precision, row["ordering"] or "tiles"
        table.put(labels, columns, result, name)
    return table


def outer(results: Sequence[Result]) -> ReportTable:
    """Outer iterations of implicit marching, and the shares of their parts: results of `outer`."""
    labels = "machine", "case", "cells", "solver", "ordering", "iterations", "blocks", "overlap"
    table = ReportTable(*labels, order=lambda row: (row[:5], int(row[5]), int(row[6])))
    for result, row in rows_of(results, "outer"):
        several = row["blocks"] > 1
        columns = {
            "ms": shown(row["seconds"], 1e3),
            "products": shown(row["products"], form="{:.4g}".format),
            "bytes per cell": shown(row["bytes_per_cell"], form=digits),
            **of_copies(row),
            "efficiency": shown(row["efficiency"], form=share) if several else "",
            **{name: share(part["share"]) for name, part in row["parts"].items()},
        }
        of = where(result), flow(result), times(row["cells"]), row["solver"], row["ordering"], str(result["iterations"])
        table.put((*of, str(row["blocks"]), row["overlap"] if several else ""), columns, result)
    return table


def ssspnt(results: Sequence[Result]) -> ReportTable:
    """Boxes shared by two devices, and what the paper reached in the same way: results of `ssspnt`."""
    table = ReportTable("machine", "what", "halos", "overlap", "devices", "cells", order=lambda row: row[0])
    for result, row in rows_of(results, "ssspnt"):
        same = (one for one in paper() if (one["kind"], one["cut"]) == (row["kind"], row["cut"]))
        theirs = sorted(one["efficiency"] for one in same)
        columns = {
            "ms": shown(row["seconds"], 1e3),
            "ssspnt": shown(row["ssspnt"]),
            "efficiency": shown(row["efficiency"], form=share) if row["blocks"] > 1 else "",
            "Xue and Roy, two P100": shown(theirs[:: len(theirs) - 1], form=share) if len(theirs) > 1 else "",
        }
        several = row["blocks"] > 1
        ways = (row["halos"], row["name"]) if several else ("", "")
        table.put((where(result), shared(row), *ways, str(row["blocks"]), times(row["cells"])), columns, result)
    return table


def simplefoam(results: Sequence[Result]) -> ReportTable:
    """Implicit marching beside simpleFoam, with least times and medians: results of `simplefoam`."""
    table = ReportTable("machine", "case", "cells", "cores", "program")
    for result, row in rows_of(results, "simplefoam"):
        columns = {
            **_peer("to the force", row["to_force"]),
            "as fast as simpleFoam": shown(row["ratio"]) if row["program"] == "taskflow" else "",
            **_peer("to the end" if row["converged"] else "not converged", row["to_end"]),
            "force": f"{row['force']:.6g}",
        }
        of = flow({**result, "case": row["case"]})
        table.put((where(result), of, times(row["cells"]), str(row["cores"]), row["program"]), columns, result)
    return table


def _peer(what: str, part: Mapping[str, Any]) -> dict[str, str]:
    """The columns of a part of runs beside simpleFoam."""
    products = part["products"]
    return {
        f"{what}: iterations": str(part["iterations"]) if products is None else f"{part['iterations']} ({products})",
        f"{what}: s": f"{shown(part['seconds']['least'])} ({shown(part['seconds']['median'])})",
    }


TABLES: Mapping[str, Callable[[Sequence[Result]], ReportTable]] = {
    "triangular": triangular,
    "outer": outer,
    "ssspnt": ssspnt,
    "simplefoam": simplefoam,
}
