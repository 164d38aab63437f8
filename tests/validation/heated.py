"""Air between a hot and a cold wall, after de Vahl Davis (1983): x from the hot wall, gravity down along z."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from taskflow.cases import Case
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine.device import Device
from taskflow.runtime.tasks import Launch, Roles
from tests.flows import DATA, Flow, compute, extremum, plane_heat_flux
from tests.validation.cavity import table

PRANDTL = 0.71


def heated(n: int, Ra: float, end: float, sweeps: int = 30, **time: float) -> Case:
    """n^2 cells, from rest and the mean temperature, to `end` or to a steady state. Unit: diffusivity."""
    sides = {"y": "periodic", "z_min": "wall", "z_max": "wall"}
    return _case([n, 1, n], Ra, sides, {"end": end, **time}, {"iterations": sweeps})


def heated_cube(n: int, Ra: float, end: float, **time: float) -> Case:
    """The same in a cube of n^3 cells, whose four other walls are insulated."""
    sides = dict.fromkeys(("y_min", "y_max", "z_min", "z_max"), "wall")
    return _case([n, n, n], Ra, sides, {"end": end, **time}, {"solver": "fft"})


def _case(cells: list[int], Ra: float, sides: dict, time: dict, pressure: dict) -> Case:
    hot, cold = ({"type": "wall", "temperature": value} for value in (1.0, 0.0))
    return Case(
        grid={"cells": cells, "lengths": [1.0, 1.0, 1.0]},
        fluid={"viscosity": PRANDTL},
        heat={"diffusivity": 1.0, "expansion": Ra * PRANDTL, "reference": 0.5},
        body={"gravity": [0.0, 0.0, -1.0]},
        boundaries={"x_min": hot, "x_max": cold, **sides},
        time=time,
        pressure=pressure,
        monitor={"every": {"steps": 50}},
    )


def compute_fluxes(case: Case, device: Device | None = None) -> Flow:
    """The flow, with the heat flux through plane i across x as scalar plane_i: i = 0, n/2 and n, the hot wall first."""
    setup = RunSetup(case, (1, 1, 1))
    n = case.grid.cells[0]

    def fluxes(f: Roles) -> Iterator[Launch]:
        for plane in (0, n // 2, n):
            yield plane_heat_flux(f.T, f.u, f"plane_{plane}", 0, plane, setup.model.grid, case.heat.diffusivity)

    return compute(case, after=fluxes, device=device)


@dataclass(frozen=True)
class Numbers:
    """What de Vahl Davis tabulates: mean Nusselt numbers of the hot wall, the middle and the cold wall; the largest
    horizontal velocity on x = 1/2 and the largest vertical one on z = 1/2.
    """

    hot: float
    middle: float
    cold: float
    u_max: float
    v_max: float

    @classmethod
    def of(cls, flow: Flow) -> Numbers:
        """For an even number of cells, which have a face in the middle."""
        n, across, _ = flow.setup.grid.cells
        centres = flow.setup.grid.coordinates("c", 0)
        hot, middle, cold = (flow.scalars[f"plane_{plane}"] / (n * across) for plane in (0, n // 2, n))
        u_max = extremum(centres, flow["u"][:, across // 2, n // 2], 1)[1]
        v_max = extremum(centres, flow["w"][n // 2, across // 2, :], 1)[1]
        return cls(hot, middle, cold, u_max, v_max)

    @property
    def tabulated(self) -> dict[str, float]:
        """By the names of the table."""
        return {"Nu_mean": self.hot, "u_max": self.u_max, "v_max": self.v_max}


def de_vahl_davis(Ra: float) -> dict[str, float]:
    """The rows of the table on which two sources agree."""
    rows = [row for row in table(DATA / "devahldavis1983_pr071.csv") if float(row["Ra"]) == Ra]
    return {row["quantity"]: float(row["value"]) for row in rows if row["status"] in ("xchk", "xchk~")}


def errors(numbers: Numbers, Ra: float) -> dict[str, float]:
    """Relative errors."""
    known = de_vahl_davis(Ra)
    return {name: abs(value / known[name] - 1) for name, value in numbers.tabulated.items()}


def imbalance(numbers: Numbers) -> float:
    """How far the fluxes through walls and middle are from each other, relative."""
    fluxes = np.array([numbers.hot, numbers.middle, numbers.cold])
    return float(np.ptp(fluxes) / fluxes[1])
