"""The same flow on GPUs: bit for bit that of the CPU, for any blocks and overlap, also on a dask-cuda cluster."""

from functools import partial

import numpy as np
import pytest
import xarray as xr

import taskflow as tf
from taskflow.cases import Case
from taskflow.output import dataset
from taskflow.runtime.host.accelerators import accelerators
from taskflow.runtime.machine import copy_bandwidth, run_threads
from taskflow.runtime.machine.channel import channel_problem
from taskflow.runtime.machine.device import gpu
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.runtime.tasks import Read, Reduce, Write, task
from tests.cases.on_charts import TURNED, changed
from tests.flow.test_implicit_diffusion import warm
from tests.flow.test_scalars import mixed
from tests.flows import compute
from tests.runs.going_on import go
from tests.runs.test_probes import FOLLOWED
from tests.runs.test_restart import stirred
from tests.runs.test_spectra import turning
from tests.runtime.machine.devices import one_gpu
from tests.runtime.machine.test_shard import NAMES, Everything, noise, oracle, region

pytestmark = pytest.mark.gpu
KERNELS = pytest.mark.gpu(emulated=True)

HOT, LID = {"type": "wall", "temperature": 1.0}, {"type": "wall", "velocity": [1.0, 0.0, 0.0], "temperature": 0.0}
HEATED = {"type": "wall", "heat_flux": 0.3}
ENTERS = {"type": "inflow", "velocity": ["1 + 0.3*z", "0.1*y", "0.2*x*t"], "temperature": "z - t"}
COOLED = {"type": "wall", "heat_transfer": 0.3, "outside_temperature": -1.0}
SIDES = {
    "periodic": {"x": "periodic", "y": "periodic", "z": "periodic"},
    "walls": {"x_min": "wall", "x_max": HOT, "y": "periodic", "z_min": HEATED, "z_max": LID},
    "rough": {"x_min": "wall", "x_max": HOT, "y": "periodic", "z_min": {**HEATED, "roughness": 0.01}, "z_max": LID},
    "slip": {"x": "periodic", "y_min": "slip", "y_max": "wall", "z_min": HOT, "z_max": LID},
    "open": {"x_min": ENTERS, "x_max": "outflow", "y": "periodic", "z_min": COOLED, "z_max": "slip"},
    "advected": {
        "x_min": {"type": "outflow", "pressure": "advected"}, "x_max": {**ENTERS, "velocity": ["-1 - z", 0, 0]},
        "y": "periodic", "z_min": COOLED, "z_max": "slip",
    },
}  # fmt: skip


def flow(sides, precision="double", *, scheme="ab2", pressure=None, turbulence=None, **machine):
    return Case(
        turbulence=turbulence,
        grid={"cells": [21, 5, 9], "lengths": [1.0, 0.7, 1.3]},
        fluid={"viscosity": 0.01},
        heat={"diffusivity": 0.02, "expansion": 1.0},
        body={"gravity": [0.1, 0.2, -1.0], "force": [0.3, 0.0, 0.1]},
        initial={"velocity": ["sin(6*x)*cos(z)", "0.3*cos(5*y)", "x*z"], "temperature": "x+sin(7*z)"},
        boundaries=SIDES[sides],
        pressure=pressure or {"iterations": 7},
        time={"steps": 8, "scheme": scheme},
        machine={"precision": precision, **machine},
    )


@KERNELS
@pytest.mark.parametrize("scheme", ["ab2", "rk3"])
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("sides", [sides for sides in SIDES if sides != "rough"])
def test_gpu_and_cpu_agree_to_the_bit(sides, precision, scheme):
    """Neither compiler contracts operations, so both do the same ones; only sums are ordered otherwise."""
    case = flow(sides, precision, scheme=scheme)
    host, device = compute(case), compute(case, device=one_gpu())
    for name in host.padded:
        np.testing.assert_array_equal(device[name], host[name], err_msg=name)
    for name, value in host.scalars.items():
        if name != "mean":  # of a right-hand side: what rounding leaves
            assert device.scalars[name] == pytest.approx(value, rel=1e-12), name


