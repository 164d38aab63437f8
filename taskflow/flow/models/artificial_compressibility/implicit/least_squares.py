"""The small least-squares problem of GMRES, which the host solves with Givens rotations, a column at a time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from taskflow.flow.models.artificial_compressibility.implicit import krylov
from taskflow.runtime.tasks import reduced

Scalars = Mapping[str, float]
BREAKDOWN = 1e-14  # of a vector's length: the space holds the solution
AGAIN = 0.1  # of a vector's length: where less is left, what was taken off is not orthogonal enough


def length(scalars: Scalars) -> float:
    """The length of the vector that was `measured`."""
    return math.sqrt(max(reduced(scalars, "square")[0], 0.0))


def orthogonal(scalars: Scalars) -> bool:
    """Whether enough was left of the new vector: rounding has then left next to nothing along the others."""
    return scalars["rest"] >= AGAIN**2 * scalars["whole"]


@dataclass(frozen=True)
class LeastSquares:
    """For so many `vectors`. The scalar `place` is the number of columns that there are, `left` what they leave."""

    vectors: int

    @property
    def memory(self) -> tuple[str, ...]:
        """The memory of a cycle: the triangular matrix by columns, rotations, the rotated right-hand side."""
        m = self.vectors
        small = (f"{name}.{n}" for name, count in (("c", m), ("s", m), ("e", m + 1)) for n in range(count))
        return ("place", "count", "scale", "left", *(f"t.{n}" for n in range(m * (m + 1) // 2)), *small)

    @property
    def column(self) -> tuple[str, ...]:
        """The products of a new vector with all others, the square of its length before, and of what is left of it."""
        return ("whole", "rest", *(f"column.{n}" for n in range(self.vectors)))

    def begun(self, scalars: Scalars) -> dict[str, float]:
        """No column, and the first vector's length."""
        size = length(scalars)
        return {"place": 0.0, "count": 1.0, "scale": 1 / size if size > 0 else 0.0, "left": size, "e.0": size}

    def taken_off(self, sums: int, again: bool, scalars: Scalars) -> dict[str, float]:
        """The numbers of `column`, from so many `sums` of ten; `again`: besides what was taken off before."""
        count, rest = int(scalars["count"]), max(reduced(scalars, "square")[0], 0.0)
        along = [h for n in range(sums) for h in reduced(scalars, f"along_{n}")][:count]
        whole = rest + sum(h * h for h in along)
        if again:
            along = [h + scalars[f"column.{n}"] for n, h in enumerate(along)]
        return {"whole": whole, "rest": rest, **{f"column.{n}": h for n, h in enumerate(along)}}

    def rotated(self, powers: bool, scalars: Scalars) -> dict[str, float]:
        """A column more, rotated so that the matrix stays triangular; `powers`: the new vector is one of 1 - A P."""
        j, rest = int(scalars["place"]), scalars["rest"]
        column = [scalars[f"column.{n}"] for n in range(j + 1)]
        if powers:
            column = [*(-h for h in column[:j]), 1 - column[j]]
        norm = math.sqrt(rest)
        norm = norm if norm > BREAKDOWN * math.sqrt(sum(h * h for h in column) + rest) else 0.0
        for i in range(j):
            c, s = scalars[f"c.{i}"], scalars[f"s.{i}"]
            column[i], column[i + 1] = c * column[i] + s * column[i + 1], c * column[i + 1] - s * column[i]
        diagonal = math.hypot(column[j], norm)
        c, s = (column[j] / diagonal, norm / diagonal) if diagonal > 0 else (1.0, 0.0)
        column[j] = diagonal
        memory = {f"t.{j * (j + 1) // 2 + i}": value for i, value in enumerate(column)}
        e, sign = scalars[f"e.{j}"], -1.0 if powers else 1.0
        memory |= {f"c.{j}": c, f"s.{j}": s, f"e.{j}": c * e, f"e.{j + 1}": -s * e, "left": abs(s * e)}
        return memory | {"place": j + 1.0, "count": j + 2.0, "scale": sign / norm if norm > 0 else 0.0}

    def shares(self, scalars: Scalars) -> dict[str, float]:
        """The y for which |e - T y| is least, by substitution from behind; 0 of vectors that are not there."""
        count, shares = int(scalars["place"]), [0.0] * krylov.MOST
        for i in reversed(range(count)):
            row = [scalars[f"t.{j * (j + 1) // 2 + i}"] for j in range(i, count)]
            rest = scalars[f"e.{i}"] - sum(t * y for t, y in zip(row[1:], shares[i + 1 : count], strict=True))
            shares[i] = rest / row[0] if row[0] != 0 else 0.0
        return {f"share.{n}": y for n, y in enumerate(shares)}
