"""Transforms of planes against sums written out, from and to arrays with ghost layers, in place, on CPUs and GPUs."""

import ctypes
import platform
import sys
from types import ModuleType, SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from scipy.fft import ifft, irfft, rfftn

from taskflow.common.errors import BadInput
from taskflow.runtime.machine import run_threads
from taskflow.runtime.machine.device import cpu, lanes, open_device
from taskflow.runtime.machine.kernel import transform
from taskflow.runtime.machine.kernel.transform import (
    forward,
    forward_in_place,
    forward_rows,
    inverse,
    inverse_in_place,
    width,
)
from taskflow.runtime.regions import Partition, region
from taskflow.runtime.tasks import Read, Write, task
from tests.runtime.machine.played_gpu import GpuArray

KINDS = ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)]
SHAPES = [(5, 6, 8), (4, 7, 9), (3, 1, 4), (2, 5, 1), (1, 1, 1), (2, 11, 13), (3, 64, 32)]


def rounding(values):
    """What rounding may leave in values that were transformed there and back."""
    return 16 * np.finfo(values.dtype).eps * np.abs(values).max()


def dft(values):
    """The discrete Fourier transform of planes by its definition, in double precision; modes 0 to nx / 2 along x."""
    _, ny, nx = values.shape
    x, y = (np.exp(-2j * np.pi * (np.outer(np.arange(n), np.arange(n)) % n) / n) for n in (nx, ny))
    return (y @ values.astype("f8") @ x)[:, :, : nx // 2 + 1]


def padded(device, values, ghost):
    """An array on a device whose inner part, returned beside it, holds the values; all around it is NaN."""
    outer = np.full([n + 2 * ghost for n in values.shape], np.nan, values.dtype)
    inner = (slice(ghost, -ghost or None),) * 3
    outer[inner] = values
    array = device.allocate(outer.shape, values.dtype)
    array[...] = device.xp.asarray(outer)
    return array, array[inner]


def modes(array):
    """Complex numbers from reals that follow each other."""
    return array[..., ::2] + 1j * array[..., 1::2]


def done(device, lane, call):
    device.synchronize()
    call()
    lane.synchronize()


@pytest.fixture
def values(request):
    shape, dtype = request.param
    return np.random.default_rng(3).standard_normal(shape).astype(dtype)


EVERY = pytest.mark.parametrize("values", [(s, d) for s in SHAPES for d in ("f4", "f8")], indirect=True, ids=str)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ghost", [0, 1, 2])
@EVERY
def test_forward_is_the_transform_by_its_definition(kind, ghost, values):
    device = open_device(kind, 2)
    lane, _ = lanes(device)
    _, source = padded(device, values, ghost)
    spectrum = device.allocate((*values.shape[:2], width(values.shape[2])), values.dtype)
    done(device, lane, forward(device, lane, source, spectrum))
    exact = dft(values)
    error = np.abs(modes(device.to_host(spectrum)) - exact).max()
    assert error < rounding(values) * np.sqrt(values[0].size)
    np.testing.assert_array_equal(device.to_host(source), values)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ghost", [0, 1, 2])
@EVERY
def test_inverse_undoes_forward_and_touches_no_ghosts(kind, ghost, values):
    device = open_device(kind, 2)
    lane, _ = lanes(device)
    spectrum = device.allocate((*values.shape[:2], width(values.shape[2])), values.dtype)
    spectrum[..., ::2], spectrum[..., 1::2] = (device.xp.asarray(part) for part in (dft(values).real, dft(values).imag))
    outer, target = padded(device, np.zeros_like(values), ghost)
    done(device, lane, inverse(device, lane, spectrum, target, cells=target.shape[2]))
    found, size = device.to_host(target), values[0].size
    assert np.abs(found / size - values).max() < rounding(values)
    assert np.isnan(device.to_host(outer)).sum() == outer.size - values.size


@pytest.mark.parametrize("kind", KINDS)
@EVERY
def test_in_place(kind, values):
    device = open_device(kind, 2)
    lane, _ = lanes(device)
    nx = values.shape[2]
    spectrum = device.allocate((*values.shape[:2], width(nx)), values.dtype)
    spectrum[..., :nx] = device.xp.asarray(values)
    present = forward_in_place(device, lane, spectrum, cells=nx)
    back = inverse_in_place(device, lane, spectrum, cells=nx)
    done(device, lane, present)
    error = np.abs(modes(device.to_host(spectrum)) - dft(values)).max()
    assert error < rounding(values) * np.sqrt(values[0].size)
    done(device, lane, back)
    found = device.to_host(spectrum[..., :nx]) / values[0].size
    assert np.abs(found - values).max() < rounding(values)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [slice(None), slice(0, 3)], ids=["whole", "part"])
