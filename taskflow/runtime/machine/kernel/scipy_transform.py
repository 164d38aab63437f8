"""Fourier transforms on the cores of a CPU by SciPy, which transforms several rows at once in vectors."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from taskflow.runtime.machine.device import Call

Pieces = Iterable[tuple[np.ndarray, np.ndarray]]  # planes of values and of their modes


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
