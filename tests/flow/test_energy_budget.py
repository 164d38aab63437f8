"""Budgets of kinetic energy beside bodies: against NumPy, and what friction takes from the flow is all there."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

from taskflow.flow import Fluid
from taskflow.flow.measures.energy_budget import dissipation, eddy_budget
from tests.flow import test_immersed as immersed
from tests.flow import test_obstacles as flagged
from tests.flow.byhand import DT, RATIO, ByHand, momentum_with, variant
from tests.flow.test_obstacles import VELOCITY, WALLS, exchange
from tests.reference.stretched import Metrics
from tests.reference.surfaces import brought, spread

NU, SHARE = 0.03, 0.25
MEANS, FRICTION = ("mean_u", "mean_v", "mean_w"), ("friction_x", "friction_y", "friction_z")
BLOCKAGE = ("blockage_x", "blockage_y", "blockage_z")
Masks = list[np.ndarray]  # of low faces across x, y and z that are closed, [z, y, x] with one layer around


def beside(values: np.ndarray, *steps: int) -> np.ndarray:
    """The values some steps away (an axis, how far, ...); those of the layer around are good where it is beside."""
    for axis, by in zip(steps[::2], steps[1::2], strict=True):
        values = np.roll(values, -by, axis=2 - axis)
    return values


def inner(values: np.ndarray) -> np.ndarray:
    return values[1:-1, 1:-1, 1:-1]


def still(hand: ByHand, closed: Masks, names: tuple[str, ...]) -> None:
    """Velocities of 0 on closed faces."""
    for name, mask in zip(names, closed, strict=True):
        hand.fields[name][mask] = 0
        exchange(hand, name)


def at_steps(walls: tuple, real: str, names: list[str], **device: object) -> tuple[ByHand, Masks, Callable]:
    """Beside flagged bodies: the fields, closed faces, and what solid neighbours add along an axis on either side."""
    hand, numbers = flagged.prepared(walls, real, names, **device)
    solid = numbers > 0

    def solid_face(axis: int, along: int, by: int) -> np.ndarray:
        return beside(solid, along, by) & beside(solid, along, by, axis, -1)

    return hand, [solid | beside(solid, axis, -1) for axis in range(3)], solid_face


def at_surfaces(walls: tuple, real: str, names: list[str], **device: object) -> tuple[ByHand, Masks, Callable]:
    """Beside immersed bodies."""
    hand, bodies = immersed.prepared(walls, real, names, **device)
    return hand, [item > 0 for item in bodies], lambda *_: np.False_


def departures(hand: ByHand) -> list[np.ndarray]:
    return [hand.fields[q].astype("f8") - hand.fields[mean] for q, mean in zip(VELOCITY, MEANS, strict=True)]


def squares(hand: ByHand, closed: Masks, solid_face: Callable) -> np.ndarray:
    """(du'_i/dx_j)^2 in cells as differences of faces have it, all of it where one of them is closed; one of each two
    factors is that of the velocity in the centres of faces.
    """
    h, total = hand.staggered.spacing, 0.0
    for axis, q in enumerate(departures(hand)):
        immersed = FRICTION[axis] in hand.fields
        r = (1 + hand.fields[BLOCKAGE[axis]].astype("f8")) * q if immersed else q
        total = total + inner((beside(q, axis, 1) - q) * (beside(r, axis, 1) - r)) / h[axis] ** 2
        face = hand.fields[FRICTION[axis]] * q * r if immersed else np.zeros_like(q)
        for along in (n for n in range(3) if n != axis):
            for by in (-1, 1):
                square = (q - beside(q, along, by)) * (r - beside(r, along, by)) / h[along] ** 2
                whole = square * (1 + solid_face(axis, along, by))
                face = face + np.where(beside(closed[axis], along, by), whole, square / 2)
        face = np.where(closed[axis], 0, face)
        total = total + inner(face + beside(face, axis, 1)) / 2
    return total


def prepared(kind: str, walls: tuple, real: str, more: list[str], **device: object) -> tuple[ByHand, Masks, Callable]:
    """Random velocities, 0 on closed faces, with their means."""
    names = [*VELOCITY, *MEANS, "solid", *more, *((*FRICTION, *BLOCKAGE) if kind == "immersed" else ())]
    hand, closed, solid_face = (at_surfaces if kind == "immersed" else at_steps)(walls, real, names, **device)
    still(hand, closed, VELOCITY)
    still(hand, closed, MEANS)
    for name in ("solid", *more, *FRICTION, *BLOCKAGE):
        if name in hand.fields:
            exchange(hand, name)
    hand.scalars["share"] = SHARE
    return hand, closed, solid_face


DISSIPATION = {"flagged": variant(dissipation, "friction blockage"), "immersed": dissipation}


@pytest.mark.parametrize("walls", WALLS)
@pytest.mark.parametrize("kind", DISSIPATION)
def test_dissipation(kind, walls, real, device):
    hand, closed, solid_face = prepared(kind, walls, real, ["rate"], **device)
    expected = (1 - SHARE) * (hand.values("rate") + SHARE * NU * squares(hand, closed, solid_face))
    hand.run(hand.launch(DISSIPATION[kind], {"grid": hand.staggered.constants, "viscosity": NU}))
    hand.assert_agrees("rate", expected)


def lost(hand: ByHand, task, constants: list[dict], **fields: list[np.ndarray]) -> float:
    """What kinetic energy a momentum equation takes with the first constants, or fields, more than with the second."""
    moved = []
    for n in range(2):
        hand.fields |= {name: values[n] for name, values in fields.items()}
        hand.run(hand.launch(task, constants[n]))
        moved.append([hand.values(f"{name}_new").astype("f8") for name in VELOCITY])
        hand.fields |= {f"h_{name}": np.zeros_like(hand.fields[name]) for name in VELOCITY}
    power = sum((hand.values(q) * (b - a)).sum() for q, a, b in zip(VELOCITY, *moved, strict=True))
    return float(power) / (DT * (1 + RATIO / 2))


@pytest.mark.parametrize("kind", DISSIPATION)
def test_dissipation_is_what_friction_takes(kind, device):
    """Over all cells, of a velocity without a mean."""
    task = momentum_with(bodies=kind == "flagged")
    others = [f"{q}_new" for q in VELOCITY] + [f"h_{q}" for q in VELOCITY]
    flags = ["faces"] if kind == "flagged" else []
    hand, _, _ = prepared(kind, (False,) * 3, "f8", [*others, *flags, "rate"], **device)
    hand.fields |= {name: np.zeros_like(hand.fields[name]) for name in (*MEANS, "rate", *others)}
    grid = {"grid": hand.staggered.constants}
    hand.run(hand.launch(DISSIPATION[kind], {**grid, "viscosity": NU}))
    result = hand.values("rate").sum() / (SHARE * (1 - SHARE))
    taken = lost(hand, task, [{**grid, "fluid": Fluid(nu)} for nu in (NU, 0.0)])
    if kind == "immersed":
        metrics = Metrics(hand.staggered)
        for axis, names in enumerate(zip(VELOCITY, FRICTION, BLOCKAGE, strict=True)):
            q, friction, blockage = (hand.fields[name] for name in names)
            surfaces = (friction + blockage * (friction + spread(metrics, axis))) * q
            taken += NU * inner(q * (surfaces - brought(metrics, blockage * q, axis))).sum()
    assert result == pytest.approx(taken, rel=1e-12)
    assert taken > 1.0


STRESSES = [f"{a}{b}" for n, a in enumerate("xyz") for b in "xyz"[n:]]
EDDIES = [*STRESSES, "flux_x", "flux_y", "flux_z", "rate"]


def eddying(walls: tuple, real: str, more: list[str], **device: object) -> tuple[ByHand, Masks]:
    """Velocities and an eddy viscosity, 0 in bodies."""
    hand, closed, _ = prepared("flagged", walls, real, ["nu_t", *EDDIES, *more], **device)
    hand.fields["nu_t"] = np.where(hand.fields["solid"] & 64, 0, abs(hand.fields["nu_t"])).astype(real)
    return hand, closed


@pytest.mark.slow
@pytest.mark.parametrize("walls", WALLS)
def test_eddies(walls, real, device):
    """Stress, its work, and what it carries; nu_t is 0 on edges of which a face is closed."""
    hand, closed = eddying(walls, real, [], **device)
    h, nu_t = hand.staggered.spacing, hand.fields["nu_t"].astype("f8")
    q = [hand.fields[name].astype("f8") for name in VELOCITY]
    stress, work = {}, 0.0
    for a in range(3):
        rise = inner((beside(q[a], a, 1) - q[a]) / h[a])
        stress[a, a] = 2 * inner(nu_t) * rise
        work = work + stress[a, a] * rise
    for a, b in combinations(range(3), 2):
        touched = closed[a] | beside(closed[a], b, -1) | closed[b] | beside(closed[b], a, -1)
        around = sum(beside(nu_t, a, m, b, n) for m in (-1, 0) for n in (-1, 0)) / 4
        strain = (q[a] - beside(q[a], b, -1)) / h[b] + (q[b] - beside(q[b], a, -1)) / h[a]
        edge = np.where(touched, 0, around) * strain
        corners = [(a, m, b, n) for m in (0, 1) for n in (0, 1)]
        stress[a, b] = stress[b, a] = sum(inner(beside(edge, *corner)) for corner in corners) / 4
        work = work + sum(inner(beside(edge * strain, *corner)) for corner in corners) / 4
    apart = [
        inner(item + beside(item, n, 1)) / 2 - hand.values(mean)
        for n, (item, mean) in enumerate(zip(q, MEANS, strict=True))
    ]
    names, expected = {tuple(sorted(("xyz".index(s[0]), "xyz".index(s[1])))): s for s in STRESSES}, {}
    change = {pair: stress[pair] - hand.values(name) for pair, name in names.items()}
    for pair, name in names.items():
        expected[name] = hand.values(name) + SHARE * change[pair]
    for n in range(3):
        carried = sum(apart[m] * change[min(m, n), max(m, n)] for m in range(3))
        expected[f"flux_{'xyz'[n]}"] = (1 - SHARE) * (hand.values(f"flux_{'xyz'[n]}") + SHARE * carried)
    expected["rate"] = hand.values("rate") + SHARE * (work - hand.values("rate"))
    hand.run(hand.launch(eddy_budget, {"grid": hand.staggered.constants}))
    for name, values in expected.items():
        hand.assert_agrees(name, values)


def test_eddies_take_what_the_flow_loses(device):
    others = [f"{q}_new" for q in VELOCITY] + [f"h_{q}" for q in VELOCITY]
    hand, _ = eddying((False,) * 3, "f8", [*others, "faces", "edges"], **device)
    exchange(hand, "nu_t")
    hand.fields |= {name: np.zeros_like(hand.fields[name]) for name in (*others, *EDDIES)}
    grid = {"grid": hand.staggered.constants}
    hand.run(hand.launch(eddy_budget, grid))
    result = hand.values("rate").sum() / SHARE
    nu_t = hand.fields["nu_t"]
    task = momentum_with(eddies=True, bodies=True)
    taken = lost(hand, task, [{**grid, "fluid": Fluid(NU)}] * 2, nu_t=[nu_t, np.zeros_like(nu_t)])
    assert result == pytest.approx(taken, rel=1e-12)
    assert taken > 1.0
