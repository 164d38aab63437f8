"""What enters, leaves and stays adds up: mass, heat, scalars, variances."""

import warnings

import numpy as np
import pytest

from taskflow import BadInput
from tests.everyday.cases import PERIODIC, last

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

HEATING = {
    "uniform": {},
    "stretched": {"grid": {"cells": [6, 1, 20], "lengths": [1.0, 0.2, 1.0], "stretching": {"z": {"tanh": 2.0}}}},
    "implicit": {"time": {"end": 0.5, "step": 0.01, "implicit": ["z"]}},
    "single": {"machine": {"precision": "single"}},
    "rk3": {"time": {"end": 0.5, "scheme": "rk3"}},
    "blocks": {"machine": {"blocks": [1, 1, 3]}},
    "subgrid": {"turbulence": {"model": "vreman"}},
}


@pytest.mark.fast("implicit")
@pytest.mark.parametrize("what", HEATING)
def test_fluid_warms_by_what_passes_the_walls(compute, what):
    """So do scalars."""
    flux, diffusivity = 0.3, 0.02
    tables = {
        "grid": {"cells": [6, 1, 20], "lengths": [1.0, 0.2, 1.0]}, "fluid": {"viscosity": 0.01}, "time": {"end": 0.5},
        "heat": {"diffusivity": diffusivity, "expansion": 0.0},
        "scalars": [{"name": "dye", "diffusivity": diffusivity, "boundaries": {"z_max": {"flux": -0.2}}}],
        "boundaries": {
            "x": "periodic", "y": "periodic", "z_min": {"type": "wall", "heat_flux": flux}, "z_max": "wall",
        },
        **HEATING[what],
    }  # fmt: skip
    data, within = last(compute(**tables)), 2e-5 if what == "single" else 1e-9
    for name, expected in (("T", flux * 0.5), ("dye", -0.2 * 0.5)):
        mean = float((data[name].values * data["dz"].values[:, None, None]).sum() / data[name][0].size)
        assert mean == pytest.approx(expected, rel=within)


@pytest.mark.slow
def test_conduction_through_a_wall_and_a_film(compute):
    result = compute(
        grid={"cells": [4, 1, 16], "lengths": [1.0, 0.2, 1.0], "stretching": {"z": {"tanh": 1.5}}},
        fluid={"viscosity": 0.01}, heat={"diffusivity": 0.2, "expansion": 0.0},
        boundaries={
            "x": "periodic", "y": "periodic", "z_min": {"type": "wall", "temperature": 2.0},
            "z_max": {"type": "wall", "heat_transfer": 0.4, "outside_temperature": -1.0},
        },
        time={"end": 40.0, "scheme": "rk3", "diffusion": 0.35},
    )  # fmt: skip
    data = last(result)
    flux = (2.0 - -1.0) / (1 / 0.4 + 1.0 / 0.2)
    expected = 2.0 - flux / 0.2 * data.z_c.values
    assert float(np.abs(data["T"].values[:, 0, 0] - expected).max()) < 1e-6


OUTFLOWS = {
    "plain": "outflow", "zero": {"type": "outflow", "pressure": 0.0},
    "advected": {"type": "outflow", "pressure": "advected"},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [(1, 1, 1), (2, 1, 2)])
@pytest.mark.parametrize("axis", ["x", "z"])
@pytest.mark.parametrize("kind", OUTFLOWS)
def test_what_enters_leaves_at_each_step(compute, blocks, axis, kind):
    other = "z" if axis == "x" else "x"

    def put(a, b, c):
        along = {axis: a, other: b, "y": c}
        return [along[name] for name in "xyz"]

    every = {"every": {"steps": 1}}
    result = compute(
        grid={"cells": put(32, 17, 1), "lengths": put(3.0, 1.0, 0.1)}, fluid={"viscosity": 2e-3, "scheme": "quick"},
        boundaries={
            f"{axis}_max": {"type": "inflow", "velocity": put(f"-(1 + 0.5*sin(6*t)*cos(3*{other}))", 0, 0)},
            f"{axis}_min": OUTFLOWS[kind], f"{other}_min": "wall", f"{other}_max": "slip", "y": "periodic",
        },
        initial={"velocity": put(-1.0, 0, 0)}, time={"step": 0.02, "steps": 60}, monitor=every,
        obstacles=[{"name": "post", "type": "box", "low": put(1.6, 0.3, -1), "high": put(1.9, 0.6, 1)}],
        pressure={"tolerance": 1e-11}, machine={"blocks": blocks},
        surfaces=[{"name": name, axis: at, **every} for name, at in (("in", 3.0), ("mid", 1.0), ("out", 0.0))],
    )  # fmt: skip
    records = [result.dataset(name) for name in ("in", "mid", "out")]
    key = next(name for name in records[0].data_vars if "volume" in name or name in ("flow", "flux"))
    enters, passes, leaves = (record[key].values for record in records)
    assert max(np.abs(enters - leaves).max(), np.abs(enters - passes).max()) < 1e-8 * np.abs(enters).max()
    assert float(np.abs(last(result)["u" if axis == "x" else "w"].values).max()) < 4.0