@EVERY
def test_rows_alone(kind, rows, values):
    """All of an array, or some rows of each plane."""
    device = open_device(kind, 2)
    lane, _ = lanes(device)
    nz, ny, nx = values.shape
    array = device.allocate((nz, ny, width(nx)), values.dtype)
    array[..., :nx] = device.xp.asarray(values)
    done(device, lane, forward_rows(device, lane, array[:, rows], cells=nx))
    exact = dft(values.reshape(nz * ny, 1, nx)).reshape(nz, ny, -1)[:, rows]
    found = device.to_host(array)
    assert np.abs(modes(found[:, rows]) - exact).max() < rounding(values) * np.sqrt(nx)
    np.testing.assert_array_equal(found[:, exact.shape[1] :, :nx], values[:, exact.shape[1] :])


@pytest.mark.parametrize("kind", KINDS)
def test_planes_in_pieces_are_the_same(kind, monkeypatch):
    device = open_device(kind, 2)
    lane, _ = lanes(device)
    values = np.random.default_rng(4).standard_normal((7, 6, 10))
    _, source = padded(device, values, 1)
    found = []
    for count in (7, 3, 1):
        monkeypatch.setattr(transform, "CACHE", count * values[0].nbytes // device.threads)
        monkeypatch.setattr(transform, "VALUES", count * values[0].size)
        spectrum = device.allocate((7, 6, width(10)), "f8")
        done(device, lane, forward(device, lane, source, spectrum))
        found.append(np.array(device.to_host(spectrum)))
    for pieces in found[1:]:
        np.testing.assert_allclose(pieces, found[0], rtol=0, atol=rounding(values))


@pytest.mark.gpu
def test_a_graph_records_and_replays_both():
    from taskflow.runtime.machine.device.lane import captured

    device = open_device("gpu")
    lane, _ = lanes(device)
    values = np.random.default_rng(5).standard_normal((6, 12, 10))
    _, source = padded(device, values, 1)
    _, target = padded(device, np.zeros_like(values), 1)
    spectrum = device.allocate((6, 12, width(10)), "f8")
    calls = [forward(device, lane, source, spectrum), inverse(device, lane, spectrum, target, cells=target.shape[2])]
    replay = captured(lane, calls)
    for factor in (1.0, 2.0):
        source[...] = device.xp.asarray(factor * values)
        done(device, lane, replay)
        assert np.abs(device.to_host(target) / values[0].size - factor * values).max() < rounding(factor * values)


@pytest.mark.parametrize(
    ("values", "spectrum", "message"),
    [
        (np.zeros((2, 3, 4)), np.zeros((2, 3, 4)), r"is float64 \(2, 3, 6\), not float64 \(2, 3, 4\)"),
        (np.zeros((2, 3, 4), "f4"), np.zeros((2, 3, 6)), "not float64"),
        (np.zeros((2, 3, 4), "i4"), np.zeros((2, 3, 6), "i4"), "cannot transform int32: give float32 or float64"),
        (np.zeros((2, 3, 8))[..., ::2], np.zeros((2, 3, 6)), "not contiguous along x"),
    ],
)
def test_arrays_that_cannot_be_transformed(values, spectrum, message):
    device = open_device("cpu")
    with pytest.raises(ValueError, match=message):
        forward(device, lanes(device)[0], values, spectrum)
    with pytest.raises(ValueError, match=message):
        inverse(device, lanes(device)[0], spectrum, values, cells=values.shape[2])


def test_rows_of_another_length():
    device = open_device("cpu")
    with pytest.raises(ValueError, match="rows of 5 cells cannot be transformed to rows of 4"):
        inverse(device, lanes(device)[0], np.zeros((2, 3, 6)), np.zeros((2, 3, 4)), cells=5)


@task(library="backward")
def backward(a: Read, b: Write) -> None:
    """b = the transform of a, by a library that has no such operation"""
    b[...] = a[...]


def test_an_operation_that_no_library_has_is_refused():
    space = region((4, 4, 2), ("a", "b"))

    def job(shard):
        shard.run(lambda f: iter([backward(f.a, f.b, over=space.cells)]))

    with pytest.raises(BadInput, match='task backward: library = "backward" is not one of forward, forward_in_place, '):
        run_threads(Partition(space, (1, 1, 1)), job, cpu(1))


ROWS = [
    (1, 64, 5), (1, 64, 8), (1, 37, 100), (1, 512, 512), (1, 40, 768),
    (16, 12, 64), (8, 9, 100), (6, 256, 256),
]  # fmt: skip


def whole_and_parts(kind, numbers):
    """Pairs of transforms of the same rows, where there is one plane, or planes: of a part, and in one with all."""
    device = open_device(kind, 2)
    lane, _ = lanes(device)
    nz, _, nx = numbers.shape
    axis = 1 if nz == 1 else 0
    count = numbers.shape[axis]

    def found(part):
        rows = device.allocate((*part.shape[:2], width(nx)), part.dtype)
        rows[:, :, :nx] = device.xp.asarray(part)
        transform = forward_rows if nz == 1 else forward_in_place
        done(device, lane, transform(device, lane, rows, cells=nx))
        return device.to_host(rows)

    whole = found(numbers)
    for first, last in ((0, 1), (0, count // 2), (count // 2, count), (1, count - 1), (count // 3, count // 3 + 3)):
        places = range(first, last)
        yield found(numbers.take(places, axis)), whole.take(places, axis)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", ROWS, ids=str)
@pytest.mark.parametrize("precision", ["f4", "f8"])
def test_what_is_beside_does_not_change_the_bits_of_a_transform(kind, shape, precision):
    """Of as many rows or planes as a block has."""
    for part, whole in whole_and_parts(kind, np.random.default_rng(5).standard_normal(shape).astype(precision)):
        np.testing.assert_array_equal(part, whole)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("precision", ["f4", "f8"])
def test_beside_rows_of_a_large_prime_it_changes_rounding(kind, precision):
    """cuFFT transforms such rows in another way (L. I. Bluestein 1970), which depends on how many there are."""
    numbers = np.random.default_rng(5).standard_normal((1, 37, 1009)).astype(precision)
    for part, whole in whole_and_parts(kind, numbers):
        np.testing.assert_allclose(part, whole, rtol=0, atol=rounding(numbers) * np.sqrt(1009))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="SciPy may contract to fused multiply-adds there")
@pytest.mark.parametrize(
    "shape", [(16, 1, 16), (5, 12, 9), (3, 30, 44), (2, 23, 26), (9, 46, 34), (4, 64, 128)], ids=str
)
@pytest.mark.parametrize("precision", ["f4", "f8"])
def test_loops_of_numpy_have_the_bits_of_scipy(shape, precision, monkeypatch):
    monkeypatch.setattr(transform, "FEW", 1 << 30)
    values = np.random.default_rng(6).standard_normal(shape).astype(precision)
    device, axes = cpu(1), (1, 2) if shape[1] > 1 else (2,)
    lane, _ = lanes(device)
    spectrum = np.empty((*shape[:2], width(shape[2])), precision)
    forward(device, lane, values, spectrum)()
    modes = rfftn(values, axes=axes)
    np.testing.assert_array_equal(spectrum.view(modes.dtype), modes)
    inverse(device, lane, spectrum, values, cells=shape[2])()
    rows = ifft(modes, axis=1, norm="forward") if shape[1] > 1 else modes
    np.testing.assert_array_equal(values, irfft(rows, shape[2], axis=2, norm="forward"))


class Kind(NamedTuple):
    """A kind of transform, with the precision in which it is played."""

    back: bool
    real: str
    modes: str
    wide: str


class Plan:
    """A plan of cuFFT, played: planes of reals and of modes at the strides that it was made with."""

    def __init__(self, shape, embed, stride, dist, embed_out, stride_out, dist_out, kind, batch, *more):
        assert (stride, stride_out, more[:2]) == (1, 1, ("C", 2))
        self.shape, self.kind, self.batch = shape, kind, batch
        self.row, self.plane, self.row_out, self.plane_out = embed[1], dist, embed_out[1], dist_out
        assert more[2] == (shape[1] if kind.back else shape[1] // 2 + 1)

    def at(self, array, dtype, length, row, plane):
        shape, size = (self.batch, self.shape[0], length), np.dtype(dtype).itemsize
        assert array.data.ptr % np.dtype(self.kind.modes).itemsize == 0, "cuFFT takes no others"
        whole = ctypes.c_ubyte * (((shape[0] - 1) * plane + (shape[1] - 1) * row + length) * size)
        numbers = np.frombuffer(whole.from_address(array.data.ptr), dtype)
        return np.lib.stride_tricks.as_strided(numbers, shape, (plane * size, row * size, size))

    def fft(self, source, target, direction):
        assert direction == (1 if self.kind.back else -1)
        (ny, nx), modes = self.shape, self.shape[1] // 2 + 1
        kinds = (self.kind.modes, modes, self.kind.real, nx) if self.kind.back else (
            self.kind.real, nx, self.kind.modes, modes)  # fmt: skip
        read = np.array(self.at(source, *kinds[:2], self.row, self.plane), self.kind.wide)
        result = np.fft.irfft2(read, (ny, nx)) * nx * ny if self.kind.back else np.fft.rfft2(read)
        self.at(target, *kinds[2:], self.row_out, self.plane_out)[:] = result


@pytest.fixture
def played(monkeypatch):
    """A GPU with cuFFT, played, that takes 100 values at once."""
    cufft = ModuleType("cupy.cuda.cufft")
    cufft.CUFFT_R2C, cufft.CUFFT_D2Z = Kind(False, "f4", "c8", "f8"), Kind(False, "f8", "c16", "f8")
    cufft.CUFFT_C2R, cufft.CUFFT_Z2D = Kind(True, "f4", "c8", "c16"), Kind(True, "f8", "c16", "c16")
    cufft.CUFFT_FORWARD, cufft.CUFFT_INVERSE, cufft.PlanNd = -1, 1, Plan
    cuda = ModuleType("cupy.cuda")
    cuda.cufft = cufft
    for name, module in (("cupy", ModuleType("cupy")), ("cupy.cuda", cuda), ("cupy.cuda.cufft", cufft)):
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(transform, "VALUES", 100)
    monkeypatch.setattr(transform, "copier", lambda device, target, source, lane: lambda: np.copyto(target, source))
    return SimpleNamespace(kind="gpu"), lanes(cpu())[0]


@pytest.mark.parametrize("real", ["f4", "f8"])
@pytest.mark.parametrize("first", [0, 1, 2], ids=["aligned", "odd", "even"])
@pytest.mark.parametrize("shape", [(5, 6, 8), (4, 7, 9), (3, 1, 4), (1, 1, 1)])
def test_plans_of_a_gpu_have_the_places_of_rows_and_planes(shape, first, real, played):
    """Part by part, from values within ghost layers; those where cuFFT reads none are copied before."""
    device, lane = played
    nz, ny, nx = shape
    values = np.random.default_rng(2).normal(size=shape).astype(real)
    around = np.full((nz + 2, ny + 2, nx + nx % 2 + 6), 9.0, real).view(GpuArray)
    inner = around[1:-1, 1:-1, first : first + nx]
    inner[:] = values
    spectrum = np.full((nz, ny, width(nx)), 7.0, real).view(GpuArray)
    forward(device, lane, inner, spectrum)()
    modes = np.asarray(spectrum).view("c8" if real == "f4" else "c16")
    assert abs(modes - dft(values)).max() < 16 * np.finfo(real).eps * nx * ny
    inner[:] = 0.0
    inverse(device, lane, spectrum, inner, cells=nx)()
    assert abs(inner / (nx * ny) - values).max() < rounding(values)
    inner[:] = 9.0
    assert (np.asarray(around) == 9.0).all(), "nothing is written beyond"


def test_rows_of_a_gpu_whose_planes_are_apart(played):
    """In place: one transform if all rows are equally far apart, else one for each plane."""
    device, lane = played
    values = np.random.default_rng(3).normal(size=(3, 4, 10))
    for rows in (4, 6):
        whole = np.zeros((3, rows, width(10))).view(GpuArray)
        inner = whole[:, :4]
        inner[:, :, :10] = values
        forward_rows(device, lane, inner, cells=10)()
        expected = np.fft.rfft(values)
        assert abs(np.ascontiguousarray(inner).view("c16") - expected).max() < 1e-13
