"""Weights from one line of cells to another: what is held stays, what is free of divergence stays so, to order 2."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskflow.output.checkpoint.remapping import averaging, nodal

PERIODS = [None, 1.0]
CELLS = st.integers(1, 12)


def line(cells: int, seed: int) -> np.ndarray:
    """Faces of cells of several widths, from 0 to 1."""
    widths = np.random.default_rng(seed).uniform(0.3, 1.0, cells)
    faces = np.append(0.0, np.cumsum(widths) / widths.sum())
    faces[-1] = 1.0
    return faces


def centres(faces: np.ndarray) -> np.ndarray:
    return (faces[1:] + faces[:-1]) / 2


@given(CELLS, CELLS, st.integers(0, 99), st.sampled_from(PERIODS))
def test_averages_keep_what_all_cells_hold_and_constants(source, target, seed, period):
    faces, ends = line(source, seed), line(target, seed + 1)
    weights = averaging(faces, ends, period)
    np.testing.assert_allclose(np.diff(ends) @ weights, np.diff(faces), atol=1e-12)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-12)


@given(CELLS, st.integers(0, 99), st.sampled_from(PERIODS))
def test_the_same_cells_and_nodes_have_the_same_values_to_the_bit(cells, seed, period):
    faces = line(cells, seed)
    nodes = faces[:-1] if period else faces
    np.testing.assert_array_equal(averaging(faces, faces, period), np.eye(cells))
    np.testing.assert_array_equal(nodal(nodes, nodes, period), np.eye(nodes.size))


@given(CELLS, CELLS, st.integers(0, 99), st.sampled_from(PERIODS))
def test_a_velocity_stays_free_of_divergence(source, target, seed, period):
    """The velocity of a stream function on corners, at nodes along itself and by averages across."""
    faces, ends = line(source, seed), line(target, seed + 1)
    psi = np.random.default_rng(seed).normal(size=(faces.size, faces.size))
    if period:
        psi[-1], psi[:, -1] = psi[0], psi[:, 0]
    u, w = np.diff(psi, axis=0) / np.diff(faces)[:, None], -np.diff(psi, axis=1) / np.diff(faces)
    kept = slice(None, -1) if period else slice(None)
    across, along = averaging(faces, ends, period), nodal(faces[kept], ends, period)
    u, w = across @ u[:, kept] @ along.T, along @ w[kept] @ across.T
    out = np.diff(u, axis=1) * np.diff(ends)[:, None] + np.diff(w, axis=0) * np.diff(ends)
    assert abs(out).max() <= 1e-10 * max(1.0, abs(u).max(), abs(w).max())


@pytest.mark.parametrize("period", PERIODS)
def test_values_at_centres_are_of_second_order(period):
    errors = []
    for cells in (32, 64):
        faces, ends = np.linspace(0, 1, cells + 1), np.linspace(0, 1, 3 * cells // 2 + 1)
        values = averaging(faces, ends, period) @ np.sin(2 * np.pi * centres(faces))
        errors.append(abs(values - np.sin(2 * np.pi * centres(ends))).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
