"""Implicit marching: iterations of GMRES, outer iterations, and the same bits for any blocks and threads."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.flow.boundaries.collocated import Condition
from taskflow.flow.boundaries.condition import Side
from taskflow.flow.boundaries.far_field import FarField
from taskflow.flow.boundaries.inflow import Inflow
from taskflow.flow.boundaries.outflow import PressureOutflow
from taskflow.flow.boundaries.slip import Slip
from taskflow.flow.boundaries.wall import Wall
from taskflow.flow.models.artificial_compressibility.equations import HeatTransport, Passive
from taskflow.flow.models.artificial_compressibility.flow_on_charts import STATE
from taskflow.flow.models.artificial_compressibility.implicit import march as outer
from taskflow.flow.models.artificial_compressibility.implicit.correction import COUPLING, Correction, left
from taskflow.flow.models.artificial_compressibility.implicit.gmres import (
    BOUND,
    DEEP,
    FIRST,
    INSIDE,
    MARGIN,
    SHALLOW,
    Gmres,
)
from taskflow.flow.models.artificial_compressibility.implicit.march import Ramp
from taskflow.flow.models.artificial_compressibility.implicit.model import ImplicitCompressibility
from taskflow.flow.models.artificial_compressibility.implicit.vectors import AFTER, BEFORE, RIGHT, UPDATE, fields
from taskflow.flow.models.artificial_compressibility.model import ArtificialCompressibility
from taskflow.flow.operators.momentum import Buoyancy, Fluid
from taskflow.runtime.tasks import owned
from tests.flow.charts import Chart, distorted, march
from tests.reference.implicit_compressibility import gmres

TILES = (8, 8, 8)
SLOW = [pytest.mark.slow, pytest.mark.timeout(3600)]
REST = dict.fromkeys("puvw", 0.0)


def skewed(cells):
    """A chart in a plane, at an angle."""
    return Chart(cells, lambda x, y, z: (x + 0.5 * y, 0.9 * y + 0.05 * np.sin(6 * x), z), "z")


def box(cells):
    """A distorted chart."""
    return Chart(cells, lambda x, y, z: distorted((x, y, z), 0.05))


def model(chart, kind=ImplicitCompressibility, **more):
    """A cavity of this chart whose lid moves."""
    lid = Condition((1.0, 0.0, 0.0))
    sides = tuple(
        Side(face, Wall(), (chart.patch(face),), lid if face == "y_max" else Condition()) for face in chart.faces
    )
    volume, planar = float(chart.volumes.max()), chart.cells[2] == 1
    return kind((chart.box,), Fluid(0.02), sides, 1.0, planar=planar, largest_volume=volume, **more)


def open_box(chart, **more):
    """Flow from an inflow to an outflow past walls and a free stream."""
    kinds = {"x_min": Inflow(), "x_max": PressureOutflow(), "y_max": FarField(), "y_min": Wall()}
    stream = Condition((1.0, 0.0, 0.0))
    sides = tuple(
        Side(face, kinds.get(face, Slip()), (chart.patch(face),), Condition() if face == "y_min" else stream)
        for face in chart.faces
    )
    return replace(model(chart, **more), sides=sides)


def warm(chart: Chart, kind=ImplicitCompressibility, **more) -> ArtificialCompressibility:
    """A cavity, warmed from below at one end, whose lid moves; with a dye that enters there and leaves below."""
    flow = model(chart, kind, **more)
    conditions = {"x_min": Condition(warm=True, temperature=1.0), "x_max": Condition(transfer=0.3, outside=-0.2)}
    conditions["y_max"] = Condition((0.3, 0.0, 0.0))
    dyed = {"y_max": 0.7, "y_min": 0.1}
    sides = tuple(
        Side(
            side.name, Wall(), side.patches, conditions.get(side.name, Condition()),
            scalars={"dye": Condition(warm=True, temperature=dyed[side.name])} if side.name in dyed else {},
        )
        for side in flow.sides
    )  # fmt: skip
    return kind(
        flow.cells, Fluid(0.02), sides, 1.0, planar=flow.planar, largest_volume=flow.largest_volume,
        heat=HeatTransport(0.03, Buoyancy(2.0, 0.3, (0.2, -1.0, 0.0))), passive=(Passive("dye", 0.02),), **more,
    )  # fmt: skip


BEGUN = {**REST, "T": 0.3, "dye": 0.0}


def restarting(chart):
    """That cavity, with so few vectors that all equations have several cycles."""
    return model(chart, solver=Gmres(4, 60, 1e-3))


def bits(marched):
    """What has to be the same: the fields, and the numbers of the iterations."""
    numbers = {name: marched.scalars[f"implicit.{name}"] for name in ("cfl", "begun", "left", "taken", "share")}
    return numbers, {name: marched[name].tobytes() for name in STATE}


@pytest.mark.fast("chart1-*")
@pytest.mark.parametrize(
    ("chart", "made", "blocks", "threads"),
    [
        (skewed((18, 19, 1)), model, (2, 1, 1), 1),
        (skewed((18, 19, 1)), restarting, (1, 2, 1), 2),
        pytest.param(box((18, 10, 11)), model, (2, 2, 2), 2, marks=SLOW),
        pytest.param(box((12, 18, 9)), open_box, (1, 3, 1), 1, marks=SLOW),
    ],
)
def test_blocks_and_threads_change_no_bit(chart, made, blocks, threads):
    flow, about = made(chart), {"steps": 4, "multiple": TILES, "every": 1}
    one = march(flow, chart, REST, **about)
    assert bits(march(flow, chart, REST, blocks=blocks, threads=threads, **about)) == bits(one)


@pytest.mark.slow
def test_blocks_are_hyperplanes_of_pieces():
    """On one block the same bits; on two the same solution."""
    chart = skewed((12, 10, 1))
    one, whole = (march(model(chart, ordering=o), chart, REST, steps=3, every=1) for o in ("blocks", "hyperplanes"))
    assert bits(one) == bits(whole)
    cut = march(model(chart, ordering="blocks"), chart, REST, steps=12, every=1, blocks=(2, 1, 1))
    far = march(model(chart, ordering="hyperplanes"), chart, REST, steps=12, every=1)
    np.testing.assert_allclose(cut["u"], far["u"], rtol=0, atol=1e-6)


@pytest.mark.parametrize("solver", [Gmres(), pytest.param(Correction(), marks=SLOW)])
def test_the_steady_state_is_that_of_explicit_marching(solver):
    chart = skewed((10, 9, 1))
    about = {"steady": 1e-9, "every": 1}
    one = march(model(chart, solver=solver), chart, REST, steps=400, **about)
    other = march(model(chart, ArtificialCompressibility), chart, REST, steps=4000, **about | {"every": 50})
    assert one.steps < (40 if isinstance(solver, Gmres) else 400)
    for name in "uvw":
        np.testing.assert_allclose(one[name], other[name], rtol=0, atol=2e-7)
    p, q = one["p"], other["p"]
    weights = chart.volumes / chart.volumes.sum()
    np.testing.assert_allclose(p - (p * weights).sum(), q - (q * weights).sum(), rtol=0, atol=2e-7)


def vector(shard, roles):
    """The values of a vector, cell by cell."""
    return np.stack([shard.read(role) for role in roles], -1).ravel()


def prepare(flow, f):
    """Compute the right-hand side, the matrix and its factors."""
    yield from flow._left(f, "")
    yield flow.paced((f.u, f.v, f.w), f)
    yield from flow.matrix(f)
    yield from flow.factors(f)


def linear(chart, flow):
    """Some outer iterations, then the linear equations of the next: A, M^-1 (by columns), r, x, the products taken."""
    count = chart.box.volume

    def prepared(f):
        yield from prepare(flow, f)

    def matrices(f):
        yield from flow.precondition(f)

    out = {}

    def after(shard):
        shape = chart.box.shape[::-1]
        shard.run(owned("implicit", prepared))
        out["r"] = vector(shard, RIGHT)
        columns = []
        for n in range(4 * count):
            unit = np.zeros((*shape, 4))
            unit.flat[n] = 1
            shard.write({name: np.ascontiguousarray(unit[..., m]) for m, name in enumerate(AFTER)})
            shard.run(owned("implicit", matrices))
            columns.append(vector(shard, BEFORE))
        out["M"] = np.stack(columns, 1)
        columns = []
        for n in range(4 * count):
            unit = np.zeros((*shape, 4))
            unit.flat[n] = 1
            shard.write({name: np.ascontiguousarray(unit[..., m]) for m, name in enumerate(BEFORE)})
            shard.run(owned("implicit", flow.product))
            columns.append(vector(shard, AFTER))
        out["A"] = np.stack(columns, 1)
        shard.run(owned("implicit", prepared))
        shard.run(owned("implicit", lambda f: flow.solver.solve(f, flow)))
        out["x"], out["taken"] = vector(shard, UPDATE), shard.scalars["implicit.taken"]

    march(flow, chart, REST, steps=3, every=1, multiple=TILES, job_after=after)
    return out


@pytest.mark.fast("5-*-closed")
@pytest.mark.parametrize("made", [model, pytest.param(open_box, marks=SLOW)], ids=["closed", "open"])
@pytest.mark.parametrize(("vectors", "tolerance"), [(20, 1e-6), (5, 1e-3)])
def test_gmres_takes_as_many_products_as_in_numpy(made, vectors, tolerance):
    """S7: on the same matrix with the same preconditioner; rounding may cost one more."""
    chart = skewed((9, 5, 1))
    flow = made(chart, solver=Gmres(vectors, 100, tolerance), precision="double")
    out = linear(chart, flow)
    scale = np.tile([math.sqrt(flow.weight), 1, 1, 1], chart.box.volume)
    x, taken = gmres(
        lambda v: scale * (out["A"] @ v), lambda v: out["M"] @ (v / scale), scale * out["r"], tolerance, vectors, 100,
        FIRST, (DEEP, SHALLOW), (BOUND, INSIDE, MARGIN),
    )  # fmt: skip
    assert abs(taken - out["taken"]) <= 1
    assert taken > 5
    if taken == out["taken"]:
        np.testing.assert_allclose(out["x"], x, rtol=0, atol=1e-9 * abs(x).max())


def test_corrections_are_those_of_numpy():
    """x + M^-1 (r - A_1 x) from x = M^-1 r, with the operators that the kernels have, column by column."""
    chart = skewed((9, 5, 1))
    flow, out = model(chart, solver=Correction(3), precision="double"), {}
    shape = (*chart.box.shape[::-1], 4)

    def prepared(f):
        yield from prepare(flow, f)

    def columns(shard, program, given, result):
        for n in range(math.prod(shape)):
            unit = np.zeros(shape)
            unit.flat[n] = 1
            shard.write({name: np.ascontiguousarray(unit[..., m]) for m, name in enumerate(given)})
            shard.run(owned("implicit", program))
            yield vector(shard, result)

    def remainder(f):
        parts = (part for values in (RIGHT, UPDATE, AFTER) for part in (fields(f, values), None, None))
        yield left(fields(f, COUPLING), f.own, *parts, over=flow.cells, blocks=flow.blocks)

    def after(shard):
        shard.run(owned("implicit", prepared))
        out["r"] = vector(shard, RIGHT)
        out["M"] = np.stack([*columns(shard, flow.precondition, AFTER, BEFORE)], 1)
        shard.write({name: np.zeros(shape[:3]) for name in RIGHT})
        out["A"] = -np.stack([*columns(shard, remainder, UPDATE, AFTER)], 1)
        shard.run(owned("implicit", prepared))
        shard.run(owned("implicit", lambda f: flow.solver.solve(f, flow)))
        out["x"], out["taken"] = vector(shard, UPDATE), shard.scalars["implicit.taken"]

    march(flow, chart, REST, steps=3, every=1, multiple=TILES, job_after=after)
    left_over, x = [], np.zeros_like(out["r"])
    for _ in range(3):
        x = x + out["M"] @ (out["r"] - out["A"] @ x)
        left_over.append(np.linalg.norm(out["r"] - out["A"] @ x) / np.linalg.norm(out["r"]))
    np.testing.assert_allclose(out["x"], x, rtol=0, atol=1e-11 * abs(x).max())
    assert out["taken"] == 3
    assert 1 > left_over[0] > left_over[1] > left_over[2], "they converge on this matrix"


def test_the_cfl_number_follows_the_residual():
    ramp, scalars, vain = Ramp(5.0, 1e3, 0.9), {}, (False, 1.0)
    scalars = ramp.begin({})
    scalars |= ramp.advance(scalars, 2.0, *vain)
    assert (scalars["cfl"], scalars["slowness"]) == (5.0, 0.2)
    scalars |= ramp.advance(scalars, 1.0, *vain)
    assert scalars["cfl"] == pytest.approx(5 * 2**0.9)
    scalars |= ramp.advance(scalars, 1e-3, *vain)
    assert scalars["cfl"] == pytest.approx(15 * 2**0.9)  # three times what it was
    scalars |= ramp.advance({**scalars, "retreat": 1.0}, 1e-3, True, 0.01)
    assert scalars["cfl"] == pytest.approx(1.5 * 2**0.9)
    assert scalars["retreat"] == 0
    assert ramp.advance({**scalars, "cfl": 900.0}, 1e-9, *vain)["cfl"] == 1e3
    steep = Ramp(5.0, 1e3, 80.0)  # powers beyond all numbers
    assert steep.advance(scalars | {"cfl": 900.0}, 1e-9, *vain)["cfl"] == 1e3
    assert math.isfinite(steep.advance(scalars, 1e9, *vain)["slowness"])
    for wrong in ({"start": 0.0}, {"power": math.nan}, {"start": 10.0, "most": 1.0}):
        with pytest.raises(BadInput, match=r"method\.cfl"):
            Ramp(**wrong)


def test_the_cfl_number_triples_where_an_update_was_easy():
    ramp, easy = Ramp(5.0, 1e3), (True, 0.01)
    begun = {**ramp.begin({}), **ramp.advance(ramp.begin({}), 1.0, False, 1.0), "share": 1.0}
    risen = 7.0  # a residual that begins small
    assert ramp.advance(begun, risen, *easy)["cfl"] == 15.0
    assert ramp.advance({**begun, "share": 0.5}, risen, *easy)["cfl"] < 5.0
    assert ramp.advance({**begun, "cfl": 600.0}, risen, *easy)["cfl"] == 1e3
    assert ramp.advance({**begun, "cfl": 600.0}, risen, False, 0.4)["cfl"] == 600.0  # not in vain
    assert ramp.advance({**begun, "cfl": 600.0}, risen, False, 0.6)["cfl"] < 5.0


def test_equations_are_solved_the_better_the_faster_residuals_fall():
    assert [Gmres().forcing(fallen) for fallen in (2.0, 0.3, 0.01)] == pytest.approx([0.2, 0.081, 0.02])
    assert Gmres(tolerance=0.3).forcing(0.01) == 0.3


def test_updates_are_limited_halved_once_and_then_refused():
    begun = {"begun": 1.0, "retreat": 0.0, "refused": 3.0}
    assert outer.share({"change": 1.0})["share"] == 0.5
    assert outer.share({"change": 0.0})["share"] == 1.0
    broken = outer.share({"change": math.nan, "broken": 1.0})
    assert (broken["share"], broken["broken"]) == (0.0, 2.0)
    first = {**begun, **outer.share({"change": 1.0})}
    assert outer.judged(first, 1.9)["accepted"] == 1
    second = {**first, **outer.judged(first, 2.1)}
    assert (second["share"], second["accepted"]) == (0.25, 0)
    third = {**second, **outer.judged(second, math.nan)}
    assert (third["share"], third["accepted"]) == (0.0, 0)
    last = outer.judged(third, 1.0)
    assert (last["accepted"], last["retreat"], last["refused"]) == (1.0, 1.0, 4.0)
