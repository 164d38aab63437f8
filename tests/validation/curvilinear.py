"""Flows on charts of skewed cells by artificial compressibility, with exact solutions or numbers of others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from taskflow.flow.boundaries.collocated import Condition
from taskflow.flow.boundaries.condition import Side
from taskflow.flow.boundaries.inflow import Inflow
from taskflow.flow.boundaries.wall import Wall
from taskflow.flow.models.artificial_compressibility.dual_time import DualTime
from taskflow.flow.models.artificial_compressibility.equations import HeatTransport
from taskflow.flow.models.artificial_compressibility.forces import Force, Forces
from taskflow.flow.models.artificial_compressibility.implicit.gmres import Gmres
from taskflow.flow.models.artificial_compressibility.implicit.march import Ramp
from taskflow.flow.models.artificial_compressibility.implicit.model import ImplicitCompressibility
from taskflow.flow.models.artificial_compressibility.method import MethodOptions
from taskflow.flow.models.artificial_compressibility.model import ArtificialCompressibility
from taskflow.flow.operators.momentum import Buoyancy, Fluid
from taskflow.runtime.machine.device import Device
from taskflow.runtime.machine.shard import Shard
from tests.flow.charts import Chart, Marched, march, norm, run, velocities

REST = {"p": 0.0, "u": 0.0, "v": 0.0, "w": 0.0}


class Errors(NamedTuple):
    """Root mean squares over the volume, of the velocity and of the pressure less its mean."""

    velocity: float
    pressure: float


def walls(chart: Chart, **moving: Condition) -> tuple[Side, ...]:
    """A wall at each face."""
    return tuple(Side(face, Wall(), (chart.patch(face),), moving.get(face, Condition())) for face in chart.faces)


def model(
    chart: Chart, viscosity: float, sides: tuple[Side, ...], speed: float,
    kind: type[ArtificialCompressibility] = ArtificialCompressibility, **more: Any,
) -> ArtificialCompressibility:  # fmt: skip
    """The equations on a chart."""
    volume = float(chart.volumes.max())
    planar = chart.cells[2] == 1
    return kind(
        (chart.box,), Fluid(viscosity), sides, speed, planar=planar, largest_volume=volume, **more
    )


def skewed_cavity(
    n: int, degrees: float, Re: float, steady: float = 1e-6, *, every: int = 100,
    kind: type[ArtificialCompressibility] = ArtificialCompressibility, **method: Any,
) -> tuple[Chart, Marched]:  # fmt: skip
    """A cavity with sides of length 1 at an angle, n^2 cells; its lid moves along x."""
    angle = np.deg2rad(degrees)
    chart = Chart((n, n, 1), lambda x, y, z: (x + y * np.cos(angle), y * np.sin(angle), z), "z")
    sides = walls(chart, y_max=Condition((1.0, 0.0, 0.0)))
    flow = model(chart, 1 / Re, sides, 1.0, kind, method=MethodOptions(**method))
    return chart, march(flow, chart, REST, steps=400 * n * n, steady=steady, every=every)


def least_stream_function(chart: Chart, flow: Marched) -> float:
    """The minimum of psi, 0 on the walls, by a parabola around the least vertex; one cell is 1 thick."""
    inside = (slice(1, -1), slice(1, -1))
    areas = np.moveaxis(chart.metrics[0, :, :3], 1, 0)[:, *inside]
    u = np.stack([flow[name][0] for name in "uvw"])
    through = (areas[:, :, 1:] * (u[:, :, 1:] + u[:, :, :-1]) / 2).sum(0)
    psi = np.zeros((chart.cells[1] + 1, chart.cells[0] + 1))
    psi[1:, 1:-1] = np.cumsum(through, axis=0)
    return least(psi)


def least(psi: np.ndarray) -> float:
    """The minimum of values at vertices [j, i], by a parabola around the least one."""
    j, i = np.unravel_index(np.argmin(psi), psi.shape)
    y, x = (q.ravel() for q in np.mgrid[-1:2, -1:2])
    terms = np.stack([np.ones(9), x, y, x**2, y**2, x * y], 1)
    a = np.linalg.lstsq(terms, psi[j - 1 : j + 2, i - 1 : i + 2].ravel(), rcond=None)[0]
    step = -np.linalg.solve([[2 * a[3], a[5]], [a[5], 2 * a[4]]], a[1:3])
    return float(a[0] + a[1:3] @ step / 2)


def kovasznay(
    n: int, steady: float = 1e-6, *, every: int = 100, kind: type[ArtificialCompressibility] = ArtificialCompressibility
) -> Errors:
    """Behind a grid of bodies at Re = 40 (L. I. G. Kovasznay 1948), on a skewed and stretched box of n^2 cells, with
    the exact velocity on all sides.
    """
    k = -0.963740544195767

    def exact(x, y, z):
        decay = np.exp(k * x)
        return 1 - decay * np.cos(2 * np.pi * y), k / (2 * np.pi) * decay * np.sin(2 * np.pi * y), 0 * x

    def place(x, y, z):
        s = x + 0.1 * np.sin(2 * np.pi * x) / np.pi
        bump = np.sin(np.pi * s) * np.sin(np.pi * y)
        return -0.5 + 1.5 * s, -0.5 + 2 * y + 0.15 * bump, z

    chart = Chart((n, n, 1), place, "z")
    sides = tuple(Side(face, Inflow(), (chart.patch(face),), varying=True) for face in chart.faces)
    flow = march(
        model(chart, 1 / 40, sides, 1.0, kind), chart, {**REST, "u": 1.0}, steps=40 * n * n, steady=steady,
        every=every, constants=velocities(chart, exact),
    )  # fmt: skip
    x, y, z = chart.centres
    return errors(chart, flow, exact(x, y, z), (1 - np.exp(2 * k * x)) / 2)


def errors(chart: Chart, flow: Marched, velocity, pressure) -> Errors:
    """Of a flow against an exact one."""
    volumes = chart.volumes
    level = ((flow["p"] - pressure) * volumes).sum() / volumes.sum()
    apart = [flow[name] - q for name, q in zip("uvw", velocity, strict=True)]
    return Errors(norm(chart, *apart), norm(chart, flow["p"] - pressure - level))


def ring(n: int, m: int, inner: float, outer: float) -> Chart:
    """n cells along the radius, m around, 1 thick."""

    def place(x, y, z):
        r, angle = inner + (outer - inner) * x, 2 * np.pi * y
        return r * np.cos(angle), r * np.sin(angle), z

    return Chart((n, m, 1), place, "yz")


def taylor_couette(n: int, viscosity: float = 0.02, steady: float = 1e-7) -> tuple[float, dict[str, Force]]:
    """Between a cylinder of radius 0.25 that turns at 1 and one of radius 1 at rest, n x 2n cells: the error of the
    velocity, and what acts on both.
    """
    chart, B = ring(n, 2 * n, 0.25, 1.0), 1 / 15

    def turning(x, y, z):
        inner = np.hypot(x, y) < 0.6
        return np.where(inner, -y, 0.0), np.where(inner, x, 0.0), 0 * x

    sides = tuple(Side(face, Wall(), (chart.patch(face),), varying=True) for face in chart.faces)
    equations = model(chart, viscosity, sides, 0.25)
    forces = Forces(equations, sides, {}, vertices=True)
    constants = velocities(chart, turning) | chart.corners
    flow = march(equations, chart, REST, steps=60 * n * n, steady=steady, constants=constants, after=forces.measure)
    x, y, _ = chart.centres
    swirl = -B + B / (x**2 + y**2)
    error = norm(chart, flow["u"] + swirl * y, flow["v"] - swirl * x)
    return error, {side.name: forces.of(flow.scalars, side) for side in sides}


def dean(
    n: int, viscosity: float = 0.1, steady: float = 1e-7, *, every: int = 100,
    kind: type[ArtificialCompressibility] = ArtificialCompressibility,
) -> float:  # fmt: skip
    """Driven around by a force 1 / r between arcs of radius 1 and 2, n cells from one to the other and as many in each
    quarter: the volume flux over its exact value, 0.05469799072 / viscosity.
    """
    chart = ring(n, 4 * n, 1.0, 2.0)
    shape, inside = chart.around.shape[::-1], chart.box.slices(chart.around.lo)
    force = {name: np.zeros(shape) for name in ("f_x", "f_y", "f_z")}
    x, y, _ = chart.centres
    square = x**2 + y**2
    force["f_x"][inside], force["f_y"][inside] = -y / square, x / square
    equations = model(chart, viscosity, walls(chart), 0.08 / viscosity, kind, body_force=True)
    flow = march(equations, chart, REST, steps=60 * n * n, steady=steady, constants=force, every=every)
    swirl = (x * flow["v"] - y * flow["u"]) / np.sqrt(square)
    return float((swirl[0].mean(axis=0) / n).sum() * viscosity / 0.05469799072)


class EthierSteinman:
    """The flow of C. R. Ethier and D. A. Steinman (1994) on a distorted box of n^3 cells from -1/2 to 1/2."""

    a, d = np.pi / 4, np.pi / 2

    def __init__(self, n: int) -> None:
        def place(x, y, z):
            bump = 0.1 * np.sin(np.pi * x) * np.sin(np.pi * y) * np.sin(np.pi * z)
            return x - 0.5 + bump, y - 0.5 - bump, z - 0.5 + bump

        self.chart = Chart((n, n, n), place)
        patches = ((face, self.chart.patch(face)) for face in self.chart.faces)
        self.sides = tuple(Side(face, Inflow(), (patch,), varying=True) for face, patch in patches)

    @classmethod
    def velocity(cls, x, y, z):
        a, d = cls.a, cls.d

        def part(x, y, z):
            return -a * (np.exp(a * x) * np.sin(a * y + d * z) + np.exp(a * z) * np.cos(a * x + d * y))

        return part(x, y, z), part(y, z, x), part(z, x, y)

    @classmethod
    def pressure(cls, x, y, z):
        a, d = cls.a, cls.d

        def part(x, y, z):
            return np.exp(2 * a * x) + 2 * np.sin(a * x + d * y) * np.cos(a * z + d * x) * np.exp(a * (y + z))

        return -(a**2) / 2 * (part(x, y, z) + part(y, z, x) + part(z, x, y))


def ethier_steinman(n: int, viscosity: float = 0.1, steady: float = 1e-6) -> Errors:
    """Its steady form with a body force, and exact velocities on all sides."""
    flow = EthierSteinman(n)
    chart, centres = flow.chart, flow.chart.centres
    constants = velocities(chart, flow.velocity)
    for name, u in zip(("f_x", "f_y", "f_z"), flow.velocity(*centres), strict=True):
        constants[name] = np.zeros(chart.around.shape[::-1])
        constants[name][chart.box.slices(chart.around.lo)] = viscosity * flow.d**2 * u
    equations = model(chart, viscosity, flow.sides, 1.5, body_force=True)
    end = march(equations, chart, REST, steps=4000, steady=steady, constants=constants, every=50, threads=2)
    return errors(chart, end, flow.velocity(*centres), flow.pressure(*centres))


def ethier_steinman_decays(
    n: int, steps: int, end: float = 0.4, viscosity: float = 0.6, *, implicit: bool = False
) -> Marched:  # fmt: skip
    """The flow itself, which decays, with exact velocities on all sides at the end of each step of real time."""
    flow = EthierSteinman(n)
    chart, centres = flow.chart, flow.chart.centres

    def before(shard: Shard, step: int) -> None:
        fading = np.exp(-viscosity * flow.d**2 * (step + 1) * end / steps)
        owned = shard.partition.owned[shard.block] & chart.around
        sides = velocities(chart, lambda *x: tuple(fading * u for u in flow.velocity(*x)))
        shard.write({name: q[owned.slices(chart.around.lo)] for name, q in sides.items()}, owned)

    begun = dict(zip("uvw", flow.velocity(*centres), strict=True)) | {"p": flow.pressure(*centres)}
    about: dict[str, Any] = {"real": DualTime(1e-5, 3000, length=1.0), "method": MethodOptions(40.0, march="rk5")}
    if implicit:
        about |= {"kind": ImplicitCompressibility, "solver": Gmres(tolerance=0.01), "ramp": Ramp(1e6, 1e6)}
    equations = model(chart, viscosity, flow.sides, 1.5, **about)
    times = end * np.arange(1, steps + 1) / steps
    constants = velocities(chart, flow.velocity)
    return run(equations, chart, begun, times, before=before, constants=constants, threads=2)[-1]


class Nusselt(NamedTuple):
    """The mean Nusselt numbers of the hot and of the cold wall, the heat that enters there over what would be conducted
    through fluid at rest; the steps that were taken, and the mass that passes all sides, over what moves.
    """

    hot: float
    cold: float
    steps: int
    mass: float


def heated(
    cells: tuple[int, int, int], Ra: float, steady: float = 1e-6, *, every: int = 100,
    kind: type[ArtificialCompressibility] = ArtificialCompressibility, device: Device | None = None, **method: Any,
) -> Nusselt:  # fmt: skip
    """Air (Pr = 0.71) between a hot wall at x = 0 and a cold one at x = 1 in a box of uniform cells, insulated at y = 0
    and 1 and, with several cells there, at z = 0 and 1; gravity along -y. The unit of velocity is sqrt(g beta dT L).
    """
    spacing = 1 / cells[0], 1 / cells[1], 1 / cells[2]
    planar = cells[2] == 1
    chart = Chart(cells, lambda x, y, z: (x, y, z), "z" if planar else "")
    hot, cold = (Condition(warm=True, temperature=value) for value in (1.0, 0.0))
    viscosity, diffusivity = (0.71 / Ra) ** 0.5, (0.71 * Ra) ** -0.5
    sides = walls(chart, x_min=hot, x_max=cold)
    heat = HeatTransport(diffusivity, Buoyancy(1.0, 0.5, (0.0, -1.0, 0.0)))
    how = {"heat": heat, "method": MethodOptions(**method)}
    flow = kind((chart.box,), Fluid(viscosity), sides, 0.3, spacing=spacing, planar=planar, **how)
    forces = Forces(flow, sides, {})
    about = {"steps": 100000, "steady": steady, "every": every, "after": forces.measure, "threads": 2, "device": device}
    end = march(flow, chart, {**REST, "T": 0.5}, **about)
    through = [forces.of(end.scalars, side) for side in sides]
    mass = abs(sum(one.mass for one in through))
    return Nusselt(-through[0].heat / diffusivity, through[1].heat / diffusivity, end.steps, mass)