PLACES = {
    "middle": {"point": [0.5, 0.1, 0.5]}, "on a face": {"point": [0.125, 0.1, 0.5]},
    "on the periodic end": {"point": [0.0, 0.1, 0.5]}, "at the other end": {"point": [1.0, 0.1, 0.5]},
    "on the floor": {"point": [0.4, 0.1, 0.0]}, "on the lid": {"point": [0.4, 0.1, 1.0]},
    "in the corner": {"point": [0.0, 0.0, 0.0]}, "a thin box": {"box": [[0.31, 0.0, 0.3], [0.312, 0.2, 0.7]]},
    "a box half outside": {"box": [[-0.25, 0.0, 0.3], [0.25, 0.2, 0.7]]},
    "a box of no thickness": {"box": [[0.31, 0.0, 0.3], [0.31, 0.2, 0.7]]},
    "a box below the floor": {"box": [[0.2, 0.0, -0.2], [0.4, 0.2, 0.2]]},
}  # fmt: skip


@pytest.mark.fast("in the corner-stretched")
@pytest.mark.parametrize("stretching", [
    pytest.param({}, id="uniform"), pytest.param({"stretching": {"z": {"tanh": 1.5}}}, id="stretched"),
])  # fmt: skip
@pytest.mark.parametrize("where", PLACES)
def test_a_source_releases_its_whole_rate_wherever_it_is(compute, stretching, where):
    """Or is refused in words that say why."""
    place = PLACES[where]
    tables = {
        "grid": {"cells": [8, 1, 10], "lengths": [1.0, 0.2, 1.0], **stretching}, "fluid": {"viscosity": 0.01},
        "boundaries": {"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "wall"},
        "scalars": [{"name": "dye", "diffusivity": 1e-3, "sources": [{**place, "rate": 2.0}]}],
        "heat": {"diffusivity": 1e-3, "expansion": 0.0, "sources": [{**place, "rate": -3.0}]},
        "time": {"step": 0.01, "steps": 20}, "machine": {"blocks": [2, 1, 2]},
    }  # fmt: skip
    try:
        data = last(compute(**tables))
    except BadInput as error:
        refused = str(error)
    else:
        refused = ""
    if refused:
        assert any(word in refused for word in ("outside", "inside", "domain", "box")), refused
        return
    volume = data["dz"].values[:, None, None] * np.ones(data["T"].shape) * (1 / 8) * 0.2
    assert float((data["dye"].values * volume).sum()) == pytest.approx(2.0 * 0.2, rel=1e-9)
    assert float((data["T"].values * volume).sum()) == pytest.approx(-3.0 * 0.2, rel=1e-9)


@pytest.mark.fast("9")
@pytest.mark.parametrize("cells", [8, 9, 13, 17])
def test_spectra_hold_all_of_the_variance(compute, cells):
    """For odd and prime numbers of cells, too."""
    result = compute(
        grid={"cells": [cells, cells + 4, cells], "lengths": [1.0, 1.7, 2.0]}, fluid={"viscosity": 1e-3},
        heat={"diffusivity": 1e-3, "expansion": 0.0}, boundaries=PERIODIC, time={"step": 1e-3, "steps": 2},
        initial={
            "velocity": ["sin(2*pi*x)*cos(pi*z) + 0.3", "0.2*sin(2*pi*x*3)", "0.1*cos(2*pi*y/1.7)"],
            "temperature": "3 + sin(2*pi*x) + 0.5*cos(2*pi*x*4 + 6*pi*y/1.7) + x*(1-x)*z*(2-z)",
        },
        spectra=[{"name": f"s{axis}", "along": axis, "every": {"steps": 1}} for axis in "xy"],
    )  # fmt: skip
    data = result.dataset().isel(time=-1)
    for axis, length in (("x", 1.0), ("y", 1.7)):
        spectrum = data.flow.spectrum("T", axis)
        k = spectrum[next(dim for dim in spectrum.dims if "k" in dim or "wave" in dim)]
        along = next(dim for dim in data["T"].dims if dim[0] == axis)
        variance = float(((data["T"] - data["T"].mean(along)) ** 2).mean())
        assert float(spectrum.where(k > 0, 0).sum() * 2 * np.pi / length) == pytest.approx(variance, rel=1e-9)


def variance(compute, mean, precision):
    """The variance of a small fluctuation of temperature on a mean."""
    result = compute(
        f"{precision} {mean:g}", grid={"cells": [16, 1, 16], "lengths": [1.0, 0.1, 1.0]}, fluid={"viscosity": 1e-2},
        heat={"diffusivity": 1e-2, "expansion": 0.0, "reference": mean}, time={"end": 1.0, "step": 0.01},
        initial={"temperature": f"{mean!r} + 0.01*sin(2*pi*(x + 0.3*z/1))", "velocity": [1.0, 0, 0]},
        boundaries={"x": "periodic", "y": "periodic", "z_min": "slip", "z_max": "slip"},
        statistics={"every": {"steps": 1}}, machine={"precision": precision},
    )  # fmt: skip
    statistics = result.statistics()
    statistics = statistics.isel(time=-1) if "time" in statistics.dims else statistics
    names = ("tt", "covtt", "vart", "ttvar")
    return next(statistics[name].values for name in statistics.data_vars if name.replace("_", "").lower() in names)


@pytest.mark.fast("single-300.0-0.05")
@pytest.mark.parametrize(("precision", "mean", "within"), [
    ("double", 300.0, 1e-6), ("double", 1e6, 1e-6), ("single", 300.0, 0.05),
])  # fmt: skip
def test_a_large_mean_does_not_spoil_a_variance(compute, precision, mean, within):
    plain, shifted = variance(compute, 0.0, precision), variance(compute, mean, precision)
    assert float(np.abs(shifted - plain).max()) < within * float(np.abs(plain).max())
    assert bool((shifted >= 0).all())


LOG, CONDUCTIVITY, HEIGHT = np.log(2.0), 0.1, 0.7
SIDES = {
    "temperatures": ({"temperature": 2.0}, {"temperature": -1.0}, 2 * np.pi * CONDUCTIVITY * 3.0 / LOG),
    "flux": ({"heat_flux": 0.3}, {"temperature": -1.0}, 2 * np.pi * 0.5 * 0.3),
    "film": (
        {"temperature": 2.0}, {"heat_transfer": 0.25, "outside_temperature": -1.0},
        3.0 / (LOG / (2 * np.pi * CONDUCTIVITY) + 1 / (2 * np.pi * 1.0 * 0.25)),
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("what", SIDES)
@pytest.mark.parametrize("march", ["implicit", "rk4"])
def test_conduction_between_cylinders_on_fitted_cells(compute, what, march):
    inner, outer, heat = SIDES[what]
    bodies = compute(
        method={"type": "artificial-compressibility", "march": march, "reference_speed": 1.0},
        grid={"shape": "annulus", "cells": [24, 48, 1], "radii": [0.5, 1.0], "height": HEIGHT},
        fluid={"viscosity": 0.1}, heat={"diffusivity": CONDUCTIVITY, "expansion": 0.0},
        boundaries={"inner": {"type": "wall", **inner}, "outer": {"type": "wall", **outer}, "ends": "symmetry"},
        time={"steady": 1e-8, "steps": 80 if march == "implicit" else 12000},
        output={"precision": "double", "every": {"steps": 100000}}, monitor={"every": {"steps": 100000}},
    ).log()[-1]["bodies"]  # fmt: skip
    assert bodies["outer"]["heat_flux"] == pytest.approx(heat, rel=0.01)
    assert bodies["inner"]["heat_flux"] == pytest.approx(-heat, rel=0.01)


@pytest.mark.fast("koren")
@pytest.mark.parametrize("scheme", ["default", "koren"])
def test_no_temperature_beyond_what_is_given_without_a_warning(compute, scheme):
    """Air of 20 past a warm body, an inflow of 18, cell Peclet number 20."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        result = compute(
            grid={"cells": [40, 1, 30], "lengths": [3.2, 0.08, 2.4]}, fluid={"viscosity": 2e-3},
            heat={"diffusivity": 2e-3, **({} if scheme == "default" else {"scheme": scheme})},
            initial={"temperature": 20.0, "velocity": [0.5, 0.0, 0.0]},
            boundaries={
                "x_min": {"type": "inflow", "velocity": [0.5, 0.0, 0.0], "temperature": 18.0}, "x_max": "outflow",
                "y": "periodic", "z_min": "wall", "z_max": "wall",
            },
            obstacles=[{
                "name": "body", "type": "box", "low": [1.0, 0.0, 0.0], "high": [1.3, 0.08, 1.4], "temperature": 33.0,
            }],
            time={"end": 4.0},
        )  # fmt: skip
    said = any("emperature" in str(one.message) or "Peclet" in str(one.message) for one in told)
    coldest = float(result.dataset()["T"].isel(time=-1).min())
    assert coldest > 17.99 or (scheme == "default" and said), f"coldest {coldest:.2f}"
