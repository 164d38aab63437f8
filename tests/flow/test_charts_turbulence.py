"""Eddies on charts: viscosities, the whole stress and eddy diffusion equal NumPy, and what the papers say of linear and
smooth flows holds on skewed cells.
"""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from taskflow.common.hexahedra import centres
from taskflow.flow import Smagorinsky, StaggeredGrid, Turbulence, Vreman, Wale
from taskflow.flow.boundaries.collocated import Condition
from taskflow.flow.boundaries.condition import Side
from taskflow.flow.boundaries.slip import Slip
from taskflow.flow.boundaries.wall import Wall
from taskflow.flow.grid.curvilinear import metrics
from taskflow.flow.models.artificial_compressibility import eddies, measures
from taskflow.flow.models.artificial_compressibility.dual_time import DualTime
from taskflow.flow.models.artificial_compressibility.equations import Numbers, TurbulentNumbers
from taskflow.flow.models.artificial_compressibility.forces import Forces
from taskflow.flow.models.artificial_compressibility.implicit.derivative import derivative
from taskflow.flow.models.artificial_compressibility.implicit.gmres import Gmres
from taskflow.flow.models.artificial_compressibility.implicit.march import Ramp
from taskflow.flow.models.artificial_compressibility.implicit.matrix import COUPLING, HALF, PIVOT, matrix, place
from taskflow.flow.models.artificial_compressibility.implicit.model import ImplicitCompressibility
from taskflow.flow.models.artificial_compressibility.implicit.scalar import CARRY, scalar_matrix, value_left
from taskflow.flow.models.artificial_compressibility.method import MethodOptions
from taskflow.flow.models.artificial_compressibility.model import ArtificialCompressibility
from taskflow.flow.models.artificial_compressibility.residuals import residuals
from taskflow.flow.models.artificial_compressibility.stage import residual, stage
from taskflow.flow.operators.momentum import Fluid
from taskflow.runtime.regions import Box
from tests.flow.byhand import ByHand, coupled
from tests.flow.charts import LAYERS, Chart, distorted, lattice, march, norm, run
from tests.flow.test_artificial_compressibility import BEGUN, HEAT, NEW, STATE, geometry, hand, numbers, paced, variants
from tests.flow.test_implicit_derivative import DIRECTION, EPS, OUT
from tests.reference import artificial_compressibility as reference
from tests.reference import charts_turbulence as by_numpy
from tests.reference import turbulence as on_boxes
from tests.reference.artificial_compressibility import Discretisation
from tests.reference.implicit_compressibility import first_order, scalar_first_order
from tests.reference.shifted import Shifted
from tests.runtime.machine.devices import one_gpu

VELOCITY, PRANDTL = ("u", "v", "w"), 0.4  # for which one over it is more than 2
MODELS = {"smagorinsky": Smagorinsky(0.3), "wale": Wale(0.6), "vreman": Vreman(0.1)}
CELLS = (7, 5, 6)
SHEAR = np.array([[1.0, 0.4, -0.2], [0.1, 0.8, 0.3], [0.2, -0.1, 1.3]])


def turbulent(inputs: Numbers) -> TurbulentNumbers:
    """The same numbers with eddies; friction is twice as fast across faces then."""
    values = {one.name: getattr(inputs, one.name) for one in fields(Numbers) if one.init}
    return TurbulentNumbers(**{**values, "spread": 0.06}, share=1 / PRANDTL)


def eddying(real, device, *, uniform=False, cells=CELLS) -> ByHand:
    """Random fields on a distorted box, with eddies."""
    made = hand(real, device, uniform=uniform, cells=cells)
    made.fields["nu_t"] = 0.1 * np.abs(made.fill(["nu_t"], seed=13).fields["nu_t"])
    return made


