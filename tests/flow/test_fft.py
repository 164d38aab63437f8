"""The direct solver leaves a residual of rounding size, for every mix of boundaries, on any blocks."""

from itertools import product

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.flow import Fluid, Grid, Monitor, NavierStokes, StaggeredGrid, Wall
from taskflow.flow.poisson import FFT, spectrum
from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import cpu, gpu
from taskflow.runtime.proof import Hardware, prove
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.runtime.tasks import Roles, exchange, record, serial

SPACING = (0.3, 0.2, 0.7)
LATER = [pytest.param(blocks, marks=pytest.mark.slow) for blocks in ((1, 1, 2), (1, 1, 4), (2, 2, 1))]
PLAIN, CORE = Mapper("none"), cpu(1)
ENDS = ["pp", "ww", "00", "w0", "0w"]  # of a direction: periodic, walls, p = 0


def solver(cells, ends, blocks=(1, 1, 1), spacing=SPACING):
    """For the two ends of each direction."""
    walls, values = ([tuple(end[n] == kind for end in ends) for n in (0, 1)] for kind in "w0")
    return FFT(Grid(cells, spacing, *walls), blocks, *values)


def partition(fft, dtype="f8"):
    """p and rhs on the blocks of a solver, with the solver's own regions beside."""
    periodic = tuple(kind == 0 for kind in fft.spectrum.low_end)
    space = FieldSpace(Field(name, dtype) for name in ("p", "rhs"))
    main = Partition(Region(Box.of(fft.grid.cells), space, periodic), fft.blocks)
    return Partition(main.region, main.shape, beside=fft.partitions(main))


def solved(fft, rhs, mapper=PLAIN, times=1, device=CORE):
    """p from rhs [z, y, x], after some solves, begun with something else in p."""
    where, p = partition(fft, rhs.dtype.str[1:]), np.empty_like(rhs)

    def job(shard):
        mine = shard.cells.slices((0, 0, 0))
        shard.write({"rhs": rhs[mine], "p": rhs[mine]})
        for _ in range(times):
            shard.run(fft.solve)
        p[mine] = shard.read("p")

    run_threads(where, job, device, mapper)
    return p


def laplacian(p, ends, spacing=SPACING):
    """The discrete Laplacian of p [z, y, x]; beyond a wall p is mirrored, beyond a face where it is 0 with a minus."""
    q, total = p.astype("f8"), np.zeros(p.shape)
    for axis, (kinds, h) in enumerate(zip(ends, spacing, strict=True)):
        along, result = np.moveaxis(q, 2 - axis, 0), np.moveaxis(total, 2 - axis, 0)
        beyond = {"p": (along[-1], along[0]), "w": (along[0], along[-1]), "0": (-along[0], -along[-1])}
        before, behind = beyond[kinds[0]][0], beyond[kinds[1]][1]
        around = np.concatenate([before[None], along, behind[None]])
        result += (around[2:] - 2 * around[1:-1] + around[:-2]) / h**2
    return total


def right_hand_side(cells, ends, dtype="f8"):
    """Noise; its sum is 0 where p is given nowhere."""
    rhs = np.random.default_rng(7).standard_normal(cells[::-1])
    if not any("0" in end for end in ends):
        rhs -= rhs.mean()
    return rhs.astype(dtype)


def residual(p, rhs, ends, spacing=SPACING):
    """max |rhs - Laplacian(p)| in units of what rounding makes of the terms of which it is the difference.

    The error of a fast transform grows with the logarithm of its size.
    """
    terms = 4 * sum(1 / h**2 for h in spacing) * np.abs(p).max() + np.abs(rhs).max()
    return np.abs(laplacian(p, ends, spacing) - rhs).max() / (np.finfo(rhs.dtype).eps * np.log2(rhs.size) * terms)


