"""Initial fields from callables: the right points, any block of them, and clear words about a function that fails."""

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.output import load_initial, save_initial
from taskflow.runtime.regions import Box
from tests.output.conftest import layout_of


def wave(x, y, z):
    return np.sin(x) + 10.0 * y * z


@pytest.mark.parametrize("piece", [2**21, 50, 7])
@pytest.mark.parametrize("periodic", [(False, False, False), (True, False, True)])
def test_every_field_is_evaluated_at_its_own_points(tmp_path, monkeypatch, piece, periodic):
    monkeypatch.setattr("taskflow.output.checkpoint.initial.EVALUATED", piece)
    layout = layout_of(periodic=periodic, fields=("u", "v", "w", "T"), blocks=(2, 1, 3))
    save_initial(tmp_path / "initial.zarr", layout, {"u": wave, "v": wave, "w": wave, "T": wave})
    for field in ("u", "v", "w", "T"):
        z, y, x = np.meshgrid(*(layout.coordinate(dim) for dim in layout.dims(field)), indexing="ij")
        expected = wave(x, y, z)
        whole = load_initial(tmp_path / "initial.zarr", field, Box.of(layout.shape(field)[::-1]))
        assert whole.dtype == np.float64
        np.testing.assert_array_equal(whole, expected)
        for (block,) in layout.blocks:
            part = load_initial(tmp_path / "initial.zarr", field, block)
            np.testing.assert_array_equal(part, expected[block.slices((0, 0, 0))])


@pytest.mark.parametrize("function", [
    lambda x, y, z: 3,
    lambda x, y, z: 3.0 + 0 * x[:1, :1],
    lambda x, y, z: x.fill(3) or x,
])
def test_numbers_and_smaller_arrays_are_spread(tmp_path, function):
    save_initial(tmp_path / "i", layout_of(fields=("T",)), {"T": function})
    assert (load_initial(tmp_path / "i", "T", Box.of((8, 6, 10))) == 3.0).all()


@pytest.mark.parametrize(("function", "message"), [
    (lambda x, y, z: 1 / 0, "ZeroDivisionError"),
    (lambda x, y: x, "TypeError"),
    (lambda x, y, z: x.ravel(), "ValueError"),
    (lambda x, y, z: "warm", "ValueError"),
    (lambda x, y, z: np.where(z > 1.4, np.nan, x), r"initial field w: .* is nan at \(0.125, -0.875, 1.5\)"),
])
def test_a_function_that_fails_is_bad_input(tmp_path, function, message):
    with pytest.raises(BadInput, match=message):
        save_initial(tmp_path / "i", layout_of(cells=(8, 6, 5)), {"w": function})


@pytest.mark.parametrize("box", [Box((0, 0, 0), (9, 6, 10)), Box((-1, 0, 0), (8, 6, 10))])
def test_a_box_beyond_the_field_is_refused(tmp_path, box):
    save_initial(tmp_path / "i", layout_of(fields=("T",)), {"T": wave})
    with pytest.raises(ValueError, match="no values in the box"):
        load_initial(tmp_path / "i", "T", box)