@KERNELS
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 1, 2)])
def test_what_is_recorded_beside_snapshots_has_the_bits_of_a_cpu(blocks, precision, tmp_path):
    """Statistics, planes, and probes, of which only some cells leave the GPU."""
    tables = {**FOLLOWED, "statistics": {"every": {"steps": 1}}, "machine": {"precision": precision}}
    case = stirred(output={"precision": precision}, **tables)
    go(case, tmp_path / "host", blocks)
    go(case, tmp_path / "device", blocks, device=one_gpu())
    for group in ("statistics", "three", "line", "across-z", "across-x"):
        host, device = (dataset(tmp_path / name / "fields.zarr", group).load() for name in ("host", "device"))
        xr.testing.assert_identical(device.drop_attrs(), host.drop_attrs())


BALL = {"type": "sphere", "centre": [0.45, 0.33, 0.6], "radius": 0.25}


@pytest.mark.parametrize("bodies", [None, "flagged", "immersed"])
def test_a_budget_with_eddies_has_the_bits_of_a_cpu(bodies, tmp_path):
    eddies, budget = {"model": "smagorinsky", "damping": "none"}, {"every": {"steps": 1}, "budget": True}
    beside = {"obstacles": [BALL], "bodies": {"treatment": bodies}} if bodies else {}
    case = stirred(turbulence=eddies, statistics=budget, output={"precision": "double"}, machine={}, **beside)
    go(case, tmp_path / "host")
    go(case, tmp_path / "device", (1, 1, 2), device=gpu())
    host, device = (dataset(tmp_path / name / "fields.zarr", "statistics").load() for name in ("host", "device"))
    xr.testing.assert_identical(device.drop_attrs(), host.drop_attrs())


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 1, 2), (2, 1, 2)])
def test_spectra_are_those_on_a_cpu(blocks, precision, tmp_path):
    """But for the rounding of another library's transforms."""
    item = {"every": {"steps": 1}, "fields": ["u", "w", "T"], "pairs": [["u", "T"]]}
    tables = ({"name": name, "along": name, **item} for name in (*"xyz", "all"))
    case = turning(*tables, machine={"precision": precision})
    go(case, tmp_path / "host", blocks)
    go(case, tmp_path / "device", blocks, device=gpu())
    for group in (*"xyz", "all"):
        host, device = (dataset(tmp_path / name / "fields.zarr", group).load() for name in ("host", "device"))
        eps = np.finfo("f4" if precision == "single" else "f8").eps
        both = float(np.sqrt(host.spectrum_u.max() * host.spectrum_T.max()))
        for name in (str(name) for name in host if "k" in host[name].dims):
            most = (both if "u_T" in name else float(host[name].max())) * eps
            np.testing.assert_allclose(device[name], host[name], rtol=0, atol=64 * most)


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("blocks", [(1, 1, 2), (2, 1, 2), (1, 3, 1)])
def test_blocks_do_not_change_a_bit_of_spectra(blocks, precision, tmp_path):
    """cuFFT transforms a row alike, whatever is beside it, where its length has small factors."""
    item = {"fields": ["u", "T"], "pairs": [["u", "w"], ["w", "T"]], "every": {"steps": 1}}
    tables = ({"name": name, "along": name, **item} for name in (*"xyz", "all"))
    grid = {"cells": [64, 48, 60], "lengths": [1.0, 0.7, 1.3]}
    case = turning(*tables, grid=grid, pressure={"iterations": 4}, time={"steps": 2}, machine={"precision": precision})
    go(case, tmp_path / "one", device=gpu())
    go(case, tmp_path / "cut", blocks, device=gpu())
    for name in (*"xyz", "all"):
        one, cut = (dataset(tmp_path / which / "fields.zarr", name).load() for which in ("one", "cut"))
        xr.testing.assert_identical(cut, one)


@KERNELS
@pytest.mark.parametrize("scheme", ["ab2", "rk3"])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_scalars_on_gpus_have_the_bits_of_a_cpu(precision, scheme):
    case = mixed(scheme, precision)
    host, device = compute(case), compute(case, (1, 1, 2), device=one_gpu())
    for name in ("u", "v", "w", "p", "T", "smoke", "dye"):
        np.testing.assert_array_equal(device[name], host[name], err_msg=name)


