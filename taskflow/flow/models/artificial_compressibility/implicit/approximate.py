"""What is left of linear equations with the matrix of first order."""

from __future__ import annotations

from taskflow.flow.models.artificial_compressibility.implicit.derivative import TEXTS
from taskflow.flow.models.artificial_compressibility.implicit.matrix import COUPLING, PIVOT
from taskflow.runtime.tasks import Components, Read, Write, task

RIGHT = Components(p_r=Read, u_r=Read, v_r=Read, w_r=Read)
NEW = Components(p=Write, u=Write, v=Write, w=Write)
UPDATE = Components(p_x=Read[1], u_x=Read[1], v_x=Read[1], w_x=Read[1])


@task(kernel=TEXTS / "approximate.cu")
def left(
    coupling: Read.private * COUPLING, own: Read.private * PIVOT, right: RIGHT, update: UPDATE, new: NEW
) -> None:
    """new = right - A_1 update, neighbours in other charts among them."""
