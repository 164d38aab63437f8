"""Spectra of snapshots: they have the energy of the waves."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from tests.analysis.conftest import PERIODIC, stored


def test_spectra_have_the_energy_of_the_waves(tmp_path):
    """A wave where it belongs; the integral is the mean square of what varies, for odd and even numbers of cells."""
    for cells in (7, 8):
        numbers = np.random.default_rng(3).standard_normal((2, 3, cells))
        ds = stored(tmp_path / f"{cells}", PERIODIC, (cells, 3, 2), (2.0, 1.0, 1.0), u=lambda x, y, z, q=numbers: q,
                    v=lambda x, y, z: 3 * np.sin(2 * np.pi * x))  # fmt: skip
        result = ds.flow.spectrum("u", "x").isel(time=0)
        step = 2 * np.pi / 2.0
        assert float(result.sum() * step) == pytest.approx(numbers.var(axis=-1).mean(), rel=1e-12)
        wave = ds.flow.spectrum("v", "x").isel(time=0)
        np.testing.assert_allclose(wave * step, np.where(np.isclose(wave.k, 2 * np.pi), 4.5, 0.0), rtol=0, atol=1e-12)


def test_the_energy_spectrum_adds_up(tmp_path):
    numbers = np.random.default_rng(4).standard_normal((3, 4, 5, 6))
    fields = {name: lambda x, y, z, q=q: q - q.mean() for name, q in zip("uvw", numbers, strict=True)}
    result = stored(tmp_path, PERIODIC, (6, 5, 4), (1.0, 2.0, 1.0), **fields).isel(time=0).flow.energy_spectrum()
    assert result.k[0].item() == pytest.approx(np.pi)
    assert float(result.sum() * np.pi) == pytest.approx(0.5 * numbers.var(axis=(1, 2, 3)).sum(), rel=1e-12)


def test_a_wave_on_the_edge_of_two_shells_is_in_the_upper_one(tmp_path):
    """As in the spectra that runs record; 2.5 times the smallest wavenumber was in the lower one."""
    y_wave = {"u": lambda x, y, z: 2 * np.sin(np.pi * y), "v": lambda x, y, z: 0 * y, "w": lambda x, y, z: 0 * y}
    result = stored(tmp_path, PERIODIC, (8, 8, 8), (5.0, 2.0, 5.0), **y_wave).isel(time=0).flow.energy_spectrum()
    np.testing.assert_allclose(result * 2 * np.pi / 5.0, np.arange(1, len(result) + 1) == 3, rtol=0, atol=1e-12)


def test_along_one_cell_nothing_varies(tmp_path):
    flow = stored(tmp_path, PERIODIC, (8, 1, 8), (1.0, 1.0, 1.0), u=lambda x, y, z: x, w=lambda x, y, z: x).flow
    for asked in (lambda: flow.spectrum("u", "y"), lambda: flow.cospectrum("u", "w", "y")):
        with pytest.raises(BadInput, match="axis = 'y': there is one cell along it"):
            asked()
