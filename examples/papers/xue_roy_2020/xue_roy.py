"""Results of W. Xue and C. J. Roy (2020) for a box shared by two P100, their tables 3 and 4, and what was aimed at
for two GPUs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from examples.papers.goal import Goal, Row

SCALED = 1e-7  # the factor of the paper's metric, its Eq. 6
CELLS = 256**3  # of its box; weak: for each GPU
ALONE = 93.8  # its metric on one P100
PAPER: Mapping[str, Mapping[tuple[str, str], tuple[float, float]]] = {
    "strong": {
        ("z", "baseline"): (145.9, 0.778), ("x", "baseline"): (22.0, 0.117),
        ("z", "packed"): (167.2, 0.892), ("x", "packed"): (169.8, 0.905),
        ("z", "direct"): (155.8, 0.831), ("x", "direct"): (154.7, 0.825),
        ("z", "both"): (177.9, 0.949), ("x", "both"): (179.4, 0.957),
    },
    "weak": {
        ("z", "baseline"): (161.6, 0.861), ("x", "baseline"): (21.4, 0.114),
        ("z", "packed"): (175.3, 0.935), ("x", "packed"): (176.3, 0.940),
        ("z", "direct"): (167.9, 0.895), ("x", "direct"): (154.9, 0.826),
        ("z", "both"): (180.0, 0.960), ("x", "both"): (180.9, 0.965),
    },
}  # fmt: skip
"""By kind, cut and version metric and efficiency as tabulated: that metric is of both GPUs together, which its Eq. 6
would divide by two.
"""


def paper() -> Iterator[dict[str, Any]]:
    """Its rows, in the numbers of ours."""
    yield _row("-", "-", "paper", 1, (ALONE, 1.0))
    for kind, measured in PAPER.items():
        for (cut, name), tabulated in measured.items():
            yield _row(kind, cut, name, 2, tabulated)


def _row(kind: str, cut: str, name: str, blocks: int, tabulated: tuple[float, float]) -> dict[str, Any]:
    metric, efficiency = tabulated
    rate, cells = metric / SCALED / blocks, CELLS * (2 if kind == "weak" else 1)
    return {
        "kind": kind, "cut": cut, "name": name, "blocks": blocks, "seconds": cells / (rate * blocks),
        "cells_per_second_per_block": rate, "ssspnt": SCALED * rate, "efficiency": efficiency,
    }  # fmt: skip


def goals(rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """Yield what was aimed at on two GPUs, where rows have been measured: the goal in words, the `value`, whether it is
    `met`. Of several overlaps and halos the best counts.
    """
    strong, weak, charts = (_best(rows, kind) for kind in ("strong", "weak", "charts"))
    if "z" in strong:
        yield _judged(Goal("value", 0.957, "strong, cut along z: efficiency 95.7 %"), strong["z"])
        if "x" in strong:
            yield _judged(Goal("value", 0.97, "strong, cut along x: 97 % of that"), strong["x"] / strong["z"])
    if "z" in weak:
        yield _judged(Goal("value", 0.965, "weak, cut along z: efficiency 96.5 %"), weak["z"])
    if slower := _slower(rows):
        yield _judged(Goal("value", 1.01, "time with overlap: 101 % of that without", least=False), max(slower))
    if len(charts) == 2:
        one, many = (charts[name] for name in sorted(charts, key=int))
        yield _judged(Goal("value", 0.97, "turned charts: 97 % of the rate of one"), many / one)


def _judged(goal: Goal, value: float) -> dict[str, Any]:
    return {"value": value, **goal.judged({"value": value})}


def _best(rows: Sequence[Row], kind: str) -> dict[str, float]:
    """By cut, of two devices."""
    best: dict[str, float] = {}
    for row in rows:
        if row["kind"] == kind and row["blocks"] == 2:
            best[row["cut"]] = max(row["efficiency"], best.get(row["cut"], 0.0))
    return best


def _slower(rows: Sequence[Row]) -> list[float]:
    """Times with overlap over those without, of what is otherwise the same: with `auto` where that was measured, else
    with the faster of both ways.
    """
    times: dict[tuple[str, ...], dict[str, float]] = {}
    for row in rows:
        if row["blocks"] == 2:
            times.setdefault((row["kind"], row["cut"], row["halos"]), {})[row["name"]] = row["seconds"]
    ratios = []
    for named in times.values():
        without, ways = named.pop("none", None), named
        if without and ways:
            ratios.append(ways.get("auto", min(ways.values())) / without)
    return ratios
