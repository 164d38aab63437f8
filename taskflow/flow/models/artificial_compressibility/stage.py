"""A stage of explicit pseudo-time, and the residual of the steady equations, on any cells.

Fluxes pass faces: what leaves a cell enters the next one to the bit. Of uniform cells there are no `metrics`; otherwise
these are ten values of a cell, the area vectors of its low faces across x, y and z, and its volume.
"""

from __future__ import annotations

from taskflow.flow.kernels import KERNELS
from taskflow.flow.models.artificial_compressibility.equations import EDGES, LINES, SHORT, Numbers
from taskflow.runtime.tasks import Components, Read, ReadByte, ReadWrite, Scalar, Write, task

TEXTS = KERNELS / "artificial_compressibility"
AROUND, BESIDE = LINES | EDGES, SHORT | EDGES
FLOW = Components(p=Read[LINES], u=Read[AROUND], v=Read[AROUND], w=Read[AROUND])
NEXT = Components(p_new=Write, u_new=Write, v_new=Write, w_new=Write)
FORCE = Components(f_x=Read, f_y=Read, f_z=Read) | None
KEPT = Components(d_p=ReadWrite, d_u=ReadWrite, d_v=ReadWrite, d_w=ReadWrite) | None
METRICS = Read[BESIDE] * 10 | None


@task(kernel=TEXTS / "stage.cu")
def stage(
    flow: FLOW, begun: Components(p_0=Read, u_0=Read, v_0=Read, w_0=Read), new: NEXT,
    heat: Components(T=Read[AROUND], T_0=Read, T_new=Write) | None, sides: ReadByte[BESIDE], metrics: METRICS,
    b: Read[SHORT] | None, force: FORCE, kept: KEPT,
    *, step: Scalar, numbers: Numbers,
) -> None:  # fmt: skip
    """q_new = q_0 - fraction dtau R(q) / V, for p times b: R is the sum of the fluxes out of a cell, less V force.

    dtau is `step` times V / (sum over directions of |u.S| + root((u.S)^2 + b |S|^2) + 4 spread |S|^2 / V), of the
    values of q_0, or `step` itself. T is carried by the mass fluxes of q, from the upwind side, less T times their sum
    out of the cell, so that a uniform T stays while mass is not balanced yet. With `kept` what friction and scheme add
    to R is mixed with that of the stage before, and kept.
    """


@task(kernel=TEXTS / "stage.cu")
def residual(
    flow: FLOW, new: NEXT, heat: Components(T=Read[AROUND], T_new=Write) | None, sides: ReadByte[BESIDE],
    metrics: METRICS, b: Read[SHORT] | None, force: FORCE, *, numbers: Numbers,
) -> None:  # fmt: skip
    """q_new = R(q) / V."""


@task(kernel=TEXTS / "transport.cu")
def transport(
    flow: FLOW, begun: Components(u_0=Read, v_0=Read, w_0=Read),
    scalar: Components(T=Read[AROUND], T_0=Read, T_new=Write), sides: ReadByte[BESIDE], metrics: METRICS,
    b: Read[SHORT] | None, *, step: Scalar, numbers: Numbers,
) -> None:  # fmt: skip
    """A stage of a passive scalar, as that of T in `stage`, by the mass fluxes of the same flow."""
