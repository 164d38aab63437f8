"""Pictures of snapshots: the right numbers in the right place, and clear words about what cannot be drawn."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib.image import imread

from taskflow.common.errors import BadInput
from taskflow.output.store.reading import snapshot
from taskflow.plots.snapshots import plot_run

PNG = b"\x89PNG"


@pytest.mark.slow
@pytest.mark.parametrize("cells", [(8, 1, 10), (1, 6, 10), (1, 1, 10), (1, 1, 1)])
@pytest.mark.parametrize("plane", ["x", "y", "z"])
def test_directions_of_one_cell_can_be_drawn(run, cells, plane):
    assert plot_run(run(cells=cells, periodic=(True, True, True)), plane=plane).read_bytes().startswith(PNG)


def test_the_default_picture_is_in_the_folder_of_the_run(run):
    folder = run()
    path = plot_run(folder)
    assert path == folder / "T.png"  # convection
    assert path.read_bytes().startswith(PNG)


def test_what_is_asked_for_is_drawn_where_it_is_asked_for(run, tmp_path):
    folder = run()
    for time in (0.0, 1.0):
        assert plot_run(folder, field="p", plane="z=0.7", time=time) == folder / "p.png"
    assert plot_run(folder, out=tmp_path / "new" / "a.pdf") == tmp_path / "new" / "a.pdf"
    assert (tmp_path / "new" / "a.pdf").read_bytes().startswith(b"%PDF")
    assert plot_run(folder, field="T", out=tmp_path / "pictures") == tmp_path / "pictures" / "T.png"


def test_large_coordinates_point_right_and_up(run):
    corner = {"p": lambda x, y, z: np.where((x > 1.5) & (z > 1.25), 1.0, 0.0)}
    red, green, blue = np.moveaxis(imread(plot_run(run(corner)))[:, :, :3], -1, 0)
    yellow = np.argwhere((red > 0.9) & (green > 0.8) & (blue < 0.3))  # the top of the colour map
    rows, columns = yellow[yellow[:, 1] < 0.8 * red.shape[1]].T  # without the colour bar
    assert rows.max() < 0.5 * red.shape[0]
    assert columns.min() > 0.5 * red.shape[1]


@pytest.mark.parametrize(("arguments", "message"), [
    ({"field": "q"}, "field = 'q': .* choose one of T, p, u, v, w, speed, vorticity, "),
    ({"field": "grid"}, "field = 'grid'"),
    ({"plane": "q"}, "plane = 'q': .* x, y or z"),
    ({"plane": "z=abc"}, "plane = 'z=abc': 'abc' is not a number"),
    ({"plane": "z=9"}, "plane = 'z=9': .* from 0.5 to 1.5"),
    ({"plane": "z=nan"}, "plane = 'z=nan'"),
    ({"time": 0.3}, "time = 0.3: .* choose one of 0, 1$"),
    ({"time": float("nan")}, "time = nan"),
    ({"time": float("inf")}, "time = inf"),
    ({"out": "a.xyz"}, "a.xyz: cannot draw this format; .* png"),
])
def test_what_cannot_be_drawn_is_bad_input(run, arguments, message):
    with pytest.raises(BadInput, match=message):
        plot_run(run(), **arguments)


def test_many_times_are_abbreviated(run):
    folder = run({"p": lambda x, y, z: x}, times=range(12), slots=12)
    with pytest.raises(BadInput, match=r"0, 1, 2, 3, \.\.\., 8, 9, 10, 11$"):
        snapshot(folder, 0.5)


def test_times_are_known_by_the_digits_that_are_printed(run):
    folder = run({"p": lambda x, y, z: x}, times=[0.0, 1.0000047, 2.0])
    with pytest.raises(BadInput) as refusal:
        snapshot(folder, 1.5)
    words = str(refusal.value).rpartition("choose one of ")[2].split(", ")
    assert [float(snapshot(folder, float(word))["time"]) for word in words] == [0.0, 1.0000047, 2.0]


def test_times_are_known_in_any_units(run):
    small = run({"p": lambda x, y, z: x}, times=[0.0, 2e-7, 4e-7])
    assert float(snapshot(small, 2e-7)["time"]) == 2e-7
    with pytest.raises(BadInput, match=r"time = 1\.9e-07: no snapshot was written then"):
        snapshot(small, 1.9e-7)


def test_a_folder_that_is_no_run_and_a_run_without_snapshots(tmp_path, run):
    with pytest.raises(BadInput, match="taskflow run"):
        plot_run(tmp_path / "nowhere")
    with pytest.raises(BadInput, match="no snapshot is complete yet"):
        plot_run(run(times=()))


@pytest.mark.slow
def test_heavy_libraries_load_when_used_and_pyplot_never(run):
    script = f"""
import sys, taskflow.output, taskflow.analysis, taskflow.plots
heavy = {{"zarr", "xarray", "matplotlib", "numpy"}} & set(sys.modules)
assert not heavy, heavy
from taskflow.plots.snapshots import plot_run
plot_run({str(run())!r})
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)
