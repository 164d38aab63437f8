"""Planes in cells: volume and plane from each other, and normals, against their NumPy reference."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.tasks import Components, Read, Write, box, task
from taskflow.systems.two_phase.shares import plane_volume
from tests.flow.byhand import ByHand
from tests.reference import volume_of_fluid as reference
from tests.reference.two_phase import surrounded

TEXT = f"""
#include "cell.h"
#include "{KERNELS / "two_phase" / "plane.h"}"

TASK planes(Range range, In m_x, In m_y, In m_z, In f, In c, Out alpha, Out back, Out part) {{
  for_cells(range, CELL(at) {{
    const Ordered m = ordered(magnitude(m_x[at]), magnitude(m_y[at]), magnitude(m_z[at]));
    const real found = plane_of(m, f[at]), width = magnitude(c[at]);
    const real share = share_of_slab(f[at], m_x[at], m_y[at], m_z[at], width, c[at] > 0);
    alpha[at] = found, back[at] = share_below(m, found), part[at] = share;
  }});
}}

TASK normals(Range range, In f, Out m_x, Out m_y, Out m_z, Grid grid) {{
  STRIDES(range)
  for_cells(range, CELL(c) {{
    const Normal m = normal(f, c, lines(grid, c, X, Y, Z));
    m_x[c] = m.x, m_y[c] = m.y, m_z[c] = m.z;
  }});
}}
"""


@task(kernel=TEXT)
def planes(
    m: Components(m_x=Read, m_y=Read, m_z=Read), f: Read, c: Read, alpha: Write, back: Write, part: Write
) -> None:
    """alpha of the plane with the share f, the share below it, and that of the slab of thickness c."""


@task(kernel=TEXT)
def normals(f: Read[box(1)], m: Components(m_x=Write, m_y=Write, m_z=Write), *, grid: Grid) -> None:
    """The normals of cells."""


def random_planes(cells: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Normals, of which many have small or no components, shares, of which many are near 0, 1/2 or 1, and slabs."""
    random = np.random.default_rng(5)
    sizes = random.uniform(0, 1, (3, cells)) * 10.0 ** -random.choice([0, 0, 0, 1, 3, 6, 9, 13], (3, cells))
    sizes[random.uniform(size=(3, cells)) < 0.1] = 0
    sizes[0, sizes.sum(axis=0) == 0] = 1
    m = sizes / sizes.sum(axis=0) * random.choice([-1, 1], (3, cells))
    small = random.uniform(0, 0.5, cells) * 10.0 ** -random.choice([0, 0, 0, 1, 2, 4, 8, 11], cells)
    sorts = [random.uniform(size=cells) < 0.5, random.uniform(size=cells) < 0.1]
    f = np.select(sorts, [small, 0.5 + small * 1e-3], 1 - small)
    return m, f, random.uniform(1e-3, 1, cells) * random.choice([-1, 1], cells)


def test_a_hundred_thousand_planes(real, device):
    hand = ByHand((50, 50, 40), (False,) * 3, real, ghost=0, **device)
    shape = hand.memory.shape[::-1]
    m, f, c = random_planes(100_000)
    eps, kept = np.finfo(real).eps, {"m_x": m[0], "m_y": m[1], "m_z": m[2], "f": f, "c": c}
    kept["f"] = np.clip(f, 10 * eps, 1 - 10 * eps)
    for name, values in kept.items():
        hand.fields[name] = values.reshape(shape).astype(real)
    for name in ("alpha", "back", "part"):
        hand.fields[name] = np.zeros(shape, real)
    hand.run(hand.launch(planes, {}))
    m = np.stack([hand.fields[name] for name in ("m_x", "m_y", "m_z")]).astype("f8")
    f, c, alpha, back, part = (hand.fields[name].astype("f8") for name in ("f", "c", "alpha", "back", "part"))
    bound = 1e-14 if real == "f8" else 2e-6
    assert abs(reference.volume(m, alpha) - f).max() <= bound
    assert abs(back - f).max() <= bound
    some = (slice(None, None, 10),)
    slab = reference.slab(m[:, *some], f[some], 0, abs(c[some]), c[some] > 0)
    assert (abs(part[some] - slab) * abs(c[some])).max() <= 2 * bound


def test_the_references_are_exact():
    m, f, _ = random_planes(100_000)
    m, f = abs(m[:, ::200]), f[::200]
    m = m / m.sum(axis=0)
    alpha = reference.plane(m, f)
    for one, a, share in zip(m.T, alpha, f, strict=True):
        exact = float(reference.exact_volume([Fraction(c) for c in one], Fraction(a)))
        assert exact == pytest.approx(share, abs=1e-13)
    np.testing.assert_allclose(plane_volume(m, alpha), reference.volume(m, alpha), rtol=0, atol=1e-15)


@pytest.mark.parametrize("walls", [(True,) * 3, (False,) * 3])
@pytest.mark.parametrize("cells", [(9, 8, 7), (6, 1, 5)])
def test_normals(cells, walls, real, device):
    hand = ByHand(cells, walls, real, ghost=3, **device).fill(("f", "m_x", "m_y", "m_z"))
    inside = np.random.default_rng(3).uniform(-0.5, 1.5, cells[::-1]).clip(0, 1)
    hand.fields["f"] = surrounded(inside.astype(real), walls)
    hand.run(hand.launch(normals, {"grid": hand.staggered.constants}))
    expected = reference.normal(hand.fields["f"].astype("f8"))
    for name, values in zip(("m_x", "m_y", "m_z"), expected, strict=True):
        hand.assert_agrees(name, values)


def test_the_normal_of_a_plane_is_exact_in_most_directions():
    """Where a column's heights end within three cells, centred differences are exact."""
    hand = ByHand((5, 5, 5), (False,) * 3, "f8", ghost=3).fill(("f", "m_x", "m_y", "m_z"))
    slope = np.array([0.2, -0.1, 1.0])
    places = np.indices((11, 11, 11))[::-1] - 5.0
    m = abs(slope) / abs(slope).sum()
    corner = (slope[:, None, None, None] * places).sum(axis=0) / abs(slope).sum()
    hand.fields["f"] = reference.volume(np.broadcast_to(m[:, None, None, None], (3, 11, 11, 11)), 0.5 + 0.05 - corner)
    hand.run(hand.launch(normals, {"grid": hand.staggered.constants}))
    found = np.array([hand.values(name)[2, 2, 2] for name in ("m_x", "m_y", "m_z")])
    np.testing.assert_allclose(found, slope / abs(slope).sum(), atol=1e-14)
