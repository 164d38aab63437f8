"""The interface inside bodies, which it meets at 90 degrees: its field, extended from the fluid around."""

from __future__ import annotations

from collections.abc import Iterator

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Launch, Read, ReadByte, Write, task

PAIRS = 2  # of sweeps: WENO5 and columns of shares read three cells of bodies


@task(kernel=KERNELS / "two_phase" / "bodies.cu")
def extend_into_bodies(phi: Read[1], solid: ReadByte, phi_new: Write, *, grid: Grid) -> None:
    """phi_new = phi in the fluid, in solid cells the mean over fluid neighbours, or over all neighbours if none is
    fluid: the interface meets bodies at 90 degrees.
    """


def extended_into_bodies(q: str, spare: str, solid: str, grid: Grid) -> Iterator[Launch]:
    """Extend the field q of an interface into bodies. A spare field is overwritten."""
    for source, target in PAIRS * ((q, spare), (spare, q)):
        yield extend_into_bodies(source, solid, target, over=Box.of(grid.cells), grid=grid)
