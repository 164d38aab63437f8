"""One flow in micrometres, metres and kilometres: the same iterations and products, the same forces over U^2 L^2."""

from dataclasses import fields
from functools import partial

import numpy as np
import pytest

from taskflow.geometry.grids import SHAPES, shape
from taskflow.output import read_log
from tests.geometry.grids.test_shapes import SMALL
from tests.simulation.going_on import go
from tests.simulation.on_charts import case

UNITS = (1e-6, 1e-3), (1e-3, 1e3), (1e3, 10.0), (1e-3, 1e-6), (1e6, 1e6)  # lengths and speeds
LENGTHS = {
    "lengths", "radii", "first", "height", "radius", "far", "length", "chord", "wake", "span", "wavelength", "channel",
    "amplitude", "downstream", "upstream", "widths", "side", "mean_radius",
}  # fmt: skip
IMPLICIT, EXPLICIT = ({"type": "artificial-compressibility", "march": march} for march in ("implicit", "rk4"))
LIMITED = {"limiter": "van-albada"}
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
        "initial": {"velocity": velocity}, "time": {"steady": 1e-10, "steps": 6},
    }  # fmt: skip


def box(L, U, turned=True, **changes):
    """Flow in a closed box under its lid."""
    bent = {"distortion": 0.08, "turned": True} if turned else {}
    walls = dict.fromkeys(("x_min", "x_max", "y_min", "y_max", "z_min"), "wall")
    return {
        "method": IMPLICIT, "grid": {"cells": [8, 8, 6], "lengths": [L] * 3, "charts": [2, 1, 1], **bent},
        "fluid": {"viscosity": U * L / 50}, "time": {"steady": 1e-10, "steps": 5},
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


def real(L, U, steps=2):
    """Steps of real time."""
    return {"step": 0.1 * L / U, "steps": steps}


def moving(L, U):
    """A body that oscillates and turns."""
    T = L / U
    motion = {"displacement": [f"{0.1 * L!r}*sin(2*t/{T!r})", 0, 0], "angle": {"z": f"0.2*sin(t/{T!r})"}}
    method = {**IMPLICIT, "reference_speed": U, "compressibility": 4 * U * U}
    return stream("o-grid", L, U) | {"time": real(L, U), "motion": motion, "method": method}


def eddies(model, L, U, **changes):
    """Large eddies."""
    method, tables = {**IMPLICIT, "reference_speed": U}, warm(L, U, turned=False)
    return tables | {"method": method, "time": real(L, U), "turbulence": {"model": model}, **changes}


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
    "real time": lambda L, U: warm(L, U) | {"time": real(L, U)},
    "explicit, real time": lambda L, U: box(L, U, method=EXPLICIT) | {"time": real(L, U, 1)},
    **{model: partial(eddies, model) for model in ("smagorinsky", "wale", "vreman")},
    "single": partial(in_single, box), "single, explicit": partial(in_single, partial(box, method=EXPLICIT)),
    "single, warm": partial(in_single, warm),
    "single, eddies": partial(in_single, partial(eddies, "wale"), steady=False),
}  # fmt: skip


def ran(flow, L, U, path):
    """The steps of a run with their products, its steps of pseudo-time, and its numbers without dimension."""
    tables = flow(L, U)
    more = {"output": {"every": {"steps": 1000}}, "monitor": {"every": {"steps": 1}}}
    go(case({"machine": {"device": "cpu"}, **tables, **more}), path)
    log = read_log(path / "log.jsonl")
    steps = [[line.get(key) for key in ("step", "linear", "inner")] for line in log]
    numbers, T = [], L / U
    span = L if tables["grid"]["cells"][2] > 1 else 1.0  # in two dimensions forces are those over a unit of length
    for line in log:
        for body in line["bodies"].values():
            numbers += [np.divide(body[key], U * U * L * span) for key in ("force", "pressure_force")]
            numbers += [np.divide(body["moment"], U * U * L * L * span), [body.get("heat_flux", 0.0) / (U * L * span)]]
        units = {"momentum": T / U, "continuity": T, "heat": T, "dye": T}
        numbers += [[value * units[key.split("_")[1]]] for key, value in line.items() if key.startswith("residual_")]
        numbers.append([line.get("eddy_viscosity", 0.0) / (U * L), line.get("divergence", 0.0) * T, line.get("cfl")])
    return steps, np.concatenate(numbers)


@pytest.mark.fast("o-grid", "real time", "wale", "limited", "single")
@pytest.mark.parametrize("name", FLOWS)
def test_units_change_nothing(tmp_path, name):
    flow, bound = FLOWS[name], ROUGHLY if name.startswith("single") else SAME
    units = UNITS if name == "o-grid" or name not in SHAPES else UNITS[:3]
    steps, numbers = ran(flow, 1.0, 1.0, tmp_path / "first")
    for count, (L, U) in enumerate(units):
        others, values = ran(flow, L, U, tmp_path / f"{count}")
        assert others == steps, (L, U)
        np.testing.assert_allclose(values, numbers, rtol=bound, atol=bound, err_msg=f"L = {L:g}, U = {U:g}")
