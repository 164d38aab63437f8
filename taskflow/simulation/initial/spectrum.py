"""Spectra of turbulence: how kinetic energy is spread over wavenumbers. Their scale is free, their peak is at 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Spectrum:
    """E(k / k_peak), and where it ends, in multiples of k_peak."""

    energy: Callable[[np.ndarray], np.ndarray]
    end: float


def _passot_pouquet(x: np.ndarray) -> np.ndarray:
    return x**4 * np.exp(-2 * x**2)


def _von_karman(x: np.ndarray) -> np.ndarray:
    return x**4 / (1 + 12 / 5 * x**2) ** (17 / 6)


SPECTRA = {
    "passot-pouquet": Spectrum(_passot_pouquet, 4.0),
    "von-karman": Spectrum(_von_karman, 8.0),
}
"""`passot-pouquet`: E ~ x^4 exp(-2 x^2), a band, less than 1e-10 of its peak beyond 4 (Passot & Pouquet 1987, J. Fluid
Mech. 181, 441). `von-karman`: E ~ x^4 / (1 + 12/5 x^2)^(17/6), which falls like x^(-5/3) (von Karman 1948, Proc. Natl.
Acad. Sci. 34, 530); cut off at 8.
"""
