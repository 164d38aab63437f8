"""Kernels of what is carried beside bodies that move, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow.bodies import cuts, moving_scalars
from taskflow.flow.bodies.flags import HOLDS, STORED
from tests.flow.byhand import DT, ByHand, surrounded
from tests.flow.test_immersed import CELLS, HEAT, STEPS, WALLS, near, prepared, scattered, solid_bits
from tests.flow.test_obstacles import exchange


def carried(walls: tuple[bool, bool, bool], real: str, names: list[str], **device: object) -> tuple[ByHand, np.ndarray]:
    """Random fields, and flags of random cells and faces in bodies, which `q_faces` and `T_faces` have; those flags."""
    hand, _ = prepared(walls, real, [*names, "conductance_T"], **device)
    bodies = [scattered(walls, seed, 0.2) for seed in range(3)]
    shut, held = (solid_bits(bodies, walls) & 64) > 0, scattered(walls, 5) == 2
    flags = np.zeros(hand.memory.shape[::-1], "u2")
    flags[hand.box.slices(hand.memory.lo)] = cuts.moving_heat_bits([numbers > 0 for numbers in bodies], shut, held)
    hand.fields |= {"q_faces": flags, "T_faces": flags}
    exchange(hand, "q_faces")
    return hand, hand.fields["q_faces"]


@pytest.mark.parametrize("walls", WALLS)
def test_flags(walls):
    """All that is inside conducts nothing, and says what it is; the rest is that of bodies at rest."""
    bodies, held = [scattered(walls, seed, 0.3) > 0 for seed in range(3)], scattered(walls, 5) == 2
    shut = (solid_bits([numbers.astype("u1") for numbers in bodies], walls) & 64) > 0
    flags, rest = (bits(bodies, shut, held) for bits in (cuts.moving_heat_bits, cuts.heat_bits))
    mine = near(held)
    assert ((flags & HOLDS > 0) == mine).all()
    assert ((flags & STORED > 0) == (shut & ~mine)).all()
    inside = mine | shut
    assert inside.any()
    assert (flags[inside] & 0xFFF == 0b0101_0101_0101).all()
    np.testing.assert_array_equal(flags[~inside], rest[~inside])


@pytest.mark.parametrize("walls", WALLS)
def test_insides_have_what_is_beside_them(walls, real, device):
    """In the domain: what lies beyond walls does not count."""
    hand, flags = carried(walls, real, ["q", "mean"], **device)
    domain = surrounded(np.ones(CELLS[::-1], "u1"), walls) > 0
    hand.fields["q"][~domain] = 1e6
    q = hand.fields["q"].astype("f8")
    within = [near(domain, *step) for step in STEPS]
    outside = [here & (near(flags, *step) & (STORED | HOLDS) == 0) for here, step in zip(within, STEPS, strict=True)]
    alone = ~np.any(outside, axis=0)
    assert (alone & (near(flags) & STORED > 0)).any()
    weights = np.where(alone, within, outside)
    mean = sum(weight * near(q, *step) for weight, step in zip(weights, STEPS, strict=True)) / weights.sum(axis=0)
    expected = np.where(near(flags) & STORED, mean, hand.values("q"))
    grid = {"grid": hand.staggered.constants}
    hand.run(hand.launch(moving_scalars.mean_beside, grid), hand.launch(moving_scalars.fill_inside, {}))
    hand.assert_agrees("q", expected)


@pytest.mark.parametrize(
    ("task", "q", "own", "flag"),
    [(moving_scalars.keep_inside, "q", "q_before", STORED), (moving_scalars.hold_temperature, "T", "warm_T", HOLDS)],
)
def test_insides_have_what_is_theirs(task, q, own, flag, real, device):
    hand, flags = carried(WALLS[1], real, [q, own], **device)
    expected = np.where(near(flags) & flag, hand.values(own), hand.values(q))
    hand.run(hand.launch(task, {}))
    np.testing.assert_array_equal(hand.values(q), expected)


@pytest.mark.parametrize("begins", [True, False])
def test_heat_of_bodies(begins, real, device):
    """Cells that bodies hold have their temperature, and what that took is added to what bodies gave before, or not."""
    hand, flags = carried(WALLS[1], real, ["T", "warm_T", "push_T"], **device)
    hand.fields["conductance_T"][::2] = 0
    names = "T", "conductance_T", "warm_T", "push_T"
    T, conductance, warm, before = (hand.values(name).astype("f8") for name in names)
    drawn = DT * HEAT.diffusivity
    conducted = np.where(conductance > 0, (T + drawn * warm) / (1 + drawn * conductance), T)
    expected = np.where(near(flags) & HOLDS, warm, conducted)
    gained = 0.5 * (expected - T) / DT + (0 if begins else before)
    constants = {"diffusivity": HEAT.diffusivity, "counts": 0.5, "begins": int(begins)}
    hand.run(hand.launch(moving_scalars.exchange_heat, constants))
    hand.assert_agrees("T", expected)
    hand.assert_agrees("push_T", gained)


def test_heat_that_was_given(real, device):
    hand, bodies = prepared(WALLS[1], real, ["push_T"], **device)
    hand.fields["owner_T"] = np.zeros(hand.memory.shape[::-1], "u1")
    hand.fields["owner_T"][hand.box.slices(hand.memory.lo)] = cuts.owners(bodies[0])
    for number in (1, 2):
        constants = {"grid": hand.staggered.constants, "number": number}
        hand.run(hand.launch(moving_scalars.heat_from_moving_body, constants))
        mine = hand.values("push_T")[cuts.owners(bodies[0]) == number].astype("f8")
        assert hand.scalars["flux"] == pytest.approx(hand.staggered.volume * mine.sum(), abs=hand.tolerance)
