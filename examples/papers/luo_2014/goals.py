"""The goals of the benchmarks of implicit marching, and what L. Luo et al. (2014) took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from examples.papers.goal import NONE, Goal, Row
from taskflow.runtime.regions import Triple

PAPER_BLOCK: tuple[Triple, int] = (79, 49, 49), 1  # one chart
PAPER = {"solve": 35.84e-3, "factorisation": 208.7e-3}  # seconds of its Table 1, for this block on a C2050


def of_copy(bound: float) -> Goal:
    """At least this share of the copy bandwidth."""
    return Goal("share_of_copy", bound, f"{bound:g} of copy")


def within(milliseconds: float) -> Goal:
    """At most so many milliseconds."""
    return Goal("seconds", milliseconds / 1e3, f"{milliseconds:g} ms", least=False)


SOLVES: Mapping[tuple[str, Triple, int], Goal] = {
    ("tiles", (256, 256, 256), 1): of_copy(0.7),
    ("tiles", (128, 128, 128), 1): of_copy(0.6),
    ("tiles", (32, 32, 32), 64): of_copy(0.5),
    ("hyperplanes", (256, 256, 256), 1): of_copy(0.65),
    ("hyperplanes", (128, 128, 128), 1): of_copy(0.5),
}
BLOCK = {"solve": within(0.25), "factorisation": within(0.6)}
CORES = of_copy(0.6)
TWO = Goal("efficiency", 0.9, "90 %")
CHANNEL = within(12)
SUMS = Goal("sums", 0.25, "sums 25 %", least=False)
PEER = Goal("ratio", 1.0, "faster than simpleFoam")
CUBE: Triple = (128, 128, 128)


def of_sweeps(row: Row, gpu: bool) -> dict[str, Any]:
    """The goal of a row of triangular solves, and whether it is met; None where there is none."""
    cells, goal = tuple(row["cells"]), None
    if row["unknowns"] != 4:
        return NONE
    if row["name"] == "solve" and row["precision"] == "single":
        where = row["ordering"], cells, row["charts"]
        goal = SOLVES.get(where) if gpu else CORES if row["ordering"] == "tiles" else None
    elif gpu and row["precision"] == "double" and row["ordering"] != "jacobi" and (cells, row["charts"]) == PAPER_BLOCK:
        goal = BLOCK.get(row["name"])
    return goal.judged(row) if goal else NONE


def thrice(row: Row, rows: Sequence[Row]) -> dict[str, Any]:
    """The goal of a row of cuSPARSE, which is that sweeps by tiles on the same cells take at most a third of it."""
    same = ("name", "cells", "charts", "precision")
    ours = [one for one in rows if one["ordering"] == "tiles" and all(one[key] == row[key] for key in same)]
    if row["ordering"] != "cuSPARSE" or not ours:
        return {}
    return {"goal": "tiles 3 times as fast", "met": 3 * ours[0]["seconds"] <= row["seconds"]}


def like_four(row: Row, rows: Sequence[Row]) -> dict[str, Any]:
    """The goal of solves with larger blocks: 0.9 of the share of copy that blocks of 4 x 4 have in that ordering."""
    same = ("name", "cells", "charts", "precision", "ordering")
    fours = [one for one in rows if one["unknowns"] == 4 and all(one[key] == row[key] for key in same)]
    if row["unknowns"] == 4 or row["name"] != "solve" or not fours:
        return {}
    return Goal("share_of_copy", 0.9 * fours[0]["share_of_copy"], "0.9 of 4 x 4").judged(row)


def paper_seconds(row: Row) -> float | None:
    """Seconds that the paper took for the same, None where it tells none."""
    return PAPER.get(row["name"]) if (tuple(row["cells"]), row["charts"]) == PAPER_BLOCK else None


def of_outer(row: Row, case: str, gpu: bool) -> dict[str, Any]:
    """The goal of a row of outer iterations, and whether it is met; None where there is none."""
    goal, cells = None, tuple(row["cells"])
    if row["blocks"] == 2 and row["ordering"] == "tiles":
        goal = TWO
    elif gpu and row["blocks"] == 1 and case == "channel" and row["solver"] == "correction":
        goal = CHANNEL
    elif gpu and row["blocks"] == 1 and row["solver"] == "gmres" and cells == CUBE:
        goal = SUMS
    return goal.judged({**row, "sums": row["parts"]["sums"]["share"]}) if goal else NONE


def of_peer(row: Row) -> dict[str, Any]:
    """The goal of a row beside simpleFoam, which ours on two cores has, and whether it is met."""
    return PEER.judged(row) if (row["program"], row["cores"]) == ("taskflow", 2) else NONE
