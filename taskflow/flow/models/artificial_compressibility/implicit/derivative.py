"""The linear operator of an outer iteration: the exact derivative of the residual, and the pseudo-time term."""

from __future__ import annotations

from taskflow.flow.kernels import KERNELS
from taskflow.flow.models.artificial_compressibility.bodies import SURFACES
from taskflow.flow.models.artificial_compressibility.equations import LINES, SHORT, Numbers
from taskflow.flow.models.artificial_compressibility.stage import AROUND, EDDIES, METRICS, PLACED, SWEPT
from taskflow.runtime.tasks import Components, Read, Scalar, Write, task

TEXTS = KERNELS / "artificial_compressibility" / "implicit"
DIRECTION = Components(p_d=Read[LINES], u_d=Read[AROUND], v_d=Read[AROUND], w_d=Read[AROUND])
HEAT = Components(T=Read[AROUND], T_d=Read[AROUND], T_out=Write) | None
OUT = Components(p_out=Write, u_out=Write, v_out=Write, w_out=Write)


@task(kernel=TEXTS / "pseudo_time.cu")
def pseudo_time(
    velocity: Components(u=Read, v=Read, w=Read), pseudo: Write, metrics: METRICS, swept: SWEPT, b: Read[SHORT] | None,
    nu_t: EDDIES, *, slowness: Scalar, numbers: Numbers,
) -> None:  # fmt: skip
    """pseudo = V / dtau, for a step of pseudo-time with the CFL number 1 / `slowness`."""


@task(kernel=TEXTS / "derivative.cu")
def derivative(
    flow: PLACED, direction: DIRECTION, out: OUT, heat: HEAT, pseudo: Read, metrics: METRICS,
    swept: SWEPT, b: Read[SHORT] | None, nu_t: EDDIES, surfaces: SURFACES, *, rate: Scalar | None, numbers: Numbers,
) -> None:  # fmt: skip
    """out = (G pseudo + V P rate) d + dR/dQ d, G = diag(1/b, 1, 1, 1, 1), P = diag(0, 1, 1, 1, 1). R is the sum of the
    fluxes out of a cell, with `heat` minus V times the buoyancy, and `rate` belongs to the physical time step. Ghost
    values of d obey homogeneous side conditions, as changes of the flow's ghost values do. nu_t is constant.
    """
