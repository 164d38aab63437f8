"""Cases with cells of different widths."""

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.common.errors import BadInput
from taskflow.flow.poisson import relative_residual
from taskflow.output import StoreLayout
from taskflow.runs.estimate.estimate import estimate
from taskflow.systems.base.pressure import choice
from tests.flows import compute

CHANNEL = {
    "grid": {"cells": [4, 6, 12], "lengths": [1.0, 0.5, 2.0], "stretching": {"z": {"tanh": 1.5}}},
    "fluid": {"viscosity": 0.1},
    "boundaries": {"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "wall"},
    "body": {"force": [0.2, 0.0, 0.0]},
    "initial": {
        "velocity": ["z * (2 - z) + 0.1 * sin(6.283185307179586 * x)", "0.1 * cos(12.566370614359172 * y) * z", 0]
    },
    "time": {"steps": 3, "step": 0.01},
    "pressure": {"solver": "fft"},
}


def case(**tables) -> Case:
    return Case(**{**CHANNEL, **tables})


def spaced(cells: int = 12, **z) -> dict:
    return {**CHANNEL["grid"], "cells": [4, 6, cells], "stretching": {"z": z}}


def widths(**z) -> np.ndarray:
    return case(grid=spaced(**z)).staggered.widths(2)


def test_tanh_is_narrow_toward_both_ends():
    h, xi = widths(tanh=1.5), np.arange(13) / 12
    np.testing.assert_allclose(h, np.diff(1 + np.tanh(1.5 * (2 * xi - 1)) / np.tanh(1.5)), rtol=1e-12)
    np.testing.assert_allclose(h, h[::-1], rtol=1e-12)
    assert h.argmin() in (0, 11)


@pytest.mark.parametrize(("toward", "narrowest"), [("min", 0), ("max", 11)])
@pytest.mark.parametrize("kind", ["tanh", "geometric"])
def test_cells_are_narrow_toward_one_end(kind, toward, narrowest):
    h = widths(**{kind: 1.1, "toward": toward})
    assert h.argmin() == narrowest
    np.testing.assert_allclose(h.sum(), 2.0, rtol=1e-14)
    assert (np.sign(np.diff(h)) == (1 if narrowest == 0 else -1)).all()


def test_geometric_has_one_ratio():
    h = widths(geometric=1.1, toward="min")
    np.testing.assert_allclose(h[1:] / h[:-1], 1.1, rtol=1e-12)
    both = widths(geometric=1.1)
    np.testing.assert_allclose(both[:6], both[:5:-1], rtol=1e-12)
    np.testing.assert_allclose(both[1:6] / both[:5], 1.1, rtol=1e-12)


def test_faces_of_a_file_are_relative_to_the_case_and_written_out(tmp_path):
    faces = [0.0, 0.1, 0.25, 0.5, 0.8, 1.2, 1.55, 1.8, 1.93, 2.0]
    (tmp_path / "faces.csv").write_text(", ".join(map(str, faces[:4])) + "\n" + "\n".join(map(str, faces[4:])))
    written = case(grid=spaced(9, faces=faces)).to_toml().replace(f"faces = {faces}", 'faces = "faces.csv"')
    assert "faces.csv" in written
    (tmp_path / "case.toml").write_text(written)
    loaded = Case.load(tmp_path / "case.toml")
    assert loaded.staggered.faces(2).tolist() == faces
    (tmp_path / "again.toml").write_text(loaded.to_toml())
    assert Case.load(tmp_path / "again.toml").grid == loaded.grid


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"grid": spaced(faces=[0, 1, 2])}, "grid.stretching.z.faces = .*3 numbers.*13 faces"),
        ({"grid": spaced(2, faces=[0, 2, 1])}, r"faces = \[2.0, 1.0\]: faces must increase"),
        ({"grid": spaced(2, faces=[0, 1, 3])}, "faces = .*0 to 3.*goes from 0 to 2"),
        ({"grid": spaced(8, tanh=2.5)}, r"grid.stretching.z = \{ tanh = 2.5 \}: cells 0 and 1 differ by a factor of 3"),
        ({"grid": spaced(tanh=1.0, geometric=1.1)}, "grid.stretching.z.geometric = 1.1: tanh is given as well"),
        ({"grid": spaced(geometric=0.9)}, "geometric = 0.9: give the ratio"),
        ({"grid": spaced(512, geometric=1.5)}, r"z = \{ geometric = 1.5 \}: with 512 cells adjacent faces coincide"),
        ({"grid": spaced(toward="min")}, "grid.stretching.z.tanh: missing; give one of tanh, geometric and faces"),
        ({"grid": spaced(faces="nowhere.csv")}, "faces = .*nowhere.csv.*file not found"),
        ({"grid": {**CHANNEL["grid"], "stretching": {"x": {"tanh": 1.0}}}}, "solver = .*x is stretched; stretch z"),
        ({"grid": {**CHANNEL["grid"], "stretching": {}}}, "grid.stretching.z: missing"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(tables, message):
    with pytest.raises(BadInput, match=message):
        case(**tables)


def test_check_tells_of_the_spacing():
    rows = [*estimate(case(grid=spaced(tanh=2.0), machine={"device": "cpu"})).rows()]
    lines = [row.text for row in rows]
    h = widths(tanh=2.0)
    ratio = (h[1:6] / h[:5]).max()
    assert f"z is stretched: {h.min():.6g} to {h.max():.6g}, ratio of neighbours at most {ratio:.4g}" in lines
    assert any("warning: more than 1.2 in z" in row.text for row in rows if row.kind == "warning")


def test_auto_transforms_where_z_is_stretched():
    chosen = choice(case(pressure={"solver": "auto"}))
    assert chosen.solver == "fft"
    assert chosen.why.startswith("cells are uniform along x and y")


def test_a_store_has_the_places_of_cells():
    grid = case().staggered
    layout = StoreLayout(
        cells=grid.cells, lengths=grid.lengths, periodic=grid.periodic, edges=grid.edges, fields={}
    )
    np.testing.assert_array_equal(layout.coordinate("z_f"), grid.faces(2))
    np.testing.assert_array_equal(layout.coordinate("z_c"), grid.coordinates("c", 2))
    np.testing.assert_array_equal(layout.coordinate("x_f"), [0.0, 0.25, 0.5, 0.75])


def fields(case: Case, blocks=(1, 1, 1)) -> dict[str, np.ndarray]:
    flow = compute(case, blocks)
    return {name: flow[name] for name in ("u", "v", "w", "p", *(("T",) if case.heat else ()))}


def test_a_stretched_grid_of_equal_cells_is_a_uniform_one():
    even = spaced(faces=(np.arange(13) / 6).tolist())
    plain = {**CHANNEL["grid"], "stretching": None}
    heat = {"heat": {"diffusivity": 0.05, "expansion": 0.3}, "body": {"gravity": [0.0, 0.0, -9.0]}}
    heat["initial"] = {**CHANNEL["initial"], "temperature": "z * cos(6.283185307179586 * x)"}
    stretched, uniform = fields(case(grid=even, **heat)), fields(case(grid=plain, **heat))
    for name, values in uniform.items():
        assert abs(stretched[name] - values).max() < 1e-12 * abs(values).max(), name


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["central", pytest.param("quick", marks=pytest.mark.slow)])
def test_blocks_change_no_bit_of_a_sweeping_flow(scheme):
    jacobi = {
        "pressure": {"solver": "jacobi"},
        "fluid": {**CHANNEL["fluid"], "scheme": scheme},
        "grid": {**CHANNEL["grid"], "stretching": {a: {"tanh": 1.0} for a in "xyz"}},
    }
    one, many = fields(case(**jacobi)), fields(case(**jacobi), (2, 1, 3))
    for name, values in one.items():
        np.testing.assert_array_equal(many[name], values)


