"""The matrix that preconditions the linear equations: that of the residual of first order, in blocks of 4 x 4."""

from __future__ import annotations

from taskflow.flow.models.artificial_compressibility.equations import SHORT, Numbers
from taskflow.flow.models.artificial_compressibility.implicit.derivative import TEXTS
from taskflow.flow.models.artificial_compressibility.stage import BESIDE, EDDIES, METRICS, SWEPT
from taskflow.runtime.tasks import Components, Read, ReadByte, Scalar, Write, task

COUPLING = ("coupling_low", "coupling_high")
"""The fields of the blocks for neighbours on low sides and on high ones: what a sweep reads lies together."""
HALF, PIVOT = 48, 16
"""Numbers of a cell in each of them, see `place`; those of its own block."""
COUPLED, COUPLES = (Components(**dict.fromkeys(COUPLING, way.private * HALF)) for way in (Read, Write))


def place(side: int) -> tuple[str, int]:
    """The field with the block for the neighbour on a side, x_min to z_max, and the first number of that: on a GPU it
    is there by rows, on a CPU by columns. So is the inverse of the pivot.
    """
    return COUPLING[side % 2], PIVOT * (side // 2)


@task(kernel=TEXTS / "matrix.cu")
def matrix(
    flow: Components(p=Read[SHORT], u=Read[SHORT], v=Read[SHORT], w=Read[SHORT]), coupling: COUPLES,
    pivot: Write.any * PIVOT, own: Write.private * PIVOT | None, pseudo: Read, sides: ReadByte[BESIDE],
    metrics: METRICS, swept: SWEPT, b: Read[SHORT] | None, nu_t: EDDIES, *, rate: Scalar | None, numbers: Numbers,
) -> None:  # fmt: skip
    """The blocks of G pseudo + V P rate + dR_1/dQ, see `derivative`: R_1 has fluxes of first order, whose |A| does
    not change, and friction along the lines of cells alone; the pressure on a wall is that of the cell there.

        coupling: (A_beyond - G |A|) / 2 - viscosity |S|^2 / V,     pivot: sums of (A + G |A|) / 2 + viscosity |S|^2 / V

    with the viscosity on faces, but without the transposed gradient that eddies add. `own` has the pivot, too. On sides
    nothing is coupled. There the pivot has what is given: no velocity on walls and inflows, no pressure at outflows,
    nothing of a free stream.
    """
