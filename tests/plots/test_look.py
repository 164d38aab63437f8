"""Colours: what is asked for is drawn, what cannot be is bad input, and by default every value is in the range."""

import numpy as np
import pytest
from matplotlib.colors import LogNorm
from PIL import Image

from taskflow.common.errors import BadInput
from taskflow.plots.films import animate_run
from taskflow.plots.look import Look
from taskflow.plots.snapshots import plot_run


@pytest.mark.parametrize(("values", "bottom", "drawn"), [
    ((0.2, 3.0), None, (0.2, 3.0, "viridis")),
    ((0.2, 3.0), 0.0, (0.0, 3.0, "viridis")),
    ((-1.0, 3.0), None, (-3.0, 3.0, "RdBu_r")),
    ((-1e-9, 3.0), None, (-1e-9, 3.0, "viridis")),
    ((2.0, 2.0), None, (1.0, 3.0, "viridis")),
    ((np.nan, np.nan), None, (0.0, 1.0, "viridis")),
])  # fmt: skip
def test_by_default_all_values_are_in_the_range(values, bottom, drawn):
    colours = Look().colours(np.array(values), "p", bottom=bottom)
    assert (colours.norm.vmin, colours.norm.vmax, colours.cmap) == drawn
    assert colours.beyond == "neither"


def test_a_range_says_where_values_lie_beyond():
    values = np.array([0.0, 1.0, 2.0])
    beyond = [Look(range=r).colours(values, "p").beyond for r in ((0.0, 2.0), (0.5, 2.0), (0.0, 1.5), (0.5, 1.5))]
    assert beyond == ["neither", "min", "max", "both"]


def test_a_logarithmic_scale_spans_four_decades_at_most_and_draws_what_is_not_above_0():
    values = np.array([-1.0, 0.0, 1e-9, 2.0])
    colours = Look(log=True).colours(values, "smoke")
    assert isinstance(colours.norm, LogNorm)
    assert (colours.norm.vmin, colours.norm.vmax) == (pytest.approx(2e-4), 2.0)
    assert colours.beyond == "min"
    np.testing.assert_allclose(colours.shown(values), [2e-4, 2e-4, 2e-4, 2.0])
    with pytest.raises(BadInput, match="smoke is nowhere above 0"):
        Look(log=True).colours(-values[-1:], "smoke")


@pytest.mark.parametrize(("asked", "message"), [
    (("1", False, None, None), "--range 1: give two numbers"),
    (("1,1", False, None, None), "--range 1,1: give two numbers, the lower one first"),
    (("0,nan", False, None, None), "--range 0,nan"),
    (("0,1", True, None, None), "give a lower end above 0"),
    ((None, False, "pink42", None), "--cmap pink42: unknown colour map"),
    ((None, False, None, "80"), "--size 80: give width and height"),
    ((None, False, None, "80x900"), "--size 80x900: give sides of 100 to 10000"),
])  # fmt: skip
def test_what_cannot_be_is_bad_input(asked, message):
    with pytest.raises(BadInput, match=message):
        Look.parsed(*asked)


def test_pictures_and_films_have_the_size_that_was_asked_for(growing, tmp_path):
    look = Look.parsed("0,2", False, "magma", "640x400")
    picture = plot_run(growing, "u", out=tmp_path / "u.png", look=look)
    film = animate_run(growing, "u", out=tmp_path / "u.gif", look=look, fps=5)
    with Image.open(picture) as still, Image.open(film) as moving:
        assert still.size == moving.size == (640, 400)
        assert moving.info["duration"] == 200
    with pytest.raises(BadInput, match="--fps 0: give an integer above 0, 60 at most"):
        animate_run(growing, fps=0)
