"""Flows driven by what changes in time against their exact solutions: a wall that oscillates (G. G. Stokes 1851), a
force that does (J. R. Womersley 1955, between planes), a temperature that does. Orders in space, and of the scheme in
time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from taskflow.cases import Case
from tests.flows import compute

OMEGA = 2 * np.pi
CELLS = (16, 32, 64)


@dataclass(frozen=True)
class Oscillation:
    """A flow between planes at 0 and 1 along an axis, all of it along the next one, or a temperature: the `field` that
    oscillates, the amplitude of it at some places, and the tables of its case.
    """

    field: str
    spread: float
    amplitude: Callable[[np.ndarray], np.ndarray]
    tables: Callable[[str, str], dict]

    def exact(self, s: np.ndarray, time: float) -> np.ndarray:
        """The field at distances s from the first plane."""
        return (np.exp(1j * OMEGA * time) * self.amplitude(s)).real

    def case(self, n: int, step: float, scheme: str, axis: int = 2, end: float = 0.5) -> Case:
        """n cells across, two along the others, from the exact state at time 0."""
        across, along = "xyz"[axis], "xyz"[(axis + 1) % 3]
        cells = [2, 2, 2]
        cells[axis] = n
        start = lambda x, y, z: self.exact((x, y, z)[axis], 0.0) + 0.0 * (x + y + z)  # noqa: E731
        key = "temperature" if self.field == "T" else "velocity"
        velocity = [start if name == along else 0.0 for name in "xyz"]
        tables = {
            "grid": {"cells": cells, "lengths": [count / n for count in cells]},
            "fluid": {"viscosity": self.spread},
            "initial": {key: start if self.field == "T" else velocity},
            "time": {"end": end, "step": step, "scheme": scheme},
            "machine": {"device": "cpu", "threads": 1},
        }
        more = self.tables(across, along)
        periodic = {name: "periodic" for name in "xyz" if name != across}
        return Case(**tables, **{**more, "boundaries": {**periodic, **more["boundaries"]}})

    def values(self, n: int, step: float, scheme: str, axis: int = 2) -> tuple[np.ndarray, float]:
        """The field across the planes at the end, and the time of that."""
        flow = compute(self.case(n, step, scheme, axis))
        name = "T" if self.field == "T" else "uvw"[(axis + 1) % 3]
        return np.moveaxis(flow[name], 2 - axis, 0)[:, 0, 0], flow.tick.time

    def error(self, n: int, step: float, scheme: str, axis: int = 2) -> float:
        """The largest error at the end."""
        result, time = self.values(n, step, scheme, axis)
        return float(abs(result - self.exact((np.arange(n) + 0.5) / n, time)).max())


def unit(across: str, along: str, value: str | float) -> list:
    return [value if name == along else 0.0 for name in "xyz"]


NU = 0.1
K = np.sqrt(1j * OMEGA / NU)
WAVE = "cos(2*pi*t)"
STOKES = Oscillation("u", NU, lambda s: np.sinh(K * (1 - s)) / np.sinh(K), lambda across, along: {
    "boundaries": {f"{across}_min": {"type": "wall", "velocity": unit(across, along, WAVE)}, f"{across}_max": "wall"},
})  # fmt: skip
WOMERSLEY = Oscillation(
    "u", NU, lambda s: (1 - np.cosh(K * (s - 0.5)) / np.cosh(K / 2)) / (1j * OMEGA), lambda across, along: {
        "boundaries": {f"{across}_min": "wall", f"{across}_max": "wall"}, "body": {"force": unit(across, along, WAVE)},
    },
)  # fmt: skip
HEAT = Oscillation("T", NU, STOKES.amplitude, lambda across, along: {
    "heat": {"diffusivity": NU},
    "boundaries": {
        f"{across}_min": {"type": "wall", "temperature": WAVE}, f"{across}_max": {"type": "wall", "temperature": 0.0},
    },
})  # fmt: skip
FLUX = Oscillation("T", NU, lambda s: np.sinh(K * (1 - s)) / (NU * K * np.cosh(K)), lambda across, along: {
    "heat": {"diffusivity": NU},
    "boundaries": {
        f"{across}_min": {"type": "wall", "heat_flux": WAVE}, f"{across}_max": {"type": "wall", "temperature": 0.0},
    },
})  # fmt: skip
FLOWS = {"stokes": STOKES, "womersley": WOMERSLEY, "heat": HEAT, "flux": FLUX}


def orders(errors: list[float]) -> np.ndarray:
    return np.log2(np.array(errors[:-1]) / errors[1:])


@pytest.mark.parametrize("flow", ["stokes", pytest.param("heat", marks=pytest.mark.slow)])
def test_it_follows_its_wall(flow):
    """Within 1.2 % of the amplitude, with three cells in the layer in which it falls by e."""
    assert FLOWS[flow].error(16, 0.004, "ab2") < 0.012


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["ab2", "rk3"])
@pytest.mark.parametrize("flow", FLOWS)
def test_order_in_space(flow, scheme):
    errors = [FLOWS[flow].error(n, 0.5 / round(0.5 / (0.4 / n**2)), scheme) for n in CELLS]
    print(flow, scheme, errors, orders(errors))
    coarse, fine = abs(orders(errors) - 2)
    assert fine < 0.1, errors
    assert coarse < 0.25, errors  # with three cells in a layer


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "order"), [("ab2", 2), ("rk3", 3)])
@pytest.mark.parametrize("flow", FLOWS)
def test_order_in_time(flow, scheme, order):
    """On one grid, against steps that are 16 times as short as the last ones."""
    steps = [0.0125, 0.00625, 0.003125]
    best, _ = FLOWS[flow].values(8, steps[-1] / 16, scheme)
    errors = [float(abs(FLOWS[flow].values(8, step, scheme)[0] - best).max()) for step in steps]
    print(flow, scheme, errors, orders(errors))
    assert (abs(orders(errors) - order) < 0.3).all(), errors


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "order"), [("ab2", 2), ("rk3", 3)])
@pytest.mark.parametrize("axis", range(3))
def test_a_frame_that_turns_in_time(axis, scheme, order):
    """A uniform flow turns by -2 times the angle of the frame, 0.8 t + sin(3 t) / 3, about any axis."""
    errors = []
    for steps in (40, 80, 160):
        flow = compute(Case(
            grid={"cells": [2, 2, 2], "lengths": [1.0, 1.0, 1.0]}, fluid={"viscosity": 0.1},
            boundaries=dict.fromkeys("xyz", "periodic"), initial={"velocity": [1.0, 1.0, 1.0]},
            body={"rotation": ["0.8 + cos(3*t)" if a == axis else 0.0 for a in range(3)]},
            time={"end": 1.0, "step": 1 / steps, "scheme": scheme}, machine={"device": "cpu", "threads": 1},
        ))  # fmt: skip
        r, s = ("uvw"[(axis + n) % 3] for n in (1, 2))  # right-handed
        result = flow[r].mean() + 1j * flow[s].mean()
        errors.append(abs(result - (1 + 1j) * np.exp(-2j * (0.8 + np.sin(3) / 3))))
        np.testing.assert_allclose(flow["uvw"[axis]], 1.0, atol=1e-14)
    print(axis, scheme, errors, orders(errors))
    assert orders(errors)[-1] == pytest.approx(order, abs=0.15), errors


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["ab2", "rk3"])
@pytest.mark.parametrize("kept", ["koren", "central"])
def test_what_is_released_in_time(kept, scheme):
    """The integral of a scalar in a box is that of the rate over time, by Simpson's rule in each stage: to the fourth
    order.
    """
    errors = []
    for steps in (4, 8):
        source = {"point": [0.3, 0.4, 0.6], "rate": "exp(3*t)"}
        dye = {"name": "dye", "diffusivity": 0.1, "scheme": kept, "sources": [source]}
        flow = compute(Case(
            grid={"cells": [4, 5, 6], "lengths": [1.0, 1.0, 1.0]}, fluid={"viscosity": 0.1},
            boundaries=dict.fromkeys("xyz", "periodic"), scalars=[dye],
            time={"end": 1.0, "step": 1 / steps, "scheme": scheme}, machine={"device": "cpu", "threads": 1},
        ))  # fmt: skip
        errors.append(abs(flow["dye"].mean() - (np.exp(3) - 1) / 3))
    print(kept, scheme, errors, orders(errors))
    assert errors[-1] < 2e-4
    assert orders(errors)[-1] == pytest.approx(4, abs=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("flow", FLOWS)
def test_all_directions_are_alike(flow, axis):
    result, _ = FLOWS[flow].values(16, 0.004, "ab2", axis)
    expected, _ = FLOWS[flow].values(16, 0.004, "ab2")
    np.testing.assert_allclose(result, expected, atol=1e-12)


def waves(n: int, steps: int, scheme: str, axis: int, implicit: bool = False) -> float:
    """The largest error of what a wall at 0 makes that oscillates as cos(2 pi x) cos(2 pi t), the fluid at rest but for
    the velocity along the third direction: of that velocity and of a temperature alike. x is the next direction.
    """
    across, along, third = ("xyz"[(axis + a) % 3] for a in range(3))
    cells, end, k = [2, 2, 2], 0.5, 2 * np.pi
    cells[axis], cells[(axis + 1) % 3] = n, n
    q = np.sqrt(k**2 + 1j * OMEGA / NU)

    def exact(places, time):
        s, x = places[axis], places[(axis + 1) % 3]
        return (np.exp(1j * OMEGA * time) * np.sinh(q * (1 - s)) / np.sinh(q)).real * np.cos(k * x)

    start = lambda x, y, z: exact((x, y, z), 0.0) + 0.0 * (x + y + z)  # noqa: E731
    wave = f"cos(2*pi*{along})*cos(2*pi*t)"
    flow = compute(Case(
        grid={"cells": cells, "lengths": [2 / n if a == (axis + 2) % 3 else 1.0 for a in range(3)]},
        fluid={"viscosity": NU}, heat={"diffusivity": NU},
        boundaries={
            along: "periodic", third: "periodic", f"{across}_max": {"type": "wall", "temperature": 0.0},
            f"{across}_min": {"type": "wall", "velocity": unit("", third, wave), "temperature": wave},
        },
        initial={"velocity": [start if name == third else 0.0 for name in "xyz"], "temperature": start},
        time={"end": end, "step": end / steps, "scheme": scheme, "implicit": [across] if implicit else None},
        machine={"device": "cpu", "threads": 1},
    ))  # fmt: skip
    name = "uvw"["xyz".index(third)]
    np.testing.assert_allclose(flow[name], flow["T"], rtol=0, atol=1e-10)
    return float(abs(flow["T"] - exact(flow.points("T"), end)).max())


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "axis", "implicit"), [
    ("ab2", 0, False), ("ab2", 1, False), ("ab2", 2, False), ("rk3", 2, False), ("ab2", 2, True), ("rk3", 0, True),
])  # fmt: skip
def test_waves_on_a_wall(scheme, implicit, axis):
    errors = [waves(n, 3 * n * n // 4, scheme, axis, implicit) for n in (16, 32, 64)]
    print(scheme, implicit, axis, errors, orders(errors))
    assert orders(errors)[-1] == pytest.approx(2, abs=0.1), errors


def tide(n: int, steps: int, scheme: str, axis: int = 0, pressure: str = "auto", implicit: bool = False) -> tuple:
    """Womersley's flow between planes across the next direction, driven through open ends: by a pressure at the low
    one that is cos(2 pi t) times the distance of the ends, and 0 at the other. The velocity, and its largest error.
    """
    along, across, third = ("xyz"[(axis + a) % 3] for a in range(3))
    cells, length = [2, 2, 2], 1.5
    cells[axis], cells[(axis + 1) % 3] = 4, n
    start = lambda x, y, z: WOMERSLEY.exact((x, y, z)[(axis + 1) % 3], 0.0) + 0.0 * (x + y + z)  # noqa: E731
    flow = compute(Case(
        grid={"cells": cells, "lengths": [length if a == axis else 1.0 for a in range(3)]}, fluid={"viscosity": NU},
        boundaries={
            f"{along}_min": {"type": "outflow", "pressure": f"{length}*{WAVE}"}, third: "periodic",
            f"{along}_max": {"type": "outflow", "pressure": 0}, f"{across}_min": "wall", f"{across}_max": "wall",
        },
        initial={"velocity": [start if a == axis else 0.0 for a in range(3)]},
        time={"end": 0.5, "step": 0.5 / steps, "scheme": scheme, "implicit": [across] if implicit else None},
        pressure={"solver": pressure, **({} if pressure == "auto" else {"tolerance": 1e-11})},
        machine={"device": "cpu", "threads": 1},
    ))  # fmt: skip
    u = np.moveaxis(flow["uvw"[axis]], 2 - (axis + 1) % 3, 0).reshape(n, -1)
    np.testing.assert_allclose(u, u[:, :1] + np.zeros_like(u), rtol=0, atol=1e-9)
    return u[:, 0], float(abs(u[:, 0] - WOMERSLEY.exact((np.arange(n) + 0.5) / n, 0.5)).max())


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "order"), [("ab2", 2), ("rk3", 3)])
def test_a_tide(scheme, order):
    """Orders in time on one grid, and errors in space; with steps that are implicit across the planes, too."""
    best = tide(8, 2560, scheme)[0]
    errors = [float(abs(tide(8, steps, scheme)[0] - best).max()) for steps in (40, 80, 160)]
    exact = [tide(n, round(1.25 * n**2), scheme)[1] for n in (16, 32)]
    lines = [float(abs(tide(8, steps, scheme, implicit=True)[0] - best).max()) for steps in (40, 80, 160)]
    print(scheme, errors, orders(errors), exact, orders(exact), lines, orders(lines))
    assert (abs(orders(errors) - order) < 0.3).all(), errors
    assert orders(exact)[-1] > 1.7, exact
    assert (orders(lines) > 1.8).all(), lines


@pytest.mark.slow
@pytest.mark.parametrize(("axis", "pressure"), [(1, "auto"), (2, "auto"), (0, "multigrid"), (0, "jacobi")])
def test_a_tide_along_all_directions_by_all_solvers(axis, pressure):
    result, expected = tide(8, 40, "ab2", axis, pressure)[0], tide(8, 40, "ab2")[0]
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-9)
