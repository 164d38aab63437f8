"""The study `simplefoam`: meshes, files and logs of OpenFOAM, which need not be there; one run where it is."""

import json
import os
import re
import shutil

import numpy as np
import pytest

from examples.papers.luo_2014 import openfoam
from examples.papers.luo_2014.openfoam import Marched, OuterIterate
from examples.papers.luo_2014.polymesh import PolyMesh
from examples.papers.luo_2014.simplefoam import (
    PROGRAMS,
    PeerCase,
    compared,
    on_cores,
    settled,
    summary,
)
from taskflow.common.errors import BadInput
from taskflow.common.hexahedra import area, cell_volumes
from taskflow.geometry.grids import shape

PAPER = "examples.papers.luo_2014"
DUCT = PeerCase("duct", (16, 4, 5))
SECTION = PeerCase("section", (16, 4, 1))
GRIDS = {
    "o-grid": ("o-grid", {"cells": [12, 4, 1], "radius": 0.5, "far": 5.0}),
    "duct": ("duct-bend", {
        "cells": [16, 4, 5], "side": 1.0, "mean_radius": 2.3, "upstream": 1.0, "downstream": 2.0, "first": 0.1,
    }),
    "turned": ("box", {
        "cells": [8, 8, 10], "lengths": [1.0, 1.0, 1.0], "charts": [2, 2, 2], "turned": True, "distortion": 0.1,
    }),
}  # fmt: skip
LOG = """\
Build  : OPENFOAM=1912 patch=200626
Starting time loop

forces forces:
    rho: rhoInf

Time = 1

smoothSolver:  Solving for Ux, Initial residual = 1, Final residual = 0.0174823, No Iterations 1
GAMG:  Solving for p, Initial residual = 1, Final residual = 0.0421552, No Iterations 8
time step continuity errors : sum local = 0.00398078, global = -0.000427297, cumulative = -0.000427297
ExecutionTime = 0.01 s  ClockTime = 0 s

forces forces write:
    Sum of forces
        Total    : (0.208511 -0.108288 -2.41052e-05)
        Pressure : (0.0970781 -0.116259 -2.66482e-05)
        Viscous  : (0.111433 0.00797168 2.54303e-06)
    Sum of moments
        Total    : (-0.000153627 0.000273223 -0.208158)
        Pressure : (-0.000176184 5.73879e-05 -0.223191)
        Viscous  : (2.25574e-05 0.000215835 0.0150336)


Time = 198

GAMG:  Solving for p, Initial residual = 6.53738e-10, Final residual = 1.42795e-11, No Iterations 2
ExecutionTime = 0.53 s  ClockTime = 0 s


SIMPLE solution converged in 198 iterations

forces forces write:
    Sum of forces
        Total    : (2.09886 -1.2148 1.23829e-10)
        Pressure : (1.81458 -1.68643 1.36248e-10)
        Viscous  : (0.284283 0.471623 -1.24185e-11)
    Sum of moments
        Total    : (7.02737e-10 -2.8776e-10 -3.0875)


End
"""


@pytest.fixture(params=GRIDS)
def grid(request):
    name, keys = GRIDS[request.param]
    return shape(name, keys).grid()


def test_faces_and_cells_are_in_order(grid):
    mesh = PolyMesh.of(grid)
    inside = len(mesh.neighbour)
    owner = mesh.owner[:inside]
    assert (owner < mesh.neighbour).all()
    assert (np.diff(owner * grid.cells + mesh.neighbour) > 0).all()  # by owners, then by neighbours, none twice
    assert (np.bincount(np.concatenate([mesh.owner, mesh.neighbour])) == 6).all()
    assert len(np.unique(np.sort(mesh.faces, axis=1), axis=0)) == len(mesh.faces)
    assert len(np.unique(mesh.points, axis=0)) == len(mesh.points) == mesh.faces.max() + 1
    sides = {name: sum(patch.cells.volume for patch in patches) for name, patches in grid.sides.items()}
    assert mesh.patches == sides
    assert sum(sides.values()) == len(mesh.faces) - inside