def with_eddies(made: ByHand, name: str, *, planar=False) -> None:
    """nu_t by a kernel."""
    closure, factors = MODELS[name], eddies.UnitFactorsInPlane() if planar else eddies.UnitFactors()
    made.fields["filter_square"] = (np.cbrt(geometry(made)[1]) ** 2).astype(made.real)
    width = "filter_square" if closure.filtered else None
    how = {"closure": closure, "factors": factors}
    made.run(eddies.eddies_on_charts(VELOCITY, "metrics", width, "nu_t", over=made.box, **how))


def modelled(name: str, g, d, volumes):
    """nu_t by NumPy from gradients, changes along lines, and volumes."""
    constant = MODELS[name].constant
    return by_numpy.vreman(g, d, constant) if name == "vreman" else getattr(by_numpy, name)(g, volumes, constant)


@pytest.mark.parametrize(("real", "planar"), variants({("f8", False)}, ("f4", "f8"), (False, True)))
@pytest.mark.parametrize("name", MODELS)
def test_eddy_viscosity_on_skewed_cells(name, real, planar, device):
    made, how = eddying(real, device), Discretisation(0.03, 1.3, planar=planar)
    with_eddies(made, name, planar=planar)
    areas, volumes = geometry(made)
    u = np.stack([made.fields[n].astype("f8") for n in VELOCITY])
    g = by_numpy.gradient(u, areas, volumes, how)
    made.assert_agrees("nu_t", modelled(name, g, by_numpy.along(u, how), reference.at(volumes)))


def filled(made: ByHand, velocity, vertices) -> None:
    """A velocity of the centres of cells, in all layers."""
    values = velocity(*centres(np.stack(vertices)))
    made.fields |= {n: np.ascontiguousarray(q) for n, q in zip(VELOCITY, values, strict=True)}
    made.fields["metrics"] = metrics(vertices)


@pytest.mark.parametrize("name", MODELS)
def test_linear_flows_have_their_very_gradient_on_any_parallelepipeds(name, device):
    """The invariants are those of the gradient itself, however cells are skewed."""
    made, h = eddying("f8", device), [1 / n for n in CELLS]
    x = np.einsum("ij,j...->i...", SHEAR, np.stack(lattice(CELLS, LAYERS)))
    g = np.random.default_rng(1).uniform(-1, 1, (3, 3))
    filled(made, lambda x, y, z: np.einsum("ij,j...->i...", g, np.stack([x, y, z])), tuple(x))
    with_eddies(made, name)
    shape = (3, 3, *made.box.shape[::-1])
    whole, d = (np.broadcast_to(m[..., None, None, None], shape) for m in (g, g @ SHEAR * h))
    expected = modelled(name, whole, d, np.linalg.det(SHEAR) * np.prod(h))
    np.testing.assert_allclose(made.values("nu_t"), expected, rtol=1e-11)


@pytest.mark.parametrize("name", MODELS)
def test_uniform_flows_and_rigid_rotation_have_none(name, device):
    """To the bit, and of WALE and Vreman of pure shear, to rounding."""
    made = eddying("f8", device)
    for field, value in zip(VELOCITY, (1.0, 0.3, -0.2), strict=True):
        made.fields[field] = np.full_like(made.fields[field], value)
    with_eddies(made, name)
    assert not made.values("nu_t").any()
    if name != "smagorinsky":
        filled(made, lambda x, y, z: (0 * x, x + 0.5 * z, 0 * x), tuple(np.stack(lattice(CELLS, LAYERS))))
        with_eddies(made, name)
        assert np.abs(made.values("nu_t")).max() < 1e-10


def waves(x, y, z):
    """Periodic, with divergence, vorticity and strain."""
    a, b, c = 2 * np.pi * x, 2 * np.pi * y, 2 * np.pi * z
    return np.sin(a) * np.cos(b) + np.cos(c), np.sin(b + c) * np.cos(a) + 0.3, np.cos(b) * np.sin(c + a)


