"""Control of implicit marching: steps of pseudo-time, shares of updates, and refused updates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from taskflow.common.errors import BadInput

Scalars = Mapping[str, float]
CHANGE = 0.5  # of a velocity, in an outer iteration
GROWTH = 3.0  # of the CFL number, in an outer iteration
RETREAT = 10.0  # of the CFL number, after an update that was refused
HALF = 0.5  # of a right-hand side: linear equations that left less were not in vain
WORSE = 2.0  # times the residual: no update may leave more
LEAST = 1e-300  # a CFL number whose inverse is a number


BEGUN = ("cfl", "slowness", "first", "retreat", "refused", "begun", "broken")
"""Scalars that outer iterations pass to each other."""
ADDED = ("broken",)
"""Scalars among them that checkpoints of the first builds lack."""


@dataclass(frozen=True)
class Ramp:
    """The CFL number of pseudo-time: `start` (|R_0| / |R|)^`power`, at most `most` and three times its last value.

    It triples, for any residual, if the last update was taken as a whole and its linear equations were solved to their
    tolerance, as a residual that starts small or rises at first needs no short steps. It does not fall if their
    residual is less than half. Raises BadInput if a value is invalid.
    """

    start: float = 5.0
    most: float = 1e6
    power: float = 0.9

    def __post_init__(self) -> None:
        for name, value in (("start", self.start), ("most", self.most), ("power", self.power)):
            if not (math.isfinite(value) and value > 0):
                raise BadInput(f"method.cfl.{name} = {value}: give a number > 0")
        if self.most < self.start:
            raise BadInput(f"method.cfl.most = {self.most:g}: give {self.start:g}, method.cfl.start, or more")

    def __str__(self) -> str:
        return f"{self.start:g} to {self.most:g}" if self.start < self.most else f"{self.most:g}"

    def begin(self, scalars: Scalars) -> dict[str, float]:
        """Return the initial scalars: all 0."""
        return dict.fromkeys(BEGUN, 0.0)

    def advance(self, scalars: Scalars, size: float, solved: bool, left: float) -> dict[str, float]:
        """Return the next CFL number, for a residual of this `size`. `solved`: the last equations reached their
        tolerance; `left`: their remaining residual over their right-hand side.
        """
        before, retreat, first = scalars["cfl"], scalars["retreat"] > 0, scalars["first"]
        whole = "share" in scalars and scalars["share"] == 1
        if before == 0:
            before, first, cfl = self.start, size, self.start
        elif retreat:
            cfl = before / RETREAT
        elif solved and whole:
            cfl = GROWTH * before
        else:
            fallen = first / size if size > 0 else math.inf
            cfl = min(self.start * min(_power(fallen, self.power), self.most), GROWTH * before)
            cfl = max(cfl, before) if whole and left < HALF else cfl
        cfl = min(max(cfl, LEAST), self.most)
        return {"cfl": cfl, "slowness": 1 / cfl, "first": first, "retreat": 0.0}


def _power(base: float, exponent: float) -> float:
    try:
        return base**exponent
    except OverflowError:
        return math.inf


RAMP = Ramp()
"""From 5 to 10^6."""


def share(scalars: Scalars) -> dict[str, float]:
    """Return the largest acceptable share of an update, and the number of successive non-finite (`broken`) ones."""
    largest = math.sqrt(scalars["change"]) if scalars["change"] >= 0 else math.nan
    if not math.isfinite(largest):
        return {"share": 0.0, "tries": 2.0, "accepted": 0.0, "broken": scalars["broken"] + 1}
    whole = min(1.0, CHANGE / largest) if largest > 0 else 1.0
    return {"share": whole, "tries": 0.0, "accepted": 0.0, "broken": 0.0}


def judged(scalars: Scalars, size: float) -> dict[str, float]:
    """Decide if the state is accepted. Above WORSE times the last residual half of the update is tried, then none."""
    tries, refused = scalars["tries"], scalars["share"] == 0
    if refused or (math.isfinite(size) and size <= WORSE * scalars["begun"]):
        more = {"retreat": 1.0, "refused": scalars["refused"] + 1} if refused else {}
        kept = {name: scalars[name] for name in ("share", "tries", "retreat", "refused")}
        return {**kept, "accepted": 1.0, **more}
    left = scalars["share"] / 2 if tries == 0 else 0.0
    same = {name: scalars[name] for name in ("retreat", "refused")}
    return {**same, "share": left, "tries": tries + 1, "accepted": 0.0}