@KERNELS
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize(("along", "blocks"), [("x", (1, 1, 2)), ("z", (1, 1, 1)), ("z", (1, 1, 2))])
def test_implicit_diffusion_on_a_gpu_has_the_bits_of_a_cpu(along, blocks, precision):
    case = warm(along, machine={"precision": precision}, grid__stretching={"z": {"tanh": 1.0}})
    host, device = compute(case), compute(case, blocks, device=gpu())
    for name in ("u", "v", "w", "p", "T", "dye", "smoke"):
        np.testing.assert_array_equal(device[name], host[name], err_msg=name)


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("model", ["smagorinsky", "wale", "vreman"])
def test_eddies_on_a_gpu_are_those_on_a_cpu(model, precision):
    """To the bit: roots are rounded alike, and damping is made of sums and products."""
    case = flow("rough", precision, turbulence={"model": model})
    host = compute(case)
    for blocks in ((1, 1, 1), (2, 1, 2)):
        device = compute(case, blocks, device=one_gpu())
        for name in host.padded:
            np.testing.assert_array_equal(device[name], host[name], err_msg=name)
        assert device.scalars["eddy"] == host.scalars["eddy"]


@KERNELS
@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 1, 2)], ids=str)
@pytest.mark.parametrize("pressure", [
    {"solver": "fft"}, {"solver": "multigrid", "tolerance": 1e-10},
    {"solver": "jacobi", "tolerance": 1e-10, "max_iterations": 20000},
], ids=str)  # fmt: skip
def test_solvers_find_on_a_gpu_what_they_find_on_a_cpu(pressure, blocks):
    case = flow("walls", pressure=pressure)
    host, device = compute(case, blocks), compute(case, blocks, device=one_gpu())
    for name in ("u", "v", "w", "T"):
        np.testing.assert_allclose(device[name], host[name], rtol=0, atol=1e-8, err_msg=name)
    assert device.scalars.get("rounds") == host.scalars.get("rounds")


@pytest.mark.parametrize("overlap", ["none", "comm", "full"])
@pytest.mark.parametrize("blocks", [(1, 1, 2), (1, 1, 3), (2, 1, 2), (2, 2, 2)])
def test_blocks_and_overlap_change_nothing(blocks, overlap):
    case = flow("walls")
    one, many = compute(case, device=gpu()), compute(case, blocks, overlap=overlap, device=gpu())
    for name in one.padded:
        np.testing.assert_array_equal(many[name], one[name], err_msg=name)


def test_tasks_with_python_bodies_run_on_arrays_of_the_gpu():
    space = region((6, 4, 9))
    expected, scalars = oracle(space)
    start, program, partition = noise(space), Everything(space), Partition(space, (1, 1, 2))
    origin = space.cells.grow(space.ghost).lo

    def job(shard):
        shard.write({name: start[name][shard.instances.box.slices(origin)] for name in NAMES}, shard.instances.box)
        for _ in range(4):
            shard.run(program, dt=0.5)
        owned = partition.owned[shard.block]
        return owned, {role: shard.read(role, owned) for role in NAMES}, dict(shard.scalars)

    for owned, fields, result in run_threads(partition, job, gpu()):
        assert result["largest"] == pytest.approx(scalars["largest"], rel=1e-13)
        for role, values in fields.items():
            np.testing.assert_allclose(values, expected[role][owned.slices(origin)], rtol=1e-12, err_msg=role)


@task
def fill(a: Read, b: Write) -> None:
    """b = a + 1"""
    b[...] = a[...] + 1


@task
def largest(b: Read, *, value: Reduce[max]) -> None:
    """value = max of b"""
    value.fold(b[...])


def test_reductions_on_large_fields_are_of_this_step():
    """A read of a scalar waits for the kernels that lead to it: with small fields they would be done anyway."""
    space = Region(Box.of((256, 256, 256)), FieldSpace([Field("a"), Field("b")]), ghost=0)

    def program(f):
        yield fill(f.a, f.b, over=space.cells)
        f.swap("a", "b")
        yield largest(f.a, over=space.cells, value="value")

    def job(shard):
        result = []
        for _ in range(10):
            shard.run(program)
            result.append(shard.scalars["value"])
        return result

    assert run_threads(Partition(space, (1, 1, 1)), job, gpu())[0] == list(range(1, 11))


