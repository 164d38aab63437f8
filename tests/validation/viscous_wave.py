"""A standing wave on a viscous liquid between slip sides under an inviscid gas: the exact linear solution."""

from __future__ import annotations

import numpy as np

TERMS = 24  # of the contour: the sum is correct to ten digits


def decayed(time: np.ndarray, nu: float, k: float, depth: float, g: float, gas: float, height: float) -> np.ndarray:
    """The amplitude at times > 0 over that at rest at time 0, of the wavenumber k. `gas` is the gas's density over the
    liquid's, `height` that of the gas.

    With w = A sinh(k z) + B sinh(m z), m^2 = k^2 + s / nu, its Laplace transform follows from the kinematic condition
    and from both stresses on the surface. It is inverted along Talbot's contour (J. Abate, P. P. Valko 2004, Int. J.
    Numer. Meth. Eng. 60, 979).
    """
    angle = np.arange(1, TERMS) * np.pi / TERMS
    contour = 0.4 * TERMS * np.array([1, *(angle * (1 / np.tan(angle) + 1j))])
    weight = np.array([0.5, *(1 + 1j * (angle + (angle / np.tan(angle) - 1) / np.tan(angle)))])
    s = contour / np.asarray(time)[:, None]
    m = np.sqrt(k * k + s / nu)
    potential, vortical = np.sinh(k * depth), -2 * k * k * np.sinh(k * depth) / (m * m + k * k)
    rise = potential + vortical
    stretching = k * np.cosh(k * depth) + m * vortical / np.tanh(m * depth)
    inertia = s / k * (np.cosh(k * depth) + gas * rise / np.tanh(k * height))
    raised = -(inertia + 2 * nu * stretching) / ((1 - gas) * g)
    transform = raised / (s * raised - rise)
    return 0.4 / np.asarray(time) * (weight * np.exp(contour) * transform).real.sum(axis=1)
