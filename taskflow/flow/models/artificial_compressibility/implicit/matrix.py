"""The preconditioning matrix of the linear equations: derivative of the first-order residual, in blocks."""

from __future__ import annotations

from taskflow.flow.models.artificial_compressibility.blocks import BLOCKS, MatrixBlocks
from taskflow.flow.models.artificial_compressibility.bodies import NEIGHBOURS, SURFACES
from taskflow.flow.models.artificial_compressibility.equations import SHORT, Numbers
from taskflow.flow.models.artificial_compressibility.implicit.derivative import TEXTS
from taskflow.flow.models.artificial_compressibility.stage import BESIDE, EDDIES, METRICS, SWEPT
from taskflow.runtime.tasks import Components, Read, ReadByte, Scalar, Write, task

COUPLING = ("coupling_low", "coupling_high")
"""Fields of the blocks for neighbours on low and on high sides: a sweep reads contiguous memory."""
HALF, PIVOT = MatrixBlocks.values[COUPLING[0]], MatrixBlocks.values["pivot"]
"""Numbers per cell of 4 x 4 blocks: in each field of couplings (see `place`), and in its diagonal block."""
COUPLED, COUPLES = (Components(**dict.fromkeys(COUPLING, way.private * HALF)) for way in (Read, Write))


def place(side: int, blocks: MatrixBlocks = BLOCKS[0]) -> tuple[str, int]:
    """Return the field with the block for the neighbour on a side, x_min to z_max, and its first number. Blocks and
    inverse pivots are stored by rows on a GPU, by columns on a CPU.
    """
    return COUPLING[side % 2], blocks.unknowns**2 * (side // 2)


@task(kernel=TEXTS / "matrix.cu")
def matrix(
    flow: Components(**NEIGHBOURS.privileges, sides=ReadByte[BESIDE], pseudo=Read),
    made: Components(**COUPLES.privileges, pivot=Write.any * PIVOT), own: Write.private * PIVOT | None,
    heat: Components(T=Read[SHORT], T_still=Read[SHORT]) | None,
    scalar: Components(scalar=Read[SHORT], scalar_still=Read[SHORT]) | None,
    metrics: METRICS, swept: SWEPT, b: Read[SHORT] | None, nu_t: EDDIES, surfaces: SURFACES,
    *, rate: Scalar | None, numbers: Numbers,
) -> None:  # fmt: skip
    """The blocks of G pseudo + V P rate + dR_1/dQ, see `derivative`. R_1 has first-order fluxes with constant |A|, and
    friction only along the lines of cells. The pressure on a wall equals the pressure in the adjacent cell.

        coupling: (A_beyond - G |A|) / 2 - viscosity |S|^2 / V,     pivot: sums of (A + G |A|) / 2 + viscosity |S|^2 / V

    with the viscosity on faces, but without the transposed gradient of the eddy stress. `own` also has the pivot.
    Nothing is coupled across sides. There the pivot has the homogeneous condition: zero velocity on walls and inflows,
    zero pressure at outflows, zero free stream. Surfaces of bodies have the pressure and the velocity of their cell.

    With `heat` the row of T equals `scalar.scalar_matrix`, with the change of the mass that carries T. Momentum has the
    lift. In ghost cells of sides `T_still` has the value for 1 inside and homogeneous conditions. `scalar` is carried
    likewise, without lift.
    """