def test_cells_are_closed_and_as_large_as_ours(grid):
    mesh = PolyMesh.of(grid)
    inside, cells = len(mesh.neighbour), grid.cells
    corners = np.moveaxis(mesh.points[mesh.faces], 2, 0)  # [xyz, face, corner]
    areas, middles = area(*np.moveaxis(corners, 2, 0)), corners.mean(axis=2)
    total, volumes, centres = np.zeros((3, cells)), np.zeros(cells), np.zeros((3, cells))
    for part, sign, of in ((slice(None), 1, mesh.owner), (slice(inside), -1, mesh.neighbour)):
        for n in range(3):
            np.add.at(total[n], of, sign * areas[n, part])
            np.add.at(centres[n], of, middles[n, part] / 6)
        np.add.at(volumes, of, sign * (areas * middles)[:, part].sum(axis=0) / 3)
    assert np.abs(total).max() < 1e-13 * np.abs(areas).max()
    own = np.concatenate([cell_volumes(chart.vertices).ravel() for chart in grid.charts])
    np.testing.assert_allclose(volumes, own, rtol=1e-11)
    ahead = centres[:, mesh.neighbour] - centres[:, mesh.owner[:inside]]
    assert ((ahead * areas[:, :inside]).sum(axis=0) > 0).all()
    outwards = middles[:, inside:] - centres[:, mesh.owner[inside:]]
    assert ((outwards * areas[:, inside:]).sum(axis=0) > 0).all()


def test_a_periodic_grid_is_refused():
    grid = shape("box", {"cells": [4, 4, 4], "lengths": [1.0, 1.0, 1.0], "periodic": ["x"]}).grid()
    with pytest.raises(BadInput, match="periodic"):
        PolyMesh.of(grid)


@pytest.mark.parametrize(("flow", "kinds", "said"), [
    (SECTION, {"body": "wall", "far": "patch", "outlet": "patch", "ends": "empty"}, "freestreamVelocity"),
    (DUCT, {"inlet": "patch", "outer": "wall", "inner": "wall", "ends": "wall", "outlet": "patch"}, "zeroGradient"),
])  # fmt: skip
def test_files_say_what_the_case_says(tmp_path, flow, kinds, said):
    case = flow.case()
    openfoam.write_case(case, tmp_path, 2, 50)
    boundary = (tmp_path / "constant" / "polyMesh" / "boundary").read_text()
    assert {name: f"{name} {{ type {kind};" in boundary for name, kind in kinds.items()} == dict.fromkeys(kinds, True)
    faces = (tmp_path / "constant" / "polyMesh" / "faces").read_text().splitlines()
    lists = faces[faces.index("(") - 1 :]
    assert int(lists[0]) == len(lists) - 3 == len(PolyMesh.of(case.table("grid").grid()).faces)
    assert said in (tmp_path / "0" / "U").read_text()
    assert f"nu {case.fluid.viscosity};" in (tmp_path / "constant" / "transportProperties").read_text()
    assert "p 1e-08; U 1e-08;" in (tmp_path / "system" / "fvSolution").read_text().replace("\n", " ")


def test_what_enters_is_written_face_by_face(tmp_path):
    openfoam.write_case(DUCT.case(), tmp_path, 1, 50)
    text = (tmp_path / "0" / "U").read_text()
    inlet = re.search(r"inlet \{ type fixedValue;\nvalue nonuniform List<vector>\n20\n\((.*?)\n\)", text, re.DOTALL)
    values = np.array(re.findall(r"[^()\s]+", inlet[1]), float).reshape(20, 3)
    mesh = PolyMesh.of(DUCT.case().table("grid").grid())
    start = len(mesh.neighbour)
    areas = area(*np.moveaxis(mesh.points[mesh.faces[start : start + 20]], (1, 2), (0, 1)))
    assert next(iter(mesh.patches.items())) == ("inlet", 20)
    assert values[:, 0].max() > 1.5  # parabolic
    assert -(areas[0] * values[:, 0]).sum() == pytest.approx(1.0)  # the mean speed, over a side of area 1


def test_a_log_is_read():
    run = openfoam.read([(10 + n, line) for n, line in enumerate(LOG.splitlines())], 9.5)
    assert run.iterates == [
        OuterIterate(1, 10.0, 0.208511, processor=0.01), OuterIterate(198, 26.0, 2.09886, processor=0.53),
    ]  # fmt: skip
    assert (run.converged, run.build) == (True, "OPENFOAM=1912 patch=200626")
    assert run.whole == len(LOG.splitlines()) - 0.5
    assert not openfoam.read([(0.0, line) for line in LOG.splitlines()[:20]], 0.0).converged


def test_a_force_has_settled_when_it_no_longer_leaves():
    forces = [3.0, 1.0005, 1.002, 0.9995, 1.0]
    assert settled([OuterIterate(n, n / 2, force) for n, force in enumerate(forces, start=1)]).number == 4
    assert settled([OuterIterate(0, 0.0, 1.0)]).number == 0


