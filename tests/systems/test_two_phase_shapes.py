"""What the phases fill at the start: shapes, expressions and functions, on blocks and after a restart."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import taskflow as tf
from taskflow.output import INITIAL, STORE, dataset
from taskflow.runs.estimate.estimate import estimate
from taskflow.runs.state.setup import RunSetup
from tests.cases.two_phases import case

SPHERE = {"type": "sphere", "centre": [0.3, 0.2, 0.35], "radius": 0.15, "phase": 1}
LAYER = {"type": "box", "low": [-1, -1, -1], "high": [9, 9, 0.1], "phase": 1}


def shaped(*shapes, grid=None, **more) -> tf.Case:
    return case(two_phase={"initial": None, "shapes": list(shapes), **more}, grid=grid or {})


@pytest.mark.parametrize(("shapes", "words"), [
    ([], r"two_phase.shapes = \[\]: give one shape or more"),
    ([{**SPHERE, "phase": 3}], r"two_phase.shapes\[1\].phase = 3"),
    ([{**SPHERE, "phase": None}], r"two_phase.shapes\[1\].phase"),
    ([SPHERE, {**SPHERE, "centre": [3, 0, 0]}], r'shapes\[2\].type = "sphere": beyond the domain .*; move it inside'),
    ([{**SPHERE, "centre": [0, 0, 1e200]}], r"two_phase.shapes\[1\].centre = .*: give numbers up to 1e\+100"),
    ([{**SPHERE, "axis": "x"}], r'two_phase.shapes\[1\].axis = "x": type = "sphere" has no axis'),
    ([{"type": "cylinder", "phase": 1, "axis": "x", "radius": 1}], r"two_phase.shapes\[1\].centre: missing; give"),
    ([{"type": "surface", "phase": 1}], r"two_phase.shapes\[1\].file: missing; give the path of a file"),
    ([{"type": "torus", "phase": 1}], r'two_phase.shapes\[1\].type = "torus": give "box", .*"surface" or "heights"'),
    ([{**SPHERE, "name": "drop"}], r"two_phase.shapes\[1\].name"),
])  # fmt: skip
def test_shapes_that_cannot_be_are_told(shapes, words):
    with pytest.raises(tf.BadInput, match=words):
        shaped(*shapes)


def test_a_shape_that_a_periodic_side_cuts_is_told():
    """Not one that spans the domain, nor one across the few cells of a two-dimensional flow."""
    cut, flat = {**SPHERE, "centre": [0.3, 0.05, 0.35]}, {"cells": [12, 4, 14]}
    for made, words in (
        (shaped(SPHERE, cut), ["two_phase.shapes[2]: it crosses a periodic side along y and ends there"]),
        (shaped(LAYER, SPHERE), []), (shaped(cut, grid=flat), []),
    ):
        told = [text for text in RunSetup(made, (1, 1, 1)).system.warnings if "periodic" in text]
        assert [text.split(";")[0] for text in told] == words


def test_one_of_initial_and_shapes_is_given():
    with pytest.raises(tf.BadInput, match=r"two_phase.shapes = .*: initial is given as well; give one of them"):
        case(two_phase={"shapes": [SPHERE]})
    with pytest.raises(tf.BadInput, match=r"two_phase.initial: missing; give an expression .* or two_phase.shapes"):
        case(two_phase={"initial": None})
    with pytest.raises(tf.BadInput, match=r"two_phase.background = 1: it is the phase outside the shapes"):
        case(two_phase={"background": 1})


@pytest.mark.slow
def test_a_file_of_heights_is_beside_the_case_and_has_to_be_there(tmp_path):
    text = shaped({"type": "heights", "file": "ground.npy", "phase": 1}).to_toml()
    (tmp_path / "case.toml").write_text(text)
    result = tf.Case.load(tmp_path / "case.toml")
    assert result.own.shapes[0].file == str(tmp_path / "ground.npy")
    with pytest.raises(tf.BadInput, match=r"two_phase.shapes\[1\]: .*ground.npy"):
        tf.run(result, tmp_path / "run")
    np.save(tmp_path / "ground.npy", np.full((2, 2), 0.2))
    snapshot = dataset(tf.run(result, tmp_path / "run").directory / STORE).isel(time=0)
    assert float(snapshot["f"].mean()) == pytest.approx(0.2 / 0.7, abs=1e-3)


def triangles(path, *parts, **more) -> dict:
    """A shape of phase 1 in a file: boxes between two corners each."""
    trimesh = pytest.importorskip("trimesh")
    trimesh.util.concatenate([trimesh.creation.box(bounds=ends) for ends in parts]).export(path)
    return {"type": "surface", "file": str(path), "phase": 1, **more}


def test_triangles_have_to_be_there_closed_and_in_the_domain(tmp_path):
    cube, path = [[0, 0, 0], [1, 1, 1]], tmp_path / "a.stl"
    lone = ["solid a", "facet normal 0 0 1", "outer loop", "vertex 0 0 0", "vertex 1 0 0", "vertex 0 1 0", "endloop"]
    (tmp_path / "open.stl").write_text("\n".join([*lone, "endfacet", "endsolid"]))
    for shape, words in [
        ({"file": "none.stl"}, r"two_phase.shapes\[1\]: none.stl: file not found; give an absolute path"),
        ({"file": str(tmp_path / "open.stl")}, r"two_phase.shapes\[1\]: .*open.stl: the surface is not closed"),
        (triangles(path, cube, shift=[0, 0, 2]), r"shapes\[1\]: .*a.stl: .* from 2 to 3 along z, and the domain from"),
        (triangles(path, cube, scale=1e60), r"from 0 to 1e\+60 along x, and the domain from 0 to 0.6; give a scale"),
    ]:
        with pytest.raises(tf.BadInput, match=words):
            estimate(shaped({"type": "surface", "phase": 1, **shape}))


@pytest.mark.slow
def test_triangles_are_what_a_box_is_on_any_blocks(tmp_path):
    """The box of two that overlap: between them, on cells' centres, too, there is no interface."""
    box = {"type": "box", "low": [0.1, -1, 0.1], "high": [0.5, 1, 0.6], "phase": 1}
    parts = [[0.1, -1, 0.1], [0.375, 1, 0.6]], [[0.225, -1, 0.1], [0.5, 1, 0.6]]
    whole, cut, plain = (tmp_path / name for name in ("whole", "cut", "plain"))
    of_triangles = shaped(triangles(tmp_path / "box.stl", *parts))
    tf.run(of_triangles, whole)
    assert not (whole / INITIAL).exists()  # blocks compute it
    tf.run(case(two_phase=dict(of_triangles.own), machine={"blocks": [2, 1, 2]}), cut)
    xr.testing.assert_identical(*(dataset(run / STORE).drop_attrs() for run in (whole, cut)))
    tf.run(shaped(box), plain)
    of_both, of_box = (dataset(run / STORE)["f"].isel(time=0).values for run in (whole, plain))
    np.testing.assert_allclose(of_both, of_box, atol=1e-4)  # the same but for how far distances are known at first


