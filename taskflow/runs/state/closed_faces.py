"""The faces closed by bodies at rest: a state with other closed faces is not resumed, as its fields and pressure do not
fit.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from taskflow.cases import Case
from taskflow.common.errors import BadInput
from taskflow.systems.bodies.images import over_sides
from taskflow.systems.bodies.shapes import shapes

ON_SURFACES, OVER_SIDES = 1, 2  # versions since which these faces of bodies are closed
CLOSING = OVER_SIDES


def other_faces(state: Mapping[str, Any]) -> str:
    """Return why the state of a checkpoint does not fit; empty if it does."""
    tables, closing = tomllib.loads(state["case"]), state.get("closing", 0)
    obstacles, immersed = tables.get("obstacles", ()), tables.get("bodies", {}).get("treatment") == "immersed"
    moves = any("motion" in obstacle for obstacle in obstacles)
    if obstacles and immersed and not moves and closing < ON_SURFACES:
        return "a version wrote it in which immersed bodies closed other faces"
    if obstacles and closing < OVER_SIDES:
        with suppress(BadInput):  # files that are gone: they are missed elsewhere
            case = Case(**tables)
            if over_sides(shapes(case), case.staggered):
                return "a version wrote it in which bodies at rest ended at periodic sides"
    return ""
