"""Cases as files: read, overridden on the command line, written with every default."""

import tomllib
from pathlib import Path

import pytest

from taskflow.cases import Case
from taskflow.cases.timing.intervals import Every
from taskflow.common.errors import BadInput
from tests.cases.sound import cavity, heated

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_are_cases(path, tmp_path):
    case = Case.load(path)
    copy = tmp_path / "case.toml"
    copy.write_text(case.to_toml(), encoding="utf-8")
    assert Case.load(copy) == case


def test_the_demo_is_what_was_ordered():
    case = Case.load(Path(__file__).parents[2] / "examples" / "lid_driven_cavity.toml")
    assert case.grid.cells == (128, 2, 128)
    assert case.grid.lengths == (1.0, 1 / 64, 1.0)
    assert (case.fluid.viscosity, case.time.end) == (1e-3, 60)
    assert (case.pressure.solver, case.pressure.iterations) == ("jacobi", 30)
    assert case.boundary("z_max").velocity == (1, 0, 0)
    assert case.periodic == (False, True, False)


@pytest.mark.parametrize("tables", [cavity, heated])
def test_every_default_is_written(tables, tmp_path):
    case = Case(**tables())
    written = tomllib.loads(case.to_toml())
    assert set(written) == {"title", *(name for name, table in case if table is not None)}
    for name, table in written.items():
        if name != "title":
            assert set(table) == {key for key, value in getattr(case, name) if value not in (None, {})}
    assert written["pressure"] == {"solver": "auto", "tolerance": 1e-6, "max_iterations": 1000}
    assert written["machine"]["precision"] == "double"
    assert written["boundaries"]["y"] == "periodic"
    assert Case(**written) == case
    path = tmp_path / "case.toml"
    path.write_text(case.to_toml(), encoding="utf-8")
    assert Case.load(path) == case
    assert Case.load(path).to_toml() == case.to_toml()


def test_the_title_is_the_name_of_the_file(tmp_path):
    path = tmp_path / "my cavity.toml"
    path.write_text(Case(**cavity()).to_toml().replace('title = "cavity"\n', ""))
    assert Case.load(path).title == "my cavity.toml"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "cavity.toml"
    path.write_text(Case(**cavity()).to_toml())
    return path


@pytest.mark.parametrize(("setting", "value"), [
    ("time.end=10", lambda case: case.time.end == 10.0),
    ("time.cfl=.25", lambda case: case.time.cfl == 0.25),
    ("time.cfl=1.", lambda case: case.time.cfl == 1.0),
    (" machine.device = cpu ", lambda case: case.machine.device == "cpu"),
    ('machine.device="cpu"', lambda case: case.machine.device == "cpu"),
    ("machine.blocks=[1, 1, 2]", lambda case: case.machine.blocks == (1, 1, 2)),
    ("machine.blocks=auto", lambda case: case.machine.blocks == "auto"),
    ("title=A cavity = a box", lambda case: case.title == "A cavity = a box"),
    ("heat.diffusivity=0.1", lambda case: case.heat is not None and case.output.fields == ("u", "v", "w", "p")),
    ("boundaries.z_max.velocity=[2, 0, 0]", lambda case: case.boundary("z_max").velocity == (2, 0, 0)),
    ("boundaries.x_min.velocity=[0, 0, 2]", lambda case: case.boundary("x_min").velocity == (0, 0, 2)),
    ("boundaries.x=periodic", lambda case: case.periodic == (True, True, False)),
    ("output.every=0.5", lambda case: case.output.every == Every(time=0.5)),
    ("output.every.steps=5", lambda case: case.output.every == Every(steps=5)),
    ("output.every={steps = 5}", lambda case: case.output.every == Every(steps=5)),
    ("monitor.every.time=0.5", lambda case: case.monitor.every == Every(time=0.5)),
    ("time.steps=3", lambda case: (case.time.steps, case.time.end) == (3, None)),
    ("time.step=0.1", lambda case: (case.time.step, case.time.cfl) == (0.1, None)),
    ('initial.velocity=["sin(x)", 0, 0]', lambda case: case.initial.velocity[0].source == "sin(x)"),
])
def test_overrides(file, setting, value):
    assert value(Case.load(file, [setting]))
    assert value(Case.load(str(file), (setting,)))
    assert value(Case.load(file, setting))


