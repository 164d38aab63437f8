"""Lagged factors: outer iterations in a step of real time keep the factors of an earlier iteration, as modified Newton
methods do (C. T. Kelley 2003, Solving Nonlinear Equations with Newton's Method).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from taskflow.flow.models.artificial_compressibility.implicit.least_squares import Scalars
from taskflow.flow.models.artificial_compressibility.implicit.vectors import Program
from taskflow.runtime.tasks import Program as Body
from taskflow.runtime.tasks import Repeat, Roles

COST = 2.5  # products that a matrix and its factors take: 2.3 of processor time, 2.8 on a GPU


@dataclass(frozen=True)
class Lag:
    """Factors serve `iterations` outer iterations, or without a number as many as pay: until an iteration reduces the
    residual by less per product than all iterations with these factors, whose products include `COST`.

    The first iteration of a step and one after a refused update compute new factors. So checkpoints need none.
    """

    iterations: int | None = None

    @property
    def memory(self) -> tuple[str, ...]:
        """Scalars: iterations with the factors, their products, the logarithm of their reduction, 1 for new factors."""
        return () if self.iterations == 1 else ("age", "spent", "fallen", "stale")

    def advance(self, scalars: Scalars, size: float) -> dict[str, float]:
        """Return the scalars of `memory`, for a residual of this `size`."""
        if self.iterations == 1:
            return {}
        new = {"age": 0.0, "spent": 0.0, "fallen": 0.0, "stale": 1.0}
        if scalars["cfl"] == 0 or scalars["retreat"] > 0:
            return new
        fall, taken = _logarithm(scalars["begun"], size), scalars["taken"]
        age, spent, fallen = scalars["age"] + 1, scalars["spent"] + taken, scalars["fallen"] + fall
        stale = age >= self.iterations if self.iterations else fall * (COST + spent) < fallen * taken
        return new if stale else {"age": age, "spent": spent, "fallen": fallen, "stale": 0.0}

    def factors(self, new: Body, f: Roles) -> Program:
        """Run the program of new factors, if they are due."""
        if self.iterations == 1:
            yield from new(f)
        else:
            yield Repeat(new, 1, until=_serve, lag=False, further=True)


def _serve(scalars: Scalars) -> bool:
    return scalars["stale"] == 0


def _logarithm(before: float, size: float) -> float:
    return math.log(before / size) if before > 0 and 0 < size < math.inf else 0.0


EACH = Lag(1)
"""New factors in each outer iteration."""
