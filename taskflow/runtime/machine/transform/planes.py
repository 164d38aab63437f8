"""Fourier transforms of planes of real values, from array to array, with plans that are made once: by cuFFT on a GPU,
by SciPy on the cores of a CPU.
"""

from __future__ import annotations

import numpy as np

from taskflow.runtime.machine.device import Array, Call, Device, Lane
from taskflow.runtime.machine.transform import cuda

CACHE = 1 << 20  # bytes of planes that a core transforms at a time: they stay in its cache between the two directions


def width(cells: int) -> int:
    """Reals in a row of the transform of rows of so many: complex numbers one after the other, of modes 0 to n / 2."""
    return 2 * (cells // 2 + 1)


def forward(device: Device, lane: Lane, values: Array, spectrum: Array) -> Call:
    """An operation that makes each plane of `spectrum` the two-dimensional discrete Fourier transform of `values`.

    S(a, b) = sum over (i, j) of v(i, j) exp(-2 pi i (a i / nx + b j / ny)). `values` is a view [nz, ny, nx],
    `spectrum` one [nz, ny, width(nx)] of the same precision, each contiguous along x. The operation only enqueues work
    on the lane, and allocates nothing on a GPU. Raises ValueError for other arrays.
    """
    _check(values, spectrum)
    if device.kind == "gpu":
        return cuda.forward(device, lane, values, spectrum)
    from scipy.fft import rfft2

    pieces = [(values[part], _complex(spectrum[part])) for part in _parts(values, device.threads)]

    def call() -> None:
        for source, target in pieces:
            target[...] = rfft2(source, axes=(1, 2), workers=device.threads)

    return call


def inverse(device: Device, lane: Lane, spectrum: Array, values: Array, *, cells: int) -> Call:
    """An operation that undoes `forward` of rows of so many cells, but for a factor: `values` become nx ny times those
    that were transformed. What `spectrum` holds afterwards is not defined.
    """
    if values.shape[2] != cells:
        raise ValueError(f"rows of {cells} cells cannot be transformed to rows of {values.shape[2]}")
    _check(values, spectrum)
    if device.kind == "gpu":
        return cuda.inverse(device, lane, spectrum, values)
    from scipy.fft import irfft2

    pieces = [(_complex(spectrum[part]), values[part]) for part in _parts(values, device.threads)]
    shape = values.shape[1:]

    def call() -> None:
        for source, target in pieces:
            target[...] = irfft2(source, shape, axes=(1, 2), norm="forward", workers=device.threads)

    return call


def forward_in_place(device: Device, lane: Lane, spectrum: Array, *, cells: int) -> Call:
    """`forward` of the first `cells` columns of an array to the array itself."""
    return forward(device, lane, spectrum[:, :, :cells], spectrum)


def inverse_in_place(device: Device, lane: Lane, spectrum: Array, *, cells: int) -> Call:
    """`inverse` of an array to its own first `cells` columns."""
    return inverse(device, lane, spectrum, spectrum[:, :, :cells], cells=cells)


def forward_rows(device: Device, lane: Lane, rows: Array, *, cells: int) -> Call:
    """An operation that makes of the first `cells` numbers of each row of an array [z, y, x] their discrete Fourier
    transform, in place: `forward` of planes of one row. Raises ValueError as that does.
    """
    nz, ny, nx = rows.shape
    if rows.strides[0] == ny * rows.strides[1]:  # one row behind the other through all planes
        return forward_in_place(device, lane, rows.reshape(nz * ny, 1, nx), cells=cells)
    calls = [forward_in_place(device, lane, plane.reshape(ny, 1, nx), cells=cells) for plane in rows]

    def call() -> None:
        for transform in calls:
            transform()

    return call


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


def _parts(values: np.ndarray, threads: int) -> list[slice]:
    nz, ny, nx = values.shape
    many = max(1, threads * CACHE // (ny * nx * values.itemsize))
    return [slice(start, min(start + many, nz)) for start in range(0, nz, many)]


def _complex(spectrum: np.ndarray) -> np.ndarray:
    return spectrum.view("c8" if spectrum.itemsize == 4 else "c16")
