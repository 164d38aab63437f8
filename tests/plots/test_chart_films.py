"""Films of runs on charts."""

from functools import partial

import numpy as np
import pytest
from PIL import Image

from taskflow.common.errors import BadInput
from taskflow.geometry.grids import shape
from taskflow.output import BlockStore, create, tree
from taskflow.output.store.rigid_motion import COLUMNS, RATES, pose
from taskflow.plots.films import animate_run
from taskflow.plots.look import Look
from taskflow.plots.snapshots import draw, plane_through
from tests.output.on_charts import filled, grid_of, layout_of


@pytest.fixture
def rising(tmp_path):
    """Three snapshots of the same pressure."""
    filled(tmp_path / "fields.zarr", grid_of("annulus"), {"p": lambda x, y, z: 3 + x}, times=(0.0, 1.0, 2.0))
    return tmp_path


@pytest.mark.slow
def test_a_film_on_charts_has_a_frame_for_every_snapshot(rising):
    """In the part that was asked for, with the colours of all of them."""
    film = animate_run(rising, "p", window=(0.0, 1.0, -1.0, 1.0), fps=5)
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
    figure = draw(plane_through(record, None, (0.0, 1.0, -1.0, 1.0)), "p", Look(range=(2.0, 4.0)))
    assert pictures[0].shape[1] == 1080
    assert abs(figure.get_figheight() / figure.get_figwidth() * 1080 - pictures[0].shape[0]) <= 2


def test_a_grid_that_turns_is_cut_by_one_plane(tmp_path, monkeypatch):
    """Though its shortest extent is along y, along z and at last along x."""
    grid, drawn = shape("box", {"cells": (4, 4, 4), "lengths": (3.0, 1.0, 2.0)}).grid(), []
    layout = layout_of(grid, slots=3, columns=COLUMNS)
    store = create(tmp_path / "fields.zarr", layout, {})
    for index, angle in enumerate((0.0, np.pi / 4, np.pi / 2)):
        c, s = np.cos(angle), np.sin(angle)
        numbers = pose(np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]), np.zeros(3))
        block = BlockStore(tmp_path / "fields.zarr", layout.charts, *layout.blocks)
        block.write(index, {part: partial(np.ones, part.points.shape[::-1]) for part in block.parts})
        store.commit(index, float(index), **numbers, **pose(np.zeros((3, 3)), np.zeros(3), RATES))

    def seen(part, *rest, **more):
        figure = draw(part, *rest, **more)
        drawn.append((part.cut.normal, figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()))
        return figure

    monkeypatch.setattr("taskflow.plots.films.draw", seen)
    animate_run(tmp_path, "p")
    assert drawn == [("y", "x", "z")] * 3


def test_films_on_charts_that_cannot_be(rising):
    for asked, message in (
        ({"field": "q"}, "unknown field; choose one of p"), ({"out": "film.avi"}, "choose .gif or .mp4"),
        ({"fps": 0}, "--fps 0: give an integer above 0"),
    ):  # fmt: skip
        with pytest.raises(BadInput, match=message):
            animate_run(rising, **asked)
