"""Values at points and of formulas are those that anybody would compute."""

import numpy as np
import pytest

from tests.everyday.cases import last

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.mark.fast("blocks1-stretched")
@pytest.mark.parametrize("stretching", [
    pytest.param({}, id="uniform"), pytest.param({"stretching": {"z": {"tanh": 1.6}}}, id="stretched"),
])  # fmt: skip
@pytest.mark.parametrize("blocks", [(1, 1, 1), (2, 1, 3)])
def test_probes_find_a_linear_flow_everywhere(compute, stretching, blocks):
    """On walls, in the first half cell, on edges of blocks, across periodic ends."""
    z = [0.0, 1e-9, 0.01, 0.03, 0.5, 0.77, 0.97, 0.99, 1.0]
    points = [[x, 0.1, height] for x in (0.0, 0.01, 0.5, 0.999, 1.0) for height in z]
    line = {"low": [0.5, 0.1, 0.0], "high": [0.5, 0.1, 1.0], "points": 21}
    result = compute(
        grid={"cells": [8, 1, 14], "lengths": [1.0, 0.2, 1.0], **stretching}, fluid={"viscosity": 0.1},
        heat={"diffusivity": 0.1, "expansion": 0.0},
        boundaries={
            "x": "periodic", "y": "periodic",
            "z_min": {"type": "wall", "velocity": [-1.0, 0, 0], "temperature": 5.0},
            "z_max": {"type": "wall", "velocity": [2.0, 0, 0], "temperature": 3.0},
        },
        initial={"velocity": ["-1 + 3*z", 0, 0], "temperature": "5 - 2*z"}, time={"step": 0.002, "steps": 5},
        probes=[
            {"name": "pp", "points": points, "every": {"steps": 5}}, {"name": "ll", "line": line, "every": {"steps": 5}}
        ],
        machine={"blocks": blocks},
    )  # fmt: skip
    data, height = result.dataset("pp").isel(time=-1), np.array(points)[:, 2]
    np.testing.assert_allclose(data["u"].values, -1 + 3 * height, rtol=0, atol=1e-9)
    np.testing.assert_allclose(data["T"].values, 5 - 2 * height, rtol=0, atol=1e-9)
    along = result.dataset("ll").isel(time=-1)["u"].values
    np.testing.assert_allclose(along, -1 + 3 * np.linspace(0, 1, 21), rtol=0, atol=1e-9)


TEXTS = (
    "1/2 + 0*x", "3/2*x", "-x**2", "2**-1*x", "2**3**2*x", "-2**2*x", "x**0.5", "(x - 0.5)**3", "(-8)**3*x",
    "1 - 2 - 3*x", "8/4/2*x", "x - -x", "+x", "abs(-3)*x", "abs(x - 0.5)", "7/3 + 0*x", "where(x > 0.5, log(x), -1)",
    "where(x < 0.25, 1/(x - 2), sqrt(x))", "minimum(x, 0.3) + maximum(z, 0.6)", "(x > 0.25)*(x < 0.75)", "0.2 < x",
    "x >= 0.5", "sin(pi*x)*cos(2*pi*z)", "tanh(3*(x-0.5))", "exp(-(x-0.5)**2/0.02)", "sinh(x) + cosh(z) + tan(x)",
    "e**x", "1e-30*x*1e30", "x/3*3", "2**10/3*x", "(1/3)**2*x", "(x - 0.5)**-1",
)  # fmt: skip
FUNCTIONS = ("where", "minimum", "maximum", "abs", "sin", "cos", "tan", "exp", "log", "sqrt", "sinh", "cosh", "tanh")


@pytest.mark.slow
@pytest.mark.parametrize(("precision", "within"), [("double", 1e-12), ("single", 3e-6)])
@pytest.mark.parametrize("texts", [TEXTS[n : n + 8] for n in range(0, len(TEXTS), 8)], ids=lambda texts: texts[0])
def test_formulas_have_the_values_of_python(compute, texts, precision, within):
    """In `[[expressions]]`, `[[forcing]]` and initial values: precedence, powers, comparisons."""
    plain = {"diffusivity": 0.0, "scheme": "central"}
    names = [f"{kind}{n}" for n in range(len(texts)) for kind in ("a", "b", "val")]
    data = last(compute(
        grid={"cells": [8, 1, 6], "lengths": [1.0, 0.2, 1.0]}, fluid={"viscosity": 0.01},
        boundaries={"x": "periodic", "y": "periodic", "z_min": "slip", "z_max": "slip"},
        scalars=[
            *({"name": f"a{n}", "initial": text, **plain} for n, text in enumerate(texts)),
            *({"name": f"b{n}", **plain} for n in range(len(texts))),
        ],
        forcing=[{"on": f"b{n}", "expression": text} for n, text in enumerate(texts)],
        expressions=[{"name": f"val{n}", "expression": text} for n, text in enumerate(texts)],
        time={"step": 0.5, "steps": 1}, output={"precision": "double", "fields": names},
        machine={"precision": precision},
    ))  # fmt: skip
    x, z = data.x_c.values[None, :], data.z_c.values[:, None]
    known = {"x": x, "z": z, "pi": np.pi, "e": np.e, **{name: getattr(np, name) for name in FUNCTIONS}}
    for n, text in enumerate(texts):
        with np.errstate(all="ignore"):
            value = np.asarray(eval(text, {"__builtins__": {}}, known), dtype=float)
        expected = np.broadcast_to(value, (6, 8))
        scale = max(1.0, float(np.abs(expected).max()))
        for name, factor in ((f"a{n}", 1.0), (f"val{n}", 1.0), (f"b{n}", 0.5)):
            gap = float(np.abs(data[name].values[:, 0] / factor - expected).max())
            assert gap / scale < within, (name, text)