@pytest.mark.parametrize("name", MODELS)
def test_equal_cells_give_what_the_projection_gives(name, device):
    """Of the same flow, to second order: there velocities live on faces."""
    errors = []
    for n in (12, 24):
        made = eddying("f8", device, cells=(n,) * 3)
        filled(made, waves, lattice((n,) * 3, LAYERS))
        with_eddies(made, name)
        grid = StaggeredGrid((n,) * 3, (1.0,) * 3, periodic=(True,) * 3)
        box = Box.of(grid.cells)
        places = [grid.points(f"f{axis}", box.grow(1)) for axis in "xyz"]
        faces = [np.ascontiguousarray(waves(*at)[a]) for a, at in enumerate(places)]
        shifted = [Shifted(q, box, box.grow(1).lo) for q in faces]
        kind, g = MODELS[name], on_boxes.gradient(shifted, grid.spacing)
        errors.append(made.values("nu_t") - getattr(on_boxes, name)(g, grid.spacing, kind.constant))
        errors[-1] = np.sqrt((errors[-1] ** 2).mean()) * n**2  # nu_t has the square of a width
    assert np.log2(errors[0] / errors[1]) > 1.8


@pytest.mark.slow
def test_the_residual_and_a_stage_with_eddies(device):
    """With heat: the whole stress of what varies, eddy diffusion, and steps that know of both."""
    made, fraction, step = eddying("f8", device), 0.3, 0.9
    made.scalars["step"] = step
    values = turbulent(numbers("third", uniform=False, fraction=fraction))
    values = replace(values, force=(0.0,) * 3, lift=(0.0,) * 3)
    how = Discretisation(0.03, 1.3, "third", 0.02, prandtl=PRANDTL)
    (areas, volumes), nu_t = geometry(made), made.fields["nu_t"]
    q = {name: made.fields[name] for name in (*STATE, "T")}
    out = reference.residual(q, made.fields["sides"], areas, volumes, how, nu_t=nu_t)
    where = "sides", "metrics", None, None, "nu_t", None, None
    made.run(residual(
        (*STATE, "sides"), NEW, ("T", "T_new"), None, *where[1:], over=made.box, rate=None, numbers=values
    ))  # fmt: skip
    for name in (*STATE, "T"):
        made.assert_agrees(f"{name}_new", out[name] / reference.at(volumes))
    begun = np.stack([made.fields[name] for name in BEGUN[1:]])
    b = np.full_like(volumes, 1.3)
    dt = reference.step_per_volume(begun, areas, volumes, b, 0.06, how, nu_t=nu_t)
    flow = (*STATE, *BEGUN, *NEW, "sides")
    made.run(stage(flow, HEAT, None, *where[1:-1], None, over=made.box, step="step", rate=None, numbers=values))
    for name in (*STATE, "T"):
        rate = fraction * step * dt * out[name] * (1.3 if name == "p" else 1.0)
        made.assert_agrees(f"{name}_new", made.values(f"{name}_0") - rate)
    made.run(measures.least_step(
        BEGUN[1:], "metrics", None, "nu_t", over=made.box, dtau="least", numbers=values
    ))  # fmt: skip
    assert made.scalars["least"] == pytest.approx((dt * reference.at(volumes)).min(), rel=1e-12)


def varying(x, y, z):
    """A viscosity."""
    return 0.7 + 0.3 * np.sin(2 * np.pi * x) * np.cos(2 * np.pi * (y - z))


def diverging(x, y, z, e=1e-4):
    """div(nu (grad u + (grad u)^T)) of the waves, by differences of twelfth digits."""
    def stress(*at):
        beside = [(np.stack(waves(*_moved(at, m, e))), np.stack(waves(*_moved(at, m, -e)))) for m in range(3)]
        g = np.stack([(high - low) / (2 * e) for high, low in beside])
        return varying(*at) * (g + g.swapaxes(0, 1))

    at = (x, y, z)
    return sum((stress(*_moved(at, m, e))[m] - stress(*_moved(at, m, -e))[m]) / (2 * e) for m in range(3))


def _moved(at, axis, by):
    return tuple(q + by * (axis == n) for n, q in enumerate(at))


