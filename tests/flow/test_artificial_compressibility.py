"""Artificial compressibility: every kernel equals its NumPy reference; a uniform flow stays as it is."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow.grid.curvilinear import metrics
from taskflow.flow.models.artificial_compressibility import equations as eq
from taskflow.flow.models.artificial_compressibility.model import ArtificialCompressibility
from taskflow.flow.models.artificial_compressibility.sides import Condition, Side
from taskflow.flow.models.artificial_compressibility.stage import residual, stage
from taskflow.flow.operators.momentum import Fluid
from taskflow.flow.reference import artificial_compressibility as reference
from taskflow.flow.reference.artificial_compressibility import Discretisation
from tests.flow.byhand import ByHand
from tests.flow.charts import LAYERS, Chart, distorted, lattice, march, skewed_metrics

STATE, BEGUN, NEW = ("p", "u", "v", "w"), ("p_0", "u_0", "v_0", "w_0"), ("p_new", "u_new", "v_new", "w_new")
HEAT, KEPT, FORCE = ("T", "T_0", "T_new"), ("d_p", "d_u", "d_v", "d_w"), ("f_x", "f_y", "f_z")
SCHEMES = {
    "third": eq.Scheme(), "limited": eq.LimitedScheme(), "second": eq.SecondScheme(), "first": eq.FirstScheme(),
    "central": eq.CentralScheme(), "pressure": eq.PressureDampedScheme(),
}  # fmt: skip
CELLS = (7, 5, 6)


def hand(real, device, *, uniform: bool, cells=CELLS) -> ByHand:
    """Random fields, with a side of another kind at each end, on a distorted box or on one of equal cells."""
    made = ByHand(cells, real=real, ghost=LAYERS, **device)
    made.fill((*STATE, *BEGUN, *NEW, *HEAT, *KEPT, *FORCE), seed=3)
    made.fields["b"] = 1 + made.fill(["b"], seed=5).fields["b"] / 2
    values = metrics(lattice(cells, LAYERS)) if uniform else skewed_metrics(cells)
    made.fields["metrics"] = values.astype(real)
    sides = np.zeros(made.memory.shape[::-1], np.uint8)
    layer = slice(LAYERS - 1, LAYERS)
    sides[layer], sides[-LAYERS:] = reference.CLOSED, reference.OPEN
    sides[:, layer], sides[:, -LAYERS:] = reference.GIVEN, reference.FAR
    sides[:, :, -LAYERS:] = reference.OPEN
    made.fields["sides"] = sides
    return made


def geometry(made: ByHand) -> tuple[np.ndarray, np.ndarray]:
    """Areas [axis, component, z, y, x] and volumes."""
    values = np.moveaxis(made.fields["metrics"].astype("f8"), 2, 0)
    return values[:9].reshape(3, 3, *values.shape[1:]), values[9]


def numbers(scheme: str, *, uniform: bool, planar: bool = False, cells=CELLS, **more) -> eq.Numbers:
    h = [1 / n for n in cells]
    areas, volume = (h[1] * h[2], h[0] * h[2], h[0] * h[1]), h[0] * h[1] * h[2]
    reach = eq.REACHES[planar, uniform, scheme == "pressure"]
    fixed = {"areas": areas, "volume": volume} if uniform else {}
    return eq.Numbers(
        0.03, 1.3, diffusivity=0.02, spread=0.03, reference=0.2, fourth=1 / 64, force=(0.1, 0.2, -0.3),
        lift=(0.4, 0.1, -0.2), reach=reach, scheme=SCHEMES[scheme], **fixed, **more,
    )  # fmt: skip


def expected(made: ByHand, scheme: str, names, *, planar=False, b=None):
    areas, volumes = geometry(made)
    how = Discretisation(0.03, 1.3, scheme, 0.02, planar=planar)
    q = {name: made.fields[name].astype("f8") for name in names}
    return reference.residual(q, made.fields["sides"], areas, volumes, how, b=b), how


@pytest.mark.parametrize("uniform", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_residual_of_a_flow(scheme, uniform, real, device):
    made = hand(real, device, uniform=uniform)
    out, _ = expected(made, scheme, STATE)
    _, volumes = geometry(made)
    made.run(residual(
        STATE, NEW, None, "sides", None if uniform else "metrics", None, None,
        over=made.box, numbers=numbers(scheme, uniform=uniform),
    ))  # fmt: skip
    force = dict(zip("uvw", (0.1, 0.2, -0.3), strict=True))
    for name in STATE:
        made.assert_agrees(f"{name}_new", out[name] / reference.at(volumes) - force.get(name, 0.0))


def sides_of(chart: Chart, kind: str = "wall", **values: Condition) -> tuple[Side, ...]:
    """A side at each face; those named have conditions."""
    return tuple(Side(face, kind, (chart.patch(face),), values.get(face, Condition())) for face in chart.faces)


@pytest.mark.parametrize("planar", [False, True])
def test_a_uniform_flow_stays_as_it_is(planar):
    """V1: on a distorted box between far sides, for 50 steps."""
    cells = (6, 5, 1 if planar else 4)
    chart = Chart(cells, flat if planar else lambda x, y, z: distorted((x, y, z)), "z" if planar else "")
    stream = {"p": 0.7, "u": 1.0, "v": 0.3, "w": 0.0 if planar else -0.2}
    condition = Condition((stream["u"], stream["v"], stream["w"]), 0.7)
    sides = sides_of(chart, "far-field", **dict.fromkeys(chart.faces, condition))
    model = ArtificialCompressibility(chart.box, Fluid(0.01), sides, 1.0, planar=planar)
    flow = march(model, chart, stream, steps=50)
    for name, value in stream.items():
        assert abs(flow[name] - value).max() < 1e-12


def flat(x, y, z):
    """A distorted plane."""
    bent = 0.06 * np.sin(2 * np.pi * x + 0.3) * np.cos(3 * y)
    return x + bent, y - bent, 0.2 * z
