"""Curves of a log, and films of snapshots."""

import json

import numpy as np
import pytest
from PIL import Image

from taskflow.errors import BadInput
from taskflow.output import Layout, animate_run, create, plane_values, plot_series
from taskflow.output.slices import _even
from taskflow.output.store import BlockStore
from taskflow.regions import Box


@pytest.fixture
def run(tmp_path):
    """A run directory with three snapshots of a flow that grows, and a log."""
    layout = Layout(cells=(8, 1, 4), lengths=(2.0, 0.25, 1.0), periodic=(True, True, True), slots=3)
    store = create(tmp_path / "fields.zarr", layout, {"title": "growing"})
    block = BlockStore(tmp_path / "fields.zarr", Box((0, 0, 0), (8, 1, 4)))
    for index in range(3):
        rows = np.arange(4.0)[:, None, None] * np.ones((4, 1, 8))
        block.write(index, {"u": (index + 1) * rows, "v": 0 * rows, "w": 0 * rows, "p": rows - 1.5})
        store.commit(index, float(index))
    lines = ({"step": n, "time": n / 10, "dt": 0.1, "residual": 10.0**-n, "kinetic_energy": n} for n in range(5))
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def test_series(run):
    picture = plot_series(run)
    assert picture == run / "series.png"
    with Image.open(picture) as image:
        assert image.size[0] > 1000
    assert plot_series(run, run / "log.svg").read_text().count("<path") > 20


def test_series_that_are_not_there(tmp_path):
    with pytest.raises(BadInput, match="no log to read"):
        plot_series(tmp_path)
    (tmp_path / "log.jsonl").touch()
    with pytest.raises(BadInput, match="no line yet"):
        plot_series(tmp_path)


def test_a_film_has_a_frame_for_every_snapshot(run):
    """Colours mean the same in all of them: what grows gets brighter."""
    film = animate_run(run)
    assert film == run / "speed.gif"
    bright = []
    with Image.open(film) as image:
        assert image.n_frames == 3
        for number in range(3):
            image.seek(number)
            picture = np.asarray(image.convert("RGB"), dtype=float)
            bright.append(picture[:, : picture.shape[1] // 2, 1].mean())  # green grows all along viridis
    assert bright == sorted(bright)
    assert bright[2] > bright[0]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"field": "q"}, "no such field; choose one of speed"),
        ({"plane": "y=9"}, "outside the domain"),
        ({"out": "film.avi"}, "choose .gif or .mp4"),
    ],
)
def test_films_that_cannot_be(run, asked, message):
    with pytest.raises(BadInput, match=message):
        animate_run(run, **asked)


def test_slices_have_no_more_values_than_a_screen_shows(run):
    assert plane_values(run, "p", "y", -1)["shape"] == (4, 8)
    assert len(_even((np.arange(1000) + 0.5) / 1000, 0.0, 1.0)) == 400


def test_cells_of_unequal_size_are_as_wide_as_they_are():
    """Three cells, the middle one a quarter as wide as the others."""
    assert _even(np.array([0.2, 0.45, 0.7]), 0.0, 0.9).tolist() == [0, 1, 1, 2]
