"""One flow in micrometres, metres and kilometres: the same iterations and products, the same forces over U^2 L^2."""

from dataclasses import fields
from functools import partial

import numpy as np
import pytest

from taskflow.geometry.grids import SHAPES, shape
from taskflow.output import read_log
from tests.cases.on_charts import case
from tests.geometry.grids.test_shapes import SMALL
from tests.runs.going_on import go

UNITS = (1e-6, 1e-3), (1e-3, 1e3), (1e3, 10.0), (1e-3, 1e-6), (1e6, 1e6)  # lengths and speeds
LENGTHS = {
    "lengths", "radii", "first", "height", "radius", "far", "length", "chord", "wake", "span", "wavelength", "channel",
    "amplitude", "downstream", "upstream", "widths", "side", "mean_radius",
}  # fmt: skip
IMPLICIT, EXPLICIT = ({"type": "artificial-compressibility", "march": march} for march in ("implicit", "rk4"))
LIMITED = {"limiter": "van-albada"}
CONVERGED = {"steady": 1e-9, "steps": 25}
PRECISE = {"inner": {"tolerance": 1e-8}}  # else the rounding of vectors is left, some 1e-8 of a force
SAME, ROUGHLY = 1e-10, 2e-5  # in double and in single precision


def grid_of(name, L):
    """A small grid of a shape, times a length."""
    made = shape(name, SMALL[name])
    keys = {**SMALL[name], **{field.name: getattr(made, field.name) for field in fields(made) if field.name in LENGTHS}}
    keys = {key: value for key, value in keys.items() if value is not None}
    return {"shape": name, **keys, **{key: np.multiply(keys[key], L).tolist() for key in LENGTHS & keys.keys()}}


def stream(name, L, U):
    """Flow past the first side of a grid, a wall."""
    grid = grid_of(name, L)
    sides = [side for side in shape(name, SMALL[name]).grid().sides if side not in ("ends", "z_min", "z_max")]
    planar = grid["cells"][2] == 1
    velocity = [0.8 * U, 0.6 * U, 0.0 if planar else 0.3 * U]
    ends = {side: "symmetry" for side in shape(name, SMALL[name]).grid().sides if side not in sides}
    far = {"type": "far-field", "velocity": velocity}
    return {
        "method": IMPLICIT, "grid": grid, "fluid": {"viscosity": U * L / 20},
        "boundaries": {**ends, **dict.fromkeys(sides, far), sides[0]: "wall"},
        "initial": {"velocity": velocity}, "time": CONVERGED,
    }  # fmt: skip


def box(L, U, turned=True, **changes):
    """Flow in a closed box under its lid."""
    bent = {"distortion": 0.08, "turned": True} if turned else {}
    walls = dict.fromkeys(("x_min", "x_max", "y_min", "y_max", "z_min"), "wall")
    return {
        "method": IMPLICIT, "grid": {"cells": [8, 8, 6], "lengths": [L] * 3, "charts": [2, 1, 1], **bent},
        "fluid": {"viscosity": U * L / 50}, "time": CONVERGED,
        "boundaries": {**walls, "z_max": {"type": "wall", "velocity": [f"{U!r}*sin(pi*x/{L!r})", 0, 0]}}, **changes,
    }  # fmt: skip


def warm(L, U, **changes):
    """The same with heat and a scalar."""
    tables = box(L, U, **changes)
    sides = {
        "x_min": {"type": "wall", "temperature": 21.0}, "x_max": {"type": "wall", "heat_flux": 0.02 * U},
        "y_min": {"type": "wall", "heat_transfer": 0.05 * U, "outside_temperature": 19.0},
    }  # fmt: skip
    dye = {"y_min": {"value": 1.0}, "y_max": {"flux": 0.01 * U}}
    return tables | {
        "heat": {"diffusivity": U * L / 40, "expansion": 0.5, "reference": 20.0},
        "body": {"gravity": [0.0, 0.0, -U * U / L]}, "boundaries": {**tables["boundaries"], **sides},
        "scalars": [
            {"name": "dye", "diffusivity": U * L / 60, "initial": f"x*y/({L!r}*{L!r})", "boundaries": dye},
        ],
    }  # fmt: skip


