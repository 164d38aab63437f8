"""Real Fourier transforms of planes and rows, from array to array, with cached plans: cuFFT on a GPU, for all planes
together up to a limit, and pocketfft on the cores of a CPU: SciPy's, or NumPy's for few values.

`OPERATIONS` are the library operations that tasks can name: functions of device, lane, the arrays [z, y, x] of the
task's fields, and its constants. They return an operation that only enqueues work on the lane.
"""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from taskflow.runtime.machine.device import Array, Call, Device, Lane
from taskflow.runtime.machine.kernel.agreement import KernelError
from taskflow.runtime.machine.kernel.compile_host import library
from taskflow.runtime.machine.kernel.copying import copier
from taskflow.runtime.machine.kernel.host_call import host_call
from taskflow.runtime.machine.kernel.includes import expanded

CACHE = 1 << 20  # bytes of planes per core and call: they stay in its cache between the two directions
# Values per call on a GPU: plans count in 32 bits, and their work areas take memory. Fewer planes, which would stay in
# the cache between the two directions, take longer (H200, 512^3, double precision: 1.6 ms with 32 MB per call, 1.3 ms
# with all planes).
VALUES = 1 << 28

# Up to so many values NumPy's loops, called from C, are faster than SciPy, whose calls take 11 us. Their bits are equal
# where neither is compiled to fused multiply-adds.
FEW = 2048
SAME_BITS = "x86_64"
HOST = Path(__file__).with_name("transforms.cc")
LOOP = [("call", np.uint64), ("data", np.uint64)]
# struct Planes of transforms.cc
PLANES = np.dtype([
    *((name, np.int64) for name in ("nx", "ny", "nz", "part", "values_y", "values_z", "modes_y", "modes_z", "rows",
                                    "threads")),
    *((name, LOOP) for name in ("to_modes", "to_values", "along_y", "back_along_y")),
])  # fmt: skip
Pieces = Iterable[tuple[np.ndarray, np.ndarray]]  # planes of values and of their modes


class Ufunc(ctypes.Structure):
    """The beginning of NumPy's `PyUFuncObject`."""

    _fields_ = (
        ("head", ctypes.c_byte * object.__basicsize__), ("nin", ctypes.c_int), ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int), ("identity", ctypes.c_int), ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)), ("ntypes", ctypes.c_int),
    )  # fmt: skip


# CuPy's cache of plans ignores streams: a plan has one work area, which two streams would overwrite concurrently. So
# plans are made here per lane, whose operations are sequential.
_plans: WeakKeyDictionary[Lane, dict[tuple[object, ...], Any]] = WeakKeyDictionary()


