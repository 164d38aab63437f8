"""A flow is the same in any units: micrometres, millimetres, metres, kilometres."""

import struct
import warnings
from pathlib import Path

import numpy as np
import pytest

from tests.everyday.cases import last

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def told_of_precision(compute, **tables):
    """A run of implicit marching, and what it says of numbers that are not finite, singular, or now double."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        result = compute(**tables)
    said = [str(warning.message) for warning in seen]
    return result, [text for text in said if any(word in text for word in ("finite", "singular", "double"))]


def bend(compute, side, speed):
    return told_of_precision(
        compute, method={"type": "artificial-compressibility", "march": "implicit"},
        grid={
            "shape": "duct-bend", "cells": [24, 8, 8], "side": side, "mean_radius": 2.3 * side, "upstream": 2.0 * side,
            "downstream": 2.0 * side,
        },
        fluid={"viscosity": speed * side / 100}, initial={"velocity": [0.0, 0.0, 0.0]},
        boundaries={
            "inlet": {"type": "inflow", "velocity": [speed, 0.0, 0.0], "profile": "parabolic"},
            "outlet": {"type": "outflow", "pressure": 0.0}, "inner": "wall", "outer": "wall", "ends": "wall",
        },
        time={"steady": 1e-6, "steps": 60}, output={"precision": "double", "every": {"steps": 1000}},
        monitor={"every": {"steps": 1}},
    )  # fmt: skip


@pytest.fixture(scope="module")
def bend_of_units():
    return {}


@pytest.mark.slow
@pytest.mark.parametrize(("side", "speed"), [
    pytest.param(1e-3, 0.1, id="1 mm water"), pytest.param(1e-4, 1.0, id="0.1 mm water"),
    pytest.param(1e-2, 1.0, id="1 cm air"), pytest.param(100.0, 10.0, id="100 m wind"),
    pytest.param(1e3, 1e5, id="micrometres"),
])  # fmt: skip
def test_a_duct_in_any_units_takes_the_iterations_of_one_in_units_of_1(compute, bend_of_units, side, speed):
    """In single precision, to the same force."""
    if not bend_of_units:
        bend_of_units.update(bend(compute, 1.0, 1.0)[0].log()[-1])
    result, told = bend(compute, side, speed)
    line = result.log()[-1]
    assert abs(line["step"] - bend_of_units["step"]) <= 1
    assert told == []
    force = line["bodies"]["outer"]["force"][0] / (speed * speed * side * side)
    assert force == pytest.approx(bend_of_units["bodies"]["outer"]["force"][0], rel=1e-4)


@pytest.mark.slow
def test_flow_past_a_cylinder_takes_as_many_iterations_in_any_units(compute):
    steps = []
    for size, speed in ((1.0, 1.0), (1e-2, 1.0), (1e-2, 0.1), (1e-3, 0.1), (1e-5, 1e-3), (1e3, 10.0)):
        result, told = told_of_precision(
            compute, fluid={"viscosity": speed * size / 20}, initial={"velocity": [speed, 0.0, 0.0]},
            grid={"shape": "o-grid", "cells": [32, 12, 1], "radius": 0.5 * size, "far": 10 * size, "height": size},
            method={"type": "artificial-compressibility", "march": "implicit"},
            boundaries={
                "body": "wall", "far": {"type": "far-field", "velocity": [speed, 0.0, 0.0]}, "ends": "symmetry",
            },
            time={"steady": 1e-6, "steps": 40}, output={"every": {"steps": 1000}}, monitor={"every": {"steps": 1}},
        )  # fmt: skip
        assert told == [], (size, speed)
        steps.append(result.log()[-1]["step"])
    assert steps == steps[:1] * len(steps)


def test_no_threshold_of_pivots_has_units(compute):
    """A cavity whose lid moves at 1e-6 runs as one whose lid moves at 1."""
    for speed in (1.0, 1e-6):
        compute(
            grid={"shape": "box", "cells": [16, 16, 1], "lengths": [1.0, 1.0, 1.0]}, fluid={"viscosity": speed / 100},
            method={"type": "artificial-compressibility", "march": "implicit"},
            boundaries={
                "x_min": "wall", "x_max": "wall", "y_min": "wall", "z_min": "symmetry", "z_max": "symmetry",
                "y_max": {"type": "wall", "velocity": [speed, 0.0, 0.0]},
            },
            time={"steady": 1e-6, "steps": 40}, output={"every": {"steps": 1000}}, monitor={"every": {"steps": 1}},
        )  # fmt: skip


@pytest.mark.slow
def test_a_drop_of_30_micrometres(compute):
    """Water in air, off the middle of cells: its pressure jump is sigma / R, it stays, and currents are small."""
    radius, tension, viscosity, cells = 30e-6, 0.072, 1e-3, 40
    side = 4 * radius
    result = compute(
        grid={"cells": [cells, 1, cells], "lengths": [side, side / cells, side]},
        boundaries={"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "wall"},
        two_phase={
            "density": [998.0, 1.2], "viscosity": [viscosity, 1.8e-5], "surface_tension": tension,
            "initial": f"{radius!r} - sqrt((x - {1.93 * radius!r})**2 + (z - {2.07 * radius!r})**2)",
        },
        time={"end": 2e-5}, phases=[{"name": "drop", "phase": 1, "every": {"steps": 10}}],
        output={"precision": "double", "fields": ["u", "v", "w", "p", "f", "phi"]},
    )  # fmt: skip
    data, drop = last(result), result.dataset("drop")
    f, p = data.f.values[:, 0], data.p.values[:, 0]
    assert float(p[f > 0.999].mean() - p[f < 0.001].mean()) == pytest.approx(tension / radius, rel=0.03)
    assert viscosity * max(float(np.abs(data[name].values).max()) for name in "uw") / tension < 2e-3
    for axis in "xz":
        centre = drop[f"centre_{axis}"].values
        assert abs(centre[-1] - centre[0]) / radius < 2e-3
    assert abs(float(drop.volume.values[-1] / drop.volume.values[0]) - 1) < 1e-9


def sphere(n=16):
    """Triangles of a sphere of radius 1, by latitude and longitude."""
    down, around = np.linspace(0, np.pi, n + 1), np.linspace(0, 2 * np.pi, 2 * n + 1)[:-1]

    def at(i, j):
        if i in (0, n):
            return np.array([0, 0, 1.0 if i == 0 else -1.0])
        a, b = down[i], around[j % (2 * n)]
        return np.array([np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)])

    triangles = []
    for i in range(n):
        for j in range(2 * n):
            p, q, r, s = at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)
            triangles += [(p, q, r)] * (i < n - 1) + [(p, r, s)] * (i > 0)
    return np.array(triangles)


def write(triangles, title=b"sphere"):
    """A binary STL file."""
    data = title.ljust(80, b" ") + struct.pack("<I", len(triangles))
    data += b"".join(bytes(12) + triangle.tobytes() + b"\0\0" for triangle in triangles.astype("<f4"))
    Path("body.stl").write_bytes(data)


def volume(command, size, more=""):
    """The volume of the body, by `check`."""
    Path("case.toml").write_text(f"""
