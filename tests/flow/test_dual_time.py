"""Dual time: BDF2 with variable steps, exact solutions with their order in space and time, the same bits on any blocks.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taskflow.flow.boundaries.collocated import Condition
from taskflow.flow.boundaries.condition import Side
from taskflow.flow.boundaries.far_field import FarField
from taskflow.flow.models.artificial_compressibility import real_time
from taskflow.flow.models.artificial_compressibility.dual_time import DualTime, weights
from taskflow.flow.models.artificial_compressibility.equations import HeatTransport, Passive
from taskflow.flow.models.artificial_compressibility.implicit.gmres import Gmres
from taskflow.flow.models.artificial_compressibility.implicit.march import Ramp
from taskflow.flow.models.artificial_compressibility.implicit.model import ImplicitCompressibility
from taskflow.flow.models.artificial_compressibility.method import MethodOptions
from taskflow.flow.models.artificial_compressibility.model import ArtificialCompressibility
from taskflow.flow.models.artificial_compressibility.real_time import LOOKS
from taskflow.flow.operators.momentum import Fluid
from tests.flow.byhand import ByHand
from tests.flow.charts import Chart, distorted, norm, run

VISCOSITY, SHIFT = 0.1, (1.0, 0.5)
SPEED = 2.0


def wavy(x, y, z):
    """A periodic square of 2 pi with skewed cells."""
    s = 0.06 * np.sin(2 * np.pi * x + 0.3) * np.cos(2 * np.pi * y)
    return 2 * np.pi * (x + s), 2 * np.pi * (y - s), 0.5 * z


def taylor_green(chart: Chart, t: float) -> dict[str, np.ndarray]:
    """Vortices that are carried and decay, exactly."""
    x, y, _ = chart.centres
    x, y, decay = x - SHIFT[0] * t, y - SHIFT[1] * t, np.exp(-2 * VISCOSITY * t)
    u, v = SHIFT[0] - np.cos(x) * np.sin(y) * decay, SHIFT[1] + np.sin(x) * np.cos(y) * decay
    return {"p": -(np.cos(2 * x) + np.cos(2 * y)) / 4 * decay**2, "u": u, "v": v, "w": np.zeros_like(u)}


def vortices(chart: Chart, *, tolerance: float = 1e-3, **more) -> ArtificialCompressibility:
    return ArtificialCompressibility(
        (chart.box,), Fluid(VISCOSITY), (), SPEED, planar=True, method=MethodOptions(compressibility=10.0, march="rk5"),
        largest_volume=float(chart.volumes.max()), real=DualTime(tolerance, 2000, 2 * np.pi), **more,
    )  # fmt: skip


def implicit(chart: Chart, *, tolerance: float = 1e-3) -> ImplicitCompressibility:
    """The same, marched implicitly, with the usual compressibility."""
    return ImplicitCompressibility(
        (chart.box,), Fluid(VISCOSITY), (), SPEED, planar=True, largest_volume=float(chart.volumes.max()),
        real=DualTime(tolerance, 50, 2 * np.pi), solver=Gmres(tolerance=0.01), ramp=Ramp(1e4, 1e4),
    )  # fmt: skip


@pytest.mark.parametrize("ratio", [0.0, 0.4, 1.0, 2.5])
def test_weights_differentiate_parabolas_exactly(ratio):
    """And lines, in the first step."""
    dt, last = 0.3, 0.3 / ratio if ratio else 1.0
    c, times = weights(ratio), np.array([1.0, 1.0 - dt, 1.0 - dt - last])
    for power in range(3 if ratio else 2):
        assert np.dot(c, times**power) / dt == pytest.approx(power, abs=1e-13)


@pytest.mark.parametrize("values", [False, True])
def test_levels_take_turns(values, device):
    made = ByHand((7, 5, 6), real="f8", ghost=2, **device).fill(["q", "old", "past", "given"], seed=2)
    made.scalars |= {"ratio": 0.7, "now": 3.0, "before": -0.4}
    q, old, force = (made.values(name).copy() for name in ("q", "old", "given"))
    made.run(real_time.next_level(
        "q", "old", "past", "given" if values else None, over=made.box, ratio="ratio", now="now", before="before"
    ))  # fmt: skip
    made.assert_agrees("past", 3.0 * q - 0.4 * old + (force if values else 0.0))
    made.assert_agrees("q", q + 0.7 * (q - old))
    made.assert_agrees("old", q)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("counts", "within"), [((16, 32), 0.1), pytest.param((32, 64), 0.06, marks=pytest.mark.slow)]
)
def test_vortices_are_of_second_order_in_space_and_time_together(counts, within):
    """V22: skewed cells, and steps that are halved with them."""
    errors = []
    for n in counts:
        chart, steps = Chart((n, n, 1), wavy, "xyz"), n // 4
        reached = run(vortices(chart), chart, taylor_green(chart, 0.0), np.arange(1, steps + 1) / steps)
        exact = taylor_green(chart, 1.0)
        off = {name: reached[-1][name] - exact[name] for name in "uvp"}
        errors.append((norm(chart, off["u"], off["v"]), norm(chart, off["p"] - off["p"].mean())))
    orders = [np.log2(coarse / fine) for coarse, fine in zip(*errors, strict=True)]
    assert orders == pytest.approx([2.0, 2.0], abs=within)


@pytest.mark.slow
def test_steps_of_any_lengths_are_of_second_order():
    """Against short steps on the same cells: steps that alternate between long and short ones."""
    chart = Chart((16, 16, 1), wavy, "xyz")
    model, begun = vortices(chart, tolerance=1e-5), taylor_green(chart, 0.0)
    finest = run(model, chart, begun, np.arange(1, 33) / 32)[-1]
    errors = []
    for steps in (4, 8):
        times = np.cumsum(np.tile([1.4, 0.6], steps // 2)) / steps
        last = run(model, chart, begun, times)[-1]
        errors.append(norm(chart, last["u"] - finest["u"], last["v"] - finest["v"]))
    assert 1.75 < np.log2(errors[0] / errors[1]) < 2.3


@pytest.mark.slow
def test_blocks_change_no_bit_in_real_time():
    """Nor how many steps of pseudo-time are made."""
    chart = Chart((9, 7, 1), wavy, "xyz")
    ends = [run(vortices(chart), chart, taylor_green(chart, 0.0), (0.2, 0.3), blocks=b) for b in ((1, 1, 1), (2, 3, 1))]
    for alone, cut in zip(*ends, strict=True):
        for name in "puvw":
            np.testing.assert_array_equal(alone[name], cut[name])
        assert alone.norms == cut.norms
        assert alone.scalars[LOOKS] == cut.scalars[LOOKS]


@pytest.mark.slow
def test_implicit_marching_solves_the_same_steps_in_few_iterations():
    """Tightly, so that what is left of the residuals says nothing; at the usual tolerance as well as is asked for."""
    chart, times = Chart((12, 12, 1), wavy, "xyz"), (0.25,)
    states = []
    for model in (implicit(chart, tolerance=1e-7), vortices(chart, tolerance=1e-7)):
        model = replace(model, method=replace(model.method, compressibility=10.0))
        states.append(run(model, chart, taylor_green(chart, 0.0), times)[-1])
    for name in "puv":
        np.testing.assert_allclose(states[0][name], states[1][name], rtol=0, atol=1e-5)
    usual = run(implicit(chart), chart, taylor_green(chart, 0.0), times)
    assert all(state.scalars[LOOKS] <= 5 for state in usual)
    assert norm(chart, usual[-1]["u"] - states[0]["u"]) < 1e-3


@pytest.mark.slow
def test_blocks_change_no_bit_of_implicit_marching_in_real_time():
    chart = Chart((20, 17, 1), wavy, "xyz")
    ends = [
        run(implicit(chart), chart, taylor_green(chart, 0.0), (0.2, 0.3), blocks=blocks, multiple=(8, 8, 8))
        for blocks in ((1, 1, 1), (2, 2, 1))
    ]
    for alone, cut in zip(*ends, strict=True):
        for name in "puvw":
            np.testing.assert_array_equal(alone[name], cut[name])
        assert alone.scalars[LOOKS] == cut.scalars[LOOKS]


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [ArtificialCompressibility, pytest.param(ImplicitCompressibility, marks=pytest.mark.slow)]
)
def test_heat_and_scalars_have_rates_of_change_of_their_own(kind):
    """A wave of each is carried and fades, in a uniform stream; of second order."""
    chart, kappa, spread = Chart((64, 4, 1), lambda x, y, z: (2 * np.pi * x, y, z), "xyz"), 0.3, 0.1
    x = chart.centres[0]

    def wave(t: float, rate: float) -> np.ndarray:
        return np.sin(x - t) * np.exp(-rate * t)

    how = {"ramp": Ramp(1e4, 1e4)} if kind is ImplicitCompressibility else {}
    model = kind(
        (chart.box,), Fluid(0.05), (), 1.0, planar=True, largest_volume=float(chart.volumes.max()),
        heat=HeatTransport(kappa), passive=(Passive("dye", spread),), real=DualTime(1e-4, 2000, 2 * np.pi), **how,
    )  # fmt: skip
    begun = {"p": 0.0, "u": 1.0, "v": 0.0, "w": 0.0, "T": wave(0.0, kappa), "dye": wave(0.0, spread)}
    errors = {"T": [], "dye": []}
    for steps in (8, 16):
        last = run(model, chart, begun, np.arange(1, steps + 1) / steps)[-1]
        for name, rate in (("T", kappa), ("dye", spread)):
            errors[name].append(norm(chart, last[name] - wave(1.0, rate)))
    for coarse, fine in errors.values():
        assert fine < 0.01
        assert np.log2(coarse / fine) > 1.7


@pytest.mark.parametrize("planar", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_uniform_stream_stays_as_it_is(planar):
    """On a distorted box between far sides, whatever the steps are."""
    chart = Chart((6, 5, 1 if planar else 4), wavy if planar else lambda x, y, z: distorted((x, y, z)), "z" * planar)
    stream = {"p": 0.7, "u": 1.0, "v": 0.3, "w": 0.0 if planar else -0.2}
    condition = Condition((stream["u"], stream["v"], stream["w"]), 0.7)
    sides = tuple(Side(face, FarField(), (chart.patch(face),), condition) for face in chart.faces)
    model = ArtificialCompressibility((chart.box,), Fluid(0.01), sides, 1.0, planar=planar, real=DualTime())
    reached = run(model, chart, stream, (0.1, 0.3, 0.35, 0.6))
    for name, value in stream.items():
        assert abs(reached[-1][name] - value).max() < 1e-12
    assert all(state.scalars[LOOKS] == 1 for state in reached)
