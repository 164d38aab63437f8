"""Charts of a run: its log over time, and its velocity profiles."""

import pytest
from PIL import Image

from taskflow.errors import BadInput
from taskflow.plots.charts import plot_profiles, plot_series


def test_series(growing):
    picture = plot_series(growing)
    assert picture == growing / "series.png"
    with Image.open(picture) as image:
        assert image.size[0] > 1000
    assert plot_series(growing, growing / "log.svg").read_text().count("<path") > 20


def test_series_that_are_not_there(tmp_path):
    with pytest.raises(BadInput, match="no log to read"):
        plot_series(tmp_path)
    (tmp_path / "log.jsonl").touch()
    with pytest.raises(BadInput, match="no line yet"):
        plot_series(tmp_path)


def test_profiles_need_all_velocities(run):
    with pytest.raises(BadInput, match=r"output\.fields: a profile needs v, w"):
        plot_profiles(run({"u": lambda x, y, z: x}))


def test_profiles_are_drawn_in_the_folder_of_the_run_or_elsewhere(run, tmp_path):
    (tmp_path / "u.csv").write_text("y,u,use\n0.5,7.0,1\n0.75,-0.25,1\n1.25,9.0,0\n")
    folder = run()
    assert plot_profiles(folder, [tmp_path / "u.csv"]) == [folder / "profiles.png"]
    assert plot_profiles(folder, out=tmp_path / "p.svg") == [tmp_path / "p.svg"]