@pytest.mark.slow
def test_a_ball_of_triangles_is_a_ball(tmp_path):
    """But for its facets, and where distances end: the ball is three spacings wide, and they reach as far."""
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.icosphere(4, 1.0).export(tmp_path / "ball.stl")
    placed = {"scale": SPHERE["radius"], "shift": SPHERE["centre"]}
    shape = {"type": "surface", "file": str(tmp_path / "ball.stl"), "phase": 1, **placed}
    runs = [tf.run(shaped(item), tmp_path / item["type"]).directory for item in (shape, SPHERE)]
    result, expected = (dataset(run / STORE)["f"].isel(time=0) for run in runs)
    np.testing.assert_allclose(result, expected, atol=1e-2)
    assert float(result.mean()) == pytest.approx(float(expected.mean()), rel=4e-3)


@pytest.mark.slow
def test_shapes_are_the_same_on_blocks_and_what_their_distance_is(tmp_path):
    of_shapes = shaped(LAYER, {**SPHERE, "phase": 2}, {**SPHERE, "radius": 0.05})
    whole = tf.run(of_shapes, tmp_path / "whole").directory
    assert tf.Case.load(whole / "case.toml") == of_shapes
    assert not (whole / INITIAL).exists()  # blocks compute it
    cut = case(two_phase=dict(of_shapes.own), machine={"blocks": [2, 1, 2]})
    xr.testing.assert_identical(*(
        dataset(run / STORE).drop_attrs() for run in (whole, tf.run(cut, tmp_path / "cut").directory)
    ))  # fmt: skip
    expression = "maximum(minimum(0.1 - z, {0} - 0.15), 0.05 - {0})".format(
        "sqrt((x - 0.3)**2 + (y - 0.2)**2 + (z - 0.35)**2)"
    )
    written = tf.run(case(two_phase={"initial": expression}), tmp_path / "written").directory
    ours, other = (dataset(run / STORE)["f"].isel(time=0) for run in (whole, written))
    np.testing.assert_allclose(ours, other, atol=1e-12)


def ball(x, y, z):
    return 0.15 - np.sqrt((x - 0.3) ** 2 + (y - 0.2) ** 2 + (z - 0.35) ** 2)


@pytest.mark.slow
@pytest.mark.parametrize("values", [
    {"initial": ball},
    {"shapes": [{"type": "implicit", "inside": lambda x, y, z: -ball(x, y, z), "phase": 1}]},
])  # fmt: skip
def test_functions_are_computed_once_and_their_values_kept(tmp_path, values):
    functional = {"initial": None, **values}
    whole = tf.run(case(), tmp_path / "whole").directory
    tf.run(case(two_phase=functional, time={"steps": 3}, machine={"blocks": [1, 2, 2]}), tmp_path / "parts")
    assert (tmp_path / "parts" / INITIAL).is_dir()
    rest = case(two_phase=functional, machine={"blocks": [2, 1, 1]})
    parts = tf.run(rest, tmp_path / "parts", resume=True).directory
    expected, result = (dataset(run / STORE).drop_attrs() for run in (whole, parts))
    xr.testing.assert_allclose(expected, result, rtol=1e-9, atol=1e-11)
