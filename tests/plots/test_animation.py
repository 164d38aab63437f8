"""Films of snapshots."""

import numpy as np
import pytest
from PIL import Image

from taskflow.common.errors import BadInput
from taskflow.plots.films import animate_run


def test_a_film_has_a_frame_for_every_snapshot(growing):
    """Colours mean the same in all of them: what grows gets brighter."""
    film = animate_run(growing, "speed")
    assert film == growing / "speed.gif"
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
        ({"field": "q"}, "unknown field; choose one of p, u, v, w, speed, vorticity"),
        ({"plane": "y=9"}, "outside the domain"),
        ({"out": "film.avi"}, "choose .gif or .mp4"),
    ],
)
def test_films_that_cannot_be(growing, asked, message):
    with pytest.raises(BadInput, match=message):
        animate_run(growing, **asked)
