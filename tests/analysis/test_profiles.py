"""Velocity profiles on centrelines, and tables from the literature."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from taskflow.analysis.planes import plane_of
from taskflow.analysis.profiles import compare_profiles, profile, read_reference
from taskflow.common.errors import BadInput
from taskflow.output import dataset
from taskflow.output.store.reading import snapshot


def table(path: Path, text: str) -> Path:
    path.write_text("# Case: a test\n# Citation: A. Author, B. Author (1999), Title (with brackets) 1-2\n" + text)
    return path


def test_profiles_follow_the_centrelines(run):
    ds = snapshot(run(periodic=(False, True, False)), None)
    plane = plane_of(ds, None)
    places, values = profile(ds, plane, "u")
    np.testing.assert_array_equal(places, ds.z_c)
    np.testing.assert_allclose(values, ds.z_c - 1.0, atol=1e-14)
    places, values = profile(ds, plane, "v")
    np.testing.assert_array_equal(places, ds.x_c)
    np.testing.assert_allclose(values, -ds.x_c)


def test_profiles_are_compared_where_points_are_in_use(run, tmp_path):
    u = table(tmp_path / "u.csv", "y,u,use\n0.5,7.0,1\n0.75,-0.25,1\n1.0,0.125,1\n1.25,9.0,0\n")
    v = table(tmp_path / "v.csv", "x,v\n1.0,-1.0\n")
    folder = run()
    assert compare_profiles(folder, [u, v]) == {u: pytest.approx(0.125), v: pytest.approx(0.0)}
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
    ("a,b\n1,2\n", "line 3: these are not the columns of a profile"), ("", "not the columns of a profile"),
    ("y,u,u\n1,2,3\n", "line 3: these are not the columns"), ("y,u\n", "nothing follows line 3"),
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


def test_comparison_with_a_table(warm, tmp_path):
    """As `taskflow plot --profiles` compares."""
    (tmp_path / "table.csv").write_text("y,u\n0.3,0.1\n0.9,0.2\n")
    table = tmp_path / "table.csv"
    result = dataset(warm / "fields.zarr").flow.compare(table, "y")
    assert result == compare_profiles(warm, [table], "y")[table]
    assert result > 0
