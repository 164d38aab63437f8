"""The scripts beside the example cases, and that these are what they say."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
import zarr

import taskflow as tf
from tests.flows import compute, interpolate, norms
from tests.validation.cavity import cavity
from tests.validation.heated import PRANDTL, heated
from tests.validation.vortices import TaylorGreen

EXAMPLES = Path(__file__).parents[2] / "examples"


def script(name: str, *words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, EXAMPLES / name, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def physics(case: tf.Case) -> dict:
    """What two cases have in common that compute the same flow."""
    tables = case.model_dump(include={"fluid", "heat", "body", "boundaries"})
    return {**tables, "extent": (case.grid.lengths[0], case.grid.lengths[2], case.grid.origin)}


@pytest.mark.parametrize(("file", "same"), [
    ("lid_driven_cavity.toml", cavity(128, 1000, 60)), ("heated_cavity.toml", heated(64, 1e4, 0.5)),
])  # fmt: skip
def test_example_is_the_validated_case(file, same):
    case = tf.Case.load(EXAMPLES / file)
    assert physics(case) == physics(same)
    assert case.grid.cells[0] == case.grid.cells[2] == same.grid.cells[0]
    assert case.time.end == same.time.end


def test_taylor_green_example_is_the_exact_solution():
    """At the end, on a quarter of its cells, to what these resolve."""
    case = tf.Case.load(EXAMPLES / "taylor_green.toml", ["grid.cells=[32, 1, 32]", "time.end=1.0"])
    exact, flow = TaylorGreen(case.fluid.viscosity, 0, 2), compute(case)
    for axis, name in ((0, "u"), (2, "w")):
        assert norms(flow[name] - exact.velocity(axis, 1.0, *flow.points(name)))[0] < 0.01


@pytest.mark.slow
def test_the_example_channel_has_the_entry_length_of_durst():
    """Where the middle has 99 % of its last speed, at Re = 100; the grid is too coarse for more than 1 %."""
    flow = compute(tf.Case.load(EXAMPLES / "developing_channel.toml"))
    x, z = flow.points("u")[0].ravel(), flow.points("u")[2].ravel()
    middle = np.array([interpolate(z, profile, np.array(0.5))[0] for profile in flow["u"][:, 0].T])
    first = int(np.argmax(middle > 0.99 * middle[-1]))
    near = slice(first - 1, first + 1)
    assert np.interp(0.99 * middle[-1], middle[near], x[near]) == pytest.approx(4.54, rel=0.01)
    assert middle[-1] == pytest.approx(1.5, rel=0.003)


@pytest.mark.slow
def test_compare_with_ghia(tmp_path):
    """Prints differences, extrema and the picture; refuses another flow, another Re, no run; tells of NaN."""
    small = ["grid.cells=[16, 1, 16]", "fluid.viscosity=0.01", "time.end=8", "machine.device=cpu", "machine.threads=1"]
    run = tf.run(tf.Case.load(EXAMPLES / "lid_driven_cavity.toml", small), tmp_path / "cavity")
    done = script("compare_with_ghia.py", run.directory)
    assert done.returncode == 0, done.stderr
    assert all(word in done.stdout for word in ("Re = 100", "Marchi", "u_min", "v_max", "v_min"))
    assert (run.directory / "profiles.png").stat().st_size > 10_000
    assert str(run.directory / "profiles.png") in done.stdout

    text = (run.directory / "case.toml").read_text()
    for present, expected in (("viscosity = 0.01", "viscosity = 0.011"), ("1.0, 0.0, 0.0", "2.0, 0.0, 0.0")):
        changed = text.replace(present, expected)
        assert changed != text
        (run.directory / "case.toml").write_text(changed)
        refused = script("compare_with_ghia.py", run.directory)
        assert refused.returncode == 2
        assert len(refused.stderr.splitlines()) == 1
    (run.directory / "case.toml").write_text(text)
    zarr.open_group(run.directory / "fields.zarr")["w"][-1, 3, 0, 3] = np.nan
    broken = script("compare_with_ghia.py", run.directory)
    assert broken.returncode == 1
    assert "w is not finite at time 8" in broken.stderr
    assert script("compare_with_ghia.py", tmp_path / "nothing").returncode == 2


@pytest.mark.slow
def test_heated_cavity_in_python(tmp_path):
    done = script("heated_cavity_in_python.py", tmp_path)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()[1:4]]
    errors = [float(row[4].rstrip("%")) for row in rows]
    assert errors == pytest.approx([0.17, 1.11, 3.54], abs=0.02)  # of 32 x 32 cells, as test_heated_cavity finds them
    assert all(float(row[5]) < 1e-4 for row in rows)
    assert (tmp_path / "heated_cavity.png").stat().st_size > 10_000


@pytest.mark.slow
def test_scripts_say_how_they_are_used():
    done = script("compare_with_ghia.py")
    assert done.returncode == 1
    assert "RUNDIR" in done.stderr


def test_data_has_a_source():
    """Every table that a test or an example reads says where its numbers come from."""
    for path in (*(EXAMPLES / "data").iterdir(), *(Path(__file__).parents[1] / "data").glob("*.*")):
        text = path.read_text(encoding="utf-8")
        assert "# Citation" in text, path
        if path.suffix == ".toml":
            tomllib.loads(text)
    assert PRANDTL == 0.71
