"""Parameters of a sweep: crossed, zipped, with names, and what follows from them."""

import numpy as np
import pandas as pd
import pytest

import taskflow as tf
from taskflow.common.errors import BadInput
from taskflow.runs.parameters import Parameter, parsed, points
from taskflow.runs.study import Study
from tests.cases.sound import CAVITY

RAYLEIGH = [1e3, 1e4, 1e5], lambda Ra: {"fluid.viscosity": Ra**-0.5, "body.gravity": [0.0, 0.0, -Ra]}


def test_a_name_has_coordinates_that_follow_from_it():
    axis = Parameter.of("Ra", RAYLEIGH)
    assert axis.index == [1e3, 1e4, 1e5]
    assert [*axis.coordinates] == ["fluid.viscosity", "body.gravity.x", "body.gravity.y", "body.gravity.z"]
    np.testing.assert_array_equal(axis.coordinates["body.gravity.z"], [-1e3, -1e4, -1e5])


def test_a_vector_is_an_axis_of_numbers():
    axis = Parameter.of("grid.cells", [[16, 1, 8], [32, 1, 16]])
    assert axis.index == [16, 32]
    assert [column.tolist() for column in axis.coordinates.values()] == [[16, 32], [1, 1], [8, 16]]
    assert Parameter.of("grid.cells", [[16, 1, 8], [16, 1, 8]]).index == [0, 1]


def test_zipped_and_named_parameters_change_their_keys_together():
    pair = Parameter.of(("fluid.viscosity", "time.end"), [(0.1, 1.0), (0.2, 2.0)])
    assert pair.changes == ({"fluid.viscosity": 0.1, "time.end": 1.0}, {"fluid.viscosity": 0.2, "time.end": 2.0})
    assert pair.coordinates["time.end"].tolist() == [1.0, 2.0]
    named = Parameter.of("how", {"thin": {"fluid.viscosity": 0.1}, "thick": {"fluid.viscosity": 1.0}})
    assert (named.index, named.coordinates["fluid.viscosity"].tolist()) == (["thin", "thick"], [0.1, 1.0])


def test_all_combinations_are_cases():
    axes = parsed({"thickness": {"thin": {"fluid.viscosity": 0.1}}, ("time.end", "time.cfl"): [(1.0, 0.2), (2.0, 0.1)]})
    found = points(tf.Case(**CAVITY), axes)
    assert [values for values, *_ in found] == [
        {"thickness": "thin", "time.end": 1.0, "time.cfl": 0.2}, {"thickness": "thin", "time.end": 2.0, "time.cfl": 0.1}
    ]  # fmt: skip
    assert [(case.fluid.viscosity, case.time.end) for _, case, _ in found] == [(0.1, 1.0), (0.1, 2.0)]
    assert found[0][2] == ("fluid.viscosity", "time.end", "time.cfl")


@pytest.mark.parametrize(("given", "told"), [
    ({"Ra": ([1.0], lambda Ra: Ra)}, r"Ra = 1.0 gives 1.0; give a dict of keys"),
    ({"Ra": ([], lambda Ra: {})}, r"Ra = \[\]; give a list of values"), ({"a": {}}, r"a = \[\]; give a list of values"),
    ({"a": {"b": 1}}, "a gives 1; give a dict of keys"),
    ({("a", "b"): [(1, 2), (3,)]}, r"a, b = \[3\]; give 2 values for each point"),
    ({"fluid.viscosity": [1.0], "Ra": RAYLEIGH}, "fluid.viscosity is given by fluid.viscosity and by Ra"),
    ({"a": "abc"}, "a = 'abc'; give a list of values"),
])  # fmt: skip
def test_parameters_that_are_none(given, told):
    with pytest.raises(BadInput, match=f"parameters: {told}"):
        parsed(given)


class Logged:
    """A run whose log grows to a number."""

    def __init__(self, number):
        self.directory, self.report = f"run/{number}", {"ended": "steady", "steps": 3}
        self.number = number

    def series(self):
        from taskflow.analysis.series import series

        sides = [{"a": n * self.number, "b": -n * self.number} for n in range(3)]
        return series([{"step": n, "time": float(n), "nusselt": each} for n, each in enumerate(sides)])


def test_a_study_measures_plots_and_lists_its_runs():
    axes = parsed({"Ra": RAYLEIGH, "time.cfl": [0.1, 0.2]})
    values = [{"Ra": Ra, "time.cfl": cfl} for Ra in RAYLEIGH[0] for cfl in (0.1, 0.2)]
    study = Study(None, {"Ra": RAYLEIGH[0], "time.cfl": [0.1, 0.2]}, [Logged(n + 1) for n in range(6)], axes, values)
    measured = study.measured("nusselt")
    assert measured.sel({"Ra": 1e4, "time.cfl": 0.2}) == 8.0  # what enters through a and leaves through b at the end
    assert measured["fluid.viscosity"].dims == ("Ra",)
    axes = study.plot("nusselt", x="Ra", log=True).axes[0]
    assert [line.get_label() for line in axes.lines] == ["time.cfl = 0.1", "time.cfl = 0.2"]
    assert (axes.get_xscale(), axes.get_xlabel(), axes.get_ylabel()) == ("log", "Ra", "nusselt")
    assert study.plot("nusselt", x="fluid.viscosity").axes[0].lines[0].get_xdata()[0] == pytest.approx(1e5**-0.5)
    assert isinstance(study.to_pandas(), pd.DataFrame)
    assert "<td>1000.0</td>" in study._repr_html_()
    for ask, told in (
        (lambda: study.plot("nusselt", x="Pr"), r"plot\(x='Pr'\): unknown parameter; choose one of .*Ra"),
        (lambda: study.plot("drag"), "drag is not in its log; choose one of nusselt_a, nusselt_b"),
        (lambda: study.plot(lambda run: 0.0, log=True), "is not positive everywhere; omit log"),
    ):
        with pytest.raises(BadInput, match=told):
            ask()
