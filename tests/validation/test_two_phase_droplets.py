"""Many droplets at 1000 : 1: nothing fails, whatever meets."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow.operators.phases import Phases
from taskflow.runtime.machine.device import gpu
from taskflow.runtime.tasks import reduced
from tests.flow.phases import compute, two_phase

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


class Droplets:
    """So many at random places of a unit box around which everything repeats, two cells apart at least, with speeds of
    one in random directions, or downwards.
    """

    def __init__(self, number: int, radii: tuple[float, float], apart: float, *, down: bool) -> None:
        random = np.random.default_rng(1)
        self.radii, self.centres = random.uniform(*radii, number), np.zeros((0, 3))
        while (known := len(self.centres)) < number:
            centre = random.uniform(0, 1, 3)
            if (self._away(self.centres - centre) > self.radii[:known] + self.radii[known] + apart).all():
                self.centres = np.vstack([self.centres, centre])
        ways = np.tile([0.0, 0.0, -1.0], (number, 1)) if down else random.normal(size=(number, 3))
        self.speeds = ways / np.linalg.norm(ways, axis=1)[:, None]

    @staticmethod
    def _away(offsets: np.ndarray) -> np.ndarray:
        return np.linalg.norm((offsets + 0.5) % 1 - 0.5, axis=-1)

    def distance(self, x, y, z):
        """From the nearest surface, positive inside."""
        return self._nearest(x, y, z)[0]

    def speed(self, axis: int):
        """The velocity along an axis: that of the droplets, and none around them."""
        def along(x, y, z):
            distance, which = self._nearest(x, y, z)
            return np.where(distance > 0, self.speeds[which, axis], 0.0)
        return along

    def _nearest(self, x, y, z) -> tuple[np.ndarray, np.ndarray]:
        shape = np.broadcast(x, y, z).shape
        nearest, which = np.full(shape, -np.inf), np.zeros(shape, int)
        for number, (radius, (a, b, c)) in enumerate(zip(self.radii, self.centres, strict=True)):
            square = sum(((q - middle + 0.5) % 1 - 0.5) ** 2 for q, middle in ((x, a), (y, b), (z, c)))
            inside = radius - np.sqrt(square)
            which = np.where(inside > nearest, number, which)
            nearest = np.maximum(nearest, inside)
        return nearest, which


def fastest(shard, time, dt) -> tuple[float, float]:
    """The largest speed, and that in the liquid, which fills more than half of the cell there."""
    speeds, liquid = [abs(shard.read(name)) for name in "uvw"], shard.read("f") > 0.5
    return max(speed.max() for speed in speeds), max(speed[liquid].max() for speed in speeds)


def assert_that_nothing_fails(n, number, radii, steps, most, *, down, every=20, device=None) -> None:
    """We = 100 and Re = 1000 of a droplet of mean diameter; the largest speeds, in all and in the liquid, are at most
    so many times the start's.
    """
    droplets, diameter = Droplets(number, radii, 2 / n, down=down), sum(radii)
    phases = Phases(1000.0, 1.0, diameter, diameter / 50, 10 * diameter)
    model = two_phase((n,) * 3, (1.0,) * 3, phases, periodic=(True,) * 3, tolerance=1e-6)
    velocity = tuple(droplets.speed(axis) for axis in range(3))
    start = compute(model, droplets.distance, velocity=velocity, steps=0, device=device)
    begun = max(abs(start.fields[name]).max() for name in "uvw")
    flow = compute(
        model, droplets.distance, velocity=velocity, steps=steps, look=fastest, every=every, device=device
    )
    (kept,) = reduced(flow.scalars, "kept")
    assert all(np.isfinite(field).all() for field in flow.fields.values())
    assert abs(flow.fields["f"].sum() / kept - 1) <= 1e-10
    assert (np.max(flow.history.values, axis=0) <= np.multiply(most, begun)).all()


@pytest.mark.parametrize(("down", "most"), [(True, (3.0, 1.4)), (False, (4.2, 1.4))])
def test_twenty_droplets(down, most):
    """Radii of 3 to 4 cells; where they meet head-on, gas leaves between them at up to 3.5 times the speed."""
    assert_that_nothing_fails(32, 20, (0.09, 0.12), 200, most, down=down, every=10)


@pytest.mark.gpu
@pytest.mark.parametrize(("down", "most"), [(True, (3.0, 1.4)), (False, (5.2, 1.4))])
def test_two_hundred_droplets_on_a_gpu(down, most):
    """Radii of 4 to 6 cells; where they meet head-on, gas leaves between them at up to 4.4 times the speed."""
    assert_that_nothing_fails(128, 200, (0.03, 0.045), 2000, most, down=down, device=gpu())


def head_on(n: int) -> np.ndarray:
    """The largest speeds where a droplet of so many cells per radius meets its image, in all and in the liquid."""
    radius, diameter, above = 0.25, 0.5, 0.35
    phases = Phases(1000.0, 1.0, diameter, diameter / 50, 10 * diameter)
    model = two_phase((2 * n, 2 * n, 3 * n), (0.5, 0.5, 0.75), phases, tolerance=1e-6)

    def distance(x, y, z):
        return radius - np.sqrt(x**2 + y**2 + (z - above) ** 2)

    def falling(x, y, z):
        return np.where(distance(x, y, z) > 0, -1.0, 0.0)

    flow = compute(model, distance, velocity=(0.0, 0.0, falling), end=0.12, look=fastest)
    return np.max(flow.history.values, axis=0)


def test_gas_leaves_between_two_droplets_the_faster_the_finer_the_cells():
    """The thinnest gap that cells resolve bounds its speed; the liquid is as fast as it was until they meet."""
    (coarse, _), (fine, liquid) = head_on(4), head_on(8)
    assert fine > 1.5 * coarse
    assert liquid < 1.2