def test_overrides_of_shorthands(tmp_path):
    path = tmp_path / "short.toml"
    path.write_text(
        '[grid]\ncells=[4,4,4]\nlengths=[1,1,1]\n[fluid]\nviscosity=1\n[time]\nend=1\n[output]\nevery=0.5\n'
        '[boundaries]\nx="periodic"\ny="periodic"\nz_min="wall"\nz_max="wall"\n'
    )
    case = Case.load(path, ["output.every.steps=3", "boundaries.z_max.velocity=[1,0,0]"])
    assert case.output.every == Every(steps=3)
    assert case.boundary("z_max").velocity == (1, 0, 0)
    assert Case.load(path, ["boundaries.x_min=slip", "boundaries.x_max=slip"]).periodic == (False, True, False)


def test_the_last_override_wins_and_rivals_are_not_dropped_silently(file):
    assert Case.load(file, ["time.end=3", "time.end=4"]).time.end == 4
    with pytest.raises(BadInput, match=r"time\.steps = 3: end is given as well"):
        Case.load(file, ["time.end=3", "time.steps=3"])


@pytest.mark.parametrize(("setting", "remedy"), [
    ("time.end", "give table.key=VALUE"), ("=3", "give table.key=VALUE"), ("", "give table.key=VALUE"),
    ("time..end=3", "give table.key=VALUE"), ("time end=3", "give table.key=VALUE"), (".=3", "give table.key=VALUE"),
    ("time.end=", "give a value"), ("grid.cells=[1, 2", "not a TOML value"), ("title='a", "not a TOML value"),
    ("time.end=3\nfoo=4", "not a TOML value"), ("grid.cells=[a, b, c]", "need quotes"),
    ("title.part=3", "title = \"cavity\" is not a table"), ("time.end.x=3", "time.end = 2 is not a table"),
    ("grid.cells=" + "[" * 5000, "not a TOML value"), (7, "give table.key=VALUE"),
])
def test_bad_overrides(file, setting, remedy):
    with pytest.raises(BadInput) as error:
        Case.load(file, ["time.end=2", setting])
    assert remedy in str(error.value)


@pytest.mark.parametrize(("content", "told"), [
    (b"[grid\ncells = 3", "line 1"), (b"a = 1\nend = 60.0.1", '(at line 2, column 11): "end = 60.0.1"'),
    (b"\xff\xfe", "UTF-8"),
    (b"[grid]\n[grid]", "not TOML"), (b"a = 1\na = 2", "overwrite"), (b"a = " + b"[" * 9999, "nested too deeply"),
    (b"#" * 2_000_000, "more than 1000000 bytes"), (b"a = " + b"1" * 5000, "not TOML"), (b"a = 1979-99-01", "not TOML"),
])
def test_a_file_that_is_not_a_case(tmp_path, content, told):
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    with pytest.raises(BadInput) as error:
        Case.load(path)
    assert str(error.value).startswith(f"{path}: ")
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_cannot_be_read(tmp_path):
    for path in (tmp_path, tmp_path / "none.toml", tmp_path / "none" / "none.toml", "a\0b"):
        with pytest.raises(BadInput, match=r"file not found|cannot be read"):
            Case.load(path)


@pytest.mark.parametrize("value", ["[" * 300 + "]" * 300, "0x" + "f" * 5000, "1979-05-27", "{}", "inf"])
def test_odd_values_in_a_file_are_shown_briefly(file, value):
    file.write_text(file.read_text().replace("viscosity = 0.01", f"viscosity = {value}"))
    with pytest.raises(BadInput, match=r"fluid\.viscosity = .*: give a"):
        Case.load(file)
