"""Which faces immersed bodies at rest close: a state of other ones is not gone on with, as what its fields and the
pressure know of bodies does not fit.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

CLOSING = 1  # 0 before faces on surfaces were among them


def other_faces(state: Mapping[str, Any]) -> str:
    """Say why the state of a checkpoint does not fit; nothing where it does."""
    case = tomllib.loads(state["case"])
    obstacles, immersed = case.get("obstacles", ()), case.get("bodies", {}).get("treatment") == "immersed"
    moves = any("motion" in obstacle for obstacle in obstacles)
    old = obstacles and immersed and not moves and state.get("closing", 0) != CLOSING
    return "a version wrote it in which immersed bodies closed other faces" if old else ""