@pytest.mark.parametrize("dtype", ["f8", pytest.param("f4", marks=pytest.mark.slow)])
@pytest.mark.parametrize("cells", [(8, 6, 9), (7, 5, 11), (34, 3, 4)])
@pytest.mark.parametrize("ends", list(product(ENDS, repeat=3)), ids=" ".join)
@pytest.mark.fast("*-cells1-f8", "pp *-cells0-f8", "* 0w-cells2-f8")
def test_residual_is_rounding(ends, cells, dtype):
    rhs = right_hand_side(cells, ends, dtype)
    assert residual(solved(solver(cells, ends), rhs), rhs, ends) < 2


@pytest.mark.parametrize("dtype", ["f8", pytest.param("f4", marks=pytest.mark.slow)])
@pytest.mark.parametrize("blocks", [(1, 1, 3), (2, 1, 2), (3, 1, 1), *LATER])
@pytest.mark.parametrize(
    "ends", [("pp", "pp", "pp"), ("ww", "ww", "ww"), ("pp", "ww", "w0"), ("0w", "pp", "00"), ("ww", "pp", "pp")],
    ids=" ".join,
)  # fmt: skip
def test_blocks_agree(ends, blocks, dtype):
    cells = (7, 6, 13)
    rhs = right_hand_side(cells, ends, dtype)
    alone, cut = (solved(solver(cells, ends, each), rhs) for each in ((1, 1, 1), blocks))
    assert residual(cut, rhs, ends) < 2
    assert np.abs(cut - alone).max() < 64 * np.finfo(dtype).eps * np.abs(alone).max()


MIXES = [each.split() for each in ("pp pp pp", "pp pp ww", "pp pp 0w", "ww ww ww", "pp ww pp", "w0 pp 00")]
SOME = pytest.mark.parametrize("ends", MIXES, ids=" ".join)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 1, 2), (2, 1, 2)])
@pytest.mark.parametrize("cells", [(37, 18, 130), (5, 1, 70), (16, 8, 600)])
@SOME
def test_residual_is_rounding_on_a_gpu(ends, cells, blocks, dtype):
    """Whether the threads of a team can keep the planes of a slab, or one of them has to walk them."""
    rhs = right_hand_side(cells, ends, dtype)
    assert residual(solved(solver(cells, ends, blocks), rhs, device=gpu(), times=3), rhs, ends) < 2


@pytest.mark.multigpu
@pytest.mark.parametrize("overlap", ["none", "full"])
@pytest.mark.parametrize("blocks", [(1, 1, 2), (2, 1, 1)])
@SOME
def test_residual_is_rounding_on_gpus_that_see_each_other(ends, blocks, overlap):
    cells = (37, 18, 130)
    rhs = right_hand_side(cells, ends)
    p = solved(solver(cells, ends, blocks), rhs, Mapper(overlap), 5, [gpu(0), gpu(1)])
    assert residual(p, rhs, ends) < 2


@pytest.mark.parametrize("ends", [("pp", "pp", "pp"), ("ww", "ww", "ww")], ids=" ".join)
@pytest.mark.parametrize(("cells", "blocks"), [((6, 5, 9), (1, 1, 4)), ((5, 6, 1), (2, 2, 1)), ((9, 1, 2), (3, 1, 1))])
def test_more_blocks_than_slabs(cells, blocks, ends):
    """Nine planes for four blocks are three slabs of three; a plane or two are as many slabs."""
    rhs = right_hand_side(cells, ends)
    fft = solver(cells, ends, blocks)
    assert fft.spectrum.slabs < np.prod(blocks)
    assert residual(solved(fft, rhs), rhs, ends) < 2


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("ends", [("pp", "ww", "pp"), ("ww", "w0", "ww"), ("pp", "pp", "0w")], ids=" ".join)
@pytest.mark.parametrize("spacing", [(1.0, 0.01, 0.5), (0.02, 0.3, 3.0), (1.0, 1.0, 0.004)], ids=str)
@pytest.mark.parametrize(("cells", "blocks"), [((19, 32, 101), (1, 1, 1)), ((16, 17, 97), (1, 1, 3))])
def test_flat_and_long_cells(cells, blocks, spacing, ends, dtype):
    rhs = right_hand_side(cells, ends, dtype)
    p = solved(solver(cells, ends, blocks, spacing), rhs)
    assert residual(p, rhs, ends, spacing) < 2