def real(flow, L, U, **method):
    """Steps of real time of a flow."""
    tables = flow(L, U)
    return tables | {"time": {"step": 0.1 * L / U, "steps": 2}, "method": {**tables["method"], **PRECISE, **method}}


def moving(L, U):
    """A body that oscillates and turns."""
    T = L / U
    motion = {"displacement": [f"{0.1 * L!r}*sin(2*t/{T!r})", 0, 0], "angle": {"z": f"0.2*sin(t/{T!r})"}}
    return real(partial(stream, "o-grid"), L, U, compressibility=4 * U * U) | {"motion": motion}


def eddies(model, L, U, **method):
    """Large eddies."""
    return real(partial(warm, turned=False), L, U, **method) | {"turbulence": {"model": model}}


def pushed(L, U):
    """A force that is not the same everywhere."""
    force = [f"{U * U / L!r}*y/{L!r}", 0.0, 0.0]
    return box(L, U, method={**IMPLICIT, "reference_speed": U}) | {"body": {"force": force}}


def in_single(flow, L, U, steady=True):
    """A flow with all fields in single precision."""
    time = {"time": {"steady": 1e-4, "steps": 5}} if steady else {}
    return flow(L, U) | {"machine": {"device": "cpu", "precision": "single"}, **time}


FLOWS = {
    **{name: partial(stream, name) for name in SHAPES},
    "equal cells": partial(box, turned=False), "limited": partial(box, method={**IMPLICIT, **LIMITED}),
    "central": partial(box, method={**IMPLICIT, "flux": "central"}),
    "local": partial(box, method={**IMPLICIT, "compressibility": {"local": True}}),
    "corrections": partial(box, method={**IMPLICIT, "linear": {"solver": "correction"}}),
    "explicit": partial(box, method=EXPLICIT), "explicit, limited": partial(warm, method={**EXPLICIT, **LIMITED}),
    "global steps": partial(box, method={**EXPLICIT, "steps": "global"}),
    "damped": partial(box, method={**EXPLICIT, "march": "euler", "flux": "central", "damping": {"type": "pressure"}}),
    "warm": warm, "moving": moving, "pushed": pushed,
    "real time": partial(real, warm), "explicit, real time": partial(real, partial(box, method=EXPLICIT), inner={}),
    **{model: partial(eddies, model) for model in ("smagorinsky", "wale", "vreman")},
    "single": partial(in_single, box), "single, explicit": partial(in_single, partial(box, method=EXPLICIT)),
    "single, warm": partial(in_single, warm),
    "single, eddies": partial(in_single, partial(eddies, "wale", inner={}), steady=False),
}  # fmt: skip


def ran(flow, L, U, path):
    """The steps of a run with their products and steps of pseudo-time, and its last numbers without dimension."""
    tables = flow(L, U)
    more = {"output": {"every": {"steps": 1000}}, "monitor": {"every": {"steps": 1}}}
    go(case({"machine": {"device": "cpu"}, **tables, **more}), path)
    log = read_log(path / "log.jsonl")
    steps = [[line.get(key) for key in ("step", "linear", "inner")] for line in log]
    span = L if tables["grid"]["cells"][2] > 1 else 1.0  # in two dimensions forces are those over a unit of length
    force, numbers, last = U * U * L * span, [], log[-1]
    for body in last["bodies"].values():
        numbers += [np.divide(body[key], force) for key in ("force", "pressure_force")]
        numbers += [np.divide(body["moment"], force * L), [body.get("heat_flux", 0.0) / (U * L * span)]]
    numbers.append([last.get("eddy_viscosity", 0.0) / (U * L), last["cfl"] if "inner" in last else 0.0])
    return steps, np.concatenate(numbers)


@pytest.mark.fast("o-grid", "single")
@pytest.mark.parametrize("name", FLOWS)
def test_units_change_nothing(tmp_path, name):
    flow, bound = FLOWS[name], ROUGHLY if name.startswith("single") else SAME
    units = UNITS if name == "o-grid" or name not in SHAPES else UNITS[:3]
    steps, numbers = ran(flow, 1.0, 1.0, tmp_path / "first")
    for count, (L, U) in enumerate(units):
        others, values = ran(flow, L, U, tmp_path / f"{count}")
        assert others == steps, (L, U)
        np.testing.assert_allclose(values, numbers, rtol=bound, atol=bound, err_msg=f"L = {L:g}, U = {U:g}")