@pytest.mark.slow
def test_the_flow_keeps_no_divergence_on_any_blocks():
    for blocks in ((1, 1, 1), (1, 2, 2)):
        flow = compute(case(), blocks)
        assert flow.scalars["divergence"] < 1e-12
        assert flow.history[-1]["residual"] < 1e-11


BOX = {"x": "periodic", "y": "periodic", "z_min": {"type": "wall", "temperature": 1.0}, "z_max": "wall"}
PUFF = {
    "name": "c",
    "diffusivity": 0.01,
    "initial": "exp(-20 * (z - 0.6)**2)",
    "sources": [{"point": [0.4, 0.2, 0.3], "rate": 0.7}],
}
THROUGH = {
    "x_min": {"type": "inflow", "velocity": ["z * (2 - z)", 0, 0]}, "x_max": "outflow", "y": "periodic",
    "z_min": "wall", "z_max": "wall",
}  # fmt: skip
WITH = {
    "smagorinsky": {"turbulence": {"model": "smagorinsky"}, "heat": {"diffusivity": 0.01}, "boundaries": BOX},
    "wale": {"turbulence": {"model": "wale"}},
    "vreman": {"turbulence": {"model": "vreman"}},
    "quick": {"fluid": {"viscosity": 0.01, "scheme": "quick"}},
    "scalars": {"scalars": [PUFF]},
    "driving": {"body": {"bulk_velocity": {"x": 0.7}, "rotation": [0.1, 0.2, 0.3]}},
    "openings": {"boundaries": THROUGH},
    "noise": {"initial": {"noise": {"spectrum": "passot-pouquet", "wavenumber": 10.0, "rms": 0.3, "seed": 1}}},
}

SHORT = ("smagorinsky", "driving", "quick")


