"""Two phases: droplets on a wall against the segment of a circle or a sphere of equal volume (V15)."""

from __future__ import annotations

import numpy as np
import pytest

from tests.flow.phases import compute
from tests.flow.two_phase.test_walls import resting, segment

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


def settled(angle: float, begun: float, cells, end: float) -> tuple[float, float]:
    """The height, and the radius by the pressure, of a droplet that began as a segment with another angle, over those
    of the segment of the same volume.
    """
    dimensions, volume = (2, 0.19635) if cells[1] == 1 else (3, 0.04)
    phi, _ = resting(begun, cells, segment(begun, volume, dimensions))
    _, model = resting(angle, cells, 1.0)
    flow = compute(model, phi, end=end)
    f, p, h = flow.fields["f"], flow.fields["p"], model.grid.spacing[0]
    radius = segment(angle, f.sum() * h**dimensions, dimensions)
    height = f[:, 0, 0].sum() * h / (radius * (1 - np.cos(np.radians(angle))))
    return height, (dimensions - 1) / (p[0, 0, 0] - p[-1, -1, -1]) / radius


@pytest.mark.parametrize(("angle", "begun", "cells", "end", "error"), [
    (45, 60, (32, 1, 24), 8.0, 0.01), (75, 60, (32, 1, 24), 4.0, 0.01), (105, 90, (32, 1, 24), 4.0, 0.01),
    (135, 120, (32, 1, 24), 4.0, 0.01), (30, 90, (64, 1, 24), 24.0, 0.02), (150, 135, (32, 1, 24), 6.0, 0.02),
    (60, 75, (24, 24, 16), 2.0, 0.03), (120, 105, (24, 24, 24), 2.0, 0.03),
])  # fmt: skip
def test_a_droplet_on_a_wall_is_a_segment(angle, begun, cells, end, error):
    height, radius = settled(angle, begun, cells, end)
    assert abs(height - 1) <= error
    assert abs(radius - 1) <= error
