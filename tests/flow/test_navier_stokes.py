"""The model as a whole: flows known exactly on the grid, what is conserved, symmetries, the time scheme."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import permutations

import numpy as np
import pytest

from taskflow.cases import Case
from tests.flows import VELOCITY, Lengths, compute, orders

PERIODIC = {"x": "periodic", "y": "periodic", "z": "periodic"}
PAIRS = list(permutations("xyz", 2))


def vector(**along: float) -> list[float]:
    """Three numbers, zero but for the named axes."""
    return [along.get(axis, 0.0) for axis in "xyz"]


def layer(across: str, low: dict | str, high: dict | str, **tables) -> Case:
    """8 cells between two boundaries; 2 and 1 wide periodic ones along them, to a steady state."""
    cells = [8 if axis == across else n for axis, n in zip("xyz", (2, 1, 2), strict=True)]
    boundaries = {axis: "periodic" for axis in "xyz" if axis != across}
    return Case(
        grid={"cells": cells, "lengths": [2.0 if axis == across else 4.0 for axis in "xyz"]},
        boundaries={**boundaries, f"{across}_min": low, f"{across}_max": high},
        **{"fluid": {"viscosity": 0.5}, "time": {"end": 60.0}, **tables},
        pressure={"iterations": 1},  # there is none
    )


def profile(flow, name: str, across: str) -> tuple[np.ndarray, np.ndarray]:
    """Places across a layer and the values there, which must not depend on anything else."""
    axis = "xyz".index(across)
    lines = np.moveaxis(flow[name], 2 - axis, -1)
    values = lines.reshape(-1, lines.shape[-1])
    np.testing.assert_allclose(values, values[[0]].repeat(len(values), axis=0), rtol=0, atol=1e-12)
    return flow.setup.grid.coordinates(flow.location(name), axis, 0, values.shape[1]), values[0]


# ------------------------------------------------------------------------------------- flows known exactly on the grid


def test_uniform_flow_stays_uniform():
    """To the bit, and without a pressure."""
    case = Case(
        grid={"cells": [6, 5, 4], "lengths": [1.0, 1.1, 0.7]}, fluid={"viscosity": 0.01}, boundaries=PERIODIC,
        initial={"velocity": [1.0, -0.5, 0.3]}, time={"steps": 20},
    )  # fmt: skip
    flow = compute(case)
    for name, speed in zip(VELOCITY, (1.0, -0.5, 0.3), strict=True):
        assert (flow[name] == speed).all()
    assert not flow["p"].any()


@pytest.mark.fast("x-z")
@pytest.mark.parametrize(("along", "across"), PAIRS)
def test_poiseuille(along, across):
    """u = f (z (H - z) + dz^2/4) / (2 viscosity): the parabola, raised by what walls between the points make of it."""
    flow = compute(layer(across, "wall", "wall", body={"force": vector(**{along: 0.3})}))
    name = "uvw"["xyz".index(along)]
    z, u = profile(flow, name, across)
    np.testing.assert_allclose(u, 0.3 * (z * (2.0 - z) + 0.25**2 / 4), rtol=0, atol=1e-12)
    assert all(not flow[other].any() for other in set(VELOCITY) - {name})


@pytest.mark.fast("z-y")
@pytest.mark.parametrize(("along", "across"), PAIRS)
def test_poiseuille_over_a_slip_boundary(along, across):
    """Half a channel."""
    force = vector(**{along: 0.3})
    case = layer(across, "wall", "slip", body={"force": force}, fluid={"viscosity": 2.0}, time={"end": 30.0})
    flow = compute(case)
    z, u = profile(flow, "uvw"["xyz".index(along)], across)
    np.testing.assert_allclose(u, 0.3 / 4 * (z * (4.0 - z) + 0.25**2 / 4), rtol=0, atol=1e-12)


@pytest.mark.fast("y-z")
@pytest.mark.parametrize(("along", "across"), PAIRS)
def test_couette(along, across):
    """Walls that move against each other: a straight profile."""
    low, high = ({"type": "wall", "velocity": vector(**{along: speed})} for speed in (-0.4, 1.0))
    flow = compute(layer(across, low, high))
    z, u = profile(flow, "uvw"["xyz".index(along)], across)
    np.testing.assert_allclose(u, -0.4 + 1.4 * z / 2.0, rtol=0, atol=1e-12)


def hot(temperature: float) -> dict:
    return {"type": "wall", "temperature": temperature}


@pytest.mark.fast("max-x")
@pytest.mark.parametrize("across", "xyz")
@pytest.mark.parametrize("side", ["min", "max"])
def test_conduction_with_a_heat_flux(across, side):
    """T grows by flux / diffusivity towards the wall that the heat comes from; as much leaves through the other one."""
    low, high = {"type": "wall", "heat_flux": 0.3}, hot(1.5)
    if side == "max":
        low, high = high, low
    flow = compute(layer(across, low, high, heat={"diffusivity": 0.4}, time={"end": 120.0}))
    z, T = profile(flow, "T", across)
    distance = 2.0 - z if side == "min" else z
    np.testing.assert_allclose(T, 1.5 + 0.3 / 0.4 * distance, rtol=0, atol=1e-11)
    other = f"flux_{across}_{'max' if side == 'min' else 'min'}"
    assert flow.scalars[other] == pytest.approx(-0.3 * flow.setup.grid.box.volume / 8, rel=1e-11)


@pytest.mark.fast("z")
@pytest.mark.parametrize("across", "xyz")
def test_conduction_with_a_source(across):
    """Between cold walls a parabola, from which the monitor finds what leaves: all the heat made."""
    case = layer(across, hot(0.0), hot(0.0), heat={"diffusivity": 0.4, "source": 0.2}, time={"end": 80.0})
    flow = compute(case)
    z, T = profile(flow, "T", across)
    np.testing.assert_allclose(T, 0.2 / 0.8 * (z * (2.0 - z) + 0.25**2 / 4), rtol=0, atol=1e-12)
    faces = flow.setup.grid.box.volume / 8
    for side in ("min", "max"):
        assert flow.scalars[f"flux_{across}_{side}"] == pytest.approx(-0.2 * 2.0 / 2 * faces, rel=1e-11)


@pytest.mark.fast("x")
@pytest.mark.parametrize("across", "xyz")
def test_conduction_has_nusselt_number_1(across):
    flow = compute(layer(across, hot(2.0), hot(0.5), heat={"diffusivity": 0.4}, time={"end": 60.0}))
    z, T = profile(flow, "T", across)
    np.testing.assert_allclose(T, 2.0 - 1.5 * z / 2.0, rtol=0, atol=1e-11)
    numbers = flow.setup.monitor.nusselt(flow.scalars)
    assert numbers == pytest.approx({f"{across}_min": 1.0, f"{across}_max": -1.0}, abs=1e-10)


def test_no_nusselt_number_without_two_temperatures():
    """Heat flows from a wall to the outside of the other one, and there is nothing to relate it to."""
    cooled = {"type": "wall", "heat_transfer": 0.5, "outside_temperature": 0.0}
    flow = compute(layer("z", hot(1.0), cooled, heat={"diffusivity": 0.4}, time={"end": 1.0}))
    assert flow.scalars["flux_z_min"] > 0
    assert flow.setup.monitor.nusselt(flow.scalars) == {}


# -------------------------------------------------------------------------------------------------- buoyancy at rest


def stratified(sweeps: int, expansion: float, steps: int, **initial) -> Case:
    """A closed box, hot above: T = z is at rest, and the pressure carries its weight."""
    return Case(
        grid={"cells": [6, 5, 8], "lengths": [1.0, 1.0, 1.0]},
        fluid={"viscosity": 0.05},
        heat={"diffusivity": 0.05, "expansion": expansion, "reference": 0.2},
        body={"gravity": [0.0, 0.0, -1.0]},
        boundaries={
            "x_min": "wall", "x_max": "slip", "y_min": "wall", "y_max": "wall", "z_min": hot(0.0), "z_max": hot(1.0),
        },
        initial={"temperature": "z", **initial},
        time={"steps": steps, "step": 0.02},
        pressure={"iterations": sweeps},
    )  # fmt: skip


@pytest.mark.slow
def test_a_stratified_fluid_at_rest_stays_at_rest():
    """With a pressure that is solved for; it carries the weight: dp/dz = expansion (T - reference)."""
    flow = compute(stratified(2000, 2.0, 20))
    for name in VELOCITY:
        assert np.abs(flow[name]).max() < 1e-12
    weight = np.diff(flow["p"], axis=0) * 8 - 2.0 * (np.arange(1, 8) / 8 - 0.2)[:, None, None]
    assert np.abs(weight).max() < 1e-10
    np.testing.assert_allclose(flow["T"], np.broadcast_to(flow.points("T")[2], flow["T"].shape), rtol=0, atol=1e-13)


def test_few_sweeps_move_a_stratified_fluid_at_first():
    """30 sweeps do not find the pressure in the first step; the fluid that moves meanwhile comes to rest again."""
    flow = compute(stratified(30, 2.0, 1500))
    speeds = [line["speed"] for line in flow.history]
    assert 1e-5 < max(speeds) < 1e-2
    assert speeds[-1] < 1e-12


@pytest.mark.parametrize("axis", "xyz")
@pytest.mark.fast("y")
def test_warm_fluid_rises(axis):
    """Against gravity, whichever way that points, accelerated by expansion (T - reference) gravity."""
    case = Case(
        grid={"cells": [4, 4, 4], "lengths": [1.0, 1.0, 1.0]}, fluid={"viscosity": 0.01}, boundaries=PERIODIC,
        heat={"diffusivity": 0.1, "expansion": 3.0, "reference": 0.25}, body={"gravity": vector(**{axis: -2.0})},
        initial={"temperature": 0.75}, time={"steps": 10, "step": 0.01},
    )  # fmt: skip
    flow = compute(case)
    for name, along in zip(VELOCITY, "xyz", strict=True):
        np.testing.assert_allclose(flow[name], 3.0 * 0.5 * 2.0 * 0.1 * (along == axis), rtol=1e-13, atol=0)


# -------------------------------------------------------------------------------------------------- what is conserved


def stirred(boundaries: dict, steps: int, **heat) -> Case:
    """A warm fluid in motion."""
    return Case(
        grid={"cells": [8, 6, 7], "lengths": [1.0, 0.8, 1.2]},
        fluid={"viscosity": 0.005},
        heat={"diffusivity": 0.004, "expansion": 1.0, **heat},
        body={"gravity": [0.0, 0.0, -1.0]},
        boundaries=boundaries,
        initial={"velocity": ["sin(6*x) * cos(5*z)", "cos(7*x)", "cos(4*y)"], "temperature": "1 + x * z"},
        time={"steps": steps, "step": 0.01},
    )


CLOSED = {f"{axis}_{end}": "wall" for axis in "xyz" for end in ("min", "max")}


@pytest.mark.parametrize("boundaries", [PERIODIC, CLOSED, {**CLOSED, "z_max": "slip", "x_min": "slip"}])
def test_heat_is_conserved(boundaries):
    """To rounding, though 30 sweeps leave a divergence; with a source it grows as it must."""
    flow, heated = (compute(stirred(boundaries, 100, source=source)) for source in (0.0, 0.7))
    x, _, z = flow.points("T")
    mean = (1 + x * z).mean()
    assert np.abs(flow["T"] - (1 + x * z)).max() > 0.1
    assert flow["T"].mean() == pytest.approx(mean, rel=1e-13)
    assert heated["T"].mean() == pytest.approx(mean + 0.7, rel=1e-13)


def test_heat_comes_through_the_walls():
    """As much as the boundary conditions say."""
    walls = {**CLOSED, "x_min": {"type": "wall", "heat_flux": 0.2}, "y_max": {"type": "wall", "heat_flux": -0.05}}
    flow = compute(stirred(walls, 100))
    x, _, z = flow.points("T")
    gained = 1.0 * (0.2 * 0.8 * 1.2 - 0.05 * 1.0 * 1.2) / (1.0 * 0.8 * 1.2)
    assert flow["T"].mean() == pytest.approx((1 + x * z).mean() + gained, rel=1e-12)


def test_momentum_is_conserved():
    """In a periodic box, but for what forces add; to rounding, for any number of sweeps."""
    case = Case(
        grid={"cells": [8, 6, 7], "lengths": [1.0, 0.8, 1.2]}, fluid={"viscosity": 0.005}, boundaries=PERIODIC,
        initial={"velocity": ["sin(6*x) * cos(5*z)", "cos(7*x)", "cos(4*y)"]}, body={"force": [0.1, -0.2, 0.3]},
        time={"steps": 100, "step": 0.01}, pressure={"iterations": 5},
    )  # fmt: skip
    flow = compute(case)
    for n, name in enumerate(VELOCITY):
        start = np.broadcast_to(case.initial.velocity[n](*flow.points(name)), flow[name].shape).mean()
        assert flow[name].mean() == pytest.approx(start + case.body.force[n], abs=1e-13)


def eddies(steps: int) -> Case:
    """The Taylor-Green vortex in three dimensions, without viscosity."""
    side = 2 * np.pi
    return Case(
        grid={"cells": [12, 12, 12], "lengths": [side, side, side]}, fluid={"viscosity": 0.0}, boundaries=PERIODIC,
        initial={"velocity": ["sin(x)*cos(y)*cos(z)", "-cos(x)*sin(y)*cos(z)", 0.0]},
        time={"end": 4.0, "step": 4.0 / steps}, pressure={"iterations": 200},
    )  # fmt: skip


def test_convection_makes_no_energy():
    """Without viscosity the energy changes by the error of the time scheme alone, which falls with the step."""
    errors = []
    for steps in (50, 100, 200):
        flow = compute(eddies(steps))
        assert flow.history[0]["energy"] == pytest.approx(0.125, rel=1e-12)
        assert np.abs(flow["w"]).max() > 0.1  # by then the vortex is three-dimensional
        errors.append(abs(flow.history[-1]["energy"] / 0.125 - 1))
    assert errors[0] < 2e-2
    assert min(orders(errors, [1, 2, 4])) > 2.0


def test_viscosity_takes_the_energy_that_it_must():
    """The first dissipation of the three-dimensional vortex is 0.75 viscosity, times what central differences make of
    second derivatives: 2 (1 - cos h) / h^2.
    """
    side, viscosity, dt = 2 * np.pi, 0.01, 1e-4
    case = Case(
        grid={"cells": [16, 12, 20], "lengths": [side, side, side]},
        fluid={"viscosity": viscosity},
        boundaries=PERIODIC,
        initial={"velocity": ["sin(x)*cos(y)*cos(z)", "-cos(x)*sin(y)*cos(z)", 0.0]},
        time={"steps": 1, "step": dt},
        pressure={"iterations": 400},
    )
    first, last = compute(case).history
    spacings = side / np.array([16, 12, 20])
    curvature = (2 * (1 - np.cos(spacings)) / spacings**2).mean()
    rate = (first["energy"] - last["energy"]) / dt
    assert rate == pytest.approx(0.75 * viscosity * curvature, rel=2e-3)  # and convection, of order dt


# -------------------------------------------------------------------------------------------------------- symmetries

Field = Callable[..., np.ndarray]


def general(axes: str, mirrored: str = "", steps: int = 12) -> Case:
    """A flow without symmetry in coordinates a, b, c, which are x, y, z in the order `axes`; some are `mirrored`."""
    lengths, cells = {"a": 1.0, "b": 0.7, "c": 1.3}, {"a": 7, "b": 5, "c": 6}
    sides = {
        "a_min": (None, "temperature", 1.0), "a_max": ({"b": 0.5, "c": -0.2}, "heat_flux", 0.3),
        "c_min": ({"a": 0.7}, "heat_flux", 0.0), "c_max": "slip",
    }  # fmt: skip
    gravity, force = {"a": 0.2, "b": 0.5, "c": -1.0}, {"a": 0.1, "b": -0.3, "c": 0.2}
    sign = {name: -1.0 if name in mirrored else 1.0 for name in "abc"}

    def own(*points: np.ndarray) -> list[np.ndarray]:
        result = dict(zip(axes, points, strict=True))
        return [lengths[name] - result[name] if name in mirrored else result[name] for name in "abc"]

    def component(name: str, *points: np.ndarray) -> np.ndarray:
        a, b, c = own(*points)
        b = 2 * np.pi * b / lengths["b"]  # periodic
        velocity = {"a": np.sin(6 * a) * np.cos(c), "b": 0.3 * np.cos(b + a), "c": a * c + 0.2 * np.sin(b)}
        return sign[name] * (velocity[name] + 0 * (a + b + c))

    def temperature(*points: np.ndarray) -> np.ndarray:
        a, b, c = own(*points)
        return a + np.sin(7 * c) * np.cos(2 * np.pi * b / lengths["b"])

    boundaries: dict = {"xyz"[axes.index("b")]: "periodic"}
    for face, side in sides.items():
        name, end = face.split("_")
        if name in mirrored:
            end = "max" if end == "min" else "min"
        if side != "slip":
            speed, kind, value = side
            velocity = [(speed or {}).get(name, 0.0) * sign[name] for name in axes]
            side = {"type": "wall", "velocity": velocity, kind: value}
        boundaries[f"{'xyz'[axes.index(name)]}_{end}"] = side
    return Case(
        grid={"cells": [cells[n] for n in axes], "lengths": [lengths[n] for n in axes]},
        fluid={"viscosity": 0.01},
        heat={"diffusivity": 0.02, "expansion": 1.0, "reference": 0.3},
        body={"gravity": [sign[n] * gravity[n] for n in axes], "force": [sign[n] * force[n] for n in axes]},
        boundaries=boundaries,
        initial={"velocity": [partial(component, n) for n in axes], "temperature": temperature},
        time={"steps": steps},
    )


def in_own_axes(axes: str, mirrored: str = "") -> dict[str, np.ndarray]:
    """The fields of `general` as [c, b, a] in coordinates of its own; velocities without those on boundaries, p without
    its mean.
    """
    flow, result = compute(general(axes, mirrored)), {}
    for role, name in {"a": "uvw"[axes.index("a")], "b": "uvw"[axes.index("b")], "c": "uvw"[axes.index("c")],
                       "p": "p", "T": "T"}.items():  # fmt: skip
        array = flow[name].transpose([2 - axes.index(n) for n in "cba"])
        if role in "abc":
            along = "cba".index(role)
            if role == "b":  # periodic: mirrored faces are counted from the other end
                array = np.roll(array, -1, axis=along) if role in mirrored else array
            else:
                array = array[tuple(slice(1, None) if n == along else slice(None) for n in range(3))]
        array = array[tuple(slice(None, None, -1 if n in mirrored else 1) for n in "cba")]
        result[role] = -array if role in mirrored else array - array.mean() if role == "p" else array
    return result


@pytest.fixture(scope="module")
def plain() -> dict[str, np.ndarray]:
    return in_own_axes("abc")


@pytest.mark.parametrize("axes", ["".join(axes) for axes in permutations("abc")][1:])
@pytest.mark.fast("acb", "bca")
def test_no_axis_is_special(axes, plain):
    """The flow turned so that its axes take other places is the turned flow."""
    for name, values in in_own_axes(axes).items():
        np.testing.assert_allclose(values, plain[name], rtol=0, atol=1e-11, err_msg=name)


@pytest.mark.parametrize("mirrored", ["a", "b", "c", "ac"])
@pytest.mark.fast("b", "ac")
def test_no_direction_is_special(mirrored, plain):
    """The flow in a mirror is the mirrored flow."""
    for name, values in in_own_axes("abc", mirrored).items():
        np.testing.assert_allclose(values, plain[name], rtol=0, atol=1e-11, err_msg=name)


# -------------------------------------------------------------------------------------------------------- in time


def decay(steps: int, pattern: tuple[int, ...]) -> tuple[float, float]:
    """Errors in time of a shear layer and a temperature that decay, u = T = sin(z), by steps of a pattern of lengths.

    Both stay what they are but for a factor exp(-rate t), with the rate that central differences have.
    """
    side, n = 2 * np.pi, 8
    case = Case(
        grid={"cells": [1, 2, n], "lengths": [1.0, 1.0, side]},
        fluid={"viscosity": 0.9},
        heat={"diffusivity": 0.7},
        boundaries=PERIODIC,
        initial={"velocity": ["sin(z)", 0.0, 0.0], "temperature": "sin(z)"},
        time={"end": 1.0},
        pressure={"iterations": 1},
    )
    relative = np.resize(pattern, steps).astype(float)
    flow = compute(case, clock=Lengths(tuple(relative / relative.sum())))
    curvature = 2 * (1 - np.cos(side / n)) / (side / n) ** 2
    shape = np.sin(flow.points("u")[2])
    return tuple(
        np.abs(flow[name] - shape * np.exp(-rate * curvature)).max() for name, rate in (("u", 0.9), ("T", 0.7))
    )


@pytest.mark.parametrize("pattern", [(1,), (1, 3), (3, 1, 1, 2)])
@pytest.mark.fast("pattern1")
def test_steps_of_any_length_are_of_order_2(pattern):
    """Steps that are three times as long as those before them, and a third."""
    errors = [decay(steps, pattern) for steps in (24, 48, 96, 192)]
    for error in zip(*errors, strict=True):
        assert orders(error, [24, 48, 96, 192])[1:] == pytest.approx([2.0, 2.0], abs=0.1)


@pytest.mark.fast("blocks0")
@pytest.mark.parametrize("blocks", [(1, 1, 1), (2, 1, 2)])
def test_nothing_is_read_before_it_is_written(blocks):
    """NaN everywhere before the start, also in ghost cells and in the last step's right-hand sides, changes no bit."""
    clean, dirty = (compute(general("abc"), blocks, garbage=garbage) for garbage in (None, np.nan))
    for name in clean.setup.model.fields:
        np.testing.assert_array_equal(dirty[name], clean[name], err_msg=name)