@pytest.mark.slow
@pytest.mark.parametrize(
    "tables",
    [pytest.param(tables, id=name, marks=[] if name in SHORT else pytest.mark.slow) for name, tables in WITH.items()],
)
def test_what_acts_on_a_stretched_grid_of_equal_cells_acts_as_on_a_uniform_one(tables):
    even = spaced(faces=(np.arange(13) / 6).tolist())
    stretched, uniform = (
        compute(case(grid=even, **tables)),
        compute(case(grid={**CHANNEL["grid"], "stretching": None}, **tables)),
    )
    for name in uniform.setup.model.fields:
        if not name.startswith("h_"):
            scale = abs(uniform[name]).max()
            np.testing.assert_allclose(
                stretched[name], uniform[name], rtol=0, atol=1e-11 * max(scale, 1e-3), err_msg=name
            )


def total(flow, q: np.ndarray) -> float:
    x, y, z = (flow.setup.grid.widths(axis) for axis in range(3))
    return float((q * z[:, None, None] * y[:, None] * x).sum())


@pytest.mark.slow
def test_scalars_gain_what_their_sources_give_and_stay_within_bounds():
    still = {"boundaries": {**BOX, "z_min": "wall"}, "time": {"steps": 4, "step": 0.01}, "grid": spaced(tanh=1.8)}
    for scheme in ("koren", "central"):
        begun = compute(case(scalars=[{**PUFF, "scheme": scheme}], **{**still, "time": {"steps": 1, "step": 1e-9}}))
        flow = compute(case(scalars=[{**PUFF, "scheme": scheme}], **still))
        gained = total(flow, flow["c"]) - total(begun, begun["c"])
        assert gained == pytest.approx(0.7 * (0.04 - 1e-9), rel=1e-11)
        assert flow.setup.monitor.integrals(flow.scalars)["integral_c"] == pytest.approx(total(flow, flow["c"]))
    step = {**PUFF, "initial": "where(z < 0.7, 1, 0)", "sources": [], "diffusivity": 1e-4}
    flow = compute(case(scalars=[step], grid=spaced(tanh=1.8), time={"steps": 20}))
    assert flow["c"].min() > -1e-12
    assert flow["c"].max() < 1 + 1e-12


def test_a_bulk_velocity_is_the_mean_over_the_volume():
    flow = compute(case(body={"bulk_velocity": {"x": 0.7}}, grid=spaced(tanh=1.8)))
    assert total(flow, flow["u"]) / 1.0 == pytest.approx(0.7, rel=1e-13)


@pytest.mark.slow
def test_as_much_leaves_as_enters():
    for blocks in ((1, 1, 1), (2, 1, 2)):
        flow = compute(case(boundaries=THROUGH, grid=spaced(tanh=1.8)), blocks)
        assert flow.scalars["divergence"] < 1e-12


def test_eddies_know_the_widths_of_cells():
    """In a uniform shear the eddy viscosity of Smagorinsky's model is (C Delta)^2 times its rate."""
    slip = {
        "x": "periodic",
        "y": "periodic",
        "z_min": {"type": "wall"},
        "z_max": {"type": "wall", "velocity": [2, 0, 0]},
    }
    shear = {"boundaries": slip, "initial": {"velocity": ["z", 0, 0]}, "time": {"steps": 1, "step": 1e-9}}
    flow = compute(
        case(turbulence={"model": "smagorinsky", "damping": "none"}, grid=spaced(tanh=1.8), body={}, **shear)
    )
    x, y, z = (flow.setup.grid.widths(axis) for axis in range(3))
    np.testing.assert_allclose(flow["nu_t"][:, 0, 0], (0.17 * (x[0] * y[0] * z) ** (1 / 3)) ** 2, rtol=1e-6)


def test_multigrid_where_x_is_stretched():
    stretching = {axis: {"tanh": 1.2} for axis in "xz"}
    grid = {"cells": [12, 2, 12], "lengths": [1.0, 0.2, 1.0], "stretching": stretching}
    lid = {"type": "wall", "velocity": [1.0, 0.0, 0.0]}
    sides = {"x_min": "wall", "x_max": "wall", "y": "periodic", "z_min": "wall", "z_max": lid}
    cavity = case(grid=grid, boundaries=sides, pressure={}, body={}, initial={})
    assert choice(cavity).solver == "multigrid"
    assert choice(cavity).why == "FFT transforms along x and y, and x is stretched"
    flow = compute(cavity)
    assert relative_residual(flow.history[-1]) < 1.1e-6
    assert flow.scalars["divergence"] < 1e-4
    assert abs(flow["w"]).max() > 1e-2


@pytest.mark.slow
def test_fluid_leaves_by_pressure():
    sides = {**THROUGH, "x_max": {"type": "outflow", "pressure": 0.0}}
    flows = [compute(case(boundaries=sides, grid=spaced(tanh=1.8), pressure=p)) for p in ({"solver": "fft"}, TIGHT)]
    assert flows[0].scalars["divergence"] < 1e-12
    np.testing.assert_allclose(flows[1]["u"], flows[0]["u"], rtol=0, atol=1e-8)


TIGHT = {"solver": "multigrid", "tolerance": 1e-10}
