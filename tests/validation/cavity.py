"""The lid-driven cavity in two dimensions: one periodic cell across. Numbers of others are in tests/data."""

from __future__ import annotations

import csv
import tomllib
from dataclasses import dataclass

import numpy as np

from taskflow.cases import Case
from tests.flows import DATA, GHIA, Flow, extremum, interpolate

# O. Botella, R. Peyret (1998), Benchmark spectral results on the lid-driven cavity flow, Computers & Fluids 27,
# 421-433, doi:10.1016/S0045-7930(98)00002-4: the extrema on the centrelines at Re = 1000 (their lid moves to the left:
# the signs of u are turned). Remembered, as widely quoted, not read from the article.
BOTELLA_PEYRET_1000 = {"u_min": -0.3885698, "v_max": 0.3769447, "v_min": -0.5270771}


def cavity(n: int, Re: float, end: float, sweeps: int = 30, precision: str = "double", **time: float) -> Case:
    """n^2 cells, to `end` or to a steady state."""
    return Case(
        grid={"cells": [n, 1, n], "lengths": [1.0, 1.0, 1.0]},
        fluid={"viscosity": 1.0 / Re},
        boundaries={
            "x_min": "wall", "x_max": "wall", "y": "periodic", "z_min": "wall",
            "z_max": {"type": "wall", "velocity": [1.0, 0.0, 0.0]},
        },
        time={"end": end, **time},
        pressure={"iterations": sweeps},
        monitor={"every": {"steps": 20}},
        machine={"precision": precision},
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Profiles:
    """Velocity on the centrelines, walls included: u(y) on x = 1/2, v(x) on y = 1/2, where y is the upward axis, z."""

    places: np.ndarray
    u: np.ndarray
    v: np.ndarray

    @classmethod
    def of(cls, flow: Flow) -> Profiles:
        """For an even number of cells, which have a face in the middle."""
        n = flow.setup.grid.cells[0]
        centres = flow.setup.grid.coordinates("c", 0)
        u, v = flow["u"][:, 0, n // 2], flow["w"][n // 2, 0, :]
        return cls(np.r_[0.0, centres, 1.0], np.r_[0.0, u, 1.0], np.r_[0.0, v, 0.0])

    @property
    def extrema(self) -> dict[str, float]:
        """The smallest u, and the largest and smallest v."""
        expected = {"u_min": (self.u, -1), "v_max": (self.v, 1), "v_min": (self.v, -1)}
        return {name: extremum(self.places[1:-1], q[1:-1], sign)[1] for name, (q, sign) in expected.items()}

    def difference(self, Re: int, quantity: str) -> float:
        """Largest difference to the table of Ghia, Ghia & Shin (1982), over its rows in use."""
        rows = table(GHIA / f"ghia1982_re{Re}_{quantity}.csv")
        place = "y" if quantity == "u" else "x"
        used = [(float(row[place]), float(row[quantity])) for row in rows if row["use"] == "1"]
        return self.apart(quantity, *np.array(used).T)

    def apart(self, quantity: str, places: np.ndarray, values: np.ndarray) -> float:
        """Largest difference to the values of others at some places."""
        return float(np.abs(interpolate(self.places, getattr(self, quantity), places) - values).max())


def table(path) -> list[dict[str, str]]:
    """The rows of a CSV file below its lines of comment."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def marchi() -> dict[str, float]:
    """Extrema at Re = 100 after Marchi, Suero & Araki (2009), cross-checked."""
    return tomllib.loads((DATA / "marchi2009_re100_extrema.toml").read_text(encoding="utf-8"))["re100"]


def errors(profiles: Profiles, reference: dict[str, float]) -> dict[str, float]:
    """Relative errors of the extrema."""
    return {name: abs(value / reference[name] - 1) for name, value in profiles.extrema.items()}
