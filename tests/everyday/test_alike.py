"""Flows that are the same are computed the same: in other planes, in a mirror, in a rotating frame."""

import numpy as np
import pytest

from tests.everyday.cases import PERIODIC, last

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
PLANES = ("xz", "xy", "yz", "zx", "yx", "zy")


def heated_box(compute, first, second, *, scheme="central", stretched=False, body=None, model=None, blocks=(1, 1, 1)):
    """A heated, driven box in the plane (first, second), thin along the third direction: its fields, a force."""
    third = next(axis for axis in "xyz" if axis not in (first, second))

    def put(a, b, c):
        along = {first: a, second: b, third: c}
        return [along[axis] for axis in "xyz"]

    rod = {"name": "rod", "type": "cylinder", "axis": third, "centre": put(0.55, 0.35, 0.0), "radius": 0.13}
    result = compute(
        first + second,
        grid={
            "cells": put(24, 18, 1), "lengths": put(1.2, 0.8, 0.07),
            **({"stretching": {second: {"tanh": 1.2}}} if stretched else {}),
        },
        fluid={"viscosity": 5e-3, "scheme": scheme}, heat={"diffusivity": 7e-3, "expansion": 1.0},
        scalars=[{"name": "dye", "diffusivity": 1e-3, "initial": f"1.0*({first} < 0.5)", "scheme": "koren"}],
        body={"gravity": put(0.0, -1.0, 0.0), "rotation": [0.0, 0.0, 0.0]},
        boundaries={
            f"{first}_min": {"type": "wall", "temperature": 0.5}, f"{first}_max": {"type": "wall", "temperature": -0.5},
            f"{second}_min": "wall", third: "periodic",
            f"{second}_max": {"type": "wall", "velocity": put(0.7, 0.0, 0.0), "heat_flux": 0.01},
        },
        obstacles=[rod] if body else [], **({"bodies": {"treatment": body}} if body == "immersed" else {}),
        **({"turbulence": {"model": model}} if model else {}), pressure={"solver": "multigrid", "tolerance": 1e-11},
        time={"step": 0.01, "steps": 40}, machine={"blocks": put(*blocks)},
    )  # fmt: skip
    data, velocity = last(result), dict(zip("xyz", "uvw", strict=True))
    fields = []
    for name in ("T", "dye", velocity[first], velocity[second]):
        values = data[name].isel({dim: 0 for dim in data[name].dims if dim[0] == third})
        order = sorted(values.dims, key=lambda dim: dim[0] == first)
        fields.append(values.transpose(*order).values)
    force = result.log()[-1]["bodies"]["rod"]["force"] if body else [0.0] * 3
    return fields, [force["xyz".index(axis)] for axis in (first, second)]


@pytest.mark.slow
@pytest.mark.parametrize("plane", PLANES[1:])
@pytest.mark.parametrize("changes", [
    pytest.param({}, id="plain"), pytest.param({"stretched": True}, id="stretched"),
    pytest.param({"body": "flagged"}, id="flagged"), pytest.param({"body": "immersed"}, id="immersed"),
    pytest.param({"model": "wale"}, id="wale"), pytest.param({"scheme": "quick", "blocks": (2, 1, 1)}, id="quick"),
])  # fmt: skip
def test_a_two_dimensional_flow_is_the_same_in_all_planes(compute, changes, plane):
    fields, force = heated_box(compute, *PLANES[0], **changes)
    others, other_force = heated_box(compute, *plane, **changes)
    for one, other in zip(fields, others, strict=True):
        assert float(np.abs(one - other).max()) < 1e-9
    assert other_force == pytest.approx(force, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("cells", [20, 21])
@pytest.mark.parametrize("what", ["plume", "flagged", "immersed", "two phases"])
@pytest.mark.parametrize("blocks", [(1, 1, 1), (2, 1, 2)])
def test_a_symmetric_flow_stays_symmetric(compute, cells, what, blocks):
    tables = {
        "grid": {"cells": [cells, 1, 24], "lengths": [1.0, 0.05, 1.2]}, "fluid": {"viscosity": 1e-3},
        "boundaries": {"x_min": "wall", "x_max": "wall", "y": "periodic", "z_min": "wall", "z_max": "wall"},
        "heat": {"diffusivity": 1e-3, "expansion": 1.0}, "body": {"gravity": [0, 0, -1]},
        "initial": {"temperature": "exp(-((x - 0.5)**2 + (z - 0.3)**2)/0.02)"},
        "scalars": [{"name": "dye", "diffusivity": 1e-4, "initial": "1.0*(abs(x - 0.5) < 0.2)"}],
        "time": {"step": 0.02, "steps": 100}, "machine": {"blocks": blocks},
        "pressure": {"solver": "multigrid", "tolerance": 1e-12},
    }  # fmt: skip
    if what in ("flagged", "immersed"):
        rod = {"name": "rod", "type": "cylinder", "axis": "y", "centre": [0.5, 0, 0.6], "radius": 0.17}
        tables |= {"obstacles": [rod], "bodies": {"treatment": what}}
    if what == "two phases":
        tables = {name: table for name, table in tables.items() if name not in ("fluid", "heat", "initial")}
        tables |= {
            "two_phase": {
                "density": [1.0, 1000.0], "viscosity": [1e-3, 1.0], "surface_tension": 1.0,
                "initial": "0.2 - sqrt((x - 0.5)**2 + (z - 0.4)**2)",
            },
            "time": {"step": 2e-3, "steps": 60},
        }  # fmt: skip
    data = last(compute(**tables))
    w, u = data.w.values[:, 0], data.u.values[:, 0]
    gap = max(float(np.abs(w - w[:, ::-1]).max()), float(np.abs(u + u[:, ::-1]).max()))
    assert gap < 1e-8 * float(np.abs(w).max())


@pytest.mark.fast("ab2-oblique")
@pytest.mark.parametrize(("rotation", "start"), [
    pytest.param([0.5, 0, 0], [0, 1.0, 0], id="x"), pytest.param([0, 0.5, 0], [0, 0, 1.0], id="y"),
    pytest.param([0, 0, 0.5], [1.0, 0, 0], id="z"), pytest.param([0.3, -0.2, 0.4], [1.0, 0.2, -0.5], id="oblique"),
])  # fmt: skip
@pytest.mark.parametrize(("scheme", "within"), [
    pytest.param("ab2", 2e-3, id="ab2"), pytest.param("rk3", 1e-5, id="rk3"),
])  # fmt: skip
def test_a_uniform_flow_in_a_rotating_frame_turns(compute, rotation, start, scheme, within):
    """About any axis, and stays uniform."""
    data = last(compute(
        grid={"cells": [6, 5, 7], "lengths": [1.0, 1.0, 1.0]}, fluid={"viscosity": 1e-3}, boundaries=PERIODIC,
        body={"rotation": rotation}, initial={"velocity": start}, time={"step": 0.02, "end": 6.0, "scheme": scheme},
    ))  # fmt: skip
    rate, v = np.linalg.norm(rotation), np.array(start, float)
    n, angle = np.array(rotation) / rate, -2 * rate * 6.0
    expected = v * np.cos(angle) + np.cross(n, v) * np.sin(angle) + n * (n @ v) * (1 - np.cos(angle))
    assert np.abs([float(data[name].values.mean()) for name in "uvw"] - expected).max() < within
    assert max(float(np.ptp(data[name].values)) for name in "uvw") < 1e-12
