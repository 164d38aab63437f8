"""Films of runs on charts."""

import numpy as np
import pytest
from PIL import Image

from taskflow.errors import BadInput
from taskflow.output import tree
from taskflow.plots import DPI
from taskflow.plots.contours import draw_charts
from taskflow.plots.films import animate_charts
from taskflow.plots.look import Look
from tests.output.on_charts import filled, grid_of


@pytest.fixture
def rising(tmp_path):
    """Three snapshots of the same pressure."""
    filled(tmp_path / "fields.zarr", grid_of("annulus"), {"p": lambda x, y, z: 3 + x}, times=(0.0, 1.0, 2.0))
    return tmp_path


@pytest.mark.slow
def test_a_film_on_charts_has_a_frame_for_every_snapshot(rising):
    """In the part that was asked for, with the colours of all of them."""
    film = animate_charts(rising, "p", window=(0.0, 1.0, -1.0, 1.0), fps=5)
    assert film == rising / "p.gif"
    with Image.open(film) as image:
        assert image.n_frames == 3
        assert image.info["duration"] == 200
        pictures = []
        for number in range(3):
            image.seek(number)
            pictures.append(np.asarray(image.convert("RGB"), float))
    assert np.abs(pictures[1] - pictures[0]).max() > 0  # the time
    assert np.abs(pictures[1] - pictures[0]).mean() < 1
    record = tree(rising / "fields.zarr").isel(time=0)
    figure = draw_charts(record, "p", None, (0.0, 1.0, -1.0, 1.0), Look(range=(2.0, 4.0)), lines=False)
    figure.savefig(rising / "alone.png", dpi=DPI)
    with Image.open(rising / "alone.png") as alone:
        assert abs(alone.size[1] - pictures[0].shape[0]) <= 2


def test_films_on_charts_that_cannot_be(rising):
    for asked, message in (
        ({"field": "q"}, "no such field; choose one of p"), ({"out": "film.avi"}, "choose .gif or .mp4"),
        ({"fps": 0}, "--fps 0: give a whole number above 0"),
    ):  # fmt: skip
        with pytest.raises(BadInput, match=message):
            animate_charts(rising, **asked)
