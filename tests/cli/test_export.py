"""`taskflow export`: files where they belong, and their paths."""

import pytest

import taskflow as tf
from tests.cases.two_phases import case


def test_both_formats(give, run_directory):
    pytest.importorskip("h5py")
    result = give("export", run_directory, "--vtk", "--netcdf")
    paths = [run_directory / "vtk" / "fields.pvd", run_directory / "fields.nc"]
    assert (result.exit_code, result.stdout.split()) == (0, [str(path) for path in paths])
    snapshots = len(list((run_directory / "vtk").glob("fields_*.vtr")))
    assert snapshots == paths[0].read_text().count("timestep") > 1


def test_the_default_is_vtk(give, run_directory, here):
    result = give("export", run_directory, "--time", "0", "-o", "new")
    assert (result.exit_code, result.stdout) == (0, "new/fields.pvd\n")


def test_one_snapshot_elsewhere(give, run_directory, here):
    result = give("export", run_directory, "--vtk", "--time", "0", "-o", "new")
    assert result.exit_code == 0, result.stderr
    assert sorted(path.name for path in (here / "new").iterdir()) == ["fields.pvd", "fields_000000.vtr"]


@pytest.mark.slow
def test_the_interface_between_two_phases(give, tmp_path):
    """A file of triangles for each snapshot; and the line f = 1/2 over a picture."""
    run = tf.run(case(time={"steps": 2}, output={"every": {"steps": 1}}), tmp_path / "run").directory
    exported = give("export", run, "--interface")
    assert (exported.exit_code, exported.stdout.split()) == (0, [str(run / "vtk" / "interface.pvd")])
    assert len(list((run / "vtk").glob("interface_*.vtp"))) == 3
    for name, *words in ("a.png",), ("b.png", "--interface"):
        assert give("plot", run, *words, "-o", tmp_path / name).exit_code == 0
    assert (tmp_path / "a.png").read_bytes() != (tmp_path / "b.png").read_bytes()


@pytest.mark.parametrize(("words", "told"), [
    (["--time", "77"], "time = 77"), (["--vtk", "--group", "q"], "no q to read"),
    (["--vtk", "-o", "/proc/nowhere"], "/proc/nowhere"), (["--vtk", "--field", "p"], "of --interface alone"),
])  # fmt: skip
def test_refusals(give, refused, run_directory, words, told):
    result = give("export", run_directory, *words)
    refused(result.exit_code, result.stderr, told)