@pytest.mark.slow
def test_friction_of_what_varies_is_that_of_the_whole_stress(device):
    """On a smoothly distorted box, of second order in the mean over cells."""
    errors = []
    for n in (12, 24):
        made = eddying("f8", device, cells=(n,) * 3)
        vertices = distorted(lattice((n,) * 3, LAYERS), 0.05)
        filled(made, waves, vertices)
        middles = centres(np.stack(vertices))
        made.fields["sides"][...] = 0
        values = replace(turbulent(numbers("third", uniform=False, cells=(n,) * 3)), viscosity=0.0, force=(0.0,) * 3)
        result = []
        for nu in (varying(*middles), 0 * middles[0]):
            made.fields["nu_t"] = np.ascontiguousarray(nu)
            where = "sides", "metrics", None, None, "nu_t", None, None
            made.run(residual((*STATE, "sides"), NEW, None, None, *where[1:], over=made.box, rate=None, numbers=values))
            result.append(np.stack([made.values(name) for name in NEW[1:]]))
        inner = tuple(slice(LAYERS, -LAYERS) for _ in range(3))
        expected = diverging(*(q[inner] for q in middles))
        errors.append(np.sqrt(((result[1] - result[0] - expected) ** 2).mean() / (expected**2).mean()))
    assert errors[1] < 0.03
    assert np.log2(errors[0] / errors[1]) > 1.8


@pytest.mark.slow
def test_the_derivative_with_eddies(device):
    """Of flow and heat, with what varies."""
    made = eddying("f8", device)
    made.fill((*DIRECTION, "T_d", *OUT, "T_out"), seed=11)
    grid, values = ("metrics", None, None, "nu_t"), turbulent(numbers("limited", uniform=False))
    how = Discretisation(0.03, 1.3, "limited", 0.02, prandtl=PRANDTL)
    (areas, volumes), nu_t, state = geometry(made), made.fields["nu_t"], (*STATE, "T")
    out = {}
    for sign in (1, -1):
        q = {n: made.fields[n] + sign * EPS * made.fields[f"{n}_d"] for n in state}
        out[sign] = reference.residual(q, made.fields["sides"], areas, volumes, how, nu_t=nu_t)
    velocity, b = np.stack([made.fields[n] for n in VELOCITY]), np.full_like(volumes, 1.3)
    pace = 0.3 / reference.step_per_volume(velocity, areas, volumes, b, 0.06, how, nu_t=nu_t)
    pseudo = paced(made, *grid, numbers=values)
    made.run(derivative(
        (*STATE, "sides"), DIRECTION, OUT, ("T", "T_d", "T_out"), pseudo, *grid, None, over=made.box, rate=None,
        numbers=values,
    ))  # fmt: skip
    lift = dict(zip("uvw", (0.4, 0.1, -0.2), strict=True))
    for name in state:
        expected = (out[1][name] - out[-1][name]) / (2 * EPS)
        expected += pace / (1.3 if name == "p" else 1) * made.values(f"{name}_d")
        expected -= lift.get(name, 0.0) * reference.at(volumes) * made.values("T_d")
        assert np.abs(made.values(f"{name}_out") - expected).max() < 1e-6 * np.abs(expected).max(), name


