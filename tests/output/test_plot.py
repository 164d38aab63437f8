"""Pictures: the right numbers in the right place, and clear words about what cannot be drawn."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from taskflow.errors import BadInput
from taskflow.output import BlockStore, compare_profiles, create, plot_profiles, plot_run
from taskflow.output.planes import on_plane, plane_of, snapshot
from taskflow.output.profiles import profile, read_reference
from taskflow.regions import Box
from tests.output.conftest import layout_of

PNG = b"\x89PNG"


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Path]:
    """The folder of a run whose fields are functions of x, y, z at their own points."""

    def make(functions=None, times=(0.0, 1.0), **layout) -> Path:
        functions = functions or {"u": lambda x, y, z: z - 1.0, "v": lambda x, y, z: y, "w": lambda x, y, z: -x,
                                  "p": lambda x, y, z: x * z, "T": lambda x, y, z: x + 10 * y + 100 * z}
        grid = layout_of(fields=tuple(functions), precision="double", **layout)
        path = tmp_path / "run" / "fields.zarr"
        path.parent.mkdir()
        store, block = create(path, grid, {"title": "A test"}), BlockStore(path, Box.of(grid.cells))
        values = {}
        for name, function in functions.items():
            z, y, x = np.meshgrid(*(grid.coordinate(dim) for dim in grid.dims(name)), indexing="ij")
            values[name] = function(x, y, z) + 0.0 * x
        for index, time in enumerate(times):
            block.write(index, values)
            store.commit(index, time)
        store.finish()
        return path.parent

    return make


@pytest.mark.parametrize(("text", "normal", "position"), [
    (None, "y", -0.25), ("x", "x", 1.0), (" z = 0.75 ", "z", 0.75), ("y=-1", "y", -1.0), ("z=1.5e0", "z", 1.5),
])
def test_a_plane_is_named_by_an_axis_and_perhaps_a_position(run, text, normal, position):
    plane = plane_of(snapshot(run(), None), text)
    assert (plane.normal, plane.position) == (normal, position)


@pytest.mark.parametrize(("cells", "lengths", "normal"), [
    ((8, 8, 1), (1.0, 1.0, 5.0), "z"), ((2, 8, 8), (1.0, 1.0, 1.0), "x"), ((8, 8, 8), (1.0, 1.0, 1.0), "y"),
    ((8, 8, 8), (1.0, 1.0, 0.5), "z"),
])
def test_the_default_plane_cuts_the_thinnest_direction(run, cells, lengths, normal):
    assert plane_of(snapshot(run(cells=cells, lengths=lengths), None), None).normal == normal


@pytest.mark.parametrize("plane", ["x", "y", "z", "x=0.7", "y=-0.3", "z=1.2"])
def test_a_linear_field_is_exact_on_every_plane_wherever_it_lives(run, plane):
    linear = {name: lambda x, y, z: x + 10 * y + 100 * z for name in "uvwT"}
    ds = snapshot(run(linear), None)
    where = plane_of(ds, plane)
    place = {where.normal: where.position, **{a: ds[f"{a}_c"].values for a in (where.across, where.up)}}
    across, up = np.meshgrid(place[where.across], place[where.up])  # [up, across]
    expected = linear["T"](**{where.normal: where.position, where.across: across, where.up: up})
    for field in "uvwT":
        np.testing.assert_allclose(on_plane(ds, field, where), expected, rtol=1e-13)


def test_planes_and_faces_go_round_a_periodic_direction(run):
    fields = {"u": lambda x, y, z: np.cos(np.pi * x), "T": lambda x, y, z: np.cos(np.pi * x)}
    ds = snapshot(run(fields, periodic=(True, True, True)), None)
    halfway = np.cos(np.pi * ds.x_c.values) * np.cos(np.pi / 8)  # the mean of two faces
    np.testing.assert_allclose(on_plane(ds, "u", plane_of(ds, "y")), np.tile(halfway, (10, 1)), atol=1e-14)
    for end in ("x=0", "x=2"):  # between the last centre and the first
        np.testing.assert_allclose(on_plane(ds, "T", plane_of(ds, end)), np.cos(np.pi / 8), rtol=1e-14)
        np.testing.assert_allclose(on_plane(ds, "u", plane_of(ds, end)), 1.0, rtol=1e-14)


def test_a_plane_on_a_wall_shows_the_last_centres(run):
    ds = snapshot(run(), None)
    np.testing.assert_array_equal(on_plane(ds, "T", plane_of(ds, "x=2")), ds["T"][:, :, -1])


@pytest.mark.parametrize("cells", [(8, 1, 10), (1, 6, 10), (1, 1, 10), (1, 1, 1)])
@pytest.mark.parametrize("plane", ["x", "y", "z"])
def test_directions_of_one_cell_can_be_drawn(run, cells, plane):
    assert plot_run(run(cells=cells, periodic=(True, True, True)), plane=plane)[0].read_bytes().startswith(PNG)


def test_the_default_picture_is_in_the_folder_of_the_run(run):
    folder = run()
    (path,) = plot_run(folder)
    assert path == folder / "velocity.png"
    assert path.read_bytes().startswith(PNG)


@pytest.mark.parametrize("time", [0.0, 1.0])
def test_what_is_asked_for_is_drawn_where_it_is_asked_for(run, tmp_path, time):
    folder = run()
    assert plot_run(folder, field="p", plane="z=0.7", time=time) == [folder / "p.png"]
    assert plot_run(folder, out=tmp_path / "new" / "a.pdf") == [tmp_path / "new" / "a.pdf"]
    assert (tmp_path / "new" / "a.pdf").read_bytes().startswith(b"%PDF")
    assert plot_run(folder, field="T", out=tmp_path / "pictures") == [tmp_path / "pictures" / "T.png"]


def test_large_coordinates_point_right_and_up(run):
    corner = {"p": lambda x, y, z: np.where((x > 1.5) & (z > 1.25), 1.0, 0.0)}
    red, green, blue = np.moveaxis(imread(plot_run(run(corner))[0])[:, :, :3], -1, 0)
    yellow = np.argwhere((red > 0.9) & (green > 0.8) & (blue < 0.3))  # the top of the colour map
    rows, columns = yellow[yellow[:, 1] < 0.8 * red.shape[1]].T  # without the colour bar
    assert rows.max() < 0.5 * red.shape[0]
    assert columns.min() > 0.5 * red.shape[1]


@pytest.mark.parametrize(("arguments", "message"), [
    ({"field": "q"}, "field = 'q': .* choose one of T, p, u, v, w"),
    ({"field": "grid"}, "field = 'grid'"),
    ({"plane": "q"}, "plane = 'q': .* x, y or z"),
    ({"plane": "z=abc"}, "plane = 'z=abc': 'abc' is not a number"),
    ({"plane": "z=9"}, "plane = 'z=9': .* from 0.5 to 1.5"),
    ({"plane": "z=nan"}, "plane = 'z=nan'"),
    ({"time": 0.3}, "time = 0.3: .* choose one of 0, 1$"),
    ({"out": "a.xyz"}, "a.xyz: cannot draw this format; .* png"),
])
def test_what_cannot_be_drawn_is_bad_input(run, arguments, message):
    with pytest.raises(BadInput, match=message):
        plot_run(run(), **arguments)


def test_many_times_are_abbreviated(run):
    folder = run({"p": lambda x, y, z: x}, times=range(12), slots=12)
    with pytest.raises(BadInput, match=r"0, 1, 2, 3, \.\.\., 8, 9, 10, 11$"):
        snapshot(folder, 0.5)


def test_a_folder_that_is_no_run_and_a_run_without_snapshots(tmp_path, run):
    with pytest.raises(BadInput, match="taskflow run"):
        plot_run(tmp_path / "nowhere")
    with pytest.raises(BadInput, match="no snapshot is complete yet"):
        plot_run(run(times=()))


def test_profiles_follow_the_centrelines(run):
    ds = snapshot(run(periodic=(False, True, False)), None)
    plane = plane_of(ds, None)
    places, values = profile(ds, plane, "u")
    np.testing.assert_array_equal(places, ds.z_c)
    np.testing.assert_allclose(values, ds.z_c - 1.0, atol=1e-14)
    places, values = profile(ds, plane, "v")
    np.testing.assert_array_equal(places, ds.x_c)
    np.testing.assert_allclose(values, -ds.x_c)


def table(path: Path, text: str) -> Path:
    path.write_text("# Case: a test\n# Citation: A. Author, B. Author (1999), Title (with brackets) 1-2\n" + text)
    return path


def test_profiles_are_compared_where_points_are_in_use(run, tmp_path):
    u = table(tmp_path / "u.csv", "y,u,use\n0.5,7.0,1\n0.75,-0.25,1\n1.0,0.125,1\n1.25,9.0,0\n")
    v = table(tmp_path / "v.csv", "x,v\n1.0,-1.0\n")
    folder = run()
    assert compare_profiles(folder, [u, v]) == {u: pytest.approx(0.125), v: pytest.approx(0.0)}
    assert plot_profiles(folder, [u, v]) == [folder / "profiles.png"]
    assert plot_profiles(folder, out=tmp_path / "p.svg") == [tmp_path / "p.svg"]
    assert read_reference(u).name == "A. Author, B. Author (1999)"


def test_the_shipped_tables_can_be_read():
    tables = sorted((Path(__file__).parents[2] / "examples" / "data").glob("ghia*.csv"))
    assert len(tables) == 6
    for path in tables:
        reference = read_reference(path)
        assert reference.name == "U. Ghia, K. N. Ghia, C. T. Shin (1982)"
        assert len(reference.values) == 17
        assert reference.quantity == path.stem[-1]
    assert sum((~read_reference(path).used).sum() for path in tables) == 1  # the misprint at Re 400


@pytest.mark.parametrize(("text", "message"), [
    ("a,b\n1,2\n", "line 3: its columns are not those of a profile"), ("", "not those of a profile"),
    ("y,u,u\n1,2,3\n", "line 3: its columns"), ("y,u\n", "nothing behind line 3"),
    ("y,u\n1,two\n", "line 4: 'two' is no number"), ("y,u\n1,2\n\n1\n", "line 6: 1 values for 2 names"),
    ("y,u\n1,2,3\n", "line 4: 3 values for 2 names"), ("y,u\n1,nan\n", "line 4: 'nan' is no number"),
    ("y,u\n1,1e300\n", "line 4: '1e300' is no number"), ("y,u,use\n1,2,x\n", "line 4: 'x' is no number"),
    ('y,u\n1,"2\n', "line 4: unexpected end of data"), ("y,u\n1,2\x00\n", "line 4: "),
    ("y,u\n1," + "2" * 200_000 + "\n", "line 4: field larger than field limit"),
], ids=range(13))  # fmt: skip
def test_a_table_that_is_none_is_bad_input(tmp_path, text, message):
    with pytest.raises(BadInput, match=message):
        read_reference(table(tmp_path / "t.csv", text))
    with pytest.raises(BadInput, match="cannot be read"):
        read_reference(tmp_path / "missing.csv")


def test_profiles_need_all_velocities(run):
    with pytest.raises(BadInput, match=r"output\.fields: a profile needs v, w"):
        plot_profiles(run({"u": lambda x, y, z: x}))


def test_heavy_libraries_load_when_used_and_pyplot_never(run):
    script = f"""
import sys, taskflow.output
heavy = {{"zarr", "xarray", "matplotlib", "numpy"}} & set(sys.modules)
assert not heavy, heavy
taskflow.output.plot_run({str(run())!r})
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)
