"""Vectors of a Krylov space: what their kernels compute is what NumPy does, in both of their fields."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow.models.artificial_compressibility.implicit import krylov
from taskflow.flow.models.artificial_compressibility.implicit.gmres import DEEP, SHALLOW, Gmres
from taskflow.flow.models.artificial_compressibility.implicit.least_squares import LeastSquares
from taskflow.runtime.tasks import reduced
from tests.flow.byhand import ByHand

CELLS, COUNT = (7, 5, 6), 34
VECTOR, OUT = ("p", "u", "v", "w"), ("p_x", "u_x", "v_x", "w_x")
FIELDS = ("vectors", "later", None)
WEIGHTS = krylov.Weights(2.5, 0.0)


def spaces(device) -> tuple[ByHand, np.ndarray]:
    """Random vectors in both fields, and what they are in the cells: [vector, number, z, y, x]."""
    made = ByHand(CELLS, ghost=1, **device).fill((*VECTOR, *OUT), seed=1)
    shape, random = made.memory.shape[::-1], np.random.default_rng(2)
    for name in ("vectors", "later"):
        made.fields[name] = random.uniform(-1, 1, (*shape[:2], krylov.VALUES, shape[2]))
    return made, inside(made)


def inside(made: ByHand) -> np.ndarray:
    """The vectors in the cells."""
    both = [np.moveaxis(made.fields[name][1:-1, 1:-1, :, 1:-1], 2, 0) for name in ("vectors", "later")]
    return np.concatenate([part.reshape(krylov.PART, 4, *part.shape[1:]) for part in both])


def of(made: ByHand, names) -> np.ndarray:
    """Fields in the cells."""
    return np.stack([made.fields[name][1:-1, 1:-1, 1:-1] for name in names])


def test_a_vector_is_made_orthogonal_to_those_of_two_fields(device):
    made, V = spaces(device)
    q, weights = of(made, VECTOR), np.array([WEIGHTS.pressure, 1, 1, 1])[:, None, None, None]
    made.scalars |= {"count": float(COUNT), "most": 8.0}
    parts = [f"h_{n}" for n in range(4)]
    for n, name in enumerate(parts):
        made.run(krylov.products(
            *FIELDS, VECTOR, None, over=made.box, along=name, most="most", count="count", first=10 * n, weights=WEIGHTS
        ))  # fmt: skip
    along = np.concatenate([reduced(made.scalars, name) for name in parts])
    expected = (weights * V * q).sum((1, 2, 3, 4))
    np.testing.assert_allclose(along[:COUNT], expected[:COUNT], rtol=0, atol=1e-13 * abs(expected).max())
    assert not along[COUNT:].any()
    where = {f"along_{n}": name for n, name in enumerate(parts)}
    made.run(krylov.orthogonal(
        *FIELDS, VECTOR, None, over=made.box, **where, count="count", most="most", weights=WEIGHTS
    ))  # fmt: skip
    left = q - np.tensordot(expected[:COUNT], V[:COUNT], 1)
    np.testing.assert_allclose(of(made, VECTOR), left, rtol=0, atol=1e-12 * abs(left).max())
    np.testing.assert_allclose(made.scalars["most"], (weights * left**2).sum(0).max(), rtol=1e-12)


def test_a_vector_is_kept_in_its_field_and_combined_with_others(device):
    made, V = spaces(device)
    share = np.random.default_rng(3).uniform(-1, 1, krylov.MOST)
    made.scalars |= {"place": 25.0, "scale": -0.5, "count": float(COUNT)}
    made.scalars |= {f"share.{n}": value for n, value in enumerate(share)}
    q = of(made, VECTOR)
    made.run(
        krylov.next_vector(*FIELDS, VECTOR, None, over=made.box, place="place", scale="scale"),
        krylov.combined(*FIELDS, OUT, None, over=made.box, share="share", count="count"),
    )
    V[25] = -0.5 * q
    np.testing.assert_array_equal(inside(made), V)
    np.testing.assert_array_equal(of(made, VECTOR), V[25])
    expected = np.tensordot(share[:COUNT], V[:COUNT], 1)
    np.testing.assert_allclose(of(made, OUT), expected, rtol=0, atol=1e-13 * abs(expected).max())


def test_a_first_vector_is_alone(device):
    made, V = spaces(device)
    made.scalars["scale"] = 2.0
    made.run(krylov.first_vector(VECTOR, None, *FIELDS, OUT, None, over=made.box, scale="scale"))
    V[:] = 0
    V[0] = 2 * of(made, VECTOR)
    np.testing.assert_array_equal(inside(made), V)
    np.testing.assert_array_equal(of(made, OUT), V[0])


def test_eigenvalues_of_the_first_columns_are_those_of_the_matrix():
    """Taken back from the triangular matrix and its rotations."""
    H = np.triu(np.random.default_rng(4).uniform(-1, 1, (13, 12)), -1)
    H[np.arange(1, 13), np.arange(12)] = np.linspace(0.5, 1, 12)
    small, scalars = LeastSquares(12), {"place": 0.0, "e.0": 1.0}
    for j in range(12):
        scalars |= {f"column.{n}": H[n, j] for n in range(j + 1)} | {"rest": H[j + 1, j] ** 2}
        scalars |= small.rotated(False, scalars)
    expected = np.linalg.eigvals(H[:10, :10])
    known = small.eigenvalues(10, scalars)
    assert max(abs(expected - value).min() for value in known) < 1e-12
    np.testing.assert_allclose(known.sum(), np.trace(H[:10, :10]), atol=1e-12)
    assert np.isnan(small.eigenvalues(10, scalars | {"t.3": np.nan})).all()


@pytest.mark.parametrize(("eigenvalues", "damping", "depth"), [
    ([1.0, 0.9 + 0.7j, 0.01], 1.0, DEEP),
    ([2.5, 0.98 + 0.63j, 0.15], 0.68, DEEP),
    ([2.44, 0.3 + 0.88j], 1.0, SHALLOW),
    ([1.0, -0.1], 1.0, SHALLOW),
    ([np.nan], 1.0, SHALLOW),
])  # fmt: skip
def test_the_polynomial_has_nine_terms_where_eigenvalues_are_in_a_circle(monkeypatch, eigenvalues, damping, depth):
    monkeypatch.setattr(LeastSquares, "eigenvalues", lambda *_: np.array(eigenvalues, complex))
    assert Gmres().polynomial({}) == {"damping": damping, "depth": depth}
