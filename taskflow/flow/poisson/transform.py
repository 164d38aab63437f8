"""Planes to modes and back: real Fourier transforms, and the order of cells that makes cosine transforms of them."""

from typing import Any

import numpy as np

from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.spectrum import Spectrum
from taskflow.runtime.tasks import Foreign, ReadWrite, Write, lines, task


@task(library="forward")
def forward(rhs: Foreign[lines("xy")], spectrum: Write) -> None:
    """spectrum = the two-dimensional discrete Fourier transform of each plane of rhs"""
    source: Any = rhs
    target: Any = spectrum
    target[...] = np.fft.rfft2(source[...]).view(source[...].dtype)


@task(library="forward_in_place")
def forward_in_place(spectrum: ReadWrite, *, cells: int) -> None:
    """The transform of the first so many cells of each row, and of all rows of a plane."""
    values: Any = spectrum
    values[...] = np.fft.rfft2(values[...][:, :, :cells]).view(values[...].dtype)


@task(library="inverse_in_place")
def inverse_in_place(spectrum: ReadWrite, *, cells: int) -> None:
    """The transform back, times the values of a plane, to the first so many cells of each row."""
    values: Any = spectrum
    values[...][:, :, :cells] = _back(values[...], cells)


@task(library="inverse")
def inverse(spectrum: Foreign[lines("xy")], p: Write, *, cells: int) -> None:
    """p = the transform back to rows of so many cells, times the values of a plane. The spectrum is spent by it."""
    source: Any = spectrum
    target: Any = p
    target[...] = _back(source[...], cells)


def _back(values: np.ndarray, cells: int) -> np.ndarray:
    modes = np.ascontiguousarray(values).view(np.result_type(values.dtype, np.complex64))
    return np.fft.irfft2(modes, (values.shape[1], cells), norm="forward")


@task(kernel=KERNELS / "poisson" / "dct_order.cu")
def to_dct_order(spectrum: Write, rhs: Foreign[lines("xy")], *, s: Spectrum) -> None:
    """spectrum = rhs in the order, and with the signs, in which a Fourier transform is a cosine or a sine transform."""


@task(kernel=KERNELS / "poisson" / "dct_order.cu")
def from_dct_order(p: Write, spectrum: Foreign[lines("xy")], *, s: Spectrum) -> None:
    """p = what `to_dct_order` has put in order"""


@task(kernel=KERNELS / "poisson" / "dct_order.cu")
def transfer(there: Write, here: Foreign) -> None:
    """there = here, in another region"""
