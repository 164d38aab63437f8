"""The small least-squares problem of GMRES, solved on the host with Givens rotations, one column at a time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from taskflow.flow.models.artificial_compressibility.implicit import krylov
from taskflow.runtime.tasks import numbered, together

Scalars = Mapping[str, float]
BREAKDOWN = 1e-14  # of a vector's length: the space holds the solution
AGAIN = 0.1  # of a vector's length: if less remains, it is orthogonalised again


def length(scalars: Scalars) -> float:
    return math.sqrt(_square(scalars))


def _square(scalars: Scalars) -> float:
    return max(krylov.SQUARE.values(scalars, "square")[0], 0.0)


def orthogonal(scalars: Scalars) -> bool:
    """Return True if enough of the new vector remained for it to be orthogonal to rounding."""
    return scalars["rest"] >= AGAIN**2 * scalars["whole"]


@dataclass(frozen=True)
class LeastSquares:
    """Least-squares problem of up to `vectors` columns. Scalars `place`, the number of columns, and residual `left`."""

    vectors: int

    @property
    def memory(self) -> tuple[str, ...]:
        """The memory of a cycle: the triangular matrix by columns, rotations, the rotated right-hand side."""
        m = self.vectors
        small = (f"{name}.{n}" for name, count in (("c", m), ("s", m), ("e", m + 1)) for n in range(count))
        return ("place", "count", "scale", "left", *(f"t.{n}" for n in range(m * (m + 1) // 2)), *small)

    @property
    def column(self) -> tuple[str, ...]:
        """Products of a new vector with all others; squares of its length before and after orthogonalisation."""
        return ("whole", "rest", *(f"column.{n}" for n in range(self.vectors)))

    def begun(self, scalars: Scalars) -> dict[str, float]:
        """Return the scalars without columns, with the first vector's length."""
        size = length(scalars)
        return {"place": 0.0, "count": 1.0, "scale": 1 / size if size > 0 else 0.0, "left": size, "e.0": size}

    def taken_off(self, sums: int, again: bool, scalars: Scalars) -> dict[str, float]:
        """Return the numbers of `column`, from `sums` groups of ten, added to earlier ones if `again`."""
        count, rest = int(scalars["count"]), _square(scalars)
        along = [h for n in range(sums) for h in krylov.SUMS.values(scalars, f"along_{n}")][:count]
        whole = rest + sum(h * h for h in along)
        column = numbered("column", count)
        if again:
            along = [h + before for h, before in zip(along, together(scalars, column), strict=True)]
        return {"whole": whole, "rest": rest, **dict(zip(column, along, strict=True))}

    def rotated(self, powers: bool, scalars: Scalars) -> dict[str, float]:
        """Add a column, rotated so that the matrix stays triangular; `powers`: the new vector belongs to 1 - A P."""
        j, rest = int(scalars["place"]), scalars["rest"]
        column = together(scalars, numbered("column", j + 1))
        if powers:
            column = [*(-h for h in column[:j]), 1 - column[j]]
        norm = math.sqrt(rest)
        norm = norm if norm > BREAKDOWN * math.sqrt(sum(h * h for h in column) + rest) else 0.0
        for i, (c, s) in enumerate(zip(*(together(scalars, numbered(name, j)) for name in "cs"), strict=True)):
            column[i], column[i + 1] = c * column[i] + s * column[i + 1], c * column[i + 1] - s * column[i]
        diagonal = math.hypot(column[j], norm)
        c, s = (column[j] / diagonal, norm / diagonal) if diagonal > 0 else (1.0, 0.0)
        column[j] = diagonal
        memory = dict(zip(_column_of_triangle(j), column, strict=True))
        e, sign = scalars[f"e.{j}"], -1.0 if powers else 1.0
        memory |= {f"c.{j}": c, f"s.{j}": s, f"e.{j}": c * e, f"e.{j + 1}": -s * e, "left": abs(s * e)}
        return memory | {"place": j + 1.0, "count": j + 2.0, "scale": sign / norm if norm > 0 else 0.0}

    def solution(self, scalars: Scalars) -> list[float]:
        """Return the y that minimises |e - T y|, by back substitution; 0 for absent vectors."""
        count, y = int(scalars["place"]), [0.0] * krylov.MOST
        triangle, right = (together(scalars, numbered(*q)) for q in (("t", count * (count + 1) // 2), ("e", count)))
        for i in reversed(range(count)):
            row = [triangle[j * (j + 1) // 2 + i] for j in range(i, count)]
            rest = right[i] - sum(t * value for t, value in zip(row[1:], y[i + 1 : count], strict=True))
            y[i] = rest / row[0] if row[0] != 0 else 0.0
        return y

    def eigenvalues(self, most: int, scalars: Scalars) -> np.ndarray:
        """Return Ritz values of A M^-1, at most `most`: eigenvalues of the Hessenberg matrix, rebuilt from the
        triangular factor and the Givens rotations. NaN if the eigenvalue solver fails.
        """
        count = min(most, int(scalars["place"]))
        rotations = list(zip(*(together(scalars, numbered(name, count)) for name in "cs"), strict=True))
        matrix = np.zeros((count + 1, count))
        for j in range(count):
            matrix[: j + 1, j] = together(scalars, _column_of_triangle(j))
            for i in reversed(range(j + 1)):
                c, s = rotations[i]
                matrix[i : i + 2, j] = np.array([[c, -s], [s, c]]) @ matrix[i : i + 2, j]
        try:
            return np.linalg.eigvals(matrix[:count])
        except np.linalg.LinAlgError:  # of infinite numbers, too
            return np.full(count, np.nan)


@cache
def _column_of_triangle(j: int) -> tuple[str, ...]:
    return numbered("t", (j + 1) * (j + 2) // 2)[j * (j + 1) // 2 :]
