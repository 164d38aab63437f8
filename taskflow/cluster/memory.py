"""Whether blocks fit into the memory of the places where they will live."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from taskflow.machine import Place
from taskflow.units import size

RESERVE = 0.9  # share of the free memory that blocks may take


def shortage(needs: Sequence[int], placed: Sequence[Place], device: str) -> str | None:
    """Where blocks, each with its need in bytes and its place, do not fit into what is free there; None if they do."""
    needed: Counter[str] = Counter()
    for need, place in zip(needs, placed, strict=True):
        where, free = place.host, place.memory
        if device == "gpu":
            gpu = place.gpus[0]
            where, free = f"{gpu.name} {gpu.identity[:8]} of {place.host}", gpu.free
        needed[where] += need
        if needed[where] > RESERVE * free:
            return f"needs {size(needed[where])} on {where}, where {size(free)} are free"
    return None
