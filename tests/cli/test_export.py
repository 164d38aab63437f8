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


def test_droplets_are_listed_and_written(give, refused, run_directory, tmp_path):
    run = tf.run(case(time={"steps": 1}), tmp_path / "run", progress=lambda _: None).directory
    listed = give("droplets", run)
    assert listed.exit_code == 0, listed.stderr
    assert "1 parts of phase 1" in listed.stdout
    written = give("droplets", run, "--phase", "2", "--time", "0", "-o", tmp_path / "drops.csv")
    assert (written.exit_code, written.stdout.strip()) == (0, str(tmp_path / "drops.csv"))
    names, *rows = (tmp_path / "drops.csv").read_text().splitlines()
    assert names.startswith("droplet,volume,centre_x")
    assert len(rows) == 1
    one = give("droplets", run_directory)
    refused(one.exit_code, one.stderr, "there is no f, the share of phase 1")
    late = give("droplets", run, "--time", "7")
    refused(late.exit_code, late.stderr, "time = 7: no snapshot was written then")
