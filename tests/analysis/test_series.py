"""Series in time: a log as a dataset, forces and coefficients, transients that are found, frequencies."""

import numpy as np
import pytest
import xarray as xr

from taskflow.analysis.series import forces, series, settled, spectrum, strouhal
from taskflow.common.errors import BadInput

LOG = [
    {"step": 0, "time": 0.0, "dt": 0.0, "bodies": {"pier": {"force": [1.0, 0.0, 3.0], "pressure_force": [0.5, 0.0, 1.0],
     "moment": [0.0, 2.0, 0.0]}}},
    {"step": 4, "time": 0.5, "dt": 0.1, "limit": "step", "nusselt": {"z_min": 2.0}, "bodies": {"pier": {
     "force": [2.0, 0.0, -1.0], "pressure_force": [1.5, 0.0, -1.0], "moment": [0.0, None, 0.0]}}},
]  # fmt: skip
SPAN = {"y": 0.1}


def test_a_log_is_a_dataset():
    ds = series(LOG)
    assert ds["step"].values.tolist() == [0, 4]
    assert ds["dt"].values.tolist() == [0.0, 0.1]
    assert ds["limit"].values.tolist() == ["", "step"]
    np.testing.assert_array_equal(ds["nusselt_z_min"], [np.nan, 2.0])
    np.testing.assert_array_equal(ds["pier_force"].sel(axis="z"), [3.0, -1.0])
    np.testing.assert_array_equal(ds["pier_moment"].sel(axis="y"), [2.0, np.nan])


def test_forces_have_parts_and_coefficients():
    ds = forces(LOG, "pier", {"velocity": 2.0, "length": 0.5}, SPAN)
    np.testing.assert_array_equal(ds["friction"].sel(axis="z"), [2.0, 0.0])
    dynamic = 0.5 * 4.0 * 0.5 * 0.1
    np.testing.assert_allclose(ds["drag"], np.array([1.0, 2.0]) / dynamic)
    np.testing.assert_allclose(ds["lift"], np.array([3.0, -1.0]) / dynamic)
    np.testing.assert_allclose(ds["pressure_lift"] + ds["friction_lift"], ds["lift"])
    np.testing.assert_allclose(ds["moment_coefficient"][0], 2.0 / (dynamic * 0.5))
    turned = forces(LOG, "pier", {"velocity": 1.0, "area": 2.0, "direction": [0.0, 0.0, 3.0]}, {})
    np.testing.assert_allclose(turned["drag"], [3.0, -1.0])
    assert "moment_coefficient" not in turned


@pytest.mark.parametrize(("reference", "span", "told"), [
    ({"length": 1.0}, SPAN, "velocity: missing"), ({"velocity": 1.0}, SPAN, "length: missing"),
    ({"velocity": 1.0, "length": 1.0}, {}, "area: missing; the flow has three dimensions"),
    ({"velocity": -1, "area": 1.0}, SPAN, "velocity = -1; give a number > 0"),
    ({"velocity": 1.0, "area": True}, SPAN, "area = True; give a number > 0"),
    ({"velocity": 1.0, "area": 1.0, "direction": [0, 0, 0]}, SPAN, r"direction = \[0, 0, 0\]; give a direction"),
    ({"velocity": 1.0, "area": 1.0, "direction": "x"}, SPAN, "direction = 'x'; give a direction"),
    ({"velocity": 1.0, "area": 1.0, "direction": [0, 1, 0]}, SPAN, "direction: it is along y, across the flow"),
    ({"velocity": 1.0, "chord": 1.0}, SPAN, "chord: unknown key; known here: velocity, length"),
])  # fmt: skip
def test_a_reference_that_is_wrong_is_told_with_its_key(reference, span, told):
    with pytest.raises(BadInput, match=f"reference: {told}"):
        forces(LOG, "pier", reference, span)


def wake(amplitude=1.0, begins=30.0, frequency=0.2):
    """A lift that oscillates after a while, around a mean."""
    t = np.arange(0.0, 100.0, 0.05)
    grown = amplitude / (1 + np.exp(-(t - begins) / 3))
    return xr.DataArray(0.3 + grown * np.sin(2 * np.pi * frequency * t), {"time": t}, name="lift")


def test_what_is_settled_is_without_the_transient():
    found = settled(wake())
    assert 38 < found["begins"] <= 50
    assert float(found["mean"]) == pytest.approx(0.3, abs=1e-3)
    assert float(found["rms"]) == pytest.approx(0.5**0.5, rel=1e-3)
    assert float(settled(wake(0.0))["begins"]) == 0.0


def test_the_uncertainty_of_a_mean_covers_it():
    """Of noise that forgets itself after 5 values, in 95 % of the cases by two standard errors."""
    random, inside = np.random.default_rng(1), 0
    for _ in range(100):
        noise = np.convolve(random.normal(size=2004), np.ones(5) / 5, "valid")
        found = settled(xr.DataArray(noise, {"time": np.arange(2000.0)}, name="p"))
        inside += abs(float(found["mean"])) < 2 * float(found["uncertainty"])
    assert inside >= 88


def test_a_strouhal_number_and_a_spectrum_have_the_frequency():
    found = strouhal(wake(), length=0.5, velocity=2.0)
    assert float(found["strouhal"]) == pytest.approx(0.05, abs=2 * float(found["uncertainty"]))
    assert 0 < found["uncertainty"] < 1e-3
    power = spectrum(wake())
    assert float(power["frequency"][int(power.argmax("frequency"))]) == pytest.approx(0.2, abs=0.01)
    assert float(power.integrate("frequency")) == pytest.approx(0.5, rel=1e-3)


@pytest.mark.parametrize(("ask", "told"), [
    (lambda: series([]), "the log has no line yet"),
    (lambda: forces(LOG, "wing", None, {}), r"forces\('wing'\): no such body in the log; choose one of pier"),
    (lambda: forces(LOG[:0], "wing", None, {}), "give .* a name in the case"),
    (lambda: settled(series(LOG)["dt"]), "dt: the series has 2 values; 8 are the least"),
    (lambda: settled(series(LOG)["pier_force"]), r"pier_force has values along axis; .* \.sel\(axis=...\)"),
    (lambda: strouhal(wake(0.0)), "lift crosses its mean 0 times; give a longer series"),
    (lambda: strouhal(wake(), length=-1.0), "length = -1.0, velocity = 1.0; give numbers > 0"),
    (lambda: series(LOG).flow.spectrum("u", "time"), "there is no u in this dataset; it has dt"),
])  # fmt: skip
def test_series_that_say_nothing(ask, told):
    with pytest.raises(BadInput, match=told):
        ask()
