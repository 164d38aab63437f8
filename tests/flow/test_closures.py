"""A closure of another package: its kernel function equals NumPy on boxes and on body-fitted grids."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow import Turbulence
from taskflow.flow.closures.eddy_viscosity import eddy_viscosity
from taskflow.flow.models.artificial_compressibility import eddies
from taskflow.runtime.tasks import Roles
from tests.flow.byhand import ByHand
from tests.flow.test_artificial_compressibility import geometry, hand
from tests.models.amd import MinimumDissipation
from tests.reference import charts_turbulence
from tests.reference import turbulence as by_numpy
from tests.reference.artificial_compressibility import Discretisation

VELOCITY = ("u", "v", "w")
WALLS = [(True, True, True), (False, True, False)]


@pytest.mark.parametrize("walls", WALLS)
@pytest.mark.parametrize("cells", [(7, 5, 6), (4, 1, 2)])
def test_on_a_box_it_is_what_numpy_has(walls, cells, real, device):
    made = ByHand(cells, walls, real, **device).fill((*VELOCITY, "nu_t"))
    g = by_numpy.gradient(made.shifted(*VELOCITY), made.staggered.spacing)
    expected = by_numpy.amd(g, made.staggered.spacing, 0.3)
    grid, turbulence = made.staggered.constants, Turbulence(MinimumDissipation())
    made.run(*eddy_viscosity(Roles(nu_t="nu_t"), VELOCITY, None, turbulence, {}, grid, 0.01))
    assert expected.max() > 0
    np.testing.assert_allclose(made.values("nu_t"), expected, rtol=0, atol=made.tolerance * expected.max())


@pytest.mark.parametrize("planar", [False, True])
def test_on_skewed_cells_it_is_what_numpy_has(planar, real, device):
    made, how = hand(real, device, uniform=False), Discretisation(0.03, 1.3, planar=planar)
    made.fill(["nu_t"], seed=13)
    factors = eddies.UnitFactorsInPlane() if planar else eddies.UnitFactors()
    closure = MinimumDissipation(0.2)
    made.run(eddies.eddies_on_charts(
        VELOCITY, "metrics", None, "nu_t", over=made.box, closure=closure, factors=factors
    ))  # fmt: skip
    u = np.stack([made.fields[name].astype("f8") for name in VELOCITY])
    g, d = charts_turbulence.gradient(u, *geometry(made), how), charts_turbulence.along(u, how)
    expected = by_numpy.minimum_dissipation(g, d, 0.2)
    assert expected.max() > 0
    np.testing.assert_allclose(made.values("nu_t"), expected, rtol=0, atol=made.tolerance * expected.max())
