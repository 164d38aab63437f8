"""A case with obstacles from the file to the picture."""

import json

import numpy as np
import pytest
import xarray as xr

from tests.data.cases import text

CASE = text("hill")
WARNING = "between obstacles[3] and obstacles[4] at (0.05, 0.05, 0.65) is a gap thinner than a cell"


@pytest.mark.slow
def test_from_the_file_to_the_picture(give, here, tmp_path):
    folder = tmp_path / "elsewhere"  # names of files begin where the case is
    folder.mkdir()
    (folder / "case.toml").write_text(CASE.replace("low = [0.14", "low = [0.17"))
    ground = np.full((8, 12), 0.2)
    ground[2:5, 3:7] = 0.3
    np.save(folder / "hill.npy", ground)
    told = give("check", folder / "case.toml")
    assert told.exit_code == 0, told.stderr
    for words in ("(auto: its equation", "hill: 204 cells, volume 0.204", "ball: ", "% of the domain is fluid"):
        assert words in told.stdout
    assert "warning" not in told.stdout
    result = give("run", folder / "case.toml", "-o", "run", "--set", "machine.blocks=[1,1,2]")
    assert result.exit_code == 0, result.stderr
    ds = xr.open_zarr(here / "run" / "fields.zarr")
    solid = ds.solid.values.astype(bool)
    assert ds.solid.dims == ("z_c", "y_c", "x_c")
    assert (ds.solid.attrs["flag_meanings"], list(ds.solid.attrs["flag_values"])) == ("fluid solid", [0, 1])
    np.testing.assert_array_equal(solid[2], (ground > 0.25) | solid[3])
    assert (ds["T"].values[-1][6, 3:5, 5:7] == 2.0).all()
    assert not ds.u.values[-1][solid].any()
    lines = [json.loads(line) for line in (here / "run" / "log.jsonl").read_text().splitlines()]
    assert [set(line["bodies"]) for line in lines] == [{"hill", "ball"}] * 4
    last = lines[-1]["bodies"]
    assert set(last["ball"]) == {"force", "pressure_force", "moment", "heat_flux"}
    assert set(last["hill"]) == {"force", "pressure_force", "moment"}
    assert last["ball"]["force"][0] > 0 < last["ball"]["heat_flux"]
    report = json.loads((here / "run" / "report.json").read_text())
    assert report["bodies"]["parts"][0]["name"] == "hill"
    assert report["bodies"]["fluid"] == 1 - solid.mean()
    assert report["last"]["bodies"] == last
    picture = give("plot", "run", "--plane", "y=0.4", "-o", "a.png")
    assert picture.exit_code == 0, picture.stderr
    assert (here / "a.png").stat().st_size > 10_000


@pytest.fixture
def thin_gap(here):
    hill = 'type = "heights"\nfile = "hill.npy"\ninterpolation = "nearest"'
    (here / "case.toml").write_text(CASE.replace(hill, 'type = "box"\nlow = [0, 0, 0]\nhigh = [2, 2, 0.2]'))


def test_a_thin_gap_is_told_before_any_step(give, thin_gap):
    assert f"warning    {WARNING}" in give("check", "case.toml").stdout


@pytest.mark.slow
def test_a_run_tells_of_a_thin_gap(give, here, thin_gap):
    result = give("run", "case.toml", "-o", "run", "--set", "time.steps=1")
    assert result.exit_code == 0
    assert WARNING in result.stderr
    assert WARNING in json.loads((here / "run" / "report.json").read_text())["bodies"]["warnings"][0]
