"""Transforms of planes on a GPU, by cuFFT: all planes at once, but for very many.

CuPy keeps plans of its own, but its cache of plans knows no streams: a plan has one work area, and two streams that
use it at the same time spoil each other's. So plans are made here, for each lane its own, whose operations take turns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

from taskflow.runtime.machine.device import Array, Call, Device, Lane
from taskflow.runtime.machine.kernel import copier

# At a time: plans count in 32 bits, and their work areas take memory. Fewer planes, that would stay in the cache
# between the two directions, take longer (H200, 512^3, double precision: 1.6 ms with 32 MB at a time, 1.3 ms with all).
VALUES = 1 << 28

_plans: WeakKeyDictionary[Lane, dict[tuple[object, ...], Any]] = WeakKeyDictionary()


def forward(device: Device, lane: Lane, values: Array, spectrum: Array) -> Call:
    """See `planes.forward`."""
    return _joined(lane, list(_forward(device, lane, values, spectrum)))


def inverse(device: Device, lane: Lane, spectrum: Array, values: Array) -> Call:
    """See `planes.inverse`."""
    return _joined(lane, list(_inverse(device, lane, spectrum, values)))


def _forward(device: Device, lane: Lane, values: Array, spectrum: Array) -> Iterator[Call]:
    for part in _parts(values):
        source, target = values[part], spectrum[part]
        if not _aligned(source):
            inside = target[:, :, : source.shape[2]]
            yield copier(device, inside, source, lane)
            source = inside
        yield _transform(lane, source, target, back=False)


def _inverse(device: Device, lane: Lane, spectrum: Array, values: Array) -> Iterator[Call]:
    for part in _parts(values):
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
    """The transform of some planes, on the stream that is current: that of the lane, for which plans are."""
    from cupy.cuda import cufft

    nz, ny, nx = values.shape
    size, single = values.itemsize, values.itemsize == 4
    real = (ny, values.strides[1] // size), 1, values.strides[0] // size  # rows and what they begin apart, in numbers
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
    """cuFFT takes real values that begin where a complex number could."""
    return bool(values.data.ptr % (2 * values.itemsize) == 0)


def _parts(values: Array) -> list[slice]:
    nz, ny, nx = values.shape
    many = max(1, VALUES // (ny * nx))
    return [slice(start, min(start + many, nz)) for start in range(0, nz, many)]
