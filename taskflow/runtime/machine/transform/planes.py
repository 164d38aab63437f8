"""Fourier transforms of planes of real values, from array to array, with plans that are made once."""

from __future__ import annotations

import numpy as np

from taskflow.runtime.machine.device import Array, Call, Device, Lane
from taskflow.runtime.machine.transform import cuda, host


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
    return host.forward(values, spectrum, device.threads)


def inverse(device: Device, lane: Lane, spectrum: Array, values: Array, *, cells: int) -> Call:
    """An operation that undoes `forward` of rows of so many cells, but for a factor: `values` become nx ny times those
    that were transformed. What `spectrum` holds afterwards is not defined.
    """
    if values.shape[2] != cells:
        raise ValueError(f"rows of {cells} cells cannot be transformed to rows of {values.shape[2]}")
    _check(values, spectrum)
    if device.kind == "gpu":
        return cuda.inverse(device, lane, spectrum, values)
    return host.inverse(spectrum, values, device.threads)


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
        for each in calls:
            each()

    return call


def _check(values: Array, spectrum: Array) -> None:
    nz, ny, nx = values.shape
    size = np.dtype(values.dtype).itemsize
    if spectrum.shape != (nz, ny, width(nx)) or spectrum.dtype != values.dtype:
        found, wanted = f"{spectrum.dtype} {spectrum.shape}", f"{values.dtype} {(nz, ny, width(nx))}"
        raise ValueError(f"the transform of {values.dtype} {values.shape} is {wanted}, not {found}")
    if np.dtype(values.dtype).name not in ("float32", "float64"):
        raise ValueError(f"cannot transform {values.dtype}: give float32 or float64")
    for array in (values, spectrum):
        if array.size and (array.strides[2] != size or any(stride % size for stride in array.strides)):
            raise ValueError("cannot transform views that are not contiguous along x")