def width(cells: int) -> int:
    """Return the reals per row of the transform of `cells` reals: complex numbers of modes 0 to n / 2."""
    return 2 * (cells // 2 + 1)


def forward(device: Device, lane: Lane, values: Array, spectrum: Array) -> Call:
    """Return an operation that sets each plane of `spectrum` to the two-dimensional discrete Fourier transform of
    `values`.

    S(a, b) = sum over (i, j) of v(i, j) exp(-2 pi i (a i / nx + b j / ny)). `values` is a view [nz, ny, nx], `spectrum`
    a view [nz, ny, width(nx)] of the same precision, each contiguous along x. The operation only enqueues work on the
    lane, and allocates nothing on a GPU. Raises ValueError for other arrays.
    """
    _check(values, spectrum)
    if device.kind == "gpu":
        return _joined(lane, list(_cuda_forward(device, lane, values, spectrum)))
    return _host(device, "forward", values, spectrum, rows=values.shape[1] == 1)


def inverse(device: Device, lane: Lane, spectrum: Array, values: Array, *, cells: int) -> Call:
    """Return an operation that inverts `forward` for rows of `cells` values, without normalisation: `values` become nx
    ny times the original ones. The content of `spectrum` is undefined afterwards.
    """
    if values.shape[2] != cells:
        raise ValueError(f"rows of {cells} cells cannot be transformed to rows of {values.shape[2]}")
    _check(values, spectrum)
    if device.kind == "gpu":
        return _joined(lane, list(_cuda_inverse(device, lane, spectrum, values)))
    return _host(device, "inverse", values, spectrum, rows=values.shape[1] == 1)


def forward_in_place(device: Device, lane: Lane, spectrum: Array, *, cells: int) -> Call:
    """Return `forward` from the first `cells` columns of an array to the array itself."""
    return forward(device, lane, spectrum[:, :, :cells], spectrum)


def inverse_in_place(device: Device, lane: Lane, spectrum: Array, *, cells: int) -> Call:
    """Return `inverse` from an array to its own first `cells` columns."""
    return inverse(device, lane, spectrum, spectrum[:, :, :cells], cells=cells)


def forward_rows(device: Device, lane: Lane, rows: Array, *, cells: int) -> Call:
    """Return an operation that transforms the first `cells` numbers of each row of an array [z, y, x] in place:
    `forward` of planes of one row. Raises ValueError as `forward`.
    """
    nz, ny, nx = rows.shape
    if device.kind == "cpu":
        _check(rows[:, :, :cells], rows)
        return _host(device, "forward", rows[:, :, :cells], rows, rows=True)
    if rows.strides[0] == ny * rows.strides[1]:  # equally spaced rows through all planes
        return forward_in_place(device, lane, rows.reshape(nz * ny, 1, nx), cells=cells)
    calls = [forward_in_place(device, lane, plane.reshape(ny, 1, nx), cells=cells) for plane in rows]

    def call() -> None:
        for transform in calls:
            transform()

    return call


OPERATIONS: dict[str, Callable[..., Call]] = {
    operation.__name__: operation for operation in (forward, forward_in_place, forward_rows, inverse, inverse_in_place)
}


def _check(values: Array, spectrum: Array) -> None:
    nz, ny, nx = values.shape
    size = np.dtype(values.dtype).itemsize
    if spectrum.shape != (nz, ny, width(nx)) or spectrum.dtype != values.dtype:
        raise ValueError(
            f"the transform of {values.dtype} {values.shape} is {values.dtype} {(nz, ny, width(nx))},"
            f" not {spectrum.dtype} {spectrum.shape}"
        )
    if np.dtype(values.dtype).name not in ("float32", "float64"):
        raise ValueError(f"cannot transform {values.dtype}: give float32 or float64")
    for array in (values, spectrum):
        if array.size and (array.strides[2] != size or any(stride % size for stride in array.strides)):
            raise ValueError("cannot transform views that are not contiguous along x")


def _parts(values: Array, device: Device) -> list[slice]:
    many, nz = _most(values, device), len(values)
    return [slice(start, min(start + many, nz)) for start in range(0, nz, many)]


def _most(values: Array, device: Device) -> int:
    """Return the number of planes of a part."""
    most = VALUES if device.kind == "gpu" else device.threads * CACHE // values.itemsize
    return max(1, most // (values.shape[1] * values.shape[2]))


@cache
def _few_values(real: np.dtype) -> ctypes.CDLL:
    """Return the transforms of few values on a CPU, compiled on first use: most flows have more."""
    return library(expanded(HOST, real, {}))


@cache
def _loop(name: str, real: np.dtype) -> tuple[int, int]:
    """Return the addresses of NumPy's inner loop of a transform for a precision, and of its data.

    Raises KernelError if NumPy has another layout than the tested versions.
    """
    ufunc = getattr(import_module("numpy.fft._pocketfft_umath"), name)
    inside = Ufunc.from_address(id(ufunc))
    if (inside.nin, inside.nout, inside.ntypes) != (ufunc.nin, ufunc.nout, ufunc.ntypes):
        raise KernelError(f"numpy {np.__version__}: the layout of its functions is unknown; install another version")
    number = [kind[0].lower() for kind in ufunc.types].index(real.char)
    return inside.functions[number], (inside.data[number] or 0) if inside.data else 0


def _host(device: Device, name: str, values: Array, spectrum: Array, *, rows: bool) -> Call:
    """Return a transform on the cores of a CPU, of whole planes or only along the `rows`."""
    if values.size > FEW or platform.machine() != SAME_BITS:
        pieces = [(values[part], spectrum[part]) for part in _parts(values, device)]
        return (scipy_forward if name == "forward" else scipy_inverse)(pieces, device.threads, rows=rows)
    planes = np.zeros((), PLANES)
    planes["nz"], planes["ny"], planes["nx"] = values.shape
    for key, array in (("values", values), ("modes", spectrum)):
        planes[f"{key}_z"], planes[f"{key}_y"] = array.strides[:2]
    planes["part"], planes["rows"], planes["threads"] = _most(values, device), rows, device.threads
    loops = {
        "to_modes": "rfft_n_odd" if values.shape[2] % 2 else "rfft_n_even", "to_values": "irfft",
        "along_y": "fft", "back_along_y": "ifft",
    }  # fmt: skip
    for key, loop in loops.items():
        planes[key] = _loop(loop, values.dtype)
    places = [np.uint64(array.ctypes.data) for array in (values, spectrum)]
    return host_call(_few_values(values.dtype), name, [planes, *places], (values, spectrum))


def _cuda_forward(device: Device, lane: Lane, values: Array, spectrum: Array) -> Iterator[Call]:
    for part in _parts(values, device):
        source, target = values[part], spectrum[part]
        if not _aligned(source):
            inside = target[:, :, : source.shape[2]]
            yield copier(device, inside, source, lane)
            source = inside
        yield _transform(lane, source, target, back=False)


def _cuda_inverse(device: Device, lane: Lane, spectrum: Array, values: Array) -> Iterator[Call]:
    for part in _parts(values, device):
        source, target = spectrum[part], values[part]
        if _aligned(target):
            yield _transform(lane, target, source, back=True)
        else:
            inside = source[:, :, : target.shape[2]]
            yield _transform(lane, inside, source, back=True)
            yield copier(device, target, inside, lane)


def _joined(lane: Lane, calls: list[Call]) -> Call:
    def call() -> None:
        with lane.active():
            for transform in calls:
                transform()

    return call


def _transform(lane: Lane, values: Array, spectrum: Array, *, back: bool) -> Call:
    """Return the transform of some planes, on the current stream, which must be the lane's: plans belong to lanes."""
    from cupy.cuda import cufft

    nz, ny, nx = values.shape
    size, single = values.itemsize, values.itemsize == 4
    real = (ny, values.strides[1] // size), 1, values.strides[0] // size  # rows and their strides, in values
    modes = (ny, spectrum.strides[1] // (2 * size)), 1, spectrum.strides[0] // (2 * size)
    if back:
        layouts, arrays, length = (*modes, *real), (spectrum, values), nx
        kind, direction = (cufft.CUFFT_C2R if single else cufft.CUFFT_Z2D), cufft.CUFFT_INVERSE
    else:
        layouts, arrays, length = (*real, *modes), (values, spectrum), nx // 2 + 1
        kind, direction = (cufft.CUFFT_R2C if single else cufft.CUFFT_D2Z), cufft.CUFFT_FORWARD
    plans, key = _plans.setdefault(lane, {}), (kind, values.shape, layouts)
    if key not in plans:
        plans[key] = cufft.PlanNd((ny, nx), *layouts, kind, nz, "C", 2, length)
    plan = plans[key]
    return lambda: plan.fft(*arrays, direction)


def _aligned(values: Array) -> bool:
    """Return whether real values begin at the alignment of complex numbers, as cuFFT requires."""
    return bool(values.data.ptr % (2 * values.itemsize) == 0)


def scipy_forward(pieces: Pieces, workers: int, *, rows: bool) -> Call:
    """Return the transform of some planes at a time, or only of their rows."""
    from scipy.fft import rfftn

    pairs, axes = [(values, _complex(modes)) for values, modes in pieces], (2,) if rows else (1, 2)

    def call() -> None:
        for source, target in pairs:
            target[...] = rfftn(source, axes=axes, workers=workers)

    return call


def scipy_inverse(pieces: Pieces, workers: int, *, rows: bool) -> Call:
    """Return the inverse of `scipy_forward`, not normalised."""
    from scipy.fft import ifft, irfft

    pairs = [(values, _complex(modes)) for values, modes in pieces]

    def call() -> None:
        for target, source in pairs:  # irfft2 would do the same in new memory, which takes twice as long
            modes = source if rows else ifft(source, axis=1, norm="forward", overwrite_x=True, workers=workers)
            target[...] = irfft(modes, target.shape[2], axis=2, norm="forward", workers=workers)

    return call


def _complex(spectrum: np.ndarray) -> np.ndarray:
    return spectrum.view("c8" if spectrum.itemsize == 4 else "c16")
