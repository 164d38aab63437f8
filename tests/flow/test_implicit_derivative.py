"""The derivative of the residual along a direction: by the same text as the residual, and as its differences say."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow.models.artificial_compressibility.implicit.derivative import derivative
from tests.flow.test_artificial_compressibility import (
    SCHEMES,
    STATE,
    expected,
    faces_that_move,
    geometry,
    hand,
    numbers,
    paced,
    variants,
)
from tests.reference import artificial_compressibility as reference

DIRECTION, OUT = ("p_d", "u_d", "v_d", "w_d"), ("p_out", "u_out", "v_out", "w_out")
EPS = 1e-5


@pytest.mark.fast("*-limited-*")
@pytest.mark.parametrize(
    ("scheme", "uniform", "planar", "local", "moves", "warm"),
    [
        pytest.param("limited", False, False, False, True, True, marks=pytest.mark.slow),
        pytest.param("third", False, True, True, True, False, marks=pytest.mark.slow),
        pytest.param("pressure", True, False, True, False, True, marks=pytest.mark.slow),
        *variants({("central", True, True, True, False, False)}, SCHEMES, *[(False, True)] * 3, (False,), (False,)),
    ],
)  # fmt: skip
def test_the_derivative_of_the_residual(scheme, uniform, planar, local, moves, warm, device):
    """Beside sides of all kinds, with the term of pseudo-time; with a b of its own, that of real time, too; of faces
    that move, and of warm fluid.
    """
    made, slowness = hand("f8", device, uniform=uniform), 0.3
    made.fill((*DIRECTION, "T_d", *OUT, "T_out"), seed=11)
    more = ("T", "T_d", "T_out") if warm else ()
    state, directions, results = ((*names, *more[n : n + 1]) for n, names in enumerate((STATE, DIRECTION, OUT)))
    made.scalars["rate"] = 0.7
    b = made.fields["b"] if local else np.full_like(made.fields["b"], 1.3)
    swept = faces_that_move(made) if moves else None
    flow = {name: made.fields[name].copy() for name in state}
    out = {}
    for sign in (1, -1):
        for name, along in zip(state, directions, strict=True):
            made.fields[name] = flow[name] + sign * EPS * made.fields[along]
        out[sign], how = expected(made, scheme, state, planar=planar, b=b, swept=swept)
    made.fields |= flow
    areas, volumes = geometry(made)
    pace = slowness / reference.step_per_volume(np.stack([flow[n] for n in "uvw"]), areas, volumes, b, 0.03, how, swept)
    place = None if uniform else "metrics", "swept" if moves else None, "b" if local else None, None
    values = numbers(scheme, uniform=uniform, planar=planar)
    pseudo, rate = paced(made, *place, numbers=values, slowness=slowness), "rate" if local else None
    made.run(derivative(
        (*STATE, "sides"), DIRECTION, OUT, more or None, pseudo, *place, None, over=made.box, rate=rate, numbers=values
    ))  # fmt: skip
    lift = dict(zip("uvw", (0.4, 0.1, -0.2), strict=True)) if warm else {}
    for name, along, result in zip(state, directions, results, strict=True):
        steady = (out[1][name] - out[-1][name]) / (2 * EPS)
        change = 0.7 * reference.at(volumes) if local and name != "p" else 0.0
        desired = steady + (pace / (reference.at(b) if name == "p" else 1.0) + change) * made.values(along)
        desired -= lift.get(name, 0.0) * reference.at(volumes) * made.values("T_d")
        difference = np.abs(made.values(result) - desired).max()
        assert difference < 1e-6 * np.abs(desired).max(), name


@pytest.mark.parametrize("noise", [0.0, 1e-15])
def test_the_derivative_is_finite_in_single_precision_where_the_flow_is_uniform(noise, device):
    """Limiters divide by the squares of differences, which are next to nothing there."""
    made = hand("f4", device, uniform=True)
    made.fill((*DIRECTION, "T_d", *OUT, "T_out"), seed=11)
    for name in (*STATE, "T"):
        made.fields[name] *= noise
    place, values = (None,) * 4, numbers("limited", uniform=True, planar=False)
    pseudo = paced(made, *place, numbers=values)
    made.run(derivative(
        (*STATE, "sides"), DIRECTION, OUT, ("T", "T_d", "T_out"), pseudo, *place, None, over=made.box, rate=None,
        numbers=values,
    ))  # fmt: skip
    for name in (*OUT, "T_out"):
        assert np.isfinite(made.values(name)).all(), name
