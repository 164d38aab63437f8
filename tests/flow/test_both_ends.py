"""A side with values that depend on the place is the same at both of its ends: a mirror of a flow is a flow."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.cases import Case
from tests.flows import Flow, compute

FACES = [f"{axis}_{end}" for axis in "xyz" for end in ("min", "max")]


def beside(face: str, kind: str, blocks: tuple[int, int, int] = (1, 1, 1)) -> Flow:
    """Fluid that enters, or a wall that moves, with velocities along the side that a mirror turns round."""
    axis, way = "xyz".index(face[0]), -1 if face.endswith("max") else 1
    velocity = [f"0.4*{name}" if number != axis else way * (kind == "inflow") for number, name in enumerate("xyz")]
    sides = dict.fromkeys(FACES, "slip") | {face: {"type": kind, "velocity": velocity}}
    if kind == "inflow":
        sides[face[:2] + ("min" if way < 0 else "max")] = "outflow"
    return compute(Case(
        grid={"cells": [6, 6, 6], "lengths": [1, 1, 1], "origin": [-0.5] * 3}, fluid={"viscosity": 1e-3},
        boundaries=sides, turbulence={"model": "vreman"} if kind == "inflow" else None,
        time={"steps": 3, "step": 0.01}, output={"precision": "double"}, pressure={"solver": "jacobi", "iterations": 7},
    ), blocks)  # fmt: skip


@pytest.mark.fast("x_min-inflow", "y_max-wall", "z_max-inflow")
@pytest.mark.parametrize("kind", ["inflow", "wall"])
@pytest.mark.parametrize("face", FACES)
def test_both_ends_of_a_side_have_the_same_ghosts_and_eddies(face, kind):
    """Ghosts are 2 given - inside, and inside is 0 on both ends: these were the low end's, and 0 at the high one."""
    flow, axis = beside(face, kind), "xyz".index(face[0])
    for along in {0, 1, 2} - {axis}:
        q = np.moveaxis(flow.padded["uvw"[along]], (2 - axis, 2 - along), (0, 1))
        ghosts = q[-1 if face.endswith("max") else 0, 1:, 1:-1]
        np.testing.assert_allclose(ghosts[[0, -1]], np.broadcast_to([[-0.4], [0.4]], (2, 6)), rtol=1e-12)
        if kind == "inflow":
            nu_t = np.moveaxis(flow["nu_t"], 2 - along, 0)
            assert nu_t.max() > 0
            np.testing.assert_allclose(nu_t, nu_t[::-1], rtol=1e-6)
    cut = beside(face, kind, (2, 1, 2))
    for name in ("u", "v", "w", *(["nu_t"] if kind == "inflow" else [])):
        assert np.array_equal(flow[name], cut[name])
