"""A stage of explicit pseudo-time, and the residual of the steady equations, on any cells.

Fluxes are conservative bitwise: each leaves one cell and enters the next. Uniform cells need no `metrics`. Otherwise
these are ten values per cell: the area vectors of its low faces across x, y and z, and its volume. On a moving grid
`swept` is the volume swept by these faces per time, u_g.S. Momentum and scalars are advected by u - u_g, and the volume
swept by walls passes through them, as they move with the grid. With an eddy viscosity `nu_t` in cells friction is the
full stress, (viscosity + nu_t) (grad u + (grad u)^T) . S, with the mean of both sides on faces, and diffusivities
increase by `share` times nu_t.
"""

from __future__ import annotations

from taskflow.flow.kernels import KERNELS
from taskflow.flow.models.artificial_compressibility.bodies import SURFACES
from taskflow.flow.models.artificial_compressibility.equations import EDGES, LINES, SHORT, Numbers
from taskflow.runtime.tasks import Components, Read, ReadByte, ReadWrite, Scalar, Write, task

TEXTS = KERNELS / "artificial_compressibility"
AROUND, BESIDE = LINES | EDGES, SHORT | EDGES
FLOW = Components(p=Read[LINES], u=Read[AROUND], v=Read[AROUND], w=Read[AROUND])
PLACED = Components(**FLOW.privileges, sides=ReadByte[BESIDE])
AGES = Components(
    **FLOW.privileges, p_0=Read, u_0=Read, v_0=Read, w_0=Read, p_new=Write, u_new=Write, v_new=Write, w_new=Write,
    sides=ReadByte[BESIDE],
)  # fmt: skip
NEXT = Components(p_new=Write, u_new=Write, v_new=Write, w_new=Write)
FORCE = Components(f_x=Read, f_y=Read, f_z=Read) | None
KEPT = Components(d_p=ReadWrite, d_u=ReadWrite, d_v=ReadWrite, d_w=ReadWrite) | None
METRICS = Read[BESIDE] * 10 | None
SWEPT = Read[SHORT] * 3 | None
EDDIES = Read[SHORT] | None


@task(kernel=TEXTS / "stage.cu")
def stage(
    flow: AGES, heat: Components(T=Read[AROUND], T_0=Read, T_new=Write) | None, source: Read | None, metrics: METRICS,
    swept: SWEPT, b: Read[SHORT] | None, nu_t: EDDIES, force: FORCE, kept: KEPT,
    *, step: Scalar, rate: Scalar | None, numbers: Numbers,
) -> None:  # fmt: skip
    """q_new = q_0 - fraction dtau R(q) / V, for p times b. R is the sum of the fluxes out of a cell, less V force, for
    T less V source.

    dtau is `step` times V / (sum over directions of |u.S| + root((u.S)^2 + b |S|^2) + 4 spread |S|^2 / V), from the
    values of q_0, or `step` itself. With eddies `eddying` times the mean of nu_t on both faces is added to spread. T is
    advected upwind by the mass fluxes of q, less T times their sum out of the cell, so that a uniform T stays uniform
    while mass is not balanced. With `kept` friction and dissipation in R are blended with their values in the previous
    stage, and stored. In physical time u, v, w and T also change by `rate` q at the end of the stage: the above is
    divided by 1 + fraction dtau rate.
    """


@task(kernel=TEXTS / "stage.cu")
def residual(
    flow: PLACED, new: NEXT, heat: Components(T=Read[AROUND], T_new=Write) | None, source: Read | None,
    metrics: METRICS, swept: SWEPT, b: Read[SHORT] | None, nu_t: EDDIES, force: FORCE,
    surfaces: SURFACES, *, rate: Scalar | None, numbers: Numbers,
) -> None:  # fmt: skip
    """q_new = R(q) / V; in physical time with `rate` q for u, v, w and T. With `surfaces` of bodies fluxes pass the
    open shares of faces, R also has what the surfaces take, and forces and `rate` act in the open share of V.
    """


@task(kernel=TEXTS / "transport.cu")
def transport(
    flow: FLOW, begun: Components(u_0=Read, v_0=Read, w_0=Read),
    scalar: Components(T=Read[AROUND], T_0=Read, T_new=Write), source: Read | None, sides: ReadByte[BESIDE],
    metrics: METRICS, swept: SWEPT, b: Read[SHORT] | None, nu_t: EDDIES,
    *, step: Scalar, rate: Scalar | None, numbers: Numbers,
) -> None:  # fmt: skip
    """A stage of a passive scalar, as T in `stage`, by the mass fluxes of the same flow."""