@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 1, 3), (2, 1, 1)])
@pytest.mark.parametrize("ends", [("pp", "pp", "pp"), ("ww", "ww", "ww"), ("ww", "pp", "pp")], ids=" ".join)
def test_the_constant_is_that_of_the_lowest_plane(ends, blocks):
    rhs = right_hand_side((6, 8, 9), ends)
    p = solved(solver((6, 8, 9), ends, blocks), rhs)
    assert abs(p[0].mean()) < 1e-14 * np.abs(p).max()


def test_a_right_hand_side_that_rounding_has_shifted_changes_nothing_much():
    """Where the problem is singular and the sum of rhs is not 0, what is left over is one plane's share of it."""
    cells, ends = (8, 8, 16), ("ww", "pp", "ww")
    rhs = right_hand_side(cells, ends)
    p, shifted = (solved(solver(cells, ends), each) for each in (rhs, rhs + 1e-12))
    assert np.abs(shifted - p).max() < 1e-10 * np.abs(p).max()


@pytest.mark.parametrize("dtype", ["f8", pytest.param("f4", marks=pytest.mark.slow)])
@pytest.mark.parametrize("ends", [("pp", "pp", "pp"), ("ww", "ww", "ww")], ids=" ".join)
@pytest.mark.parametrize("cells", [(32, 40, 12), (45, 31, 11)])
def test_threads_change_no_bit(cells, ends, dtype):
    rhs = right_hand_side(cells, ends, dtype)
    one, *more = (solved(solver(cells, ends), rhs, device=cpu(threads)) for threads in (1, 2, 3))
    for other in more:
        np.testing.assert_array_equal(other, one)


@pytest.mark.parametrize("overlap", ["comm", "full"])
@pytest.mark.parametrize("blocks", [(1, 1, 3), (2, 1, 2)])
def test_the_way_of_overlap_changes_no_bit(blocks, overlap):
    cells, ends = (7, 6, 13), ("pp", "ww", "pp")
    rhs = right_hand_side(cells, ends)
    plain, other = (solved(solver(cells, ends, blocks), rhs, Mapper(each), 3) for each in ("none", overlap))
    np.testing.assert_array_equal(other, plain)


@pytest.mark.parametrize("ends", [("pp", "pp", "pp"), ("ww", "ww", "ww")], ids=" ".join)
@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 1, 3), (2, 2, 1)])
def test_nothing_is_read_that_was_not_filled(blocks, ends):
    cells = (6, 5, 9)
    rhs = right_hand_side(cells, ends)
    plain, poisoned = (solved(solver(cells, ends, blocks), rhs, Mapper("none", debug=debug)) for debug in (False, True))
    np.testing.assert_array_equal(poisoned, plain)


@pytest.mark.parametrize("near", [None, (0, 0)])
@pytest.mark.parametrize("overlap", ["none", "full"])
@pytest.mark.parametrize("blocks", [(1, 1, 2), (2, 1, 1)])
def test_the_templates_are_proved(blocks, overlap, near):
    fft = solver((6, 5, 8), ("pp", "ww", "pp"), blocks)
    proof = prove(partition(fft), {fft.solve: ()}, Mapper(overlap), Hardware(True, near))
    proof.hold()
    assert proof.reads > 100


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("cells", [(8, 6, 4), (7, 5, 3)])
def test_libraries_do_what_the_bodies_say(cells, dtype):
    """Each library task against its body in NumPy, which the serial execution of programs runs."""
    fft = solver(cells, ("pp", "pp", "pp"))
    where, modes = partition(fft, dtype), fft.spectrum.modes
    rhs = right_hand_side(cells, ("pp", "pp", "pp"), dtype)

    def program(f):
        yield spectrum.forward(f.rhs, f.spectrum, over=modes)
        yield spectrum.inverse_in_place(f.spectrum, over=modes, cells=cells[0])
        yield spectrum.forward_in_place(f.spectrum, over=modes, cells=cells[0])
        yield spectrum.inverse(f.spectrum, f.p, over=Box.of(cells), cells=cells[0])

    def job(shard):
        shard.write({"rhs": rhs})
        shard.run(program)
        return shard.read("p")

    regions = [each.region for each in (where, *where.beside)]
    memory = {name: array for each in regions for name, array in serial.allocate(each).items()}
    inside = Box.of(cells).slices((-1, -1, -1))
    memory["rhs"][inside] = rhs
    serial.run_program(regions[0], memory, record(program, Roles.of(tuple(where.fields)))[0], {}, regions[1:])
    [p] = run_threads(where, job, CORE, PLAIN)
    size = cells[0] * cells[1]
    np.testing.assert_allclose(p, memory["p"][inside], rtol=0, atol=size**2 * 16 * np.finfo(dtype).eps)
    np.testing.assert_allclose(p, size**2 * rhs, rtol=0, atol=size**2 * 32 * np.finfo(dtype).eps)


