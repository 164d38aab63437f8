"""The tasks of an outer iteration apart from its linear equations."""

from __future__ import annotations

from taskflow.flow.models.artificial_compressibility.equations import Numbers
from taskflow.flow.models.artificial_compressibility.implicit.derivative import TEXTS
from taskflow.flow.models.artificial_compressibility.measures import METRICS
from taskflow.runtime.tasks import Components, Read, ReadWrite, Reduce, Scalar, Write, task

TEXT = TEXTS / "outer.cu"
FLOW = Components(p_q=Read, u_q=Read, v_q=Read, w_q=Read)
CHANGED = Components(p_q=ReadWrite, u_q=ReadWrite, v_q=ReadWrite, w_q=ReadWrite)
UPDATE = Components(p_x=Read, u_x=Read, v_x=Read, w_x=Read)
IN_ANY = Components(p_x=Read.any, u_x=Read.any, v_x=Read.any, w_x=Read.any)


@task(kernel=TEXT)
def right_side(
    residual: FLOW, right: Components(p_r=Write, u_r=Write, v_r=Write, w_r=Write), metrics: METRICS, *, numbers: Numbers
) -> None:  # fmt: skip
    """right = -V residual."""


@task(kernel=TEXT)
def less(vector: CHANGED, other: UPDATE) -> None:
    """vector = vector - other."""


@task(kernel=TEXT)
def add(vector: CHANGED, other: IN_ANY) -> None:
    """vector = vector + other, which may be in another precision."""


@task(kernel=TEXT)
def same(
    vector: Components(p_q=Write, u_q=Write, v_q=Write, w_q=Write), other: IN_ANY
) -> None:  # fmt: skip
    """vector = other, which may be in another precision."""


@task(kernel=TEXT)
def damped(
    rest: Components(p_rest=ReadWrite, u_rest=ReadWrite, v_rest=ReadWrite, w_rest=ReadWrite), vector: CHANGED,
    *, damping: Scalar,
) -> None:  # fmt: skip
    """rest = vector = rest - damping vector."""


@task(kernel=TEXT)
def largest_change(
    velocity: Components(u=Read, v=Read, w=Read), update: Components(u_x=Read, v_x=Read, w_x=Read),
    *, most: Reduce[max], speed: float,
) -> None:  # fmt: skip
    """most = max over cells of (|du| / max(|u|, speed))^2. The equations are linear in the pressure."""


@task(kernel=TEXT)
def moved(
    flow: FLOW, update: UPDATE, new: Components(p_new=Write, u_new=Write, v_new=Write, w_new=Write), *, share: Scalar
) -> None:  # fmt: skip
    """new = flow + share update; new = flow if the share is 0, for any update."""
