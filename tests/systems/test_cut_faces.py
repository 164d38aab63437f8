"""Why the order of an immersed body falls on fine grids: fluxes through the faces that its surface cuts.

Of such a face the flux is that of the velocity in its centre times the open share, 0 if the centre is inside. A steady
creeping flow is solved for with the scheme's own closed faces, shares and friction; then once more with fluxes that are
exact, and nothing else changed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.sparse.linalg import spsolve
from scipy.special import j0

from taskflow.flow.bodies.flags import ITSELF
from taskflow.runs.state.setup import RunSetup
from tests.flows import flags, orders
from tests.systems.test_immersed import RADIUS, WAVE, X0, Z0, pot, swirl

AXES = (0, 2)


def stream(x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """What u = -d/dz and w = d/dx of it are `swirl`; the same everywhere in the wall of the pot."""
    return j0(WAVE * np.minimum(np.sqrt((x - X0) ** 2 + (z - Z0) ** 2), RADIUS)) / WAVE


@dataclass(frozen=True, eq=False)
class Faces:
    """The low faces of cells across an axis, [z, x]: which are open; their open share and the friction of cut ones, as
    they are stored; the velocity in their centres; and how much more than the mean over the face the flux is where the
    surface cuts it.
    """

    open: np.ndarray
    share: np.ndarray
    friction: np.ndarray
    exact: np.ndarray
    excess: np.ndarray

    @classmethod
    def across(cls, axis: int, setup: RunSetup) -> Faces:
        grid, result = setup.grid, flags(setup)
        x, y, z = (item[:, 0] for item in np.broadcast_arrays(*grid.points(("fx", "fy", "fz")[axis], grid.box)))
        h, exact = grid.spacing[0], swirl(x, y, z, axis)
        half = (0.0, h / 2) if axis == 0 else (h / 2, 0.0)
        ends = [(x + side * half[0], z + side * half[1]) for side in (-1, 1)]
        low, high = (stream(*end) for end in ends)
        mean = (low - high) / h if axis == 0 else (high - low) / h
        in_fluid = [np.hypot(x - X0, z - Z0) < RADIUS for x, z in ends]
        closed = result["solid"][:, 0] & (ITSELF | 1 << 2 * axis) > 0
        friction, blockage = (result[f"{name}_{'xyz'[axis]}"][:, 0] for name in ("friction", "blockage"))
        share = 1 / (1 + blockage)
        return cls(~closed, share, friction, exact, np.where(in_fluid[0] != in_fluid[1], share * exact - mean, 0.0))

    @classmethod
    def of(cls, setup: RunSetup) -> Faces:
        """Those of both directions, in one row."""
        both = [cls.across(axis, setup) for axis in (0, 2)]
        names = ("open", "share", "friction", "exact", "excess")
        return cls(*(np.concatenate([getattr(item, name).ravel() for item in both]) for name in names))


def creeping(n: int, *, corrected: bool) -> tuple[float, float]:
    """A force that keeps the fluid in the pot turning: the mean and the largest error of the velocity. `corrected`: the
    divergence of a cell is that of the exact fluxes through cut faces.
    """
    setup = RunSetup(pot(n), (1, 1, 1))
    faces, one = Faces.of(setup), sparse.identity(n)
    step = (sparse.diags([1.0, 1.0], [1, 1 - n], shape=(n, n)) - one) / setup.grid.spacing[0]  # walls are closed faces
    rises = [sparse.kron(one, step), sparse.kron(step, one)]
    laplacian = sparse.block_diag([-sum(rise @ rise.T for rise in rises)] * 2)
    friction = (laplacian - sparse.diags(faces.friction)).tocsr()[faces.open][:, faces.open]
    divergence = sparse.hstack(rises).tocsr()
    inner = divergence[:, faces.open]
    cells = np.flatnonzero(abs(inner).sum(axis=1))[1:]  # with an open face; in one of them the pressure is 0
    flux = inner[cells] @ sparse.diags(faces.share[faces.open])
    system = sparse.bmat([[friction, inner[cells].T], [flux, None]], format="csc")
    source = divergence[cells] @ faces.excess * corrected
    exact = faces.exact[faces.open]
    result = spsolve(system, np.concatenate([-(WAVE**2) * exact, source]))[: exact.size]
    errors = np.abs(result - exact)
    return float(errors.mean()), float(errors.max())


@pytest.mark.slow
def test_fluxes_through_cut_faces_are_what_the_order_falls_by():
    """With exact ones it is 2, everywhere; as they are the largest error is of first order, and in the end the mean."""
    sizes = (24, 48, 96, 192)
    mean, largest = (orders(item, sizes) for item in zip(*(creeping(n, corrected=False) for n in sizes), strict=True))
    assert mean[0] > 1.9
    assert mean[-1] < 1.4
    assert np.mean(largest) < 1.3
    for item in zip(*(creeping(n, corrected=True) for n in sizes), strict=True):
        assert min(orders(item, sizes)) > 1.95
