"""A flow in two dimensions takes the same steps whichever of i, j and k its single cell lies along, however thin."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.cases.tables.charts import grid as tables
from taskflow.common.errors import BadInput
from taskflow.geometry.grids import Chart, shape, write_grid
from taskflow.geometry.grids.files.plot3d_writing import write_plot3d
from taskflow.geometry.grids.multiblock.assembly import Part, assembled
from taskflow.output import read_log, tree
from taskflow.runs.state.origin import check_restart
from taskflow.runs.state.restart import newest_restart
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.regions import triple
from taskflow.systems.artificial_compressibility import domain
from tests.cases.on_charts import CYLINDER, case, changed
from tests.runs.going_on import go

ORDER = {"k": "ijk", "j": "kij", "i": "jki"}
"""By the direction of the single cell, which directions are right-handed before it and itself."""


def sheet(path, along: str, thin: float, axis: int = 2, rough: float = 0.0) -> None:
    """A curved sheet of 6 x 5 cells across x, y or z, of which one face may be `rough`."""
    a, b, c = np.meshgrid(np.linspace(0, 1, 7), np.linspace(0, 1, 6), [0.0, thin], indexing="ij")
    bent = np.sin(np.pi * a) * np.sin(2 * np.pi * b)
    x = [a + 0.05 * bent, b + 0.04 * bent, c * (1 + rough * bent)]
    x = np.roll(x, axis - 2, axis=0)  # [xyz, first, second, across]
    order = ["ijk".index(name) for name in ORDER[along]]
    write_plot3d(path, [Chart(np.ascontiguousarray(np.moveaxis(x, (1, 2, 3), [3 - place for place in order])))])


def cavity(folder, along: str, thin: float = 0.1, axis: int = 2, **changes):
    """A flow in the sheet, past a lid that moves along it."""
    path = folder / f"{along}{axis}{thin:g}.xyz"
    sheet(path, along, thin, axis)
    first, second, single = ORDER[along]
    lid = [float((axis + 1) % 3 == a) for a in range(3)]
    sides = {f"{name}_{end}_1": "wall" for name in (first, second) for end in ("min", "max")}
    sides |= {f"{second}_max_1": {"type": "wall", "velocity": lid}}
    sides |= {f"{single}_{end}_1": "symmetry" for end in ("min", "max")}
    return case(changed(
        CYLINDER, grid={"file": str(path)}, boundaries=sides, initial={}, output__precision="double", **changes,
    ))  # fmt: skip


MARCHES = {
    "explicit": {"time": {"steady": 1e-14, "steps": 10}},
    "implicit": {"time": {"steady": 1e-9, "steps": 40}, "method__march": "implicit"},
    "real time": {"time": {"end": 0.3, "cfl": 0.5}},
}


def flow(case, path):
    """The number of steps, that of products, and the velocity and pressure in the order of cells."""
    go(case, path)
    log = read_log(path / "log.jsonl")[-1]
    (chart,) = tree(path / "fields.zarr")["charts"].children.values()
    return log["step"], log.get("linear"), chart.isel(time=-1).load(), log["bodies"]


@pytest.mark.slow
@pytest.mark.parametrize("march", ["implicit", "explicit", "real time"])
def test_a_single_cell_along_any_direction_bounds_no_step(tmp_path, march):
    """However thin it is, and across x, y or z: the same steps, the same flow, the same force per length."""
    steps, products, expected, acts = flow(cavity(tmp_path, "k", **MARCHES[march]), tmp_path / "k")
    for along, thin, axis in (("k", 1e-4, 2), ("j", 1e-4, 2), ("i", 1.0, 2), ("j", 1e-3, 1), ("k", 0.1, 0)):
        name = f"{along}_{axis}"
        taken, multiplied, found, forces = flow(cavity(tmp_path, along, thin, axis, **MARCHES[march]), tmp_path / name)
        assert (taken, multiplied) == (steps, products), name
        for n, component in enumerate("uvw"):
            turned = "uvw"[(n + axis - 2) % 3]
            np.testing.assert_allclose(found[turned], expected[component], rtol=0, atol=1e-11, err_msg=name)
        np.testing.assert_allclose(found["p"], expected["p"], rtol=0, atol=1e-11, err_msg=name)
        lid, there = f"{ORDER[along][1]}_max_1", np.array(acts["j_max_1"]["force"])
        np.testing.assert_allclose(forces[lid]["force"], np.roll(there, axis - 2), rtol=0, atol=1e-10, err_msg=name)


def test_a_sheet_that_is_nearly_flat_is_told(tmp_path):
    """Pictures show it in two dimensions, and it is computed in three."""
    flat = cavity(tmp_path, "k")
    assert not [text for text in RunSetup(flat, (1, 1, 1)).system.warnings if "one cell thick" in text]
    sheet(tmp_path / "rough.xyz", "k", 0.1, rough=1e-9)
    rough = RunSetup(flat.replace(**{"grid.file": str(tmp_path / "rough.xyz")}), (1, 1, 1))
    [told] = [text for text in rough.system.warnings if "one cell thick" in text]
    assert "one cell thick along z, but not between two planes z = constant" in told


@pytest.mark.slow
def test_a_checkpoint_with_cells_in_another_order_is_refused_with_the_right_remedy(tmp_path, monkeypatch):
    """Earlier builds left a single cell along j where it was."""
    made = cavity(tmp_path, "j", time={"steady": 1e-14, "steps": 2})
    with monkeypatch.context() as earlier:
        earlier.setattr(tables, "upright", lambda grid: grid)
        earlier.setattr(domain, "normal", lambda grid: None)
        tables._made.cache_clear()
        go(made, tmp_path / "run")
    tables._made.cache_clear()
    longer = made.replace(**{"time.steps": 4})
    sim = RunSetup(longer, (1, 1, 1))
    with pytest.raises(BadInput, match=r"it has no p in .*; another build wrote it, with other cells; begin again"):
        check_restart(newest_restart(tmp_path / "run", longer)[0], sim)


def test_layers_are_counted_as_in_the_file(tmp_path):
    """Of a chart that was turned, too, and `check` says that it was."""
    whole = cavity(tmp_path, "j", time={"steady": 1e-14, "steps": 2}, planes=[
        {"name": "file", "chart": 1, "k": 3, "every": {"steps": 1}},
        {"name": "side", "side": "k_max_1", "every": {"steps": 1}},
    ])  # fmt: skip
    go(whole, tmp_path / "run")
    assert tree(tmp_path / "run" / "fields.zarr", "file")["charts/0"].sizes["i"] == 1
    assert whole.table("grid").grid().turned(0) == ", turned: its i, j, k were k, i, j"


def test_a_single_cell_in_a_tilted_plane_is_refused_where_it_is_joined_to_itself(tmp_path):
    """No axis is across that plane: a word about what would help."""
    thin = shape("box", {"cells": (8, 1, 6), "lengths": (1.0, 0.2, 1.0)}).grid().charts[0]
    turn = np.array([[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
    tilted = assembled([Part(np.einsum("xy,ykji->xkji", turn, thin.vertices), {})], [triple(turn @ [0.0, 0.2, 0.0])])
    write_grid(tmp_path / "tilted.cgns", tilted)
    with pytest.raises(BadInput) as refused:
        case(changed(
            CYLINDER, grid={"file": str(tmp_path / "tilted.cgns")}, boundaries=dict.fromkeys(tilted.sides, "wall"),
        ))  # fmt: skip
    assert str(refused.value) == (
        "grid: chart 1 is one cell thick along j, and joined to itself there; in two dimensions all charts lie between"
        " the same two planes across x, y or z: move it there, or give 4 cells"
    )
