"""Two phases: what must not depend on the plane, the side, or an interface between equal fluids."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.flow.operators.phases import Phases
from tests import flows
from tests.flow.phases import WALL, Phased, compute, two_phase

CELLS, LENGTHS = (12, 1, 16), (0.75, 1 / 16, 1.0)


def falling(
    axes: tuple[int, int, int] = (0, 1, 2), mirrored: tuple[float, float] = (1.0, 1.0), *, vof: bool = False
) -> Phased:
    """A droplet that falls beside a wall and a slip side, its x, y and z laid along `axes`, with x or z mirrored."""
    def laid(numbers):
        return tuple(numbers[axes.index(axis)] for axis in range(3))

    def drop(*points):
        x, _, z = (points[axis] for axis in axes)
        x, z = (a if sign > 0 else length - a for a, sign, length in zip((x, z), mirrored, (0.75, 1.0), strict=True))
        return 0.21 - np.hypot(1.2 * (x - 0.33), z - 0.55) + 0 * sum(points)

    down = laid((0.4 * mirrored[0], 0.0, -mirrored[1]))
    phases = Phases(50.0, 1.0, 0.1, 0.01, 1.0, down)
    wall, beside = "xyz"[axes[2]], "xyz"[axes[0]]
    sides = {wall: WALL, f"{beside}_{'min' if mirrored[0] > 0 else 'max'}": WALL}
    periodic = laid((False, True, False))
    model = two_phase(laid(CELLS), laid(LENGTHS), phases, periodic=periodic, sides=sides, cycles=12, vof=vof)
    return compute(model, drop, steps=30)


def in_plane(flow: Phased, axes: tuple[int, int, int], name: str) -> np.ndarray:
    """A field of the droplet as [z, y, x] of its own axes; `name` is that of its own component."""
    own = {"u": 0, "v": 1, "w": 2}
    values = flow.fields["uvw"[axes[own[name]]] if name in own else name]
    return values.transpose([2 - axis for axis in reversed(axes)])


@pytest.mark.slow
@pytest.mark.parametrize(("axes", "vof"), [
    ((0, 2, 1), False), ((1, 2, 0), False), ((1, 0, 2), False), ((2, 1, 0), False), ((0, 2, 1), True),
    ((1, 0, 2), True),
])  # fmt: skip
def test_a_flow_is_the_same_in_each_plane(axes, vof):
    """V21: to rounding; with a volume of fluid in the planes with the same order of sweeps."""
    flow, laid = falling(vof=vof), falling(axes, vof=vof)
    assert max(abs(flow.fields[name]).max() for name in "uw") > 0.05
    for name in {"f", "phi", "u", "v", "w"}.intersection(flow.fields):
        np.testing.assert_allclose(in_plane(laid, axes, name), flow.fields[name], rtol=0, atol=1e-12, err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("vof", [False, True])
@pytest.mark.parametrize("mirrored", [(-1.0, 1.0), (1.0, -1.0)])
def test_mirror_images(mirrored, vof):
    """V21: to 1e-10."""
    flow, image = falling(vof=vof), falling(mirrored=mirrored, vof=vof)
    for axis, name in ((0, "u"), (2, "w"), (0, "f"), *(((0, "phi"),) if not vof else ())):
        values = image.fields[name]
        for across, sign in zip((0, 2), mirrored, strict=True):
            if sign < 0:
                values = np.flip(values, 2 - across)
                if name == "uvw"[across]:  # the low face of a cell was its high one: that of the last cell is a wall
                    values = -np.roll(values, 1, 2 - across)
        inside = tuple(slice(1, None) if name in "uw" and n == 2 - axis else slice(None) for n in range(3))
        np.testing.assert_allclose(values[inside], flow.fields[name][inside], rtol=0, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("steps", [10, pytest.param(150, marks=pytest.mark.slow)])
def test_units_do_not_matter(steps):
    """Case 1 of Hysing et al. in boxes that are 1e-5 and 1000 wide, with a volume of fluid."""
    def bubble(size):
        phases = Phases(100.0, 1000.0, size, 10 * size, 24.5 * size, (0.0, 0.0, -0.98 / size))
        lengths, around = (size, size / 16, 2 * size), (False, True, False)
        model = two_phase((16, 1, 32), lengths, phases, periodic=around, sides={"z": WALL}, cycles=12, vof=True)
        return compute(model, lambda x, y, z: size / 4 - np.hypot(x - size / 2, z - size / 2) + 0 * y, steps=steps)

    one = bubble(1.0)
    for size in (1e-5, 1e3):
        other = bubble(size)
        for name in ("f", "u", "w"):
            np.testing.assert_allclose(other.fields[name], one.fields[name], rtol=0, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("length", [1.0, 1e-3])
def test_the_length_of_a_single_cell_does_not_matter(length):
    """In two dimensions nothing changes along it, however long or short it is beside the others."""
    def fields(length):
        model = two_phase(CELLS, (0.75, length, 1.0), Phases(50.0, 1.0, 0.0, 0.0, 1.0, (0.4, 0.0, -1.0)), cycles=8)
        return compute(model, lambda x, y, z: 0.21 - np.hypot(x - 0.33, z - 0.55) + 0 * y, steps=3).fields

    flat, other = fields(LENGTHS[1]), fields(length)
    assert abs(flat["u"]).max() > 1e-3
    for name in ("f", "phi", "u", "w"):
        np.testing.assert_allclose(other[name], flat[name], rtol=0, atol=1e-12, err_msg=name)


def vortices(n: int, **tables) -> flows.Flow:
    """Taylor-Green vortices at Re = 100, carried along by a stream, in a periodic box of n^2 cells."""
    speeds = ["0.3 + sin(2*pi*x) * cos(2*pi*z)", "0", "0.2 - cos(2*pi*x) * sin(2*pi*z)"]
    case = Case(
        grid={"cells": [n, 1, n], "lengths": [1.0, 1 / n, 1.0]}, boundaries=dict.fromkeys("xyz", "periodic"),
        initial={"velocity": speeds}, time={"steps": n, "step": 0.1 / n}, pressure={"tolerance": 1e-13}, **tables,
    )  # fmt: skip
    return flows.compute(case)


def alike(n: int, initial: str, method: str = "levelset", ratio: tuple[float, float] = (1.0, 1.0)) -> flows.Flow:
    """The vortices in two phases, of equal density and viscosity, or of so many times those for each phase."""
    phases = {"density": list(ratio), "viscosity": [0.01 * share for share in ratio]}
    return vortices(n, two_phase={**phases, "initial": initial, "method": method})


@pytest.mark.parametrize("method", [pytest.param("levelset", marks=pytest.mark.slow), "vof"])
def test_an_interface_between_equal_fluids_does_nothing(method):
    """Whatever is where: the velocity is the same, to 1e-12; nor does a fluid that is not there."""
    ring = alike(16, "0.3 - sqrt((x - 0.45)**2 + (z - 0.5)**2)", method)
    for initial, ratio in (("1", (1.0, 1.0)), ("-1", (1.0, 1.0)), ("1", (1.0, 1e-3)), ("-1", (1e3, 1.0))):
        whole = alike(16, initial, method, ratio)
        for name in "uw":
            np.testing.assert_allclose(ring[name], whole[name], rtol=0, atol=1e-12)


@pytest.mark.slow
def test_equal_fluids_flow_as_one():
    """The difference from the model of one fluid falls with order 2."""
    errors, cells = [], (16, 32, 64)
    for n in cells:
        one, two = vortices(n, fluid={"viscosity": 0.01}), alike(n, "0.3 - sqrt((x - 0.45)**2 + (z - 0.5)**2)")
        errors.append(np.sqrt(np.mean([(one[name] - two[name]) ** 2 for name in "uw"])))
    print(errors, flows.orders(errors, cells))
    assert min(flows.orders(errors, cells)) >= 1.8
