"""Transforms of planes on CPU cores, by SciPy: as many planes at a time as stay in the cache between its passes."""

from __future__ import annotations

import numpy as np

from taskflow.runtime.machine.device import Call

CACHE = 1 << 20  # bytes of planes at a time, per core


def forward(values: np.ndarray, spectrum: np.ndarray, threads: int) -> Call:
    """See `planes.forward`."""
    from scipy.fft import rfft2

    pieces = [(values[part], _complex(spectrum[part])) for part in _parts(values, threads)]

    def call() -> None:
        for source, target in pieces:
            target[...] = rfft2(source, axes=(1, 2), workers=threads)

    return call


def inverse(spectrum: np.ndarray, values: np.ndarray, threads: int) -> Call:
    """See `planes.inverse`."""
    from scipy.fft import irfft2

    pieces = [(_complex(spectrum[part]), values[part]) for part in _parts(values, threads)]
    shape = values.shape[1:]

    def call() -> None:
        for source, target in pieces:
            target[...] = irfft2(source, shape, axes=(1, 2), norm="forward", workers=threads)

    return call


def _parts(values: np.ndarray, threads: int) -> list[slice]:
    nz, ny, nx = values.shape
    many = max(1, threads * CACHE // (ny * nx * values.itemsize))
    return [slice(start, min(start + many, nz)) for start in range(0, nz, many)]


def _complex(spectrum: np.ndarray) -> np.ndarray:
    return spectrum.view("c8" if spectrum.itemsize == 4 else "c16")
