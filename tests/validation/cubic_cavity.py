"""The lid-driven cube at Re = 1000 after Albensoeder & Kuhlmann (2005): walls all round, the upper one moves along x.

Their profiles are in tests/data as one transcription, with extrema by another author that fit them. The cube's columns
are used; those of the cavity three times as wide have one source only.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from taskflow.cases import Case
from tests.flows import DATA, Flow
from tests.validation.cavity import Profiles, table

REYNOLDS = 1000
DIRECT = {"solver": "fft"}
SOURCE = "Albensoeder-Kuhlmann-2005"


def cube(n: int, end: float = 100.0, steady: float = 1e-5, pressure: Mapping[str, object] = DIRECT) -> Case:
    """n^3 cells from rest, to a steady state."""
    return Case(
        grid={"cells": [n, n, n], "lengths": [1.0, 1.0, 1.0]},
        fluid={"viscosity": 1.0 / REYNOLDS},
        boundaries={
            **dict.fromkeys(("x_min", "x_max", "y_min", "y_max", "z_min"), "wall"),
            "z_max": {"type": "wall", "velocity": [1.0, 0.0, 0.0]},
        },
        time={"end": end, "steady": steady},
        pressure=pressure,
        monitor={"every": {"steps": 50}},
    )  # fmt: skip


def centre_lines(flow: Flow) -> Profiles:
    """On the plane in the middle of the span, for an even number of cells, which has a face there.

    That face is between values: they are interpolated with order 4.
    """
    n = flow.setup.grid.cells[0]
    centres, middle = flow.setup.grid.coordinates("c", 0), n // 2
    weights = np.array([-1, 9, 9, -1]) / 16
    u, w = (np.einsum("y,zyx->zx", weights, flow[name][:, middle - 2 : middle + 2, :]) for name in ("u", "w"))
    places = np.r_[0.0, centres, 1.0]
    return Profiles(places, np.r_[0.0, u[:, middle], 1.0], np.r_[0.0, w[middle, :], 0.0])


def differences(profiles: Profiles) -> dict[str, float]:
    """The largest ones to the table, of u on the vertical centre line and of v, upwards, on the horizontal one."""
    result = {}
    for quantity, place in (("u", "y"), ("v", "x")):
        rows = table(DATA / f"albensoeder_kuhlmann2005_re1000_{quantity}.csv")
        places, values = np.array([(float(row[place]), float(row[f"{quantity}_cube"])) for row in rows]).T
        result[quantity] = profiles.apart(quantity, places, values)
    return result


def extrema() -> dict[str, float]:
    """Those of Albensoeder & Kuhlmann."""
    rows = table(DATA / "albensoeder_kuhlmann2005_re1000_extrema.csv")
    [row] = [row for row in rows if row["source"] == SOURCE]
    return {name: float(row[name]) for name in ("u_min", "v_max", "v_min")}