def test_cases_are_those_of_the_examples():
    assert PeerCase("section").case().table("grid").cells == (128, 40, 1)
    case = PeerCase("duct", (32, 40, 20), ("time.steady=1e-6",)).case()
    assert (case.table("grid").cells, case.table("grid").first) == ((32, 40, 20), 0.01)
    assert (case.table("time").steady, case.own.march) == (1e-6, "implicit")


def test_rows_become_tables(start, here):
    theirs = [
        Marched([OuterIterate(1, s, 2.0, s / 2), OuterIterate(9, 2 * s, 2.001, s)], False, 3 * s)
        for s in (3.0, 2.0, 4.0)
    ]
    ours = [
        Marched([OuterIterate(0, 0.0, 9.0, products=0), OuterIterate(1, s, 2.0, products=7)], True, s)
        for s in (1.0, 2.0, 9.0)
    ]
    rows = [
        {"case": "duct", "cells": [8, 4, 4], "cores": 2, "program": name, **summary(runs)}
        for name, runs in zip(PROGRAMS, (theirs, ours), strict=True)
    ]
    result = {
        "benchmark": "simplefoam", "git_commit": "12345", "started": "2027-01-02T03:04", "command": ["t", "bench"],
        "gpu": None, "processor": "a CPU", "threads": 2, "settings": [], "results": compared(rows),
    }  # fmt: skip
    assert [(row["ratio"], row["met"]) for row in result["results"]] == [(0.5, None), (1.0, True)]
    (here / "0.json").write_text(json.dumps(result))
    (here / "page.md").write_text("<!-- table of simplefoam -->\n\n<!-- end -->\n")
    assert start("docs.performance.report", "0.json", "-o", "page.md").exit_code == 0
    lines = (here / "page.md").read_text().splitlines()
    assert lines[4].startswith("| duct | 8x4x4 | 2 | simpleFoam | 1 | 2 (3) |  | 9 | 4 (6) | 2.001 |")
    assert "| taskflow | 1 (7) | 1 (2) | 1 |  |  | 2 | 1 (7) | 1 (2) | 1 |" in lines[5]


def test_where_it_is_not_installed_the_remedy_is_told(start, refused, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    result = start(PAPER, "simplefoam", "--cores", 1)
    refused(result.exit_code, result.stderr, "simpleFoam: there is no such program on PATH", "install OpenFOAM")
    (tmp_path / "simpleFoam").write_text("#!/bin/sh\n")
    (tmp_path / "simpleFoam").chmod(0o755)
    monkeypatch.setenv("WM_PROJECT_DIR", str(tmp_path))
    result = start(PAPER, "simplefoam", "--cores", 1)
    refused(result.exit_code, result.stderr, f"WM_PROJECT_DIR = {tmp_path}", "install OpenFOAM")


@pytest.mark.parametrize(("words", "said"), [
    (("--cells", "16x8x8"), "give --cases"),
    (("--cases", "duct", "--cells", "16"), "three numbers"),
    (("--cases", "wing"), "section, duct"),
    (("--cores", "0"), "numbers of cores"),
    (("--cores", "100000"), "give fewer"),
])  # fmt: skip
def test_words_that_say_nothing_are_refused(start, refused, words, said):
    result = start(PAPER, "simplefoam", *words)
    refused(result.exit_code, result.stderr, words[-2], said)


def test_cores_are_given_back():
    usable = os.sched_getaffinity(0)
    with on_cores(1):
        assert os.sched_getaffinity(0) == {min(usable)}
    assert os.sched_getaffinity(0) == usable


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("simpleFoam") is None, reason="OpenFOAM is not installed")
def test_both_programs_beside_each_other(start, here):
    cores = "1,2" if shutil.which("mpirun") and len(os.sched_getaffinity(0)) > 1 else "1"
    words = ("--cases", "duct", "--cells", "16x8x8", "--cores", cores, "--repeats", 1)
    result = start(PAPER, "simplefoam", *words, "-o", "bench.json")
    assert (result.exit_code, result.stderr) == (0, "")
    report = json.loads((here / "bench.json").read_text())
    assert report["openfoam"].startswith("OPENFOAM=")
    rows = report["results"]
    assert [row["program"] for row in rows] == [*PROGRAMS] * (len(rows) // 2)
    assert all(row["converged"] for row in rows)
    theirs, ours = (row["force"] for row in rows[:2])
    assert theirs == pytest.approx(ours, rel=0.1)  # eight cells across
    assert all(row["to_force"]["seconds"]["least"] <= row["to_end"]["seconds"]["least"] for row in rows)
