"""Cavities between a hot and a cold wall at Pr = 7, by projection and in Chebyshev polynomials."""

import json

import numpy as np
import pytest
import xarray as xr

from examples.papers.items import RESULTS
from examples.papers.jacobsen_senocak_2013.heated import FIELDS, RAYLEIGH, extrapolated, reference
from tests.reference.heated_cavity import steady_cavity

PAPER = "examples.papers.jacobsen_senocak_2013"
X = np.array([0.05, 0.1, 0.2, 0.3, 0.4])


@pytest.mark.slow
def test_the_reference_agrees_with_de_vahl_davis():
    """Ra = 1e5, Pr = 0.71: Nu = 4.522."""
    cavity = steady_cavity(1e5, 0.71, 20)
    assert cavity.hot == pytest.approx(4.522, rel=1e-3)
    assert cavity.cold == pytest.approx(cavity.hot, rel=1e-9)


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name != "140")) for name in RAYLEIGH])
def test_the_table_is_what_the_reference_gives(name):
    modes = 16 if name == "140" else 40
    cavity = steady_cavity(float(name), 7.0, modes)
    nusselt, x, temperature = reference(name)
    assert list(x) == list(X)
    assert cavity.hot == pytest.approx(nusselt, abs=1e-7)
    np.testing.assert_allclose(cavity.centreline(x), temperature, rtol=0, atol=1e-7)


def test_unknown_rayleigh_numbers_are_refused(start):
    result = start(PAPER, "heated", "--rayleigh", "1e6")
    assert result.exit_code == 2
    assert "--rayleigh 1e6: give one or more of 140, 1e5, 2e5" in result.stderr


@pytest.fixture
def heated(start, here):
    """Give the rows of the command for these cells."""

    def rows(cells, *words):
        result = start(PAPER, "heated", "--cells", cells, *words, "--device", "cpu", "-o", "heated.json")
        assert (result.exit_code, result.stderr) == (0, "")
        return json.loads((here / "heated.json").read_text())["results"]

    return rows


def state(n, field):
    """Give all fields on n cells along x and z, as a function of x, z and the side of a cell."""
    c, f, y = (np.arange(n) + 0.5) / n, np.arange(n + 1) / n, [0.0]
    places = {"x_c": c, "x_f": f, "z_c": c, "z_f": f, "y_c": y, "y_f": y}
    dims = {"u": ("z_c", "y_c", "x_f"), "v": ("z_c", "y_f", "x_c"), "w": ("z_f", "y_c", "x_c")}
    variables = {}
    for name in FIELDS:
        z, y, x = dims.get(name, ("z_c", "y_c", "x_c"))
        value = field(places[x], places[z][:, None, None], 1 / n)
        variables[name] = ((z, y, x), value.astype("f4"))
    return xr.Dataset(variables, places)


def test_a_grid_begins_with_the_errors_that_it_will_have():
    """Errors are 3 h^2 cos(x + z): on 128 cells they are known to 1 %, and are four times as large on 64."""

    def field(x, z, h):
        return np.sin(x) * np.cos(z) + 3 * h**2 * np.cos(x + z)

    start, expected = extrapolated(state(32, field), state(64, field)), state(128, field)
    for name in FIELDS:
        assert start[name].dims == expected[name].dims
        np.testing.assert_allclose(start[name], expected[name], rtol=0, atol=0.01 * 3 / 128**2)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_picture_and_the_same_flow_on_sixteen_cells_in_y(heated, here):
    (one,) = heated("16x1x16", "--rayleigh", "1e5", "--picture", "heated.svg")
    assert (here / "heated.svg").read_text().startswith("<?xml")
    (many,) = heated("16x16x16", "--rayleigh", "1e5")
    assert many["nusselt_hot"] == pytest.approx(one["nusselt_hot"], rel=1e-8)
    np.testing.assert_allclose(many["temperature"], one["temperature"], rtol=0, atol=1e-8)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(("name", "allowed"), [("140", 2e-4), ("1e5", 3e-3), ("2e5", 6e-3)])
def test_steady_states(heated, name, allowed):
    """On 128 cells Nusselt numbers are as specified, and they converge with the second order."""
    rows = [heated(f"{n}x1x{n}", "--rayleigh", name)[0] for n in (32, 64, 128)]
    for row in rows:
        assert row["ended"] == "steady"
        assert row["nusselt_hot"] == pytest.approx(row["nusselt_cold"], rel=1e-6)
    errors = [abs(row["nusselt_hot"] / row["nusselt_reference"] - 1) for row in rows]
    assert errors[-1] < allowed
    assert np.log2(errors[1] / errors[2]) == pytest.approx(2.0, abs=0.2)


def test_recorded_states_converge_with_the_second_order():
    """Ra = 1e5 on 64, 128 and 256 cells: hours on a core."""
    rows = [
        row
        for name in ("heated_cpu_1_64", "heated_cpu_2_1e5", "heated_cpu_4_1e5_256")
        for row in json.loads((RESULTS / f"{name}.json").read_text())["results"]
        if row["rayleigh"] == "1e5"
    ]
    assert [row["cells"][0] for row in rows] == [64, 128, 256]
    coarse, middle, fine = (abs(row["nusselt_hot"] / reference("1e5")[0] - 1) for row in rows)
    assert (middle < 3e-3, fine < 8e-4) == (True, True)
    assert np.log2([coarse / middle, middle / fine]) == pytest.approx(2.0, abs=0.2)
    for row in rows:
        assert row["nusselt_hot"] == pytest.approx(row["nusselt_cold"], rel=1e-6)
    np.testing.assert_allclose(rows[-1]["temperature"], reference("1e5")[2], rtol=0, atol=5e-4)
