"""The bits of a flow do not depend on how it is computed: blocks, overlap, threads, channels, processes."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cache
from itertools import product

import numpy as np
import pytest

import taskflow as tf
from taskflow.cases import Case
from taskflow.runtime.cluster import embedded
from taskflow.runtime.machine.channel import channel_problem
from tests.flows import Flow, compute

PERIODIC = {"x": "periodic", "y": "periodic", "z": "periodic"}
BOX = {  # walls that move, heat, insulate; a slip boundary
    "x_min": "wall", "x_max": {"type": "wall", "velocity": [0.0, 0.5, 0.2], "temperature": 1.0}, "y": "periodic",
    "z_min": {"type": "wall", "heat_flux": 0.3}, "z_max": "slip",
}  # fmt: skip
LAYER = {
    "x": "periodic", "y_min": "slip", "y_max": "wall", "z_min": {"type": "wall", "temperature": 0.0},
    "z_max": {"type": "wall", "velocity": [1.0, 0.0, 0.0], "temperature": 1.0},
}  # fmt: skip
ROUGH = {
    "x_min": "wall", "x_max": {"type": "wall", "velocity": [0.0, 0.5, 0.2], "temperature": 1.0}, "y_min": "slip",
    "y_max": "wall", "z_min": {"type": "wall", "roughness": 0.01, "heat_flux": 0.3},
    "z_max": {"type": "wall", "roughness": 0.02, "velocity": [1.0, 0.0, 0.0], "temperature": 0.0},
}  # fmt: skip
BOUNDARIES = {"periodic": PERIODIC, "box": BOX, "layer": LAYER}
ENTERS = {"type": "inflow", "velocity": ["1 + 0.3*sin(4*z + t)", "0.1*cos(9*y)", "0.2*x*t"], "temperature": "z - t"}
COOLED = {"type": "wall", "heat_transfer": 0.3, "outside_temperature": -1.0}
OPEN = {
    "stream": {"x_min": ENTERS, "x_max": "outflow", "y": "periodic", "z_min": COOLED, "z_max": "slip"},
    "rising": {"x_min": "wall", "x_max": COOLED, "y_min": "slip", "y_max": ENTERS, "z_min": "outflow", "z_max": "wall"},
    "draught": {"x_min": ENTERS, "x_max": {"type": "outflow", "pressure": 0}, "y": "periodic",
                "z_min": {"type": "outflow", "pressure": 0}, "z_max": ENTERS},
    "waterfall": {"x_min": {"type": "outflow", "pressure": "advected"}, "x_max": ENTERS, "y": "periodic",
                  "z_min": COOLED, "z_max": "slip"},
}  # fmt: skip
UNEVEN = (11, 5, 9)  # no number of blocks below divides all sides
BLOCKS = [(1, 1, 3), (2, 1, 2), (2, 2, 2), *(pytest.param(n, marks=pytest.mark.slow) for n in ((1, 1, 2), (1, 1, 4)))]
STEPS = 6


def stirred(
    boundaries: dict,
    cells: tuple[int, int, int] = UNEVEN,
    precision: str = "double",
    turbulence: dict | None = None,
    scheme: str = "ab2",
    **machine,
) -> Case:
    """A warm fluid in motion, everywhere different, with all terms of the equations; 7 sweeps, so that roles rotate."""
    return Case(
        turbulence=turbulence,
        grid={"cells": cells, "lengths": [1.0, 0.7, 1.3], "origin": [0.1, -0.2, 0.3]},
        fluid={"viscosity": 0.01},
        heat={"diffusivity": 0.02, "expansion": 1.0, "reference": 0.3, "source": 0.1},
        body={"gravity": [0.1, 0.2, -1.0], "force": [0.02, -0.01, 0.03]},
        boundaries=boundaries,
        initial={"velocity": ["sin(6*x) * cos(z)", "0.3 * cos(5*y)", "x * z"], "temperature": "x + sin(7*z)"},
        time={"steps": STEPS, "scheme": scheme},
        pressure={"iterations": 7},
        output={"precision": precision, "every": {"steps": 3}},
        machine={"precision": precision, "device": "cpu", "threads": 1, **machine},
    )


@cache
def in_one_block(name: str, cells: tuple[int, int, int], precision: str) -> Flow:
    """What all others are compared with."""
    flow = compute(stirred(BOUNDARIES[name], cells, precision), overlap="none")
    assert all(np.isfinite(flow[field]).all() for field in flow.padded)
    assert np.ptp(flow["u"]) > 0.1
    return flow


def assert_same_bits(flow: Flow, one: Flow) -> None:
    """Every field is the same, boundary layers too. So are maxima; sums are the same up to their order."""
    for name, values in one.padded.items():
        np.testing.assert_array_equal(flow.padded[name], values, err_msg=name)
    assert flow.tick == one.tick
    for name in ("rate", "divergence", "speed"):
        assert flow.scalars[name] == one.scalars[name]
    for name in ("energy", "residual", "norm"):
        assert flow.scalars[name] == pytest.approx(one.scalars[name], rel=1e-12)


@pytest.mark.fast("periodic-full-blocks1", "box-full-blocks2")
@pytest.mark.parametrize("blocks", [pytest.param((1, 1, 1), marks=pytest.mark.slow), (1, 1, 3), (2, 1, 2)])
@pytest.mark.parametrize("overlap", ["none", "full"])
@pytest.mark.parametrize("name", BOUNDARIES)
def test_two_sweeps_in_one_pass(name, overlap, blocks, monkeypatch):
    """As on a GPU with large blocks."""
    monkeypatch.setattr("taskflow.systems.base.pressure.blocking_pays", lambda _: True)
    flow = compute(stirred(BOUNDARIES[name]), blocks, overlap=overlap, planned="gpu")
    one = in_one_block(name, UNEVEN, "double")
    assert flow.setup.model.ghost == 2
    for field in one.setup.model.fields.keys() - {"p_new"}:  # holds what the last pass began with
        np.testing.assert_array_equal(flow[field], one[field], err_msg=field)


@pytest.mark.fast("box-*-(2, 2, 2)", "periodic-*-(2, 1, 2)", "layer-*-(1, 1, 3)")
@pytest.mark.parametrize("blocks", BLOCKS, ids=str)
@pytest.mark.parametrize(("name", "precision"), [
    *product(BOUNDARIES, ["double"]), pytest.param("box", "single", marks=pytest.mark.slow),
])  # fmt: skip
def test_blocks_and_overlap(name, precision, blocks):
    one = in_one_block(name, UNEVEN, precision)
    for overlap in {"box": ("none", "comm", "full"), "periodic": ("full",), "layer": ("comm",)}[name]:
        assert_same_bits(compute(one.setup.case, blocks, overlap=overlap), one)


def opened(name: str, scheme: str, precision: str, cycles: bool) -> Case:
    """A case with openings. Pressure by sweeps, or by cycles: to the bit, both of them."""
    tables = dict(stirred({**PERIODIC}, precision=precision))
    if cycles:
        tables["pressure"] = {"solver": "multigrid", "outer": "none", "iterations": 3}
    return Case(**{**tables, "boundaries": OPEN[name], "time": {"steps": STEPS, "scheme": scheme}})


@pytest.mark.fast("waterfall-rk3-single-*", "stream-ab2-double-*", "rising-*", "draught-*")
@pytest.mark.parametrize(("name", "scheme", "precision", "blocks", "overlap"), [
    ("stream", "ab2", "double", (1, 1, 3), "full"), ("stream", "rk3", "single", (2, 1, 1), "comm"),
    ("rising", "ab2", "double", (2, 1, 2), "full"), ("draught", "ab2", "double", (2, 1, 1), "none"),
    ("waterfall", "ab2", "double", (2, 1, 2), "full"), ("waterfall", "rk3", "single", (2, 2, 1), "comm"),
    *(pytest.param(*item, marks=pytest.mark.slow) for item in (
        ("stream", "rk3", "double", (2, 2, 2), "comm"), ("stream", "ab2", "double", (11, 1, 1), "full"),
        ("rising", "rk3", "double", (1, 3, 2), "none"), ("draught", "ab2", "double", (2, 2, 2), "full"),
        ("draught", "rk3", "double", (1, 1, 3), "comm"), ("draught by cycles", "ab2", "double", (2, 2, 2), "full"),
    )),
])  # fmt: skip
def test_open_boundaries(name, scheme, precision, blocks, overlap):
    case = opened(name.split()[0], scheme, precision, "cycles" in name)
    one = compute(case, overlap="none")
    assert all(np.isfinite(values).all() for values in one.padded.values())
    assert_same_bits(compute(case, blocks, overlap=overlap, threads=2), one)


@pytest.mark.fast("wale-single-*")
@pytest.mark.parametrize(("model", "precision", "scheme", "blocks", "overlap"), [
    ("wale", "single", "ab2", (1, 1, 3), "comm"), ("vreman", "double", "ab2", (2, 1, 2), "none"),
    pytest.param("smagorinsky", "double", "ab2", (2, 2, 2), "full", marks=pytest.mark.slow),
    pytest.param("smagorinsky", "double", "rk3", (3, 1, 2), "full", marks=pytest.mark.slow),
])  # fmt: skip
def test_eddies(model, precision, scheme, blocks, overlap):
    case = stirred(ROUGH, precision=precision, turbulence={"model": model}, scheme=scheme)
    one, flow = compute(case, overlap="none"), compute(case, blocks, overlap=overlap)
    assert one["nu_t"].max() > 1e-6
    assert_same_bits(flow, one)
    assert flow.scalars["eddy"] == one.scalars["eddy"] == one["nu_t"].max()


@pytest.mark.parametrize(("cells", "blocks", "thin"), [
    ((1, 7, 6), (1, 2, 1), "periodic"), ((8, 2, 6), (2, 1, 1), "slip"),
    pytest.param((8, 6, 1), (3, 2, 1), "periodic", marks=pytest.mark.slow),
])  # fmt: skip
def test_eddies_of_few_cells(cells, blocks, thin):
    case = stirred(shallow(cells, thin), cells, turbulence={"model": "smagorinsky"})
    assert_same_bits(compute(case, blocks, overlap="full"), compute(case, overlap="none"))


@pytest.mark.parametrize("staging", ["host", "rows"])
def test_staging(staging):
    """Messages packed in host memory, and rows that are not packed."""
    one = in_one_block("box", UNEVEN, "double")
    assert_same_bits(compute(one.setup.case, (2, 1, 2), overlap="full", staging=staging), one)


def test_automatic_overlap():
    one = in_one_block("layer", UNEVEN, "double")
    assert_same_bits(compute(one.setup.case, (1, 1, 3), overlap="auto"), one)


@pytest.mark.slow
def test_many_blocks():
    """24, some of them a cell wide, with all 26 neighbours."""
    one = in_one_block("box", UNEVEN, "double")
    assert_same_bits(compute(one.setup.case, (3, 2, 4), overlap="full"), one)


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("name", BOUNDARIES)
@pytest.mark.fast("box-3", "layer-2")
def test_threads(name, threads):
    one = in_one_block(name, UNEVEN, "double")
    assert_same_bits(compute(one.setup.case, threads=threads), one)
    assert_same_bits(compute(one.setup.case, (1, 1, 2), threads=threads, overlap="full"), one)


def shallow(cells: tuple[int, int, int], thin: str) -> dict:
    """Boundaries: directions of 1 to 4 cells are periodic or between slip boundaries, others between walls."""
    sides = {axis: axis for axis, n in zip("xyz", cells, strict=True) if n <= 4}
    if thin == "slip":
        boundaries = {f"{axis}_{end}": "slip" for axis, end in product(sides, ("min", "max"))}
    else:
        boundaries = dict.fromkeys(sides, "periodic")
    return {**boundaries, **{f"{a}_{end}": "wall" for a, end in product("xyz", ("min", "max")) if a not in sides}}


@pytest.mark.fast("(4, 5, 7)-*", "(1, 7, 6)-*", "(8, 6, 1)-*-periodic", "(1, 1, 9)-*", "(2, 7, 6)-*-slip")
@pytest.mark.parametrize(("cells", "blocks", "thin"), [
    ((1, 7, 6), (1, 2, 3), "periodic"), ((2, 7, 6), (2, 1, 3), "slip"), ((4, 5, 7), (2, 2, 2), "slip"),
    ((8, 1, 6), (2, 1, 3), "periodic"), ((6, 3, 4), (2, 3, 1), "periodic"), ((8, 6, 1), (3, 2, 1), "periodic"),
    ((8, 6, 1), (3, 2, 1), "slip"), ((1, 1, 9), (1, 1, 4), "slip"), ((5, 1, 1), (5, 1, 1), "periodic"),
    ((1, 1, 1), (1, 1, 1), "slip"), ((1, 1, 1), (1, 1, 1), "periodic"),
    *(pytest.param(*item, marks=pytest.mark.slow) for item in (
        ((2, 7, 6), (2, 1, 3), "periodic"), ((3, 7, 4), (3, 1, 4), "periodic"),
        ((8, 2, 6), (2, 2, 2), "slip"), ((8, 6, 2), (1, 2, 2), "periodic"),
        ((1, 7, 6), (1, 2, 3), "slip"), ((4, 4, 4), (1, 2, 4), "periodic"),
    )),
], ids=str)  # fmt: skip
def test_few_cells_in_a_direction(cells, blocks, thin):
    """Blocks of one layer; directions of 1 to 4 cells, periodic or between slip boundaries."""
    case = stirred(shallow(cells, thin), cells)
    one = compute(case, overlap="none")
    assert all(np.isfinite(values).all() for values in one.padded.values())
    assert_same_bits(compute(case, blocks, overlap="full"), one)


needs = {
    name: pytest.mark.skipif(channel_problem(name) is not None, reason=str(channel_problem(name)))
    for name in ("peer", "ucx")
}


@pytest.fixture(scope="module")
def clusters():
    """Clients of a worker in this process and of two in processes of their own, begun when first asked for."""
    with ExitStack() as opened:
        yield cache(lambda workers: opened.enter_context(embedded(workers, gpu=False)))


@pytest.mark.fast("local-*", "peer-*", "actor-*")
@pytest.mark.parametrize(("channel", "workers", "blocks", "threads", "overlap"), [
    ("local", 1, (1, 1, 3), 2, "full"), ("actor", 2, (2, 1, 2), 1, "full"),
    pytest.param("actor", 1, (1, 1, 2), 1, "comm", marks=pytest.mark.slow),
    pytest.param("peer", 1, (1, 1, 2), 1, "full", marks=[needs["peer"], pytest.mark.slow]),
    pytest.param("peer", 2, (2, 1, 2), 2, "full", marks=needs["peer"]),
    pytest.param("ucx", 2, (1, 1, 3), 2, "full", marks=needs["ucx"]),
    ("auto", 2, (2, 2, 2), 1, "comm"),
])  # fmt: skip
def test_channels_and_processes(channel, workers, blocks, threads, overlap, clusters, tmp_path):
    """Whole runs on a cluster: in the store are the bits of one block in this process."""
    one = in_one_block("box", UNEVEN, "double")
    debug = channel == "local"  # which changes nothing
    case = stirred(BOX, blocks=blocks, threads=threads, overlap=overlap, channel=channel, debug=debug)
    last = tf.run(case, tmp_path / "run", clusters(workers)).dataset().isel(time=-1)
    assert last["time"] == one.tick.time
    lo, box = one.setup.partition.region.bounds.lo, one.setup.grid.box
    for name in case.output_fields:
        stored = last[name]
        high = tuple(int(stored.sizes.get(f"{axis}_f", n) > n) for axis, n in zip("xyz", box.shape, strict=True))
        values = one.padded[name][box.expand((0, 0, 0), high).slices(lo)]
        np.testing.assert_array_equal(stored.values, values, err_msg=name)
