"""The Rayleigh number from which on a layer of fluid does not stay at rest, against linear theory."""

import pytest

from tests.flows import orders
from tests.validation.rayleigh_benard import CRITICAL, critical


@pytest.mark.slow
@pytest.mark.parametrize(("cells", "error", "order"), [
    ((8, 16), 0.02, 1.85), pytest.param((16, 32), 0.005, 2.0, marks=pytest.mark.slow)
])  # fmt: skip
def test_rest_becomes_unstable_where_it_should(cells, error, order):
    """7.1, 2.0 and 0.5 % too early on 8, 16 and 32 cells."""
    errors = [abs(critical(n) / CRITICAL - 1) for n in cells]
    assert errors[1] < error
    assert orders(errors, cells)[0] == pytest.approx(order, abs=0.05)