def test_the_initial_velocity_is_projected():
    """What a velocity has of a gradient is taken away at the start, the pressure left is 0, and walls are closed."""
    case = Case(
        grid={"cells": [8, 6, 7], "lengths": [1.0, 0.8, 1.2]}, fluid={"viscosity": 0.005},
        boundaries={**CLOSED, "z_max": "slip"}, time={"steps": 1, "step": 1e-9}, pressure={"iterations": 2000},
        initial={"velocity": ["2 * x", "cos(4*y) + z", "3 + x"]},
    )  # fmt: skip
    first = compute(case).history[0]
    assert first["divergence"] < 1e-11
    assert first["speed"] > 0.1
    start = compute(case, clock=Lengths(()))
    assert not start["p"].any()  # what projected is no pressure of the flow
    assert start.scalars["norm"] == start.scalars["residual"] == 0.0


def test_the_monitor_tells_of_the_state():
    """Divergence, energy, speed, change and residual are those of the fields at the end, in a box all around."""
    before, flow = (compute(general("abc", steps=steps)) for steps in (11, 12))
    line = flow.history[-1]
    change = max(np.abs(flow[q] - before[q]).max() for q in VELOCITY)
    assert flow.scalars["change"] == change
    lines = {name: flow.padded[name] for name in VELOCITY}
    lo = flow.setup.partition.region.bounds.lo
    inside = flow.setup.grid.box
    squares, divergence = 0.0, 0.0
    for name, axis in zip(VELOCITY, (2, 1, 0), strict=True):
        low = flow[name]
        if name == "v":  # periodic
            high = np.roll(low, -1, axis)
        else:
            high = lines[name][inside.shift(tuple(int(n == 2 - axis) for n in range(3))).slices(lo)]
        squares = squares + (low**2 + high**2) / 2
        divergence = divergence + (high - low) / flow.setup.grid.spacing[2 - axis]
    assert line["divergence"] == pytest.approx(np.abs(divergence).max(), rel=1e-12)
    assert line["energy"] == pytest.approx(squares.mean() / 2, rel=1e-12)
    assert line["speed"] == pytest.approx(np.sqrt(squares.max()), rel=1e-12)
    assert 0 < line["residual"] < line["norm"]