def test_slabs_tell_each_other_two_planes_and_no_more():
    fft = solver((8, 6, 12), ("pp", "pp", "pp"), (1, 1, 4))
    where = partition(fft)
    launches, _ = record(fft.solve, Roles.of(tuple(where.fields)))
    messages = [m for moment in exchange(launches, where).messages.values() for m in moment if m.source != m.target]
    moved = dict.fromkeys(where.fields, 0)
    for name, copy in (each for message in messages for each in message.copies):
        moved[name] += copy.source_box.volume
    plane = 10 * 6
    assert moved == {"p": 0, "rhs": 0, "spectrum": 0, "carry_up": 4 * 3 * plane, "carry_down": 4 * 3 * plane}


def test_a_model_steps_without_divergence():
    """Cells of 1/16, speeds of order 1: the correction leaves what rounding makes of velocities over spacings."""
    grid = StaggeredGrid((16, 12, 8), (1.0, 0.75, 0.5), periodic=(True, False, True))
    walls = {face: Wall((0.3, 0.0, 0.0)) for face in ("y_min", "y_max")}
    model = NavierStokes(grid, Fluid(0.01, (0.0, 0.0, 0.0)), walls, FFT(grid.constants, (1, 1, 2)))
    monitor, space = Monitor(model), FieldSpace(Field(name, "f8", location) for name, location in model.fields.items())
    main = Partition(Region(grid.box, space, grid.periodic), (1, 1, 2))
    where = Partition(main.region, main.shape, beside=model.partitions(main))

    def job(shard):
        noise = np.random.default_rng(shard.block)
        shard.write({name: noise.standard_normal(shard.cells.shape[::-1]) for name in ("u", "v", "w")})
        shard.run(model.start, dt=1.0, ratio=0.0)
        for _ in range(3):
            shard.run(model.step, dt=1e-3, ratio=1.0)
        shard.run(monitor)
        return shard.scalars["divergence"]

    assert max(run_threads(where, job, CORE, PLAIN)) < 1e-12


@pytest.mark.parametrize(
    ("low", "high"), [((False, True, True), (True, True, True)), ((True, True, True), (True, True, False))]
)
def test_half_periodic_is_refused(low, high):
    axis = "xyz"[[a != b for a, b in zip(low, high, strict=True)].index(True)]
    with pytest.raises(BadInput, match=f"{axis} is periodic at one end only; make both periodic"):
        FFT(Grid((4, 4, 4), (1.0, 1.0, 1.0), low, high))


def test_a_solver_is_made_for_its_blocks():
    fft = solver((4, 4, 4), ("pp", "pp", "pp"), (1, 1, 2))
    space = FieldSpace([Field("p"), Field("rhs")])
    with pytest.raises(ValueError, match=r"was made for \(1, 1, 2\) blocks, not for \(1, 2, 1\)"):
        fft.partitions(Partition(Region(Box.of((4, 4, 4)), space), (1, 2, 1)))