@pytest.mark.slow
def test_the_matrices_with_eddies(device):
    """Applied to random vectors: differences of the residual of first order, of the flow and of a scalar."""
    made = eddying("f8", device)
    made.fields["sides"][...] = 0
    z, y, _, x = made.fields["metrics"].shape
    for name, values in (*((name, HALF) for name in COUPLING), ("pivot", PIVOT), ("carry", CARRY)):
        made.fields[name] = np.zeros((z, y, values, x))
    made.fields |= {"factor": np.ones((z, y, x)), "inverse": np.zeros((z, y, x))}
    made.fields |= {"zero": np.zeros((z, y, x)), "out": np.zeros((z, y, x))}
    inputs = turbulent(numbers("third", uniform=False))
    how = Discretisation(0.03, 1.3, diffusivity=0.02, prandtl=PRANDTL)
    (areas, volumes), nu_t = geometry(made), made.fields["nu_t"]
    rate, grid = {"over": made.box, "rate": None, "numbers": inputs}, ("metrics", None, None, "nu_t")
    where = paced(made, *grid, numbers=inputs), "sides", *grid
    made.run(matrix((*STATE, "sides", where[0]), (*COUPLING, "pivot"), *[None] * 3, *grid, None, **rate))
    q, d = (np.stack([made.fields[n] for n in names]) for names in (STATE, BEGUN))
    sides = made.fields["sides"]
    one, other = (first_order(q + s * EPS * d, q, sides, areas, volumes, how, nu_t=nu_t) for s in (1, -1))
    velocity, b = q[1:], np.full_like(volumes, 1.3)
    pace = 0.3 / reference.step_per_volume(velocity, areas, volumes, b, 0.06, how, nu_t=nu_t)
    expected = (one - other) / (2 * EPS) + pace * reference.at(d) / np.array([1.3, 1, 1, 1])[:, None, None, None]
    inner = tuple(slice(LAYERS, -LAYERS) for _ in range(3))
    total = np.einsum("rc...,c...->r...", _blocks(made.fields["pivot"], inner), reference.at(d))
    for side in range(6):
        beyond = reference.at(d, (1 if side % 2 else -1, side // 2))
        name, first = place(side)
        values = np.moveaxis(made.fields[name][inner[0], inner[1], :, inner[2]], 2, 0)
        block = coupled(values[first : first + PIVOT], made.device)
        total += np.einsum("rc...,c...->r...", block, beyond)
    assert np.abs(total - expected).max() < 1e-7 * np.abs(expected).max()
    made.run(
        scalar_matrix(VELOCITY, "factor", "carry", "inverse", *where, **rate),
        value_left("carry", "zero", "T", "out", over=made.box),
    )
    flow, still = {n: made.fields[n] for n in "uvwT"}, np.zeros((3, *volumes.shape))
    leaving = scalar_first_order(flow, sides, areas, volumes, how, still, nu_t)
    made.assert_agrees("out", -(leaving + pace * made.values("T")))


def _blocks(values, inner):
    """The 4 x 4 blocks of cells, rows and columns first."""
    inside = np.moveaxis(values[inner[0], inner[1], :, inner[2]], 2, 0)
    return inside.reshape(4, 4, *inside.shape[1:])


def box_with_lid() -> tuple[Chart, dict]:
    """A distorted box between walls, of which one slides, and what a model of it with eddies is made of."""
    chart = Chart((6, 5, 4), lambda x, y, z: distorted((x, y, z), 0.06))
    lid = {"z_max": Condition((0.7, 0.2, 0.0))}
    sides = tuple(Side(face, Wall(), (chart.patch(face),), lid.get(face, Condition())) for face in chart.faces)
    return chart, {
        "cells": (chart.box,), "fluid": Fluid(0.02), "sides": sides, "speed": 1.0,
        "turbulence": Turbulence(Smagorinsky(0.4)), "largest_volume": float(chart.volumes.max()),
    }  # fmt: skip


def started(chart: Chart) -> dict[str, np.ndarray]:
    """Random velocities."""
    random = np.random.default_rng(3)
    return {name: random.uniform(-1, 1, chart.box.shape[::-1]) for name in STATE}


@pytest.mark.slow
def test_forces_on_walls_are_what_the_fluid_loses():
    """The sum of all that leaves cells is what passes the walls, with the whole stress."""
    chart, about = box_with_lid()
    model = ArtificialCompressibility(**about)
    forces, result = Forces(model, model.sides, {}), {}

    def after(shard):
        shard.run(lambda f: residuals(model, f))
        shard.run(forces.measure)
        result["lost"] = [float((shard.read(f"{name}_new") * chart.volumes).sum()) for name in VELOCITY]
        result["walls"] = sum(forces.of(shard.scalars, side).force for side in model.sides)
        result["nu_t"] = shard.read("nu_t")

    widths = {"filter_square": np.cbrt(chart.metrics[:, :, 9]) ** 2}
    march(model, chart, started(chart), steps=0, constants=widths, job_after=after)
    assert result["nu_t"].min() > 1e-3
    np.testing.assert_allclose(result["lost"], result["walls"], rtol=0, atol=1e-12)


@pytest.mark.slow
def test_steps_marched_implicitly_are_those_marched_explicitly():
    """And explicit ones in which all cells take the same step of pseudo-time."""
    chart, about = box_with_lid()
    widths = {"filter_square": np.cbrt(chart.metrics[:, :, 9]) ** 2}
    about |= {"real": DualTime(1e-9, 20000, 1.0)}
    first = ArtificialCompressibility(**about)
    steps = MethodOptions(global_steps=True, march="rk3")
    others = [ArtificialCompressibility(**about, method=steps), ImplicitCompressibility(
        **about, solver=Gmres(tolerance=0.01), ramp=Ramp(1e4, 1e4), tile=(2, 2, 2)
    )]  # fmt: skip
    times, initial = [0.02, 0.05], {name: 0.1 * q for name, q in started(chart).items()}
    state = run(first, chart, initial, times, constants=widths)[-1]
    for model in others:
        multiple = (2, 2, 2) if isinstance(model, ImplicitCompressibility) else (1, 1, 1)
        other = run(model, chart, initial, times, constants=widths, multiple=multiple)[-1]
        for name in VELOCITY:
            np.testing.assert_allclose(other[name], state[name], rtol=0, atol=1e-6)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_steps_with_eddies_are_of_second_order_in_time():
    """The viscosity of the first guess of a step costs no order."""
    chart, about = box_with_lid()
    chart = Chart((8, 8, 4), lambda x, y, z: (x, y, z))
    kinds = {face: Slip() if face[0] == "z" else Wall() for face in chart.faces}
    about |= {
        "cells": (chart.box,), "largest_volume": float(chart.volumes.max()), "real": DualTime(1e-9, 200, 1.0),
        "sides": tuple(Side(face, kind, (chart.patch(face),), Condition()) for face, kind in kinds.items()),
    }  # fmt: skip
    model = ImplicitCompressibility(**about, solver=Gmres(tolerance=0.01), ramp=Ramp(1e4, 1e4))
    x, y, _ = (np.pi * q for q in chart.centres)
    swirl = {"u": np.sin(x) ** 2 * np.sin(2 * y), "v": -np.sin(2 * x) * np.sin(y) ** 2, "w": 0.0, "p": 0.0}
    widths, end, states = {"filter_square": np.cbrt(chart.metrics[:, :, 9]) ** 2}, 0.16, []
    for steps in (4, 8, 64):
        times = end * np.arange(1, steps + 1) / steps
        states.append(run(model, chart, swirl, times, constants=widths)[-1])
    errors = [norm(chart, *(state[n] - states[-1][n] for n in VELOCITY)) for state in states[:-1]]
    assert 1e-6 < errors[1] < 1e-2
    assert np.log2(errors[0] / errors[1]) > 1.8


@pytest.mark.gpu(emulated=True)
@pytest.mark.parametrize("kind", [ArtificialCompressibility, ImplicitCompressibility])
def test_a_gpu_changes_no_bit(kind):
    """In steps of real time, with walls and what passes them."""
    chart, about = box_with_lid()
    solver = {"solver": Gmres(tolerance=0.01), "ramp": Ramp(1e4, 1e4)} if kind is ImplicitCompressibility else {}
    model = kind(**about, real=DualTime(1e-3, 20, 1.0), **solver)
    widths = {"filter_square": np.cbrt(chart.metrics[:, :, 9]) ** 2}
    initial = {name: 0.1 * q for name, q in started(chart).items()}
    host, device = (run(model, chart, initial, [0.02, 0.05], constants=widths, device=on) for on in (None, one_gpu()))
    for name in STATE:
        np.testing.assert_array_equal(device[-1][name], host[-1][name], err_msg=name)
