"""Charts of a run: its log over time, and its velocity profiles."""

import json

import pytest
from PIL import Image

from taskflow.common.errors import BadInput
from taskflow.plots import charts
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


@pytest.fixture
def figures(monkeypatch):
    """The figures that are saved."""
    saved = []
    monkeypatch.setattr(charts, "save", lambda figure, *_: saved.append(figure))
    return saved


def written(folder, *lines):
    (folder / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def test_columns_that_are_zero_throughout_are_not_drawn(figures, tmp_path):
    """In a plane flow the momentum across it is zero; before the first step so is the rest."""
    zero = {"residual_continuity": 0.0, "residual_momentum_x": 0.0, "residual_momentum_z": 0.0}
    plot_series(written(tmp_path, {"step": 0, "time": 0, **zero},
                        *({"step": n, "time": n, **zero, "residual_momentum_x": 0.1, "residual_continuity": 1.0 / n}
                          for n in (1, 2))))  # fmt: skip
    [axes] = figures.pop().axes
    assert [line.get_label() for line in axes.lines] == ["continuity", "momentum_x"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["continuity", "momentum_x"]
    plot_series(written(tmp_path, {"step": 0, "time": 0, **zero}))
    assert not figures.pop().axes[0].lines
    numbers = {"kinetic_energy": 1.0, "divergence": 0.0, "dt": 0.1, "centre_y": 0.0, "centre_z": 0.5}
    plot_series(written(tmp_path, {"step": 1, "time": 0.1, **numbers}, {"step": 2, "time": 0.2, **numbers}))
    drawn = [axes.get_ylabel() for axes in figures.pop().axes if axes.get_visible()]
    assert drawn == ["kinetic energy", "time step", "centre z"]


def test_profiles_need_all_velocities(run):
    with pytest.raises(BadInput, match=r"output\.fields: a profile needs v, w"):
        plot_profiles(run({"u": lambda x, y, z: x}))


def test_profiles_are_drawn_in_the_folder_of_the_run_or_elsewhere(run, tmp_path):
    (tmp_path / "u.csv").write_text("y,u,use\n0.5,7.0,1\n0.75,-0.25,1\n1.25,9.0,0\n")
    folder = run()
    assert plot_profiles(folder, [tmp_path / "u.csv"]) == [folder / "profiles.png"]
    assert plot_profiles(folder, out=tmp_path / "p.svg") == [tmp_path / "p.svg"]
