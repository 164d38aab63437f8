"""The results of the studies after L. Luo et al. (2014), as tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from examples.papers.goal import met
from examples.papers.luo_2014.planes import PAPER
from taskflow.bench.tables import Columns, Result, columned, conditions, number, share, spent, where
from taskflow.common.units import plural, size, times
from taskflow.terminal.format import say


def show_triangular(result: Result) -> None:
    """Print the result of `measure_triangular`."""
    lines = [
        ("copy", f"{size(result['copy_bandwidth'])}/s, median of what was measured before and after"),
        ("tiles", f"{times(result['tile'])} cells"),
        ("bytes", "that must move, of a cell; vectors are in double precision"),
    ]
    say(f"Triangular solves on {where(result)}", lines)
    columns = [
        {
            "cells": charted(row),
            "factors": row["precision"],
            "ms": number(row["seconds"] * 1e3),
            "Mcell/s": number(row["cells_per_second"] / 1e6),
            "bytes": number(row["bytes_per_cell"]),
            "of copy": share(row["share_of_copy"]),
            "goal": row["goal"] or "-",
            "": met(row),
            "paper: ms": number(row["paper_seconds"] and row["paper_seconds"] * 1e3),
            "Gcell/$": spent(row)["Gcell/$"],
        }
        for row in result["results"]
    ]
    columned(map(swept, result["results"]), columns)


def show_outer(result: Result) -> None:
    """Print the result of `measure_outer`."""
    rows = result["results"]
    what = f"{times(rows[0]['cells'])} cells, {rows[0]['ordering']}, the first {result['iterations']}"
    lines = [
        ("copy", f"{size(result['copy_bandwidth'])}/s for each block, measured beside the iterations"),
        ("same", "products as on the first number of blocks"),
    ]
    say(f"Outer iterations of a {result['case']}, {what}, {conditions(result)}", lines)
    labels = [f"{row['solver']}, {on_blocks(row)}" for row in rows]
    columned(labels, list(map(outer_columns, rows)))
    columned(labels, [{name: share(part["share"]) for name, part in row["parts"].items()} for row in rows])


def outer_columns(row: Result) -> Columns:
    """The columns of a row of outer iterations."""
    return {
        "ms": number(row["seconds"] * 1e3),
        "Mcell/s": number(row["cells_per_second_per_block"] * row["blocks"] / 1e6),
        "products": f"{row['products']:.4g}",
        "bytes": number(row["bytes_per_cell"]),
        "of copy": share(row["share_of_copy"]),
        "efficiency": share(row["efficiency"]) if row["blocks"] > 1 else "-",
        **spent(row),
        "same": "-" if row["blocks"] == 1 else "yes" if row["same"] else "no",
        "goal": row["goal"] or "-",
        "": met(row),
    }


def show_simplefoam(result: Result) -> None:
    """Print the result of `measure_simplefoam`."""
    before, after = (load[0] for load in result["load"])
    lines = [
        ("peer", f"simpleFoam, {result['openfoam']}, at most {result['iterations']} iterations"),
        ("s", f"of clock from the first iteration on; least and median of {plural(result['repeats'], 'run')}"),
        ("its own", "least `ExecutionTime` of simpleFoam, seconds of processor since it was started"),
        ("ratio", "the lesser of both least times of simpleFoam over ours"),
        ("load", f"{before:.3g} before, {after:.3g} afterwards"),
    ]
    say(f"Implicit marching beside simpleFoam on {where(result)}", lines)
    rows = result["results"]
    labels = [f"{'x'.join(map(str, row['cells']))}, {row['cores']}: {row['program']}" for row in rows]
    say("Until the force along x is within 0.1 % of the last one")
    ratios = [number(row["ratio"]) if row["program"] == "taskflow" else "-" for row in rows]
    aims = [{"ratio": ratio, "goal": met(row)} for row, ratio in zip(rows, ratios, strict=True)]
    columned(labels, [{**peer_columns(row["to_force"]), **aim} for row, aim in zip(rows, aims, strict=True)])
    say("To the end")
    ends = [{"converged": "yes" if row["converged"] else "no", "force": f"{row['force']:.6g}"} for row in rows]
    columned(labels, [{**peer_columns(row["to_end"]), **end} for row, end in zip(rows, ends, strict=True)])


def peer_columns(part: Result) -> Columns:
    """The columns of a part of runs beside simpleFoam."""
    own = part["processor_seconds"]
    return {
        "iterations": str(part["iterations"]),
        "products": "-" if part["products"] is None else str(part["products"]),
        "s, least": number(part["seconds"]["least"]),
        "median": number(part["seconds"]["median"]),
        "its own": number(own and own["least"]),
    }


def on_blocks(row: Result) -> str:
    """The number of blocks, and of several how they overlap."""
    return f"{row['blocks']} blocks, {row['overlap']}" if row["blocks"] > 1 else "1 block"


def swept(row: Result) -> str:
    """Say what was timed, and the ordering, where it has one."""
    unknowns = row.get("unknowns", 4)  # results of earlier builds lack them
    blocks = unknowns != 4 and f"{unknowns} unknowns"
    return ", ".join(filter(None, (row["name"], row["name"] != "assembly" and row["ordering"], blocks)))


def charted(row: Result) -> str:
    """The cells, and how many charts have so many."""
    cells = "x".join(map(str, row["cells"]))
    return f"{row['charts']} x {cells}" if row["charts"] > 1 else cells


def show_planes(result: Result) -> None:
    """Print the result of `measure_planes`."""
    rows, few, cores = result["results"], result["few"], result["cores"]
    lines = [
        ("cells", f"of a hyperplane at most {result['largest']}"),
        ("few", f"{few['planes']:.1%} have fewer than {cores}, together {few['cells']:.1%} of all cells"),
    ]
    say(f"{len(rows)} hyperplanes of {'x'.join(map(str, result['cells']))} cells, on {where(result)}", lines)
    if result["lost"]:
        columned(result["lost"], [_lost(part, lost) for part, lost in result["lost"].items()])
    shown = [n for n in range(len(rows)) if n < 4 or n % 16 == 0 or n + 4 >= len(rows)]
    columned((f"i + j + k = {n}" for n in shown), [_timed(rows[n]) for n in shown])


def _lost(part: str, lost: Mapping[str, float]) -> dict[str, str]:
    return {
        "all ms": number(lost["seconds"] * 1e3),
        "ns/cell": number(lost["best"] * 1e9),
        "lost": share(lost["loss"]),
        "by few": share(lost["loss_of_few"]),
        "paper: ns": number(PAPER[part]["best"] * 1e9),
        "paper: lost": share(PAPER[part]["loss"]),
    }


def _timed(row: Mapping[str, Any]) -> dict[str, str]:
    parts = {f"{part} us": number(row[part] * 1e6) for part in PAPER if part in row}
    each = {f"{part} ns": number(row[part] * 1e9 / row["cells_of_plane"]) for part in PAPER if part in row}
    return {"cells": str(row["cells_of_plane"]), **parts, **each}


def draw_planes(result: Result, path: Path) -> Path:
    """Draw the result of `measure_planes`; the path."""
    from examples.papers.luo_2014.pictures import plot_planes

    cells = "x".join(map(str, result["cells"]))
    return plot_planes(result["results"], result["cores"], f"Hyperplanes of {cells} cells, {where(result)}", path)
