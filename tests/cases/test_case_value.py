"""Cases as values: equal cases are equal in all ways, and what tells two apart can be asked and changed."""

from pathlib import Path

import cloudpickle
import pytest

import taskflow as tf

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))
CAVITY = Path(__file__).parents[2] / "examples" / "lid_driven_cavity.toml"


def shear(x, y, z):
    return z


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_a_value(path):
    case = tf.Case.load(path)
    same, other = tf.Case(**case.model_dump()), case.replace(title="other")
    assert same == case
    assert len({same, case, cloudpickle.loads(cloudpickle.dumps(case)), other}) == 2
    assert case.diff(same) == {}
    assert case.diff(other) == {"title": (case.title, "other")}
    assert other.replace(title=case.title) == case
    assert repr(case).startswith(f"<Case {case.title}: ")
    assert len(repr(case)) < 150


def test_other_keys():
    """Of a key that excludes another one the new one stays, and defaults follow."""
    case = tf.Case.load(CAVITY)
    other = case.replace(**{"fluid.viscosity": 0.1, "time.steps": 3, "heat": {"diffusivity": 0.1}, "boundaries.y": None,
                            "boundaries.y_min": "slip", "boundaries.y_max": "slip"})  # fmt: skip
    assert case.diff(other)["fluid.viscosity"] == (1e-3, 0.1)
    assert case.diff(other)["time.end"] == (60.0, None)
    assert other.output_fields == ("u", "v", "w", "p", "T")
    assert case == tf.Case.load(CAVITY)


def test_functions_stay_the_same():
    case = tf.Case.load(CAVITY).replace(**{"initial.velocity": [shear, 0, "x"]})
    assert tf.Case(**case.model_dump()) == case
    assert case.replace(title="other").initial.velocity[0].call is shear
    assert case.replace(**{"initial.velocity": [lambda x, y, z: z, 0, "x"]}) != case


@pytest.mark.parametrize(("values", "match"), [
    ({"fluid.viscosty": 1.0}, "fluid.viscosty = 1.0: unknown key; did you mean fluid.viscosity"),
    ({"fluid.viscosity": -1.0}, "fluid.viscosity = -1.0: give a number >= 0"),
    ({"fluid.viscosity.x": 1.0}, "fluid.viscosity = 0.001 is not a table"), ({"time": None}, "time: missing"),
])  # fmt: skip
def test_bad_values(values, match):
    with pytest.raises(tf.BadInput, match=match):
        tf.Case.load(CAVITY).replace(**values)


def test_what_is_no_case():
    case = tf.Case.load(CAVITY)
    assert case != "case"
    with pytest.raises(tf.BadInput, match="give a Case"):
        case.diff("case")


@pytest.mark.parametrize(("table", "name", "key"), [
    (lambda case: case, "title", "title"), (lambda case: case.fluid, "viscosity", "table.viscosity"),
    (lambda case: case.boundaries.z_max, "velocity", "table.velocity"), (lambda case: case, "typo", "typo"),
])  # fmt: skip
def test_a_case_does_not_change(table, name, key):
    """And says what to do, in no words of a library."""
    case = tf.Case.load(CAVITY)
    words = rf'a case is immutable; case\.replace\(\*\*{{"{key}": \.\.\.}}\) returns a changed copy'
    with pytest.raises(tf.BadInput, match=rf"^{name} = 1: {words}"):
        setattr(table(case), name, 1)
    with pytest.raises(tf.BadInput, match=f"^del {name}: {words}"):
        delattr(table(case), name)
    assert case == tf.Case.load(CAVITY)


def test_names_under_tab_are_those_of_a_user():
    case = tf.Case.load(CAVITY)
    calls = {"load", "to_toml", "replace", "diff", "model_dump", "fields"}
    assert {name for name in dir(case) if not name.startswith("__")} == {*tf.Case.model_fields, *calls}
    assert {name for name in dir(case.fluid) if not name.startswith("__")} == {*type(case.fluid).model_fields}


def test_as_html():
    """Nothing of a case is taken for markup."""
    html = tf.Case.load(CAVITY).replace(title="<b>")._repr_html_()
    assert "<b>" not in html
    assert "<details><summary>[fluid]</summary><table><tr><td><code>fluid.viscosity</code></td><td>0.001</td>" in html
