"""Artificial compressibility: every kernel equals its NumPy reference; a uniform flow stays as it is."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from taskflow.common.errors import BadInput, RunFailed
from taskflow.common.hexahedra import cell_volumes, face_areas
from taskflow.flow.boundaries.collocated import Condition
from taskflow.flow.boundaries.condition import BoundaryCondition, Side
from taskflow.flow.boundaries.far_field import FarField
from taskflow.flow.boundaries.wall import Wall
from taskflow.flow.grid.curvilinear import metrics
from taskflow.flow.models.artificial_compressibility import equations as eq
from taskflow.flow.models.artificial_compressibility.convergence import Convergence
from taskflow.flow.models.artificial_compressibility.equations import HeatTransport, Passive
from taskflow.flow.models.artificial_compressibility.implicit.derivative import pseudo_time
from taskflow.flow.models.artificial_compressibility.method import MethodOptions
from taskflow.flow.models.artificial_compressibility.model import ArtificialCompressibility
from taskflow.flow.models.artificial_compressibility.stage import residual, stage
from taskflow.flow.operators.momentum import Buoyancy, Fluid
from tests.flow.byhand import ByHand
from tests.flow.charts import LAYERS, Chart, distorted, lattice, march, skewed_metrics
from tests.reference import artificial_compressibility as reference
from tests.reference.artificial_compressibility import Discretisation

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
    made.fill((*STATE, *BEGUN, *NEW, *HEAT, *KEPT, *FORCE, "source"), seed=3)
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


def paced(made: ByHand, *place: str | None, numbers: eq.Numbers, slowness: float = 0.3) -> str:
    """The field of the term of pseudo-time, by its kernel, with these metrics, what faces sweep, b and nu_t."""
    made.fields["pseudo"], made.scalars["slowness"] = np.zeros_like(made.fields["p"]), slowness
    made.run(pseudo_time(STATE[1:], "pseudo", *place, over=made.box, slowness="slowness", numbers=numbers))
    return "pseudo"


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


def faces_that_move(made: ByHand) -> np.ndarray:
    """What low faces sweep per time, [axis, z, y, x]: in the field `swept`, too."""
    rates = np.random.default_rng(7).uniform(-0.5, 0.5, (3, *made.memory.shape[::-1]))
    rates *= np.sqrt((geometry(made)[0] ** 2).sum(axis=1))
    made.fields["swept"] = np.moveaxis(rates, 0, 2).astype(made.real).copy()
    return rates


def expected(made: ByHand, scheme: str, names, *, planar=False, b=None, carried=False, swept=None):
    """The residual, or what is `carried` of it, by the reference, and how it was computed."""
    areas, volumes = geometry(made)
    how = Discretisation(0.03, 1.3, scheme, 0.02, planar=planar)
    q = {name: made.fields[name].astype("f8") for name in names}
    return (reference.carried if carried else reference.residual)(
        q, made.fields["sides"], areas, volumes, how, b=b, swept=swept
    ), how


def variants(quick: set, *names) -> list:
    """Parameters, of which all but the quick ones are slow: each is a kernel to compile."""
    every = list(product(*names))
    return [pytest.param(*one, marks=() if one in quick else pytest.mark.slow) for one in every]


@pytest.mark.parametrize(
    ("scheme", "uniform", "real"),
    variants({("pressure", True, "f8")}, SCHEMES, (False, True), ("f4", "f8")),
)
def test_the_residual_of_a_flow(scheme, uniform, real, device):
    made = hand(real, device, uniform=uniform)
    out, _ = expected(made, scheme, STATE)
    _, volumes = geometry(made)
    made.run(residual(
        (*STATE, "sides"), NEW, None, None, None if uniform else "metrics", None, None, None, None, None,
        over=made.box, rate=None, numbers=numbers(scheme, uniform=uniform),
    ))  # fmt: skip
    force = dict(zip("uvw", (0.1, 0.2, -0.3), strict=True))
    for name in STATE:
        made.assert_agrees(f"{name}_new", out[name] / reference.at(volumes) - force.get(name, 0.0))


@pytest.mark.parametrize(
    ("scheme", "uniform", "planar", "real_time"),
    variants(
        {("limited", False, True, "moving")}, ("limited", "pressure"), (False, True), (False, True),
        (None, "at rest", "moving"),
    ),
)  # fmt: skip
def test_a_stage_with_all_that_a_flow_may_have(scheme, uniform, planar, real_time, device):
    """Heat and lift, a compressibility and a force of each cell, what friction and scheme added before; in real time a
    source of heat, the rate of change at the end of the stage, and faces that move.
    """
    made, fraction, fresh, step = hand("f8", device, uniform=uniform), 0.3, 0.56, 0.9
    made.scalars |= {"step": step, "rate": 3.7}
    b, kept = made.fields["b"].copy(), {name: made.values(f"d_{name}").copy() for name in STATE}
    swept = faces_that_move(made) if real_time == "moving" else None
    out, how = expected(made, scheme, (*STATE, "T"), planar=planar, b=b, swept=swept)
    carried, _ = expected(made, scheme, STATE, planar=planar, b=b, carried=True, swept=swept)
    areas, volumes = geometry(made)
    begun = np.stack([made.fields[name] for name in BEGUN[1:]])
    dt = fraction * step * reference.step_per_volume(begun, areas, volumes, b, 0.03, how, swept)
    launch = stage(
        (*STATE, *BEGUN, *NEW, "sides"), HEAT, "source" if real_time else None, None if uniform else "metrics",
        "swept" if real_time == "moving" else None, "b", None, FORCE, KEPT, over=made.box, step="step",
        rate="rate" if real_time else None,
        numbers=numbers(scheme, uniform=uniform, planar=planar, fraction=fraction, fresh=fresh),
    )  # fmt: skip
    made.run(launch)
    warm, volume = made.values("T") - 0.2, reference.at(volumes)
    slower = 1 + 3.7 * dt * volume if real_time else 1.0
    push = zip("uvw", (0.1, 0.2, -0.3), FORCE, (0.4, 0.1, -0.2), strict=True)
    force = {name: one + made.values(field) + lift * warm for name, one, field, lift in push}
    for name in STATE:
        added = fresh * (out[name] - carried[name]) + (1 - fresh) * kept[name]
        rate = (carried[name] + added) * (reference.at(b) if name == "p" else 1) - volume * force.get(name, 0.0)
        made.assert_agrees(f"{name}_new", (made.values(f"{name}_0") - dt * rate) / (1 if name == "p" else slower))
        made.assert_agrees(f"d_{name}", added)
    supplied = volume * made.values("source") if real_time else 0.0
    made.assert_agrees("T_new", (made.values("T_0") - dt * (out["T"] - supplied)) / slower)


def test_the_residual_of_a_step_of_real_time(device):
    """With the rates of change of momentum and heat, and what the levels before add."""
    made, (scheme, planar) = hand("f8", device, uniform=False), ("third", True)
    made.scalars["rate"] = 3.7
    out, _ = expected(made, scheme, (*STATE, "T"), planar=planar)
    values = numbers(scheme, uniform=False, planar=planar)
    made.run(residual(
        (*STATE, "sides"), NEW, ("T", "T_new"), "source", "metrics", None, None, None, FORCE, None,
        over=made.box, rate="rate", numbers=replace(values, lift=(0.0, 0.0, 0.0)),
    ))  # fmt: skip
    volume = reference.at(geometry(made)[1])
    push = {name: one + made.values(f) for name, one, f in zip("uvw", (0.1, 0.2, -0.3), FORCE, strict=True)}
    for name in (*STATE, "T"):
        changing = 0.0 if name == "p" else 3.7 * made.values(name)
        pushed = made.values("source") if name == "T" else push.get(name, 0.0)
        made.assert_agrees(f"{name}_new", out[name] / volume - pushed + changing)


WALL = Wall()


def sides_of(chart: Chart, kind: BoundaryCondition = WALL, **values: Condition) -> tuple[Side, ...]:
    """A side at each face; those named have conditions."""
    return tuple(Side(face, kind, (chart.patch(face),), values.get(face, Condition())) for face in chart.faces)


@pytest.mark.slow
@pytest.mark.parametrize("planar", [True, False])
def test_a_uniform_flow_stays_as_it_is(planar):
    """V1: on a distorted box between far sides, for 50 steps."""
    cells = (6, 5, 1 if planar else 4)
    chart = Chart(cells, flat if planar else lambda x, y, z: distorted((x, y, z)), "z" if planar else "")
    stream = {"p": 0.7, "u": 1.0, "v": 0.3, "w": 0.0 if planar else -0.2}
    condition = Condition((stream["u"], stream["v"], stream["w"]), 0.7)
    sides = sides_of(chart, FarField(), **dict.fromkeys(chart.faces, condition))
    model = ArtificialCompressibility((chart.box,), Fluid(0.01), sides, 1.0, planar=planar)
    flow = march(model, chart, stream, steps=50)
    for name, value in stream.items():
        assert abs(flow[name] - value).max() < 1e-12


def flat(x, y, z):
    """A distorted plane."""
    bent = 0.06 * np.sin(2 * np.pi * x + 0.3) * np.cos(3 * y)
    return x + bent, y - bent, 0.2 * z


def lid(chart: Chart, **options) -> ArtificialCompressibility:
    """A cavity on a planar chart, with a lid at y_max."""
    lid = Condition((1.0, 0.0, 0.0))
    method = MethodOptions(**options)
    return ArtificialCompressibility(
        (chart.box,), Fluid(0.05), sides_of(chart, y_max=lid), 1.0, planar=True, method=method,
        largest_volume=float(chart.volumes.max()),
    )  # fmt: skip


@pytest.mark.slow
def test_blocks_change_no_bit():
    """State and residuals, on odd numbers of cells, with edges in blocks of their own."""
    chart = Chart((9, 7, 1), flat, "z")
    rest = {"p": 0.0, "u": 0.0, "v": 0.0, "w": 0.0}
    alone, cut = (march(lid(chart), chart, rest, steps=12, every=3, blocks=blocks) for blocks in ((1, 1, 1), (2, 3, 1)))
    for name in STATE:
        np.testing.assert_array_equal(alone[name], cut[name])
    assert alone.norms == cut.norms
    assert abs(alone["u"]).max() > 0.01


def test_the_faces_of_cells_close_and_volumes_are_exact():
    x = distorted(lattice((3, 4, 2)), 0.3)
    areas, volumes = [face_areas(x, axis) for axis in range(3)], cell_volumes(x)
    net = sum(np.diff(area, axis=3 - axis) for axis, area in enumerate(areas))
    assert abs(net).max() < 1e-15
    assert volumes.sum() == pytest.approx(by_quadrature(x).sum(), rel=1e-14)
    np.testing.assert_allclose(volumes, by_quadrature(x), rtol=1e-13)


def by_quadrature(x) -> np.ndarray:
    """Volumes of trilinear cells by Gauss quadrature, exact for their Jacobian."""
    points, total = (0.5 - np.sqrt(1 / 12), 0.5 + np.sqrt(1 / 12)), 0.0
    for place in product(points, repeat=3):
        shape = [np.array([1 - s, s]) for s in place]
        slope = np.array([-1.0, 1.0])
        gradients = []
        for axis in range(3):
            weights = [slope if axis == a else shape[a] for a in range(3)]
            gradients.append([_corners(q, weights) for q in x])
        total = total + np.linalg.det(np.moveaxis(np.array(gradients), (0, 1), (-2, -1))) / 8
    return total


def _corners(q, weights) -> np.ndarray:
    nz, ny, nx = (n - 1 for n in q.shape)
    cut = [(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    return sum(weights[0][i] * weights[1][j] * weights[2][k] * q[k : k + nz, j : j + ny, i : i + nx] for i, j, k in cut)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"march": "euler"}, 'method.march = "euler": with reconstruction = "third" no step is stable'),
        ({"compressibility": 0.0}, "method.compressibility = 0.0: give a number > 0"),
        ({"limiter": "van-albada", "flux": "central"}, 'method.limiter = "van-albada": it limits'),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, words):
    with pytest.raises(BadInput, match=words):
        MethodOptions(**options)


@pytest.mark.slow
def test_a_passive_scalar_is_carried_as_heat_is():
    """Without lift the temperature is a scalar: the same values and bounds, from the same walls."""
    chart = Chart((9, 7, 1), flat, "z")
    warm, cold = (Condition((float(t), 0.0, 0.0), warm=True, temperature=t) for t in (1.0, 0.0))
    held = {"y_max": warm, "y_min": cold}
    sides = tuple(replace(side, scalars={"c": side.condition}) for side in sides_of(chart, **held))
    passive = replace(lid(chart), sides=sides, heat=HeatTransport(0.03), passive=(Passive("c", 0.03),))
    flow = march(passive, chart, {"p": 0.0, "u": 0.0, "v": 0.0, "w": 0.0, "T": 0.5, "c": 0.5}, steps=40)
    np.testing.assert_allclose(flow["c"], flow["T"], rtol=0, atol=1e-13)
    assert flow["T"].max() > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("march_by", ["rk4", pytest.param("rk5", marks=pytest.mark.slow)])
def test_temperatures_may_be_far_from_zero(march_by):
    """While div u is not 0 yet, a uniform scalar stays, and temperatures 300 higher lift the fluid no otherwise."""
    chart = Chart((9, 7, 1), flat, "z")
    flows = []
    for level in (0.0, 300.0):
        warm, cold = (Condition((float(t), 0.0, 0.0), warm=True, temperature=level + 4 * t) for t in (1, -1))
        sides = sides_of(chart, y_max=warm, y_min=cold)
        heat = HeatTransport(0.03, Buoyancy(0.5, level, (0.0, -1.0, 0.0)))
        model = replace(lid(chart, march=march_by), sides=sides, heat=heat, passive=(Passive("c", 0.03),))
        flows.append(march(model, chart, {"p": 0.0, "u": 0.0, "v": 0.0, "w": 0.0, "T": level, "c": 7.0}, steps=40))
    low, high = flows
    np.testing.assert_allclose(high["c"], 7.0, rtol=1e-13)
    assert np.abs(low["T"]).max() > 3
    assert np.abs(low["p"]).max() > 0.1
    np.testing.assert_allclose(high["T"] - 300, low["T"], rtol=0, atol=1e-11)
    for name in STATE:
        np.testing.assert_allclose(high[name], low[name], rtol=0, atol=1e-11)


def fallen(*values: float, every: int = 1000, **options) -> Convergence:
    """Residuals of one equation, looked at so often."""
    march = Convergence(1e-3, **options)
    for n, value in enumerate(values):
        march.note(n * every, {"continuity": value})
    return march


def test_a_march_is_over_when_residuals_have_fallen():
    march = fallen(1.0, 2.0, 0.5)
    assert not march.note(3000, {"continuity": 0.0021})
    assert march.note(4000, {"continuity": 0.002})


def test_what_falls_no_further_is_an_error_that_says_how_far_it_came():
    with pytest.raises(RunFailed, match=r"continuity has fallen to 0\.1 of its largest value.*method\.stall"):
        fallen(1.0, 0.1, *[0.1] * 6)
    assert fallen(1.0, 0.1, *[0.1] * 4).note(6000, {"continuity": 0.085}) is False
    assert fallen(1.0, 0.1, *[0.1] * 4, accept=True).note(6000, {"continuity": 0.1})


def test_what_begins_at_rest_is_measured_by_what_comes():
    """A residual that begins with next to nothing, rises, and falls; no stall while one is larger than ever before."""
    march = Convergence(1e-3, patience=3000)
    rising = [1e-9, 1e-6, 1e-3, 1.0, 0.1, 0.01]
    assert not any(march.note(1000 * n, {"momentum": value}) for n, value in enumerate(rising))
    assert march.fallen() == {"momentum": 0.01}
    assert march.note(6000, {"momentum": 1e-3})


def outcomes(looks: list[dict[str, float]], resumed: bool) -> list[bool]:
    """Whether a march is over at each look, 1000 steps apart; `resumed` at every one from what the one before kept."""
    march, over = Convergence(1e-9, accept=True, patience=3000), []
    for n, norms in enumerate(looks):
        if resumed:
            march = replace(march, largest=dict(march.largest), norms={}, history=list(march.history))
        over.append(march.note(1000 * n, norms))
        assert len(march.history) <= 1 + 3  # the least of the older ones, the last
    return over


def stalled_by_definition(looks: list[dict[str, float]], n: int) -> bool:
    largest = {name: max(look[name] for look in looks[: n + 1]) for name in looks[0]}
    last = max(m for m, look in enumerate(looks[: n + 1]) if any(look[name] == largest[name] for name in look))
    worst = [max(look[name] / largest[name] for name in look) for look in looks[: n + 1]]
    before, since = worst[last : max(last, n - 2)], worst[max(last, n - 2) :]
    return bool(before) and min(since) > 0.9 * min(before)


def test_a_march_that_is_resumed_at_any_look_stalls_where_it_would_have():
    """Though it has fallen far below, long ago, and swings: only the looks that count are kept."""
    draw = np.random.default_rng(7)
    for _ in range(40):
        falls = np.cumprod(draw.uniform(0.6, 1.35, (40, 2)), axis=0)
        looks = [{"continuity": float(a), "momentum": float(b)} for a, b in falls]
        expected = [stalled_by_definition(looks, n) for n in range(len(looks))]
        assert outcomes(looks, resumed=False) == outcomes(looks, resumed=True) == expected
        assert any(expected)
        assert not all(expected)


def test_numbers_that_are_none_name_the_equation():
    with pytest.raises(RunFailed, match="step 1000: the residual of continuity is not finite"):
        fallen(1.0, float("nan"))
