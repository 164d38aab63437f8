"""Fields of other programs on the grid of a run: points between points, and sources that do not do."""

from itertools import combinations

import numpy as np
import pytest
import xarray as xr

from taskflow.common.errors import BadInput
from taskflow.output.checkpoint.remapping import RemappedField
from taskflow.output.checkpoint.saved import saved_state
from tests.output.conftest import layout_of

LAYOUT = layout_of(cells=(8, 6, 10), fields=("u", "p"))  # x from 0 to 2, y from -1 to 0.5, z from 0.5 to 1.5


def points(number, low, high):
    return np.linspace(low, high, number)


def source(function, x=None, y=None, z=None, names=("u", "p"), **about):
    """A dataset of points without cells, which cover the domain."""
    given = zip((x, y, z), ((9, 0, 2), (7, -1, 0.5), (11, 0.5, 1.5)), strict=True)
    x, y, z = (points(*usual) if places is None else places for places, usual in given)
    values = function(*np.meshgrid(x, y, z, indexing="ij")) + 0 * x[:, None, None]
    dims, coords = about.get("dims", ("x", "y", "z")), about.get("coords", {"x": x, "y": y, "z": z})
    return xr.Dataset(dict.fromkeys(names, (dims, values)), coords)


def remapped(dataset, name="p", layout=LAYOUT, piece=None):
    field = RemappedField(saved_state(dataset, None), name, layout)
    whole = tuple(slice(0, n) for n in layout.shape(name))
    return field.part(piece or whole)


@pytest.mark.parametrize("name", ["u", "p"])
def test_polynomials_of_third_degree_are_exact_at_every_point(name):
    """At faces for u and in centres for p, in any piece; dimensions of the source may have any order."""

    def function(x, y, z):
        return x**3 - 2 * x * y**2 + z**3 - 3

    x, y, z = (LAYOUT.coordinate(dim) for dim in reversed(LAYOUT.dims(name)))
    expected = function(x, y[:, None], z[:, None, None])
    values = remapped(source(function), name)
    np.testing.assert_allclose(values, expected, atol=1e-13)
    piece = slice(2, 5), slice(1, 4), slice(3, 8)
    np.testing.assert_array_equal(remapped(source(function), name, piece=piece), values[piece])


@pytest.mark.parametrize("number", [7, 29])  # fewer points than cells along x, and more
def test_a_value_does_not_depend_on_those_computed_with_it(number):
    """Each block remaps its own cells."""
    random, layout = np.random.default_rng(3), layout_of(cells=(18, 12, 9), fields=("p",))
    given = source(lambda x, y, z: random.standard_normal(np.shape(x)), x=points(number, 0, 2), names=("p",))
    whole = remapped(given, layout=layout)
    for first, last in combinations(range(0, 19, 2), 2):
        piece = slice(2, 7), slice(first // 2, 9), slice(first, last)
        np.testing.assert_array_equal(remapped(given, layout=layout, piece=piece), whole[piece])


def test_a_period_is_gone_round():
    """The last point of a source is one before the end of the period."""
    layout = layout_of(cells=(16, 6, 10), periodic=(True, False, False), fields=("p",))
    x = 2 * np.arange(40) / 40
    values = remapped(source(lambda x, y, z: np.sin(np.pi * x), x), "p", layout)
    places = layout.coordinate("x_c")
    np.testing.assert_allclose(values, np.broadcast_to(np.sin(np.pi * places), values.shape), atol=2e-5)
    with pytest.raises(BadInput, match=r"x of .* covers a period or more; omit the last point"):
        remapped(source(lambda x, y, z: np.sin(np.pi * x), points(41, 0, 2)), "p", layout)


def one(x, y, z):
    return np.ones_like(x)


@pytest.mark.parametrize(("dataset", "name", "message"), [
    (source(one, names=("u",)), "p", "the dataset has no p; it has u"),
    (source(one).isel(y=0, drop=True), "p", r"p of the dataset has the dimensions x, z; give three, named x\.\.\., y"),
    (source(one, dims=("x", "y", "level"), coords={}), "p", "has the dimensions x, y, level; give three, named x"),
    (source(one).drop_vars("y"), "p", "p of the dataset: y has no coordinate; give the places of its points"),
    (source(one).astype(str), "p", r"p of the dataset is of type .*; give numbers"),
    (source(one, x=points(9, 0, 1.5)), "p", "the dataset reaches from x = .* to .*, the domain from 0 to 2; give grid"),
    (source(one, z=points(11, 0.9, 1.5)), "p", "the dataset reaches from z = .* to 1.*, the domain from 0.5 to 1.5"),
    (source(one, y=np.array([-1.0, 0.2, 0.1, 0.5])), "p", r"y of the dataset: it has 4 places .* that increase"),
    (source(one, y=np.array([-1.0, np.nan, 0.1, 0.5])), "p", r"y of the dataset: it has 4 places .* finite numbers"),
    (source(lambda x, y, z: np.where(x > 1.9, np.nan, 1.0)), "p", "p of the dataset is not finite everywhere; give"),
])  # fmt: skip
def test_a_source_that_does_not_do(dataset, name, message):
    with pytest.raises(BadInput, match=message):
        remapped(dataset, name)


def test_what_is_not_finite_elsewhere_does_no_harm():
    """A piece looks at the points around it alone, as blocks do."""
    dataset = source(lambda x, y, z: np.where(x > 1.9, np.nan, 1.0))
    np.testing.assert_allclose(remapped(dataset, piece=(slice(0, 3), slice(0, 3), slice(0, 3))), 1.0, rtol=1e-14)
