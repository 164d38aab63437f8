"""Commands that read a run on charts."""

import json
from shutil import rmtree

import numpy as np
import pytest

from taskflow.output import create
from taskflow.output.store.rigid_motion import COLUMNS, RATES, pose
from tests.output.on_charts import filled, grid_of, layout_of

CASE = 'title = "A ring"\n[grid]\nfile = "ring.xyz"\n[time]\nsteady = 1e-8\nsteps = 100\n'


@pytest.fixture
def run(tmp_path):
    """A run of which the solver has died after a few steps."""
    functions = {"u": lambda x, y, z: -y, "v": lambda x, y, z: x, "w": lambda x, y, z: 0 * x, "p": lambda x, y, z: x}
    about = {"viscosity": 0.1, "boundary_inner": "wall", "boundary_inner_velocity": np.zeros(3)}
    filled(tmp_path / "fields.zarr", grid_of("annulus"), functions, about, times=(0.0, 10.0))
    (tmp_path / "case.toml").write_text(CASE)
    lines = [
        {"step": n, "time": float(n), "cfl": 1.5, "residual_p": 10.0**-n, "residual_u": 3 * 10.0**-n, "wall": 0.1 * n}
        for n in range(5)
    ]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


@pytest.mark.slow
def test_pictures_and_exports(give, run):
    for command, file in (
        (("plot", run), "velocity.png"),
        (("plot", run, "--field", "p", "--window", "-1", "0", "0", "1"), "p.png"),
        (("plot", run, "--side", "inner"), "side.png"),
        (("plot", run, "--series"), "series.png"),
        (("export", run, "--vtk"), "vtk/fields.pvd"),
        (("export", run, "--vtk", "--time", "10"), "vtk/fields_000000/chart_3.vts"),
        (("export", run, "--netcdf"), "fields.nc"),
    ):
        result = give(*command)
        assert (result.exit_code, result.stderr) == (0, ""), command
        assert (run / file).exists()


@pytest.mark.parametrize(("command", "words"), [
    (("plot", "--interface"), "--interface: not of runs on charts"),
    (("plot", "--plane", "z=3"), "outside the domain, where z goes from 0 to 1"),
    (("plot", "--side", "inner", "--field", "p"), "--field: not with --side"),
    (("plot", "--side", "wing"), "unknown side; choose one of ends, inner, outer"),
    (("plot", "--series", "--side", "inner"), "--side: not with --series, --forces or --animation"),
    (("export", "--vtk", "--time", "3"), "no snapshot was written then; choose one of 0, 10"),
])  # fmt: skip
def test_what_is_not_there_is_refused_in_words(give, run, command, words):
    result = give(command[0], run, *command[1:])
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


def test_info_and_watch(give, run):
    info = give("info", run)
    assert (info.exit_code, info.stderr) == (0, "")
    assert "256 cells in 4 charts" in info.stdout
    (run / "report.json").write_text(json.dumps({"ended": "stopped", "time": 4.0, "steps": 4}))
    watched = give("watch", run)
    assert "A ring: 256 cells in 4 charts, to 100 steps" in watched.stdout
    assert "residual 3.00e-04" in watched.stdout
    assert "divergence" not in watched.stdout
    assert "nan" not in watched.stdout


def test_cells_that_move_count_once(give, run):
    """And not at each time."""
    rmtree(run / "fields.zarr")
    store = create(run / "fields.zarr", layout_of(grid_of("annulus"), slots=3, columns=COLUMNS), {})
    for index in range(3):
        turn, rate = pose(np.eye(3), np.zeros(3)), pose(np.zeros((3, 3)), np.zeros(3), RATES)
        store.commit(index, float(index), **turn, **rate)
    assert "256 cells in 4 charts" in give("info", run).stdout