[grid]
cells = [24, 24, 24]
lengths = {[4 * size] * 3}
origin = {[-2 * size] * 3}
[fluid]
viscosity = 1e-6
[boundaries]
x = "periodic"
y = "periodic"
z = "periodic"
[body]
force = [1, 0, 0]
[time]
steps = 1
[[obstacles]]
name = "body"
type = "surface"
file = "body.stl"
{more}
""")
    told = command("check", "case.toml")[1]
    line = next((line for line in told.splitlines() if line.strip().startswith("body:")), None)
    assert line is not None, told
    return float(line.split("volume")[1].split(",")[0])


@pytest.mark.fast("1.0-*", "*CAD*", "1e-08*")
@pytest.mark.parametrize(("radius", "written", "title", "more"), [
    *((size, size, b"sphere", "") for size in (1.0, 1e-3, 1e-6, 1e-7, 3e-8, 1e-8)),
    pytest.param(1e-2, 1e-2, b"solid written by a CAD program", "", id="a header of text, of a CAD program"),
    pytest.param(1e-8, 1e-2, b"sphere", "scale = 1e-6", id="by scale"),
])  # fmt: skip
def test_a_closed_surface_is_closed_in_any_units(here, command, radius, written, title, more):
    write(sphere() * written, title)
    assert volume(command, radius, more) == pytest.approx(4 / 3 * np.pi * radius**3, rel=0.05)
