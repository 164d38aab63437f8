"""Shares of cells where phi is positive, against exact areas and volumes."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.cases.formulas.expression import Expression
from taskflow.geometry import Composition, Cuboid, Sphere
from taskflow.systems.two_phase.shares import plane_volume, shares


def centres(cells, lengths=(1.0, 1.0, 1.0)):
    x, y, z = ((np.arange(n) + 0.5) * length / n for n, length in zip(cells, lengths, strict=True))
    return (x[None, None, :], y[None, :, None], z[:, None, None]), tuple(np.divide(lengths, cells))


def test_a_circle_and_a_ball():
    places, h = centres((32, 1, 32))
    circle = shares(lambda x, y, z: 0.4 - np.sqrt((x - 0.483) ** 2 + (z - 0.507) ** 2) + 0 * y, places, h, (0, 2))
    assert circle.shape == (32, 1, 32)
    assert circle.mean() == pytest.approx(np.pi * 0.4**2, rel=1e-7)
    places, h = centres((16, 14, 12), (1.0, 1.1, 1.2))
    ball = shares(lambda x, y, z: 0.35 - np.sqrt((x - 0.48) ** 2 + (y - 0.53) ** 2 + (z - 0.55) ** 2), places, h)
    assert ball.sum() * np.prod(h) == pytest.approx(4 / 3 * np.pi * 0.35**3, rel=1e-6)


def test_a_plane_is_exact_and_a_corner_nearly():
    places, h = centres((5, 4, 6))
    plane = shares(lambda x, y, z: 0.31 - z + 0 * x * y, places, h)
    np.testing.assert_allclose(plane.mean(axis=(1, 2)), [1, 0.86, 0, 0, 0, 0], atol=2e-16, rtol=0)
    corner = shares(lambda x, y, z: np.minimum(np.minimum(0.31 - z, 0.52 - x), 0.7 - y), places, h)
    assert corner.mean() == pytest.approx(0.31 * 0.52 * 0.7, rel=2e-3)


def test_a_film_that_no_corner_sees_is_found():
    places, h = centres((8, 1, 8))
    film = shares(lambda x, y, z: 0.01 - np.abs(z - 0.44) + 0 * x * y, places, h, (0, 2))
    assert film.mean() == pytest.approx(0.02, rel=1e-12)


def test_a_share_depends_on_its_cell_alone():
    def wave(x, y, z):
        return z - 0.5 - 0.1 * np.sin(7 * x) * np.cos(5 * y)

    places, h = centres((9, 8, 7))
    whole = shares(wave, places, h)
    x, y, z = places
    np.testing.assert_array_equal(shares(wave, (x[..., 3:], y[:, 2:5], z[4:]), h), whole[4:, 2:5, 3:])


WAVE = "0.1 + 0.3*sin(4*x)*cos(3*y) - (z - 0.4)**2"
SHAPES = Composition(((Cuboid((0.2, 0.1, -1.0), (0.7, 0.9, 0.45)), True), (Sphere((0.5, 0.5, 0.45), 0.2), False)), -2.0)


@pytest.mark.parametrize("phi", [Expression(WAVE), SHAPES])
@pytest.mark.parametrize(("cells", "divided"), [((40, 1, 36), (0, 2)), ((30, 20, 24), (0, 1, 2))])
def test_bounds_of_phi_save_work_and_change_nothing(phi, cells, divided):
    places, h = centres(cells, (1.0, 0.9, 0.8))
    values = [[], []]

    def counted(number):
        def counting(x, y, z):
            values[number].append(np.broadcast(x, y, z).size)
            return phi(x, y, z)

        return counting

    class Bounded:
        __call__ = staticmethod(counted(0))
        range_over = staticmethod(phi.range_over)

    np.testing.assert_array_equal(*(shares(one, places, h, divided) for one in (Bounded(), counted(1))))
    assert sum(values[0]) < sum(values[1])


@pytest.mark.parametrize(("cells", "divided"), [((8, 1, 8), (0, 2)), ((8, 8, 8), (0, 1, 2))])
def test_full_cells_with_a_face_on_a_bent_interface_are_cut(cells, divided):
    """Around a box with its sides on faces of cells, not around one with its sides in cells."""

    def box(half):
        def phi(x, y, z):
            away = [np.abs(at - 0.5) - half for axis, at in enumerate((x, y, z)) if axis in divided]
            return -np.maximum.reduce(np.broadcast_arrays(*away, 0 * y - 1)[:-1])

        return phi

    places, h = centres(cells)
    inner, whole = (tuple(slice(cut, n - cut) if n > 1 else slice(None) for n in cells[::-1]) for cut in (3, 2))
    found = shares(box(0.25), places, h, divided, bent=True)
    assert np.count_nonzero(found) == np.count_nonzero(found[whole])
    assert np.count_nonzero(found == 1) == np.count_nonzero(found[inner] == 1) == found[inner].size
    assert found[whole][..., 0].max() == 1 - 2e-6  # in the middle of a side
    np.testing.assert_array_equal(*(shares(box(0.3), places, h, divided, bent=bent) for bent in (True, False)))


def test_volumes_below_planes():
    random = np.random.default_rng(1)
    m, alpha = random.dirichlet((1, 1, 1), 40).T, random.uniform(-0.1, 1.1, 40)
    points = (np.indices((60,) * 3).reshape(3, -1) + 0.5) / 60
    counted = [(points.T @ one <= a).mean() for one, a in zip(m.T, alpha, strict=True)]
    np.testing.assert_allclose(plane_volume(m, alpha), counted, atol=0.01)
    np.testing.assert_allclose(plane_volume(np.array([[0.0], [0.0], [1.0]]), np.array([0.3])), [0.3], rtol=1e-15)