def test_monitored_numbers_are_those_of_the_fields():
    case = Case.load("examples/lid_driven_cavity.toml", ["grid.cells=[256,32,256]", "grid.lengths=[1.0,0.125,1.0]",
                     "time.steps=20", "machine.precision=single"])  # fmt: skip
    host, device = compute(case), compute(case, device=gpu())
    for name in ("rate", "divergence", "speed"):
        assert device.scalars[name] == host.scalars[name], name
    for name in ("energy", "residual", "norm"):
        assert device.scalars[name] == pytest.approx(host.scalars[name], rel=1e-10), name


def test_copy_bandwidth_is_that_of_a_gpu():
    assert copy_bandwidth(gpu()) > 2e11


def test_a_case_runs_on_a_dask_cuda_cluster(tmp_path):
    run = tf.run(flow("walls", device="gpu", blocks=[1, 1, 2], workers=1), tmp_path / "gpu")
    assert run.report["device"] == "gpu"
    assert run.report["channels"] == ["local"]
    host = tf.run(flow("walls", device="cpu"), tmp_path / "cpu")
    for name in ("u", "v", "w", "p", "T"):
        np.testing.assert_array_equal(run.dataset()[name], host.dataset()[name], err_msg=name)


@pytest.mark.multigpu
@pytest.mark.parametrize("channel", ["peer", "ucx", "actor"])
@pytest.mark.parametrize("overlap", ["auto", "none", "comm", "full"])
def test_one_and_two_gpus_agree_to_the_bit(tmp_path, overlap, channel):
    if (problem := channel_problem(channel)) is not None:
        pytest.skip(problem)
    one = tf.run(flow("walls", device="gpu", blocks=[1, 1, 1]), tmp_path / "one")
    two = tf.run(flow("walls", device="gpu", blocks=[1, 1, 2], overlap=overlap, channel=channel), tmp_path / "two")
    assert len({place["worker"] for place in two.report["hardware"]}) == 2
    assert two.report["channels"] == [channel]
    for name in ("u", "v", "w", "p", "T"):
        np.testing.assert_array_equal(two.dataset()[name], one.dataset()[name], err_msg=name)


@pytest.mark.multigpu
@pytest.mark.parametrize("overlap", ["none", "full"])
def test_one_process_has_a_block_on_each_gpu(tmp_path, overlap):
    one = tf.run(flow("walls", device="gpu", blocks=[1, 1, 1]), tmp_path / "one")
    two = tf.run(flow("walls", device="gpu", blocks=[1, 1, 2], workers=1, overlap=overlap), tmp_path / "two")
    assert len({place["worker"] for place in two.report["hardware"]}) == 1
    assert len({place["gpu_id"] for place in two.report["hardware"]}) == 2
    for name in ("u", "v", "w", "p", "T"):
        np.testing.assert_array_equal(two.dataset()[name], one.dataset()[name], err_msg=name)


@pytest.mark.multigpu
@pytest.mark.filterwarnings("ignore:the state is not steady after time.steps")
def test_charts_of_one_process_are_on_two_gpus(tmp_path):
    """Each of which allows launches of stages their shared memory."""
    on_charts = partial(changed, TURNED, machine__device="gpu")
    one = tf.run(Case(**on_charts(machine__blocks=1)), tmp_path / "one")
    two = tf.run(Case(**on_charts(machine__blocks=2, machine__workers=1)), tmp_path / "two")
    assert len({place["gpu_id"] for place in two.report["hardware"]}) == 2
    xr.testing.assert_equal(two.dataset().load(), one.dataset().load())


def test_accelerators_are_those_of_cupy():
    import cupy

    result = accelerators()
    assert len(result) == cupy.cuda.runtime.getDeviceCount()
    for gpu_found in result:
        with cupy.cuda.Device(gpu_found.ordinal):
            free, memory = cupy.cuda.runtime.memGetInfo()
        assert gpu_found.memory == pytest.approx(memory, rel=0.02)
        assert gpu_found.free == pytest.approx(free, rel=0.2)
