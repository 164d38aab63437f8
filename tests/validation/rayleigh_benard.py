"""A layer of fluid heated from below: when its rest becomes unstable.

Units: height, diffusivity, temperature difference.
"""

from __future__ import annotations

import numpy as np

from taskflow.cases import Case
from tests.flows import compute

# Between two walls rest is unstable from Ra = 1707.762 on, to waves of wavenumber 3.117 (A. Pellew, R. V. Southwell
# 1940, Proc. R. Soc. A 176, 312-343; S. Chandrasekhar 1961, Hydrodynamic and Hydromagnetic Stability, section 15).
CRITICAL, WAVENUMBER = 1707.762, 3.117


def layer(n: int, Ra: float, end: float) -> Case:
    """n cells across, 2n along one wave; conduction, with a disturbance that is as small as to stay linear."""
    wave = 2 * np.pi / WAVENUMBER
    return Case(
        grid={"cells": [2 * n, 1, n], "lengths": [wave, 1.0, 1.0]}, fluid={"viscosity": 1.0},
        heat={"diffusivity": 1.0, "expansion": Ra, "reference": 0.5}, body={"gravity": [0, 0, -1]},
        boundaries={"x": "periodic", "y": "periodic",
                    "z_min": {"type": "wall", "temperature": 1.0}, "z_max": {"type": "wall", "temperature": 0.0}},
        initial={"temperature": f"1 - z + 1e-4*cos({WAVENUMBER}*x)*sin(pi*z)"},
        time={"end": end, "scheme": "rk3", "diffusion": 0.4}, pressure={"solver": "fft"},
        monitor={"every": {"time": end / 4}},
    )  # fmt: skip


def growth(n: int, Ra: float, end: float = 0.6) -> float:
    """The rate at which the disturbance grows, per time: half that of the energy, late in the run."""
    before, last = (line["energy"] for line in compute(layer(n, Ra, end)).history[-2:])
    return float(np.log(last / before) / (2 * end / 4))


def critical(n: int) -> float:
    """The Rayleigh number without growth, on the line through two beside it."""
    low, high = 1650.0, 1750.0
    slow, fast = growth(n, low), growth(n, high)
    return low - slow * (high - low) / (fast - slow)
